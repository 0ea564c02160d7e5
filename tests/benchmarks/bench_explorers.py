"""Measure every explorer in JupyterLab, beside an echo and an `interact` twin.

    python tests/bench_explorers.py [explorer ...]

One JupyterLab, one Chromium. The echo is a slider that the kernel answers with a line
of text: nothing that goes through a kernel can be faster. The twin of an explorer is
the same picture on the same slider through plain ``interact``. Every figure is the
median of three rounds. Needs ``pip install -e .[test]`` and Chromium.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import lab

# The explorer, the control that is dragged, and which of the page's sliders that is.
DRAGGED = {
    "if_unit": ("evidence", 1),
    "bank": ("evidence", 0),
    "collapse": ("slope", 0),
    "hull": ("scores", 0),
    "stack": ("gain", 0),
    "drift": ("gain", 0),
    "block": ("nudge", 2),
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
control = explorer._controls["{control}"][0]
def show(value):
    before = explorer.state["{control}"]
    new = (value, *before[1:]) if isinstance(before, tuple) else value
    print(explorer._draw(explorer.state | {{"{control}": new}}))
    display(explorer.figure)
slider = widgets.FloatSlider(
    min=control.min, max=control.max, step=control.step, value=control.value
)
twin = widgets.interact(show, value=slider)
"""
MEMORY = """
import gc, matplotlib.pyplot as plt, psutil
def moved(times):
    control = explorer._controls["{control}"][0]
    for step in range(times):
        share = step % 37 / 36
        control.value = control.min + share * (control.max - control.min)
    gc.collect()
    return psutil.Process().memory_info().rss / 1e6
before = moved(0)
print(f"{{moved(1000) - before:.1f}} MB more, {{len(plt.get_fignums())}} figures")
"""
ASK = """code => new Promise(answer => {
  const {kernel} = window.jupyterapp.shell.currentWidget.sessionContext.session;
  const future = kernel.requestExecute({code});
  let said = '';
  future.onIOPub = message => { said += message.content.text ?? ''; };
  future.done.then(() => answer(said.trim()));
})"""
# Notes down every picture (or line of text) that arrives, every frame without one,
# and every shift of the page.
WATCH = """
() => {
  const place = document.querySelector('.jp-OutputArea');
  const seen = window.seen = {answers: [], keys: [], bare: 0, shift: 0};
  const note = () => requestAnimationFrame(() => seen.answers.push(performance.now()));
  place.addEventListener('load', note, true);
  document.addEventListener('keydown', () => seen.keys.push(performance.now()), true);
  const text = place.querySelector('.widget-html-content');
  const picture = () => place.querySelector('img');
  if (!picture()) new MutationObserver(note)
    .observe(text, {childList: true, characterData: true, subtree: true});
  const answer = picture() ? picture : () => text;
  (function frame() {  // the echo is watched in every frame too: watching costs
    if (!answer() || answer().getBoundingClientRect().height < 9) seen.bare++;
    requestAnimationFrame(frame);
  })();
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) seen.shift += entry.value;
  }).observe({type: 'layout-shift'});
}
"""
DRAG_FOR = 4.0
TAPS = 15


def measure(page: lab.Page, which: int) -> dict[str, float]:
    """Tap and drag one slider; return what came of it."""
    page.bring_to_front()
    page.evaluate("Object.assign(seen, {bare: 0, shift: 0})")
    handle = page.locator(".noUi-handle").nth(which)
    handle.focus()
    ends = [handle.get_attribute(f"aria-value{end}") for end in ("now", "max")]
    there, back = ["ArrowRight", "ArrowLeft"][:: -1 if ends[0] == ends[1] else 1]
    waits = []
    for tap in range(TAPS):
        page.evaluate("Object.assign(seen, {answers: [], keys: []})")
        page.keyboard.press(back if tap % 2 else there)
        page.wait_for_function("seen.answers.length")
        waits.append(page.evaluate("seen.answers[0] - seen.keys[0]"))
        page.wait_for_timeout(180)

    track = page.locator(".noUi-base").nth(which).bounding_box()
    grip = handle.bounding_box()
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
    page.wait_for_timeout(1500)
    seen = page.evaluate("seen")
    return {
        "wait": statistics.median(waits),
        "rate": dragged / spent,
        "after": len(seen["answers"]) - dragged,
        "bare": seen["bare"],
        "shift": seen["shift"],
    }


def main(names: list[str]) -> None:
    """Print a row for each of the named explorers, all seven unless named."""
    names = names or list(DRAGGED)
    sources = {"echo": ECHO}
    for name in names:
        sources[name] = EXPLORER.format(name=name)
        sources[f"{name} twin"] = TWIN.format(name=name, control=DRAGGED[name][0])
    with tempfile.TemporaryDirectory() as folder:
        rows, memory = measure_all(Path(folder), sources)
    echo = rows["echo"]
    print("pictures a second, beside the echo's and the twin's; key press to picture,")
    print("beside the twin's; redraws after release (the echo has", end=" ")
    print(f"{echo['after']:.0f}); frames without a picture; shift; 1,000 moves")
    for name in names:
        row, twin = rows[name], rows[f"{name} twin"]
        print(
            f"{name:9} {row['rate']:4.1f}/s = {row['rate'] / echo['rate']:.2f} echo = "
            f"{row['rate'] / twin['rate']:.1f} twin | {row['wait']:3.0f} ms = "
            f"{row['wait'] / twin['wait']:.2f} twin | {row['after']:.0f} after | "
            f"{row['bare']:.0f} bare | shift {row['shift']:.3f} | {memory[name]}"
        )
    print(f"echo      {echo['rate']:4.1f}/s, {echo['wait']:.0f} ms")


def measure_all(folder: Path, sources: dict[str, str]) -> tuple[dict, dict]:
    """Open a page for each notebook, and measure them in turn three times."""
    for name, source in sources.items():
        lab.write_notebook(folder / f"{name}.ipynb", source)
    with lab.jupyterlab(folder) as address, lab.chromium() as browser:
        context = browser.new_context(viewport={"width": 1280, "height": 1100})
        pages = {}
        for name in sources:
            pages[name] = page = context.new_page()
            lab.open_notebook(page, address, f"{name}.ipynb")
            lab.run(page)
            page.wait_for_selector(".noUi-handle")
            page.wait_for_timeout(500)
            page.evaluate(WATCH)
        rounds = {name: [] for name in sources}
        for _ in range(3):
            for name, page in pages.items():
                which = DRAGGED[name][1] if name in DRAGGED else 0
                rounds[name].append(measure(page, which))
        memory = {
            name: pages[name].evaluate(ASK, MEMORY.format(control=DRAGGED[name][0]))
            for name in sources
            if name in DRAGGED
        }
    rows = {
        name: {key: statistics.median(each[key] for each in runs) for key in runs[0]}
        for name, runs in rounds.items()
    }
    return rows, memory


if __name__ == "__main__":
    main(sys.argv[1:])
