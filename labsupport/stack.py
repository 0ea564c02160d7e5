"""What a pile of storeys does to a signal, forwards and backwards.

A storey is one (d, d) matrix W, applied as ``z @ W``; four rules say what becomes of
its answer. Sources: ``if-units`` and ``nine-wide`` are the two documents the lab
mirrors, with the number of the claim.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from labsupport.block import _floats, _need, _need_count, layer_norm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

RULES = {
    "replace": lambda z, W: z @ W,
    "add": lambda z, W: z + z @ W,
    "post_norm": lambda z, W: layer_norm(z + z @ W),
    "pre_norm": lambda z, W: z + layer_norm(z) @ W,
}
"""One storey under each rule: from the stream z and the storey's W to the new z."""


def timid_storeys(
    rng: np.random.Generator, n_storeys: int = 24, d_model: int = 32, gain: float = 0.7
) -> NDArray:
    """Return random storeys that each pass on about `gain` of what they receive.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_storeys, d_model : int
    gain : float

    Returns
    -------
    array, (n_storeys, d_model, d_model)

    Raises
    ------
    ValueError
        If a count is not a whole number, `gain` is not finite, or `rng` no generator.

    Source: if-units, U11.
    """
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng is {rng!r}; it must come from np.random.default_rng")
    _need_count("n_storeys", n_storeys, least=0)
    _need_count("d_model", d_model, least=1)
    (gain,) = _floats(gain=gain)
    if gain.ndim or not np.isfinite(gain):
        raise ValueError(f"gain is {gain}; it must be one finite number")
    return rng.normal(size=(n_storeys, d_model, d_model)) * gain / np.sqrt(d_model)


def size(z: ArrayLike) -> float:
    """Return the root mean square of all numbers of z.

    Raises
    ------
    ValueError
        If `z` is empty.

    Source: if-units, U11 and U15.
    """
    (z,) = _floats(z=z)
    _need(z.size > 0, "z", z, "at least one number")
    # hypot scales before it squares: 1e-200 is not lost, nor is 1e200 infinite.
    return math.hypot(*z.flat) / math.sqrt(z.size)


def run_stack(z: ArrayLike, storeys: ArrayLike, rule: str) -> NDArray:
    """Return the size of the stream: of the input, and after each storey.

    Parameters
    ----------
    z : array_like, (..., d)
    storeys : array_like, (n_storeys, d, d)
    rule : {"replace", "add", "post_norm", "pre_norm"}
        Hand on the answer alone; add it; add it and tidy the stream; add what the
        storey makes of a tidied copy.

    Returns
    -------
    array, (n_storeys + 1,)

    Raises
    ------
    ValueError
        If a shape does not fit, or the rule is none of the four.

    Source: if-units, U11, U15 and U17; nine-wide, N14.
    """
    return np.array([size(stream) for stream in _streams(z, storeys, rule)])


def slope_back(storeys: ArrayLike, rule: str, z: ArrayLike | None = None) -> NDArray:
    """Return the size of the slope that flows back to each storey.

    How far the top of the stack moves for a nudge of size 1 in what a storey receives:
    the root mean square over all directions of the nudge, and over all rows of `z`.

    Parameters
    ----------
    storeys : array_like, (n_storeys, d, d)
    rule : {"replace", "add", "post_norm", "pre_norm"}
    z : array_like, (..., d), optional
        The stream that enters storey 1. The two rules with a norm need it, for their
        slope depends on where they stand; the other two ignore it.

    Returns
    -------
    array, (n_storeys,)
        The first is the slope at storey 1, which has the longest way back.

    Raises
    ------
    ValueError
        If a shape does not fit, the rule is none of the four, or a norm lacks its `z`.

    Source: if-units, U14; nine-wide, N13.
    """
    (storeys,) = _floats(storeys=storeys)
    if z is None:
        if rule in ("post_norm", "pre_norm"):
            raise ValueError(f"z is None; the rule {rule!r} needs the stream it enters")
        z = np.ones((1, *storeys.shape[-1:]))
    *streams, _ = _streams(z, storeys, rule)
    d = storeys.shape[-1]
    slope = np.eye(d)
    sizes = []
    for stream, W in zip(reversed(streams), reversed(storeys), strict=True):
        rows = stream.reshape(-1, d)
        if rule == "replace":
            slope = W @ slope
        elif rule == "add":
            slope = slope + W @ slope
        elif rule == "post_norm":
            slope = (np.eye(d) + W) @ _slope_of_norm(rows + rows @ W) @ slope
        else:
            slope = slope + _slope_of_norm(rows) @ W @ slope
        sizes.append(math.sqrt(d) * size(slope))
    return np.array(sizes[::-1])


def _streams(z: ArrayLike, storeys: ArrayLike, rule: str) -> list[NDArray]:
    """Return the stream itself: the input, and what each storey leaves."""
    if not isinstance(rule, str) or rule not in RULES:
        raise ValueError(f"rule is {rule!r}; it must be one of {', '.join(RULES)}")
    z, storeys = _floats(z=z, storeys=storeys)
    d = storeys.shape[-1] if storeys.ndim == 3 else -1
    fits = storeys.ndim == 3 and storeys.shape[-2] == d
    _need(fits, "storeys", storeys, "(n_storeys, d, d), one square matrix a storey")
    _need(z.ndim > 0 and z.shape[-1] == d, "z", z, f"(..., {d}), as wide as a storey")
    _need(z.size > 0, "z", z, "at least one number")
    streams = [z]
    for W in storeys:
        streams.append(RULES[rule](streams[-1], W))
    return streams


def _slope_of_norm(rows: NDArray, eps: float = 1e-5) -> NDArray:
    """Return the derivative of layer norm at each row, (n, d, d): symmetric."""
    d = rows.shape[-1]
    spread = np.sqrt(rows.var(axis=-1) + eps)[:, None, None]
    tidy = layer_norm(rows, eps=eps)
    return (np.eye(d) - 1 / d - tidy[:, :, None] * tidy[:, None, :] / d) / spread
