"""Nothing public stands in labsupport that nothing needs or no test holds."""

import ast
from functools import cache
from pathlib import Path

import pytest
from stored import NAMES, ROOT, code_cells

MODULES = sorted((ROOT / "labsupport").rglob("*.py"))


def called(path: Path) -> str:
    """Return a module's name within labsupport; of any other file, nothing."""
    top, *parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(p for p in parts if p != "__init__") if top == "labsupport" else ""


def public(path: Path) -> list[str]:
    """Return a module's functions; of examples.py, its numbers and words."""
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    names = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
    if path.stem == "examples":
        names += [node.targets[0].id for node in nodes if isinstance(node, ast.Assign)]
    return [name for name in names if not name.startswith("_")]


def spoken_of(source: str, home: str = "") -> set[tuple[str, str]]:
    """Return each (module, name) of labsupport that a file, of module `home`, uses."""
    nodes = list(ast.walk(ast.parse(source)))
    modules, names = {}, {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "labsupport":
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = str(node.module).removeprefix("labsupport.")
            names |= {a.asname or a.name: (module, a.name) for a in node.names}
        elif isinstance(node, ast.Import):
            modules |= {
                a.asname: a.name.removeprefix("labsupport.") for a in node.names
            }
    found = set()
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add((modules.get(node.value.id), node.attr))
        elif isinstance(node, ast.Name):
            found.add(names.get(node.id, (home, node.id)))
        elif isinstance(node, ast.Constant):  # as in getattr(explorers, "bank")
            found |= {(module, node.value) for module in modules.values()}
    return found


@cache
def in_notebooks() -> set[tuple[str, str]]:
    sources = ("\n".join(c.source for c in code_cells(name)) for name in NAMES)
    return set().union(*map(spoken_of, sources))


@cache
def in_files(paths: tuple[Path, ...]) -> set[tuple[str, str]]:
    return set().union(*(spoken_of(p.read_text("utf-8"), called(p)) for p in paths))


@pytest.mark.parametrize(
    ("module", "name"),
    [(called(path), name) for path in MODULES for name in public(path)],
)
def test_is_used_and_tested(module, name):
    by_notebook = (module, name) in in_notebooks()
    used = by_notebook or (module, name) in in_files(tuple(MODULES))
    tested = (module, name) in in_files(tuple((ROOT / "tests").rglob("*.py")))
    assert used
    # What only other parts of labsupport call is tested through them.
    assert tested or not (by_notebook or module in ("block", "stack"))
