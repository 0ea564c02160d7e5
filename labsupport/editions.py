"""Make a class's versions of the notebooks: all from the one source.

    python -m labsupport.editions FOLDER

writes into FOLDER ``with-answers/`` and ``without-answers/`` (the six notebooks, with
the cells tagged *answer* and without them), ``lab.html`` (all six on one page that
prints well from a browser, answers laid out) and ``slides/`` (the cells tagged *slide*,
and those tagged *part* under the slide before them).
"""

from __future__ import annotations

import argparse
import copy
import re
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter, SlidesExporter
from nbformat import NotebookNode

SOURCE = Path(__file__).resolve().parent.parent / "notebooks"
PRINT = """<style>
  @page {margin: 16mm 14mm}
  body {max-width: 52rem; margin: auto}
  .jp-Cell, .jp-Cell-inputWrapper, .jp-InputArea {display: block}
  .jp-InputPrompt, .jp-OutputPrompt, .anchor-link {display: none}
  .jp-Cell:has(h1):not(:first-of-type) {break-before: page}
  h1, h2, h3, h4 {break-after: avoid}
  .jp-CodeCell, table, details {break-inside: avoid}
  img {max-width: 100%; max-height: 95mm; object-fit: contain; object-position: left}
</style>"""


def has(cell: NotebookNode, tag: str) -> bool:
    """Return whether a cell carries a tag."""
    return tag in cell.metadata.get("tags", [])


def without_answers(notebook: NotebookNode) -> NotebookNode:
    """Return a copy of a notebook without the cells that are tagged *answer*."""
    notebook = copy.deepcopy(notebook)
    notebook.cells = [cell for cell in notebook.cells if not has(cell, "answer")]
    return notebook


def printable(notebooks: dict[str, NotebookNode]) -> str:
    """Return one page of HTML with all notebooks, by their file names.

    What is folded is laid out, and a link to another notebook leads to its place on the
    page.
    """
    whole = nbformat.v4.new_notebook()
    for name, notebook in notebooks.items():
        for cell in copy.deepcopy(notebook.cells):
            cell.id = f"{Path(name).stem}-{cell.id}"[:64]
            if cell.cell_type == "markdown":
                cell.source = _on_one_page(cell.source, notebooks)
            whole.cells.append(cell)
    page, _ = HTMLExporter().from_notebook_node(
        whole, {"metadata": {"name": "The Transformer Block Lab"}}
    )
    return page.replace("</head>", PRINT + "</head>", 1)


def _on_one_page(source: str, notebooks: dict[str, NotebookNode]) -> str:
    source = source.replace("<details>", "<details open>")
    for name, notebook in notebooks.items():
        title = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
        anchor = "#" + title.replace(" ", "-")
        source = re.sub(rf"\]\({re.escape(name)}(#[^)]*)?\)", f"]({anchor})", source)
    return source


def slides(notebook: NotebookNode) -> str | None:
    """Return a notebook's slides as HTML, or None if no cell asks to be one."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        kind = "slide" if has(cell, "slide") else "-" if has(cell, "part") else "skip"
        cell.metadata["slideshow"] = {"slide_type": kind}
    if not any(has(cell, "slide") for cell in notebook.cells):
        return None
    page, _ = SlidesExporter().from_notebook_node(notebook)
    return page


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m labsupport.editions",
        description="Write the notebooks with answers and without, one page to print, "
        "and slides.",
    )
    parser.add_argument("folder", type=Path, help="where they are written")
    parser.add_argument("--source", type=Path, default=SOURCE, help="(%(default)s)")
    options = parser.parse_args(arguments)
    paths = sorted(options.source.glob("*.ipynb"))
    if not paths:
        parser.error(f"there are no notebooks in {options.source}; name them: --source")
    notebooks = {path.name: nbformat.read(path, as_version=4) for path in paths}
    folders = [
        options.folder / n for n in ("with-answers", "without-answers", "slides")
    ]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folders[0] / name)
        nbformat.write(without_answers(notebook), folders[1] / name)
        if page := slides(notebook):
            _write(folders[2] / f"{Path(name).stem}.html", page)
    _write(options.folder / "lab.html", printable(notebooks))
    for made in [*folders, options.folder / "lab.html"]:
        print(made)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
