"""The known wrong bends, told by their curve: of one unit (01) and of a bank (02)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from labsupport.checks.judge import When

M = np.array([-20, -3, -1, -0.05, -0.02, 0, 0.02, 0.05, 1, 3, 20])
"""The matches that a bend is tried at: far from zero and close to it, on both sides."""

BELOW, ABOVE, RIGHT = M < 0, M > 0, np.maximum(M, 0)


def wrong_bends(fired: Callable[[Callable, float], float]) -> list:
    """Return the table of wrong bends; `fired(answer, m)` is what a unit gives at m."""

    def curve(test: Callable[[np.ndarray], bool]) -> When:
        def holds(answer: Callable) -> bool:
            f = np.array([fired(answer, m) for m in M])
            return np.isfinite(f).all() and test(f)

        return When(holds)

    return [
        "The bend is missing: a match below zero must give 0.",
        curve(lambda f: like(f, M)),
        "A match below zero turns positive here, as by abs; it must give 0.",
        curve(lambda f: like(f, np.abs(M))),
        "It keeps the smaller of match and 0; the bend keeps the larger.",
        curve(lambda f: like(f, np.minimum(M, 0))),
        "The sign is turned round: it fires on what speaks against the pattern.",
        curve(lambda f: like(f, np.maximum(-M, 0))),
        "It says whether a unit fires, and not how strongly: pass the match on, not 1.",
        curve(lambda f: like(f[ABOVE], 1) and like(f[BELOW], 0)),
        "A large match is cut off at 1 or so; only what lies below zero is cut.",
        curve(lambda f: 0 < f.max() < 20 and like(f, np.minimum(RIGHT, f.max()))),
        "It fires too late: a match above zero must pass, however small it is.",
        curve(lambda f: f[-1] == 20 and not f[BELOW].any() and not f[ABOVE].all()),
        "The bend leaks: part of a match below zero gets through; it must give 0.",
        curve(lambda f: like(f[ABOVE], M[ABOVE]) and not like(f[BELOW], 0)),
        "The bend is smooth; a match below zero must give exactly 0, above it, itself.",
        curve(lambda f: np.ptp(f) > 0.1 and abs(f[3] - 2 * f[5] + f[7]) < 0.025),
    ]


def like(f: np.ndarray, g: np.ndarray | float) -> bool:
    return np.allclose(f, g, rtol=1e-3, atol=0.006)
