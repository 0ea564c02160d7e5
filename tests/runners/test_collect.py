"""A class's answers: each kind of notebook that is handed in, and its row."""

import csv
import os
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

RIGHT = "def my_fires(pattern, evidence):\n    return max(pattern @ evidence, 0)"
CHECKS = 'check("fires", my_fires)', 'check("pattern", my_pattern)'
IMPORTS = "import numpy as np\n\nfrom labsupport.checks import check"
LOUD = "fires: right. Checked on 14 cases."
UNBENT = "The bend is missing: a match below zero must give 0."


def turn(answer, pattern="my_pattern = [1, -2]"):
    """Return the cells of a short notebook 01."""
    return IMPORTS, f"{answer}\n\n\n{CHECKS[0]}", f"{pattern}\n\n{CHECKS[1]}"


# Each learner: the cells, and what the table must say of `fires` and of `pattern`.
UNBENT_FIRES = "def my_fires(p, e):\n    return p @ e"
CLASS = {
    "ada": (turn(RIGHT), "right", "right"),
    "bob": (turn(UNBENT_FIRES), f"wrong: {UNBENT}", "right"),
    "cy": (turn("def my_fires(p, e):\n    return ..."), "not started", "right"),
    "di": ((IMPORTS, f"my_pattern = ...\n{CHECKS[1]}"), "missing", "not started"),
    "eve": (
        turn("def my_fires(p, e)\n    return p"),
        "did not run: SyntaxError",
        "right",
    ),
    "fox": (turn("while True:\n    pass"), "did not run: it does not come", "right"),
    "gus": (
        turn("def my_fires(p, e):\n    while True:\n        pass"),
        "wrong: It was interrupted",
        "right",
    ),
    "hal": (turn("eaten = np.ones((10**5, 10**5))"), "did not run", "right"),
    "ian": (
        (
            IMPORTS,
            f'print("{LOUD}")',
            *turn(UNBENT_FIRES)[1:],
        ),
        f"wrong: {UNBENT}",
        "right",
    ),
    "joy": (
        (
            IMPORTS,
            f'def check(exercise, answer):\n    print("{LOUD}")',
            *turn(UNBENT_FIRES)[1:],
        ),
        f"wrong: {UNBENT}",
        "right",
    ),
    "kit": (
        (
            IMPORTS,
            "import os\nfor name in os.listdir('.'):\n    os.remove(name)",
            *turn(RIGHT)[1:],
        ),
        "right",
        "right",
    ),
    "lou": (
        (IMPORTS, "from my_own import double", *turn(RIGHT)[1:]),
        "right",
        "right",
    ),
    "mia": (
        (IMPORTS, "import os", f"{RIGHT}\n{CHECKS[0]}", "os._exit(0)"),
        "right",
        "did not run: it ended",
    ),
    "ned": (
        (
            IMPORTS,
            "import labsupport.checks as c\nc.verdict = lambda *a: ('right', '')",
            *turn("my_fires = 3")[1:],
        ),
        "wrong: This is one number",
        "right",
    ),
    "oz": ((IMPORTS, "%matplotlib inline", RIGHT), "right", "missing"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    for learner, (cells, *_) in CLASS.items():
        (folder / learner).mkdir()
        cells = [nbformat.v4.new_code_cell(source) for source in cells]
        notebook = nbformat.v4.new_notebook(cells=cells)
        nbformat.write(notebook, folder / learner / "01_if_unit.ipynb")
    (folder / "lou" / "my_own.py").write_text("def double(x):\n    return 2 * x\n")
    (folder / "pat_01_if_unit.ipynb").write_text("{ this is no notebook")
    (folder / "ada" / ".ipynb_checkpoints").mkdir()
    (folder / "ada" / ".ipynb_checkpoints" / "01_if_unit.ipynb").write_text("old")
    return folder


def command(folder, table, *more):
    limits = ("--cell-seconds", "3", "--seconds", "40", *more)
    called = [sys.executable, "-m", "labsupport.collect", str(folder)]
    return [*called, "--csv", str(table), *limits]


def state(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def read(table):
    with table.open(encoding="utf-8-sig", newline="") as file:
        return {row["learner"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def collected(folder, tmp_path_factory):
    before, table = state(folder), tmp_path_factory.mktemp("table") / "class.csv"
    done = subprocess.run(
        command(folder, table), capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert state(folder) == before  # nothing that was handed in has changed
    return read(table), done


@pytest.mark.parametrize("learner", CLASS)
def test_each_row_says_what_was_handed_in(collected, learner):
    rows, _ = collected
    _, fires, pattern = CLASS[learner]
    assert rows[learner]["fires"].startswith(fires)
    assert rows[learner]["pattern"].startswith(pattern)
    assert rows[learner]["block"] == "missing"


def test_what_is_no_notebook_costs_only_its_own_row(collected):
    rows, _ = collected
    assert rows.keys() == {*CLASS, "pat"}
    assert rows["pat"]["fires"].startswith("did not run")


def test_the_commonest_mistake_comes_first_and_the_code_is_said_to_run(collected):
    _, done = collected
    assert f"  1. 3 x fires: {UNBENT}" in done.stdout
    assert "wrong (1)" in next(s for s in done.stdout.splitlines() if " bob " in s)
    assert "runs the code" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="Ctrl + C is sent as POSIX does")
def test_an_interrupt_keeps_what_is_done(folder, tmp_path):
    table = tmp_path / "class.csv"
    process = subprocess.Popen(
        command(folder, table, "--jobs", "1", "--cell-seconds", "200"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = ""
    while "5 of" not in said:  # the sixth, which does not end, is next
        said += process.stderr.read(1)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=20)
    rows = read(table)
    assert rows["ada"]["fires"] == "right"
    assert rows["oz"]["fires"].startswith("did not run: interrupted")
    assert "ada" in said


def test_a_folder_that_is_not_there_is_named(tmp_path):
    done = subprocess.run(
        command(tmp_path / "gone", "t.csv"), capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "gone is not a folder" in done.stderr


def test_an_empty_folder_gives_an_empty_table(tmp_path):
    subprocess.run(command(tmp_path, Path(tmp_path, "t.csv")), check=True)
    assert read(tmp_path / "t.csv") == {}
