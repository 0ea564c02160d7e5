"""The explorers in the real thing: JupyterLab, Chromium, a hand on mouse and keys."""

import base64
import importlib.util
import io
import itertools
import os

import browser as lab
import nbformat
import pytest
from PIL import Image

from labsupport import explorers

missing = [
    what
    for what, found in (
        (
            "Playwright (pip install -e '.[test]')",
            importlib.util.find_spec("playwright"),
        ),
        ("Chromium (apt-get install chromium)", lab.CHROMIUM or os.environ.get("CI")),
    )
    if not found
]
if missing:
    pytest.skip(f"these need {' and '.join(missing)}", allow_module_level=True)

# Each explorer with one function of the reader's: its home, and what drives it.
READERS = {
    "if_unit": "block.fires",
    "bank": "block.feed_forward",
    "collapse": "block.relu",
    "hull": "block.softmax",
    "stack": "stack.run_stack",
    "drift": "block.layer_norm",
    "block": "block.block",
}
ARGUMENT = {"collapse": "bend"}
SPOILT = {
    "raise ValueError('<i>my own words</i>')": "ValueError: <i>my own words</i>",
    "return np.zeros((7, 7, 7))": "shape (7, 7, 7)",
    "return np.nan * np.asarray({function}(*args, **kwargs))": "finite",
}
COUNT = """
import ipywidgets
import matplotlib.pyplot as plt
print(len(ipywidgets.widget._instances), len(plt.get_fignums()))
"""
CHANGED = """([said, shown]) => {
  const explorer = document.querySelector('.lab-explorer');
  const picture = explorer.querySelector('img');
  return explorer.querySelector('[role=status]').innerText !== said
    && (shown === null || picture.src !== shown)
    && picture.complete && picture.naturalWidth > 0;
}"""
# The picture as it is painted: how bright, how colourful, how much is in it.
PAINTED = """picture => {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
  const context = canvas.getContext('2d');
  context.drawImage(picture, 0, 0);
  const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
  let [brightest, colour, dark] = [0, 0, 0];
  for (let i = 0; i < data.length; i += 4) {
    const rgb = data.slice(i, i + 3);
    const [low, high] = [Math.min(...rgb), Math.max(...rgb)];
    brightest = Math.max(brightest, high);
    colour = Math.max(colour, high - low);
    dark += high < 190;
  }
  return {brightest, colour, dark, width: canvas.width};
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
  const [darker, lighter] = [text.color, paper.backgroundColor].map(light).sort();
  return (lighter + 0.05) / (darker + 0.05);
}"""
WATCH = """explorer => {
  const seen = window.seen = {pictures: 0, bare: 0, shift: 0};
  const picture = explorer.querySelector('img');
  picture.addEventListener('load', () => seen.pictures++);
  (function frame() {
    if (picture.getBoundingClientRect().height < 9) seen.bare++;
    requestAnimationFrame(frame);
  })();
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) seen.shift += entry.value;
  }).observe({type: 'layout-shift'});
}"""


@pytest.fixture(scope="module")
def browser():
    with lab.chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="module")
def address(folder):
    with lab.jupyterlab(folder) as address:
        yield address


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 1100})
    page.set_default_timeout(20_000)
    yield page
    page.close()


@pytest.fixture(scope="module")
def all_seven(folder):
    calls = [f"explorers.{name}()" for name in READERS]
    lab.write_notebook(folder / "all.ipynb", "from labsupport import explorers", *calls)
    return "all.ipynb"


@pytest.fixture
def moving(page, address, folder):
    """Return a function that opens a notebook with one explorer, run."""

    def open_one(name, cells=()):
        lab.write_notebook(folder / f"{name}.ipynb", *(cells or reader_cells(name)))
        lab.open_notebook(page, address, f"{name}.ipynb")
        lab.run(page)
        return Hand(page)

    return open_one


def reader_cells(name, body=None):
    function = READERS[name]
    argument = ARGUMENT.get(name, function.split(".")[1])
    body = body or "return {function}(*args, **kwargs)"
    return [
        "import numpy as np\nfrom labsupport import block, explorers, stack",
        f"def mine(*args, **kwargs):\n    {body.format(function=function)}",
        f"explorers.{name}({argument}=mine)",
        COUNT,
    ]


class Hand:
    """A hand on the one explorer of a page, and an eye on what it does."""

    def __init__(self, page):
        self.page = page
        self.explorer = page.locator(".lab-explorer")
        self.picture = self.explorer.locator("img")
        self.readout = self.explorer.locator("[role=status]")
        self.handles = self.explorer.get_by_role("slider")
        self.picture.wait_for()

    def at(self, handle):
        return float(handle.get_attribute("aria-valuetext"))

    def see(self):
        return [self.readout.inner_text(), self.picture.get_attribute("src")]

    def do(self, act, *, redraws=True):
        """Act, and wait until the readout and the picture have changed."""
        said, shown = self.see()
        act()
        before = [said, shown if redraws else None]
        self.page.wait_for_function(CHANGED, arg=before)

    def press(self, key, **kwargs):
        self.do(lambda: self.page.keyboard.press(key), **kwargs)

    def reset(self):
        """Click *Reset* once every move has been answered, and wait for its answer."""
        self.settle()
        self.explorer.get_by_role("button", name="Reset").click()
        self.settle()

    def settle(self):
        """Wait until nothing changes any more, however busy the machine is."""
        seen = None
        while (now := self.see()) != seen:
            seen = now
            self.page.wait_for_timeout(700)

    def drag(self, handle, share):
        grip, track = handle.bounding_box(), self.track(handle).bounding_box()
        across = track["y"] + track["height"] / 2
        self.page.mouse.move(grip["x"] + grip["width"] / 2, across)
        self.page.mouse.down()
        self.page.mouse.move(track["x"] + share * track["width"], across, steps=3)
        self.page.mouse.up()

    def track(self, handle):
        return handle.locator("xpath=ancestor::*[contains(@class, 'noUi-base')]")


@pytest.mark.parametrize("name", READERS)
def test_every_control_moves_by_key_and_by_mouse(moving, name):
    hand = moving(name)
    start, _ = hand.see()
    assert hand.picture.evaluate(PAINTED)["dark"] > 1000
    for handle in hand.handles.all():
        handle.focus()
        low, high = (
            float(handle.get_attribute(f"aria-value{e}")) for e in ("min", "max")
        )
        if hand.at(handle) < high:
            hand.press("End", redraws=False)
        assert hand.at(handle) == high
        hand.press("Home", redraws=False)
        assert hand.at(handle) == low
        hand.press("ArrowRight")
        step = hand.at(handle)
        assert step > low
        if step < high:
            hand.press("PageUp", redraws=False)
            assert hand.at(handle) > step
            hand.press("PageDown", redraws=False)
            assert hand.at(handle) <= step
            hand.press("ArrowUp", redraws=False)
            hand.press("ArrowDown", redraws=False)
        if hand.at(handle) > low:
            hand.press("ArrowLeft", redraws=False)
        assert hand.at(handle) == low
        assert handle.evaluate("handle => handle === document.activeElement")
        hand.do(lambda handle=handle: hand.drag(handle, 0.6))
        assert hand.at(handle) > low
        hand.reset()
        assert hand.see()[0] == start


@pytest.mark.parametrize("name", READERS)
def test_the_cell_runs_again_and_tells_what_goes_wrong(moving, name):
    hand = moving(name)
    start, _ = hand.see()
    page = hand.page
    counts = page.locator(".jp-OutputArea-output pre")
    first = counts.inner_text()
    assert first.split()[1] == "0"
    for _ in range(5):
        lab.run(page)
    hand.picture.wait_for()
    assert counts.inner_text() == first
    assert hand.explorer.count() == 1
    hand.explorer.evaluate(WATCH)
    hand.handles.first.focus()
    hand.press("ArrowLeft" if name == "collapse" else "ArrowRight")
    page.wait_for_timeout(300)
    assert page.evaluate("seen.pictures") == 1

    for body, said in SPOILT.items():
        rewrite(page, 1, reader_cells(name, body)[1])
        lab.run(page)
        hand.picture.wait_for()
        if name == "drift":  # it starts without a norm, and asks for none
            hand.handles.last.focus()
            hand.press("ArrowRight")
        page.wait_for_function(
            "said => document.querySelector('[role=status]').innerText.includes(said)",
            arg=said,
        )
        painted = hand.picture.evaluate(PAINTED)
        assert painted["colour"] == 0
        assert painted["brightest"] < 220
    rewrite(page, 1, reader_cells(name)[1])
    lab.run(page)
    hand.picture.wait_for()
    page.wait_for_function(
        "said => document.querySelector('[role=status]').innerText === said", arg=start
    )
    assert hand.explorer.count() == 1


def rewrite(page, cell, source):
    page.evaluate(
        """([cell, source]) => window.jupyterapp.shell.currentWidget.content
             .widgets[cell].model.sharedModel.setSource(source)""",
        [cell, source],
    )


@pytest.mark.parametrize("name", READERS)
def test_a_fast_drag_ends_at_the_final_state(moving, name):
    hand = moving(name)
    page, handle = hand.page, hand.handles.nth(int(name == "if_unit"))
    hand.explorer.evaluate(WATCH)
    grip, track = handle.bounding_box(), hand.track(handle).bounding_box()
    across = track["y"] + track["height"] / 2
    page.mouse.move(grip["x"] + grip["width"] / 2, across)
    page.mouse.down()
    shares = itertools.chain(range(50), range(50, 10, -1))
    for moved, share in enumerate(shares):
        page.mouse.move(track["x"] + share / 50 * track["width"], across)
        if moved % 15 == 7:  # what a person sees in the middle of it
            shot = Image.open(io.BytesIO(hand.picture.screenshot())).convert("L")
            assert sum(shot.histogram()[:190]) > 1000
    drawn = page.evaluate("seen.pictures")
    page.mouse.up()
    hand.settle()
    seen = page.evaluate("seen")
    assert drawn > 3
    # The one under way, one on its way to the page, and the final one.
    assert seen["pictures"] - drawn <= 3
    assert seen["bare"] == 0
    assert seen["shift"] == 0
    final, _ = hand.see()
    twin = getattr(explorers, name)()
    controls = (one for made in twin._controls.values() for one in made)
    first = next(one for one in controls if not hasattr(one, "options"))
    first.value = type(first.value)(hand.at(handle))
    assert final == twin.readout
    twin.close()


def test_a_notebook_that_was_not_run_shows_still_pictures(page, address, folder):
    calls = [f"explorers.{name}()" for name in READERS]
    path = lab.write_notebook(folder / "unrun.ipynb", *calls)
    notebook = nbformat.read(path, as_version=4)
    for name, cell in zip(READERS, notebook.cells, strict=True):
        explorer = getattr(explorers, name)()
        data, metadata = explorer._repr_mimebundle_()
        explorer.close()
        if isinstance(data["image/png"], bytes):
            data["image/png"] = base64.b64encode(data["image/png"]).decode()
        output = nbformat.v4.new_output("execute_result", data, metadata=metadata)
        cell.outputs = [output]
    nbformat.write(notebook, path)
    lab.open_notebook(page, address, "unrun.ipynb")
    for cell in page.locator(".jp-CodeCell").all():
        cell.scroll_into_view_if_needed()
        picture = cell.locator(".jp-OutputArea img")
        picture.wait_for()
        painted = picture.evaluate(PAINTED)
        assert painted["dark"] > 1000
        assert painted["width"] == 2 * picture.evaluate("picture => picture.width")
    assert page.get_by_text("model not found").count() == 0


@pytest.mark.parametrize(("width", "zoom"), [(1024, 1), (512, 2)])
def test_nothing_is_cut_on_a_small_screen(browser, address, all_seven, width, zoom):
    # 512 wide at two dots a pixel is a screen of 1024 at 200 %.
    context = browser.new_context(
        viewport={"width": width, "height": 800}, device_scale_factor=zoom
    )
    page = context.new_page()
    lab.open_notebook(page, address, all_seven)
    if zoom > 1:  # as one does there: put the file list away
        page.evaluate(
            "window.jupyterapp.commands.execute('application:toggle-left-area')"
        )
    lab.run(page)
    for explorer in each_explorer(page):
        for text in explorer.locator(".widget-label, .widget-readout").all():
            assert text.evaluate(
                "t => t.scrollWidth <= t.clientWidth"
                " && t.scrollHeight < t.clientHeight + 2"
            )
        for track in explorer.locator(".noUi-base").all():
            assert track.bounding_box()["width"] > 90
        room = explorer.evaluate("e => e.parentElement.clientWidth")
        assert explorer.evaluate("e => e.scrollWidth") <= room
        picture = explorer.locator("img").bounding_box()
        assert picture["width"] <= room
        assert picture["width"] / picture["height"] == pytest.approx(
            640 / 330, rel=0.01
        )
    context.close()


def test_dark_theme_is_as_readable(page, address, all_seven):
    lab.open_notebook(page, address, all_seven)
    lab.run(page)
    choose = (
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
    )
    try:
        for theme in ("JupyterLab Dark", "JupyterLab Light"):
            page.evaluate(choose, theme)
            wanted = str(theme.endswith("Light")).lower()
            page.wait_for_selector(
                f"body[data-jp-theme-light={wanted}]", state="attached"
            )
            for explorer in each_explorer(page):
                for text in explorer.locator(
                    "[role=status], .widget-label, .widget-readout, b, button"
                ).all():
                    assert text.evaluate(CONTRAST) > 4.5
                corner = explorer.locator("img").evaluate(PAINTED)
                assert corner["brightest"] == 255  # its own white paper
    finally:
        page.evaluate(choose, "JupyterLab Light")


def each_explorer(page):
    """Yield the seven explorers, each brought into view."""
    for number in range(len(READERS)):
        cell = page.locator(".jp-CodeCell").nth(number + 1)
        cell.scroll_into_view_if_needed()
        explorer = cell.locator(".lab-explorer")
        explorer.locator("img").wait_for()
        yield explorer
