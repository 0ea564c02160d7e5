"""Your turn: checks that say right, not started, or which mistake it is.

``check("fires", my_fires)`` prints one verdict. Every exercise is one entry of
`EXERCISES`: what is right, what it is tried on (smallest first), and the known mistakes,
each the sentence a learner needs beside the wrong code that it belongs to. A new mistake
is one such pair. Where the answer is a value, a test of that value stands for the code.
"""

from __future__ import annotations

import contextlib
import copy
import io
import numbers
import textwrap
import warnings
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labsupport import block as lab
from labsupport import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray


class Verdict(NamedTuple):
    """What a check found: "right", "wrong" or "not started", and the words for it."""

    status: str
    message: str


def check(exercise: str, answer: Any) -> None:
    """Print the verdict on an answer: right, wrong and why, or not started."""
    print(verdict(exercise, answer).message)


def verdict(exercise: str, answer: Any) -> Verdict:
    """Return the verdict on an answer; nothing in the answer can raise or print here.

    Parameters
    ----------
    exercise : str
        A name in `EXERCISES`.
    answer : function or value
        What the exercise asks for.

    Raises
    ------
    ValueError
        If there is no such exercise.
    """
    if not isinstance(exercise, str) or exercise not in EXERCISES:
        known = ", ".join(EXERCISES)
        raise ValueError(f"there is no exercise {exercise!r}; there are {known}")
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"), _quiet():
        try:
            status, words = EXERCISES[exercise].judge(answer)
        except KeyboardInterrupt:
            status, words = "wrong", "It was interrupted. Does every loop in it end?"
        except BaseException as error:
            status, words = "wrong", f"It cannot be read: {_words(error)}."
    first, *rest = f"{exercise}: {status}. {words}".strip().split("\n")
    return Verdict(
        status, "\n".join([textwrap.fill(first, 88, break_on_hyphens=False), *rest])
    )


class Failure(NamedTuple):
    """Why an answer gave nothing to compare, in a sentence."""

    words: str
    changed: bool = False


STUB = Failure("It gives nothing.")


class Function(NamedTuple):
    """An exercise that asks for a function, tried beside the right one on cases."""

    takes: str
    right: Callable
    cases: list[tuple]
    mistakes: dict[str, Callable]
    over: str
    tolerance: float = 1e-4
    batches: tuple[tuple, ...] = ()
    """More than the task asks: to fail here is still right, with a remark."""

    def judge(self, answer: Any) -> tuple[str, str]:
        if _unwritten(answer):
            return "not started", ""
        if not callable(answer):
            return "wrong", (
                f"This is {_kind(answer)}, and the exercise asks for a function: hand in "
                "its name, with no brackets behind it."
            )
        wanted = [self.run(self.right, case) for case in self.cases]
        yours = [self.run(answer, case) for case in self.cases]
        if all(outcome is STUB for outcome in yours):
            return "not started", "The function returns nothing yet."
        failing = [i for i in range(len(yours)) if not self.same(yours[i], wanted[i])]
        if not failing:
            return "right", self.praise(answer)
        changing = [i for i in failing if getattr(yours[i], "changed", False)]
        sentence, shown = self.recognise(yours, wanted)
        if changing or not sentence:
            shown = changing or failing
            sentence = _difference(yours[shown[0]], wanted[shown[0]])
        at = next(i for i in shown if i in failing)
        return "wrong", sentence + self.show(self.cases[at], yours[at], wanted[at])

    def praise(self, answer: Callable) -> str:
        words = f"Checked on {len(self.cases)} cases: {self.over}."
        for case in self.batches:
            if not self.same(self.run(answer, case), self.run(self.right, case)):
                return words + (
                    " (For several sentences at once, an X of shape (batch, n, d), it "
                    "would have to work on the last axes, wherever they stand.)"
                )
        return words

    def run(self, function: Callable, case: tuple) -> NDArray | Failure:
        """Return what the function makes of a copy of the case, read as an array."""
        given = copy.deepcopy(case)
        with _quiet() as printed:
            try:
                result = function(*given)
                outcome = STUB if _unwritten(result) else _read(result)
            except KeyboardInterrupt:
                raise
            except NotImplementedError:
                outcome = STUB
            except RecursionError:
                outcome = Failure("It calls itself without end.")
            except BaseException as error:
                words = _words(error)
                called = isinstance(error, TypeError) and "argument" in words
                how = f" It is called with ({self.takes})." if called else ""
                # A sum with a `...` that is still to be replaced.
                blank = isinstance(error, TypeError) and "ellipsis" in words
                outcome = STUB if blank else Failure(f"It stops with {words}.{how}")
        for name, before, after in zip(self.names, case, given, strict=True):
            if not _unchanged(before, after):
                words = f"It changes its argument {name} in place; it must leave it be."
                return Failure(words, changed=True)
        if outcome is STUB and printed.getvalue().strip():
            return Failure(
                "It prints its answer and returns nothing; it must return it."
            )
        return outcome

    @property
    def names(self) -> list[str]:
        return self.takes.split(", ")

    def same(self, yours: NDArray | Failure, wanted: NDArray | Failure) -> bool:
        if isinstance(yours, Failure) or isinstance(wanted, Failure):
            return False
        if wanted.ndim == 0 and yours.size == 1:
            yours = yours.reshape(())
        if wanted.dtype == bool or yours.shape != wanted.shape:
            return yours.dtype == wanted.dtype and np.array_equal(yours, wanted)
        largest = np.abs(wanted[np.isfinite(wanted)]).max(initial=self.tolerance)
        room = self.tolerance * largest
        return np.allclose(yours.astype(float), wanted, rtol=self.tolerance, atol=room)

    def recognise(self, yours: list, wanted: list) -> tuple[str, list[int]]:
        """Return the known mistake that explains the answer best, and the cases it spoils.

        It has to agree where the mistake differs from what is right: everywhere, or, when
        something else is wrong as well, in more than half of those cases.
        """
        best, found = (0.5, 0), ("", [])
        for sentence, mistake in self.all_mistakes().items():
            variants = mistake if isinstance(mistake, tuple) else (mistake,)
            for variant in variants:
                wrong = [self.run(variant, case) for case in self.cases]
                usable = [not isinstance(w, Failure) for w in wrong]
                spoilt = [
                    i
                    for i, w in enumerate(wrong)
                    if usable[i]
                    and not np.isnan(w).any()
                    and not self.same(w, wanted[i])
                ]
                alike = [self.same(y, w) for y, w in zip(yours, wrong, strict=True)]
                shared = [i for i in spoilt if alike[i]]
                score = (len(shared) / max(len(spoilt), 1), sum(alike))
                if score > best and score[0] > 0.5:
                    best, found = score, (sentence, shared)
        return found

    def all_mistakes(self) -> dict[str, Callable]:
        def zeros(*case: Any) -> NDArray:
            return np.zeros_like(self.right(*case))

        unused = {
            f"It hands back {name} as it came.": lambda *case, i=i: case[i]
            for i, name in enumerate(self.names)
        }
        return self.mistakes | unused | {"It gives nothing but zeros.": zeros}

    def show(self, case: tuple, yours: NDArray | Failure, wanted: NDArray) -> str:
        given = [f"{n} = {_text(v)}" for n, v in zip(self.names, case, strict=True)]
        if sum(map(len, given)) < 70:
            given = [", ".join(given)]
        lines = [
            f"  {'with' if i == 0 else '':8}{line}" for i, line in enumerate(given)
        ]
        where = ""
        if isinstance(yours, Failure):
            return "\n".join(["", *lines, f"  wanted  {_text(wanted)}"])
        if yours.shape == wanted.shape and wanted.size > SHOWN:
            differs = ~np.isclose(yours, wanted, rtol=self.tolerance, atol=1e-6)
            at = tuple(int(i) for i in np.argwhere(differs)[0])
            where, yours, wanted = f"  at {list(at)}", yours[at], wanted[at]
        digits = 4 if _text(yours) != _text(wanted) else 10
        lines.append(f"  yours   {_text(yours, digits)}{where}")
        lines.append(f"  wanted  {_text(wanted, digits)}{where}")
        return "\n".join(["", *lines])


class Value(NamedTuple):
    """An exercise that asks for one value, or a pair: any that does is right."""

    asks: str
    shapes: tuple[tuple | None, ...]
    right: Callable[..., bool]
    mistakes: dict[str, Callable[..., bool]]
    hint: Callable[..., str]
    over: str

    def judge(self, answer: Any) -> tuple[str, str]:
        if _unwritten(answer):
            return "not started", ""
        refused = (
            "wrong",
            f"This is {_kind(answer)}; the exercise asks for {self.asks}.",
        )
        parts = [answer]
        if len(self.shapes) > 1:
            if not isinstance(answer, list | tuple | np.ndarray) or len(answer) != 2:
                return refused
            parts = list(answer)
        values = [_read(part) for part in parts]
        for i, (value, shape) in enumerate(zip(values, self.shapes, strict=True)):
            if isinstance(value, Failure):
                return (
                    "wrong",
                    f"The exercise asks for {self.asks}. {value.words}",
                )
            values[i] = value = value.astype(float)
            if shape is not None:
                values[i] = value = value.squeeze()
                if value.shape != shape:
                    return refused
            if not np.isfinite(value).all():
                return "wrong", "It holds NaN or infinity; it needs ordinary numbers."
        if self.right(*values):
            return "right", self.over
        for sentence, is_it in self.mistakes.items():
            if is_it(*values):
                return "wrong", sentence
        return "wrong", self.hint(*values)


# Reading what was handed in: whatever it is, it becomes an array or a sentence.


def _unwritten(value: Any) -> bool:
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    if isinstance(value, list | tuple) and len(value) > 0:
        return all(_unwritten(item) for item in value)
    return any(
        value is stub for stub in (None, ..., NotImplemented, NotImplementedError)
    ) or isinstance(value, NotImplementedError)


def _read(value: Any) -> NDArray | Failure:
    plain = isinstance(value, list | tuple | np.ndarray | np.generic | numbers.Number)
    # Asking anything else for its items could go on for ever.
    if (
        not plain
        and not hasattr(value, "__array__")
        and not hasattr(value, "__float__")
    ):
        return Failure(f"It gives {_kind(value)}, not numbers.")
    try:
        array = np.array(value)
        if array.dtype == object:
            array = array.astype(float)
    except OverflowError:
        return Failure("It gives a number too large to compare.")
    except Exception:
        return Failure(
            f"It gives {_kind(value)} that is no array of numbers: are the rows of one "
            "length, and is every entry a number?"
        )
    if array.dtype.kind not in "biuf":
        kind = {"c": "complex numbers", "U": "text"}.get(array.dtype.kind, array.dtype)
        return Failure(f"It gives {kind}, not real numbers.")
    return array


def _unchanged(before: Any, after: Any) -> bool:
    if isinstance(before, list | tuple):
        return len(before) == len(after) and all(map(_unchanged, before, after))
    if not isinstance(before, np.ndarray):
        return True
    if type(after) is not np.ndarray or before.shape != after.shape:
        return False
    return np.array_equal(before, after)


@contextlib.contextmanager
def _quiet() -> Iterator[io.StringIO]:
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        contextlib.redirect_stderr(io.StringIO()),
    ):
        yield printed


def _words(error: BaseException) -> str:
    try:
        lines = str(error).splitlines()
    except Exception:
        lines = []
    said = f": {lines[0][:120]}" if lines and lines[0] else ""
    return f"{type(error).__name__}{said}".rstrip(".")


def _kind(value: Any) -> str:
    if callable(value):
        return "a function"
    names = {"str": "text", "bool": "True or False", "int": "one number"}
    names |= {"float": "one number", "ndarray": "an array"}
    name = type(value).__name__
    shape = f" of shape {value.shape}" if type(value) is np.ndarray else ""
    return names.get(name, f"a {name}") + shape


def _difference(yours: NDArray | Failure, wanted: NDArray) -> str:
    if isinstance(yours, Failure):
        return yours.words
    if yours.shape != wanted.shape:
        shapes = [
            f"shape {s}" if s else "one number" for s in (yours.shape, wanted.shape)
        ]
        return f"It gives {shapes[0]}; wanted is {shapes[1]}."
    if wanted.dtype == bool and yours.dtype != bool:
        return "It gives numbers; wanted is True or False at every place."
    if not np.isfinite(yours).all():
        return "It gives NaN or infinity, which are no ordinary numbers."
    return "It does not give what is wanted."


SHOWN = 24
"""An array of more numbers is told by its shape, and by the first that differs."""


def _text(value: Any, digits: int = 4) -> str:
    if isinstance(value, np.ndarray | np.generic):
        if value.size > SHOWN:
            return f"an array of shape {value.shape}"
        value = value.tolist()
    if isinstance(value, list | tuple):
        inside = ", ".join(_text(item, digits) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    # Adding 0 makes -0 an ordinary zero.
    return f"{value + 0:.{digits}g}" if type(value) in (int, float) else str(value)


# What the exercises are tried on: round numbers, the same on every machine.

_RNG = np.random.default_rng(4)


def _some(*shape: int) -> NDArray:
    return np.round(_RNG.normal(size=shape), 1)


def _float32(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_float32(item) for item in value)
    is_float = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return np.float32(value) if is_float else value


def _rows(*numbers: list) -> tuple[NDArray, ...]:
    return tuple(np.array(row, dtype=float) for row in numbers)


# 01: one unit.

BENDS = {
    "The bend is smooth here; a match below zero must give exactly 0, one above, itself.": [
        lambda m: 1 / (1 + np.exp(-m)),
        np.tanh,
        lambda m: np.log1p(np.exp(-np.abs(m))) + np.maximum(m, 0),
        lambda m: m / (1 + np.exp(-m)),
        lambda m: 0.5 * m * (1 + np.tanh(0.7978845608 * (m + 0.044715 * m**3))),
        lambda m: np.where(m > 0, m, np.exp(np.minimum(m, 0)) - 1),
    ],
    "The bend leaks: a match below zero still passes a part of itself on; it must give 0.": [
        lambda m: np.where(m > 0, m, 0.01 * m),
        lambda m: np.where(m > 0, m, 0.1 * m),
        lambda m: np.where(m > 0, m, 0.2 * m),
    ],
    "Here a negative match turns positive (an absolute value); it must give 0.": [
        np.abs
    ],
    "A match above zero is cut off at 1; only what is below zero is cut.": [
        lambda m: np.clip(m, 0, 1)
    ],
    "It says whether a unit fires, not how strongly: give the match itself, not 1.": [
        lambda m: np.where(m > 0, 1.0, 0.0)
    ],
    "It keeps the smaller of match and 0; the bend keeps the larger.": [
        lambda m: np.minimum(m, 0)
    ],
    "The match is squared; a unit fires its match once.": [
        lambda m: np.maximum(m, 0) ** 2,
    ],
}


def _with_each_bend(make: Callable) -> dict[str, tuple[Callable, ...]]:
    return {words: tuple(map(make, bends)) for words, bends in BENDS.items()}


def _unit_that_bends_by(bend: Callable) -> Callable:
    return lambda pattern, evidence: bend(pattern @ evidence)


PATTERN, EVIDENCES = examples.PATTERN, examples.EVIDENCES

FIRES = Function(
    takes="pattern, evidence",
    right=lab.fires,
    cases=[
        _rows([2], [3]),
        _rows([2], [-3]),
        *[(PATTERN.copy(), evidence.copy()) for evidence in EVIDENCES],
        _rows([1, 2], [3, 4]),
        _rows([-2, 1], [3, -1]),
        _rows([-1, -2, 1], [-3, 1, 2]),
        _float32(_rows([0.5, -1, 2, 1], [1, 2, -1, 0.5])),
        _float32(_rows([0.5, -1, 2, 1], [1, -2, 1, 0.5])),
        _rows([0.02, 0.01], [0.03, 0.05]),
        _rows([2000, -1000, 500], [-3000, 1000, 100]),
        _rows([2000, -1000, 500], [3000, 1000, 100]),
        (_some(32), _some(32)),
    ],
    mistakes={
        "The bend is missing: a match below zero must give 0.": lambda p, e: p @ e,
        **_with_each_bend(_unit_that_bends_by),
        "Each product is cut at zero before the sum. Add all of them up first: what "
        "speaks against the pattern has to count too.": lambda p, e: np.maximum(
            p * e, 0
        ).sum(),
        "It gives one number for each pair; the products must be added up to one match.": (
            lambda p, e: np.maximum(p * e, 0),
            lambda p, e: p * e,
        ),
        "Pattern and evidence are added; the match multiplies them, pair by pair.": (
            lambda p, e: np.maximum((p + e).sum(), 0)
        ),
        "Pattern and evidence are bent before they meet; only the match is bent.": (
            lambda p, e: np.maximum(p, 0) @ np.maximum(e, 0)
        ),
        "The match is divided by the lengths (a cosine); the bare dot product is asked.": (
            lambda p, e: np.maximum(p @ e, 0) / np.sqrt(p @ p * (e @ e))
        ),
        "It gives the mean of the products; the match is their sum.": lambda p, e: (
            np.maximum((p * e).mean(), 0)
        ),
    },
    over="rows of one number to 32, matches above, at and below zero, large and small, "
    "in single precision too",
)


def _matches(pattern: NDArray) -> NDArray:
    # What rounding leaves of a match of 0 counts as 0.
    return np.round(EVIDENCES @ (pattern / np.abs(pattern).max(initial=1e-300)), 9)


PATTERN_EXERCISE = Value(
    asks="one pattern, two numbers such as [2, 3]",
    shapes=((2,),),
    right=lambda p: (_matches(p) > 0).tolist() == [True, False, False],
    mistakes={
        "This pattern is all zeros: it matches nothing and never fires.": lambda p: (
            not p.any()
        ),
        "This is the first evidence itself. It fires there, but on the third evidence "
        "too: both its numbers are positive, and your larger one outweighs the other.": (
            lambda p: np.allclose(p / np.abs(p).max(), EVIDENCES[0] / 0.8, atol=1e-3)
        ),
        "It is turned round: it stays quiet on the first evidence and fires on the "
        "second, which is the opposite. Look at the signs.": lambda p: (
            _matches(p)[1] > 0 and _matches(p)[2] <= 0
        ),
        "It stays quiet on the first evidence, where it must fire, and fires on others.": (
            lambda p: _matches(p)[0] <= 0 and (_matches(p) > 0).any()
        ),
        "It fires on the first evidence, as it must, but on the third, [0.5, 0.5], too: "
        "there the two numbers of your pattern must not add up to more than 0.": (
            lambda p: _matches(p)[2] > 0
        ),
    },
    hint=lambda p: "It stays quiet on all three evidences; on the first it must fire.",
    over="It fires on the first evidence and stays quiet on the other two.",
)


# 02: the bank.


def _bank_that_bends_by(bend: Callable) -> Callable:
    return lambda x, W1, W2: bend(x @ W1) @ W2


def _bank(n: int, d: int, d_ff: int) -> tuple[NDArray, ...]:
    return _some(n, d), _some(d, d_ff), _some(d_ff, d)


FEED_FORWARD = Function(
    takes="x, W1, W2",
    right=lab.feed_forward,
    cases=[
        _rows([[2]], [[1, -1]], [[3], [5]]),
        (EVIDENCES[:1].copy(), examples.W1.copy(), examples.W2.copy()),
        _rows([[1, 2], [3, -1]], [[1, 2], [-2, 1]], [[2, 1], [1, 3]]),
        (EVIDENCES.copy(), examples.W1.copy(), examples.W2.copy()),
        _bank(3, 3, 3),
        _bank(4, 3, 1),
        _bank(2, 4, 6),
        _float32(_bank(3, 2, 5)),
        tuple(part * 1000 for part in _bank(3, 2, 4)),
        _bank(10, 8, 32),
    ],
    mistakes={
        "The bend is missing: between W1 and W2 every match below zero must become 0.": (
            lambda x, W1, W2: x @ W1 @ W2
        ),
        "The bend comes after W2; it belongs between W1 and W2, on the matches.": (
            lambda x, W1, W2: np.maximum(x @ W1 @ W2, 0)
        ),
        "The bend comes before W1; it belongs between W1 and W2, on the matches.": (
            lambda x, W1, W2: np.maximum(x, 0) @ W1 @ W2
        ),
        "It bends twice, after W1 and after W2; what a bank adds may be negative.": (
            lambda x, W1, W2: np.maximum(np.maximum(x @ W1, 0) @ W2, 0)
        ),
        "W1 and W2 have changed places: x meets W1 first, the fires meet W2.": (
            lambda x, W1, W2: np.maximum(x @ W2, 0) @ W1
        ),
        "W1 and W2 are transposed; patterns are the columns of W1 and contributions the "
        "rows of W2, as they come.": (
            lambda x, W1, W2: np.maximum(x @ W1.T, 0) @ W2.T,
            lambda x, W1, W2: np.maximum(x @ W2.T, 0) @ W1.T,
        ),
        "W1 is transposed; its columns are the patterns, as it comes.": (
            lambda x, W1, W2: np.maximum(x @ W1.T, 0) @ W2
        ),
        "W2 is transposed; its rows are the contributions, as it comes.": (
            lambda x, W1, W2: np.maximum(x @ W1, 0) @ W2.T
        ),
        **_with_each_bend(_bank_that_bends_by),
        "It takes the largest number of a column (np.max); the bend compares each match "
        "with 0 on its own (np.maximum).": lambda x, W1, W2: np.max(x @ W1, 0) @ W2,
        "It stops at what the units fire; each fire still has to meet its row of W2.": (
            lambda x, W1, W2: np.maximum(x @ W1, 0)
        ),
        "It adds x as well; a bank gives the contribution alone.": lambda x, W1, W2: (
            x + np.maximum(x @ W1, 0) @ W2
        ),
        "The contributions are averaged over the units; they must be added up.": (
            lambda x, W1, W2: np.maximum(x @ W1, 0) @ W2 / len(W2)
        ),
        "Softmax stands in the place of the bend; each match is to be bent on its own.": (
            lambda x, W1, W2: lab.softmax(x @ W1) @ W2
        ),
    },
    over="the bank of the text and others, one row to ten, oblong and square, with large "
    "numbers and in single precision",
)

INPUTS = np.array(
    [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [2, 3], [-2, 3], [2, -3], [-2, -3]]
    + _RNG.integers(-40, 40, size=(60, 2)).tolist()
) / np.array([1.0])


def _fits(W1: NDArray, W2: NDArray) -> bool:
    return W1.ndim == 2 and W1.shape[0] == 2 and W2.shape == (W1.shape[1], 2)


def _gives(what: Callable) -> Callable[[NDArray, NDArray], bool]:
    def test(W1: NDArray, W2: NDArray) -> bool:
        given = lab.feed_forward(INPUTS, W1, W2)
        return np.allclose(given, what(INPUTS), rtol=1e-3, atol=1e-3)

    return test


def _first_miss(W1: NDArray, W2: NDArray) -> str:
    given = lab.feed_forward(INPUTS, W1, W2)
    misses = ~np.isclose(given, np.abs(INPUTS), rtol=1e-3, atol=1e-3).all(axis=1)
    at = np.argmax(misses)
    return (
        "It does not give the size of each number.\n"
        f"  with    {_text(INPUTS[at])}\n  yours   {_text(given[at])}\n"
        f"  wanted  {_text(np.abs(INPUTS[at]))}"
    )


ABSOLUTE_VALUE = Value(
    asks="a pair (W1, W2) of matrices",
    shapes=(None, None),
    right=lambda W1, W2: _fits(W1, W2) and _gives(np.abs)(W1, W2),
    mistakes={
        "W1 and W2 have changed places: W1 comes first in the pair.": lambda W1, W2: (
            _fits(W2, W1) and _gives(np.abs)(W2, W1)
        ),
        "Both are transposed: patterns are the columns of W1, contributions the rows of "
        "W2.": lambda W1, W2: _fits(W1.T, W2.T) and _gives(np.abs)(W1.T, W2.T),
        "The shapes do not fit: W1 needs two rows and a column for each unit, W2 a row for "
        "each unit and two columns.": lambda W1, W2: not _fits(W1, W2),
        "This bank gives nothing but zeros.": _gives(np.zeros_like),
        "This bank hands every number back with its sign: the two bends cancel.": _gives(
            lambda x: x
        ),
        "It is right for numbers above zero and gives 0 for those below: no unit fires on "
        "them yet.": _gives(lambda x: np.maximum(x, 0)),
        "It is right for numbers below zero and gives 0 for those above: no unit fires on "
        "them yet.": _gives(lambda x: np.maximum(-x, 0)),
        "The size is right and the sign is not: it comes out below zero.": _gives(
            lambda x: -np.abs(x)
        ),
        "The two numbers come out in each other's places.": _gives(
            lambda x: np.abs(x)[:, ::-1]
        ),
        "The two numbers are mixed: each answer holds the sum of both sizes.": _gives(
            lambda x: np.abs(x).sum(axis=1, keepdims=True) + 0 * x
        ),
        "It comes out twice as large as it should.": _gives(lambda x: 2 * np.abs(x)),
        "It comes out half as large as it should.": _gives(lambda x: np.abs(x) / 2),
        "The first number is right; the second still gives 0.": _gives(
            lambda x: np.abs(x) * [1, 0]
        ),
        "The second number is right; the first still gives 0.": _gives(
            lambda x: np.abs(x) * [0, 1]
        ),
    },
    hint=_first_miss,
    over=f"The bank gives |x| for {len(INPUTS)} pairs of numbers, of all signs.",
)


# 03: collapse.


def _folded(matrices: list[NDArray]) -> NDArray:
    return reduce(np.matmul, matrices)


FOLD = Function(
    takes="matrices",
    right=_folded,
    cases=[
        ([*_rows([[1, 2], [3, 4]], [[0, 1], [1, 1]])],),
        ([*_rows([[1, 2]], [[3], [4]])],),
        ([_some(2, 3), _some(3, 4)],),
        ([_some(2, 2) for _ in range(3)],),
        ([_some(2, 5), _some(5, 3), _some(3, 4)],),
        (_float32([_some(3, 2), _some(2, 3)]),),
        ([_some(3, 3) for _ in range(4)],),
        ([_some(4, 6) * 1000, _some(6, 4) * 1000],),
        ([_some(4, 4) * 0.7 for _ in range(24)],),
    ],
    mistakes={
        "The order is reversed: x meets the first matrix first, x @ W1 @ W2, so W1 stands "
        "on the left.": lambda ms: _folded(ms[::-1]),
        "The matrices are added; layer after layer multiplies, with @.": sum,
        "They are multiplied place by place (*); layers are matrix products (@).": (
            lambda ms: reduce(np.multiply, ms)
        ),
        "It is the right matrix turned on its side: transposed.": lambda ms: (
            _folded(ms).T
        ),
        "Each matrix is transposed before it is multiplied; take them as they come.": (
            lambda ms: _folded([W.T for W in ms])
        ),
        "It bends between the matrices; fold is for layers without the bend.": (
            lambda ms: reduce(lambda A, W: np.maximum(A, 0) @ W, ms)
        ),
        "It stops after the first matrix; all of them must go in.": lambda ms: ms[0],
        "Only the last matrix is left; each must multiply what came before.": (
            lambda ms: ms[-1]
        ),
        "Only two of the matrices go in; all of them must.": (
            lambda ms: ms[0] @ ms[1],
            lambda ms: ms[0] @ ms[-1],
            lambda ms: ms[-2] @ ms[-1],
        ),
        "The first matrix goes in twice.": lambda ms: _folded([ms[0], *ms]),
        "The last matrix goes in twice.": lambda ms: _folded([*ms, ms[-1]]),
        "The last matrix is left out.": lambda ms: _folded(ms[:-1]),
        "The first matrix is left out.": lambda ms: _folded(ms[1:]),
    },
    over="two matrices to 24, square and oblong, large numbers, single precision",
)


def _gap(a: NDArray, b: NDArray) -> NDArray:
    """Return bank(a + b) − bank(a) − bank(b), at a common size of 1."""
    scale = max(np.abs(a).max(), np.abs(b).max()) or 1.0
    bank = partial(lab.feed_forward, W1=examples.W1, W2=examples.W2)
    return bank((a + b) / scale) - bank(a / scale) - bank(b / scale)


def _bent_apart(a: NDArray, b: NDArray) -> bool:
    """Return whether some unit fires on one of the two and is held at 0 on the other."""
    one, other = a @ examples.W1, b @ examples.W1
    return bool((one * other < 0).any())


NOT_LINEAR = Value(
    asks="a pair (a, b) of evidences, each of two numbers",
    shapes=((2,), (2,)),
    right=lambda a, b: np.abs(_gap(a, b)).max() > 1e-6,
    mistakes={
        "Both are zero, and so is every answer.": lambda a, b: not (a.any() or b.any()),
        "One of the two is zero; adding nothing changes nothing. Take two that are not.": (
            lambda a, b: not (a.any() and b.any())
        ),
        "a and b are the same evidence: twice it makes every unit fire twice as much. Take "
        "two that do not point the same way.": np.array_equal,
        "b is a stretched copy of a: every unit stretches with it. Take two that do not "
        "point the same way.": lambda a, b: (
            a @ b > 0 and abs(a[0] * b[1] - a[1] * b[0]) <= 1e-9 * (a @ b)
        ),
        "Every unit that fires on one of them fires on the other too, so nothing is bent "
        "apart. Find two between which a unit changes its mind.": lambda a, b: (
            not _bent_apart(a, b)
        ),
    },
    hint=lambda a, b: (
        "Some units do change their mind between a and b, but their contributions cancel "
        "here; the sum of the answers is still the answer to the sum."
    ),
    over="For these two, bank(a + b) is not bank(a) + bank(b): no single matrix does that.",
)


# 04: the stack.


def _added(z: NDArray, storeys: list[NDArray]) -> NDArray:
    return reduce(lambda z, W: z + z @ W, storeys, z)


def _storeys(n: int, d: int, count: int, gain: float = 1.0) -> tuple:
    return _some(n, d), [_some(d, d) * gain for _ in range(count)]


STOREYS_TO_VANISH = Value(
    asks="one number of storeys",
    shapes=((),),
    right=lambda n: n == 39,
    mistakes={
        "A number of storeys cannot be below zero; which sign did a logarithm bring in?": (
            lambda n: n < 0
        ),
        "Storeys come whole: a part of one cannot be built.": lambda n: n % 1 != 0,
        "That leaves less than a thousandth; a millionth is a thousandth of that.": (
            lambda n: n == 20
        ),
        "That leaves less than a billionth; a millionth is asked.": lambda n: n == 59,
        "That many do leave less than a millionth, but so do fewer: the first is asked.": (
            lambda n: n > 39
        ),
    },
    hint=lambda n: f"That many still leave {1e6 * 0.7**n:,.1f} millionths: too much.",
    over="It is the first that leaves less than a millionth, and the one before does not.",
)

ADD_STACK = Function(
    takes="z, storeys",
    right=_added,
    cases=[
        (np.array([[1.0, 2.0]]), [np.array([[0.0, 1.0], [2.0, 0.0]])]),
        (np.array([[1.0, 2.0]]), [*_rows([[0, 1], [2, 0]], [[1, 0], [1, -1]])]),
        (np.array([[1.0, 2.0]]), [*_rows([[0, 0], [0, 0]], [[1, 0], [1, -1]])]),
        _storeys(2, 2, 2),
        _storeys(3, 3, 3),
        _storeys(2, 4, 3),
        _float32(_storeys(3, 2, 2)),
        (_some(2, 3) * 1e6, [_some(3, 3)] * 2),
        _storeys(10, 8, 24, 0.25),
    ],
    mistakes={
        "Each storey replaces what it reads (z = z @ W); its answer must be added to z.": (
            lambda z, storeys: reduce(np.matmul, storeys, z)
        ),
        "The first z is added at every storey; each must add to the z that it reads.": (
            lambda z, storeys: reduce(lambda s, W: z + s @ W, storeys, z)
        ),
        "Every storey reads the first z; each must read what the one below it left.": (
            lambda z, storeys: z + sum(z @ W for W in storeys)
        ),
        "Only the last storey's note is added to the first z; every note must stay.": (
            lambda z, storeys: z + _added(z, storeys[:-1]) @ storeys[-1],
            lambda z, storeys: z + z @ storeys[-1],
        ),
        "It gives the last storey's note alone, without what stood there before.": (
            lambda z, storeys: _added(z, storeys[:-1]) @ storeys[-1]
        ),
        "It gives the notes without the z they were added to.": (
            lambda z, storeys: _added(z, storeys) - z,
            lambda z, storeys: sum(z @ W for W in storeys),
        ),
        "The storeys come in reverse order; the first of the list is read first.": (
            lambda z, storeys: _added(z, storeys[::-1])
        ),
        "It stops after the first storey; all of them must have their turn.": (
            lambda z, storeys: _added(z, storeys[:1])
        ),
        "The last storey is left out.": lambda z, storeys: _added(z, storeys[:-1]),
        "The first storey is left out.": lambda z, storeys: _added(z, storeys[1:]),
        "The storeys are transposed; apply each as it comes, z @ W.": (
            lambda z, storeys: _added(z, [W.T for W in storeys])
        ),
        "The storeys stand on the wrong side: z holds rows, so it is z @ W, not W @ z.": (
            lambda z, storeys: reduce(lambda z, W: z + W @ z, storeys, z)
        ),
        "It adds the storey's numbers themselves; add what the storey makes of z, z @ W.": (
            lambda z, storeys: reduce(np.add, storeys, z)
        ),
        "z is multiplied place by place (*); a storey is a matrix product (@).": (
            lambda z, storeys: reduce(lambda z, W: z + z * W, storeys, z)
        ),
        "z is added twice at every storey.": lambda z, storeys: reduce(
            lambda z, W: 2 * z + z @ W, storeys, z
        ),
        "The note is taken away; it must be added.": lambda z, storeys: reduce(
            lambda z, W: z - z @ W, storeys, z
        ),
        "It bends what a storey makes; here a storey is its matrix alone.": (
            lambda z, storeys: reduce(lambda z, W: z + np.maximum(z @ W, 0), storeys, z)
        ),
        "The stream is tidied on the way; here it is added and nothing else.": (
            lambda z, storeys: reduce(
                lambda z, W: lab.layer_norm(z + z @ W), storeys, z
            ),
            lambda z, storeys: reduce(
                lambda z, W: z + lab.layer_norm(z) @ W, storeys, z
            ),
        ),
    },
    over="one storey to 24, one row to ten, a dud storey, large numbers, single precision",
)


# 05: layer norm.


def _norm(
    X: NDArray,
    gamma: NDArray,
    beta: NDArray,
    eps: float = 1e-5,
    axis: int | None = -1,
    ddof: int = 0,
    spread: Callable = lambda var, eps: np.sqrt(var + eps),
    scale: Callable = lambda rows, gamma, beta: rows * gamma + beta,
) -> NDArray:
    """Return layer norm written out, so that one part of it can be exchanged."""
    centred = X - X.mean(axis=axis, keepdims=True)
    var = X.var(axis=axis, ddof=ddof, keepdims=True)
    return scale(centred / spread(var, eps), gamma, beta)


def _outside(var: NDArray, eps: float) -> NDArray:
    return np.sqrt(var) + eps


def _to_norm(n: int, d: int, eps: float = 1e-5) -> tuple:
    return _some(n, d), _some(d) + 2, _some(d), eps


LAYER_NORM = Function(
    takes="X, gamma, beta, eps",
    right=lab.layer_norm,
    cases=[
        (*_rows([[1, 2, 3, 4]], [1, 1, 1, 1], [0, 0, 0, 0]), 1e-5),
        (*_rows([[1, 2], [3, 7]], [1, 1], [0, 0]), 1e-5),
        (*_rows([[0, 2], [0, 4]], [1, 1], [0, 0]), 1.0),
        (*_rows([[1, 3], [2, 6]], [2, 3], [10, 20]), 0.5),
        (*_rows([[0.001, 0.002, 0.003, 0.004]], [1, 1, 1, 1], [0, 0, 0, 0]), 1e-5),
        (*_rows([[5, 5, 5], [1, 2, 6]], [1, 2, 3], [1, 2, 3]), 1e-5),
        _to_norm(3, 3, 0.1),
        _float32(_to_norm(3, 4)),
        (*_rows([[1001, 1002, 1003, 1004]], [1, 1, 1, 1], [0, 0, 0, 0]), 1e-5),
        (_some(2, 5) * 1e6, *_to_norm(2, 5)[1:]),
        _to_norm(10, 32),
    ],
    batches=((_some(2, 3, 4), _some(4) + 2, _some(4), 1e-5),),
    mistakes={
        "Mean and spread are taken over the positions, down a column; each row is tidied "
        "from its own numbers, along the last axis.": partial(_norm, axis=0),
        "Mean and spread are taken over the whole array; each row has its own.": (
            partial(_norm, axis=None)
        ),
        "The variance is divided by n - 1; layer norm divides by n.": (
            partial(_norm, ddof=1)
        ),
        "eps is added to the spread; it belongs inside the root, to the variance.": (
            partial(_norm, spread=_outside)
        ),
        "Two things: the variance is divided by n - 1 instead of n, and eps stands outside "
        "the root.": partial(_norm, spread=_outside, ddof=1),
        "eps is left out: add it to the variance before the root.": (
            partial(_norm, spread=lambda var, eps: np.sqrt(var))
        ),
        "eps is not the one handed in: a fixed 1e-5 is used.": partial(
            _norm, spread=lambda var, eps: np.sqrt(var + 1e-5)
        ),
        "eps is squared; add it to the variance as it comes.": partial(
            _norm, spread=lambda var, eps: np.sqrt(var + eps**2)
        ),
        "The root is missing: it divides by the variance, not by its root.": (
            partial(_norm, spread=lambda var, eps: var + eps)
        ),
        "The spread is missing: the mean is taken away, and nothing divided.": (
            partial(_norm, spread=lambda var, eps: 1.0)
        ),
        "The mean stays in: take it away before dividing.": (
            lambda X, gamma, beta, eps: (
                X / np.sqrt(X.var(axis=-1, keepdims=True) + eps) * gamma + beta
            ),
            lambda X, gamma, beta, eps: (
                X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) * gamma + beta
            ),
        ),
        "The squares are summed and not averaged: divide their sum by n.": partial(
            lambda X, gamma, beta, eps: _norm(
                X, gamma, beta, eps, spread=lambda v, e: np.sqrt(v * X.shape[-1] + e)
            )
        ),
        "gamma and beta are both left out.": partial(
            _norm, scale=lambda rows, g, b: rows
        ),
        "gamma is left out: multiply by it before beta is added.": (
            partial(_norm, scale=lambda rows, g, b: rows + b)
        ),
        "beta is left out: add it at the end.": (
            partial(_norm, scale=lambda rows, g, b: rows * g)
        ),
        "gamma and beta have changed places: gamma multiplies, beta is added.": (
            partial(_norm, scale=lambda rows, g, b: rows * b + g)
        ),
        "beta is added too early: first times gamma, then plus beta.": (
            partial(_norm, scale=lambda rows, g, b: (rows + b) * g)
        ),
        "beta is taken away; it must be added.": (
            partial(_norm, scale=lambda rows, g, b: rows * g - b)
        ),
        "gamma divides; it must multiply.": (
            partial(_norm, scale=lambda rows, g, b: rows / g + b)
        ),
        "gamma and beta go by position; they belong to the features, one for each column.": (
            partial(_norm, scale=lambda rows, g, b: rows * g[:, None] + b[:, None])
        ),
    },
    over="one row to ten, eps large and small, a row without spread, rows far from zero, "
    "very small and very large ones, single precision",
)


def _mouse(stretch: float) -> float:
    """Return what *chased* reads of *mouse* when the stream is `stretch` times larger."""
    return lab.softmax(stretch**2 * np.log(examples.CHASED_READS))[-1]


STRETCH = Value(
    asks="one number",
    shapes=((),),
    right=lambda s: s > 0 and round(_mouse(s), 2) == 0.96,
    mistakes={
        "A stream cannot grow a negative number of times.": lambda s: s <= 0,
        "That is how far the scores must be stretched. The stream is in a score twice, in "
        "the query and in the key: what number times itself gives that?": lambda s: (
            abs(s - 3) < 0.03
        ),
        "That is the scores' stretch squared; the scores grow with the square of the "
        "stream, so go the other way.": lambda s: abs(s - 9) < 0.1,
        "That is half the scores' stretch. Query and key each bring the stream's growth "
        "in, and they multiply; they do not add.": lambda s: abs(s - 1.5) < 0.01,
        "That is 0.96 / 0.60; but weights do not grow in proportion to the stream: the "
        "softmax stands between.": lambda s: abs(s - 1.6) < 0.01,
        "That makes the stream smaller, and the weights more alike.": lambda s: s < 1,
    },
    hint=lambda s: (
        f"With a stream that much larger, mouse gets {_mouse(s):.2f}; wanted is 0.96."
    ),
    over="The scores grow with the square of the stream, and mouse gets 0.96.",
)


# 06: the block.

CAUSAL_MASK = Function(
    takes="n",
    right=lab.causal_mask,
    cases=[(2,), (1,), (3,), (5,), (16,)],
    mistakes={
        "It is upside down: row by row, a word may read itself and what came before; here "
        "it reads itself and what comes after.": lambda n: np.tri(n, dtype=bool).T,
        "True and False have changed places: True must stand where a word may read.": (
            lambda n: ~np.tri(n, dtype=bool)
        ),
        "The diagonal is missing: a word may read itself too.": (
            lambda n: np.tri(n, k=-1, dtype=bool)
        ),
        "Every word may read every other here; what comes after must be False.": (
            lambda n: np.ones((n, n), dtype=bool)
        ),
        "Each word may read itself alone here; what came before must be True as well.": (
            lambda n: np.eye(n, dtype=bool)
        ),
        "One word too many: each may read the next one as well.": (
            lambda n: np.tri(n, k=1, dtype=bool)
        ),
        "It holds 0 and 1; wanted are True and False (dtype=bool).": (
            lambda n: np.tri(n)
        ),
        "This is a mask to be added to the scores (0 and -inf); wanted is one of True and "
        "False, True where a word may read.": (
            lambda n: np.where(np.tri(n), 0, -np.inf),
            lambda n: np.where(np.tri(n), 0, -1e9),
        ),
    },
    over="masks for one word to 16",
)


def _gather(
    X: NDArray,
    W_Q: NDArray,
    W_K: NDArray,
    W_V: NDArray,
    W_O: NDArray,
    mask: NDArray | None = None,
    axis: int = -1,
    divisor: Callable = lambda d_k, d: np.sqrt(d_k),
    hidden: float = -np.inf,
    merge: Callable = lambda heads: np.concatenate(list(heads), axis=-1),
) -> NDArray:
    """Return attention written out, so that one part of it can be exchanged."""
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    scores = Q @ K.swapaxes(-1, -2) / divisor(W_Q.shape[-1], X.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, hidden)
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return merge(weights / weights.sum(axis=axis, keepdims=True) @ V) @ W_O


def _wired(
    X: NDArray,
    attn: tuple,
    ffn: tuple,
    ln_1: tuple,
    ln_2: tuple,
    mask: NDArray | None,
    gather: Callable = lab.multi_head_attention,
    think: Callable = lab.feed_forward,
    norm: Callable = lab.layer_norm,
) -> NDArray:
    """Return the block written out, so that one part of it can be exchanged."""
    Z = X + gather(norm(X, *ln_1), *attn, mask)
    return Z + think(norm(Z, *ln_2), *ffn)


def _but(**piece: Callable) -> Callable:
    """Return the block with one piece exchanged."""
    return partial(_wired, **piece)


def _attending(**part: Any) -> Callable:
    return _but(gather=partial(_gather, **part))


_A, _F, _N = lab.multi_head_attention, lab.feed_forward, lab.layer_norm


def _to_block(n: int, d: int, h: int, d_ff: int, mask: NDArray | None = None) -> tuple:
    attn = (*(_some(h, d, d // h) for _ in "QKV"), _some(d, d))
    norms = [(_some(d) + 2, _some(d)) for _ in range(2)]
    return (_some(n, d), attn, (_some(d, d_ff), _some(d_ff, d)), *norms, mask)


def _silent(n: int, d: int) -> tuple:
    """Return a block whose weights are all zero: it must hand X on untouched."""
    _, attn, ffn, *norms, mask = _to_block(n, d, 1, 2)
    zero = [tuple(0 * W for W in group) for group in (attn, ffn)]
    return (_some(n, d), *zero, *norms, mask)


_LOWER = np.tri(3, dtype=bool)
_ODD = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]], dtype=bool)

BLOCK = Function(
    takes="X, attn, ffn, ln_1, ln_2, mask",
    right=lab.block,
    cases=[
        _silent(1, 2),
        _to_block(1, 2, 1, 1),
        _to_block(2, 2, 1, 2),
        _to_block(2, 2, 1, 2, _LOWER[:2, :2]),
        _to_block(3, 4, 2, 3),
        _to_block(3, 4, 2, 3, _LOWER),
        _to_block(3, 3, 3, 5, _ODD),
        _float32(_to_block(3, 2, 2, 4, _LOWER)),
        _to_block(4, 4, 4, 4),
        (_some(5, 9) * 1000, *_to_block(5, 9, 3, 36, lab.causal_mask(5))[1:]),
    ],
    batches=((_some(2, 3, 4), *_to_block(3, 4, 2, 3, _LOWER)[1:]),),
    mistakes={
        "The normed row is added back; add to the raw one, both times: the stream itself "
        "is never tidied.": lambda X, a, f, n1, n2, m: (
            (T := _N((S := _N(X, *n1)) + _A(S, *a, m), *n2)) + _F(T, *f)
        ),
        "After the attention the normed row is added back; add to X as it came.": (
            lambda X, a, f, n1, n2, m: (
                (Z := _N(X, *n1) + _A(_N(X, *n1), *a, m)) + _F(_N(Z, *n2), *f)
            )
        ),
        "After the feed-forward layer the normed row is added back; add to Z as it was.": (
            lambda X, a, f, n1, n2, m: (
                (T := _N(X + _A(_N(X, *n1), *a, m), *n2)) + _F(T, *f)
            )
        ),
        "This is post-norm: it tidies the stream after each addition. Tidy only the copy "
        "that a sublayer reads.": lambda X, a, f, n1, n2, m: _N(
            (Z := _N(X + _A(X, *a, m), *n1)) + _F(Z, *f), *n2
        ),
        "Both norms are missing; each sublayer reads a tidied copy.": (
            _but(norm=lambda X, gamma, beta: X)
        ),
        "The attention reads X untidied; it has to read the copy that ln_1 tidied.": (
            lambda X, a, f, n1, n2, m: (Z := X + _A(X, *a, m)) + _F(_N(Z, *n2), *f)
        ),
        "The feed-forward layer reads Z untidied; it has to read the copy that ln_2 tidied.": (
            lambda X, a, f, n1, n2, m: (Z := X + _A(_N(X, *n1), *a, m)) + _F(Z, *f)
        ),
        "The feed-forward layer reads X; it has to read Z, where the attention's answer is "
        "already in.": lambda X, a, f, n1, n2, m: (
            X + _A(_N(X, *n1), *a, m) + _F(_N(X, *n2), *f)
        ),
        "The same norm stands twice: ln_2 is never used.": lambda X, a, f, n1, n2, m: (
            _wired(X, a, f, n1, n1, m)
        ),
        "The same norm stands twice: ln_1 is never used.": lambda X, a, f, n1, n2, m: (
            _wired(X, a, f, n2, n2, m)
        ),
        "The two norms have changed places: ln_1 is the attention's.": (
            lambda X, a, f, n1, n2, m: _wired(X, a, f, n2, n1, m)
        ),
        "The norms' gamma and beta are not used.": (
            _but(norm=lambda X, gamma, beta: _N(X))
        ),
        "The norm runs over the positions; it tidies each row from its own numbers.": (
            _but(norm=partial(_norm, axis=0))
        ),
        "A last norm is put on the result; the stream leaves the block untidied.": (
            lambda X, a, f, n1, n2, m: _N(_wired(X, a, f, n1, n2, m)),
            lambda X, a, f, n1, n2, m: _N(_wired(X, a, f, n1, n2, m), *n2),
        ),
        "The first addition is missing: attention's answer replaces X.": (
            lambda X, a, f, n1, n2, m: (Z := _A(_N(X, *n1), *a, m)) + _F(_N(Z, *n2), *f)
        ),
        "The second addition is missing: the feed-forward answer replaces Z.": (
            lambda X, a, f, n1, n2, m: _F(_N(X + _A(_N(X, *n1), *a, m), *n2), *f)
        ),
        "Both additions are missing; each answer is to be added to what stood there.": (
            lambda X, a, f, n1, n2, m: _F(_N(_A(_N(X, *n1), *a, m), *n2), *f)
        ),
        "The second answer is added to X instead of Z, and the attention's is lost.": (
            lambda X, a, f, n1, n2, m: X + _F(_N(X + _A(_N(X, *n1), *a, m), *n2), *f)
        ),
        "The attention is left out.": _but(gather=lambda X, *attn: 0),
        "The feed-forward layer is left out.": _but(think=lambda X, *ffn: 0),
        "The sublayers have changed places: first gather (attn), then think (ffn).": (
            lambda X, a, f, n1, n2, m: (
                (Z := X + _F(_N(X, *n1), *f)) + _A(_N(Z, *n2), *a, m)
            ),
            lambda X, a, f, n1, n2, m: (
                (Z := X + _F(_N(X, *n2), *f)) + _A(_N(Z, *n1), *a, m)
            ),
        ),
        "The bend is missing in the feed-forward layer.": (
            _but(think=lambda X, W1, W2: X @ W1 @ W2)
        ),
        "The bend comes after W2; it belongs between W1 and W2.": (
            _but(think=lambda X, W1, W2: np.maximum(X @ W1 @ W2, 0))
        ),
        "The mask is not used; hand it on to the attention.": (
            lambda X, a, f, n1, n2, m: _wired(X, a, f, n1, n2, None)
        ),
        "The mask is upside down: it hides what may be read. True means: may read.": (
            lambda X, a, f, n1, n2, m: _wired(
                X, a, f, n1, n2, m if m is None else ~m, gather=_gather
            )
        ),
        "The mask is transposed: a row belongs to the word that reads.": (
            lambda X, a, f, n1, n2, m: _wired(X, a, f, n1, n2, m if m is None else m.T)
        ),
        "A hidden score becomes 0, which still has weight after the softmax; it must be "
        "-inf.": _attending(hidden=0),
        "The softmax runs over the wrong axis: the weights of each row (what one word "
        "reads) must sum to one, so it is the last axis.": _attending(axis=-2),
        "The scores are not divided: √d_k is missing.": _attending(
            divisor=lambda k, d: 1
        ),
        "The scores are divided by d_k; it must be its root, √d_k.": (
            _attending(divisor=lambda k, d: k)
        ),
        "The scores are divided by the root of the whole width; it must be √d_k, the width "
        "of one head.": _attending(divisor=lambda k, d: np.sqrt(d)),
        "The heads are merged by a reshape without swapping axes first, which mixes the "
        "words: each word's heads must end up side by side.": (
            _attending(merge=lambda heads: heads.reshape(heads.shape[1], -1))
        ),
        "The heads are side by side in reverse order.": (
            _attending(merge=lambda heads: np.concatenate(list(heads[::-1]), axis=-1))
        ),
        "W_Q and W_K have changed places.": _but(
            gather=lambda X, Q, K, V, O, m: _A(X, K, Q, V, O, m)
        ),
        "W_K and W_V have changed places.": _but(
            gather=lambda X, Q, K, V, O, m: _A(X, Q, V, K, O, m)
        ),
        "W_O is not used; the heads' answers must go through it.": _but(
            gather=lambda X, Q, K, V, O, m: _A(X, Q, K, V, np.eye(len(O)), m)
        ),
    },
    over="one word to five, one head to four, with and without a mask, weights that are "
    "all zero, a large stream, single precision",
)

COUNT_PARAMETERS = Function(
    takes="d_model, d_ff",
    right=lambda d_model, d_ff: 4 * d_model**2 + 2 * d_model * d_ff,
    cases=[(1, 1), (2, 3), (3, 2), (9, 36), (32, 128), (512, 2048), (768, 1000)],
    tolerance=1e-9,
    mistakes={
        "One of W_Q, W_K, W_V and W_O is forgotten: attention has four squares.": (
            lambda d, f: 3 * d * d + 2 * d * f
        ),
        "The feed-forward layer has two matrices, W1 and W2; one is forgotten.": (
            lambda d, f: 4 * d * d + d * f
        ),
        "Only the attention is counted.": lambda d, f: 4 * d * d,
        "Only the feed-forward layer is counted.": lambda d, f: 2 * d * f,
        "Attention's four matrices are counted as one.": lambda d, f: d * d + 2 * d * f,
        "Biases are counted; these matrices come without.": (
            lambda d, f: 4 * d * d + 2 * d * f + d + f,
            lambda d, f: 4 * d * d + 2 * d * f + 5 * d + f,
        ),
        "The norms' gamma and beta are counted; only attention and feed-forward are asked.": (
            lambda d, f: 4 * d * d + 2 * d * f + 2 * d,
            lambda d, f: 4 * d * d + 2 * d * f + 4 * d,
        ),
        "The heads are multiplied in. They share the width between them: h heads, each "
        "d_model / h wide, make d_model again.": tuple(
            lambda d, f, h=h: h * 4 * d * d + 2 * d * f for h in range(2, 17)
        ),
        "d_ff is taken to be four times d_model; use the one handed in.": (
            lambda d, f: 12 * d * d
        ),
        "Attention is counted as 4 * d_model; each of its matrices is a square.": (
            lambda d, f: 4 * d + 2 * d * f
        ),
        "Widths are added where they must be multiplied: a matrix holds rows times "
        "columns.": lambda d, f: 4 * (d + d) + 2 * (d + f),
        "Attention and feed-forward are multiplied; they are added.": (
            lambda d, f: 4 * d * d * 2 * d * f
        ),
    },
    over="blocks one wide to 768, with d_ff four times as wide and not",
)

EXERCISES = {
    "fires": FIRES,
    "pattern": PATTERN_EXERCISE,
    "feed_forward": FEED_FORWARD,
    "absolute_value": ABSOLUTE_VALUE,
    "fold": FOLD,
    "not_linear": NOT_LINEAR,
    "storeys_to_vanish": STOREYS_TO_VANISH,
    "add_stack": ADD_STACK,
    "layer_norm": LAYER_NORM,
    "stretch": STRETCH,
    "causal_mask": CAUSAL_MASK,
    "block": BLOCK,
    "count_parameters": COUNT_PARAMETERS,
}
