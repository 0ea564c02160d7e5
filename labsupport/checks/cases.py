"""What answers are tried on: numbers with one decimal, the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def rows(*numbers: list) -> tuple[NDArray, ...]:
    """Return each list as an array of floats."""
    return tuple(np.array(row, dtype=float) for row in numbers)


def drawn(seed: int) -> Callable[..., NDArray]:
    """Return a function that draws an array of a shape; the seed is an exercise's own.

    It is chosen so that every known mistake shows by a difference that can be seen.
    """
    rng = np.random.default_rng(seed)
    return lambda *shape: np.round(rng.normal(size=shape), 1)


def single(value: Any) -> Any:
    """Return a case in single precision (float32)."""
    if isinstance(value, list | tuple):
        return type(value)(map(single, value))
    is_float = isinstance(value, np.ndarray) and value.dtype == float
    return np.float32(value) if is_float else value
