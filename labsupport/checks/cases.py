"""What answers are tried on: numbers with one decimal, the same on every machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def rows(*numbers: list) -> tuple[np.ndarray, ...]:
    """Return each list as an array of floats."""
    return tuple(np.array(row, dtype=float) for row in numbers)


def many(*cases: tuple) -> list[tuple[np.ndarray, ...]]:
    """Return small cases, a tuple of lists each, as arrays of floats."""
    return [rows(*case) for case in cases]


def drawn(seed: int) -> Callable[..., np.ndarray]:
    """Return a function that draws an array of a shape, for one file of exercises."""
    rng = np.random.default_rng(seed)
    return lambda *shape: np.round(rng.normal(size=shape), 1)


def single(value: Any) -> Any:
    """Return a case in single precision (float32)."""
    if isinstance(value, list | tuple):
        return type(value)(map(single, value))
    is_float = isinstance(value, np.ndarray) and value.dtype == float
    return np.float32(value) if is_float else value


def right_on(right: Callable, *cases: tuple) -> Callable[[Callable], bool]:
    """Return a test of whether an answer is right on other cases than an exercise's."""
    return lambda answer: all(
        np.allclose(answer(*case), right(*case), rtol=1e-3, atol=0.006)
        for case in cases
    )


def mixes_rows(answer: Callable, X: np.ndarray, *rest: Any) -> bool:
    """Return whether a row alone gives something else than it does among others."""
    alone = np.vstack([answer(row[None], *rest) for row in X])
    among = answer(X, *rest)  # NaN if it fails there
    fits = np.isfinite(alone).all() and among.shape in ((), alone.shape)
    return bool(fits and not np.allclose(among, alone, rtol=1e-3, atol=0.006))
