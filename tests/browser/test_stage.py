"""The explorers in JupyterLab: a hand on mouse, keys and screen, and what it sees.

    pip install -e '.[test]'
    pytest tests/browser

Every explorer has a twin here that no browser moves: what the page says and draws is
held to what the twin says and draws in the state that the page's controls show.
"""

import inspect
import io
import itertools
import re

import lab
import nbformat
import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from matplotlib.image import imread

from labsupport import explorers

NAMES = [
    name
    for name, made in vars(explorers).items()
    if inspect.isfunction(made)
    and made.__module__ == explorers.__name__
    and not name.startswith("_")
]
ALL = ["from labsupport import explorers", *(f"explorers.{n}()" for n in NAMES)]
# A unit whose time and whose answer the reader sets in a cell of their own.
OWN = """
import time
import numpy as np
from labsupport import block, explorers
pause, spoil = 0, lambda fired: fired
def fires(pattern, evidence):
    for _ in range(round(pause * 100)):
        time.sleep(0.01)
    return spoil(block.fires(pattern, evidence))
"""
SHOW = "explorers.if_unit(fires=fires)"
SPOILT = {
    "1 / 0": "ZeroDivisionError: division by zero",
    "np.zeros((7, 7))": "shape (7, 7)",
    "np.nan": "every number must be finite",
    "fired + 1j": "complex numbers",
    "'1.4'": "text",
    "None": "None",
    "(_ for _ in ()).throw(SystemExit('enough'))": "SystemExit: enough",
}
# Every element that is drawn, as SVG has it: what no id and no font has changed.
DRAWN = """svg => [...svg.querySelectorAll('path[d], use, image, text')].map(one =>
  ['d', 'x', 'y', 'transform'].map(name => one.getAttribute(name)).join('|')
  + one.textContent.trim())"""
SEEN = f"""explorer => [
  explorer.querySelector('p').innerText,
  ({DRAWN})(explorer.querySelector('.lab-picture svg')),
  [...explorer.querySelectorAll('[type=range], fieldset')].map(
    one => one.type === 'range' ? Number(one.value)
      : [...one.querySelectorAll('input')].findIndex(radio => radio.checked))]"""
WATCH = """explorer => {
  const seen = window.seen = {pictures: 0, bare: 0, shift: 0, read: 0, longest: 0};
  const moving = explorer.querySelector('.lab-picture svg');
  const watch = (what, note) => new MutationObserver(note).observe(
    what, {childList: true, characterData: true, subtree: true});
  watch(moving, () => seen.pictures++);
  watch(explorer.querySelector('[role=status]'), () => seen.read++);
  let last = performance.now();
  (function frame(now) {
    if (!moving.querySelector('path, text')) seen.bare++;
    seen.longest = Math.max(seen.longest, now - last);
    last = now;
    requestAnimationFrame(frame);
  })(last);
  new PerformanceObserver(list => {
    for (const {value, sources} of list.getEntries())
      if (sources.some(({node}) => explorer.contains(node))) seen.shift += value;
  }).observe({type: 'layout-shift'});
}"""
# The contrast of a text with what is behind it, as WCAG reckons it.
CONTRAST = """element => {
  const light = colour => {
    const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map(Number).map(c => c / 255)
      .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const clear = /transparent|rgba\\(.*, 0\\)/;
  let behind = element;
  while (clear.test(getComputedStyle(behind).backgroundColor))
    behind = behind.parentElement;
  const [text, paper] = [getComputedStyle(element), getComputedStyle(behind)];
  const [dark, bright] = [text.color, paper.backgroundColor].map(light).sort();
  return (bright + 0.05) / (dark + 0.05);
}"""
SCREEN = {"width": 1280, "height": 800}
KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"


class Hand:
    """A hand on one explorer of a page, and an eye on what it shows."""

    def __init__(self, page, name, within):
        self.page, self.twin = page, getattr(explorers, name)()
        self.explorer = within.locator(".lab-explorer").first
        self.explorer.scroll_into_view_if_needed()
        self.words = self.explorer.locator("p")
        self.status = self.explorer.get_by_role("status")
        self.picture = self.explorer.get_by_role("img")
        self.reset = self.explorer.get_by_role("button", name="Reset")

    def inputs(self):
        """Yield each control of the twin with what stands for it in the page."""
        for made in self.twin.controls.values():
            for control in made:
                if control.options:
                    group = self.explorer.get_by_role("group", name=control.label)
                    yield control, group.get_by_role("radio").all()
                else:
                    labelled = self.explorer.get_by_label(control.label, exact=True)
                    yield control, [labelled]

    def hold(self):
        """Hold what the page says and draws to the twin, where its controls stand."""
        self.page.wait_for_function(
            "explorer => explorer.dataset.waits === '0'",
            arg=self.explorer.element_handle(),
        )
        words, drawn, values = self.explorer.evaluate(SEEN)
        self.put_twin(values)
        assert words == self.twin.readout
        assert drawn == self.drawn_by_twin()

    def put_twin(self, values):
        changes = {}
        for name, made in self.twin.controls.items():
            here = [values.pop(0) for _ in made]
            if here != [control.at for control in made]:
                stood = [
                    control.options[at][1] if control.options else at
                    for control, at in zip(made, here, strict=True)
                ]
                pair = isinstance(self.twin.state[name], tuple)
                changes[name] = tuple(stood) if pair else stood[0]
        self.twin.set(**changes)

    def drawn_by_twin(self):
        script = "text => {const div = document.createElement('div'); "
        script += f"div.innerHTML = `<svg>${{text}}</svg>`; return ({DRAWN})(div)}}"
        return self.page.evaluate(script, self.twin._now["moving"])

    def back(self):
        self.reset.click()
        self.twin.reset()
        self.hold()

    def says(self, text, timeout=5000):
        said = self.words.filter(has_text=text)
        try:
            said.wait_for(timeout=timeout)
        except Exception:
            raise AssertionError(f"{self.words.inner_text()} for {text}") from None


@pytest.fixture
def opened(page, address, folder):
    """Return a function that opens a notebook of these cells, run."""

    def open_one(cells, name="one.ipynb", where=page):
        lab.write_notebook(folder / name, *cells)
        lab.open_notebook(where, address, name)
        lab.run(where)
        return where

    return open_one


@pytest.fixture(scope="module")
def everything(browser, address, folder):
    """Open one notebook with every explorer, run: each test leaves all as it was."""
    page = browser.new_page(viewport=SCREEN, has_touch=True)
    page.set_default_timeout(20_000)
    lab.write_notebook(folder / "all.ipynb", *ALL)
    lab.open_notebook(page, address, "all.ipynb")
    lab.run(page)
    yield page
    page.close()


def each(page, names=NAMES):
    """Yield a hand on each of the explorers, brought into view."""
    for number, name in enumerate(names, 1):
        cell = page.locator(".jp-CodeCell").nth(number)
        cell.scroll_into_view_if_needed()
        cell.locator(".lab-explorer").wait_for()
        yield Hand(page, name, cell)


def ask(page, code):
    """Have the kernel run this, and wait until it has."""
    page.evaluate(f"code => {KERNEL}.requestExecute({{code}}).done", code)


def test_every_control_moves_by_key_mouse_touch_and_typing(everything):
    page = everything
    for hand in each(page):
        start = hand.words.inner_text()
        for control, inputs in hand.inputs():
            if control.options:
                for radio in inputs:
                    radio.click()
                    hand.hold()
                inputs[0].tap()
                page.keyboard.press("ArrowDown")
                assert inputs[1].is_checked()
            else:
                slide_and_type(hand, control, inputs[0])
            hand.back()
        assert hand.words.inner_text() == start


def slide_and_type(hand, control, slider):
    at, keys = lambda: float(slider.input_value()), hand.page.keyboard
    slider.focus()
    for key, where in (("End", control.high), ("Home", control.low)):
        keys.press(key)
        assert at() == where
        hand.hold()
    for key, way in ("ArrowRight", 1), ("PageUp", 1), ("PageDown", -1), ("ArrowUp", 1):
        before = at()
        keys.press(key)
        assert (at() - before) * way > 0
    hand.hold()
    assert slider.evaluate("slider => slider === document.activeElement")
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    hand.page.mouse.click(box["x"] + 0.7 * box["width"], middle)
    clicked = at()
    hand.page.touchscreen.tap(box["x"] + 0.3 * box["width"], middle)
    assert control.low < at() < clicked
    hand.hold()

    field = hand.explorer.get_by_label(f"{control.label}, typed")
    decimals = len(str(control.step).partition(".")[2])
    inner = control.low + control.step * round(
        0.4 * (control.high - control.low) / control.step
    )
    for typed, where in {
        f"{inner:.{decimals}f}": inner,
        f"{control.low:.{decimals}f}".replace("-", "−"): control.low,
        f"{inner:.{decimals}f}".replace(".", ","): inner,
        f"{inner + 0.3 * control.step}": inner,
        "1e9": control.high,
        "nonsense": control.high,
        "": control.high,
        "-1e9": control.low,
    }.items():
        field.fill(typed)
        keys.press("Enter")
        assert float(field.input_value()) == pytest.approx(where)
        assert at() == pytest.approx(where)
    hand.hold()


def test_every_handle_moves_what_it_holds(everything):
    page = everything
    for hand in each(page):
        grips = hand.explorer.locator(".lab-handle, .lab-zone").all()
        assert len(grips) == len(hand.twin.handles) > 0
        tried = []
        for grip, handle in zip(grips, hand.twin.handles, strict=True):
            if not grip.is_visible():
                tried.append(None)
                continue
            box, start = grip.bounding_box(), hand.twin.state
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            if handle.at:
                paper, place = hand.picture.bounding_box(), hand.twin._now["handles"]
                right, up = x - paper["x"], paper["y"] + paper["height"] - y
                stands = right / paper["width"], up / paper["height"]
                assert stands == pytest.approx(place[len(tried)], abs=0.01)
            tried.append(handle)
            page.mouse.move(x, y)
            for style in ("cursor", "outlineStyle"):
                said = grip.evaluate(f"one => getComputedStyle(one).{style}")
                assert said in ("grab", "pointer", "solid")
            page.mouse.down()
            for right, up in (12, 9), (-30, -20), (34, 25), (25, 25):
                page.mouse.move(x + right, y - up, steps=3)
            page.mouse.up()
            hand.hold()
            assert hand.twin.state != start, handle
            first = hand.twin.controls[handle.name][0]
            there = dict((id(c), inputs) for c, inputs in hand.inputs())[id(first)]
            assert there[0].evaluate("one => one === document.activeElement")
            hand.back()
        assert any(tried)


def test_a_fast_drag_ends_at_its_end_and_nothing_follows(everything):
    page = everything
    for hand in each(page):
        slider = next(
            inputs[0] for control, inputs in hand.inputs() if not control.options
        )
        box = slider.bounding_box()
        across = box["y"] + box["height"] / 2
        hand.explorer.evaluate(WATCH)
        page.mouse.move(box["x"] + box["width"] / 2, across)
        page.mouse.down()
        for share in itertools.chain(range(50), range(50, 10, -1)):
            page.mouse.move(box["x"] + share / 50 * box["width"], across)
        drawn = page.evaluate("seen.pictures")
        page.mouse.up()
        page.wait_for_timeout(1200)
        seen = page.evaluate("seen")
        assert drawn > 3
        assert seen["pictures"] - drawn <= 3  # two on their way, and the last
        assert (seen["bare"], seen["shift"], seen["read"]) == (0, 0, 1)
        assert hand.status.inner_text() == hand.words.inner_text()
        hand.hold()
        hand.back()


def test_a_slow_function_leaves_the_page_smooth_and_ends_at_the_newest(opened):
    page = opened([OWN, SHOW])
    hand = Hand(page, "if_unit", page)
    ask(page, "pause = 0.2")
    slider = hand.explorer.get_by_label("evidence, first number", exact=True)
    hand.explorer.evaluate(WATCH)
    slider.focus()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(20)
    hand.reset.click()  # no late move may come after it
    page.wait_for_timeout(3000)
    hand.twin.reset()
    hand.hold()
    assert page.evaluate("seen.pictures") <= 6
    assert page.evaluate("seen.longest") < 150


def test_a_picture_that_is_not_true_is_grey(opened):
    page = opened([OWN, SHOW, "gone = explorers.hull(); gone.close()"])
    hand = Hand(page, "if_unit", page)
    start = hand.words.inner_text()
    slider = hand.explorer.get_by_label("evidence, first number", exact=True)
    paper = "one => getComputedStyle(one).filter"
    assert hand.picture.evaluate(paper) == "none"
    for source, said in SPOILT.items():
        ask(page, f"spoil = lambda fired: {source}")
        slider.press("ArrowLeft")
        hand.says(said)
        assert "grayscale(1)" in hand.picture.evaluate(paper)
        assert hand.picture.get_attribute("aria-label") == hand.words.inner_text()
    ask(page, "pause, spoil = 3, lambda fired: fired")
    slider.press("ArrowLeft")
    page.wait_for_timeout(400)
    page.evaluate("window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
    hand.says("Interrupted")
    ask(page, "pause = 3")
    slider.press("ArrowLeft")
    hand.says("kernel is busy", timeout=3000)
    hand.says("Pattern", timeout=9000)  # it came back, and so did the picture
    ask(page, "pause = 0")
    for _ in range(3):  # the cell runs again, and there is one explorer
        lab.run(page)
    assert page.locator(".lab-explorer").count() == 1
    assert hand.words.inner_text() == start
    assert hand.picture.evaluate(paper) == "none"


def test_no_kernel(opened):
    page = opened(ALL[:2])
    hand = Hand(page, NAMES[0], page)
    slider = hand.explorer.get_by_role("slider").first
    for end in ("restart()", "shutdown()"):
        page.evaluate(f"{KERNEL}.{end}")
        page.wait_for_timeout(1500)
        slider.press("ArrowLeft")
        hand.says("No kernel answers", timeout=3000)
        assert re.search(r"this cell, \[\d+\], again", hand.words.inner_text())
        assert slider.get_attribute("aria-disabled") == "true"
        described = slider.get_attribute("aria-describedby")
        assert page.locator(f"#{described}").inner_text() == hand.words.inner_text()
        page.wait_for_timeout(700)
        assert "No kernel answers" in hand.status.inner_text()
        if end == "restart()":
            lab.run(page)
            hand.hold()


def test_two_views_of_one_and_two_of_one_kind(opened):
    two = (
        "from IPython.display import display\none = explorers.hull()\ndisplay(one, one)"
    )
    page = opened([ALL[0], two, "explorers.hull()"])
    views = page.locator(".lab-explorer")
    sliders = [view.get_by_role("slider").first for view in views.all()]
    assert len(sliders) == 3
    for moved, key in itertools.product((0, 1), ("ArrowRight", "End")):
        sliders[moved].press(key)
        page.wait_for_timeout(300)
        said = [view.locator("p").inner_text() for view in views.all()]
        assert said[0] == said[1] != said[2]
        assert sliders[0].input_value() == sliders[1].input_value()
    sliders[2].press("Home")
    page.wait_for_timeout(300)
    assert "-5.00" in views.nth(2).locator("p").inner_text()
    ids = page.evaluate(
        "[...document.querySelectorAll('.lab-room [id]')].map(e => e.id)"
    )
    assert len(ids) == len(set(ids))


def test_saved_and_opened_by_another_without_running(opened, folder):
    page = opened(ALL, "saved.ipynb")
    lab.run(page, "docmanager:save")
    page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
    )
    saved = nbformat.read(folder / "saved.ipynb", as_version=4)
    assert "widgets" not in saved["metadata"]
    saved.cells[0].source += "  # not what this JupyterLab has run, and so trusts"
    nbformat.write(saved, folder / "another.ipynb")
    lab.open_notebook(page, page.url.partition("/lab")[0], "another.ipynb")
    for number in range(1, len(ALL)):
        cell = page.locator(".jp-CodeCell").nth(number)
        cell.scroll_into_view_if_needed()
        still = cell.locator(".jp-OutputArea img")
        still.wait_for()
        size = "img => [img.naturalWidth, img.naturalHeight, img.width, img.height]"
        assert np.ptp(np.divide(*np.split(np.array(still.evaluate(size)), 2))) < 0.01
    assert page.get_by_text("model not found").count() == 0


SCREENS = {
    "a laptop": (1280, 800),
    "a small one": (1024, 768),
    "that at 200 %": (512, 384),
    "a telephone": (360, 740),
}


@pytest.mark.parametrize("screen", SCREENS)
def test_all_is_in_view(everything, screen):
    page, (width, height) = everything, SCREENS[screen]
    page.set_viewport_size({"width": width, "height": height})
    toggle = "window.jupyterapp.commands.execute('application:toggle-left-area')"
    if width < 1000:  # as one does there: put the file list away
        page.evaluate(toggle)
    room = page.locator(".jp-WindowedPanel-outer").first.bounding_box()
    for hand in each(page):
        assert width < 1000 or hand.explorer.bounding_box()["height"] < room["height"]
        wider = "one => one.scrollWidth - one.clientWidth"
        for depth in range(1, 5):
            around = hand.explorer.locator(
                "/".join(["xpath=.."] + [".."] * (depth - 1))
            )
            assert around.evaluate(wider) <= 0
        for text in hand.explorer.locator("label, legend, p, strong").all():
            fits = "t => t.scrollWidth <= Math.max(t.clientWidth, t.offsetWidth)"
            assert text.evaluate(fits)
        lines = "p => p.clientHeight - parseFloat(getComputedStyle(p).minHeight) < 1"
        assert hand.words.evaluate(lines)  # so that no readout moves what is under it
        for slider in hand.explorer.get_by_role("slider").all():
            assert slider.bounding_box()["width"] > 90
        controls = hand.explorer.locator(".lab-controls").bounding_box()
        beside = controls["x"] + controls["width"] <= hand.picture.bounding_box()["x"]
        assert beside == (width == 1280)
    if width < 1000:
        page.evaluate(toggle)
    page.set_viewport_size(SCREEN)


def test_dark_theme_and_forced_colours(browser, opened, everything):
    page = everything
    choose = (
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
    )
    try:
        page.evaluate(choose, "JupyterLab Dark")
        page.wait_for_selector("body[data-jp-theme-light=false]", state="attached")
        for hand in each(page):
            for text in hand.explorer.locator("p, label, legend, strong, button").all():
                assert text.evaluate(CONTRAST) > 4.5
            assert brightness(hand.picture) < 60
    finally:
        page.evaluate(choose, "JupyterLab Light")
    for scheme, paper in (("light", (200, 256)), ("dark", (0, 60))):
        context = browser.new_context(forced_colors="active", color_scheme=scheme)
        forced = opened(ALL[:2], "forced.ipynb", context.new_page())
        hand = Hand(forced, NAMES[0], forced)
        assert paper[0] <= brightness(hand.picture) < paper[1]
        slider = hand.explorer.get_by_role("slider").first
        for one in (slider, hand.reset):  # each can be told from what is around it
            shot = pixels(one)
            assert np.ptp(shot.reshape(-1, 3).astype(int).sum(axis=1)) > 200
        before = pixels(slider.locator("xpath=.."))
        slider.focus()
        forced.keyboard.press("ArrowLeft")
        assert slider.evaluate("one => getComputedStyle(one).outlineStyle") != "none"
        assert (pixels(slider.locator("xpath=..")) != before).any()
        context.close()


def pixels(locator):
    """Return what is painted there, (height, width, 3)."""
    return (imread(io.BytesIO(locator.screenshot()))[..., :3] * 255).astype(np.uint8)


def brightness(picture):
    return np.median(pixels(picture))


def test_names_values_and_rules_for_a_screen_reader(everything):
    page = everything
    axe = Axe()
    for hand in each(page):
        tree = hand.explorer.aria_snapshot()
        assert f'group "{hand.twin.title}"' in tree
        for control, inputs in hand.inputs():
            kind = "group" if control.options else "slider"
            assert f'{kind} "{control.label}"' in tree
            for one in inputs:
                assert one.get_attribute("data-lm-suppress-shortcuts") == "true"
        assert hand.picture.get_attribute("aria-label") == hand.words.inner_text()
        assert tree.count("status") == 1
        hand.explorer.evaluate("one => one.setAttribute('data-tried', '')")
    found = axe.run(page, "[data-tried]").response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"][:120]) for rule in found] == []


def test_a_thousand_moves_leave_nothing_behind(opened):
    page = opened(ALL[:2])
    hand = Hand(page, NAMES[0], page)
    count = "document.querySelectorAll('*').length"
    slider = hand.explorer.get_by_role("slider").first
    slider.press("Home")
    hand.hold()
    before = page.evaluate(count)
    page.evaluate(
        """slider => new Promise(done => {
          let left = 1000;
          (function move() {
            slider.value = left % 40 / 20 - 1;
            slider.dispatchEvent(new Event('input'));
            if (left--) setTimeout(move, 4); else done();
          })();
        })""",
        slider.element_handle(),
    )
    slider.press("Home")
    hand.hold()
    assert page.evaluate(count) == before
