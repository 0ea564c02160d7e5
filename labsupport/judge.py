"""The mechanism of every check: an answer beside what is right, and known mistakes.

A `Function` exercise runs the answer and each known mistake on the same cases, and
names the mistake that the answer agrees with where it is wrong. A `Value` exercise
tests the value itself. Nothing that is handed in can raise or print here.
"""

from __future__ import annotations

import contextlib
import copy
import io
import numbers
import textwrap
import warnings
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray


class Failure(NamedTuple):
    """Why there is nothing to compare, in words."""

    words: str
    changed: bool = False


STUB = Failure("It returns nothing.")


@dataclass(eq=False)
class Function:
    """An exercise that asks for a function, tried beside the right one."""

    takes: str
    right: Callable
    cases: list[tuple]
    mistakes: list[tuple[str, Callable]]
    over: str
    # More than the task asks for: an answer that fails here is right, with a remark.
    batches: tuple[tuple, ...] = ()
    # Less than it asks for: a wrong answer that is right here is told so.
    one_word: tuple[tuple, ...] = ()
    tolerance: float = 1e-4

    def judge(self, answer: Any) -> tuple[str, str]:
        if _is_stub(answer):
            return "not started", ""
        if not callable(answer):
            return "wrong", (
                f"This is {_kind(answer)}; hand in the function itself, by its name "
                "alone, with no brackets behind it."
            )
        yours = self.run(answer, self.cases)
        if all(outcome is STUB for outcome in yours):
            return "not started", "The function returns nothing yet."
        failing = [i for i, w in enumerate(self.wanted) if not self.same(yours[i], w)]
        if not failing:
            wide = self.does(answer, self.batches)
            remark = "" if wide else " (One sentence at a time: not yet for a batch.)"
            return "right", f"Checked on {len(yours)} cases: {self.over}.{remark}"
        changed = [i for i in failing if getattr(yours[i], "changed", False)]
        sentence, shown = ("", changed) if changed else self.recognise(yours, failing)
        lost = not sentence and 2 * len(failing) > len(yours)
        if lost and self.one_word and self.does(answer, self.one_word):
            sentence = f"It takes one word; {self.names[0]} may hold many, one a row."
        at = (shown or failing)[0]
        sentence = sentence or _difference(yours[at], self.wanted[at])
        return "wrong", sentence + self.show(at, yours[at])

    def does(self, answer: Callable, cases: Iterable) -> bool:
        """Return whether an answer is right on other cases."""
        return all(map(self.same, self.run(answer, cases), self.run(self.right, cases)))

    def run(self, function: Callable, cases: Iterable) -> list[NDArray | Failure]:
        """Return what the function makes of a copy of each case, as arrays."""
        outcomes = []
        for case in cases:
            given = copy.deepcopy(case)
            with quiet() as printed:
                outcome = self.call(function, given)
            if outcome is STUB and printed.getvalue().strip():
                outcome = Failure("It prints its answer; it must return it.")
            for name, before, after in zip(self.names, case, given, strict=True):
                if not _unchanged(before, after):
                    words = (
                        f"It changes its argument {name} in place; make a new array."
                    )
                    outcome = Failure(words, changed=True)
            outcomes.append(outcome)
        return outcomes

    def call(self, function: Callable, given: tuple) -> NDArray | Failure:
        try:
            result = function(*given)
            outcome = STUB if _is_stub(result) else _read(result)
        except KeyboardInterrupt:
            raise
        except NotImplementedError:
            return STUB
        except RecursionError:
            return Failure("It calls itself without end.")
        except BaseException as error:
            said = said_by(error)
            if isinstance(error, TypeError) and "ellipsis" in said:
                return STUB  # it computes with a `...` that is still to be replaced
            if isinstance(error, TypeError) and error.__traceback__.tb_next is None:
                return Failure(f"It is called with ({self.takes}): {said}.")
            return Failure(f"It stops with {said}.")
        unread = isinstance(outcome, Failure) and outcome is not STUB
        return Failure(f"It gives {outcome.words}.") if unread else outcome

    def same(self, yours: NDArray | Failure, wanted: NDArray | Failure) -> bool:
        if isinstance(yours, Failure) or isinstance(wanted, Failure):
            return False
        if wanted.ndim == 0 and yours.size == 1:
            yours = yours.reshape(())
        if wanted.dtype == bool or yours.shape != wanted.shape:
            return yours.dtype == wanted.dtype and np.array_equal(yours, wanted)
        yours = yours.astype(float)
        size = np.abs(wanted[np.isfinite(wanted)]).max(initial=self.tolerance)
        off = np.where(yours == wanted, 0, np.abs(yours - wanted)).max(initial=0)
        return off <= self.tolerance * size or any(
            off < 0.501 * 10.0**-digits
            and np.allclose(yours, yours.round(digits), rtol=1e-6)
            for digits in ROUNDED
        )

    def recognise(
        self, yours: list[NDArray | Failure], failing: list[int]
    ) -> tuple[str, list[int]]:
        """Return the known mistake that explains the answer best, and where it shows.

        The answer agrees with it where either of them is wrong: everywhere, or, when
        something else is wrong as well, in two cases out of three.
        """
        best, found = 2 / 3, ("", [])
        for sentence, wrong in self.spoilt:
            off = {i for i in wrong if not self.same(wrong[i], self.wanted[i])}
            concerned = off.union(failing).intersection(wrong)
            shown = [i for i in failing if i in wrong and self.same(yours[i], wrong[i])]
            if len(shown) > best * len(concerned):
                best, found = len(shown) / len(concerned), (sentence, shown)
        return found

    @property
    def names(self) -> list[str]:
        return self.takes.split(", ")

    @cached_property
    def wanted(self) -> list[NDArray]:
        return self.run(self.right, self.cases)

    @cached_property
    def spoilt(self) -> list[tuple[str, dict[int, NDArray]]]:
        """Each mistake's sentence, and what it makes of the cases it can do."""
        table = []
        for sentence, mistake in self.known():
            outcomes = enumerate(self.run(mistake, self.cases))
            arrays = ((i, o) for i, o in outcomes if not isinstance(o, Failure))
            table.append((sentence, {i: a for i, a in arrays if not np.isnan(a).any()}))
        return table

    def known(self) -> Iterator[tuple[str, Callable]]:
        """Yield each known mistake: its sentence, and the wrong code as a function."""
        yield from self.mistakes
        for i, name in enumerate(self.names):
            if not isinstance(self.cases[0][i], tuple | NoneType):
                yield f"It hands back {name} as it came.", lambda *c, i=i: c[i]
        yield "It gives nothing but zeros.", lambda *c: np.zeros_like(self.right(*c))

    def show(self, at: int, yours: NDArray | Failure) -> str:
        """Return the case, what came out and what was wanted, a line for each."""
        wanted, where, digits = self.wanted[at], "", 4
        case = zip(self.names, self.cases[at], strict=True)
        given = [f"{name} = {text_of(value)}" for name, value in case]
        given = [", ".join(given)] if sum(map(len, given)) < ROOM else given
        lines = ["\n  with    " + "\n          ".join(given)]
        if not isinstance(yours, Failure):
            long = "array" in text_of(yours) + text_of(wanted)
            if yours.shape == wanted.shape and long:
                off = ~np.isclose(yours, wanted, rtol=self.tolerance, atol=1e-6)
                index = tuple(int(i) for i in np.argwhere(off)[0])
                yours, wanted = yours[index], wanted[index]
                where = f"  at {list(index)}"
            digits = 4 if text_of(yours) != text_of(wanted) else 10
            lines.append(f"  yours   {text_of(yours, digits)}{where}")
        return "\n".join([*lines, f"  wanted  {text_of(wanted, digits)}{where}"])


@dataclass(eq=False)
class Value:
    """An exercise that asks for a value, or for a pair: any that does what is asked."""

    takes: str
    asks: str
    shape: tuple | None
    right: Callable[..., bool]
    mistakes: list[tuple[str, Callable]]
    hint: Callable[..., str]
    over: str
    remark: Callable[..., str] = lambda *values: ""

    def judge(self, answer: Any) -> tuple[str, str]:
        if _is_stub(answer):
            return "not started", ""
        if _is_stub(answer, any):
            return "wrong", "It is not finished: a part of it is still missing."
        asks = f"The exercise asks for {self.asks}"
        parts, pair = [answer], "," in self.takes
        if pair and isinstance(answer, list | tuple | np.ndarray) and len(answer) == 2:
            parts = list(answer)
        elif pair:
            return "wrong", f"{asks}; this is {_kind(answer)}."
        values = []
        for part in parts:
            value = _read(part)
            if isinstance(value, Failure):
                return "wrong", f"{asks}; here stands {value.words}."
            value = value.astype(float)
            if self.shape is not None:
                value = value.squeeze()
                if value.shape != self.shape:
                    return "wrong", f"{asks}; here stands {_kind(_read(part))}."
            if not np.isfinite(value).all():
                return "wrong", f"{asks}; here stands NaN or infinity."
            values.append(value)
        if self.right(*values):
            return "right", self.over + self.remark(*values)
        named = (sentence for sentence, is_it in self.mistakes if is_it(*values))
        return "wrong", next(named, None) or self.hint(*values)


# Whatever is handed in becomes an array, or a failure in words.


def _is_stub(value: Any, how_many: Callable = all) -> bool:
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    if isinstance(value, list | tuple) and len(value) > 0:
        return how_many(_is_stub(part, how_many) for part in value)
    stubs = (None, ..., NotImplemented, NotImplementedError)
    return any(value is s for s in stubs) or isinstance(value, NotImplementedError)


def _could_be_numbers(value: Any) -> bool:
    """Return whether NumPy may look: it asks other things for items without end."""
    if isinstance(value, list | tuple):
        return all(map(_could_be_numbers, value))
    known = isinstance(value, np.ndarray | np.generic | numbers.Number | str)
    return known or hasattr(value, "__array__") or hasattr(value, "__float__")


def _read(value: Any) -> NDArray | Failure:
    try:
        if not _could_be_numbers(value):
            return Failure(f"{_kind(value)}, which does not hold numbers alone")
        array = np.asarray(value)
        array = array.astype(float) if array.dtype == object else array
    except OverflowError:
        return Failure("a number too large to compare")
    except Exception:
        return Failure(
            f"{_kind(value)} that is no array of numbers with rows of one length"
        )
    if array.dtype.kind not in "biuf":
        kinds = {"c": "complex numbers", "U": "text"}
        return Failure(
            kinds.get(array.dtype.kind, "something else") + ", not real numbers"
        )
    # The copy is for answers that write each result into the same array.
    return array.copy() if array.size < 10**6 else Failure(f"{array.size} numbers")


def _unchanged(before: Any, after: Any) -> bool:
    if isinstance(before, list | tuple):
        return len(before) == len(after) and all(map(_unchanged, before, after))
    return not isinstance(before, np.ndarray) or (
        type(after) is np.ndarray
        and before.shape == after.shape
        and np.array_equal(before, after)
    )


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    """Let nothing out of what runs inside, and undo its settings; yield its prints."""
    with (
        warnings.catch_warnings(action="ignore"),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()),
    ):
        yield out


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


def _difference(yours: NDArray | Failure, wanted: NDArray) -> str:
    if isinstance(yours, Failure):
        return yours.words
    if yours.shape != wanted.shape:
        return f"It gives {_kind(yours)}; wanted is {_kind(wanted)}."
    if wanted.dtype == bool and yours.dtype != bool:
        return "It gives numbers; wanted is True or False in every place."
    if not np.isfinite(yours).all():
        return "It gives NaN or infinity where an ordinary number is wanted."
    return "It does not give what is wanted."


ROUNDED = (2, 3, 4)
"""An answer may be rounded to so many digits after the point, as the text prints."""

ROOM = 66
"""What is shown takes one line; what is longer is told by its shape."""


def text_of(value: Any, digits: int = 4) -> str:
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
