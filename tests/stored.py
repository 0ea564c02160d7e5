"""What the six notebooks hold as they are stored: cells, text, pictures, tags."""

import re
from functools import cache
from pathlib import Path

import nbformat
from store import NOTEBOOKS

ROOT = NOTEBOOKS.parent
NAMES = [
    "01_if_unit.ipynb",
    "02_bank_of_units.ipynb",
    "03_collapse_without_relu.ipynb",
    "04_replacing_stack.ipynb",
    "05_layer_norm_drift.ipynb",
    "06_three_deep_block.ipynb",
]


@cache
def read(name: str | Path) -> nbformat.NotebookNode:
    """Return a notebook, by its name or, if it is a copy, by its path."""
    return nbformat.read(NOTEBOOKS / name, as_version=4)


def code_cells(name: str | Path) -> list[nbformat.NotebookNode]:
    """Return a notebook's code cells; JupyterLab's In [1] is the first."""
    return [cell for cell in read(name).cells if cell.cell_type == "code"]


def text_of(cell: nbformat.NotebookNode) -> str:
    """Return the text of all of a cell's outputs."""
    outputs = cell.get("outputs", [])
    return "".join(o.get("text") or o.data.get("text/plain", "") for o in outputs)


def claims_of(cell: nbformat.NotebookNode) -> list[str]:
    """Return the claims that a cell is tagged with."""
    tags = cell.metadata.get("tags", [])
    return [tag.removeprefix("claim:") for tag in tags if tag.startswith("claim:")]


def prose(name: str) -> str:
    cells = [cell.source for cell in read(name).cells if cell.cell_type == "markdown"]
    return "\n\n".join(cells)


def headings(markdown: str) -> list[tuple[int, str]]:
    """Return the level and the words of each heading, code blocks left out."""
    markdown = re.sub(r"^```.*?^```", "", markdown, flags=re.DOTALL | re.MULTILINE)
    found = re.findall(r"^(#{1,6}) +(.+?) *$", markdown, flags=re.MULTILINE)
    return [(len(marks), re.sub(r"[*`$]", "", words)) for marks, words in found]
