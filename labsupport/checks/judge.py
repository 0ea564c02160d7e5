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
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labsupport import block
from labsupport.shapes import NotNumbers, real_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray


class Failure(NamedTuple):
    """Why there is nothing to compare, in words."""

    words: str
    changed: bool = False


STUB = Failure("It returns nothing.")


class When(NamedTuple):
    """A mistake told by what an answer does, and not by a formula that it agrees with.

    `holds` asks the answer, as often as it likes; where that gives nothing, it is NaN.
    """

    holds: Callable[[Callable], Any]


def named(*table: str | Callable | When) -> list[tuple[str, tuple]]:
    """Read a table of mistakes: the sentence a learner needs, then what it is for."""
    rows: list[tuple[str, tuple]] = []
    for entry in table:
        if isinstance(entry, str):
            rows.append((entry, ()))
        else:
            rows[-1] = (rows[-1][0], (*rows[-1][1], entry))
    return rows


@dataclass(eq=False)
class Function:
    """An exercise that asks for a function, tried beside the right one."""

    takes: str
    right: Callable
    cases: list[tuple]  # the smallest first: the first that fails is shown
    mistakes: list[tuple[str, tuple]]  # a wrong function, or When
    over: str
    tolerance: float = 1e-4
    # More than the task asks for: what a right answer is told, from asking it.
    remark: Callable[[Callable], str] = lambda answer: ""

    def judge(self, answer: Any) -> tuple[str, str]:
        if _is_stub(answer):
            return "not started", ""
        if not callable(answer):
            return "wrong", (
                f"This is {_kind(answer)}; hand in the function itself, by its name "
                "alone, with no brackets behind it."
            )
        tried = [self.run(answer, case) for case in self.cases]
        yours = [outcome for outcome, _ in tried]
        if all(outcome is STUB for outcome in yours):
            return "not started", "The function returns nothing yet."
        slack = _slack(yours)
        failing = [
            i for i, w in enumerate(self.wanted) if not self.same(yours[i], w, slack)
        ]
        if not failing:
            remark = self.remark(answer)
            return "right", f"Checked on {len(yours)} cases: {self.over}.{remark}"
        changed = [i for i in failing if getattr(yours[i], "changed", False)]
        if changed:
            sentence, at = "", changed[0]
        else:
            sentence, at = self.recognise(answer, yours, failing, slack)
        sentence = sentence or _difference(yours[at], self.wanted[at])
        return "wrong", sentence + self.show(at, *tried[at])

    def run(self, function: Callable, case: tuple) -> tuple[NDArray | Failure, str]:
        """Return what the function makes of a copy of a case, and what it prints."""
        given = copy.deepcopy(case)
        with guarded() as out:
            outcome = self.call(function, given)
            printed = out.getvalue().strip("\n")
        if outcome is STUB and printed.strip():
            outcome = Failure("It prints its answer; it must return it.")
        for name, before, after in zip(self.names, case, given, strict=True):
            if not _unchanged(before, after):
                words = f"It changes its argument {name} in place; make a new array."
                outcome = Failure(words, changed=True)
        return outcome, printed

    def call(self, function: Callable, given: tuple) -> NDArray | Failure:
        try:
            result = function(*given)
            return STUB if _is_stub(result) else _read("What it gives", result)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if type(error) is TypeError and error.__traceback__.tb_next is None:
                return Failure(f"It is called with ({self.takes}): {said_by(error)}.")
            return _stopped(error, function)

    def same(
        self, yours: NDArray | Failure, wanted: NDArray | Failure, slack: float = 0
    ) -> bool:
        if isinstance(yours, Failure) or isinstance(wanted, Failure):
            return False
        if wanted.ndim == 0 and yours.size == 1:
            yours = yours.reshape(())
        if wanted.dtype == bool or yours.shape != wanted.shape:
            return yours.dtype == wanted.dtype and np.array_equal(yours, wanted)
        size = np.abs(wanted[np.isfinite(wanted)]).max(initial=self.tolerance)
        off = np.where(yours == wanted, 0, np.abs(yours.astype(float) - wanted))
        return off.max(initial=0) <= max(self.tolerance * size, slack)

    def recognise(
        self,
        answer: Callable,
        yours: list[NDArray | Failure],
        failing: list[int],
        slack: float,
    ) -> tuple[str, int]:
        """Return the known mistake that explains the answer best, and where it shows.

        The answer agrees with it where either of them is wrong: everywhere, or, when
        something else is wrong as well, in two cases out of three.
        """
        best, found = 2 / 3, ("", failing[0])
        for sentence, mistake, wrong in self.spoilt:
            if isinstance(mistake, When):
                share, shown = float(self.told(mistake, answer)), failing
            else:
                off = {i for i in wrong if not self.same(wrong[i], self.wanted[i])}
                both = [i for i in failing if i in wrong]
                shown = [i for i in both if self.same(yours[i], wrong[i], slack)]
                share = len(shown) / max(len(off.union(both)), 1)
            if share > best:
                best, found = share, (sentence, shown[0])
        return found

    def told(self, mistake: When, answer: Callable) -> bool:
        def ask(*case: Any) -> NDArray:
            outcome, _ = self.run(answer, case)
            return np.array(np.nan) if isinstance(outcome, Failure) else outcome

        try:
            return bool(mistake.holds(ask))
        except Exception:  # it gives a shape that is not expected there
            return False

    @property
    def names(self) -> list[str]:
        return self.takes.split(", ")

    @cached_property
    def wanted(self) -> list[NDArray | Failure]:
        return [self.run(self.right, case)[0] for case in self.cases]

    @cached_property
    def spoilt(self) -> list[tuple[str, Any, dict[int, NDArray]]]:
        """Each mistake with its sentence, and what it makes of the cases it can do."""
        table = []
        for sentence, mistake in self.known():
            arrays = {}
            for i, case in enumerate([] if isinstance(mistake, When) else self.cases):
                outcome, _ = self.run(mistake, case)
                if not isinstance(outcome, Failure) and not np.isnan(outcome).any():
                    arrays[i] = outcome
            table.append((sentence, mistake, arrays))
        return table

    def known(self) -> Iterator[tuple[str, Any]]:
        """Yield each known mistake after its sentence, also those of any function."""
        for sentence, mistakes in self.mistakes:
            yield from ((sentence, mistake) for mistake in mistakes)
        for i, name in enumerate(self.names):
            if not isinstance(self.cases[0][i], tuple | NoneType):
                yield f"It hands back {name} as it came.", lambda *c, i=i: c[i]
        yield "It gives nothing but zeros.", lambda *c: np.zeros_like(self.right(*c))
        yield "It gives the same number whatever goes in.", When(self.is_constant)

    def is_constant(self, answer: Callable) -> bool:
        given = np.concatenate([np.ravel(answer(*case)) for case in self.cases])
        return np.ptp(given.astype(float)) == 0

    def show(self, at: int, yours: NDArray | Failure, printed: str) -> str:
        """Return the case, what came out, what was wanted and what was printed."""
        wanted, where, digits = self.wanted[at], "", 4
        case = zip(self.names, self.cases[at], strict=True)
        given = [f"{name} = {text_of(value)}" for name, value in case]
        given = [", ".join(given)] if sum(map(len, given)) < ROOM else given
        lines = _labelled("with", given)
        if not isinstance(yours, Failure):
            long = "array" in text_of(yours) + text_of(wanted)
            if yours.shape == wanted.shape and long:
                off = ~np.isclose(yours, wanted, rtol=self.tolerance, atol=1e-6)
                index = tuple(int(i) for i in np.argwhere(off)[0])
                yours, wanted = yours[index], wanted[index]
                where = f"  at {list(index)}"
            digits = 4 if text_of(yours) != text_of(wanted) else 10
            lines += _labelled("yours", [text_of(yours, digits) + where])
        lines += _labelled("wanted", [text_of(wanted, digits) + where])
        said = [line.expandtabs()[:ROOM] for line in printed.splitlines()]
        if len(said) > PRINTED:
            more = len(said) - PRINTED + 1
            said = [*said[: PRINTED - 1], f"... and {more} lines more"]
        return "\n" + "\n".join(lines + _labelled("prints", said))


@dataclass(eq=False)
class Value:
    """An exercise that asks for a value, or for a pair: any that does what is asked."""

    takes: str
    asks: str
    shape: tuple | None
    right: Callable[..., Any]
    mistakes: list[tuple[str, tuple]]  # a test of the values
    hint: Callable[..., str]
    over: str
    remark: Callable[..., str] = lambda *values: ""

    def judge(self, answer: Any) -> tuple[str, str]:
        if _is_stub(answer):
            return "not started", ""
        if _is_stub(answer, any):
            return "wrong", "It is not finished: a part of it is still missing."
        asks = f"The exercise asks for {self.asks}"
        parts = [answer]
        if "," in self.takes:
            if not isinstance(answer, list | tuple | np.ndarray) or len(answer) != 2:
                return "wrong", f"{asks}; this is {_kind(answer)}."
            parts = [*answer]
        values = []
        for part in parts:
            value = _read("what stands here", part)
            if isinstance(value, Failure):
                return "wrong", f"{asks}; {value.words}"
            if self.shape is not None and value.squeeze().shape != self.shape:
                return "wrong", f"{asks}; here stands {_kind(value)}."
            if not np.isfinite(value).all():
                return "wrong", f"{asks}; here stands NaN or infinity."
            shape = value.shape if self.shape is None else self.shape
            values.append(value.astype(float).reshape(shape))
        if self.right(*values):
            return "right", self.over + self.remark(*values)
        for sentence, tests in self.mistakes:
            if any(test(*values) for test in tests):
                return "wrong", sentence
        return "wrong", self.hint(*values)


# Whatever is handed in becomes an array, or a failure in words.


def _is_stub(value: Any, how_many: Callable = all) -> bool:
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    if isinstance(value, list | tuple) and len(value) > 0:
        return how_many(_is_stub(part, how_many) for part in value)
    stubs = (None, ..., NotImplemented, NotImplementedError)
    return any(value is s for s in stubs) or isinstance(value, NotImplementedError)


def _read(what: str, value: Any) -> NDArray | Failure:
    try:
        array = real_array(what, value)
    except NotNumbers as error:
        return Failure(f"{error}.")
    # The copy is for answers that write each result into the same array.
    small = array.size < 10**6
    return np.array(array) if small else Failure(f"{what} is {array.size} numbers.")


def _stopped(error: BaseException, function: Callable) -> Failure:
    """Return in words why a function gave nothing, with what is behind it if known."""
    said, hint = said_by(error), ""
    if type(error) is NotImplementedError or "ellipsis" in said:
        return STUB  # it computes with a `...` that is still to be replaced
    if isinstance(error, RecursionError):
        return Failure("It calls itself without end.")
    if isinstance(error, NoInput):
        return Failure("It asks with input(); all it needs comes in as its arguments.")
    if "truth value of an array" in said:
        hint = " One if decides for all numbers at once; np.maximum decides for each."
    if "required positional argument" in said:
        hint = " Is a star missing? A group goes in as *group, its arrays one by one."
    if "is not callable" in said:
        space = getattr(function, "__globals__", {})
        hidden = [n for n in BUILTINS if n in space and not callable(space[n])]
        hint = f" {hidden[0]} is a variable of your own here: rename it, and run del {hidden[0]}." if hidden else ""
    return Failure(f"It stops with {said}.{hint}")


def _unchanged(before: Any, after: Any) -> bool:
    if isinstance(before, list | tuple):
        return len(before) == len(after) and all(map(_unchanged, before, after))
    return not isinstance(before, np.ndarray) or (
        type(after) is np.ndarray
        and before.shape == after.shape
        and np.array_equal(before, after)
    )


def _slack(outcomes: Iterable[NDArray | Failure]) -> float:
    """Return how far an answer may be off that is rounded as the text prints numbers.

    Rounded is what is so in every case: a small result that became 0 alone is wrong.
    """
    arrays = [o.astype(float) for o in outcomes if not isinstance(o, Failure)]
    for digits in (2, 3, 4):
        if all(np.allclose(a, a.round(digits), rtol=1e-6, atol=0) for a in arrays):
            return 0.501 * 10.0**-digits
    return 0


# Nothing gets out of what runs here, and nothing stays changed.


class NoInput(Exception):
    """Raised where an answer asks its user."""


BUILTINS = (
    *("abs", "enumerate", "float", "int", "len", "list", "max", "min", "pow", "range"),
    *("reversed", "round", "sum", "tuple", "zip"),
)
OWN = {
    (module, called + name): vars(module)[name]
    for module, called, names in (
        (np, "np.", tuple(vars(np))),
        (math, "math.", tuple(vars(math))),
        (block, "lab.", tuple(vars(block))),
        (builtins, "", BUILTINS),
    )
    for name in names
    if callable(vars(module)[name])
}
"""The functions that every answer and every check rely on, as they came."""


def overwritten() -> dict[tuple[Any, str], Any]:
    """Return what now stands where a function of NumPy's, math's or ours stood."""
    found = {
        key: getattr(key[0], key[1].rpartition(".")[2], None) for key in OWN
    }
    return {key: value for key, value in found.items() if value is not OWN[key]}


def _put(functions: dict[tuple[Any, str], Any]) -> None:
    for (module, called), function in functions.items():
        setattr(module, called.rpartition(".")[2], function)


def _no_input(*prompt: Any) -> str:
    raise NoInput


@contextlib.contextmanager
def guarded() -> Iterator[io.StringIO]:
    """Let nothing out of what runs inside and undo its settings; yield its prints."""
    out, outside = io.StringIO(), {(builtins, "input"): builtins.input} | overwritten()
    with (
        warnings.catch_warnings(action="ignore"),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        _put({key: OWN[key] for key in outside if key in OWN})
        builtins.input = _no_input
        try:
            yield out
        finally:
            _put({key: OWN[key] for key in overwritten()} | outside)


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


def _kind(value: Any) -> str:
    if type(value) is np.ndarray:
        return f"an array of shape {value.shape}" if value.ndim else "one number"
    names = {"str": "text", "bool": "True or False", "int": "one number"}
    names |= {"float": "one number", "function": "a function"}
    name = type(value).__name__
    return names.get(name, f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}")


def _difference(yours: NDArray | Failure, wanted: NDArray | Failure) -> str:
    if isinstance(yours, Failure):
        return yours.words
    if isinstance(wanted, Failure):  # cannot be, unless an exercise is itself at fault
        return f"The exercise's own answer fails here: {wanted.words}"
    if yours.shape != wanted.shape:
        return f"It gives {_kind(yours)}; wanted is {_kind(wanted)}."
    if wanted.dtype == bool and yours.dtype != bool:
        return "It gives numbers; wanted is True or False in every place."
    if not np.isfinite(yours).all():
        return "It gives NaN or infinity where an ordinary number is wanted."
    return "It does not give what is wanted."


def _labelled(label: str, lines: list[str]) -> list[str]:
    """Return lines under one another, the first behind a label."""
    return [f"  {label * (not i):<8}{line}" for i, line in enumerate(lines)]


def text_of(value: Any, digits: int = 4) -> str:
    """Return numbers as a reader can copy them, or what does not fit by its shape."""
    text = _numbers(value, digits)
    if len(text) <= ROOM:
        return text
    if isinstance(value, list | tuple):
        shapes = dict.fromkeys(str(np.shape(item)) for item in value)
        return f"{len(value)} arrays of shape {' and '.join(shapes)}"
    return f"an array of shape {value.shape}"


def _numbers(value: Any, digits: int) -> str:
    if isinstance(value, np.ndarray | np.generic):
        if value.size > ROOM:
            return f"an array of shape {value.shape}"
        value = value.tolist()
    if isinstance(value, list | tuple):
        inside = ", ".join(_numbers(item, digits) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    # Adding 0 turns -0 into 0.
    return f"{value + 0:.{digits}g}" if type(value) in (int, float) else str(value)
