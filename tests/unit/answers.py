"""Answers of every kind a learner may hand in, for the tests of the checks.

`RIGHT` holds right answers in other forms than the lab's own. `WRONG` holds wrong ones,
each with words that its verdict must hold, or None for a kind that has no name.
`HOSTILE` holds what no check may fall over. None of the code is taken from the checks.
"""

import asyncio
import functools
import itertools
import math
import operator
import statistics
import sys
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np

from labsupport import block as lab
from labsupport import examples, stack

SQRT2, SQRT3 = math.sqrt(2), math.sqrt(3)


def relu_by_where(x):
    return np.where(x > 0, x, 0)


def softmax(scores, axis=-1):
    weights = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return weights / np.sum(weights, axis=axis, keepdims=True)


def attention(X, W_Q, W_K, W_V, W_O, mask, axis=-1, scale=None, hide=-1e9, merge=None):
    """Attention by einsum over a batch of heads, with a place for each mistake."""
    Q, K, V = (np.einsum("nd,hdk->hnk", X, W) for W in (W_Q, W_K, W_V))
    scores = np.einsum("hnk,hmk->hnm", Q, K)
    scores = scores / (np.sqrt(W_Q.shape[-1]) if scale is None else scale(W_Q, X))
    if mask is not None:
        scores = np.where(mask, scores, hide)
    gathered = np.einsum("hnm,hmk->hnk", softmax(scores, axis), V)
    if merge is None:
        return np.einsum("hnk,hkd->nd", gathered, W_O.reshape(*W_Q.shape[::2], -1))
    return merge(gathered) @ W_O


def norm(X, gamma, beta, eps=1e-5, axis=-1, ddof=0):
    mean = np.mean(X, axis=axis, keepdims=True)
    var = np.sum((X - mean) ** 2, axis=axis, keepdims=True)
    count = X.size if axis is None else X.shape[axis]
    with np.errstate(all="ignore"):
        return gamma * ((X - mean) / np.sqrt(var / (count - ddof) + eps)) + beta


def bank(x, W1, W2):
    return relu_by_where(x @ W1) @ W2


# Right, in other forms.


def fires_loop(pattern, evidence):
    total = 0
    for i in range(len(pattern)):
        total += pattern[i] * evidence[i]
    if total > 0:
        return total
    return 0


def fires_in_fractions(pattern, evidence):
    pairs = zip(pattern, evidence, strict=True)
    return max(sum(Fraction(float(p)) * Fraction(float(e)) for p, e in pairs), 0)


def bank_by_rows(x, W1, W2):
    return [
        [
            sum(
                max(sum(x[i][k] * W1[k][j] for k in range(len(W1))), 0) * W2[j][m]
                for j in range(len(W2))
            )
            for m in range(len(W2[0]))
        ]
        for i in range(len(x))
    ]


def bank_by_units(x, W1, W2):
    out = np.zeros_like(x)
    for pattern, contribution in zip(W1.T, W2, strict=True):
        out += np.outer(np.maximum(x @ pattern, 0), contribution)
    return out


def bank_row_by_row(x, W1, W2):
    return np.array([np.maximum(row @ W1, 0) @ W2 for row in x])


def bank_masked(x, W1, W2):
    matches = x @ W1
    matches[matches < 0] = 0
    return matches @ W2


def fold_loop(matrices):
    result = np.eye(len(matrices[0]))
    for W in matrices:
        result = result @ W
    return result


def fold_recursive(matrices):
    if len(matrices) == 1:
        return matrices[0]
    return matrices[0] @ fold_recursive(matrices[1:])


def fold_by_hand(matrices):
    A = [list(row) for row in matrices[0]]
    for B in matrices[1:]:
        columns = list(zip(*B, strict=True))
        A = [[sum(map(operator.mul, row, column)) for column in columns] for row in A]
    return A


def add_in_place_on_a_copy(z, storeys):
    z = z.copy()
    for W in storeys:
        z += z @ W
    return z


def add_recursive(z, storeys):
    return z if not storeys else add_recursive(z + z @ storeys[0], storeys[1:])


def add_by_notes(z, storeys):
    notes = []
    for W in storeys:
        notes.append((z + sum(notes)) @ W)
    return z + sum(notes)


def add_as_one_matrix(z, storeys):
    whole = np.eye(z.shape[-1])
    for W in storeys:
        whole = whole @ (np.eye(len(W)) + W)
    return z @ whole


def norm_by_rows(X, gamma, beta, eps):
    rows = [(r - r.mean()) / np.sqrt(r.var() + eps) * gamma + beta for r in X]
    return np.array(rows)


def norm_by_numbers(X, gamma, beta, eps):
    out = []
    for row in X:
        mean = sum(row) / len(row)
        var = sum((v - mean) ** 2 for v in row) / len(row)
        out.append(
            [
                g * (v - mean) / math.sqrt(var + eps) + b
                for v, g, b in zip(row, gamma, beta, strict=True)
            ]
        )
    return out


def norm_filling(X, gamma, beta, eps):
    out = np.empty_like(X)
    for i in range(X.shape[0]):
        var = statistics.pvariance(X[i].tolist())
        out[i] = (X[i] - statistics.fmean(X[i])) * (var + eps) ** -0.5
    return out * gamma + beta


def norm_by_moments(X, gamma, beta, eps):
    mean, square = X.mean(-1, keepdims=True), (X**2).mean(-1, keepdims=True)
    return gamma * (X - mean) / np.sqrt(square - mean**2 + eps) + beta


def norm_along_axis(X, gamma, beta, eps):
    def tidy(row):
        return (row - row.mean()) / np.sqrt(row.var() + eps)

    return np.apply_along_axis(tidy, -1, X) * gamma + beta


def mask_loop(n):
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, : i + 1] = True
    return mask


def block_by_hand(X, attn, ffn, ln_1, ln_2, mask):
    Z = X + attention(norm(X, *ln_1), *attn, mask)
    return Z + bank(norm(Z, *ln_2), *ffn)


def block_by_heads(X, attn, ffn, ln_1, ln_2, mask):
    W_Q, W_K, W_V, W_O = attn
    tidy = lab.layer_norm(X, *ln_1)
    heads = []
    for h in range(len(W_Q)):
        heads.append(lab.head(tidy, W_Q[h], W_K[h], W_V[h], mask))
    Z = X + np.hstack(heads) @ W_O
    return Z + lab.feed_forward(lab.layer_norm(Z, ln_2[0], ln_2[1]), ffn[0], ffn[1])


def block_additive_mask(X, attn, ffn, ln_1, ln_2, mask=None):
    W_Q, W_K, W_V, W_O = attn
    T = norm(X, *ln_1)
    heads = []
    for Q, K, V in zip(T @ W_Q, T @ W_K, T @ W_V, strict=True):
        scores = Q @ K.T / np.sqrt(K.shape[1])
        if mask is not None:
            scores = scores + np.where(mask, 0, -1e10)
        heads.append(softmax(scores) @ V)
    Z = X + np.concatenate(heads, axis=1) @ W_O
    return Z + bank(norm(Z, *ln_2), *ffn)


def in_float32(function):
    def narrow(value):
        if isinstance(value, list | tuple):
            return type(value)(map(narrow, value))
        wide = isinstance(value, np.ndarray) and value.dtype != bool
        return np.float32(value) if wide else value

    return lambda *case: function(*map(narrow, case))


def noisy(function):
    def answer(*case):
        print("working on", case)
        warnings.warn("nearly there", stacklevel=1)
        print("still working", file=sys.stderr)
        return function(*case)

    return answer


def into_one_array(function):
    """Return an answer that writes all its results of one shape into one array."""
    kept = {}

    def answer(*case):
        result = np.asarray(function(*case))
        out = kept.setdefault((result.shape, result.dtype), np.empty_like(result))
        out[...] = result
        return out

    return answer


class Tensor:
    """Another library's array: it only knows how to become one of NumPy's."""

    def __init__(self, value):
        self.value = np.asarray(value)

    def __array__(self, dtype=None, copy=None):
        return self.value.astype(dtype or self.value.dtype)


class Grid(np.ndarray):
    """An array of one's own kind."""


class Callable:
    """An answer that is an object and not a function."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *case):
        return self.function(*case)


def forms(function):
    """Return one right function in the forms that any of them may take."""
    return [
        function,
        functools.partial(function),
        Callable(function),
        noisy(function),
        into_one_array(function),
        lambda *case: np.asarray(function(*case)).tolist(),
        lambda *case: np.float32(function(*case)),
        lambda *case: np.asfortranarray(function(*case)),
        functools.wraps(function)(lambda *case: Tensor(function(*case))),
        lambda *case, kind=Grid: np.asarray(function(*case)).view(kind),
        in_float32(function),
    ]


W_ABS = (
    np.array([[1, -1, 0, 0], [0, 0, 1, -1]]),
    np.array([[1, 0], [1, 0], [0, 1], [0, 1]]),
)

RIGHT = {
    "fires": [
        *forms(lab.fires),
        fires_loop,
        fires_in_fractions,
        lambda p, e: max(p @ e, 0),
        lambda p, e: max(0.0, float(np.dot(p, e))),
        lambda p, e: np.maximum(np.einsum("i,i->", p, e), 0),
        lambda p, e: np.clip(np.inner(p, e), 0, None),
        lambda p, e: (p * e).sum() * ((p * e).sum() > 0),
        lambda p, e: sum(map(operator.mul, p, e)) if p @ e > 0 else 0,
        lambda p, e: np.maximum(p.reshape(1, -1) @ e.reshape(-1, 1), 0),
        lambda p, e: (p @ e + abs(p @ e)) / 2,
        lambda p, e: Decimal(float(max(p @ e, 0))),
        lambda p, e: np.array([max(p @ e, 0)]),
        lambda p, e: round(float(max(p @ e, 0)), 6),
        lambda *rows: max(rows[0] @ rows[1], 0),
        lambda pattern, evidence, bend=np.maximum: bend(pattern @ evidence, 0),
        lambda p, e: -min(-(p @ e), 0),
        lambda p, e: np.ma.array(max(p @ e, 0)),
    ],
    "pattern": [
        [1, -1],
        (1, -1),
        [1.0, -2],
        np.array([1, -1]),
        np.array([2.5, -2.5], dtype=np.float32),
        np.array([[1, -1]]),
        [0, -1],
        [-0.5, -0.8],
        [Fraction(1, 3), Fraction(-1, 3)],
        [Decimal("0.1"), Decimal("-0.1")],
        [1e-9, -1e-9],
        [1e12, -3e12],
        [0.1 + 0.2, -0.3],
        [np.float64(1), np.int64(-2)],
        examples.PATTERN,
        [7, -7.0001],
        Tensor([3, -4]),
    ],
    "feed_forward": [
        *forms(lab.feed_forward),
        bank_by_rows,
        bank_by_units,
        bank_row_by_row,
        bank_masked,
        bank,
        lambda x, W1, W2: np.maximum(x @ W1, 0) @ W2,
        lambda x, W1, W2: np.maximum(0, x.dot(W1)).dot(W2),
        lambda x, W1, W2: (W2.T @ np.clip(W1.T @ x.T, 0, None)).T,
        lambda x, W1, W2: np.einsum(
            "nk,kd->nd", relu_by_where(np.einsum("nd,dk->nk", x, W1)), W2
        ),
        lambda x, W1, W2: np.maximum(np.tensordot(x, W1, 1), 0) @ W2,
        lambda x, W1, W2: (x @ W1 * (x @ W1 > 0)) @ W2,
        lambda x, W1, W2: ((x @ W1 + np.abs(x @ W1)) / 2) @ W2,
        lambda x, W1, W2, bend=lab.relu: bend(x @ W1) @ W2,
        lambda x, W1, W2: np.matrix(np.maximum(x @ W1, 0)) * W2,
        lambda x, W1, W2: sum(
            np.maximum(x @ W1[:, [j]], 0) * W2[j] for j in range(len(W2))
        ),
        lambda x, W1, W2: (
            np.vectorize(lambda m: max(m, 0), otypes=[float])(x @ W1) @ W2
        ),
    ],
    "absolute_value": [
        W_ABS,
        list(W_ABS),
        tuple(W.tolist() for W in W_ABS),
        tuple(W.astype(np.float32) for W in W_ABS),
        (np.hstack([np.eye(2), -np.eye(2)]), np.vstack([np.eye(2), np.eye(2)])),
        (W_ABS[0] / 3, W_ABS[1] * 3.0),
        (W_ABS[0] * Fraction(1, 3), W_ABS[1] * Fraction(3)),
        (W_ABS[0][:, ::-1], W_ABS[1][::-1]),
        # |x| = 2 relu(x) - x, and -x = relu(-x) - relu(x)
        (
            np.array([[2, -1, 1, 0, 0, 0], [0, 0, 0, 2, -1, 1]]),
            np.array([[1, 0], [1, 0], [-1, 0], [0, 1], [0, 1], [0, -1]]),
        ),
        (np.hstack([W_ABS[0], [[5], [7]]]), np.vstack([W_ABS[1], [0, 0]])),
        (W_ABS[0] * 0.7071, W_ABS[1] * 1.4142),
        tuple(map(Tensor, W_ABS)),
    ],
    "fold": [
        *forms(lambda Ws: functools.reduce(np.matmul, Ws)),
        fold_loop,
        fold_recursive,
        fold_by_hand,
        np.linalg.multi_dot,
        lambda Ws: functools.reduce(lambda A, B: A @ B, Ws),
        lambda Ws: functools.reduce(operator.matmul, Ws, np.eye(Ws[0].shape[0])),
        lambda Ws: functools.reduce(np.dot, Ws),
        lambda Ws: functools.reduce(lambda A, B: B.T @ A, Ws[1:], Ws[0].T).T,
        lambda Ws: functools.reduce(lambda A, W: W @ A, reversed(Ws)),
        lambda Ws: functools.reduce(lambda A, B: np.einsum("ij,jk", A, B), Ws),
        lambda Ws: [*itertools.accumulate(Ws, np.matmul)][-1],
        lambda Ws: np.matrix(functools.reduce(np.matmul, Ws)),
        lambda Ws: np.stack([row @ fold_loop(Ws[1:]) for row in Ws[0]]),
    ],
    "not_linear": [
        ([0.8, -0.6], [-0.8, 0.6]),
        ([1, -1], [-1, 1]),
        [[1, 0], [-1, 0]],
        np.array([[1.0, 0], [0, 1]]),
        (np.array([1, 2]), np.array([-3, 1])),
        (np.float32([0.8, -0.6]), np.float32([-0.8, 0.6])),
        ([Fraction(1, 2), 0], [Fraction(-1, 3), 0]),
        ([1e6, 0], [-1e6, 0]),
        ([1e-6, 0], [-1e-6, 0]),
        ([[0.8, -0.6]], [[-0.8, 0.6]]),
        (examples.EVIDENCES[0], examples.EVIDENCES[1]),
        ([1, 0], [-1, 0.001]),
    ],
    "storeys_to_vanish": [
        39,
        39.0,
        np.int64(39),
        np.float32(39),
        np.array(39),
        np.array([39]),
        Fraction(39),
        Decimal(39),
        math.ceil(math.log(1e-6) / math.log(0.7)),
        int(np.ceil(-6 / np.log10(0.7))),
        next(n for n in itertools.count() if 0.7**n < 1e-6),
        np.argmax(0.7 ** np.arange(100) < 1e-6),
        len([n for n in range(100) if 0.7**n >= 1e-6]),
    ],
    "add_stack": [
        *forms(lambda z, Ws: functools.reduce(lambda z, W: z + z @ W, Ws, z)),
        add_in_place_on_a_copy,
        add_recursive,
        add_by_notes,
        add_as_one_matrix,
        lambda z, Ws: functools.reduce(lambda z, W: z @ (W + np.eye(len(W))), Ws, z),
        lambda z, Ws: np.array(
            [functools.reduce(lambda r, W: r + r @ W, Ws, row) for row in z]
        ),
        lambda z, Ws: functools.reduce(lambda z, W: z + (W.T @ z.T).T, Ws, z),
        lambda z, Ws: functools.reduce(
            lambda z, W: np.add(z, np.einsum("nd,de->ne", z, W)), np.array(Ws), z
        ),
    ],
    "layer_norm": [
        *forms(lab.layer_norm),
        norm,
        norm_by_rows,
        norm_by_numbers,
        norm_filling,
        norm_by_moments,
        norm_along_axis,
        lambda X, g, b, e: (
            (X - X.mean(-1)[:, None]) / np.sqrt(X.var(1)[:, None] + e) * g + b
        ),
        lambda X, g, b, e: (
            ((X.T - X.mean(axis=1)) / np.sqrt(X.var(axis=1) + e)).T * g + b
        ),
        lambda X, g, b, e: (
            g * (X - X.mean(-1, keepdims=True)) / (X.var(-1, keepdims=True) + e) ** 0.5
            + b
        ),
        lambda X, g, b, e: (
            g
            * (X - X.mean(-1, keepdims=True))
            / np.hypot(X.std(-1, keepdims=True), np.sqrt(e))
            + b
        ),
        lambda X, gamma, beta, eps=1e-5: norm(X, gamma, beta, eps),
        lambda X, g, b, e: np.vectorize(
            lambda row: (row - row.mean()) / np.sqrt(row.var() + e) * g + b,
            signature="(d)->(d)",
        )(X),
    ],
    "stretch": [
        SQRT3,
        np.sqrt(3),
        1.73,
        1.732,
        1.7320508,
        np.float32(SQRT3),
        np.array(SQRT3),
        np.array([SQRT3]),
        3**0.5,
        Fraction(173, 100),
        Fraction(26, 15),
        np.float16(SQRT3),
        Tensor(SQRT3),
        Decimal("1.732"),
        math.exp(math.log(3) / 2),
        np.float64("1.73"),
    ],
    "causal_mask": [
        *[form for i, form in enumerate(forms(lab.causal_mask)) if i != 6],
        mask_loop,
        lambda n: np.tril(np.ones((n, n), dtype=bool)),
        lambda n: np.tri(n).astype(bool),
        lambda n: np.tri(n) > 0,
        lambda n: np.arange(n)[:, None] >= np.arange(n),
        lambda n: ~np.triu(np.ones((n, n), dtype=bool), k=1),
        lambda n: np.array([[j <= i for j in range(n)] for i in range(n)]),
        lambda n: [[j <= i for j in range(n)] for i in range(n)],
        lambda n: [[True] * (i + 1) + [False] * (n - i - 1) for i in range(n)],
        lambda n: np.fromfunction(lambda i, j: i >= j, (n, n)),
        lambda n: np.greater_equal.outer(np.arange(n), np.arange(n)),
        lambda n: np.logical_not(np.triu(np.ones((n, n)), 1)),
    ],
    "block": [
        *forms(lab.block),
        block_by_hand,
        block_by_heads,
        block_additive_mask,
        lambda X, a, f, p, q, m: (
            (Z := X + lab.multi_head_attention(lab.layer_norm(X, *p), *a, mask=m))
            + lab.feed_forward(lab.layer_norm(Z, *q), *f)
        ),
        lambda X, *rest: block_by_hand(X, *rest),
        lambda X, attn, ffn, ln_1, ln_2, mask=None: lab.block(
            X, attn, ffn, ln_1, ln_2, mask=mask
        ),
        lambda X, *rest: X + (lab.block(X, *rest) - X),
    ],
    "count_parameters": [
        lambda d, d_ff: 4 * d * d + 2 * d * d_ff,
        lambda d, d_ff: 2 * d * (2 * d + d_ff),
        lambda d, d_ff: 4.0 * d**2 + 2.0 * d * d_ff,
        lambda d, d_ff: sum([d * d] * 4 + [d * d_ff] * 2),
        lambda d, d_ff: np.int64(4 * d * d + 2 * d * d_ff),
        lambda d_model, d_ff: sum(
            math.prod(s) for s in [(d_model, d_model)] * 4 + [(d_model, d_ff)] * 2
        ),
        lambda d, d_ff: (
            (
                n := lab.count_parameters(
                    lab.init_block(d, 1, np.random.default_rng(0), d_ff)
                )
            )["attention"]
            + n["feed_forward"]
        ),
        lambda *widths: 4 * widths[0] ** 2 + 2 * widths[0] * widths[1],
        lambda d, d_ff: Fraction(4 * d * d + 2 * d * d_ff),
    ],
}


# Wrong, and the words that name the mistake.


def changes_z(z, storeys):
    for W in storeys:
        z += z @ W
    return z


def eats_the_list(matrices):
    result = matrices.pop(0)
    while matrices:
        result = result @ matrices.pop(0)
    return result


def changes_X(X, gamma, beta, eps):
    X -= X.mean(axis=-1, keepdims=True)
    return X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) * gamma + beta


def changes_x(x, W1, W2):
    x *= 2
    return np.maximum(x @ W1, 0) @ W2 / 2


def block_in_place(X, attn, ffn, ln_1, ln_2, mask):
    X += attention(norm(X, *ln_1), *attn, mask)
    X += bank(norm(X, *ln_2), *ffn)
    return X


def returns_early(z, storeys):
    for W in storeys:
        z = z + z @ W
        return z
    return z


def block_with(attend=attention, think=bank, tidy=norm):
    def answer(X, attn, ffn, ln_1, ln_2, mask):
        Z = X + attend(tidy(X, *ln_1), *attn, mask)
        return Z + think(tidy(Z, *ln_2), *ffn)

    return answer


def attends(**part):
    return block_with(attend=functools.partial(attention, **part))


def fires_with_the_last_alone(pattern, evidence):
    match = 0
    for wanted, seen in zip(pattern, evidence, strict=True):
        match = wanted * seen
    return match if match > 0 else 0


def fires_clipped_inside(pattern, evidence):
    match = 0
    for i in range(len(pattern)):
        match += pattern[i] * evidence[i]
        match = max(match, 0)
    return match


def fires_from_one_on(pattern, evidence):
    match = 0
    for i in range(1, len(pattern)):
        match += pattern[i] * evidence[i]
    return max(match, 0)


def bank_of_the_last_unit(x, W1, W2):
    added = 0
    for pattern, contribution in zip(W1.T, W2, strict=True):
        added = np.maximum(x @ pattern, 0)[:, None] * contribution
    return added


def bank_with_one_if(x, W1, W2):
    added = np.zeros(x.shape)
    for pattern, contribution in zip(W1.T, W2, strict=True):
        match = x @ pattern
        if match > 0:
            added += np.outer(match, contribution)
    return added


def bank_of_as_many_units_as_numbers(x, W1, W2):
    added = np.zeros(x.shape)
    for j in range(len(W1)):
        added += np.outer(np.maximum(x @ W1[:, j], 0), W2[j])
    return added


def bank_of_one_word(x, W1, W2):
    added = np.zeros(len(W1))
    for j in range(len(W2)):
        match = sum(x[i] * W1[i, j] for i in range(len(W1)))
        added += max(match, 0) * W2[j]
    return added


def add_to_one_word(z, storeys):
    for W in storeys:
        z = [
            z[j] + sum(float(z[i]) * W[i, j] for i in range(len(z)))
            for j in range(len(z))
        ]
    return z


def norm_less_a_sum(X, gamma, beta, eps):
    centred = X - X.sum(axis=-1, keepdims=True)
    var = (centred**2).sum(axis=-1, keepdims=True) / X.shape[-1]
    return centred / np.sqrt(var + eps) * gamma + beta


def norm_of_squares(X, gamma, beta, eps):
    square = np.mean(X * X, axis=1, keepdims=True)
    return (
        gamma * (X - np.mean(X, axis=1, keepdims=True)) / np.sqrt(square + eps) + beta
    )


def norm_of_one_word(X, gamma, beta, eps):
    mean = sum(float(v) for v in X) / len(X)
    var = sum((v - mean) ** 2 for v in X) / len(X)
    return (X - mean) / math.sqrt(var + eps) * gamma + beta


def printed(p, e):
    print(max(p @ e, 0))


def gelu(m):
    erf = np.vectorize(math.erf, otypes=[float])
    return 0.5 * m * (1 + erf(m / SQRT2))


ADD, NORM, HEADS = "addition is missing", "tidied row is added back", "reshape"

WRONG = {
    "fires": [
        (lambda p, e: float(np.dot(p, e)), "bend is missing"),
        (lambda p, e: min(max(p @ e, 0), 1), "cut off at 1"),
        (lambda p, e: min(p @ e, 0), "smaller of match and 0"),
        (lambda p, e: p @ e > 0, "how strongly"),
        (
            lambda p, e: sum(max(a * b, 0) for a, b in zip(p, e, strict=True)),
            "on its own",
        ),
        (lambda p, e: [max(a * b, 0) for a, b in zip(p, e, strict=True)], "each pair"),
        (lambda p, e: abs(sum(p * e)), "abs"),
        (lambda p, e: max(p @ e, 0.01 * (p @ e)), "leaks"),
        (lambda p, e: gelu(p @ e), "smooth"),
        (lambda p, e: max(sum(p) + sum(e), 0), "added"),
        (printed, "prints its answer"),
        (lambda p, e: p, "hands back pattern"),
        (lambda p, e: e, "hands back evidence"),
        (lambda p, e: 0, "zeros"),
        (lambda p, e: float("nan"), "NaN"),
        (lambda p, e: str(max(p @ e, 0)), "text"),
        (lambda p, e: max(p @ e, 0) + 0j, "complex"),
        (lambda p: max(p, 0), "is called with"),
        (lambda p, e: 1.4, "same number"),
        (lambda p, e: max(p @ e, 0) ** 2, None),
        (lambda p, e: max(p[:2] @ e[:2], 0), None),
        (lambda p, e: max(p @ e, 0) + 1e-2, None),
        (lambda p, e: round(float(max(p @ e, 0))), None),
        (lambda p, e: None if p @ e < 0 else p @ e, "nothing"),
        (lambda p, e: -max(p @ e, 0), "not give"),
        (lambda p, e: max(-(p @ e), 0), "turned round"),
        (lambda p, e: max(p @ e / len(p), 0), "averaged"),
        (fires_with_the_last_alone, "Only the last product"),
        (fires_clipped_inside, "after the loop"),
        (fires_from_one_on, "left out"),
        (lambda p, e: np.outer(p, e), "shape"),
        (lambda p, e: max(p[0] * e[0] + p[1] * e[1], 0), "takes two numbers"),
        (lambda p, e: p @ e if p @ e > 0.1 else 0, "too late"),
        (lambda p, e: p @ e if p @ e > 0.01 else 0, None),
        (lambda p, e: p @ e if p @ e > 0.0002 else 0, None),
        (lambda p, e: p @ e if p @ e > -0.1 else 0, "leaks"),
        (lambda p, e: max(p @ e, 0.01), None),
        (lambda p, e: np.clip(p @ e, 0, 10), "cut off"),
        (lambda p, e: max(p @ e, 0) / np.linalg.norm(p), "divided by a length"),
        (lambda p, e: max(float(input("match?")), 0), "input()"),
        (lambda p, e: map(lambda a, b: max(a * b, 0), p, e), "list(...)"),
        (lambda p, e: {max(p @ e, 0)}, "list(...)"),
        (lambda p, e: (q for q in p), "generator"),
        (1.4, "function itself"),
        ("my_fires", "function itself"),
    ],
    "pattern": [
        ([0, 0], "all zeros"),
        ([0.8, -0.6], "first evidence itself"),
        ([-1, 1], "turned round"),
        ([1, 0], "third"),
        ([1, -0.5], "third"),
        ([3, 4], "third"),
        ([-3, -4], None),
        ([0.6, 0.8], None),
        ([1, -1, 0], "two numbers"),
        (1, "two numbers"),
        ([[1, -1], [1, -2]], "two numbers"),
        ([np.nan, -1], "NaN"),
        ([np.inf, -np.inf], "infinity"),
        ("1, -1", "two numbers"),
        ({1, -1}, "list(...)"),
        (map(int, ["1", "-1"]), "list(...)"),
        ([7, -6.9999], "third"),
        ([1j, -1], "complex"),
        (lambda evidence: evidence[0] > 0.6, "two numbers"),
        (["1", "-1"], "text"),
        ([1, None], None),
        ([0.5, 0.5], None),
        ([0, 1], None),
    ],
    "feed_forward": [
        (lambda x, W1, W2: (x @ W1) @ W2, "bend is missing"),
        (lambda x, W1, W2: relu_by_where((x @ W1) @ W2), "after W2"),
        (lambda x, W1, W2: relu_by_where(x) @ (W1 @ W2), "before W1"),
        (lambda x, W1, W2: relu_by_where(relu_by_where(x @ W1) @ W2), "twice"),
        (lambda x, W1, W2: relu_by_where(x @ W2) @ W1, "changed places"),
        (lambda x, W1, W2: np.abs(x @ W1) @ W2, "abs"),
        (lambda x, W1, W2: gelu(x @ W1) @ W2, "smooth"),
        (lambda x, W1, W2: np.maximum(x @ W1, 0.01 * (x @ W1)) @ W2, "leaks"),
        (lambda x, W1, W2: (x @ W1 > 0) @ W2, "how strongly"),
        (lambda x, W1, W2: np.minimum(np.maximum(x @ W1, 0), 1) @ W2, "cut off at 1"),
        (lambda x, W1, W2: np.minimum(x @ W1, 0) @ W2, "smaller"),
        (lambda x, W1, W2: np.max(x @ W1, 0) @ W2, "np.max"),
        (lambda x, W1, W2: x + bank(x, W1, W2), "adds x"),
        (lambda x, W1, W2: relu_by_where(x @ W1), "still has to meet W2"),
        (lambda x, W1, W2: softmax(x @ W1) @ W2, "softmax"),
        (lambda x, W1, W2: x, "hands back x"),
        (lambda x, W1, W2: 0 * x, "zeros"),
        (lambda x, W1, W2: x * np.nan, "NaN"),
        (changes_x, "in place"),
        (lambda x, W1, W2: print(bank(x, W1, W2)), "prints its answer"),
        (lambda x, W1, W2: bank(x[:1], W1, W2), None),
        (lambda x, W1, W2: bank(x, W1, W2)[0], None),
        (lambda x, W1, W2: bank(x, W1, W2).T, None),
        (lambda x, W1, W2: bank(x, W1, W2).sum(), None),
        (lambda x, W1, W2: bank(x, W1, -W2), None),
        (bank_of_the_last_unit, "with +="),
        (bank_with_one_if, "one if decide for all"),
        (lambda x, W1, W2: (x @ W1 * (x @ W1 > 0).any(axis=0)) @ W2, "one if"),
        (lambda x, W1, W2: relu_by_where(-x @ W1) @ W2, "turned round"),
        (lambda x, W1, W2: np.where(x @ W1 > 0.1, x @ W1, 0) @ W2, "too late"),
        (lambda x, W1, W2: (bank([row], W1, W2)[0] for row in x), "list(...)"),
        (bank_of_as_many_units_as_numbers, "A unit is left out"),
        (bank_of_one_word, "takes one word"),
        (lambda x, W1, W2: 3.0, "same number"),
        (lambda x, W1: x @ W1, "is called with"),
        (np.array([[1.4, 0.7]]), "function itself"),
    ],
    "absolute_value": [
        (W_ABS[::-1], "changed places"),
        ((W_ABS[0].T, W_ABS[1].T), "transposed"),
        ((np.eye(2), np.eye(2)), "on one side"),
        ((-np.eye(2), np.eye(2)), "on one side"),
        ((W_ABS[0], W_ABS[1] * [[1], [-1], [1], [-1]]), "with its sign"),
        ((W_ABS[0], -W_ABS[1]), "with a minus"),
        ((W_ABS[0], W_ABS[1][:, ::-1]), "each other's places"),
        ((W_ABS[0], np.ones((4, 2))), "mixed"),
        ((W_ABS[0], W_ABS[1] * [1, 0]), "one of them gives 0"),
        ((W_ABS[0], 0 * W_ABS[1]), "zeros"),
        ((0 * W_ABS[0], W_ABS[1]), "zeros"),
        ((W_ABS[0], W_ABS[1] * 2), None),
        ((W_ABS[0], np.eye(2)), "shapes"),
        ((W_ABS[0][:, :3], W_ABS[1][:3]), None),
        ((np.array([[1, -1]]), np.array([[1], [1]])), "shapes"),
        ((W_ABS[0],), "a pair"),
        (abs, "a pair"),
        ((*W_ABS, W_ABS[0]), "a pair"),
        ((W_ABS[0] * np.nan, W_ABS[1]), "NaN"),
        ((W_ABS[0], ...), "not finished"),
        (([[1, -1], [0]], W_ABS[1]), None),
        ((W_ABS[0] * 1j, W_ABS[1]), "complex"),
        ({"W1": W_ABS[0], "W2": W_ABS[1]}, "a pair"),
    ],
    "fold": [
        (lambda Ws: functools.reduce(np.matmul, list(reversed(Ws))), "reversed"),
        (lambda Ws: functools.reduce(np.add, Ws), "added"),
        (lambda Ws: functools.reduce(lambda A, W: A * W, Ws), "place by place"),
        (lambda Ws: fold_loop(Ws).T, "transposed"),
        (lambda Ws: functools.reduce(lambda A, W: relu_by_where(A) @ W, Ws), "bends"),
        (lambda Ws: Ws[0], "left out"),
        (lambda Ws: Ws[0] @ fold_loop(Ws), "used twice"),
        (lambda Ws: Ws, None),
        (lambda Ws: 0 * fold_loop(Ws), "zeros"),
        (lambda Ws: np.nan * fold_loop(Ws), "NaN"),
        (eats_the_list, "in place"),
        (lambda Ws: print(fold_loop(Ws)), "prints its answer"),
        (lambda Ws: np.mean([W.sum() for W in Ws]), None),
        (lambda W1, W2: W1 @ W2, "is called with"),
        (lambda Ws: fold_loop(Ws) * 0.99, None),
        (lambda Ws: [*itertools.accumulate(Ws, np.matmul)], None),
    ],
    "not_linear": [
        (([0, 0], [0, 0]), "One of the two is zero"),
        (([1, 2], [0, 0]), "One of the two is zero"),
        (([1, 2], [1, 2]), "the same"),
        (([1, 2], [2, 4]), "stretched"),
        (([0.1, 0.2], [0.3, 0.6]), "stretched"),
        (([1, 0], [1, 0.1]), "adding meets no bend"),
        (([0.8, -0.6], [0.8, -0.7]), "adding meets no bend"),
        (([1, 2], [3]), "two numbers each"),
        ([1, 2], "two numbers each"),
        ([1, 2, 3, 4], "a pair"),
        (([1, 2], [np.nan, 1]), "NaN"),
        (([1e300, 1], [1e300, 1]), "the same"),
        ((["a", "b"], [1, 2]), "text"),
        (1, "a pair"),
        (([1, 2, 3], [1, 2, 3]), "two numbers each"),
        (([1, 2], ...), "not finished"),
        (lambda: ([0.8, -0.6], [-0.8, 0.6]), "a pair"),
        (([1j, 2], [1, 2]), "complex"),
        (([1, 0], [1 + 1e-12, 1e-14]), None),
    ],
    "storeys_to_vanish": [
        (38, "too few"),
        (30, "leaves 0.000023,"),
        (40, "not the first"),
        (100, "not the first"),
        (24, "too few"),
        (1, "leaves 0.7,"),
        (6, "leaves 0.12,"),
        (0, "leaves 1,"),
        (38, "leaves 0.0000013,"),
        (20, "thousandth"),
        (59, "billionth"),
        (-39, "quotient is positive"),
        (-38.7, "negative"),
        (38.734, "whole"),
        (38.73483, "whole"),
        (True, None),
        ("39", "text"),
        (float("nan"), "NaN"),
        (math.inf, "infinity"),
        (39j, "complex"),
        ([38, 39], "one number"),
        (10**400, "too large"),
        (lambda: 39, "one number"),
    ],
    "add_stack": [
        (changes_z, "in place"),
        (lambda z, Ws: functools.reduce(np.matmul, Ws, z), "replaces"),
        (
            lambda z, Ws: functools.reduce(lambda s, W: s @ W + z, Ws, z),
            "not the first z",
        ),
        (lambda z, Ws: add_recursive(z, Ws) - z, "without the z"),
        (lambda z, Ws: add_recursive(z, Ws[:-1]) @ Ws[-1], "last storey's note"),
        (lambda z, Ws: add_recursive(z, Ws[::-1]), "reverse"),
        (returns_early, "stops after the first"),
        (lambda z, Ws: add_recursive(z, [W.T for W in Ws]), "a matrix product"),
        (
            lambda z, Ws: functools.reduce(
                lambda z, W: z + relu_by_where(z @ W), Ws, z
            ),
            "as it is",
        ),
        (lambda z, Ws: z, "hands back z"),
        (lambda z, Ws: 0 * z, "zeros"),
        (lambda z, Ws: z + np.nan, "NaN"),
        (lambda z, Ws: print(add_recursive(z, Ws)), "prints its answer"),
        (lambda z, Ws: functools.reduce(lambda z, W: 2 * z + z @ W, Ws, z), "twice"),
        (add_to_one_word, "takes one word"),
        (lambda z, Ws: functools.reduce(lambda z, W: z - z @ W, Ws, z), None),
        (lambda z, Ws: functools.reduce(lambda z, W: (z + z @ W) / 2, Ws, z), None),
        (lambda z, Ws: [*itertools.accumulate([z, *Ws], lambda z, W: z + z @ W)], None),
        (lambda z, Ws: stack.run_stack(z, np.array(Ws), "add"), "shape"),
        (lambda z, Ws: add_recursive(z, Ws)[0], None),
    ],
    "layer_norm": [
        (lambda X, g, b, e: norm(X, g, b, e, axis=0), "over the positions"),
        (lambda X, g, b, e: norm(X, g, b, e, axis=None), "whole array"),
        (lambda X, g, b, e: norm(X, g, b, -e), None),
        (
            lambda X, g, b, e: (X - X.mean(-1)) / np.sqrt(X.var(-1) + e) * g + b,
            "keepdims",
        ),
        (lambda X, g, b, e: norm(X, g, b, e, ddof=1), "n - 1"),
        (
            lambda X, g, b, e: (
                g * (X - X.mean(-1, keepdims=True)) / (X.std(-1, keepdims=True) + e) + b
            ),
            "outside",
        ),
        (
            lambda X, g, b, e: (
                g
                * (X - X.mean(-1, keepdims=True))
                / (X.std(-1, keepdims=True, ddof=1) + e)
                + b
            ),
            "Two things",
        ),
        (lambda X, g, b, e: norm(X, g, b, 0), "eps is left out"),
        (lambda X, g, b, e: norm(X, g, b, 1e-5), "a fixed number"),
        (norm_less_a_sum, "where an average belongs"),
        (lambda X, g, b, e: norm(X, 1, b, e), "gamma is left out"),
        (lambda X, g, b, e: norm(X, g, 0, e), "beta is left out"),
        (lambda X, g, b, e: norm(X, 1, 0, e), "gamma and beta are left out"),
        (lambda X, g, b, e: norm(X, b, g, e), "changed places"),
        (lambda X, g, b, e: g * (norm(X, 1, 0, e) + b), "then gamma"),
        (
            lambda X, g, b, e: (
                g * (X - X.mean(-1, keepdims=True)) / (X.var(-1, keepdims=True) + e) + b
            ),
            "root is missing",
        ),
        (
            lambda X, g, b, e: g * (X - X.mean(-1, keepdims=True)) + b,
            "spread is missing",
        ),
        (
            lambda X, g, b, e: (
                g * X / np.sqrt(np.mean(X * X, -1, keepdims=True) + e) + b
            ),
            "mean stays",
        ),
        (norm_of_squares, "measured from zero"),
        (norm_of_one_word, "takes one word"),
        (changes_X, "in place"),
        (lambda X, g, b, e: X, "hands back X"),
        (lambda X, g, b, e: 0 * X, "zeros"),
        (lambda X, g, b, e: X / 0, None),
        (lambda X, g, b, e: print(norm(X, g, b, e)), "prints its answer"),
        (lambda X, g, b: norm(X, g, b), "is called with"),
        (lambda X, g, b, e: norm(X, g, b, e)[0], None),
        (lambda X, g, b, e: norm(X, g, -b, e), None),
        (lambda X, g, b, e: norm(X, 1 / g, b, e), None),
        (lambda X, g, b, e: softmax(X) * g + b, None),
        (
            lambda X, g, b, e: (
                (X - X.min(-1, keepdims=True)) / (np.ptp(X, -1, keepdims=True) + e) * g
                + b
            ),
            "largest less smallest",
        ),
    ],
    "stretch": [
        (3, "stretch of the scores"),
        (np.sqrt(9), "stretch of the scores"),
        (9, "squared"),
        (1.5, "half"),
        (1.6, "0.96 / 0.60"),
        (0.96 / 0.6, "0.96 / 0.60"),
        (1 / SQRT3, "smaller"),
        (0.6, "smaller"),
        (-SQRT3, "negative"),
        (0, "negative"),
        (2, "mouse gets"),
        (1, "mouse gets"),
        (1.8, "mouse gets"),
        (1.65, "mouse gets"),
        (1.75, "mouse gets"),
        (4, "mouse gets"),
        (1e200, "mouse gets"),
        (1.73j, "complex"),
        ("1.73", "text"),
        ([1.73, 1.73], "one number"),
        (float("nan"), "NaN"),
        (True, "mouse gets"),
        (lambda: SQRT3, "one number"),
    ],
    "causal_mask": [
        (lambda n: np.triu(np.ones((n, n), dtype=bool)), "upside down"),
        (lambda n: np.triu(np.ones((n, n), dtype=bool), k=1), "True and False"),
        (lambda n: np.arange(n)[:, None] > np.arange(n), "diagonal is missing"),
        (lambda n: np.full((n, n), True), "hides nothing"),
        (lambda n: np.zeros((n, n), dtype=bool), "zeros"),
        (lambda n: np.eye(n) > 0, "alone"),
        (lambda n: np.tril(np.ones((n, n), dtype=bool), k=1), "next one"),
        (lambda n: np.tril(np.ones((n, n))), "1 and 0"),
        (lambda n: np.triu(np.full((n, n), -np.inf), k=1), "add to the scores"),
        (lambda n: np.tri(n, dtype=bool)[None], "shape"),
        (lambda n: np.tri(n, dtype=bool)[0], "shape"),
        (lambda n: n, None),
        (lambda n: np.full((n, n), np.nan), None),
        (lambda n: print(np.tri(n, dtype=bool)), "prints its answer"),
        (lambda n: np.tri(3, dtype=bool), None),
        (lambda n: np.tri(n + 1, dtype=bool), "shape"),
        (lambda n: [["x"] * n] * n, "text"),
        (lambda n: np.triu(np.ones((n, n), dtype=int)), None),
        (lambda n: True, "same number"),
        (lambda: np.tri(3), "is called with"),
    ],
    "block": [
        (block_with(tidy=lambda X, g, b: norm(X, g, b, ddof=1)), "both halves"),
        (block_with(think=lambda x, W1, W2: gelu(x @ W1) @ W2), "in the second"),
        (attends(hide=0), "in the first"),
        (
            lambda X, *rest: lab.block(X, *rest[:4], np.tri(len(X), dtype=bool)),
            "built in",
        ),
        (
            lambda X, *rest: lab.block(
                X, *rest[:4], None if rest[4] is None else np.tri(len(X), dtype=bool)
            ),
            "built in",
        ),
        (
            lambda X, a, f, p, q, m: (
                (T := norm(X, *p))
                + attention(T, *a, m)
                + bank(norm(T + attention(T, *a, m), *q), *f)
            ),
            NORM,
        ),
        (
            lambda X, a, f, p, q, m: norm(
                (Z := norm(X + attention(X, *a, m), *p)) + bank(Z, *f), *q
            ),
            "post-norm",
        ),
        (
            lambda X, a, f, p, q, m: (
                (Z := X + attention(norm(X, *p), *a, m)) + bank(Z, *f)
            ),
            "reads the row itself",
        ),
        (
            lambda X, a, f, p, q, m: (
                X + attention(norm(X, *p), *a, m) + bank(norm(X, *q), *f)
            ),
            "reads X;",
        ),
        (
            lambda X, a, f, p, q, m: block_by_hand(X, a, f, p, p, m),
            "ln_1 is the attention",
        ),
        (
            lambda X, a, f, p, q, m: (
                (Z := attention(norm(X, *p), *a, m)) + bank(norm(Z, *q), *f)
            ),
            "first " + ADD,
        ),
        (
            lambda X, a, f, p, q, m: bank(
                norm(X + attention(norm(X, *p), *a, m), *q), *f
            ),
            "second " + ADD,
        ),
        (
            lambda X, a, f, p, q, m: bank(norm(attention(norm(X, *p), *a, m), *q), *f),
            "Both additions",
        ),
        (
            lambda X, a, f, p, q, m: (
                X + bank(norm(X + attention(norm(X, *p), *a, m), *q), *f)
            ),
            "is lost",
        ),
        (lambda X, a, f, p, q, m: X + bank(norm(X, *q), *f), "attention is left out"),
        (
            lambda X, a, f, p, q, m: X + attention(norm(X, *p), *a, m),
            "feed-forward layer is left out",
        ),
        (
            lambda X, a, f, p, q, m: (
                (Z := X + bank(norm(X, *p), *f)) + attention(norm(Z, *q), *a, m)
            ),
            "sublayers have changed places",
        ),
        (lambda X, a, f, p, q, m: block_by_hand(X, a, f, p, q, None), "not used"),
        (
            lambda X, a, f, p, q, m: block_by_hand(
                X, a, f, p, q, m if m is None else ~m
            ),
            "upside down",
        ),
        (attends(axis=-2), "wrong axis"),
        (attends(axis=0), None),
        (attends(scale=lambda W, X: 1), "sqrt(d_k)"),
        (attends(merge=lambda h: h.reshape(h.shape[1], -1)), HEADS),
        (attends(merge=lambda h: np.concatenate(list(h[::-1]), axis=-1)), None),
        (
            lambda X, a, f, p, q, m: (
                X + (Z := X + attention(norm(X, *p), *a, m)) + bank(norm(Z, *q), *f)
            ),
            "X is added twice",
        ),
        (lambda X, *rest: norm(lab.block(X, *rest), 1, 0), "last norm"),
        (lambda X, *rest: lab.block(lab.block(X, *rest), *rest), None),
        (lambda X, *rest: X, "hands back X"),
        (lambda X, *rest: 0 * X, "zeros"),
        (lambda X, *rest: X * np.nan, "NaN"),
        (lambda X, *rest: lab.block(X, *rest)[0], None),
        (lambda X, *rest: lab.block(X, *rest) - X, None),
        (lambda X, *rest: print(lab.block(X, *rest)), "prints its answer"),
        (block_in_place, "in place"),
        (lambda X, a, f, p, q: lab.block(X, a, f, p, q), "is called with"),
        (
            lambda X, a, f, p, q, m: X + bank(lab.layer_norm(X, q), *f),
            "a star hands on",
        ),
        (block_with(attend=lambda X, *a: lab.multi_head_attention(X, a)), "a star"),
        (block_with(think=lambda x, *ffn: lab.feed_forward(x, ffn)), "a star"),
        (lambda X, a, f, p, q, m: undefined(X), "NameError"),  # noqa: F821
    ],
    "count_parameters": [
        (lambda d, f: 3 * d * d + 2 * d * f, "four matrices"),
        (lambda d, f: 4 * d * d + d * f, "W1 and W2"),
        (lambda d, f: d * d + d * f, "Too few of both"),
        (lambda d, f: 4 * d**2, "Only the attention"),
        (lambda d, f: d * f * 2, "Only the feed-forward"),
        (lambda d, f: 4 * d * d + d * f + f + f * d + d, "Biases"),
        (lambda d, f: 4 * d * d + 2 * d * f + 4 * d, "norms"),
        (lambda d, f: 3 * 4 * d * d + 2 * d * f, "heads"),
        (lambda d, f: 12 * d * d, "4 * d_model"),
        (lambda d, f: 972, "same number"),
        (lambda d, f: 4 * d + 2 * f, None),
        (lambda d, f: d * f, None),
        (lambda d, f: (4 * d * d + 2 * d * f) / 2, None),
        (lambda d, f: str(4 * d * d + 2 * d * f), "text"),
        (lambda d, f: (4 * d * d, 2 * d * f), None),
        (lambda d, f: {"total": 4 * d * d + 2 * d * f}, "a dict"),
        (lambda d, f: object(), "an object"),
        (lambda d, f: print(4 * d * d + 2 * d * f), "prints its answer"),
        (lambda d, f: 4 * d * d + 2 * d * f + 1, None),
        (lambda d, f: 10**400, "too large"),
        (lambda d, f: float("inf"), "infinity"),
        (972, "function itself"),
    ],
}


# Not started, in all the forms a stub has.


def only_words(*case):
    """Return the answer."""


def raises(*case):
    raise NotImplementedError


def computes_with_dots(*case):
    return case[0] + ...


STUBS = [None, ..., NotImplemented, NotImplementedError, (..., ...), [None, None]]
STUB_FUNCTIONS = [
    only_words,
    raises,
    computes_with_dots,
    lambda *case: ...,
    lambda *case: NotImplemented,
    lambda *case: NotImplementedError(),
    lambda *case: (..., ...),
]


# What no check may fall over.


class Liar:
    """Says it has a shape, a length and items, and has none that end."""

    shape, ndim, size, dtype = (2,), 1, 2, float
    asked = 0

    def __len__(self):
        return 10**9

    def __getitem__(self, index):
        Liar.asked += 1
        if Liar.asked > 1000:
            raise KeyboardInterrupt
        return 0.0


class BadArray:
    def __array__(self, *args, **kwargs):
        raise ValueError("no array\nhere")


class WrongArray:
    shape = (2, 2)

    def __array__(self, *args, **kwargs):
        return np.zeros((7, 7))


class ExitingArray:
    def __array__(self, *args, **kwargs):
        sys.exit(3)


class Stubborn:
    """Everything that can be asked of it raises."""

    def __getattribute__(self, name):
        raise RuntimeError("nothing to see")

    def __eq__(self, other):
        raise RuntimeError("not equal, not unequal")

    def __bool__(self):
        raise RuntimeError("neither")

    def __repr__(self):
        raise RuntimeError("no words")

    __hash__ = None


class OddArray(np.ndarray):
    shape = property(lambda self: (99,))

    def __eq__(self, other):
        raise RuntimeError("compare me not")

    __hash__ = None


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class Chatty:
    def __float__(self):
        print("I am a float")
        return 1.0


def without_end(*case):
    return without_end(*case)


def raising(error):
    def answer(*case):
        raise error

    return answer


def generator(*case):
    yield from case


async def later(*case):
    return 1.0


def circular(*case):
    ring = []
    ring.append(ring)
    return ring


def reshapes(*case):
    for value in case:
        if isinstance(value, np.ndarray):
            value.resize(value.size + 1, refcheck=False)
    return 1.0


def empties(*case):
    for value in case:
        if isinstance(value, list):
            value.clear()
        elif isinstance(value, np.ndarray):
            value[...] = np.nan
    return 0.0


def turns_warnings_into_errors(*case):
    warnings.simplefilter("error")
    np.seterr(all="raise")
    warnings.warn("now", stacklevel=1)


VALUES = [
    [[1, 2], [3]],
    [[1, 2], 3],
    [[]],
    [],
    (),
    {},
    set(),
    "",
    "text",
    b"bytes",
    10**400,
    -(10**400),
    1j,
    np.nan,
    [np.nan, np.nan],
    np.inf,
    object(),
    type,
    print,
    range(2),
    map(abs, [1]),
    iter([1]),
    Liar(),
    BadArray(),
    WrongArray(),
    ExitingArray(),
    Stubborn(),
    Chatty(),
    np.zeros((2, 2)).view(OddArray),
    np.array(None),
    np.array([1, "a"], dtype=object),
    np.array(["a"]),
    np.datetime64("2020-01-01"),
    np.zeros(0),
    np.broadcast_to(1.0, (10**9,)),
    np.ma.masked,
    memoryview(b"ab"),
    Fraction(1, 3),
    Decimal("NaN"),
    ValueError("handed back"),
    [..., 1],
    ([1, 2], Stubborn()),
    (Liar(), Liar()),
    slice(1),
    np,
]

HOSTILE_FUNCTIONS = [
    without_end,
    *(raising(e) for e in (ValueError("no\nway"), SystemExit(1), Unspeakable())),
    *(raising(e) for e in (MemoryError(), StopIteration(), GeneratorExit(), Warning())),
    *(
        raising(e)
        for e in (BaseException(), AssertionError(), asyncio.CancelledError())
    ),
    generator,
    later,
    circular,
    reshapes,
    empties,
    turns_warnings_into_errors,
    noisy(lambda *case: "text"),
    lambda: None,
    lambda *case, required: None,
    type,
    object,
    dict,
    Callable(None),
    *((lambda *case, value=value: value) for value in VALUES),
]
