"""What notebook 01 asks for: one unit as a loop, and a pattern that fires."""

from __future__ import annotations

import dis
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

import labsupport.block as lab
from labsupport.checks.bends import wrong_bends
from labsupport.checks.cases import drawn, rows, single
from labsupport.checks.judge import Function, Value, When, named
from labsupport.examples import EVIDENCES, PATTERN

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def _takes_two(answer: Callable) -> bool:
    two = [answer(*rows([3, 2], [1, sign])) for sign in (1, -2)]
    return two == [5, 0] and answer(*rows([1, 2, 4], [1, 1, 1])) != 7


def _multiplied_at_once(answer: Callable) -> str:
    """Return the remark on an answer whose own code says @ or dot."""
    code = getattr(answer, "__code__", None)
    told = code and {op.argrepr for op in dis.get_instructions(code)} & {"@", "dot"}
    return " (No @ and no np.dot were asked for: try it with a loop.)" if told else ""


_some = drawn(25)

fires = Function(
    takes="pattern, evidence",
    right=lab.fires,
    cases=[
        rows([2], [3]),
        rows([2], [-3]),
        rows([1], [0.02]),
        rows([1], [-0.02]),
        *((PATTERN.copy(), evidence.copy()) for evidence in EVIDENCES),
        rows([1, 2], [3, 4]),
        rows([1, -1], [1 / 3, 0.3333]),
        rows([1, -1], [0.3333, 1 / 3]),
        rows([-2, 1], [3, -1]),
        rows([-1, -2, 1], [-3, 1, 2]),
        single(rows([0.5, -1, 2, 1], [1, 2, -1, 0.5])),
        single(rows([0.5, -1, 2, 1], [1, -2, 1, 0.5])),
        rows([0.2, 0.1], [1 / 3, 0.5]),
        rows([2000, -1000, 500], [-3000, 1000, 100]),
        rows([2000, -1000, 500], [3000, 1000, 100]),
        (_some(32), _some(32)),
    ],
    mistakes=named(
        *wrong_bends(lambda answer, m: answer(*rows([1, 0], [m, 0]))),
        "Each product is cut at zero on its own. Add them all up first: what speaks "
        "against the pattern has to count too.",
        lambda pattern, evidence: np.maximum(pattern * evidence, 0).sum(),
        "It gives one number for each pair; add the products up to one match.",
        lambda pattern, evidence: np.maximum(pattern * evidence, 0),
        lambda pattern, evidence: pattern * evidence,
        "It takes two numbers; rows may have any length, so go through them all.",
        When(_takes_two),
        "Only the last product is left; each is added to the ones before it, with +=.",
        lambda pattern, evidence: max(pattern[-1] * evidence[-1], 0),
        lambda pattern, evidence: pattern[-1] * evidence[-1],
        "A product is left out; every pair of numbers has its say.",
        lambda pattern, evidence: max(pattern[0] * evidence[0], 0),
        lambda pattern, evidence: max(pattern[1:] @ evidence[1:], 0),
        lambda pattern, evidence: max(pattern[:-1] @ evidence[:-1], 0),
        "The sum is cut at zero on its way; clip once, after the loop.",
        lambda *rows: reduce(lambda match, p: max(match + p, 0), np.multiply(*rows), 0),
        "The products are averaged; the match is their sum.",
        lambda pattern, evidence: max((pattern * evidence).mean(), 0),
        "It is divided by a length (a norm); the match is the plain sum of products.",
        lambda pattern, evidence: max(pattern @ evidence, 0) / _length(pattern),
        lambda pattern, evidence: max(pattern @ evidence, 0) / _length(evidence),
        lambda *rows: max(np.dot(*rows), 0) / np.prod(list(map(_length, rows))),
        "Pattern and evidence are added; the match multiplies them, pair by pair.",
        lambda pattern, evidence: np.maximum((pattern + evidence).sum(), 0),
        "Pattern and evidence are bent before they meet; only their match is bent.",
        lambda pattern, evidence: np.maximum(pattern, 0) @ np.maximum(evidence, 0),
    ),
    over="one number to 32, matches above, at and below zero, large and small, and in "
    "single precision",
    remark=_multiplied_at_once,
)


def _length(row: NDArray) -> float:
    return np.sqrt(row @ row)


def _where_it_fires(pattern: NDArray) -> list[int]:
    # At a common size, and what rounding leaves of a match of 0 counts as 0.
    matches = np.round(EVIDENCES @ (pattern / (np.abs(pattern).max() or 1)), 9)
    return [i for i, match in enumerate(matches, start=1) if match > 0]


pattern = Value(
    takes="p",
    asks="one pattern of two numbers",
    shape=(2,),
    right=lambda p: _where_it_fires(p) == [1],
    mistakes=named(
        "This pattern is all zeros: it matches nothing and never fires.",
        lambda p: not p.any(),
        "This is the first evidence itself. It fires there, but on the third as well: "
        "what speaks for it outweighs what speaks against.",
        lambda p: np.allclose(p, EVIDENCES[0]),
        "It fires on the first evidence, as it must, but on the third, [0.5, 0.5], "
        "too: what must its two numbers not add up to?",
        lambda p: _where_it_fires(p) == [1, 3],
        "It is turned round: it fires on the second evidence and not on the first. "
        "Look at the signs.",
        lambda p: 2 in _where_it_fires(p),
        "It stays quiet on the first evidence and fires on the third; turn that round.",
        lambda p: _where_it_fires(p) == [3],
    ),
    hint=lambda p: "It stays quiet on all three evidences; on the first it must fire.",
    over="It fires on the first evidence and stays quiet on the other two.",
    remark=lambda p: (
        " It is [1, -1] again, the one you knew; can you find another?"
        if p[0] == -p[1]
        else ""
    ),
)
