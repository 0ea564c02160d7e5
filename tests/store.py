"""Run the notebooks and store their outputs afresh, in canonical form.

    python tests/store.py                            all of notebooks/
    python tests/store.py notebooks/01_if_unit.ipynb     that one
    python tests/store.py --check                    runs and writes nothing

Canonical is what JupyterLab would save, less what differs from machine to machine: no
timings, no widget state, no versions. A notebook that fails or warns is not stored.
"""

from __future__ import annotations

import argparse
import copy
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}
# A view's id is drawn anew in each run and leads nowhere without that run's kernel;
# the still picture and the readout beside it are what a stored notebook shows.
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def canonical(notebook: nbformat.NotebookNode) -> str:
    """Return the text that an executed notebook's file must hold.

    Raises
    ------
    ValueError
        If an output is an error or on stderr, a code cell has not run, or the notebook
        is not valid, with a sentence that says where.
    """
    notebook = copy.deepcopy(notebook)
    notebook.update(nbformat=4, nbformat_minor=5, metadata=METADATA)
    count = 0
    for number, cell in enumerate(notebook.cells, 1):
        cell.metadata = {"tags": tags} if (tags := cell.metadata.get("tags")) else {}
        cell.source = cell.source.rstrip()
        if cell.cell_type != "code":
            continue
        if cell.execution_count is None:
            raise ValueError(f"cell {number} has not run: is it empty?")
        count += 1
        cell.execution_count = count
        for output in cell.outputs:
            if output.output_type == "error":
                raise ValueError(
                    f"cell {number} fails: {output.ename}, {output.evalue}"
                )
            if output.get("name") == "stderr":
                raise ValueError(f"cell {number} writes to stderr: {output.text}")
            if "execution_count" in output:
                output.execution_count = count
            if "data" in output:
                output.data.pop(WIDGET_VIEW, None)
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        raise ValueError(f"it is not a valid notebook: {error}") from None
    return nbformat.writes(notebook) + "\n"


def run(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Return the notebook as it stands after all its cells have run in `folder`."""
    NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
    ).execute()
    return notebook


def main(arguments: list[str] | None = None) -> str:
    """Store, or check, the notebooks; return what went wrong, or nothing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="all, unless named")
    parser.add_argument("--check", action="store_true", help="run and write nothing")
    options = parser.parse_args(arguments)
    faults = []
    for path in options.notebooks or sorted(NOTEBOOKS.glob("*.ipynb")):
        try:
            notebook = nbformat.read(path, as_version=4)
            if options.check:
                if canonical(notebook) != path.read_text(encoding="utf-8"):
                    raise ValueError("it is not in canonical form: store it afresh")
            else:
                text = canonical(run(notebook, path.resolve().parent))
                path.write_text(text, encoding="utf-8", newline="\n")
                print(f"{path.name}: stored")
        except (ValueError, CellExecutionError) as error:
            faults.append(f"{path.name} is not stored: {error}")
    return "\n".join(faults)


if __name__ == "__main__":
    sys.exit(main() or None)
