"""What notebook 05 asks for: layer norm, and how far the stream must grow."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import labsupport.block as lab
from labsupport.checks.cases import drawn, rows, single
from labsupport.checks.judge import Function, Value, When, named
from labsupport.examples import CHASED_READS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_some = drawn(25)


def _norm(
    X: NDArray,
    gamma: Any,
    beta: Any,
    eps: float = 1e-5,
    axes: Sequence[int | None] = (-1, -1, -1),
    ddof: int = 0,
    spread: Callable = lambda var, eps: np.sqrt(var + eps),
) -> NDArray:
    """Return layer norm written out, so that one part of it can be exchanged.

    The axes are those of the mean, of the mean in the variance, and of the variance.
    """
    mean, inner = (X.mean(axis=axis, keepdims=True) for axis in axes[:2])
    var = np.square(X - inner).mean(axis=axes[2], keepdims=True)
    var = var * X.shape[-1] / (X.shape[-1] - ddof)
    return (X - mean) / spread(var, eps) * gamma + beta


def _without_keepdims(
    X: NDArray, gamma: Any, beta: Any, eps: float, mean: Any, var: Any
) -> NDArray:
    """Return layer norm whose mean, or variance, has lost its axis where it is None."""
    centred = X - X.mean(-1)[..., mean]
    ...


def _to_norm(n: int, d: int, eps: float = 1e-5, size: float = 1.0) -> tuple:
    return _some(n, d) * size, _some(d) + 2, _some(d), eps
