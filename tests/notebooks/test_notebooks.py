"""The stored notebooks: their form, their claims, and that their text is portable.

What the cells compute is held by nbval, which runs beside this in the same `pytest`.
"""

import ast
import re
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import unquote

import nbformat
import pytest
from store import NOTEBOOKS, canonical
from stored import NAMES, ROOT, code_cells, headings, prose, read, text_of

# What may differ on another machine or with another version: a pattern, and a text
# that it must catch.
NOT_PORTABLE = {
    "an object's repr": (r"<[A-Za-z_][^<>\n]*>", "<Figure size 640x480 with 1 Axes>"),
    "an address": (r"\b0x[0-9a-f]{4,}", "at 0x7f3a10"),
    "a type's repr": (r"\b(np\.\w+|array|[A-Z]\w*)\([^)]*[\d=]", "np.float64(0.7)"),
    "a widget's repr": (r"\b[A-Z]\w*\(\w+=", "FloatSlider(value=0.0)"),
    "a minus zero": (r"(?<![\w.])[-−]0(\.0*)?(?![\d.])", "[ 1.4 -0. ]"),
    "more than six digits": (r"(?<![\d.])0*\.?0*[1-9](\.?\d){6,}", "0.70000001"),
    # A bound may be said: "below 1e-12", "to 1e-12".
    "a tiny float": (
        r"(?<!below )(?<! to )(?<![\d.])\d+(\.\d+)?e-\d+",
        "error 2.2e-16",
    ),
    "a path": (r"(?<!\w)(/\w+){2,}|[A-Z]:\\|site-packages", "/home/ada/lab.py"),
    "a warning": (r"Warning\b", "RuntimeWarning: overflow"),
}
PAGES = [*(path.name for path in ROOT.glob("*.md")), "notebooks/README.md"]
PAGES += [f"notebooks/{name}" for name in NAMES]

every_notebook = pytest.mark.parametrize("name", NAMES)


def has_picture(cell: nbformat.NotebookNode) -> bool:
    return any("image/png" in out.get("data", {}) for out in cell.get("outputs", []))


def is_explorer(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and "explorers." in cell.source


def links(markdown: str) -> list[str]:
    found = re.findall(r"\]\(([^)\s]+)|(?:href|src)=\"([^\"]+)", markdown)
    return [unquote(one or other) for one, other in found]


def test_the_folder_holds_the_six_notebooks():
    assert [path.name for path in sorted(NOTEBOOKS.glob("*.ipynb"))] == NAMES


@every_notebook
def test_stored_in_canonical_form(name):
    text = (NOTEBOOKS / name).read_bytes().decode("utf-8")
    assert text == canonical(read(name)), "run: python tests/store.py"


@every_notebook
def test_stays_below_one_megabyte(name):
    assert (NOTEBOOKS / name).stat().st_size < 1_000_000


@every_notebook
def test_every_output_is_compared(name):
    tags = {tag for cell in code_cells(name) for tag in cell.metadata.get("tags", [])}
    known = ("answer", "slide", "part")
    assert not [t for t in tags if not t.startswith("claim:") and t not in known]
    assert not [cell.source for cell in code_cells(name) if "NBVAL" in cell.source]


@every_notebook
@pytest.mark.parametrize("what", NOT_PORTABLE)
def test_stored_text_is_portable(name, what):
    pattern, caught = NOT_PORTABLE[what]
    assert re.search(pattern, caught)
    text = "\n".join(map(text_of, code_cells(name)))
    assert not [match[0] for match in re.finditer(pattern, text)]


@every_notebook
def test_headings_have_one_title_and_skip_no_level(name):
    levels = [level for level, _ in headings(prose(name))]
    assert read(name).cells[0].source.startswith("# ")
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))


@pytest.mark.parametrize("path", PAGES)
def test_every_relative_link_leads_somewhere(path):
    def text_of(target: Path) -> str:
        notebook = target.suffix == ".ipynb"
        return prose(target.name) if notebook else target.read_text(encoding="utf-8")

    here = ROOT / path
    for link in links(text_of(here)):
        if re.match(r"[a-z]+:", link):
            continue
        to, _, anchor = link.partition("#")
        target = here.parent / to if to else here
        assert target.exists(), link
        if anchor:
            anchors = [
                words.replace(" ", "-") for _, words in headings(text_of(target))
            ]
            if target.suffix == ".md":  # GitHub's own way to name a heading
                anchors = [re.sub(r"[^\w-]", "", words).lower() for words in anchors]
            assert anchor in anchors, link


@every_notebook
def test_links_lead_back_and_on(name):
    number = NAMES.index(name)
    neighbours = {NAMES[n] for n in (number - 1, number + 1) if 0 <= n < len(NAMES)}
    first, last = read(name).cells[0].source, read(name).cells[-1].source
    assert neighbours <= set(links(first))
    assert set(NAMES[number + 1 : number + 2]) <= set(links(last))


@every_notebook
def test_every_picture_has_a_caption(name):
    for cell, after in pairwise(read(name).cells):
        if has_picture(cell) and not is_explorer(cell):  # it has its readout
            assert after.source.startswith("*Figure"), cell.source
    assert not has_picture(read(name).cells[-1])


@every_notebook
def test_every_explorer_is_stored_with_a_still_picture(name):
    explorers = [cell for cell in code_cells(name) if is_explorer(cell)]
    assert explorers
    assert all(map(has_picture, explorers))


@every_notebook
def test_prose_and_code_take_turns(name):
    kinds = "".join(cell.cell_type[0] for cell in read(name).cells)
    assert "ccc" not in kinds


@every_notebook
def test_cells_are_short(name):
    lines = [
        sum(bool(line.strip()) for line in cell.source.splitlines())
        for cell in code_cells(name)
    ]
    assert median(lines) <= 4
    assert quantiles(lines, n=10, method="inclusive")[-1] <= 10
    assert max(lines) <= 18


@every_notebook
def test_imports_stand_in_the_first_code_cell_and_alone(name):
    first, *others = [ast.parse(cell.source) for cell in code_cells(name)]
    imports = (ast.Import, ast.ImportFrom)
    assert all(isinstance(node, imports) for node in first.body)
    assert not [n for tree in others for n in ast.walk(tree) if isinstance(n, imports)]


@every_notebook
def test_no_cell_hides_its_value_with_a_semicolon(name):
    assert not [cell.source for cell in code_cells(name) if cell.source.endswith(";")]


@every_notebook
def test_two_turns_at_least_each_with_a_folded_answer(name):
    turns = [
        after.source
        for cell, after in pairwise(read(name).cells)
        if cell.cell_type == "code"
        and re.search(r"^check\(", cell.source, re.MULTILINE)
    ]
    assert len(turns) >= 2
    assert all("<details>" in after for after in turns)


def test_readme_lists_the_notebooks_in_order():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = [link for link in links(readme) if link.endswith(".ipynb")]
    assert list(dict.fromkeys(listed)) == [f"notebooks/{name}" for name in NAMES]


@every_notebook
def test_each_folded_answer_is_tagged(name):
    """So that an edition without answers can be made."""
    for cell in read(name).cells:
        folded = "<summary>One answer" in cell.source
        assert folded == ("answer" in cell.metadata.get("tags", [])), cell.source


@every_notebook
def test_slides_are_the_ends_and_each_figure_with_its_caption(name):
    cells = read(name).cells
    for cell in cells:
        figure = cell.cell_type == "code" and "figures." in cell.source
        wanted = {
            "slide": cell in (cells[0], cells[-1]) or (has_picture(cell) and figure),
            "part": cell.source.startswith("*Figure"),
        }
        tags = cell.metadata.get("tags", [])
        assert {tag: tag in tags for tag in wanted} == wanted, cell.source
