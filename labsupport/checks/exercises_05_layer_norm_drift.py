"""What notebook 05 asks for: layer norm, and how far the stream must grow."""

from functools import partial

import numpy as np

import labsupport.block as lab
from labsupport.checks.cases import drawn, many, mixes_rows, right_on, single
from labsupport.checks.judge import Function, Value, When, named
from labsupport.examples import CHASED_READS


def _column(reduce, **options):
    """Return what takes each row's mean, or the like, as a column."""
    return partial(reduce, axis=-1, keepdims=True, **options)


_mean, _sum, _least, _range = map(_column, (np.mean, np.sum, np.min, np.ptp))
_std, _std_1 = _column(np.std), _column(np.std, ddof=1)


def _about(centre):
    """Return the spread about a centre."""
    return lambda X, eps: np.sqrt(_mean((X - centre(X)) ** 2) + eps)


def _norm(centre=_mean, spread=_about(_mean)):  # noqa: B008
    """Return layer norm with a centre taken away, divided by a spread."""
    return lambda X, gamma, beta, eps: (X - centre(X)) / spread(X, eps) * gamma + beta


_some = drawn(25)


def _rows(eps, *cases):
    return [(*case, eps) for case in many(*cases)]


def _drawn(n, d, eps=1e-5, size=1.0):
    return _some(n, d) * size, _some(d) + 2, _some(d), eps


_words, *_rest = _drawn(4, 4)
_on_one_word = right_on(lab.layer_norm, *((word, *_rest) for word in _words))
_on_many = right_on(lab.layer_norm, (_words, *_rest))
_on_plain = right_on(lab.layer_norm, (_words, np.ones(4), np.zeros(4), 0.1))
_on_a_batch = right_on(lab.layer_norm, (_some(2, 3, 4), *_rest))

layer_norm = Function(
    takes="X, gamma, beta, eps",
    right=lab.layer_norm,
    cases=[
        *_rows(1e-5, ([[1, 2, 3, 4]], [1] * 4, [0] * 4)),
        *_rows(1e-5, ([[1, 2], [3, 7]], [1, 1], [0, 0]), ([[3], [4]], [2], [1])),
        *_rows(1.0, ([[0, 2], [0, 4]], [1, 1], [0, 0])),
        *_rows(0.5, ([[1, 3], [2, 6]], [2, -3], [10, 20])),
        *_rows(0.0, ([[1, 3], [2, 6]], [2, 0], [1, 2])),
        *_rows(1e-5, ([[0.001, 0.002, 0.003, 0.004]], [1] * 4, [0] * 4)),
        *_rows(1e-5, ([[5, 5, 5], [1, 2, 6]], [1, 2, 3], [1, 2, 3])),
        *_rows(1e-5, ([[5, 5, 5.01], [5, 5.001, 5]], [1, 2, 3], [1, 2, 3])),
        _drawn(3, 3, eps=0.1),
        single(_drawn(3, 4)),
        *_rows(1e-5, ([[1001, 1002, 1003, 1004]], [1] * 4, [0] * 4)),
        _drawn(2, 5, size=1e6),
        _drawn(10, 32),
    ],
    mistakes=named(
        "The variance is divided by n - 1; layer norm divides by n.",
        _norm(spread=lambda X, eps: np.sqrt(_std_1(X) ** 2 + eps)),
        _norm(spread=lambda X, eps: _std_1(X)),
        "eps stands outside the root; add it to the variance, inside.",
        _norm(spread=lambda X, eps: _std(X) + eps),
        _norm(spread=lambda X, eps: _std(X) + 1e-5),
        "Two things: the variance is divided by n - 1, and eps is outside the root.",
        _norm(spread=lambda X, eps: _std_1(X) + eps),
        "eps is left out: add it to the variance, inside the root.",
        _norm(spread=lambda X, eps: _std(X)),
        "eps is not the one that is handed in, but a fixed number.",
        _norm(spread=lambda X, eps: np.sqrt(_std(X) ** 2 + 1e-5)),
        _norm(spread=lambda X, eps: np.sqrt(_std(X) ** 2 + 1e-6)),
        _norm(spread=lambda X, eps: np.sqrt(_std(X) ** 2 + 1e-8)),
        "The root is missing: divide by the root of the variance.",
        _norm(spread=lambda X, eps: _std(X) ** 2 + eps),
        "A sum stands where an average belongs: mean and variance are divided by n.",
        _norm(spread=lambda X, eps: np.sqrt(_std(X) ** 2 * X.shape[-1] + eps)),
        _norm(spread=lambda X, eps: _std(X) * X.shape[-1] ** 0.5),
        _norm(_sum),
        _norm(_sum, _about(_sum)),
        "The spread is measured from zero; take the mean away before you square.",
        _norm(spread=_about(lambda X: 0)),
        "The spread is missing: the mean is taken away and nothing is divided.",
        _norm(spread=lambda X, eps: 1),
        "The spread is not largest less smallest; it is the root of the variance.",
        _norm(spread=lambda X, eps: _range(X) + eps),
        _norm(spread=lambda X, eps: _range(X)),
        _norm(_least, lambda X, eps: _range(X) + eps),
        _norm(_least, lambda X, eps: _range(X)),
        "The mean stays in: take it away before you divide.",
        _norm(lambda X: 0),
        _norm(lambda X: 0, _about(lambda X: 0)),
        "gamma and beta are left out.",
        lambda X, gamma, beta, eps: lab.layer_norm(X, 1, 0, eps),
        "gamma is left out: multiply by it.",
        lambda X, gamma, beta, eps: lab.layer_norm(X, 1, beta, eps),
        "beta is left out: add it at the end.",
        lambda X, gamma, beta, eps: lab.layer_norm(X, gamma, 0, eps),
        "gamma and beta have changed places: gamma multiplies, beta is added.",
        lambda X, gamma, beta, eps: lab.layer_norm(X, beta, gamma, eps),
        "Mean and spread are right; then gamma multiplies each column, beta is added.",
        When(lambda answer: _on_plain(answer) and not _on_many(answer)),
        "Mean and spread are not each row's own, but over the positions (axis=0), over "
        "the whole array, or over an axis that is lost: axis=-1 and keepdims=True.",
        When(lambda answer: mixes_rows(answer, _words, *_rest)),
        "It takes one word; X may hold many, one a row.",
        When(lambda answer: _on_one_word(answer) and not _on_many(answer)),
    ),
    over="one row to ten, eps large, small and 0, rows without spread or with hardly "
    "any, rows far from zero, very large ones, and single precision",
    remarks=named(
        "(One sentence at a time: not yet for a batch.)",
        When(lambda answer: not _on_a_batch(answer)),
    ),
)


def _mouse(stretch):
    """Return what *chased* reads of *mouse* when the stream is that much larger."""
    return lab.softmax(min(stretch, 1e3) ** 2 * np.log(CHASED_READS))[-1]


stretch = Value(
    takes="s",
    asks="one number",
    shape=(),
    right=lambda s: s > 0 and abs(_mouse(s) - 0.96) < 0.0052,
    mistakes=named(
        "A stream cannot grow a negative number of times.",
        lambda s: s <= 0,
        "That is the stretch of the scores. The stream is in a score twice, as query "
        "and as key: how large is its own share?",
        lambda s: abs(s - 3) < 0.03,
        "That is the stretch of the scores, squared. The scores grow with a square, "
        "not the stream.",
        lambda s: abs(s - 9) < 0.1,
        "That is half the stretch of the scores; query and key each bring the growth "
        "in, and they multiply.",
        lambda s: abs(s - 1.5) < 0.01,
        "That is 0.96 / 0.60, but between stream and weights stand the scores and a "
        "softmax.",
        lambda s: abs(s - 1.6) < 0.01,
        "That makes the stream smaller, and the weights more alike.",
        lambda s: s < 1,
    ),
    hint=lambda s: f"With so much growth mouse gets {_mouse(s):.2f}; wanted is 0.96.",
    over="The scores grow with the square of the stream, and mouse gets 0.96.",
)
