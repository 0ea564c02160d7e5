"""The figures that the text reads aloud are those that the cell above it says.

Change the code and store it, and the text that was not mended fails here.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from stored import NAMES, code_cells, read, text_of

# What the text may say although the cell above does not, by notebook: sizes of the
# set-up, and arithmetic of its own. One that no text needs any more fails.
STATED = {
    "01_if_unit.ipynb": "0.0",
    "02_bank_of_units.ipynb": "1 32 128 0.5",
    "03_collapse_without_relu.ipynb": "24 32 128 0.5 1",
    "04_replacing_stack.ipynb": "0.3 0.7 −0.7 24 32 500",
    "05_layer_norm_drift.ipynb": "0",
    "06_three_deep_block.ipynb": "0 3 36",
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
    at: int
    text: str
    value: float

    def read_from(self, said: float) -> bool:
        """Return whether this is how a reader would say that number.

        Rounded, but to no less than two digits; a minus may be left out.
        """
        if said < 0 <= self.value:
            said = -said
        if "e" in self.text or len(re.sub(r"\D", "", self.text).lstrip("0")) < 2:
            return said == self.value
        decimals = len(self.text.partition(".")[2])
        return f"{said:.{decimals}f}" == f"{self.value:.{decimals}f}"


def numbers(text: str) -> list[Number]:
    """Return each number in a text."""
    return [
        Number(match.start(), match[0], float(match[1].replace("−", "-") + digits))
        for match in NUMBER.finditer(text)
        for digits in [match[2].replace(",", "")]
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
    stated, needed, amiss = set(STATED[name].split()), set(), []
    for cell, said, words in read_aloud(name):
        known = [number.value for number in numbers(words)]
        for number in numbers(said):
            if not any(number.read_from(value) for value in known):
                needed.add(number.text)
                if number.text not in stated:
                    around = said[max(0, number.at - 40) : number.at + 20]
                    amiss.append(f"{number.text} after In [{cell}]: {around!r}")
    assert not amiss, "the text says what the cell does not:\n" + "\n".join(amiss)
    assert stated == needed, f"no text needs {stated - needed} to be stated any more"


@pytest.mark.parametrize(
    ("text", "said", "read"),
    [
        ("1.54", "1.536", True),
        ("1.54", "1.6", False),
        ("108", "107.93", True),
        ("4", "4.0", True),
        ("4", "3.8", False),  # one digit is no rounding
        ("1.4", "-1.40", True),
        ("−1.4", "1.40", False),
        ("8,192", "8192", True),
        ("0.7²", "0.7", False),  # a power is not read from its root
        ("1e-12", "0.0", False),
    ],
)
def test_numbers_are_read_as_a_reader_would(text, said, read):
    heard = any(n.read_from(m.value) for n in numbers(text) for m in numbers(said))
    assert heard is read
