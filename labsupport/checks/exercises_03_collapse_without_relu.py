"""What notebook 03 asks for: layers folded into one, and two rows that meet a bend."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

import labsupport.block as lab
from labsupport.checks.cases import drawn, rows, single
from labsupport.checks.judge import Function, Value, named
from labsupport.examples import W1, W2

if TYPE_CHECKING:
    from numpy.typing import NDArray

_some = drawn(25)


def _folded(layers: list[NDArray]) -> NDArray:
    return reduce(np.matmul, layers)


fold = Function(
    takes="layers",
    right=_folded,
    cases=[
        (list(rows([[1, 2]], [[3], [4]])),),
        (list(rows([[1, 2], [3, 4]], [[0, 1], [1, 1]])),),
        ([_some(2, 3), _some(3, 4)],),
        ([_some(2, 2), _some(2, 2), _some(2, 2)],),
        (list(rows([[-0.02, 0.03]], [[0.02, 1], [0.01, -1]], [[1 / 3], [0.05]])),),
        ([_some(2, 5), _some(5, 3), _some(3, 4)],),
        (single([_some(3, 2), _some(2, 3)]),),
        ([_some(3, 3) for _ in range(4)],),
        ([_some(4, 6) * 1000, _some(6, 4) * 1000],),
        ([_some(4, 4) * 0.7 for _ in range(24)],),
    ],
    mistakes=named(
        "The order is reversed: x meets the first matrix first, x @ W1 @ W2, so the "
        "first stands on the left.",
        lambda layers: _folded(layers[::-1]),
        "The matrices are added; layer after layer multiplies, with @.",
        sum,
        "They are multiplied place by place, with *; layers are matrix products, @.",
        lambda layers: reduce(np.multiply, layers),
        "It is the right matrix, but transposed.",
        lambda layers: _folded(layers).T,
        "Each matrix is transposed before it is used; take them as they come.",
        lambda layers: _folded([W.T for W in layers]),
        "It bends between the matrices; only without the bend do layers fold.",
        lambda layers: reduce(lambda A, W: lab.relu(A) @ W, layers),
        lambda layers: reduce(lambda A, W: lab.relu(A @ W), layers),
        "It stops after the first matrix; all must go in.",
        lambda layers: layers[0],
        "Only the last matrix is left; each must multiply what came before.",
        lambda layers: layers[-1],
        "The first matrix is used twice; begin the loop at the second.",
        lambda layers: reduce(np.matmul, layers, layers[0]),
        "A matrix is left out; all must go in.",
        lambda layers: _folded(layers[:-1]),
        lambda layers: _folded(layers[1:]),
        lambda layers: layers[0] @ layers[1],
        lambda layers: layers[0] @ layers[-1],
    ),
    over="two matrices to 24, square and oblong, with small and large numbers, and in "
    "single precision",
)


def _gap(a: NDArray, b: NDArray) -> float:
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
        "Both are zero, and so is every answer.",
        lambda a, b: not a.any() and not b.any(),
        "One of the two is zero, and adding nothing changes nothing.",
        lambda a, b: not a.any() or not b.any(),
        "a and b are the same: twice the evidence makes every unit fire twice as much.",
        np.array_equal,
        "One is a stretched copy of the other, and every unit stretches with it: take "
        "two that point different ways.",
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
