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

import browser as lab

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
def megabytes():
    gc.collect()
    return psutil.Process().memory_info().rss / 1e6
def a_thousand():
    control = explorer._controls["{control}"][0]
    for step in range(1000):
        share = step % 37 / 36
        control.value = control.min + share * (control.max - control.min)
a_thousand()
before = megabytes()
a_thousand()
print(f"{{megabytes() - before:.1f}} MB, {{len(plt.get_fignums())}} figures")
"""
# Notes down every picture (or line of text) that arrives, every frame without one,
# and every shift of the page.
WATCH = """
() => {
  const place = document.querySelector('.jp-OutputArea');
  const seen = window.seen = {answers: [], keys: [], bare: 0, shift: 0, last: null};
  const note = last => requestAnimationFrame(() => {
    seen.answers.push(performance.now());
    seen.last = last;
  });
  place.addEventListener('load', event => note(event.target.src.length), true);
  document.addEventListener('keydown', () => seen.keys.push(performance.now()), true);
  const text = place.querySelector('.widget-html-content');
  if (!place.querySelector('img')) new MutationObserver(() => note(text.textContent))
    .observe(text, {childList: true, characterData: true, subtree: true});
  else (function frame() {
    const picture = place.querySelector('img');
    if (!picture || picture.getBoundingClientRect().height < 9)
      seen.bare++;
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
    page.evaluate("Object.assign(seen, {answers: [], keys: [], bare: 0, shift: 0})")
    handle = page.locator(".noUi-handle").nth(which)
    handle.focus()
    for tap in range(TAPS):
        page.keyboard.press("ArrowLeft" if tap % 2 else "ArrowRight")
        page.wait_for_timeout(180)
    seen = page.evaluate("seen")
    waits = [
        min(answer - key for answer in seen["answers"] if answer > key)
        for key in seen["keys"]
        if any(answer > key for answer in seen["answers"])
    ]

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
    """Print the table of ratios for the named explorers, all seven unless named."""
    sources = {"echo": [ECHO]}
    for name in names or DRAGGED:
        control, _ = DRAGGED[name]
        memory = MEMORY.format(control=control)
        sources[name] = [EXPLORER.format(name=name), memory]
        sources[f"{name} twin"] = [TWIN.format(name=name, control=control)]
    with tempfile.TemporaryDirectory() as folder:
        measure_all(Path(folder), sources)


def measure_all(folder: Path, sources: dict[str, list[str]]) -> None:
    """Open one page a notebook, measure them in turn, three times."""
    for name, cells in sources.items():
        lab.write_notebook(folder / f"{name}.ipynb", *cells[:1])
    with lab.jupyterlab(folder) as address, lab.chromium() as browser:
        context = browser.new_context(
            viewport={"width": 1280, "height": 1100}, device_scale_factor=1
        )
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
    table = {
        name: {key: statistics.median(r[key] for r in each) for key in each[0]}
        for name, each in rounds.items()
    }
    for name, row in table.items():
        print(f"{name:15}", {k: round(v, 2) for k, v in row.items()})
    for name in sources:
        if name in DRAGGED:
            row, echo, twin = table[name], table["echo"], table[f"{name} twin"]
            print(
                f"{name:10} rate/echo {row['rate'] / echo['rate']:.2f} "
                f"rate/twin {row['rate'] / twin['rate']:.2f} "
                f"wait/twin {row['wait'] / twin['wait']:.2f}"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
