"""The notebooks in the front ends that people use, in Chromium.

    pip install -e '.[test,runners]'
    pytest tests/frontends.py

Not part of a plain `pytest`: it needs those extras and Chromium.
"""

import shutil

import nbformat
import pytest
from browser import chromium, jupyterlab, open_notebook
from browser import run as run_in_lab
from runners import NAMES, NOTEBOOKS, code_cells, pytest_alone, texts

EXPLORER = ".lab-explorer:visible"
ENDS = ("now", "min")


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    yield page
    page.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return copies of the notebooks, as they are stored."""
    folder = tmp_path_factory.mktemp("served")
    for name in NAMES:
        shutil.copy(NOTEBOOKS / name, folder)
    return folder


@pytest.fixture(scope="module")
def address(folder):
    """Serve the copies: /lab is JupyterLab, /notebooks Notebook 7, /voila Voilà."""
    with jupyterlab(folder) as address:
        yield address


def move_each_slider(page, held=""):
    """Press an arrow key on each slider; the readout and the picture must follow.

    Each is moved from the start state, where every control changes the picture.
    """
    explorer = page.locator(EXPLORER).first
    explorer.wait_for(timeout=60_000)
    explorer.scroll_into_view_if_needed()
    readout = explorer.locator("[role=status]")
    picture = explorer.locator("img")
    sliders = explorer.get_by_role("slider").all()
    assert sliders
    start = readout.inner_text()
    for slider in sliders:
        said, shown = readout.inner_text(), picture.get_attribute("src")
        now, least = (slider.get_attribute(f"aria-value{end}") for end in ENDS)
        slider.focus()
        key = "ArrowRight" if now == least else "ArrowLeft"
        page.keyboard.press(held + key)
        page.wait_for_function(
            """([said, shown]) => {
              const boxes = [...document.querySelectorAll('.lab-explorer')];
              const box = boxes.find(box => box.offsetParent);
              return box.querySelector('[role=status]').innerText !== said
                && box.querySelector('img').src !== shown;
            }""",
            arg=[said, shown],
            timeout=20_000,
        )
        assert picture.evaluate("img => img.complete && img.naturalWidth > 0")
        explorer.get_by_role("button", name="Reset").click()
        page.wait_for_function(
            """start => [...document.querySelectorAll('.lab-explorer')]
              .find(box => box.offsetParent)
              .querySelector('[role=status]').innerText === start""",
            arg=start,
            timeout=20_000,
        )


@pytest.mark.parametrize("name", NAMES)
def test_saved_by_jupyterlab(page, address, folder, name):
    open_notebook(page, address, name)
    run_in_lab(page)
    run_in_lab(page, "docmanager:save")
    page.wait_for_function(
        "() => !window.jupyterapp.shell.currentWidget.context.model.dirty"
    )
    ran, stored = code_cells(folder / name), code_cells(NOTEBOOKS / name)
    assert "widgets" not in nbformat.read(folder / name, as_version=4).metadata
    assert [cell.execution_count for cell in ran] == [*range(1, len(ran) + 1)]
    assert [texts(cell) for cell in ran] == [texts(cell) for cell in stored]


def test_what_jupyterlab_saved_passes_strict_nbval(folder, tmp_path):
    for name in NAMES:
        shutil.copy(folder / name, tmp_path)
    code, said = pytest_alone("--nbval", tmp_path)
    assert code == 0, said


@pytest.mark.parametrize("name", NAMES)
def test_voila(page, address, name):
    page.goto(f"{address}/voila/render/{name}", timeout=120_000)
    move_each_slider(page)


def test_notebook_7(page, address):
    page.goto(f"{address}/notebooks/{NAMES[0]}")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    idle = page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    idle.wait_for(timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    # Bare arrow keys belong to Notebook 7 itself: they lead from cell to cell.
    move_each_slider(page, held="Shift+")
