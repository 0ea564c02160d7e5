"""Your turn: checks that say right, not started, or which mistake it is.

The exercises stand in one file a notebook, `exercises_01_if_unit.py` and so on; each
`Function` or `Value` that such a file defines is an exercise under its own name:

    double = Function(
        takes="x",
        right=lambda x: 2 * x,
        cases=[(1.0,), (-3.0,), (0.5,)],
        mistakes=named(
            "It is squared; twice x is x + x.",
            lambda x: x**2,
            "It is halved.",
            lambda x: x / 2,
        ),
        over="numbers above and below zero",
    )

The notebook then asks for `my_double`, in a cell that ends in
`check("double", my_double)`, with one answer folded in the next. How an answer is
judged stands in `judge.py`. `EXERCISES[name].mistakes` lists what to expect: pairs of a
sentence and the wrong answers that it is for.
"""

from __future__ import annotations

import sys
import textwrap
from typing import Any, NamedTuple

from labsupport.checks import (
    exercises_01_if_unit,
    exercises_02_bank_of_units,
    exercises_03_collapse_without_relu,
    exercises_04_replacing_stack,
    exercises_05_layer_norm_drift,
    exercises_06_three_deep_block,
)
from labsupport.checks.judge import Function, Value, guarded, overwritten, said_by

EXERCISES: dict[str, Function | Value] = {
    name: exercise
    for module in (
        exercises_01_if_unit,
        exercises_02_bank_of_units,
        exercises_03_collapse_without_relu,
        exercises_04_replacing_stack,
        exercises_05_layer_norm_drift,
        exercises_06_three_deep_block,
    )
    for name, exercise in vars(module).items()
    if isinstance(exercise, Function | Value)
}


class Verdict(NamedTuple):
    """What a check found, "right", "wrong" or "not started", and the words for it."""

    status: str
    message: str


def check(exercise: str, answer: Any) -> None:
    """Print the verdict on an answer; what a screen's alphabet lacks becomes a "?"."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(
        verdict(exercise, answer).message.encode(encoding, "replace").decode(encoding)
    )


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
    damaged = overwritten()
    with guarded():
        try:
            status, words = EXERCISES[exercise].judge(answer)
        except KeyboardInterrupt:
            status, words = "wrong", "It was interrupted: does every loop in it end?"
        except BaseException as error:
            status, words = "wrong", f"It cannot be read: {said_by(error)}."
    head, *shown = f"{exercise}: {status}. {words}".strip().split("\n")
    lines = [*wrapped(head), *shown]
    if damaged:
        lines += wrapped(
            f"Besides the answer: {', '.join(damaged[:5])} was overwritten in this "
            "notebook. Take the line out that sets it, and restart the kernel."
        )
    return Verdict(status, "\n".join(lines))


def wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 88, break_on_hyphens=False)
