"""What notebook 06 asks for: a causal mask, the block, and its count of weights."""

from typing import Any

import numpy as np

import labsupport.block as lab
from labsupport.checks.cases import drawn, right_on, single
from labsupport.checks.judge import Function, When, named


def _is_additive(mask):
    seen = np.tri(len(mask), dtype=bool)
    return not mask[seen].any() and (mask[~seen] < -1e3).all()


causal_mask = Function(
    takes="n",
    right=lab.causal_mask,
    cases=[(2,), (1,), (3,), (5,), (16,)],
    mistakes=named(
        "It is upside down: a word must read itself and what came before, not after.",
        lambda n: np.tri(n, dtype=bool).T,
        "True and False have changed places: True must stand where a word may read.",
        lambda n: ~np.tri(n, dtype=bool),
        "The diagonal is missing: a word may read itself, too.",
        lambda n: np.tri(n, k=-1, dtype=bool),
        "It hides nothing: what comes after a word must be False.",
        lambda n: np.ones((n, n), dtype=bool),
        "Each word reads itself alone; what came before must be True, too.",
        lambda n: np.eye(n, dtype=bool),
        "It lets each word read the next one, too.",
        lambda n: np.tri(n, k=1, dtype=bool),
        "It holds 1 and 0; wanted are True and False (dtype=bool).",
        lambda n: np.tri(n),
        "This is a mask to add to the scores; wanted are True (may be read) and False.",
        When(lambda answer: _is_additive(answer(5))),
    ),
    over="one word to 16",
)


# The block B: A is attention, F the feed-forward layer and N the norm.
A: Any = lab.multi_head_attention
F: Any = lab.feed_forward
N: Any = lab.layer_norm
B: Any = lab.block

_some = drawn(25)


def _case(n, d, h, d_ff, mask=None, size=1.0):
    attn = (*(_some(h, d, d // h) / 2 for _ in "QKV"), _some(d, d))
    norms = [(_some(d) + 1, _some(d)) for _ in range(2)]
    return (_some(n, d) * size, attn, (_some(d, d_ff), _some(d_ff, d)), *norms, mask)


def _causal(case):
    return lab.causal_mask(len(case[0]))


def _silent(case, *groups):
    """Return a case with the weights of those groups, 1 or 2, put to zero."""
    parts = enumerate(case)
    return tuple(tuple(0 * W for W in p) if i in groups else p for i, p in parts)


def _with_plain_norms(case):
    plain = np.ones_like(case[3][0]), np.zeros_like(case[3][1])
    return *case[:3], plain, plain, case[5]


_ODD = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]], dtype=bool)
_SMALL, _PLAIN, _FLAT = (
    _case(1, 2, 1, 1),
    _case(3, 4, 2, 3, _ODD),
    _case(2, 3, 1, 2, size=0.003),
)
_plain_norms = right_on(
    lab.block, *(_with_plain_norms(case) for case in (_PLAIN, _FLAT))
)
_first_half = right_on(lab.block, *(_silent(case, 2) for case in (_PLAIN, _FLAT)))
_second_half = right_on(lab.block, *(_silent(case, 1) for case in (_PLAIN, _FLAT)))
_additions = right_on(lab.block, _silent(_PLAIN, 1, 2))
_on_a_batch = right_on(lab.block, (_some(2, 3, 4), *_PLAIN[1:]))


def _wired(first=lambda X, S: (X, S), second=lambda X, S, Z, T: (Z, T(Z))):
    """Return the block with other wires: what each half adds to, and what it reads.

    S is X tidied by ln_1, Z what the first half gives, and T tidies by ln_2.
    """

    def wrong(X, attn, ffn, ln_1, ln_2, mask):
        S = N(X, *ln_1)
        base, read = first(X, S)
        Z = base + A(read, *attn, mask)
        base, read = second(X, S, Z, lambda rows: N(rows, *ln_2))
        return base + F(read, *ffn)

    return wrong


def _with(**part):
    """Return the block with one part of its attention exchanged."""

    def wrong(X, attn, ffn, ln_1, ln_2, mask):
        Z = X + _gather(N(X, *ln_1), *attn, mask, **part)
        return Z + F(N(Z, *ln_2), *ffn)

    return wrong


def _gather(
    X,
    W_Q,
    W_K,
    W_V,
    W_O,
    mask,
    axis=-1,
    read=True,
    root=lambda d_k, d: np.sqrt(d_k),
    merge=np.hstack,
):
    scores = X @ W_Q @ (X @ W_K).swapaxes(-1, -2) / root(W_Q.shape[-1], len(W_O))
    scores = scores if mask is None else np.where(mask == read, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
    weights = weights / weights.sum(axis=axis, keepdims=True)
    return merge(weights @ (X @ W_V)) @ W_O


class _Group(tuple):
    """A group of arrays that tells if it is used whole, as if it were one array."""

    def __array__(self, *args, **kwargs):
        _Group.used_whole = True
        raise TypeError


def _is_packed(answer):
    _Group.used_whole = False
    X, *groups, mask = _PLAIN
    answer(X, *map(_Group, groups), mask)
    return _Group.used_whole


block = Function(
    takes="X, attn, ffn, ln_1, ln_2, mask",
    right=lab.block,
    cases=[
        _silent(_SMALL, 1, 2),
        _SMALL,
        _case(2, 2, 1, 2),
        _case(2, 2, 1, 2, lab.causal_mask(2)),
        _case(3, 4, 2, 3),
        _case(3, 4, 2, 3, lab.causal_mask(3)),
        _case(3, 3, 3, 5, _ODD),
        single(_case(3, 2, 2, 4, lab.causal_mask(3))),
        _FLAT,
        _case(4, 4, 4, 4),
        _case(5, 9, 3, 36, lab.causal_mask(5), size=1000),
    ],
    mistakes=named(
        "A group is handed on whole; a star hands on its arrays, as in *attn or *ln_1.",
        When(_is_packed),
        "The tidied row is added back; add to the raw one, the stream is never tidied.",
        _wired(lambda X, S: (S, S), lambda X, S, Z, T: (T(Z), T(Z))),
        _wired(lambda X, S: (S, S)),
        _wired(second=lambda X, S, Z, T: (T(Z), T(Z))),
        "This is post-norm, which tidies the stream; tidy only what a sublayer reads.",
        lambda X, attn, ffn, ln_1, ln_2, mask: N(
            (Z := N(X + A(X, *attn, mask), *ln_1)) + F(Z, *ffn), *ln_2
        ),
        "A sublayer reads the row itself; each reads the copy that its norm tidied.",
        _wired(lambda X, S: (X, X), lambda X, S, Z, T: (Z, Z)),
        _wired(lambda X, S: (X, X)),
        _wired(second=lambda X, S, Z, T: (Z, Z)),
        "The feed-forward layer reads X; what it needs is Z, after the attention.",
        _wired(second=lambda X, S, Z, T: (Z, T(X))),
        _wired(second=lambda X, S, Z, T: (Z, S)),
        _wired(second=lambda X, S, Z, T: (Z, T(S))),
        "A last norm is put on the result; the stream leaves the block untidied.",
        lambda *case: N(B(*case)),
        lambda *case: N(B(*case), *case[4]),
        "The first addition is missing: the attention's answer replaces X.",
        _wired(lambda X, S: (0, S)),
        "The second addition is missing: the feed-forward layer's answer replaces Z.",
        _wired(second=lambda X, S, Z, T: (0, T(Z))),
        "Both additions are missing; add each answer to what stood there.",
        _wired(lambda X, S: (0, S), lambda X, S, Z, T: (0, T(Z))),
        "X is added twice; Z holds it already.",
        _wired(lambda X, S: (2 * X, S)),
        _wired(second=lambda X, S, Z, T: (X + Z, T(Z))),
        "The second answer is added to X; add it to Z, or the attention's is lost.",
        _wired(second=lambda X, S, Z, T: (X, T(Z))),
        "The attention is left out.",
        lambda X, attn, ffn, ln_1, ln_2, mask: X + F(N(X, *ln_2), *ffn),
        "The feed-forward layer is left out.",
        lambda X, attn, ffn, ln_1, ln_2, mask: X + A(N(X, *ln_1), *attn, mask),
        "The sublayers have changed places: attention first, then feed-forward.",
        lambda X, a, f, p, q, mask: (Z := X + F(N(X, *p), *f)) + A(N(Z, *q), *a, mask),
        lambda X, a, f, p, q, mask: (Z := X + F(N(X, *q), *f)) + A(N(Z, *p), *a, mask),
        "The mask is not used; hand it on to the attention.",
        lambda X, a, f, p, q, mask: B(X, a, f, p, q, None),
        "A causal mask is built in; use the one that is handed in, none if it is None.",
        lambda *case: B(*case[:5], _causal(case)),
        lambda *case: B(*case[:5], _causal(case) if case[5] is None else case[5]),
        lambda *case: B(*case[:5], None if case[5] is None else _causal(case)),
        "The mask is upside down: True means that a word may read.",
        _with(read=False),
        lambda *case: B(*case[:5], None if case[5] is None else case[5].T),
        "The softmax runs over the wrong axis: what one word reads must add up to 1.",
        _with(axis=-2),
        "The scores are not divided by sqrt(d_k), d_k being the width of one head.",
        _with(root=lambda d_k, d: 1),
        _with(root=lambda d_k, d: d_k),
        _with(root=lambda d_k, d: np.sqrt(d)),
        "The heads are merged by a reshape without swapping the right axes first.",
        _with(merge=lambda h: h.reshape(h.shape[1], -1)),
        _with(merge=lambda h: h.swapaxes(1, 2).reshape(h.shape[1], -1)),
        _with(merge=lambda h: h.transpose(1, 2, 0).reshape(h.shape[1], -1)),
        "ln_1 is the attention's norm, ln_2 the other's, each with its gamma and beta.",
        When(lambda a: _plain_norms(a) and not (_first_half(a) and _second_half(a))),
        "The second half is right; in the first, attention or its norm is at fault.",
        When(lambda answer: _second_half(answer) and not _first_half(answer)),
        "The first half is right; in the second, feed-forward or its norm is at fault.",
        When(lambda answer: _first_half(answer) and not _second_half(answer)),
        "The additions are right; the norm, which both halves read by, is at fault.",
        When(lambda answer: _additions(answer) and not _first_half(answer)),
    ),
    over="one word to five, one head to four, with a mask and without, weights of "
    "zero, a large stream and a small one, and single precision",
    remarks=named(
        "(One sentence at a time: not yet for a batch.)",
        When(lambda answer: not _on_a_batch(answer)),
    ),
)


def _counts(test):
    """Return a test of a d_model**2 + b d_model d_ff + c d_model + e d_ff + f."""

    def holds(answer):
        d, d_ff = np.array([(1, 1), (2, 3), (3, 2), (5, 7), (4, 16), (9, 36), (8, 3)]).T
        terms = np.column_stack([d * d, d * d_ff, d, d_ff, d**0])
        counted = np.array([answer(*widths) for widths in zip(d, d_ff, strict=True)])
        found = np.linalg.lstsq(terms, counted, rcond=None)[0]
        return np.allclose(terms @ found, counted) and test(*found.round(6))

    return When(holds)


count_parameters = Function(
    takes="d_model, d_ff",
    right=lambda d_model, d_ff: 4 * d_model**2 + 2 * d_model * d_ff,
    cases=[(1, 1), (2, 3), (3, 2), (9, 36), (32, 128), (512, 2048), (768, 1000)],
    mistakes=named(
        "Only the attention is counted.",
        _counts(lambda a, b, *rest: a == 4 and b == 0 and not any(rest)),
        "Only the feed-forward layer is counted.",
        _counts(lambda a, b, *rest: a == 0 and b == 2 and not any(rest)),
        "Here d_ff is taken to be 4 * d_model; use the one that is handed in.",
        _counts(lambda a, b, *rest: a == 12 and b == 0 and not any(rest)),
        "Too few of both are counted: attention has four matrices, feed-forward two.",
        _counts(lambda a, b, *rest: 0 < a < 4 and b == 1),
        "Attention has four matrices, W_Q, W_K, W_V and W_O; fewer are counted.",
        _counts(lambda a, b, *rest: 0 < a < 4 and b == 2),
        "The feed-forward layer has two matrices, W1 and W2; one is forgotten.",
        _counts(lambda a, b, *rest: a == 4 and b == 1),
        "The heads are multiplied in; they share the width, d_model / h columns each.",
        _counts(lambda a, b, *rest: a > 4 and b == 2),
        "The norms' gamma and beta are counted; they are not asked for.",
        _counts(
            lambda a, b, c, *rest: (a, b) == (4, 2) and c in (2, 4) and not any(rest)
        ),
        "Biases are counted; these matrices come without.",
        _counts(lambda a, b, c, e, f: (a, b) == (4, 2) and (c > 0 or e > 0) and f == 0),
        "Widths are added; a matrix holds rows times columns.",
        _counts(lambda a, b, c, e, f: a == b == 0 and (c > 0 or e > 0)),
    ),
    over="blocks of width 1 to 768",
)
