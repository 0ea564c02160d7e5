"""Your turn: checks that say right, not started, or which mistake it is.

What each exercise asks, what it is tried on and which mistakes it knows stands in
`labsupport.exercises`; how an answer is judged, in `labsupport.judge`.
"""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

from labsupport.exercises import EXERCISES
from labsupport.judge import quiet, said_by


class Verdict(NamedTuple):
    """What a check found, "right", "wrong" or "not started", and the words for it."""

    status: str
    message: str


def check(exercise: str, answer: Any) -> None:
    """Print the verdict on an answer."""
    print(verdict(exercise, answer).message)


def verdict(exercise: str, answer: Any) -> Verdict:
    """Return the verdict on an answer, whatever was handed in; it is left unchanged.

    Parameters
    ----------
    exercise : str
        A name in `EXERCISES`.
    answer : function or value
        What the exercise asks for, or the untouched stub.

    Raises
    ------
    ValueError
        If there is no such exercise.
    """
    if not isinstance(exercise, str) or exercise not in EXERCISES:
        known = ", ".join(EXERCISES)
        raise ValueError(f"there is no exercise {exercise!r}; there are {known}")
    with quiet():
        try:
            status, words = EXERCISES[exercise].judge(answer)
        except KeyboardInterrupt:
            status, words = "wrong", "It was interrupted: does every loop in it end?"
        except BaseException as error:
            status, words = "wrong", f"It cannot be read: {said_by(error)}."
    first, *rest = f"{exercise}: {status}. {words}".strip().split("\n")
    first = textwrap.fill(first, 88, break_on_hyphens=False)
    return Verdict(status, "\n".join([first, *rest]))
