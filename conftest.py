"""What the project adds to pytest: words for a cell that fails, and memory."""

import sys

import pytest
from memory import Memory
from nbval.plugin import IPyNbCell


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Say which cell it is that fails, as JupyterLab counts, and what mends it."""
    report = (yield).get_result()
    if report.failed and isinstance(item, IPyNbCell):
        path = item.path.relative_to(item.config.rootpath).as_posix()
        advice = (
            f"This is In [{item.cell_num + 1}] of {path} (nbval counts from 0).\n"
            "Is what it says now right? Then store it, and mend the text under it:\n"
            f"    python tests/store.py {path}"
        )
        report.sections.append(("What to do", advice))


def pytest_collection_modifyitems(items):
    """Have each notebook's kernel measured after its last cell.

    Only beside other tests: `pytest notebooks` is strict nbval, and no more.
    """
    notebooks = {item.parent for item in items if isinstance(item, IPyNbCell)}
    if sys.platform == "linux" and not all(isinstance(i, IPyNbCell) for i in items):
        for notebook in notebooks:
            last = max(n for n, item in enumerate(items) if item.parent is notebook)
            items.insert(last + 1, Memory.from_parent(notebook, name="memory"))
