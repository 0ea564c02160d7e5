"""One Chromium and one JupyterLab for all tests in a browser."""

import lab
import pytest


@pytest.fixture(scope="session")
def browser():
    with lab.chromium() as started:
        yield started


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="session")
def address(folder):
    """Serve the folder: /lab is JupyterLab, /notebooks Notebook 7, /voila Voilà."""
    with lab.jupyterlab(folder) as address:
        yield address


@pytest.fixture
def page(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 800}, has_touch=True)
    page.set_default_timeout(20_000)
    yield page
    page.close()
