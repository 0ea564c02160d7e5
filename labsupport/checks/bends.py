"""The known wrong bends, told by their curve: for one unit (01) and for a bank (02)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from labsupport.checks.judge import When

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

M = np.array([-20, -3, -1, -0.05, -0.02, 0, 0.02, 0.05, 1, 3, 20])
"""The matches that a bend is asked for, close to zero and far, on both sides."""

BELOW, ABOVE, BENT = M < 0, M > 0, np.maximum(M, 0)


def wrong_bends(fired: Callable[[Callable, float], float]) -> list:
    """Return the table of wrong bends; `fired(answer, m)` is what one unit gives at m."""

    def curve(test: Callable[[NDArray], bool]) -> When:
        return When(lambda answer: test(np.array([fired(answer, m) for m in M])))

    return [
        "The bend is missing: a match below zero must give 0.",
        curve(lambda f: _alike(f, M)),
        "A match below zero turns positive here, as by abs; it must give 0.",
        curve(lambda f: _alike(f, np.abs(M))),
        "It keeps the smaller of match and 0; the bend keeps the larger.",
        curve(lambda f: _alike(f, np.minimum(M, 0))),
        "The sign is turned round: it fires on what speaks against the pattern.",
        curve(lambda f: _alike(f, np.maximum(-M, 0))),
        "It says whether a unit fires, and not how strongly: pass the match on, not 1.",
        curve(lambda f: _alike(f[ABOVE], 1) and _alike(f[BELOW], 0)),
        "A large match is cut off at 1 or so; only what lies below zero is cut.",
        curve(lambda f: 0 < f.max() < 20 and _alike(f, np.minimum(BENT, f.max()))),
        "It fires too late: a match above zero must pass, however small it is.",
        curve(lambda f: f[-1] == 20 and not f[BELOW].any() and not f[ABOVE].all()),
        "The bend leaks: part of a match below zero still gets through; it must give 0.",
        curve(lambda f: _alike(f[ABOVE], M[ABOVE]) and not _alike(f[BELOW], 0)),
        "The bend is smooth here: a match below zero must give exactly 0, one above, "
        "itself.",
        curve(lambda f: np.ptp(f) > 0.1 and f[3] - 2 * f[5] + f[7] < 0.025),
    ]


def _alike(f: NDArray, g: NDArray | float) -> bool:
    return np.allclose(f, g, rtol=1e-3, atol=0.006)
