"""The notebooks in the front ends that people use, in Chromium.

pip install -e '.[test,runners]'
pytest tests/browser/test_front_ends.py
"""

import shutil

import lab
import pytest
from store import NOTEBOOKS
from stored import NAMES, code_cells, read, text_of
from test_runners import pytest_alone


@pytest.fixture(scope="module")
def copies(folder):
    """Return copies of the notebooks, as they are stored."""
    for name in NAMES:
        shutil.copy(NOTEBOOKS / name, folder)
    return folder


def move_each_slider(page):
    """Press a bare arrow key on each slider: words and picture must follow."""
    explorer = page.locator(".lab-explorer:visible").first
    explorer.wait_for(timeout=120_000)
    explorer.scroll_into_view_if_needed()
    words, moving = explorer.locator("p"), explorer.locator(".lab-picture svg")
    sliders = explorer.get_by_role("slider").all()
    assert sliders
    start = words.inner_text()
    for slider in sliders:
        drawn = moving.inner_html()
        at, least = slider.input_value(), slider.get_attribute("min")
        slider.focus()
        page.keyboard.press("ArrowRight" if at == least else "ArrowLeft")
        assert slider.input_value() != at
        assert slider.evaluate("slider => slider === document.activeElement")
        wait_for(page, words, f"words => words.innerText !== {start!r}")
        assert moving.inner_html() != drawn
        explorer.get_by_role("button", name="Reset").click()
        wait_for(page, words, f"words => words.innerText === {start!r}")


def wait_for(page, locator, condition):
    page.wait_for_function(condition, arg=locator.element_handle(), timeout=20_000)


@pytest.mark.parametrize("name", NAMES)
def test_saved_by_jupyterlab(page, address, copies, name):
    lab.open_notebook(page, address, name)
    lab.run(page)
    lab.run(page, "docmanager:save")
    page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
    )
    ran, stored = code_cells(copies / name), code_cells(name)
    assert "widgets" not in read(copies / name).metadata
    assert [cell.execution_count for cell in ran] == [*range(1, len(ran) + 1)]
    assert [text_of(cell) for cell in ran] == [text_of(cell) for cell in stored]


def test_what_jupyterlab_saved_passes_strict_nbval(copies, tmp_path):
    for name in NAMES:
        shutil.copy(copies / name, tmp_path)
    code, said = pytest_alone("--nbval", tmp_path)
    assert code == 0, said


@pytest.mark.parametrize("name", NAMES)
def test_voila(page, address, copies, name):
    page.goto(f"{address}/voila/render/{name}", timeout=120_000)
    move_each_slider(page)


def test_two_of_one_kind_live_in_voila(page, address, folder):
    calls = "from labsupport import explorers", "explorers.hull()", "explorers.hull()"
    lab.write_notebook(folder / "two.ipynb", *calls)
    page.goto(f"{address}/voila/render/two.ipynb", timeout=120_000)
    both = page.locator(".lab-explorer")
    both.nth(1).wait_for(timeout=60_000)
    for explorer in both.all():  # the first too, although the second came after it
        words = explorer.locator("p")
        explorer.get_by_role("slider").first.press("End")
        wait_for(page, words, "words => words.innerText.includes('Scores [+5.00')")


def test_notebook_7(page, address, copies):
    page.goto(f"{address}/notebooks/{NAMES[0]}")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    idle = page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    idle.wait_for(timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    move_each_slider(page)
