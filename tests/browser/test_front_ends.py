"""The notebooks in other front ends: an explorer answers in Notebook 7 and in Voilà.

These need the extra `runners` beside `test`, and Chromium.
"""

import shutil

import pytest
from store import NOTEBOOKS

ANSWERED = """before => {
  const words = document.querySelector('.lab-explorer .lab-words');
  return words && words.textContent !== before;
}"""


def move_and_hold(page):
    """Move the first slider of the page by a key; see its words follow."""
    page.wait_for_selector(".lab-explorer .lab-words", timeout=90_000)
    words = page.locator(".lab-explorer .lab-words").first
    before = words.inner_text()
    slider = page.locator(".lab-explorer input[type=range]").first
    slider.focus()
    page.keyboard.press("PageDown")
    page.wait_for_function(ANSWERED, arg=before, timeout=20_000)
    assert "evidence" in words.inner_text()


@pytest.fixture
def notebook(folder):
    return shutil.copy(NOTEBOOKS / "01_if_unit.ipynb", folder / "front.ipynb")


def test_voila(page, address, notebook):
    page.goto(f"{address}/voila/render/front.ipynb", timeout=90_000)
    move_and_hold(page)


def test_notebook_7(page, address, notebook):
    page.goto(f"{address}/notebooks/front.ipynb")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    page.wait_for_function(
        "() => window.jupyterapp?.shell.currentWidget", timeout=60_000
    )
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    move_and_hold(page)
