"""The transformer block on one page: NumPy, plain functions, no pictures.

Every function takes anything that ``np.asarray`` takes, works on the last axes under
any leading batch axes, keeps float32 and float64 as they come (integers, booleans and
plain lists become float64, float16 is widened to float32, a list beside an array takes
the array's type), never changes its input and never returns a view of it.

Sources: ``if-units`` and ``nine-wide`` are the two documents the lab mirrors, with the
number of the claim; papers are named where they are the origin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray


def relu(x: ArrayLike) -> NDArray:
    """Return the bend: every number below zero becomes zero.

    Parameters
    ----------
    x : array_like, any shape

    Source: if-units, U1.
    """
    (x,) = _floats(x=x)
    return np.maximum(x, 0, dtype=x.dtype)


def fires(pattern: ArrayLike, evidence: ArrayLike) -> NDArray:
    """Return how strongly one unit fires: max(pattern · evidence, 0).

    Parameters
    ----------
    pattern : array_like, (d,)
    evidence : array_like, (..., d)

    Returns
    -------
    array, (...)

    Raises
    ------
    ValueError
        If `pattern` is not one row, or the widths differ.

    Source: if-units, U1.
    """
    pattern, evidence = _floats(pattern=pattern, evidence=evidence)
    _need(pattern.ndim == 1, "pattern", pattern, "(d,), one row of numbers")
    d = len(pattern)
    _need(
        _width(evidence) == d, "evidence", evidence, f"(..., {d}), as wide as pattern"
    )
    return relu(evidence @ pattern)


def feed_forward(
    x: ArrayLike,
    W1: ArrayLike,
    W2: ArrayLike,
    bend: Callable[[NDArray], NDArray] = relu,
) -> NDArray:
    """Return the bank's contribution: bend(x @ W1) @ W2, each position on its own.

    Parameters
    ----------
    x : array_like, (..., d)
    W1 : array_like, (d, d_ff)
        The units' patterns, one a column.
    W2 : array_like, (d_ff, d)
        The units' contributions, one a row.
    bend : callable, optional
        Applied to every match on its own; ReLU unless given.

    Returns
    -------
    array, (..., d)

    Raises
    ------
    ValueError
        If the widths do not fit, `bend` is no function, or it changes the shape.

    Source: if-units, U4; nine-wide, N6.
    """
    x, W1, W2 = _floats(x=x, W1=W1, W2=W2)
    _need(x.ndim >= 1, "x", x, "(..., d)")
    d = x.shape[-1]
    _need(W1.ndim == 2 and len(W1) == d, "W1", W1, f"({d}, d_ff), x being {d} wide")
    d_ff = W1.shape[1]
    _need(W2.shape == (d_ff, d), "W2", W2, f"({d_ff}, {d}), W1 being {W1.shape}")
    if not callable(bend):
        raise ValueError(f"bend is {bend!r}; it must be a function of an array")
    matches = x @ W1
    (fired,) = _floats(**{"bend's result": bend(matches)})
    _need(fired.shape == matches.shape, "bend's result", fired, f"{matches.shape}")
    return fired.astype(x.dtype, copy=False) @ W2


def softmax(scores: ArrayLike) -> NDArray:
    """Return weights that are positive and sum to one along the last axis.

    Parameters
    ----------
    scores : array_like, (..., n)
        Finite, or −inf where nothing is to be read.

    Raises
    ------
    ValueError
        If a score is NaN or +inf, or a row has nothing to read.

    Source: nine-wide, N2.
    """
    (scores,) = _floats(scores=scores)
    _need(_width(scores) > 0, "scores", scores, "(..., n) with n at least 1")
    bad = np.isnan(scores) | np.isposinf(scores)
    if bad.any():
        where = _first(bad)
        raise ValueError(
            f"scores holds {scores[where]} at {_index(where)}; "
            "every score must be a finite number, or -inf for 'may not be read'"
        )
    top = scores.max(axis=-1, keepdims=True)
    if np.isneginf(top).any():
        row = _index(_first(np.isneginf(top[..., 0])))
        raise ValueError(
            f"scores has nothing to read in row {row}: every score there is -inf, "
            "and at least one must be finite"
        )
    # Shifting by the largest score changes no weight and keeps exp from overflowing.
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(scores - top)
        return weights / weights.sum(axis=-1, keepdims=True)


def causal_mask(n: int) -> NDArray:
    """Return the (n, n) mask that is True where a query (row) may read a key (column).

    Raises
    ------
    ValueError
        If `n` is not a whole number, or negative.

    Source: nine-wide, N18.
    """
    _need_count("n", n, least=0)
    return np.tri(n, dtype=bool)


def attention_weights(
    Q: ArrayLike, K: ArrayLike, mask: ArrayLike | None = None
) -> NDArray:
    """Return how much of each key's word every query reads: softmax(Q Kᵀ / √d_k).

    Parameters
    ----------
    Q : array_like, (..., n, d_k)
    K : array_like, (..., m, d_k)
    mask : array_like of bool, (..., n, m), optional
        True where the query may read the key.

    Returns
    -------
    array, (..., n, m)

    Raises
    ------
    ValueError
        If the shapes do not fit, or the mask lets a row read nothing.

    Source: nine-wide, N2; Vaswani et al. 2017, section 3.2.1.
    """
    Q, K = _floats(Q=Q, K=K)
    _need(Q.ndim >= 2 and _width(Q) > 0, "Q", Q, "(..., n, d_k) with d_k at least 1")
    d_k = Q.shape[-1]
    batches = _broadcast(Q.shape[:-2], K.shape[:-2])
    fits = K.ndim >= 2 and _width(K) == d_k and batches is not None
    _need(fits, "K", K, f"(..., m, {d_k}) to go with Q, which is {Q.shape}")
    _need(K.shape[-2] > 0, "K", K, "at least one row to read")
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(d_k, dtype=np.result_type(Q, K))
    if mask is not None:
        scores = np.where(_check_mask(mask, scores.shape), scores, -np.inf)
    return softmax(scores)


def head(
    X: ArrayLike,
    W_Q: ArrayLike,
    W_K: ArrayLike,
    W_V: ArrayLike,
    mask: ArrayLike | None = None,
) -> NDArray:
    """Return what one attention head gathers: each row a blend of the values.

    Parameters
    ----------
    X : array_like, (..., n, d)
    W_Q, W_K : array_like, (d, d_k)
    W_V : array_like, (d, d_v)
    mask : array_like of bool, (..., n, n), optional

    Returns
    -------
    array, (..., n, d_v)

    Raises
    ------
    ValueError
        If the shapes do not fit, or the mask lets a row read nothing.

    Source: nine-wide, N1 and N4.
    """
    X, W_Q, W_K, W_V = _floats(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V)
    _need(X.ndim >= 2 and X.shape[-2] > 0, "X", X, "(..., n, d) with n at least 1")
    d = X.shape[-1]
    for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V)):
        needed = f"({d}, width), X being {d} wide"
        _need(W.ndim == 2 and len(W) == d, name, W, needed)
    needed = f"{W_Q.shape}, the shape of W_Q"
    _need(W_K.shape == W_Q.shape, "W_K", W_K, needed)
    return attention_weights(X @ W_Q, X @ W_K, mask) @ (X @ W_V)


def multi_head_attention(
    X: ArrayLike,
    W_Q: ArrayLike,
    W_K: ArrayLike,
    W_V: ArrayLike,
    W_O: ArrayLike,
    mask: ArrayLike | None = None,
) -> NDArray:
    """Return what h heads gather, side by side and folded back to the width of X.

    Parameters
    ----------
    X : array_like, (..., n, d)
    W_Q, W_K, W_V : array_like, (h, d, d_k)
    W_O : array_like, (h * d_k, d)
    mask : array_like of bool, (..., n, n), optional
        The same for every head.

    Returns
    -------
    array, (..., n, d)

    Raises
    ------
    ValueError
        If the shapes do not fit, or the mask lets a row read nothing.

    Source: nine-wide, N17; Vaswani et al. 2017, section 3.2.2.
    """
    X, W_Q, W_K, W_V, W_O = _floats(X=X, W_Q=W_Q, W_K=W_K, W_V=W_V, W_O=W_O)
    for name, W in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V)):
        _need(W.ndim == 3 and len(W) > 0, name, W, "(h, d, d_k) with h at least 1")
        needed = f"(h, d, d_k) with the h of W_Q, which is {len(W_Q)}"
        _need(len(W) == len(W_Q), name, W, needed)
    _need(X.ndim >= 2, "X", X, "(..., n, d)")
    needed = (len(W_V) * W_V.shape[-1], X.shape[-1])
    _need(
        W_O.shape == needed,
        "W_O",
        W_O,
        f"{needed}: {len(W_V)} heads, each {W_V.shape[-1]} wide, back to X's width",
    )
    weights = zip(W_Q, W_K, W_V, strict=True)
    gathered = [head(X, *one_head, mask) for one_head in weights]
    return np.concatenate(gathered, axis=-1) @ W_O


def layer_norm(
    X: ArrayLike, gamma: ArrayLike = 1.0, beta: ArrayLike = 0.0, eps: float = 1e-5
) -> NDArray:
    """Return each row at mean 0 and spread 1, times gamma, plus beta.

    (x − mean) / √(var + eps) · gamma + beta, over the last axis alone; the variance is
    the population's (divided by n) and eps stands inside the root.

    Parameters
    ----------
    X : array_like, (..., d)
    gamma, beta : float or array_like, (d,)
    eps : float
        At least 0.

    Raises
    ------
    ValueError
        If a shape does not fit, `eps` is negative, or `eps` is 0 and a row is constant.

    Source: if-units, U17; nine-wide, N10; Ba, Kiros and Hinton 2016.
    """
    X, gamma, beta = _floats(X=X, gamma=gamma, beta=beta)
    (eps,) = _floats(eps=eps)
    _need(_width(X) > 0, "X", X, "(..., d) with d at least 1")
    d = X.shape[-1]
    for name, value in (("gamma", gamma), ("beta", beta)):
        _need(value.shape in ((), (d,)), name, value, f"({d},), or be one number")
    if eps.ndim != 0 or not 0 <= eps < np.inf:
        raise ValueError(f"eps is {eps}; it must be one finite number, at least 0")
    eps = eps.astype(X.dtype)
    # Measured from the row's first number, so that a constant row is exactly 0.
    shifted = X - X[..., :1]
    centred = shifted - shifted.mean(axis=-1, keepdims=True)
    var = np.square(centred).mean(axis=-1, keepdims=True)
    if eps == 0 and (var == 0).any():
        row = _index(_first(var[..., 0] == 0))
        raise ValueError(f"eps is 0 and X has no spread in row {row}: eps must be > 0")
    return centred / np.sqrt(var + eps) * gamma + beta


def block(
    X: ArrayLike,
    attn: tuple[ArrayLike, ...],
    ffn: tuple[ArrayLike, ...],
    ln_1: tuple[ArrayLike, ArrayLike],
    ln_2: tuple[ArrayLike, ArrayLike],
    mask: ArrayLike | None = None,
) -> NDArray:
    """Return one pre-norm block: tidy, gather, add; tidy, think, add.

    Parameters
    ----------
    X : array_like, (..., n, d)
    attn : (W_Q, W_K, W_V, W_O)
        As in `multi_head_attention`.
    ffn : (W1, W2)
        As in `feed_forward`.
    ln_1, ln_2 : (gamma, beta)
        As in `layer_norm`; the norms sit on what a sublayer reads, never on the stream.
    mask : array_like of bool, (..., n, n), optional

    Returns
    -------
    array, (..., n, d)
        A block hands back the shape it was given.

    Raises
    ------
    ValueError
        If a group has the wrong number of arrays, or a shape does not fit.

    Source: if-units, U19; nine-wide, N15 and N16.
    """
    weights = _by_name((attn, ffn, ln_1, ln_2))
    X, *_ = _floats(X=X, **weights)  # a list takes the type of the weights
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
    """Return random weights for one block, so that ``block(X, *params)`` runs.

    Parameters
    ----------
    d_model : int
        The width of a row; a multiple of `n_heads`.
    n_heads : int
    rng : numpy.random.Generator
    d_ff : int, optional
        The number of units; four times `d_model` unless given.

    Raises
    ------
    ValueError
        If a count is not a whole number of at least 1, the heads do not divide the
        width, or `rng` is not a generator.

    Source: nine-wide, N6 and N17.
    """
    _need_count("d_model", d_model, least=1)
    d_ff = 4 * d_model if d_ff is None else d_ff
    for name, count in (("n_heads", n_heads), ("d_ff", d_ff)):
        _need_count(name, count, least=1)
    if d_model % n_heads:
        raise ValueError(f"n_heads is {n_heads}; it must divide d_model, {d_model}")
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng is {rng!r}; it must come from np.random.default_rng")

    def weights(*shape: int) -> NDArray:
        return rng.normal(size=shape) / np.sqrt(shape[-2])

    per_head = (n_heads, d_model, d_model // n_heads)
    return BlockParams(
        attn=(*(weights(*per_head) for _ in "QKV"), weights(d_model, d_model)),
        ffn=(weights(d_model, d_ff), weights(d_ff, d_model)),
        ln_1=(np.ones(d_model), np.zeros(d_model)),
        ln_2=(np.ones(d_model), np.zeros(d_model)),
    )


def count_parameters(params: BlockParams) -> dict[str, int]:
    """Return a block's count of numbers: attention, feed_forward, layer_norm, total.

    Parameters
    ----------
    params : BlockParams
        Or any (attn, ffn, ln_1, ln_2) of arrays.

    Raises
    ------
    ValueError
        If a group has the wrong number of arrays.

    Source: nine-wide, N17.
    """
    sizes = [array.size for array in _floats(**_by_name(params))]
    counts = {
        "attention": sum(sizes[:4]),
        "feed_forward": sum(sizes[4:6]),
        "layer_norm": sum(sizes[6:]),
    }
    return counts | {"total": sum(counts.values())}


# What follows turns arguments into arrays, and says in words what does not fit.


def _floats(**arguments: ArrayLike) -> list[NDArray]:
    arrays = {name: _one_float(name, value) for name, value in arguments.items()}
    typed = [a.dtype for name, a in arrays.items() if hasattr(arguments[name], "dtype")]
    dtype = np.result_type(*typed) if typed else np.float64
    return [a.astype(dtype, copy=False) for a in arrays.values()]


def _by_name(params: tuple) -> dict[str, ArrayLike]:
    """Return a block's ten arrays by name, once each group holds what it should."""
    arrays = {}
    _need_held("params", params, 4)
    groups = zip(("attn", "ffn", "ln_1", "ln_2"), params, (4, 2, 2, 2), strict=True)
    for name, group, count in groups:
        _need_held(name, group, count)
        arrays |= {f"{name}[{i}]": array for i, array in enumerate(group)}
    return arrays


def _need_held(name: str, group: tuple, count: int) -> None:
    try:
        held = len(group)
    except TypeError:
        held = 0
    if held != count:
        raise ValueError(f"{name} holds {held} items; it needs {count}")


def _one_float(name: str, value: ArrayLike) -> NDArray:
    try:
        array = np.asarray(value)
        words = str | bytes | None  # which float() would read, or NumPy take for NaN
        if array.dtype == object and not any(isinstance(i, words) for i in array.flat):
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name} must be an array of real numbers with rows of one length; "
            f"{type(value).__name__} {str(value)[:60]!r} is not"
        ) from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers; it holds {array.dtype}")
    if array.dtype == np.float16:
        return array.astype(np.float32)
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _check_mask(mask: ArrayLike, shape: tuple[int, ...]) -> NDArray:
    try:
        mask = np.asarray(mask)
    except ValueError:
        raise ValueError("mask must have rows of one length") from None
    if mask.dtype != bool:
        raise ValueError(
            f"mask holds {mask.dtype}; it needs booleans, True where a query may read"
        )
    fits = mask.shape[-2:] == shape[-2:] and _broadcast(mask.shape, shape) == shape
    _need(fits, "mask", mask, f"{shape[-2:]}, or that under the batch axes of {shape}")
    silent = ~mask.any(axis=-1)
    if silent.any():
        row = _index(_first(silent))
        raise ValueError(f"mask lets row {row} read nothing; it must read at least one")
    return mask


def _need(fits: bool, name: str, array: NDArray, needed: str) -> None:
    if not fits:
        raise ValueError(f"{name} has shape {array.shape}; it needs {needed}")


def _need_count(name: str, count: int, least: int) -> None:
    whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if not whole or count < least:
        raise ValueError(
            f"{name} is {count!r}; it must be a whole number, at least {least}"
        )


def _width(array: NDArray) -> int:
    return array.shape[-1] if array.ndim else -1


def _broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _first(where: NDArray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(where)[0])


def _index(where: tuple[int, ...]) -> str:
    return str(where) if len(where) > 1 else str(*where or (0,))
