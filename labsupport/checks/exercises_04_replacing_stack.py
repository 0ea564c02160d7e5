"""What notebook 04 asks for: how soon a stack vanishes, and one that adds."""

from functools import reduce

import numpy as np

import labsupport.block as lab
from labsupport.checks.cases import drawn, right_on, rows, single
from labsupport.checks.judge import Function, Value, When, named

storeys_to_vanish = Value(
    takes="n",
    asks="one number",
    shape=(),
    right=lambda n: n == 39,
    mistakes=named(
        "A count is not negative: two logarithms are, and their quotient is positive.",
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


def _added(z, Ws):
    return reduce(lambda z, W: z + z @ W, Ws, z)


def _stack(n, d, count, gain=1.0):
    return _some(n, d), [_some(d, d) * gain for _ in range(count)]


_words, _storeys = _stack(4, 3, 2)
_on_one_word = right_on(_added, *((word, _storeys) for word in _words))
_on_many = right_on(_added, (_words, _storeys))

# Adding gives 1111, a digit for each way through; with 0 in it, a way is lost.
_TENS = rows([[1]])[0], list(rows([[10]], [[100]]))

add_stack = Function(
    takes="z, storeys",
    right=_added,
    cases=[
        (*rows([[1, 2]]), list(rows([[0, 1], [2, 0]]))),
        (*rows([[1, 2]]), list(rows([[0, 1], [2, 0]], [[1, 0], [1, -1]]))),
        (*rows([[1, 2]]), list(rows([[0, 0], [0, 0]], [[1, 0], [1, -1]]))),
        (*rows([[0.02, -1 / 3]]), list(rows([[-1, 0], [0, 0.1]], [[1, 0], [1, 1]]))),
        *(_stack(*sizes) for sizes in ((2, 2, 2), (3, 3, 3), (2, 4, 3))),
        single(_stack(3, 2, 2)),
        _stack(2, 3, 2, gain=1000),
        _stack(10, 8, 24, gain=0.25),
    ],
    mistakes=named(
        "Each storey replaces what it reads, z = z @ W; add its answer to z.",
        lambda z, Ws: reduce(np.matmul, Ws, z),
        "Each storey must read, and add to, what the one before left, not the first z.",
        lambda z, Ws: reduce(lambda stream, W: z + stream @ W, Ws, z),
        lambda z, Ws: z + reduce(np.matmul, Ws, z),
        lambda z, Ws: z + sum(z @ W for W in Ws),
        "z is counted twice: z + z @ W holds it once.",
        lambda z, Ws: reduce(lambda z, W: 2 * z + z @ W, Ws, z),
        "It gives the notes without the z that they were added to.",
        lambda z, Ws: _added(z, Ws) - z,
        lambda z, Ws: sum(z @ W for W in Ws),
        "It stops after the first storey; each must have its turn.",
        lambda z, Ws: z + z @ Ws[0],
        "Only the last storey's note is kept, or a storey is left out; all must add.",
        When(lambda answer: {*str(int(answer(*_TENS)[0, 0]))} == {"0", "1"}),
        "The storeys come in reverse order.",
        lambda z, Ws: _added(z, Ws[::-1]),
        "A storey is a matrix product, z @ W: not W @ z, z @ W.T, z * W or W alone.",
        lambda z, Ws: reduce(lambda z, W: z + W @ z, Ws, z),
        lambda z, Ws: reduce(lambda z, W: z + z @ W.T, Ws, z),
        lambda z, Ws: reduce(lambda z, W: z + z * W, Ws, z),
        lambda z, Ws: reduce(np.add, Ws, z),
        "It bends, tidies or takes away; here a storey's answer is added as it is.",
        lambda z, Ws: reduce(lambda z, W: z + lab.relu(z @ W), Ws, z),
        lambda z, Ws: reduce(lambda z, W: lab.layer_norm(z + z @ W), Ws, z),
        lambda z, Ws: reduce(lambda z, W: z + lab.layer_norm(z) @ W, Ws, z),
        lambda z, Ws: reduce(lambda z, W: z - z @ W, Ws, z),
        "It takes one word; z may hold many, one a row.",
        When(lambda answer: _on_one_word(answer) and not _on_many(answer)),
    ),
    over="one storey to 24, one row to ten, a dud storey, small and large numbers, and "
    "single precision",
)
