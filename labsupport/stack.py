"""What a pile of storeys does to a signal, forwards and backwards.

A storey is one (d, d) matrix W, applied as ``z @ W``; four rules say what becomes of
its answer. Sources: ``if-units`` and ``nine-wide`` are the two documents the lab
mirrors, with the number of the claim.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from labsupport.block import layer_norm
from labsupport.shapes import Array, generator, one_number, shapes, whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    They are (n_storeys, d_model, d_model). Source: if-units, U11.
    """
    rng, gain = generator("rng", rng), one_number("gain", gain)
    n = whole_number("n_storeys", n_storeys, least=0)
    d = whole_number("d_model", d_model, least=1)
    return rng.normal(size=(n, d, d)) * gain / np.sqrt(d)


@shapes(z="...")
def size(z: Array) -> float:
    """Return the root mean square of all numbers of z, of which there must be some.

    Source: if-units, U11 and U15.
    """
    if z.size == 0:
        raise ValueError(f"z has shape {z.shape}; it needs at least one number")
    # hypot scales before it squares: 1e-200 is not lost, nor is 1e200 infinite.
    return math.hypot(*z.flat) / math.sqrt(z.size)


@shapes(storeys="n_storeys d d", z="... d")
def run_stack(z: Array, storeys: Array, rule: str) -> NDArray:
    """Return the size of the stream: of the input, and after each storey.

    The rule "replace" hands on a storey's answer alone, "add" adds it, "post_norm" adds
    it and tidies the stream, "pre_norm" adds what the storey makes of a tidied copy.
    Source: if-units, U11, U15 and U17; nine-wide, N14.
    """
    return np.array([size(stream) for stream in _streams(z, storeys, rule)])


@shapes(storeys="n_storeys d d", z="... d")
def slope_back(storeys: Array, rule: str, z: Array = None) -> NDArray:
    """Return the size of the slope at each storey; the first has the longest way back.

    That is how far the top of the stack moves for a nudge of size 1 in what a storey
    receives: the root mean square over all directions of the nudge, and over all rows
    of `z`, the stream that enters storey 1. Under the two rules with a norm the slope
    depends on where the stream stands, so they need `z`; the other two ignore it.
    Source: if-units, U14; nine-wide, N13.
    """
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


def _streams(z: NDArray, storeys: NDArray, rule: str) -> list[NDArray]:
    """Return the stream itself: the input, and what each storey leaves."""
    if not isinstance(rule, str) or rule not in RULES:
        raise ValueError(f"rule is {rule!r}; it must be one of {', '.join(RULES)}")
    if z.size == 0:
        raise ValueError(f"z has shape {z.shape}; it needs at least one number")
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
