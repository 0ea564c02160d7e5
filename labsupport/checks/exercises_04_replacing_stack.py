"""What notebook 04 asks for: how soon a stack vanishes, and one that adds."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

import labsupport.block as lab
from labsupport.checks.cases import drawn, rows, single
from labsupport.checks.judge import Function, Value, When, named

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

storeys_to_vanish = Value(
    takes="n",
    asks="one number",
    shape=(),
    right=lambda n: n == 39,
    mistakes=named(
        "A number of storeys cannot be negative: the logarithms of 0.7 and of a "
        "millionth both are, so their quotient is positive.",
        lambda n: n < 0,
        "Storeys come whole: no part of one can be built.",
        lambda n: n % 1 != 0,
        "That leaves less than a thousandth; a millionth is asked.",
        lambda n: n == 20,
        "That leaves less than a billionth; a millionth is asked.",
        lambda n: n == 59,
        "That leaves less than a millionth, but it is not the first number that does.",
        lambda n: n > 39,
    ),
    hint=lambda n: (
        "That leaves "
        + np.format_float_positional(0.7**n, 2, fractional=False, trim="-")
        + ", and a millionth is 0.000001: too few."
    ),
    over="It leaves less than a millionth, and one storey fewer does not.",
)

_some = drawn(25)


def _added(z: NDArray, storeys: list[NDArray]) -> NDArray:
    return reduce(lambda z, W: z + z @ W, storeys, z)


def _stack(n: int, d: int, count: int, gain: float = 1.0) -> tuple:
    return _some(n, d), [_some(d, d) * gain for _ in range(count)]


def _takes_one_word(answer: Callable) -> bool:
    return np.allclose(answer(*_ONE_WORD), _added(*_ONE_WORD), atol=0.006)


_ONE_WORD = _some(3), [_some(3, 3), _some(3, 3)]

add_stack = Function(
    takes="z, storeys",
    right=_added,
    cases=[
        (*rows([[1, 2]]), list(rows([[0, 1], [2, 0]]))),
        (*rows([[1, 2]]), list(rows([[0, 1], [2, 0]], [[1, 0], [1, -1]]))),
        (*rows([[1, 2]]), list(rows([[0, 0], [0, 0]], [[1, 0], [1, -1]]))),
        (*rows([[0.02, -1 / 3]]), list(rows([[-1, 0], [0, 0.1]], [[1, 0], [1, 1]]))),
        _stack(2, 2, 2),
        _stack(3, 3, 3),
        _stack(2, 4, 3),
        single(_stack(3, 2, 2)),
        _stack(2, 3, 2, gain=1000),
        _stack(10, 8, 24, gain=0.25),
    ],
    mistakes=named(
        "Each storey replaces what it reads, z = z @ W; add its answer to z.",
        lambda z, storeys: reduce(np.matmul, storeys, z),
        "The first z is added at every storey; each adds to the z that it reads.",
        lambda z, storeys: reduce(lambda stream, W: z + stream @ W, storeys, z),
        "The storeys replace one another, and z is added once, at the end; each adds.",
        lambda z, storeys: z + reduce(np.matmul, storeys, z),
        "z is counted twice: z + z @ W holds it once.",
        lambda z, storeys: reduce(lambda z, W: 2 * z + z @ W, storeys, z),
        "The answer is taken away from z; add it.",
        lambda z, storeys: reduce(lambda z, W: z - z @ W, storeys, z),
        "Every storey reads the first z; each must read what the one before it left.",
        lambda z, storeys: z + sum(z @ W for W in storeys),
        "Only the last storey's note is kept; every note must stay.",
        lambda z, storeys: z + _added(z, storeys[:-1]) @ storeys[-1],
        lambda z, storeys: _added(z, storeys[:-1]) @ storeys[-1],
        lambda z, storeys: z + z @ storeys[-1],
        lambda z, storeys: z @ storeys[-1],
        "It gives the notes without the z that they were added to.",
        lambda z, storeys: _added(z, storeys) - z,
        lambda z, storeys: sum(z @ W for W in storeys),
        "The storeys come in reverse order.",
        lambda z, storeys: _added(z, storeys[::-1]),
        "It stops after the first storey; each must have its turn.",
        lambda z, storeys: z + z @ storeys[0],
        "A storey is left out; each must have its turn.",
        lambda z, storeys: _added(z, storeys[1:]),
        lambda z, storeys: _added(z, storeys[:-1]),
        "A storey is transposed, or stands on the wrong side; it is z @ W.",
        lambda z, storeys: reduce(lambda z, W: z + z @ W.T, storeys, z),
        lambda z, storeys: reduce(lambda z, W: z + W @ z, storeys, z),
        "It adds the storey's own numbers; add what it makes of z, z @ W.",
        lambda z, storeys: reduce(np.add, storeys, z),
        "z is multiplied place by place, with *; a storey is a matrix product, @.",
        lambda z, storeys: reduce(lambda z, W: z + z * W, storeys, z),
        "It bends what a storey makes; here it is added as it is.",
        lambda z, storeys: reduce(lambda z, W: z + lab.relu(z @ W), storeys, z),
        "It tidies on the way (layer norm); here it adds and does nothing else.",
        lambda z, storeys: reduce(lambda z, W: lab.layer_norm(z + z @ W), storeys, z),
        lambda z, storeys: reduce(lambda z, W: z + lab.layer_norm(z) @ W, storeys, z),
        "It takes one word; z may hold many, one a row.",
        When(_takes_one_word),
    ),
    over="one storey to 24, one row to ten, a dud storey, small and large numbers, and "
    "single precision",
)
