"""Measure every explorer in JupyterLab, beside an echo and an `interact` twin.

    python tests/benchmarks/bench_explorers.py [explorer ...]

One JupyterLab, one Chromium. The echo is a stock slider that the kernel answers with a
line of text. The twin of an explorer is the same picture on the same slider through
plain ``interact``. Every figure is the median of three rounds, in turn. Needs
Chromium and ``pip install -e .[test]``.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))
import lab

# The explorer, the control that is dragged, and which of the page's sliders that is.
DRAGGED = {
    "if_unit": ("evidence", 0),
    "bank": ("evidence", 0),
    "third_fact": ("threshold", 0),
    "collapse": ("slope", 0),
    "hull": ("scores", 0),
    "stack": ("gain", 0),
    "drift": ("gain", 0),
    "block": ("nudge", 1),
    "attention": ("asks", 0),
}
ECHO = """
import ipywidgets as widgets
slider = widgets.FloatSlider(min=-1, max=1, step=0.05)
answer = widgets.HTML()
slider.observe(lambda change: setattr(answer, "value", str(change.new)), "value")
widgets.VBox([slider, answer])
"""
EXPLORER = """
from labsupport import explorers
explorer = explorers.{name}()
explorer
"""
TWIN = """
import ipywidgets as widgets
from IPython.display import display
from labsupport import explorers
explorer = explorers.{name}()
control = explorer.controls["{control}"][0]
def show(value):
    before = explorer.state["{control}"]
    explorer.set({control}=(value, *before[1:]) if isinstance(before, tuple) else value)
    print(explorer.readout)
    display(explorer.figure)
slider = widgets.FloatSlider(
    min=control.low, max=control.high, step=control.step, value=control.value
)
twin = widgets.interact(show, value=slider)
"""
MEMORY = """
import gc, matplotlib.pyplot as plt, psutil
def moved(times):
    control = explorer.controls["{control}"][0]
    before = explorer.state["{control}"]
    for step in range(times):
        value = control.low + step % 37 / 36 * (control.high - control.low)
        pair = (value, *before[1:]) if isinstance(before, tuple) else value
        explorer.set({control}=pair)
    gc.collect()
    return psutil.Process().memory_info().rss / 1e6
before = moved(200)
print(f"{{moved(1000) - before:.1f}} MB more of {{before:.0f}}")
"""
ASK = """code => new Promise(answer => {
  const {kernel} = window.jupyterapp.shell.currentWidget.sessionContext.session;
  const future = kernel.requestExecute({code});
  let said = '';
  future.onIOPub = message => { said += message.content.text ?? ''; };
  future.done.then(() => answer(said.trim()));
})"""
# Notes down every picture (or line of text) that arrives, every frame without one,
# and every shift of what is shown.
WATCH = """
() => {
  const place = document.querySelector('.jp-OutputArea');
  const seen = window.seen = {answers: [], keys: [], bare: 0, shift: 0};
  const note = () => requestAnimationFrame(() => seen.answers.push(performance.now()));
  document.addEventListener('keydown', () => seen.keys.push(performance.now()), true);
  const moving = place.querySelector('.lab-picture svg');
  const text = moving ?? place.querySelector('.widget-html-content');
  const picture = () => place.querySelector('img');
  if (!moving && picture()) place.addEventListener('load', note, true);
  else new MutationObserver(note)
    .observe(text, {childList: true, characterData: true, subtree: true});
  const answer = () => moving ? moving.firstElementChild && moving : picture() ?? text;
  (function frame() {  // the echo is watched in every frame too: watching costs
    if (!answer() || answer().getBoundingClientRect().height < 9) seen.bare++;
    requestAnimationFrame(frame);
  })();
  new PerformanceObserver(list => {
    for (const {value, sources} of list.getEntries())
      if (sources.some(({node}) => place.contains(node))) seen.shift += value;
  }).observe({type: 'layout-shift'});
}
"""
SLIDERS = ".jp-OutputArea [type=range], .jp-OutputArea .noUi-handle"
AT = "one => Number(one.value ?? one.getAttribute('aria-valuenow'))"
MOST = "one => Number(one.max ?? one.getAttribute('aria-valuemax'))"
KERNEL = "window.jupyterapp.shell.currentWidget.sessionContext.session"
DRAG_FOR = 2.5
TAPS = 9


class Messages:
    """How large each message is that brings a page a picture."""

    def __init__(self, page: lab.Page) -> None:
        self.sizes: list[int] = []
        page.on("websocket", lambda socket: socket.on("framereceived", self.note))

    def note(self, frame: bytes | str) -> None:
        raw = frame if isinstance(frame, bytes) else frame.encode()
        if b'"_now"' in raw and b'"_stage"' not in raw:
            self.sizes.append(len(raw))


def measure(page: lab.Page, which: int) -> dict[str, float]:
    """Tap and drag one slider; return what came of it."""
    page.bring_to_front()
    page.evaluate("Object.assign(seen, {bare: 0, shift: 0})")
    handle = page.locator(SLIDERS).nth(which)
    handle.focus()
    at_end = handle.evaluate(AT) == handle.evaluate(MOST)
    there, back = ["ArrowRight", "ArrowLeft"][:: -1 if at_end else 1]
    waits = []
    for tap in range(TAPS):
        page.evaluate("Object.assign(seen, {answers: [], keys: []})")
        page.keyboard.press(back if tap % 2 else there)
        page.wait_for_function("seen.answers.length")
        waits.append(page.evaluate("seen.answers[0] - seen.keys[0]"))
        page.wait_for_timeout(180)

    track = handle
    if "noUi" in (handle.get_attribute("class") or ""):
        track = page.locator(".noUi-base").nth(which)
    track, grip = track.bounding_box(), handle.bounding_box()
    across = track["y"] + track["height"] / 2
    page.mouse.move(grip["x"] + grip["width"] / 2, across)
    page.mouse.down()
    page.evaluate("seen.answers = []")
    start, step = time.monotonic(), 0
    while time.monotonic() - start < DRAG_FOR:
        step += 1
        share = abs(step % 50 - 25) / 25  # every move to another value
        page.mouse.move(track["x"] + share * track["width"], across)
        page.wait_for_timeout(8)
    spent = time.monotonic() - start
    dragged = page.evaluate("seen.answers.length")
    page.mouse.up()
    page.wait_for_timeout(1000)
    seen = page.evaluate("seen")
    return {
        "wait": statistics.median(waits),
        "rate": dragged / spent,
        "after": len(seen["answers"]) - dragged,
        "bare": seen["bare"],
        "shift": seen["shift"],
    }


def main(names: list[str]) -> None:
    """Print a row for each of the named explorers, all of them unless named."""
    with (
        tempfile.TemporaryDirectory() as folder,
        lab.jupyterlab(Path(folder)) as address,
        lab.chromium() as browser,
    ):
        context = browser.new_context(viewport={"width": 1280, "height": 1100})

        def opened(name: str, source: str) -> lab.Page:
            lab.write_notebook(Path(folder) / f"{name}.ipynb", source)
            page = context.new_page()
            page.messages = Messages(page)
            lab.open_notebook(page, address, f"{name}.ipynb")
            lab.run(page)
            page.wait_for_selector(SLIDERS)
            page.wait_for_timeout(500)
            page.evaluate(WATCH)
            return page

        echo = opened("echo", ECHO)
        for name in names or DRAGGED:
            control, which = DRAGGED[name]
            twin = opened(f"{name} twin", TWIN.format(name=name, control=control))
            page = opened(name, EXPLORER.format(name=name))
            rows = medians({echo: 0, page: which, twin: 0})
            count = "document.querySelectorAll('.jp-OutputArea *').length"
            nodes = page.evaluate(count)
            memory = page.evaluate(ASK, MEMORY.format(control=control))
            page.wait_for_timeout(500)
            more = page.evaluate(count) - nodes
            print(f"{name:10} {told(*rows, max(page.messages.sizes))}", end="")
            print(f" | 1,000 moves: {memory}, {more} nodes more", flush=True)
            for done in (page, twin):  # an open tab slows the others down
                done.evaluate(f"{KERNEL}.shutdown()")
                done.close()


def medians(pages: dict[lab.Page, int]) -> list[dict[str, float]]:
    """Measure a slider of each page in turn, three times."""
    rounds = [[measure(page, which) for page, which in pages.items()] for _ in range(3)]
    return [
        {key: statistics.median(each[key] for each in runs) for key in runs[0]}
        for runs in zip(*rounds, strict=True)
    ]


def told(echo: dict, row: dict, twin: dict, largest: int) -> str:
    """Return a row of the explorer's figures beside the echo's and the twin's."""
    return (
        f"{row['rate']:4.1f}/s = {row['rate'] / echo['rate']:.2f} echo = "
        f"{row['rate'] / twin['rate']:.1f} twin | {row['wait']:3.0f} ms = "
        f"{row['wait'] / echo['wait']:.2f} echo | {row['after']:.0f} after "
        f"(echo {echo['after']:.0f}) | {row['bare']:.0f} frames bare | shift "
        f"{row['shift']:.3f} | at most {largest / 1000:.1f} kB"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
