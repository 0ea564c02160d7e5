"""What the lab needs is said once, in pyproject.toml; the other files repeat it."""

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from stored import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
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


@pytest.mark.parametrize("extra", [None, *PROJECT["optional-dependencies"]])
def test_every_bound_is_a_lower_bound(extra):
    named = PROJECT["optional-dependencies"].get(extra, PROJECT["dependencies"])
    bounds = [[s.operator for s in Requirement(text).specifier] for text in named]
    assert bounds == [[">="]] * len(named)


def test_one_lowest_python():
    assert PROJECT["requires-python"] == ">=3.11"
    assert PYPROJECT["tool"]["tox"]["env"]["oldest"]["base_python"] == ["3.11"]
    assert PYPROJECT["tool"]["ruff"]["target-version"] == "py311"


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("labsupport/*.py")), ids=lambda p: p.name
)
def test_labsupport_imports_only_what_is_declared(path):
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    modules = {n.module for n in nodes if isinstance(n, ast.ImportFrom) and not n.level}
    modules |= {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    tops = {module.partition(".")[0] for module in modules} - {"labsupport"}
    installed = packages_distributions()
    names = {installed[top][0] for top in tops - sys.stdlib_module_names}
    brought = {"ipython", "traitlets"}  # ipywidgets stands on them
    assert {canonicalize_name(name) for name in names} <= set(NEEDED) | brought
