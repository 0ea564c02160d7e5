"""The notebooks again: upwards, from another folder, and with a name exchanged."""

from functools import cache

import pytest
from counterfactuals import COUNTERFACTUALS, Counterfactual
from running import Run
from stored import NAMES, claims_of, code_cells, text_of


@pytest.mark.parametrize("name", NAMES)
def test_runs_upwards_and_from_any_folder(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = Run()
    for cell in code_cells(name):
        run.cell(cell.source, show=False)
    for number, cell in reversed(list(enumerate(code_cells(name), 1))):
        assert run.cell(cell.source) == text_of(cell), f"In [{number}], run again"


@cache
def noticed(case: Counterfactual) -> dict[str, set[int]]:
    """Return, by claim, the cells of its demonstration that say something else."""
    cells, claims = code_cells(case.name), set(case.claims.split())
    last = max(n for n, cell in enumerate(cells) if claims & set(claims_of(cell)))
    run, found = Run(case.instead), {claim: set() for claim in claims}
    with run.in_labsupport():
        for number, cell in enumerate(cells[: last + 1], 1):
            shown = claims & set(claims_of(cell))
            if run.cell(cell.source, show=bool(shown)) != text_of(cell):
                for claim in shown:
                    found[claim].add(number)
    gone = case.instead.keys() - run.exchanged
    assert not gone, f"nothing is called {gone} any more: exchange what took its place"
    return found


@pytest.mark.parametrize("case", COUNTERFACTUALS, ids=str)
def test_a_demonstration_notices_its_counterfactual(case):
    silent = [claim for claim, cells in noticed(case).items() if not cells]
    assert not silent, f"{silent} in {case.name} do not notice {case}"


@pytest.mark.parametrize("name", NAMES)
def test_every_demonstration_has_a_counterfactual(name):
    cases = [case for case in COUNTERFACTUALS if case.name == name]
    tried = {(claim, n) for c in cases for claim, ns in noticed(c).items() for n in ns}
    tagged = {
        (claim, number)
        for number, cell in enumerate(code_cells(name), 1)
        for claim in claims_of(cell)
    }
    untried = sorted(tagged - tried)
    assert not untried, f"no counterfactual is noticed here: {untried}"
