"""The mechanism of every check: an answer beside what is right, and known mistakes.

A `Function` exercise runs the answer and each known mistake on the same cases, and
names the mistake that the answer agrees with where it is wrong. A `Value` exercise
tests the value itself. Nothing that is handed in can raise or print here, wait for an
input, or leave a setting or a function of NumPy's other than it was.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import io
import math
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from labsupport import block
from labsupport.shapes import NotNumbers, real_array


class Failure(NamedTuple):
    """Why there is nothing to compare, in words."""

    words: str
    changed: bool = False


STUB = Failure("It returns nothing.")
Outcome: TypeAlias = np.ndarray | Failure


class When(NamedTuple):
    """A mistake told by what an answer does, not by a formula that it agrees with.

    `holds` is given the answer to ask: NaN is what it gives where it gives nothing.
    """

    holds: Callable[[Callable], Any]


def named(*table: str | Callable | When) -> list[tuple[str, list]]:
    """Read a table: a sentence, then the mistakes that it is for, and the next one."""
    rows: list[tuple[str, list]] = []
    for entry in table:
        if isinstance(entry, str):
            rows.append((entry, []))
        else:
            rows[-1][1].append(entry)
    return rows


@dataclass(eq=False, kw_only=True)
class Function:
    """An exercise that asks for a function, tried beside the right one."""

    takes: str
    right: Callable
    cases: list[tuple]  # the first that fails is shown, so the smallest come first
    mistakes: list[tuple[str, list]]  # wrong functions, or When
    over: str
    remarks: Sequence[tuple[str, list]] = ()  # When, of an answer that is right

    def judge(self, answer: Any) -> tuple[str, str]:
        if is_stub(answer):
            return "not started", ""
        if not callable(answer):
            return "wrong", (
                f"This is {kind(answer)}; hand in the function itself, by its name "
                "alone, with no brackets behind it."
            )
        tried = [self.run(answer, case) for case in self.cases]
        yours = [outcome for outcome, _ in tried]
        if all(outcome is STUB for outcome in yours):
            return "not started", "The function returns nothing yet."
        slack = rounded_by(yours)
        right = [
            self.same(y, w, slack) for y, w in zip(yours, self.wanted, strict=True)
        ]
        failing = [i for i, is_right in enumerate(right) if not is_right]
        if not failing:
            told = [s for s, tests in self.remarks if self.holds(tests[0], answer)]
            return (
                "right",
                f"Checked on {len(yours)} cases: {self.over}. {' '.join(told)}",
            )
        changed = [i for i in failing if getattr(yours[i], "changed", False)]
        sentence, at = "", (changed or failing)[0]
        if not changed:
            sentence, at = self.recognise(answer, yours, failing, slack)
        sentence = sentence or difference(yours[at], self.wanted[at])
        return "wrong", "\n".join([sentence, *self.shown(at, *tried[at])])

    def run(self, function: Callable, case: tuple) -> tuple[Outcome, str]:
        """Return what the function makes of a copy of a case, and what it prints."""
        given = copy.deepcopy(case)
        outcome: Outcome
        with quiet() as out:
            try:
                result = function(*given)
                outcome = STUB if is_stub(result) else read("What it gives", result)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                outcome = self.stopped(error, function)
            printed = out.getvalue().strip("\n")
        if outcome is STUB and printed.strip():
            outcome = Failure("It prints its answer; it must return it.")
        for name, before, after in zip(self.names, case, given, strict=True):
            if not unchanged(before, after):
                words = f"It changes its argument {name} in place; make a new array."
                outcome = Failure(words, changed=True)
        return outcome, printed

    def stopped(self, error: BaseException, function: Callable) -> Failure:
        """Return why a function gave nothing, and what to do where that is known."""
        said, hint = said_by(error), ""
        if type(error) is NotImplementedError or "ellipsis" in said:
            return STUB  # it computes with a `...` that is still to be replaced
        if isinstance(error, NoInput):
            return Failure("It asks with input(); all it needs comes as its arguments.")
        if isinstance(error, RecursionError):
            return Failure("It calls itself without end.")
        at = error.__traceback__
        if type(error) is TypeError and at and at.tb_next is None:
            return Failure(f"It is called with ({self.takes}): {said}.")
        if "truth value of an array" in said:
            hint = (
                " One if decides for all numbers at once; np.maximum decides for each."
            )
        if "required positional argument" in said:
            hint = " Is a star missing? *group hands on the arrays of a group."
        if "is not callable" in said:
            space = getattr(function, "__globals__", {})
            hidden = [n for n in ARITHMETIC if not callable(space.get(n, callable))]
            hint = "".join(
                f" {n} is a variable of yours here: del {n}." for n in hidden
            )
        return Failure(f"It stops with {said}.{hint}")

    def same(self, yours: Outcome, wanted: Outcome, slack: float = 0) -> bool:
        if isinstance(yours, Failure) or isinstance(wanted, Failure):
            return False
        if wanted.ndim == 0 and yours.size == 1:
            yours = yours.reshape(())
        if wanted.dtype == bool or yours.shape != wanted.shape:
            return yours.dtype == wanted.dtype and np.array_equal(yours, wanted)
        off = np.abs(yours.astype(float) - wanted).max(initial=0)
        close = 1e-4 * np.abs(wanted).max(initial=1e-4) * (wanted.dtype.kind == "f")
        return off <= max(close, slack)

    def recognise(
        self, answer: Callable, yours: list[Outcome], failing: list[int], slack: float
    ) -> tuple[str, int]:
        """Return the known mistake that explains the answer best, and where it shows.

        The answer agrees with it where either of them is wrong: everywhere, or, when
        something else is wrong as well, in two cases out of three.
        """
        best, found = 2 / 3, ("", failing[0])
        for sentence, mistake, wrong in self.spoilt:
            if isinstance(mistake, When):
                share, shown = float(self.holds(mistake, answer)), failing
            else:
                off = {
                    i for i in wrong if not self.same(wrong[i], self.wanted[i], slack)
                }
                both = [i for i in failing if i in wrong]
                shown = [i for i in both if self.same(yours[i], wrong[i], slack)]
                share = len(shown) / max(len(off.union(both)), 1)
            if share > best:
                best, found = share, (sentence, shown[0])
        return found

    def holds(self, mistake: When, answer: Callable) -> bool:
        def ask(*case: Any) -> np.ndarray:
            outcome, _ = self.run(answer, case)
            return np.array(np.nan) if isinstance(outcome, Failure) else outcome

        ask.__wrapped__ = answer  # type: ignore[attr-defined]
        try:
            return bool(mistake.holds(ask))
        except Exception:  # what it gives has not the shape that is asked about
            return False

    @property
    def names(self) -> list[str]:
        return self.takes.split(", ")

    @cached_property
    def wanted(self) -> list[Outcome]:
        return [self.run(self.right, case)[0] for case in self.cases]

    @cached_property
    def spoilt(self) -> list[tuple[str, Any, dict[int, np.ndarray]]]:
        """Each mistake with its sentence, and what it makes of the cases it can do."""
        table = []
        for sentence, mistake in self.known():
            arrays = {}
            for i, case in enumerate([] if isinstance(mistake, When) else self.cases):
                outcome, _ = self.run(mistake, case)
                if not isinstance(outcome, Failure) and np.isfinite(outcome).all():
                    arrays[i] = outcome
            table.append((sentence, mistake, arrays))
        return table

    def known(self) -> Iterator[tuple[str, Any]]:
        """Yield each known mistake after its sentence, also those of any function."""
        for i, name in enumerate(self.names):
            if not isinstance(self.cases[0][i], tuple | NoneType):
                yield f"It hands back {name} as it came.", lambda *c, i=i: c[i]
        yield "It gives nothing but zeros.", lambda *c: np.zeros_like(self.right(*c))
        for sentence, mistakes in self.mistakes:
            yield from ((sentence, mistake) for mistake in mistakes)
        yield "It gives the same number whatever goes in.", When(self.is_constant)

    def is_constant(self, answer: Callable) -> bool:
        given = np.concatenate([np.ravel(answer(*case)) for case in self.cases])
        return np.ptp(given.astype(float)) == 0

    def shown(self, at: int, yours: Any, printed: str) -> list[str]:
        """Return the case, what came out, what was wanted and what was printed."""
        wanted: Any = self.wanted[at]
        where, digits = "", 4
        case = zip(self.names, self.cases[at], strict=True)
        given = [f"{name} = {text_of(value)}" for name, value in case]
        given = [", ".join(given)] if sum(map(len, given)) < ROOM else given
        lines = labelled("with", given)
        if not isinstance(yours, Failure):
            long = "array" in text_of(yours) + text_of(wanted)
            if yours.shape == wanted.shape and long:
                off = ~np.isclose(yours, wanted, rtol=1e-4, atol=1e-6)
                index = tuple(int(i) for i in np.argwhere(off)[0])
                yours, wanted = yours[index], wanted[index]
                where = f"  at {list(index)}"
            digits = 4 if text_of(yours) != text_of(wanted) else 10
            lines += labelled("yours", [text_of(yours, digits) + where])
        lines += labelled("wanted", [text_of(wanted, digits) + where])
        said = [line.expandtabs()[:ROOM] for line in printed.splitlines()]
        if len(said) > PRINTED:
            said[PRINTED - 1 :] = [f"... and {len(said) - PRINTED + 1} lines more"]
        return lines + labelled("prints", said)


@dataclass(eq=False, kw_only=True)
class Value:
    """An exercise that asks for a value, or for a pair: any that does what is asked."""

    takes: str
    asks: str
    shape: tuple | None
    right: Callable[..., Any]
    mistakes: list[tuple[str, list]]  # tests of the values
    hint: Callable[..., str]
    over: str
    remarks: Sequence[tuple[str, list]] = ()  # tests of values that are right

    def judge(self, answer: Any) -> tuple[str, str]:
        if is_stub(answer):
            return "not started", ""
        if is_stub(answer, any):
            return "wrong", "It is not finished: a part of it is still missing."
        asks = f"The exercise asks for {self.asks}"
        parts = [answer]
        if "," in self.takes:
            if not isinstance(answer, list | tuple | np.ndarray) or len(answer) != 2:
                return "wrong", f"{asks}; this is {kind(answer)}."
            parts = [*answer]
        values = []
        for part in parts:
            value = read("what stands here", part)
            if isinstance(value, Failure):
                return "wrong", f"{asks}; {value.words}"
            shape = value.shape if self.shape is None else self.shape
            if self.shape is not None and value.squeeze().shape != shape:
                return "wrong", f"{asks}; here stands {kind(value)}."
            if not np.isfinite(value).all():
                return "wrong", f"{asks}; here stands NaN or infinity."
            values.append(value.astype(float).reshape(shape))
        is_right = self.right(*values)
        for sentence, tests in self.remarks if is_right else self.mistakes:
            if any(test(*values) for test in tests):
                return (
                    ("right", f"{self.over} {sentence}")
                    if is_right
                    else ("wrong", sentence)
                )
        return ("right", self.over) if is_right else ("wrong", self.hint(*values))


# Whatever is handed in becomes an array, or a failure in words.


def is_stub(value: Any, how_many: Callable = all) -> bool:
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    if isinstance(value, list | tuple) and len(value) > 0:
        return how_many(is_stub(part, how_many) for part in value)
    stubs = (None, ..., NotImplemented, NotImplementedError)
    return any(value is s for s in stubs) or isinstance(value, NotImplementedError)


def read(what: str, value: Any) -> Outcome:
    try:
        array = real_array(what, value)
    except NotNumbers as error:
        return Failure(f"{error}.")
    # The copy is for answers that write each result into the same array.
    small = array.size < 10**6
    return np.array(array) if small else Failure(f"{what} is {array.size} numbers.")


def unchanged(before: Any, after: Any) -> bool:
    if isinstance(before, list | tuple):
        return len(before) == len(after) and all(map(unchanged, before, after))
    return not isinstance(before, np.ndarray) or (
        type(after) is np.ndarray
        and before.shape == after.shape
        and np.array_equal(before, after)
    )


def rounded_by(outcomes: list[Outcome]) -> float:
    """Return how far an answer may be off that is rounded as the text prints numbers.

    Rounded is what is so in every case: a small result that alone became 0 is wrong.
    """
    arrays = [o.astype(float) for o in outcomes if not isinstance(o, Failure)]
    for digits in range(2, 8):
        if all(np.allclose(a, a.round(digits), rtol=1e-6, atol=0) for a in arrays):
            return 0.501 * 10.0**-digits
    return 0


# Nothing gets out of what runs here, and nothing stays changed.


class NoInput(Exception):
    """Raised where an answer would wait for its user."""


def no_input(*prompt: Any) -> str:
    raise NoInput


ARITHMETIC = (
    "abs",
    "float",
    "int",
    "len",
    "list",
    "max",
    "min",
    "range",
    "round",
    "sum",
)
OWN = [(module, dict(vars(module))) for module in (np, math, block, builtins)]
"""What every answer and every check rely on, as it came."""


def overwritten() -> list[str]:
    """Return the functions of NumPy, math, ours and Python that are others now."""
    names = {np: "np.", math: "math.", block: "lab.", builtins: ""}
    return [
        names[module] + name
        for module, own in OWN
        for name, value in own.items()
        if callable(value) and vars(module).get(name) is not value
        if module is not builtins or name in ARITHMETIC
    ]


def put(contents: list[tuple[Any, dict]]) -> None:
    for module, names in contents:
        vars(module).update(names)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Judge with NumPy as it came and nobody to ask; then leave all as it was found."""
    found = [(module, dict(vars(module))) for module, _ in OWN]
    try:
        put(OWN)
        builtins.input = no_input
        with quiet():
            yield
    finally:
        put(found)


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    """Let nothing out of what runs inside and undo its settings; yield its prints."""
    out, asked = io.StringIO(), builtins.input
    with (
        warnings.catch_warnings(action="ignore"),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        try:
            yield out
        finally:
            put(OWN)
            builtins.input = asked


# How things are said.

ROOM = 66
"""What is shown takes one line; what is longer is told by its shape."""

PRINTED = 10
"""So many lines of what an answer prints are shown."""


def said_by(error: BaseException) -> str:
    try:
        said = textwrap.shorten(str(error), 200, placeholder=" ...")
    except Exception:
        said = ""
    return f"{type(error).__name__}: {said}".rstrip(": .")


def kind(value: Any) -> str:
    if type(value) is np.ndarray:
        return f"an array of shape {value.shape}" if value.ndim else "one number"
    names = {"str": "text", "bool": "True or False", "int": "one number"}
    names |= {"float": "one number", "function": "a function"}
    name = type(value).__name__
    return names.get(name, f"a{'n' * (name[0] in 'aeiouAEIOU')} {name}")


def difference(yours: Outcome, wanted: Any) -> str:
    if isinstance(yours, Failure):
        return yours.words
    if yours.shape != wanted.shape:
        return f"It gives {kind(yours)}; wanted is {kind(wanted)}."
    if wanted.dtype == bool and yours.dtype != bool:
        return "It gives numbers; wanted is True or False in every place."
    if not np.isfinite(yours).all():
        return "It gives NaN or infinity where an ordinary number is wanted."
    return "It does not give what is wanted."


def labelled(label: str, lines: list[str]) -> list[str]:
    return [f"  {label * (not i):<8}{line}" for i, line in enumerate(lines)]


def text_of(value: Any, digits: int = 4) -> str:
    """Return numbers as they can be copied; what is too long, by its shape."""
    text = numbers_in(value, digits)
    if len(text) <= ROOM:
        return text
    if isinstance(value, list | tuple):
        shapes = dict.fromkeys(str(np.shape(item)) for item in value)
        return f"{len(value)} arrays of shape {' and '.join(shapes)}"
    return f"an array of shape {value.shape}"


def numbers_in(value: Any, digits: int) -> str:
    if isinstance(value, np.ndarray | np.generic):
        if value.size > ROOM:
            return f"an array of shape {value.shape}"
        value = value.tolist()
    if isinstance(value, list | tuple):
        inside = ", ".join(numbers_in(item, digits) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    # Adding 0 turns -0 into 0.
    return f"{value + 0:.{digits}g}" if type(value) in (int, float) else str(value)
