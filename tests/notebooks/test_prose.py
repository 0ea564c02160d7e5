"""The figures that the text reads aloud are those that the cell above it says.

Change the code and store it, and the text that was not mended fails here.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from stored import NAMES, code_cells, read, text_of

# What the text may say although no cell above it does, by notebook: sizes of the set-up
# and arithmetic that the text itself does. One that is not needed any more fails.
STATED = {
    "01_if_unit.ipynb": "",
    "02_bank_of_units.ipynb": "",
    "03_collapse_without_relu.ipynb": "",
    "04_replacing_stack.ipynb": "",
    "05_layer_norm_drift.ipynb": "",
    "06_three_deep_block.ipynb": "",
}
# A number, with either minus; not part of a name, of a power, or of another number.
NUMBER = re.compile(
    r"(?<![\w.])([-−]?)((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e-?\d+)?)(?!\w|\.\d)"
)
# Where the text stops to read the last cell aloud, and turns to the next.
TURN = re.compile(r"#|\*Predict|\*Build")
# What an explorer says while it is moved, and an exercise's answer, is in no output.
UNHEARD = re.compile(r"^(explorers\.|check\()", re.MULTILINE)


class Number(NamedTuple):
    text: str
    value: float
    decimals: int

    def read_from(self, said: float) -> bool:
        """Return whether this is how a reader would say that number.

        Rounded, but to no less than two digits; a minus may be left out.
        """
        if said < 0 and self.value >= 0:
            said = -said
        if len(re.sub(r"\D", "", self.text).lstrip("0")) < 2:
            return said == self.value
        return f"{said:.{self.decimals}f}" == f"{self.value:.{self.decimals}f}"


def numbers(text: str) -> list[Number]:
    """Return each number in a text."""
    return [
        Number(match[0], float(match[1].replace("−", "-") + digits), decimals)
        for match in NUMBER.finditer(text)
        for digits in [match[2].replace(",", "")]
        for decimals in [len(digits.partition(".")[2])]
    ]


def aloud(markdown: str) -> tuple[str, bool]:
    """Return what a text says of the cell above it, and whether it then turns on."""
    markdown = re.sub(r"```.*?```|`[^`]*`", "", markdown, flags=re.DOTALL)
    markdown = re.sub(
        r"\[[^]]*\]\([^)]*\)|^\d+\. |notebook \d", "", markdown, flags=re.M
    )
    said, turned = [], False
    for paragraph in markdown.split("\n\n"):
        if turned := bool(TURN.match(paragraph)):
            break
        said.append(paragraph)
    return "\n\n".join(said), turned


def read_aloud(name: str) -> Iterator[tuple[int, str, str]]:
    """Yield the last code cell's number, what is read aloud after it, and its words.

    Its words are the outputs and the code of the cells since the text before.
    """
    number, words, listening = 0, "", False
    before = "markdown"
    for cell in read(name).cells:
        if cell.cell_type == "code":
            words = "" if before == "markdown" else words
            number, listening = number + 1, True
            words += f"{text_of(cell)}\n{cell.source}\n"
        elif listening and not UNHEARD.search(words):
            said, turned = aloud(cell.source)
            listening = not turned
            yield number, said, words
        before = cell.cell_type
    everything = "\n".join(text_of(cell) + cell.source for cell in code_cells(name))
    yield number, read(name).cells[-1].source.partition("\n\n**")[0], everything


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_in_the_text_is_one_that_the_cell_above_says(name):
    stated, amiss = set(STATED[name].split()), []
    needed = set()
    for cell, said, words in read_aloud(name):
        known = [number.value for number in numbers(words)]
        for number in numbers(said):
            if any(number.read_from(value) for value in known):
                continue
            needed.add(number.text)
            if number.text not in stated:
                at = said.index(number.text)
                amiss.append(f"after In [{cell}]: {said[max(0, at - 40) : at + 20]!r}")
    assert not amiss, "the text says what the cell does not:\n" + "\n".join(amiss)
    assert stated == needed, f"no text needs {stated - needed} to be stated any more"
