"""The six notebooks under the runners and converters that teachers use.

    pip install -e '.[runners]'
    pytest tests/runners

Not part of a plain `pytest`: it needs that extra, and runs all six several times.
"""

import base64
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import nbformat
import papermill
import pytest
from bs4 import BeautifulSoup
from store import NOTEBOOKS
from stored import NAMES, code_cells, text_of

PATHS = [NOTEBOOKS / name for name in NAMES]
RUNNERS = ["jupyter execute", "papermill"]


def call(*command: str | Path) -> tuple[int, str]:
    """Run a command of this environment; return its exit code and all it says."""
    scripts = sysconfig.get_path("scripts")
    path = os.pathsep.join([scripts, os.environ["PATH"]])
    program = shutil.which(command[0], path=path)
    result = subprocess.run(
        [program, *command[1:]],
        env=os.environ | {"PATH": path, "PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    return result.returncode, result.stdout


def pytest_alone(option: str, folder: Path) -> tuple[int, str]:
    """Run pytest with one option and none of the project's settings."""
    settings = ["-c", os.devnull, "--rootdir", folder, "-p", "no:cacheprovider"]
    return call("pytest", "-q", option, *settings, folder)


def pictures(path: Path) -> list[tuple[bytes, str]]:
    """Return each stored picture, and the words for it."""
    outputs = [output for cell in code_cells(path) for output in cell.outputs]
    shown = [o for o in outputs if "image/png" in o.get("data", {})]
    data = [base64.b64decode(o.data["image/png"]) for o in shown]
    return list(zip(data, [o.metadata["image/png"]["alt"] for o in shown], strict=True))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return a folder for each runner, with the notebooks as it has saved them."""
    folders = {runner: tmp_path_factory.mktemp("saved") for runner in RUNNERS}
    for path in PATHS:
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.update(outputs=[], execution_count=None)
        for folder in folders.values():
            nbformat.write(notebook, folder / path.name)
    folder = folders["jupyter execute"]
    code, said = call("jupyter", "execute", "--inplace", *sorted(folder.iterdir()))
    assert code == 0, said
    folder = folders["papermill"]
    for path in sorted(folder.iterdir()):
        papermill.execute_notebook(path, path, cwd=folder, progress_bar=False)
    return folders


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("runner", RUNNERS)
def test_saves_what_is_stored(saved, runner, name):
    ran, stored = code_cells(saved[runner] / name), code_cells(NOTEBOOKS / name)
    assert [cell.execution_count for cell in ran] == [*range(1, len(ran) + 1)]
    assert [text_of(cell) for cell in ran] == [text_of(cell) for cell in stored]
    words = [[alt for _, alt in pictures(p / name)] for p in (saved[runner], NOTEBOOKS)]
    assert words[0] == words[1]


@pytest.mark.parametrize("runner", RUNNERS)
def test_what_it_saves_passes_strict_nbval(saved, runner):
    code, said = pytest_alone("--nbval", saved[runner])
    assert code == 0, said
    cells = sum(len(code_cells(path)) for path in PATHS)
    assert f"{cells} passed" in said


def test_nbval_sees_a_broken_number_in_each_notebook(tmp_path):
    for path in PATHS:
        notebook = nbformat.read(path, as_version=4)
        outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
        number = next(o for o in outputs if re.search(r"\d", o.get("text", "")))
        digit = re.compile(r"\d(?=\D*\Z)")  # the last one
        number.text = digit.sub(lambda m: str((int(m[0]) + 1) % 10), number.text)
        nbformat.write(notebook, tmp_path / path.name)
    code, said = pytest_alone("--nbval", tmp_path)
    assert code == 1
    failed = re.findall(r"^FAILED .*?([\w]+\.ipynb)", said, re.MULTILINE)
    assert failed == NAMES, said


def test_nbmake():
    code, said = pytest_alone("--nbmake", NOTEBOOKS)
    assert code == 0, said
    assert f"{len(PATHS)} passed" in said


@pytest.fixture(scope="module", params=["lab", "classic"])
def pages(request, saved, tmp_path_factory):
    """Return, by notebook, the template, the file, and the page nbconvert makes of it.

    What `jupyter execute` saved holds the explorers' views beside their stills, as
    JupyterLab's files do; JupyterLab saves no state to make widgets of them.
    """
    folder = tmp_path_factory.mktemp("html")
    for path in saved["jupyter execute"].iterdir():
        notebook = nbformat.read(path, as_version=4)
        notebook.metadata.pop("widgets")
        nbformat.write(notebook, folder / path.name)
    convert = ["jupyter", "nbconvert", "--to", "html", "--template", request.param]
    code, said = call(*convert, *sorted(folder.iterdir()))
    assert code == 0, said
    html = {n: (folder / n).with_suffix(".html").read_text("utf-8") for n in NAMES}
    soups = {name: BeautifulSoup(html[name], "html.parser") for name in NAMES}
    return {name: (request.param, folder / name, soups[name]) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_html_shows_each_number_and_each_picture(pages, name):
    template, path, page = pages[name]
    shown = [area.get_text().strip() for area in page.select("pre")]
    outputs = [output for cell in code_cells(path) for output in cell.outputs]
    printed = [output.text.strip() for output in outputs if "text" in output]
    assert printed
    assert set(printed) <= set(shown)
    images = [i for i in page.select("img") if i["src"].startswith("data:image/png")]
    data = [base64.b64decode(image["src"].partition("base64,")[2]) for image in images]
    assert data == [png for png, _ in pictures(path)]
    if template == "classic":  # nbconvert's own "lab" leaves out a picture's words
        assert [image["alt"] for image in images] == [alt for _, alt in pictures(path)]


@pytest.mark.parametrize("name", NAMES)
def test_html_shows_each_explorer_still_and_not_as_an_empty_widget(pages, name):
    _, path, page = pages[name]
    explorers = [c for c in code_cells(path) if c.source.startswith("explorers.")]
    assert explorers
    readouts = [text_of(cell) for cell in explorers]
    assert set(readouts) <= {words for _, words in pictures(path)}
    assert not page.select("script[type*=widget]")
