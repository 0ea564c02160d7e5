"""What notebook 01 asks for: one unit as a loop, and a pattern that fires."""

import dis
from functools import reduce

import numpy as np

import labsupport.block as lab
from labsupport.checks.bends import wrong_bends
from labsupport.checks.cases import drawn, many, right_on, rows, single
from labsupport.checks.judge import Function, Value, When, named
from labsupport.examples import EVIDENCES, PATTERN

_some = drawn(25)
_on_two = right_on(lab.fires, rows([3, 2], [1, 1]), rows([3, 2], [1, -2]))
_on_three = right_on(lab.fires, rows([1, 2, 4], [1, 1, 1]))


def _says_at(answer):
    """Return whether an answer's own code says @ or dot."""
    code = answer.__wrapped__.__code__
    return {"@", "dot"} & {*code.co_names, *(op.argrepr for op in dis.Bytecode(code))}


fires = Function(
    takes="pattern, evidence",
    right=lab.fires,
    cases=[
        *many(([2], [3]), ([2], [-3]), ([1], [0.02]), ([1], [-0.02])),
        *((PATTERN.copy(), evidence.copy()) for evidence in EVIDENCES),
        *many(([-2, 1], [3, -1]), ([-1, -2, 1], [-3, 1, 2]), ([0.2, 0.1], [1 / 3, 1])),
        *many(([0.01, 0.02], [1 / 30, -0.01]), ([0.01, 0.02], [-1 / 30, 0.01])),
        *single(many(([0.5, -1, 2], [1, 2, -1]), ([0.5, -1, 2], [1, -2, 1]))),
        *many(([2000, -1000], [-3000, 1000]), ([2000, -1000], [3000, 1000])),
        (_some(32), _some(32)),
    ],
    mistakes=named(
        "Each product is cut at zero on its own; add them all up first.",
        lambda p, e: lab.relu(p * e).sum(),
        "The sum is cut at zero on its way; clip once, after the loop.",
        lambda p, e: reduce(lambda match, part: max(match + part, 0), p * e, 0),
        "It gives one number for each pair; add the products up to one match.",
        When(lambda answer: answer(*rows([1, 2, 4], [1, 1, 1])).shape == (3,)),
        "It takes two numbers; rows may have any length, so go through them all.",
        When(lambda answer: _on_two(answer) and not _on_three(answer)),
        "Pattern and evidence are added; the match multiplies them, pair by pair.",
        lambda p, e: max((p + e).sum(), 0),
        "Pattern and evidence are bent before they meet; only their match is bent.",
        lambda p, e: lab.relu(p) @ lab.relu(e),
        *wrong_bends(lambda answer, m: answer(*rows([1, 0], [m, 0]))),
        "Only the last product is left; each is added to those before it, with +=.",
        When(lambda answer: answer(*rows([10, 20, 40], [1, 1, 1])) == 40),
        "A product is left out; every pair of numbers has its say.",
        When(lambda a: a(*rows([10, 20, 40], [1, 1, 1])) in (10, 20, 30, 50, 60)),
        "It is averaged, or divided by a length; the match is the sum of the products.",
        When(lambda answer: answer(*rows([30, 40], [3, 4])) in (125, 50, 5, 1)),
    ),
    over="one number to 32, matches above, at and below zero, close to it and far, and "
    "in single precision",
    remarks=named(
        "But no @ and no np.dot were asked for: can you do it with a loop?",
        When(_says_at),
    ),
)


def _where_it_fires(pattern):
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
        "This is the first evidence itself; it fires on the third as well.",
        lambda p: np.allclose(p, EVIDENCES[0]),
        "It fires on the third evidence, too: what may its two numbers not add up to?",
        lambda p: _where_it_fires(p) == [1, 3],
        "It is turned round: it fires on the second evidence, not on the first.",
        lambda p: 2 in _where_it_fires(p),
        "It stays quiet on the first evidence and fires on the third; turn that round.",
        lambda p: _where_it_fires(p) == [3],
    ),
    hint=lambda p: "It stays quiet on all three evidences; on the first it must fire.",
    over="It fires on the first evidence and stays quiet on the other two.",
    remarks=named(
        "It is [1, -1] again, the one you knew; can you find another?",
        lambda p: p[0] == -p[1],
    ),
)
