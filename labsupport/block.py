"""The transformer block on one page: NumPy, plain functions, no pictures.

Each function takes what ``np.asarray`` takes, in the shapes that the line above it says
(see `labsupport.shapes`), works on the last axes under any batch axes, keeps float32
and float64, never changes its input and never returns a view of it. What does not fit
is refused with a ValueError. Sources: ``if-units`` (U) and ``nine-wide`` (N) are the
two documents the lab mirrors; papers are named where they are the origin.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from labsupport.shapes import (
    Array,
    generator,
    members,
    one_number,
    real_array,
    shapes,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ATTENTION = {"W_Q": "h+ d d_k+", "W_K": "h d d_k", "W_V": "h d d_v", "W_O": "h*d_v d"}
BANK = {"W1": "d d_ff", "W2": "d_ff d"}
NORM = {"gamma": "d?", "beta": "d?"}
MASK = "booleans, True where a query may read"


@shapes(x="...")
def relu(x: Array) -> NDArray:
    """Return the bend: every number below zero becomes zero (U1)."""
    return np.maximum(x, 0, dtype=x.dtype)


@shapes(pattern="d", evidence="... d")
def fires(pattern: Array, evidence: Array) -> NDArray:
    """Return how strongly one unit fires (U1)."""
    return relu(evidence @ pattern)


@shapes(x="... d", **BANK)
def feed_forward(
    x: Array, W1: Array, W2: Array, bend: Callable[[NDArray], Array] = relu
) -> NDArray:
    """Return a bank's contribution to each position: bend(x @ W1) @ W2 (U4, N6)."""
    return _bent(bend, x @ W1) @ W2


@shapes(scores="... n+")
def softmax(scores: Array) -> NDArray:
    """Return weights that are positive and sum to one along the last axis (N2).

    A score of −inf gets none; NaN, +inf and a row with nothing to read are refused.
    """
    top = scores.max(axis=-1, keepdims=True)
    if not np.isfinite(top).all():
        raise ValueError(f"scores {_unreadable(scores)}")
    # Shifting by the largest score changes no weight and keeps exp from overflowing.
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(scores - top)
        return weights / weights.sum(axis=-1, keepdims=True)


def causal_mask(n: int) -> NDArray:
    """Return the (n, n) mask, True where a query (row) may read a key (N18)."""
    return np.tri(whole_number("n", n, least=0), dtype=bool)


@shapes(Q="... n d_k+", K="... m+ d_k")
def attention_weights(Q: Array, K: Array, mask: Array = None) -> NDArray:
    """Return how much each query reads of each key: softmax(Q Kᵀ / √d_k).

    The mask is (n, m), or that under the batch axes, True where a query may read. N2;
    Vaswani et al. 2017, section 3.2.1.
    """
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(_fitting(mask, scores.shape), scores, -np.inf)
    return softmax(scores)


@shapes(X="... n+ d", W_Q="d d_k+", W_K="d d_k", W_V="d d_v")
def head(X: Array, W_Q: Array, W_K: Array, W_V: Array, mask: Array = None) -> NDArray:
    """Return what one head gathers: each row a blend of the values (N1, N4)."""
    return attention_weights(X @ W_Q, X @ W_K, mask) @ (X @ W_V)


@shapes(X="... n+ d", **ATTENTION)
def multi_head_attention(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, mask: Array = None
) -> NDArray:
    """Return what h heads gather, side by side, folded back to the width of X.

    N17; Vaswani et al. 2017, section 3.2.2.
    """
    heads = [head(X, *one, mask) for one in zip(W_Q, W_K, W_V, strict=True)]
    return np.concatenate(heads, axis=-1) @ W_O


@shapes(X="... d+", **NORM)
def layer_norm(
    X: Array, gamma: Array = 1.0, beta: Array = 0.0, eps: float = 1e-5
) -> NDArray:
    """Return each row at mean 0 and spread 1, times gamma, plus beta.

    (x − mean) / √(var + eps) · gamma + beta, the variance the population's. eps may be
    0 where every row has some spread. U17, N10; Ba, Kiros and Hinton 2016.
    """
    eps = one_number("eps", eps, least=0)
    x, power = _below_one(X, least=math.sqrt(eps))
    # From the row's first number on, so that a constant row is exactly 0.
    x = x - x[..., :1]
    x = x - x.mean(axis=-1, keepdims=True)
    with np.errstate(under="ignore"):
        var = np.square(x).mean(axis=-1, keepdims=True)
        if eps == 0 and (var == 0).any():
            row = _first(var[..., 0] == 0)
            raise ValueError(
                f"eps is 0 and X has no spread in row {row}: eps must be > 0"
            )
        var = np.maximum(var + np.ldexp(eps, -2 * power), np.finfo(var.dtype).tiny)
        return (x / np.sqrt(var) * gamma + beta).astype(X.dtype, copy=False)


@shapes(X="... n+ d", attn=ATTENTION, ffn=BANK, ln_1=NORM, ln_2=NORM)
def block(
    X: Array, attn: Array, ffn: Array, ln_1: Array, ln_2: Array, mask: Array = None
) -> NDArray:
    """Return one pre-norm block: tidy, gather, add; tidy, think, add (U19, N15, N16).

    The norms sit on what a sublayer reads, never on the stream.
    """
    Z = X + multi_head_attention(layer_norm(X, *ln_1), *attn, mask)
    return Z + feed_forward(layer_norm(Z, *ln_2), *ffn)


class BlockParams(NamedTuple):
    """The weights of one block, in the order `block` takes them."""

    attn: tuple[NDArray, NDArray, NDArray, NDArray]
    ffn: tuple[NDArray, NDArray]
    ln_1: tuple[NDArray, NDArray]
    ln_2: tuple[NDArray, NDArray]


def init_block(
    d_model: int, n_heads: int, rng: np.random.Generator, d_ff: int | None = None
) -> BlockParams:
    """Return random weights, so that ``block(X, *params)`` runs (N6, N17).

    The heads must divide the width; `d_ff` is four times the width unless given.
    """
    d = whole_number("d_model", d_model, least=1)
    h = whole_number("n_heads", n_heads, least=1)
    d_ff = whole_number("d_ff", 4 * d if d_ff is None else d_ff, least=1)
    if d % h:
        raise ValueError(f"n_heads is {h}; it must divide d_model, {d}")
    rng = generator("rng", rng)

    def weights(*shape: int) -> NDArray:
        return rng.normal(size=shape) / np.sqrt(shape[-2])

    W_Q, W_K, W_V = (weights(h, d, d // h) for _ in "QKV")
    return BlockParams(
        attn=(W_Q, W_K, W_V, weights(d, d)),
        ffn=(weights(d, d_ff), weights(d_ff, d)),
        ln_1=(np.ones(d), np.zeros(d)),
        ln_2=(np.ones(d), np.zeros(d)),
    )


def count_parameters(params: BlockParams) -> dict[str, int]:
    """Return how many numbers a block holds, by part and in all (N17)."""
    parts = zip((ATTENTION, BANK, NORM, NORM), BlockParams._fields, strict=True)
    groups = zip(parts, members("params", params, BlockParams._fields), strict=True)
    attn, ffn, ln_1, ln_2 = (
        sum(real_array(name, array).size for array in members(name, group, lines))
        for (lines, name), group in groups
    )
    counts = {"attention": attn, "feed_forward": ffn, "layer_norm": ln_1 + ln_2}
    return counts | {"total": sum(counts.values())}


def _bent(bend: Callable[[NDArray], Array], matches: NDArray) -> NDArray:
    """Return what the reader's bend makes of the matches, in their type."""
    if not callable(bend):
        raise ValueError(f"bend is {bend!r}; it must be a function of an array")
    dtype, shape = matches.dtype, matches.shape
    bent = real_array("bend's result", bend(matches))
    if bent.shape != shape:
        raise ValueError(f"bend's result has shape {bent.shape}; it needs {shape}")
    return bent.astype(dtype, copy=False)


def _fitting(mask: Array, shape: tuple[int, ...]) -> NDArray:
    """Return a mask as an array, once it fits scores of this shape."""
    mask = real_array("mask", mask, needed=MASK)
    if mask.dtype != bool:
        raise ValueError(f"mask must hold {MASK}, not {mask.dtype}")
    batch = zip(mask.shape[-3::-1], shape[-3::-1], strict=False)
    same = mask.shape[-2:] == shape[-2:] and mask.ndim <= len(shape)
    if not same or any(size not in (1, whole) for size, whole in batch):
        needed = f"{shape[-2:]}, or that under the batch axes of {shape}"
        raise ValueError(f"mask has shape {mask.shape}; it needs {needed}")
    if not mask.any(axis=-1).all():
        row = _first(~mask.any(axis=-1))
        raise ValueError(f"mask lets row {row} read nothing; it must read at least one")
    return mask


def _below_one(x: NDArray, least: float) -> tuple[NDArray, NDArray]:
    """Return rows in float64, below 1, and the power of two each was divided by.

    No square of theirs overflows, and such a division is exact.
    """
    x = x.astype(np.promote_types(x.dtype, np.float64))
    _, power = np.frexp(np.abs(x).max(axis=-1, keepdims=True, initial=least))
    with np.errstate(under="ignore"):
        return np.ldexp(x, -power), power


def _unreadable(scores: NDArray) -> str:
    bad = np.isnan(scores) | np.isposinf(scores)
    if bad.any():
        needed = "every score must be a finite number, or -inf for 'may not be read'"
        return f"holds {scores[bad][0]} at {_first(bad)}; {needed}"
    row = _first(np.isneginf(scores).all(axis=-1))
    needed = "every score there is -inf, and at least one must be finite"
    return f"has nothing to read in row {row}: {needed}"


def _first(where: Array) -> str:
    """Return the place of the first True, as one would write its index."""
    index = [int(i) for i in np.argwhere(where)[0]] or [0]
    return str(tuple(index)) if len(index) > 1 else str(index[0])
