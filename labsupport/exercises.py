"""The exercises: what is right, what it is tried on, and the mistakes that are known.

Each entry of `EXERCISES` is one exercise, its cases smallest first. A mistake is the
sentence that a learner needs and, indented under it, the wrong code it belongs to, one
way to write it a line (where the answer is a value, a test of that value). A new one is
two lines.
"""

from __future__ import annotations

import re
import textwrap
from functools import partial, reduce
from itertools import product
from math import erf
from typing import TYPE_CHECKING, Any

import numpy as np

from labsupport import examples
from labsupport.block import (
    block,
    causal_mask,
    feed_forward,
    fires,
    layer_norm,
    multi_head_attention,
    softmax,
)
from labsupport.judge import Function, Value, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

EXERCISES: dict[str, Function | Value] = {}


def _mistakes(takes: str, table: str) -> list[tuple[str, Callable]]:
    """Read a table of mistakes; in its code `case` stands for all arguments at once."""
    read, sentence, complete = [], "", False
    for line in textwrap.dedent(table).strip().splitlines():
        if line.startswith("    "):
            wrong = eval(f"lambda {takes}: (lambda *case: {line})({takes})")
            read.append((sentence, wrong))
        else:
            sentence = line if complete else f"{sentence} {line}".strip()
        complete = line.startswith("    ")
    return read


# What answers are tried on: numbers with one decimal, the same on every machine.

# With this seed every mistake shows by a difference that can be seen.
_RNG = np.random.default_rng(25)


def _some(*shape: int) -> NDArray:
    return np.round(_RNG.normal(size=shape), 1)


def _rows(*rows: list) -> tuple[NDArray, ...]:
    return tuple(np.array(row, dtype=float) for row in rows)


def _float32(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_float32, value))
    is_float = isinstance(value, np.ndarray) and value.dtype == float
    return np.float32(value) if is_float else value


# 01. One unit.

_BENDS = """
    The bend is missing: a match below zero must give 0.
        m
    The bend is smooth here: a match below zero must give exactly 0, one above, itself.
        1 / (1 + np.exp(-m))
        np.tanh(m)
        np.logaddexp(0, m)
        m / (1 + np.exp(-m))
        m / (1 + np.exp(-1.702 * m))
        _gelu(m)
        m / 2 * (1 + np.tanh(0.79788456 * (m + 0.044715 * m**3)))
        np.where(m > 0, m, np.exp(np.minimum(m, 0)) - 1)
    The bend leaks: part of a match below zero still gets through; it must give 0.
        np.where(m > 0, m, 0.01 * m)
        np.where(m > 0, m, 0.05 * m)
        np.where(m > 0, m, 0.1 * m)
        np.where(m > 0, m, 0.2 * m)
        np.where(m > 0, m, 0.3 * m)
    A match below zero turns positive here, as by abs; it must give 0.
        np.abs(m)
    A match above 1 is cut off at 1; only what lies below zero is cut.
        np.clip(m, 0, 1)
    It says whether a unit fires, and not how strongly: pass the match on, not 1.
        np.where(m > 0, 1.0, 0.0)
    It keeps the smaller of match and 0; the bend keeps the larger.
        np.minimum(m, 0)
"""


def _gelu(m: NDArray) -> NDArray:
    return m / 2 * (1 + np.vectorize(erf, otypes=[float])(m / 2**0.5))


def _bends(m: str, then: str = "") -> str:
    """Return the table of wrong bends, for the match m and what follows the bend."""
    return re.sub(r"(?m)^ {8}(.*)", rf"        (lambda m: \1)({m}){then}", _BENDS)


EXERCISES["fires"] = Function(
    takes="pattern, evidence",
    right=fires,
    cases=[
        _rows([2], [3]),
        _rows([2], [-3]),
        *((examples.PATTERN.copy(), e.copy()) for e in examples.EVIDENCES),
        _rows([1, 2], [3, 4]),
        _rows([-2, 1], [3, -1]),
        _rows([-1, -2, 1], [-3, 1, 2]),
        _float32(_rows([0.5, -1, 2, 1], [1, 2, -1, 0.5])),
        _float32(_rows([0.5, -1, 2, 1], [1, -2, 1, 0.5])),
        _rows([0.2, 0.1], [0.3, 0.5]),
        _rows([2000, -1000, 500], [-3000, 1000, 100]),
        _rows([2000, -1000, 500], [3000, 1000, 100]),
        (_some(32), _some(32)),
    ],
    mistakes=_mistakes(
        "pattern, evidence",
        _bends("pattern @ evidence")
        + """
    Each product is cut at zero on its own. Add them all up first: what speaks against
    the pattern has to count too.
        np.maximum(pattern * evidence, 0).sum()
    It gives one number for each pair; add the products up to one match.
        np.maximum(pattern * evidence, 0)
        pattern * evidence
    Only the last product is left; each is added to the ones before it, with +=.
        max(pattern[-1] * evidence[-1], 0)
        pattern[-1] * evidence[-1]
    A product is left out; every pair of numbers has its say.
        max(pattern[0] * evidence[0], 0)
        max(pattern[1:] @ evidence[1:], 0)
        max(pattern[:-1] @ evidence[:-1], 0)
    The sum is cut at zero on its way; clip once, after the loop.
        reduce(lambda match, p: max(match + p, 0), pattern * evidence, 0)
    The sign is turned round: it fires on what speaks against the pattern.
        max(-pattern @ evidence, 0)
    The products are averaged; the match is their sum.
        max((pattern * evidence).mean(), 0)
    Pattern and evidence are added; the match multiplies them, pair by pair.
        np.maximum((pattern + evidence).sum(), 0)
    Pattern and evidence are bent before they meet; only their match is bent.
        np.maximum(pattern, 0) @ np.maximum(evidence, 0)
    """,
    ),
    over="one number to 32, matches above, at and below zero, large and small, and in "
    "single precision",
)


def _matches(pattern: NDArray) -> list[float]:
    # At a common size, and what rounding leaves of a match of 0 counts as 0.
    size = np.abs(pattern).max() or 1
    return np.round(examples.EVIDENCES @ (pattern / size), 9).tolist()


def _where_it_fires(pattern: NDArray) -> list[int]:
    return [i for i, match in enumerate(_matches(pattern), start=1) if match > 0]


EXERCISES["pattern"] = Value(
    takes="p",
    asks="one pattern of two numbers",
    shape=(2,),
    right=lambda p: _where_it_fires(p) == [1],
    mistakes=_mistakes(
        "p",
        """
    This pattern is all zeros: it matches nothing and never fires.
        not p.any()
    This is the first evidence itself. It fires there, but on the third as well: what
    speaks for it outweighs what speaks against.
        np.allclose(p, examples.EVIDENCES[0])
    It fires on the first evidence, as it must, but on the third, [0.5, 0.5], too: what
    must its two numbers not add up to?
        _where_it_fires(p) == [1, 3]
    It is turned round: it fires on the second evidence and not on the first. Look at
    the signs.
        2 in _where_it_fires(p)
    It stays quiet on the first evidence and fires on the third; turn that round.
        _where_it_fires(p) == [3]
    """,
    ),
    hint=lambda p: "It stays quiet on all three evidences; on the first it must fire.",
    over="It fires on the first evidence and stays quiet on the other two.",
    remark=lambda p: (
        " It is [1, -1] again, the one you knew; can you find another?"
        if p[0] == -p[1]
        else ""
    ),
)


# 02. The bank.


def _to_bank(n: int, d: int, d_ff: int) -> tuple[NDArray, ...]:
    return _some(n, d), _some(d, d_ff), _some(d_ff, d)


EXERCISES["feed_forward"] = Function(
    takes="x, W1, W2",
    right=feed_forward,
    cases=[
        _rows([[2]], [[1, -1]], [[3], [5]]),
        (examples.EVIDENCES[:1].copy(), examples.W1.copy(), examples.W2.copy()),
        _rows([[1, 2], [3, -1]], [[1, 2], [-2, 1]], [[2, 1], [1, 3]]),
        (examples.EVIDENCES.copy(), examples.W1.copy(), examples.W2.copy()),
        _to_bank(3, 3, 3),
        _to_bank(4, 3, 1),
        _to_bank(2, 4, 6),
        _float32(_to_bank(3, 2, 5)),
        tuple(part * 1000 for part in _to_bank(3, 2, 4)),
        _rows([[-2], [2]], [[1]], [[3]]),
        _to_bank(10, 8, 32),
    ],
    one_word=tuple((_some(3), _some(3, d), _some(d, 3)) for d in (3, 4)),
    mistakes=_mistakes(
        "x, W1, W2",
        _bends("x @ W1", then=" @ W2")
        + """
    The bend comes after W2; it belongs between W1 and W2, on the matches.
        np.maximum(x @ W1 @ W2, 0)
        np.maximum((x @ W1)[..., None] * W2, 0).sum(axis=-2)
    The bend comes before W1; it belongs between W1 and W2, on the matches.
        np.maximum(x, 0) @ W1 @ W2
    It bends twice, after W1 and after W2; what a bank adds may be negative.
        np.maximum(np.maximum(x @ W1, 0) @ W2, 0)
    W1 and W2 have changed places: x meets W1 first, and the fires meet W2.
        np.maximum(x @ W2, 0) @ W1
    A matrix is transposed: patterns are the columns of W1 and contributions the rows of
    W2, just as they come.
        np.maximum(x @ W1.T, 0) @ W2.T
        np.maximum(x @ W2.T, 0) @ W1.T
        np.maximum(x @ W1.T, 0) @ W2
        np.maximum(x @ W1, 0) @ W2.T
    Only the last unit is left; each adds its part to the ones before it, with +=.
        np.maximum(x @ W1[:, -1:], 0) @ W2[-1:]
    A unit is left out: W1 has a column for each, W2 a row.
        np.maximum(x @ W1[:, :1], 0) @ W2[:1]
        np.maximum(x @ W1[:, 1:], 0) @ W2[1:]
        np.maximum(x @ W1[:, :-1], 0) @ W2[:-1]
        np.maximum(x @ W1[:, : len(W1)], 0) @ W2[: len(W1)]
    It takes the largest number of each column (np.max); the bend compares every match
    with 0 (np.maximum).
        np.max(x @ W1, 0) @ W2
    It stops at what the units fire; that still has to meet W2.
        np.maximum(x @ W1, 0)
    It adds x as well; the bank gives the contribution alone.
        x + np.maximum(x @ W1, 0) @ W2
    A softmax stands where the bend belongs.
        softmax(x @ W1) @ W2
    """,
    ),
    over="the bank of the text and others, one row to ten, oblong and square, with "
    "large numbers, and in single precision",
)

_SIGNS = [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [2, 3], [-2, 3], [2, -3], [-2, -3]]
_INPUTS = np.concatenate([_SIGNS, _RNG.integers(-40, 40, size=(60, 2))]).astype(float)


def _fits(W1: NDArray, W2: NDArray) -> bool:
    return W1.ndim == 2 and len(W1) == 2 and W2.shape == (W1.shape[1], 2)


def _hits(W1: NDArray, W2: NDArray, wanted: NDArray) -> NDArray:
    given = feed_forward(_INPUTS, W1, W2)
    return np.isclose(given, wanted, rtol=1e-3, atol=1e-3).all(axis=1)


def _gives(W1: NDArray, W2: NDArray, what: Callable) -> bool:
    return _fits(W1, W2) and _hits(W1, W2, what(_INPUTS)).all()


def _first_miss(W1: NDArray, W2: NDArray) -> str:
    x = _INPUTS[np.argmin(_hits(W1, W2, np.abs(_INPUTS)))]
    return (
        "It does not give the absolute value of each number.\n"
        f"  with    x = {text_of(x)}\n  yours   {text_of(feed_forward(x, W1, W2))}\n"
        f"  wanted  {text_of(np.abs(x))}"
    )


EXERCISES["absolute_value"] = Value(
    takes="W1, W2",
    asks="a pair (W1, W2) of matrices",
    shape=None,
    right=lambda W1, W2: _gives(W1, W2, np.abs),
    mistakes=_mistakes(
        "W1, W2",
        """
    W1 and W2 have changed places: W1 comes first in the pair.
        _gives(W2, W1, np.abs)
    Both matrices are transposed: patterns are the columns of W1, contributions the rows
    of W2.
        _gives(W1.T, W2.T, np.abs)
    The shapes do not fit: for k units W1 is (2, k), a column for each, and W2 (k, 2), a
    row for each.
        not _fits(W1, W2)
    This bank gives nothing but zeros.
        _gives(W1, W2, np.zeros_like)
    It hands every number back with its sign: two units undo each other's bend.
        _gives(W1, W2, np.array)
    It is right above zero and gives 0 below: no unit fires there yet.
        _gives(W1, W2, lambda x: np.maximum(x, 0))
    It is right below zero and gives 0 above: no unit fires there yet.
        _gives(W1, W2, lambda x: np.maximum(-x, 0))
    The absolute values are right, but they come out with a minus.
        _gives(W1, W2, lambda x: -np.abs(x))
    The two numbers come out in each other's places.
        _gives(W1, W2, lambda x: np.abs(x)[:, ::-1])
    The two numbers are mixed: each answer holds the sum of both.
        _gives(W1, W2, lambda x: np.abs(x) @ np.ones((2, 2)))
    One of the two numbers is right; the other gives 0.
        _gives(W1, W2, lambda x: np.abs(x) * [1, 0])
        _gives(W1, W2, lambda x: np.abs(x) * [0, 1])
    """,
    ),
    hint=_first_miss,
    over=f"The bank gives |x| for {len(_INPUTS)} pairs of numbers, of all signs.",
)


# 03. Collapse.


def _folded(matrices: list[NDArray]) -> NDArray:
    return reduce(np.matmul, matrices)


EXERCISES["fold"] = Function(
    takes="layers",
    right=_folded,
    cases=[
        (list(_rows([[1, 2]], [[3], [4]])),),
        (list(_rows([[1, 2], [3, 4]], [[0, 1], [1, 1]])),),
        ([_some(2, 3), _some(3, 4)],),
        ([_some(2, 2), _some(2, 2), _some(2, 2)],),
        ([_some(2, 5), _some(5, 3), _some(3, 4)],),
        (_float32([_some(3, 2), _some(2, 3)]),),
        ([_some(3, 3) for _ in range(4)],),
        ([_some(4, 6) * 1000, _some(6, 4) * 1000],),
        ([_some(4, 4) * 0.7 for _ in range(24)],),
    ],
    mistakes=_mistakes(
        "layers",
        """
    The order is reversed: x meets the first matrix first, x @ W1 @ W2, so the first
    stands on the left.
        _folded(layers[::-1])
    The matrices are added; layer after layer multiplies, with @.
        sum(layers)
    They are multiplied place by place, with *; layers are matrix products, @.
        reduce(np.multiply, layers)
    It is the right matrix, but transposed.
        _folded(layers).T
    Each matrix is transposed before it is used; take them as they come.
        _folded([W.T for W in layers])
    It bends between the matrices; only without the bend do layers fold.
        reduce(lambda A, W: np.maximum(A, 0) @ W, layers)
        reduce(lambda A, W: np.maximum(A @ W, 0), layers)
    It stops after the first matrix; all must go in.
        layers[0]
    Only the last matrix is left; each must multiply what came before.
        layers[-1]
    The first matrix is used twice; begin the loop at the second.
        reduce(np.matmul, layers, layers[0])
    A matrix is left out; all must go in.
        _folded(layers[:-1])
        _folded(layers[1:])
        layers[0] @ layers[1]
        layers[0] @ layers[-1]
    """,
    ),
    over="two matrices to 24, square and oblong, with large numbers, and in single "
    "precision",
)


def _gap(a: NDArray, b: NDArray) -> float:
    """Return how far bank(a + b) is from bank(a) + bank(b), at a common size."""
    size = max(np.abs(a).max(), np.abs(b).max()) or 1
    both, one, other = feed_forward([a / size + b / size, a / size, b / size], *_UNITS)
    return np.abs(both - one - other).max()


_UNITS = examples.W1, examples.W2

EXERCISES["not_linear"] = Value(
    takes="a, b",
    asks="a pair (a, b) of evidences, two numbers each",
    shape=(2,),
    right=lambda a, b: _gap(a, b) > 1e-6,
    mistakes=_mistakes(
        "a, b",
        """
    Both are zero, and so is every answer.
        not a.any() and not b.any()
    One of the two is zero, and adding nothing changes nothing.
        not a.any() or not b.any()
    a and b are the same: twice the evidence makes every unit fire twice as much.
        np.array_equal(a, b)
    One is a stretched copy of the other, and every unit stretches with it: take two
    that point different ways.
        abs(a[0] * b[1] - a[1] * b[0]) <= 1e-9 * (a @ b)
    Every unit that fires on one fires on the other too, so adding meets no bend. Find
    two on which some unit disagrees.
        ((a @ examples.W1) * (b @ examples.W1) >= 0).all()
    """,
    ),
    hint=lambda a, b: (
        "Some units do disagree on a and b, but what they contribute cancels here: "
        "bank(a + b) is still bank(a) + bank(b)."
    ),
    over="For these two bank(a + b) is not bank(a) + bank(b), so no single matrix can "
    "stand in for the bank.",
)


# 04. The stack.

EXERCISES["storeys_to_vanish"] = Value(
    takes="n",
    asks="one number",
    shape=(),
    right=lambda n: n == 39,
    mistakes=_mistakes(
        "n",
        """
    A number of storeys cannot be negative: the logarithms of 0.7 and of a millionth
    both are, so their quotient is positive.
        n < 0
    Storeys come whole: no part of one can be built.
        n % 1 != 0
    That leaves less than a thousandth; a millionth is asked.
        n == 20
    That leaves less than a billionth; a millionth is asked.
        n == 59
    That leaves less than a millionth, but it is not the first number that does.
        n > 39
    """,
    ),
    hint=lambda n: (
        "That leaves "
        + np.format_float_positional(0.7**n, 2, fractional=False, trim="-")
        + ", and a millionth is 0.000001: too few."
    ),
    over="It leaves less than a millionth, and one storey fewer does not.",
)


def _added(z: NDArray, storeys: list[NDArray]) -> NDArray:
    return reduce(lambda z, W: z + z @ W, storeys, z)


def _to_add(n: int, d: int, count: int, gain: float = 1.0) -> tuple:
    return _some(n, d), [_some(d, d) * gain for _ in range(count)]


EXERCISES["add_stack"] = Function(
    takes="z, storeys",
    right=_added,
    cases=[
        (*_rows([[1, 2]]), list(_rows([[0, 1], [2, 0]]))),
        (*_rows([[1, 2]]), list(_rows([[0, 1], [2, 0]], [[1, 0], [1, -1]]))),
        (*_rows([[1, 2]]), list(_rows([[0, 0], [0, 0]], [[1, 0], [1, -1]]))),
        _to_add(2, 2, 2),
        _to_add(3, 3, 3),
        _to_add(2, 4, 3),
        _float32(_to_add(3, 2, 2)),
        _to_add(2, 3, 2, gain=1000),
        _to_add(10, 8, 24, gain=0.25),
    ],
    one_word=((_some(3), [_some(3, 3), _some(3, 3)]),),
    mistakes=_mistakes(
        "z, storeys",
        """
    Each storey replaces what it reads, z = z @ W; add its answer to z.
        reduce(np.matmul, storeys, z)
    The first z is added at every storey; each adds to the z that it reads.
        reduce(lambda stream, W: z + stream @ W, storeys, z)
    The storeys replace one another, and z is added once, at the end; each adds.
        z + reduce(np.matmul, storeys, z)
    z is counted twice: z + z @ W holds it once.
        reduce(lambda z, W: 2 * z + z @ W, storeys, z)
    Every storey reads the first z; each must read what the one before it left.
        z + sum(z @ W for W in storeys)
    Only the last storey's note is kept; every note must stay.
        z + _added(z, storeys[:-1]) @ storeys[-1]
        _added(z, storeys[:-1]) @ storeys[-1]
        z + z @ storeys[-1]
        z @ storeys[-1]
    It gives the notes without the z that they were added to.
        _added(z, storeys) - z
        sum(z @ W for W in storeys)
    The storeys come in reverse order.
        _added(z, storeys[::-1])
    It stops after the first storey; each must have its turn.
        z + z @ storeys[0]
    A storey is left out; each must have its turn.
        _added(z, storeys[1:])
        _added(z, storeys[:-1])
    A storey is transposed, or stands on the wrong side; it is z @ W.
        reduce(lambda z, W: z + z @ W.T, storeys, z)
        reduce(lambda z, W: z + W @ z, storeys, z)
    It adds the storey's own numbers; add what it makes of z, z @ W.
        reduce(np.add, storeys, z)
    z is multiplied place by place, with *; a storey is a matrix product, @.
        reduce(lambda z, W: z + z * W, storeys, z)
    It bends what a storey makes; here it is added as it is.
        reduce(lambda z, W: z + np.maximum(z @ W, 0), storeys, z)
    It tidies on the way (layer norm); here it adds and does nothing else.
        reduce(lambda z, W: layer_norm(z + z @ W), storeys, z)
        reduce(lambda z, W: z + layer_norm(z) @ W, storeys, z)
    """,
    ),
    over="one storey to 24, one row to ten, a dud storey, large numbers, and single "
    "precision",
)


# 05. Layer norm.


def _norm(
    X: NDArray,
    gamma: NDArray,
    beta: NDArray,
    eps: float = 1e-5,
    axes: Sequence[int | None] = (-1, -1, -1),
    ddof: int = 0,
    spread: Callable = lambda var, eps: np.sqrt(var + eps),
) -> NDArray:
    """Return layer norm written out, so that one part of it can be exchanged.

    The axes are those of the mean, of the mean in the variance, and of the variance.
    """
    mean, inner = (X.mean(axis=axis, keepdims=True) for axis in axes[:2])
    var = np.square(X - inner).mean(axis=axes[2], keepdims=True)
    var = var * X.shape[-1] / (X.shape[-1] - ddof)
    return (X - mean) / spread(var, eps) * gamma + beta


def _to_norm(n: int, d: int, eps: float = 1e-5, size: float = 1.0) -> tuple:
    return _some(n, d) * size, _some(d) + 2, _some(d), eps


EXERCISES["layer_norm"] = Function(
    takes="X, gamma, beta, eps",
    right=layer_norm,
    cases=[
        (*_rows([[1, 2, 3, 4]], [1, 1, 1, 1], [0, 0, 0, 0]), 1e-5),
        (*_rows([[1, 2], [3, 7]], [1, 1], [0, 0]), 1e-5),
        (*_rows([[0, 2], [0, 4]], [1, 1], [0, 0]), 1.0),
        (*_rows([[1, 3], [2, 6]], [2, 3], [10, 20]), 0.5),
        (*_rows([[0.001, 0.002, 0.003, 0.004]], [1, 1, 1, 1], [0, 0, 0, 0]), 1e-5),
        (*_rows([[5, 5, 5], [1, 2, 6]], [1, 2, 3], [1, 2, 3]), 1e-5),
        _to_norm(3, 3, eps=0.1),
        _float32(_to_norm(3, 4)),
        (*_rows([[1001, 1002, 1003, 1004]], [1, 1, 1, 1], [0, 0, 0, 0]), 1e-5),
        _to_norm(2, 5, size=1e6),
        _to_norm(10, 32),
    ],
    batches=((_some(2, 3, 4), _some(4) + 2, _some(4), 1e-5),),
    one_word=((_some(4), _some(4) + 2, _some(4), 1e-5),),
    mistakes=_mistakes(
        "X, gamma, beta, eps",
        """
    Mean and spread are taken over the positions, down each column; take them along each
    row, over its own features.
        _norm(*case, axes=[0] * 3)
        _norm(X, 1, 0, eps, axes=[0] * 3)
    Mean and spread are taken over the whole array; each row has its own.
        _norm(*case, axes=[None] * 3)
    The variance is divided by n - 1; layer norm divides by n.
        _norm(*case, ddof=1)
        _norm(X, gamma, beta, 0, ddof=1)
    eps stands outside the root, beside the spread; add it to the variance, inside.
        _norm(*case, spread=lambda var, eps: np.sqrt(var) + eps)
        _norm(*case, spread=lambda var, eps: np.sqrt(var) + 1e-5)
    Two things: the variance is divided by n - 1 and not n, and eps is outside the root.
        _norm(*case, ddof=1, spread=lambda var, eps: np.sqrt(var) + eps)
    eps is left out: add it to the variance, inside the root.
        _norm(X, gamma, beta, 0)
    eps is not the one that is handed in, but a fixed number.
        _norm(X, gamma, beta, 1e-5)
        _norm(X, gamma, beta, 1e-6)
        _norm(X, gamma, beta, 1e-8)
    The root is missing: divide by the root of the variance.
        _norm(*case, spread=np.add)
    A sum stands where an average belongs: mean and variance are both divided by n.
        _norm(*case, spread=lambda var, eps: np.sqrt(var * X.shape[-1] + eps))
        _norm(*case, spread=lambda var, eps: np.sqrt(var * X.shape[-1]))
        (X - X.sum(1)[:, None]) / np.sqrt(X.var(1)[:, None] + eps) * gamma + beta
        (C := X.T - X.sum(1)).T / np.sqrt((C**2).mean(0)[:, None] + eps) * gamma + beta
    The spread is measured from zero; take the mean away before you square.
        _norm(*case, spread=lambda _, eps: np.sqrt((X**2).mean(-1)[:, None] + eps))
    The spread is missing: the mean is taken away and nothing is divided.
        _norm(*case, spread=lambda var, eps: 1)
    Mean and spread lose their axis and meet the wrong numbers; keepdims=True keeps it.
        (X - X.mean(-1)) / np.sqrt(X.var(-1) + eps) * gamma + beta
        (X - X.mean(-1)) / np.sqrt(X.var(-1)[:, None] + eps) * gamma + beta
        (X - X.mean(-1)[:, None]) / np.sqrt(X.var(-1) + eps) * gamma + beta
        (C := X - X.mean(-1)) / np.sqrt((C**2).mean(-1) + eps) * gamma + beta
        (C := X - X.mean(-1)) / np.sqrt((C**2).mean(-1)[:, None] + eps) * gamma + beta
    The mean stays in: take it away before you divide.
        X / np.sqrt(X.var(axis=-1, keepdims=True) + eps) * gamma + beta
        X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) * gamma + beta
    gamma and beta are left out.
        _norm(X, 1, 0, eps)
    gamma is left out: multiply by it.
        _norm(X, 1, beta, eps)
    beta is left out: add it at the end.
        _norm(X, gamma, 0, eps)
    gamma and beta have changed places: gamma multiplies, beta is added.
        _norm(X, beta, gamma, eps)
    beta is added before gamma multiplies; it comes last.
        _norm(X, gamma, beta * gamma, eps)
    gamma and beta are laid along the positions; each belongs to a feature, a column.
        _norm(X, gamma[:, None], beta[:, None], eps)
    """,
    )
    + [
        (
            "Mean and spread are not taken over the same numbers; take both along each "
            "row, over its own features.",
            partial(_norm, axes=axes),
        )
        for axes in product((-1, 0, None), repeat=3)
        if axes[0] != axes[2] and axes[1] in axes[::2]
    ],
    over="one row to ten, eps large and small, a row without spread, rows far from "
    "zero, very small and very large ones, and single precision",
)


def _mouse(stretch: float) -> float:
    """Return what *chased* reads of *mouse* when the stream is that much larger."""
    return softmax(min(stretch, 1e3) ** 2 * np.log(examples.CHASED_READS))[-1]


EXERCISES["stretch"] = Value(
    takes="s",
    asks="one number",
    shape=(),
    right=lambda s: s > 0 and abs(_mouse(s) - 0.96) < 0.0052,
    mistakes=_mistakes(
        "s",
        """
    A stream cannot grow a negative number of times.
        s <= 0
    That is the stretch of the scores. The stream is in a score twice, as query and as
    key: how large is its own share?
        abs(s - 3) < 0.03
    That is the stretch of the scores, squared. The scores grow with a square, not the
    stream.
        abs(s - 9) < 0.1
    That is half the stretch of the scores; query and key each bring the growth in, and
    they multiply.
        abs(s - 1.5) < 0.01
    That is 0.96 / 0.60, but between stream and weights stand the scores and a softmax.
        abs(s - 1.6) < 0.01
    That makes the stream smaller, and the weights more alike.
        s < 1
    """,
    ),
    hint=lambda s: f"With so much growth mouse gets {_mouse(s):.2f}; wanted is 0.96.",
    over="The scores grow with the square of the stream, and mouse gets 0.96.",
)


# 06. The block.

EXERCISES["causal_mask"] = Function(
    takes="n",
    right=causal_mask,
    cases=[(2,), (1,), (3,), (5,), (16,)],
    mistakes=_mistakes(
        "n",
        """
    It is upside down: here a word reads itself and what comes after; it must read
    itself and what came before.
        np.tri(n, dtype=bool).T
    True and False have changed places: True must stand where a word may read.
        ~np.tri(n, dtype=bool)
    The diagonal is missing: a word may read itself, too.
        np.tri(n, k=-1, dtype=bool)
    It hides nothing: what comes after a word must be False.
        np.ones((n, n), dtype=bool)
    Each word reads itself alone; what came before must be True, too.
        np.eye(n, dtype=bool)
    It lets each word read the next one, too.
        np.tri(n, k=1, dtype=bool)
    It holds 1 and 0; wanted are True and False (dtype=bool).
        np.tri(n)
    This is a mask to add to the scores, 0 and a very negative number; wanted are True
    and False, True where a word may read.
        np.where(np.tri(n), 0, -np.inf)
        np.where(np.tri(n), 0, -1e9)
        np.where(np.tri(n), 0, -1e10)
        np.where(np.tri(n), 0, np.finfo(float).min)
    """,
    ),
    over="one word to 16",
)


def _gather(
    X: NDArray,
    W_Q: NDArray,
    W_K: NDArray,
    W_V: NDArray,
    W_O: NDArray,
    mask: NDArray | None = None,
    axis: int = -1,
    root: Callable = lambda d_k, d: np.sqrt(d_k),
    hidden: float = -np.inf,
    late: bool = False,
    merge: Callable = lambda heads: np.concatenate(list(heads), axis=-1),
) -> NDArray:
    """Return attention written out, so that one part of it can be exchanged."""
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    scores = Q @ K.swapaxes(-1, -2) / root(W_Q.shape[-1], X.shape[-1])
    if mask is not None and not late:
        scores = np.where(mask, scores, hidden)
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
    weights = weights / weights.sum(axis=axis, keepdims=True)
    if mask is not None and late:
        weights = weights * mask
    return merge(weights @ V) @ W_O


# In the table below A is attention, F the feed-forward layer and N the norm.
A, F, N = multi_head_attention, feed_forward, layer_norm


def _but(
    *case: Any,
    attend: Callable = A,
    think: Callable = F,
    norm: Callable = N,
    **part: Any,
) -> NDArray:
    """Return the block with one piece exchanged, or one part of its attention."""
    X, attn, ffn, ln_1, ln_2, mask = case
    Z = X + (partial(_gather, **part) if part else attend)(norm(X, *ln_1), *attn, mask)
    return Z + think(norm(Z, *ln_2), *ffn)


def _to_block(
    n: int, d: int, h: int, d_ff: int, mask: Any = None, size: float = 1.0
) -> tuple:
    attn = (*(_some(h, d, d // h) for _ in "QKV"), _some(d, d))
    norms = [(_some(d) + 2, _some(d)) for _ in range(2)]
    return (_some(n, d) * size, attn, (_some(d, d_ff), _some(d_ff, d)), *norms, mask)


def _silent(X: NDArray, attn: tuple, ffn: tuple, *rest: Any) -> tuple:
    return (X, *(tuple(0 * W for W in group) for group in (attn, ffn)), *rest)


_ODD = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]], dtype=bool)

EXERCISES["block"] = Function(
    takes="X, attn, ffn, ln_1, ln_2, mask",
    right=block,
    cases=[
        _silent(*_to_block(1, 2, 1, 1)),
        _to_block(1, 2, 1, 1),
        _to_block(2, 2, 1, 2),
        _to_block(2, 2, 1, 2, causal_mask(2)),
        _to_block(3, 4, 2, 3),
        _to_block(3, 4, 2, 3, causal_mask(3)),
        _to_block(3, 3, 3, 5, _ODD),
        _float32(_to_block(3, 2, 2, 4, causal_mask(3))),
        _to_block(4, 4, 4, 4),
        _to_block(5, 9, 3, 36, causal_mask(5), size=1000),
        _to_block(2, 3, 1, 2, size=0.003),
    ],
    batches=((_some(2, 3, 4), *_to_block(3, 4, 2, 3, causal_mask(3))[1:]),),
    mistakes=_mistakes(
        "X, attn, ffn, ln_1, ln_2, mask",
        """
    The tidied row is added back; add to the raw one: the stream itself is never tidied.
        (T := N((S := N(X, *ln_1)) + A(S, *attn, mask), *ln_2)) + F(T, *ffn)
        (Z := (S := N(X, *ln_1)) + A(S, *attn, mask)) + F(N(Z, *ln_2), *ffn)
        (T := N(X + A(N(X, *ln_1), *attn, mask), *ln_2)) + F(T, *ffn)
    This is post-norm: it tidies the stream after each addition; tidy only the copy that
    a sublayer reads.
        N((Z := N(X + A(X, *attn, mask), *ln_1)) + F(Z, *ffn), *ln_2)
    Both norms are missing; each sublayer reads a tidied copy.
        (Z := X + A(X, *attn, mask)) + F(Z, *ffn)
    The attention reads X itself; it has to read the copy that ln_1 tidied.
        (Z := X + A(X, *attn, mask)) + F(N(Z, *ln_2), *ffn)
    The feed-forward layer reads Z itself; it has to read the copy that ln_2 tidied.
        (Z := X + A(N(X, *ln_1), *attn, mask)) + F(Z, *ffn)
    The feed-forward layer reads X; it has to read Z, with the attention's answer in it.
        X + A(N(X, *ln_1), *attn, mask) + F(N(X, *ln_2), *ffn)
        X + A((S := N(X, *ln_1)), *attn, mask) + F(S, *ffn)
        X + A((S := N(X, *ln_1)), *attn, mask) + F(N(S, *ln_2), *ffn)
    One norm stands in both places; ln_1 is the attention's, ln_2 the other sublayer's.
        block(X, attn, ffn, ln_1, ln_1, mask)
        block(X, attn, ffn, ln_2, ln_2, mask)
    The two norms have changed places: ln_1 comes first.
        block(X, attn, ffn, ln_2, ln_1, mask)
    The norms' gamma and beta are not used.
        _but(*case, norm=lambda X, gamma, beta: N(X))
    The norm runs over the positions; tidy each row from its own numbers.
        _but(*case, norm=partial(_norm, axes=[0] * 3))
    The norm runs over all rows at once; tidy each from its own numbers.
        _but(*case, norm=partial(_norm, axes=[None] * 3))
    The norm's variance is divided by n - 1; it is divided by n.
        _but(*case, norm=partial(_norm, ddof=1))
    The norm's eps stands outside the root; add it to the variance, inside.
        _but(*case, norm=partial(_norm, spread=lambda var, eps: np.sqrt(var) + eps))
    The norm's eps, inside the root, is 1e-5; this one has another or none.
        _but(*case, norm=lambda X, gamma, beta: _norm(X, gamma, beta, 0))
        _but(*case, norm=lambda X, gamma, beta: _norm(X, gamma, beta, 1e-6))
        _but(*case, norm=lambda X, gamma, beta: _norm(X, gamma, beta, 1e-8))
    A last norm is put on the result; the stream leaves the block untidied.
        N(block(*case))
        N(block(*case), *ln_2)
    The first addition is missing: the attention's answer replaces X.
        (Z := A(N(X, *ln_1), *attn, mask)) + F(N(Z, *ln_2), *ffn)
    The second addition is missing: the feed-forward layer's answer replaces Z.
        F(N(X + A(N(X, *ln_1), *attn, mask), *ln_2), *ffn)
    Both additions are missing; add each answer to what stood there.
        F(N(A(N(X, *ln_1), *attn, mask), *ln_2), *ffn)
    X is added twice; Z holds it already.
        X + (Z := X + A(N(X, *ln_1), *attn, mask)) + F(N(Z, *ln_2), *ffn)
        (Z := 2 * X + A(N(X, *ln_1), *attn, mask)) + F(N(Z, *ln_2), *ffn)
    The second answer is added to X; add it to Z, or the attention's is lost.
        X + F(N(X + A(N(X, *ln_1), *attn, mask), *ln_2), *ffn)
    The attention is left out.
        X + F(N(X, *ln_2), *ffn)
    The feed-forward layer is left out.
        X + A(N(X, *ln_1), *attn, mask)
    The sublayers have changed places: attention first, then feed-forward.
        (Z := X + F(N(X, *ln_1), *ffn)) + A(N(Z, *ln_2), *attn, mask)
        (Z := X + F(N(X, *ln_2), *ffn)) + A(N(Z, *ln_1), *attn, mask)
    Queries and keys have changed places: W_Q comes first.
        _but(*case, attend=lambda X, Q, K, V, O, mask: A(X, K, Q, V, O, mask))
    W_O is left out: the heads' answers, side by side, still have to meet it.
        _but(*case, attend=lambda X, Q, K, V, O, m: A(X, Q, K, V, np.eye(len(O)), m))
    The feed-forward layer has no bend.
        _but(*case, think=lambda X, W1, W2: X @ W1 @ W2)
    The feed-forward layer has another bend; ours is max(match, 0).
        _but(*case, think=partial(F, bend=np.abs))
        _but(*case, think=partial(F, bend=np.tanh))
        _but(*case, think=partial(F, bend=_gelu))
        _but(*case, think=partial(F, bend=lambda m: m / (1 + np.exp(-m))))
        _but(*case, think=partial(F, bend=lambda m: np.maximum(m, 0.01 * m)))
    The feed-forward layer bends after W2; the bend belongs between W1 and W2.
        _but(*case, think=lambda X, W1, W2: np.maximum(X @ W1 @ W2, 0))
    The mask is not used; hand it on to the attention.
        block(X, attn, ffn, ln_1, ln_2, None)
    A causal mask is built in; use the mask that is handed in, or none if it is None.
        block(*case[:5], causal_mask(len(X)))
        block(*case[:5], causal_mask(len(X)) if mask is None else mask)
        block(*case[:5], mask if mask is None else causal_mask(len(X)))
    The mask is upside down: True means that a word may read.
        _but(*case[:5], mask if mask is None else ~mask, hidden=-np.inf)
        block(X, attn, ffn, ln_1, ln_2, mask if mask is None else mask.T)
    A hidden score becomes 0, which the softmax still gives weight; it must be -inf.
        _but(*case, hidden=0)
    The mask comes after the softmax, so the weights no longer add up to 1.
        _but(*case, late=True)
    The softmax runs over the wrong axis: what one word reads, a row, must add up to 1.
        _but(*case, axis=-2)
    The scores are not divided: √d_k is missing.
        _but(*case, root=lambda d_k, d: 1)
    The scores are divided by the wrong number; it is √d_k, d_k the width of one head.
        _but(*case, root=lambda d_k, d: d_k)
        _but(*case, root=lambda d_k, d: np.sqrt(d))
    The heads are merged by a reshape without swapping the right axes first: each word's
    heads must end up side by side.
        _but(*case, merge=lambda h: h.reshape(h.shape[1], -1))
        _but(*case, merge=lambda h: h.swapaxes(1, 2).reshape(h.shape[1], -1))
        _but(*case, merge=lambda h: h.transpose(1, 2, 0).reshape(h.shape[1], -1))
    """,
    ),
    over="one word to five, one head to four, with a mask and without, weights of "
    "zero, a large stream and a small one, and single precision",
)

EXERCISES["count_parameters"] = Function(
    takes="d_model, d_ff",
    right=lambda d, d_ff: 4 * d * d + 2 * d * d_ff,
    cases=[(1, 1), (2, 3), (3, 2), (9, 36), (32, 128), (512, 2048), (768, 1000)],
    tolerance=1e-9,
    mistakes=_mistakes(
        "d_model, d_ff",
        """
    Attention has four matrices, W_Q, W_K, W_V and W_O; fewer are counted.
        3 * d_model**2 + 2 * d_model * d_ff
        2 * d_model**2 + 2 * d_model * d_ff
        1 * d_model**2 + 2 * d_model * d_ff
    The feed-forward layer has two matrices, W1 and W2; one is forgotten.
        4 * d_model**2 + d_model * d_ff
    Too few of both are counted: attention has four matrices, the other layer two.
        1 * d_model**2 + d_model * d_ff
        2 * d_model**2 + d_model * d_ff
        3 * d_model**2 + d_model * d_ff
    Only the attention is counted.
        4 * d_model**2
    Only the feed-forward layer is counted.
        2 * d_model * d_ff
    Biases are counted; these matrices come without.
        4 * d_model**2 + 2 * d_model * d_ff + d_ff
        4 * d_model**2 + 2 * d_model * d_ff + d_model + d_ff
        4 * d_model**2 + 2 * d_model * d_ff + 5 * d_model + d_ff
        4 * d_model**2 + 2 * d_model * d_ff + 9 * d_model + d_ff
    The norms' gamma and beta are counted; only attention and feed-forward are asked.
        4 * d_model**2 + 2 * d_model * d_ff + 2 * d_model
        4 * d_model**2 + 2 * d_model * d_ff + 4 * d_model
    The heads are multiplied in; they share the width: h heads of d_model / h columns.
        2 * 4 * d_model**2 + 2 * d_model * d_ff
        3 * 4 * d_model**2 + 2 * d_model * d_ff
        4 * 4 * d_model**2 + 2 * d_model * d_ff
        8 * 4 * d_model**2 + 2 * d_model * d_ff
    Here d_ff is taken to be 4 * d_model; use the one that is handed in.
        12 * d_model**2
    Widths are added; a matrix holds rows times columns.
        4 * (d_model + d_model) + 2 * (d_model + d_ff)
    """,
    ),
    over="blocks of width 1 to 768",
)
