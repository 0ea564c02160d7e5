"""All 40 claims are in notebooks/README.md, and shown where it says."""

import re
from typing import NamedTuple
from urllib.parse import unquote

import pytest
from store import NOTEBOOKS
from stored import NAMES, claims_of, code_cells, headings, read, text_of

ALL = [f"U{n}" for n in range(1, 23)] + [f"N{n}" for n in range(1, 19)]
PAGE = NOTEBOOKS / "README.md"


class Place(NamedTuple):
    claim: str
    notebook: str
    heading: str


def table() -> dict[str, list[str]]:
    """Return the cells of each claim's row."""
    rows = re.findall(r"^\| ([UN]\d+) \|(.*)\|$", PAGE.read_text("utf-8"), re.MULTILINE)
    return {claim: [c.strip() for c in cells.split(" | ")] for claim, cells in rows}


def places() -> list[Place]:
    """Return where the table says that each claim is shown."""
    links = {
        claim: re.findall(r"\]\((\w+\.ipynb)#([^\s]+)\)", cells[1])
        for claim, cells in table().items()
    }
    return [
        Place(claim, notebook, unquote(heading))
        for claim, named in links.items()
        for notebook, heading in named
    ]


def shown_in(name: str) -> set[Place]:
    """Return each claim that a notebook shows, and the heading that it stands under."""
    found, heading = set(), ""
    for cell in read(name).cells:
        if cell.cell_type == "markdown":
            for _, words in headings(cell.source):
                heading = words.replace(" ", "-")
        else:
            found |= {Place(claim, name, heading) for claim in claims_of(cell)}
    return found


def test_the_table_has_all_forty():
    assert sorted(table()) == sorted(ALL)


@pytest.mark.parametrize("claim", ALL)
def test_each_row_is_whole(claim):
    says, where, otherwise = table()[claim]
    assert says
    assert otherwise
    assert where.count("](") == len([place for place in places() if place[0] == claim])


@pytest.mark.parametrize("name", NAMES)
def test_the_table_leads_to_the_heading_of_the_tagged_cell(name):
    assert shown_in(name) == {place for place in places() if place.notebook == name}


@pytest.mark.parametrize("name", NAMES)
def test_every_tagged_cell_says_a_figure(name):
    tagged = [cell for cell in code_cells(name) if claims_of(cell)]
    assert all(re.search(r"\d|True|False", text_of(cell)) for cell in tagged)
