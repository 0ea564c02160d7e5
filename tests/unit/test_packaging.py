"""What the lab needs is said once, in pyproject.toml; the other files repeat it."""

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from stored import ROOT

import labsupport

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
NEEDED = {r.name: r for r in map(Requirement, PROJECT["dependencies"])}


def _requirements(name: str) -> list[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_requirements_txt_is_the_project_itself_and_its_dependencies():
    assert _requirements("requirements.txt") == ["-e .", *PROJECT["dependencies"]]


def test_environment_yml_takes_python_from_conda_and_all_else_from_the_project():
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    environment = yaml.safe_load(text)
    python = f"python{PROJECT['requires-python']}"
    assert environment["channels"] == ["conda-forge"]
    assert environment["dependencies"] == [python, "pip", {"pip": ["-e ."]}]


def test_oldest_txt_is_the_lower_bounds():
    lowest = {name: str(r.specifier).replace(">=", "==") for name, r in NEEDED.items()}
    pins = map(Requirement, _requirements("tests/oldest.txt"))
    assert {r.name: str(r.specifier) for r in pins} == lowest


@pytest.mark.parametrize("extra", [None, *EXTRAS])
def test_every_bound_is_a_lower_bound(extra):
    named = EXTRAS.get(extra, PROJECT["dependencies"])
    bounds = [[s.operator for s in Requirement(text).specifier] for text in named]
    assert bounds == [[">="]] * len(named)


def test_one_lowest_python():
    assert PROJECT["requires-python"] == ">=3.11"
    assert PYPROJECT["tool"]["tox"]["env"]["oldest"]["base_python"] == ["3.11"]
    assert PYPROJECT["tool"]["ruff"]["target-version"] == "py311"


def imported_by(*paths: Path) -> set[str]:
    """Return the names of the packages that files import, or a function in them."""
    nodes = [n for p in paths for n in ast.walk(ast.parse(p.read_text("utf-8")))]
    modules = {n.module for n in nodes if isinstance(n, ast.ImportFrom) and not n.level}
    modules |= {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    tops = {module.partition(".")[0] for module in modules} - {"labsupport"}
    brought = packages_distributions()
    named = [brought.get(top, [top])[0] for top in tops - sys.stdlib_module_names]
    return set(map(canonicalize_name, named))


def test_labsupport_imports_only_what_is_declared():
    real = ROOT / "labsupport" / "real.py"  # it has an extra of its own
    # What is needed stands on these.
    brought = {"contourpy", "ipython", "nbconvert", "nbformat", "traitlets"}
    extra = {requirement.name for requirement in map(Requirement, EXTRAS["real"])}
    others = set(ROOT.glob("labsupport/**/*.py")) - {real}
    assert imported_by(*others) <= set(NEEDED) | brought
    assert imported_by(real) <= set(NEEDED) | extra


def test_all_of_labsupport_is_packed():
    named = PYPROJECT["tool"]["setuptools"]
    folders = {path.parent for path in ROOT.glob("labsupport/**/*.py")}
    assert {f.relative_to(ROOT).as_posix().replace("/", ".") for f in folders} == set(
        named["packages"]
    )
    files = [path for path in ROOT.glob("labsupport/*.*") if path.suffix != ".py"]
    assert {path.name for path in files} == set(named["package-data"]["labsupport"])


def test_one_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == labsupport.__version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {labsupport.__version__}, " in changes
    assert citation["license"] == PROJECT["license"] == "BSD-3-Clause"
