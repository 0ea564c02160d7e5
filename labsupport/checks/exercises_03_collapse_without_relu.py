"""What notebook 03 asks for: layers folded into one, and two rows that meet a bend."""

from functools import reduce
from itertools import pairwise

import numpy as np

import labsupport.block as lab
from labsupport.checks.cases import drawn, rows, single
from labsupport.checks.judge import Function, Value, When, named
from labsupport.examples import W1, W2

_some = drawn(25)


def _folded(layers):
    return reduce(np.matmul, layers)


def _layers(*widths, size=1.0):
    return [_some(*shape) * size for shape in pairwise(widths)]


_PRIMES = list(rows([[2]], [[3]], [[7]]))  # their product tells which went in

fold = Function(
    takes="layers",
    right=_folded,
    cases=[
        (list(rows([[1, 2]], [[3], [4]])),),
        (list(rows([[1, 2], [3, 4]], [[0, 1], [1, 1]])),),
        (list(rows([[-0.02, 0.03]], [[0.02, 1], [0.01, -1]], [[1 / 3], [0.05]])),),
        *((_layers(*sizes),) for sizes in ((2, 3, 4), (2, 2, 2, 2), (2, 5, 3, 4))),
        (single(_layers(3, 2, 3)),),
        (_layers(4, 6, 4, size=1000),),
        (_layers(*[4] * 25, size=0.7),),
    ],
    mistakes=named(
        "The order is reversed: x meets the first matrix first; it stands on the left.",
        lambda Ws: _folded(Ws[::-1]),
        "The matrices are added; layer after layer multiplies, with @.",
        sum,
        "They are multiplied place by place, with *; layers are matrix products, @.",
        lambda Ws: reduce(np.multiply, Ws),
        "A matrix is transposed, on its way or at the end; take them as they come.",
        lambda Ws: _folded(Ws).T,
        lambda Ws: _folded([W.T for W in Ws]),
        "It bends between the matrices; only without the bend do layers fold.",
        lambda Ws: reduce(lambda A, W: lab.relu(A) @ W, Ws),
        lambda Ws: reduce(lambda A, W: lab.relu(A @ W), Ws),
        "The first matrix is used twice; begin the loop at the second.",
        When(lambda answer: answer(_PRIMES) == 2 * 42),
        "A matrix is left out, or only the first or the last is left; all must go in.",
        When(lambda answer: answer(_PRIMES) in (2, 3, 7, 2 * 3, 2 * 7, 3 * 7)),
    ),
    over="two matrices to 24, square and oblong, with small and large numbers, and in "
    "single precision",
)


def _gap(a, b):
    """Return how far bank(a + b) is from bank(a) + bank(b), at a common size."""
    size = max(np.abs(a).max(), np.abs(b).max()) or 1
    inputs = [a / size + b / size, a / size, b / size]
    both, one, other = lab.feed_forward(inputs, W1, W2)
    return np.abs(both - one - other).max()


not_linear = Value(
    takes="a, b",
    asks="a pair (a, b) of evidences, two numbers each",
    shape=(2,),
    right=lambda a, b: _gap(a, b) > 1e-6,
    mistakes=named(
        "One of the two is zero, or both are, and adding nothing changes nothing.",
        lambda a, b: not a.any() or not b.any(),
        "a and b are the same: twice the evidence makes every unit fire twice as much.",
        np.array_equal,
        "One is a stretched copy of the other: take two that point different ways.",
        lambda a, b: abs(a[0] * b[1] - a[1] * b[0]) <= 1e-9 * (a @ b),
        "Every unit that fires on one fires on the other too, so adding meets no bend. "
        "Find two on which some unit disagrees.",
        lambda a, b: ((a @ W1) * (b @ W1) >= 0).all(),
    ),
    hint=lambda a, b: (
        "Some units do disagree on a and b, but what they contribute cancels here: "
        "bank(a + b) is still bank(a) + bank(b)."
    ),
    over="For these two bank(a + b) is not bank(a) + bank(b), so no single matrix can "
    "stand in for the bank.",
)
