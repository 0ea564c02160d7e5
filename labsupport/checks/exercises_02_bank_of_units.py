"""What notebook 02 asks for: a bank as a loop, and one that takes absolute values."""

import numpy as np

import labsupport.block as lab
from labsupport.block import relu
from labsupport.checks.bends import wrong_bends
from labsupport.checks.cases import drawn, many, mixes_rows, right_on, rows, single
from labsupport.checks.judge import Function, Value, When, labelled, named, text_of
from labsupport.examples import EVIDENCES, W1, W2

_some = drawn(25)


def _bank(n, d, d_ff):
    return _some(n, d), _some(d, d_ff), _some(d_ff, d)


_words, *_matrices = _bank(4, 3, 4)
_on_one_word = right_on(lab.feed_forward, *((word, *_matrices) for word in _words))
_on_many = right_on(lab.feed_forward, (_words, *_matrices))


_COUNTED = rows([[1]], [[1, 1, 1]], [[10], [20], [40]])  # tells which units add

feed_forward = Function(
    takes="x, W1, W2",
    right=lab.feed_forward,
    cases=[
        *many(([[2]], [[1, -1]], [[3], [5]]), ([[0.02]], [[1, -1]], [[3], [-3]])),
        (EVIDENCES[:1].copy(), W1.copy(), W2.copy()),
        *many(([[1, 2], [3, -1]], [[1, 2], [-2, 1]], [[2, 1], [1, 3]])),
        (EVIDENCES.copy(), W1.copy(), W2.copy()),
        *many(([[-2], [2]], [[1]], [[3]]), ([[-1 / 30], [1 / 30]], [[1]], [[3]])),
        *(_bank(*sizes) for sizes in ((3, 3, 3), (4, 3, 1), (2, 4, 6))),
        single(_bank(3, 2, 5)),
        tuple(1000 * part for part in _bank(3, 2, 4)),
        _bank(10, 8, 32),
    ],
    mistakes=named(
        "The bend comes after W2; it belongs between W1 and W2, on the matches.",
        lambda x, W1, W2: relu(x @ W1 @ W2),
        lambda x, W1, W2: relu((x @ W1)[..., None] * W2).sum(axis=-2),
        "The bend comes before W1; it belongs between W1 and W2, on the matches.",
        lambda x, W1, W2: relu(x) @ W1 @ W2,
        "It bends twice, after W1 and after W2; what a bank adds may be negative.",
        lambda x, W1, W2: relu(relu(x @ W1) @ W2),
        "A matrix is transposed, or they have changed places: it is x @ W1, then @ W2.",
        lambda x, W1, W2: relu(x @ W2) @ W1,
        lambda x, W1, W2: relu(x @ W1.T) @ W2.T,
        lambda x, W1, W2: relu(x @ W2.T) @ W1.T,
        lambda x, W1, W2: relu(x @ W1.T) @ W2,
        lambda x, W1, W2: relu(x @ W1) @ W2.T,
        "Only the last unit is left; each adds its part to those before it, with +=.",
        When(lambda answer: answer(*_COUNTED) == 40),
        "A unit is left out: W1 has a column for each, W2 a row.",
        When(lambda answer: answer(*_COUNTED) in (10, 20, 30, 50, 60)),
        "np.max takes the largest of a column; np.maximum compares each match with 0.",
        lambda x, W1, W2: np.max(x @ W1, 0) @ W2,
        "A word gets another sum alone than among others: does one if decide for all?",
        When(lambda answer: mixes_rows(answer, _words, *_matrices)),
        "It stops at what the units fire; that still has to meet W2.",
        lambda x, W1, W2: relu(x @ W1),
        "It adds x as well; the bank gives the contribution alone.",
        lambda x, W1, W2: x + relu(x @ W1) @ W2,
        "A softmax stands where the bend belongs.",
        lambda x, W1, W2: lab.softmax(x @ W1) @ W2,
        *wrong_bends(
            lambda answer, m: answer(*rows([[m, 0]], [[1], [0]], [[1, 0]]))[0, 0]
        ),
        "It takes one word; x may hold many, one a row.",
        When(lambda answer: _on_one_word(answer) and not _on_many(answer)),
    ),
    over="the bank of the text and others, one row to ten, oblong and square, matches "
    "close to zero, with large numbers, and in single precision",
)

_SIGNS = [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [2, 3], [-2, 3], [2, -3], [-2, -3]]
_INPUTS = np.concatenate([_SIGNS, 20 * _some(60, 2)])


def _fits(W1, W2):
    return W1.ndim == 2 and len(W1) == 2 and W2.shape == (W1.shape[1], 2)


def _hits(W1, W2, wanted):
    given = lab.feed_forward(_INPUTS, W1, W2)
    return np.isclose(given, wanted, rtol=1e-3, atol=1e-3).all(axis=1)


def _gives(what):
    """Return a test of whether a bank gives that, whatever the two numbers are."""
    return lambda W1, W2: _fits(W1, W2) and _hits(W1, W2, what(_INPUTS)).all()


def _first_miss(W1, W2):
    x = _INPUTS[np.argmin(_hits(W1, W2, np.abs(_INPUTS)))]
    lines = [
        "It does not give the absolute value of each number.",
        *labelled("with", [f"x = {text_of(x)}"]),
        *labelled("yours", [text_of(lab.feed_forward(x, W1, W2))]),
        *labelled("wanted", [text_of(np.abs(x))]),
    ]
    return "\n".join(lines)


_right_bank = _gives(np.abs)

absolute_value = Value(
    takes="W1, W2",
    asks="a pair (W1, W2) of matrices",
    shape=None,
    right=_right_bank,
    mistakes=named(
        "W1 and W2 have changed places: W1 comes first in the pair.",
        lambda W1, W2: _right_bank(W2, W1),
        "Both are transposed: patterns are columns of W1, contributions rows of W2.",
        lambda W1, W2: _right_bank(W1.T, W2.T),
        "The shapes do not fit: for k units W1 is (2, k) and W2 is (k, 2).",
        lambda W1, W2: not _fits(W1, W2),
        "This bank gives nothing but zeros.",
        _gives(np.zeros_like),
        "It hands every number back with its sign: two units undo each other's bend.",
        _gives(np.array),
        "It is right on one side of zero and gives 0 on the other: no unit fires yet.",
        _gives(lab.relu),
        _gives(lambda x: lab.relu(-x)),
        "The absolute values are right, but they come out with a minus.",
        _gives(lambda x: -np.abs(x)),
        "The two numbers come out in each other's places.",
        _gives(lambda x: np.abs(x)[:, ::-1]),
        "The two numbers are mixed, or one of them gives 0; each has units of its own.",
        _gives(lambda x: np.abs(x) @ np.ones((2, 2))),
        _gives(lambda x: np.abs(x) * [1, 0]),
        _gives(lambda x: np.abs(x) * [0, 1]),
    ),
    hint=_first_miss,
    over=f"The bank gives |x| for {len(_INPUTS)} pairs of numbers, of all signs.",
)
