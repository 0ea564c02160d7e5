"""What may go in: the shapes of a function's arguments, said in a line above it.

``@shapes(x="... d", W1="d d_ff")`` reads as einops and jaxtyping write shapes: a word
is a size, the same wherever it stands again in the call; a leading ``...`` is any batch
axes, which broadcast with those of the other arguments; ``h*d_v`` is a product, ``n+``
at least 1, ``d?`` may also be one number. A group of arrays has a line for each.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")
Array: TypeAlias = Any
"""What a caller gives for an array; `shapes` makes it one before the function runs."""
NATIVE = {np.dtype(np.float32), np.dtype(np.float64)}
KINDS = {"c": "complex numbers", "M": "dates", "m": "times", "S": "text", "U": "text"}


def shapes(
    **lines: str | Mapping[str, str],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function's arguments arrays of one float type, and hold their shapes.

    float32 and float64 stay, float16 is widened to float32, all else becomes float64; a
    list beside arrays takes their type. What is left at its default is not looked at.
    """
    groups = {name: line for name, line in lines.items() if not isinstance(line, str)}
    inside = {name: [f"{n} in {name}" for n in group] for name, group in groups.items()}
    words: dict[str, Any] = dict(lines)
    for name, group in groups.items():
        words |= zip(inside[name], group.values(), strict=True)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(function).parameters
        default = {name: p.default for name, p in parameters.items()}
        needed = {name for name in default if default[name] is inspect.Parameter.empty}
        last = max(map(list(default).index, lines)) + 1
        fitting: set[tuple] = set()  # types and shapes that once went through unchanged

        @functools.wraps(function)
        def held(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                key = tuple(map(_kind, args[:last]))
                by_place = kwargs.keys().isdisjoint(lines)
                if by_place and key in fitting:
                    return function(*args, **kwargs)
                given = dict(zip(parameters, args, strict=False)) | kwargs
                once = len(given) == len(args) + len(kwargs)
                if not once or not needed <= given.keys() <= default.keys():
                    return function(*args, **kwargs)  # Python says what is amiss
                looked_at = [
                    n for n in lines if given.get(n, default[n]) is not default[n]
                ]
                values = {name: given[name] for name in looked_at}
                for name, group in groups.items():
                    items = members(name, values.pop(name), group)
                    values |= zip(inside[name], items, strict=True)
                arrays = _of_one_type(values)
                if wrong := _misfit(words, arrays):
                    raise ValueError(wrong[1] + _hint(values[wrong[0]]))
                if by_place and arrays is values and None not in key:
                    fitting.add(key)
                for name in groups:
                    arrays[name] = tuple(arrays.pop(each) for each in inside[name])
                return function(**given | arrays)  # type: ignore[call-arg, arg-type]
            except Exception as error:
                # A refusal ends in the caller's own line, not in here.
                if error.__traceback__:
                    error.__traceback__ = error.__traceback__.tb_next
                raise

        return held

    return decorate


def _kind(value: Any) -> tuple | None:
    if type(value) is np.ndarray:
        return value.dtype, value.shape
    return tuple(map(_kind, value)) if isinstance(value, tuple) else None


def members(name: str, group: Any, names: Collection[str]) -> tuple[Any, ...]:
    """Return the items of a group, or refuse it when there is not one for each name."""
    try:
        held = tuple(group)
    except TypeError:
        held = ()
    if len(held) != len(names):
        items = f"{len(held)} item{'s' * (len(held) != 1)}"
        hint = "" if isinstance(group, tuple) else _hint(group)
        needed = f"it needs {len(names)}: {', '.join(names)}{hint}"
        raise ValueError(f"{name} holds {items}; {needed}")
    return held


def _of_one_type(values: dict[str, Any]) -> dict[str, Any]:
    """Return arrays of the widest float type among those that come with a type."""
    types = {v.dtype if type(v) is np.ndarray else None for v in values.values()}
    if len(types) == 1 and types <= NATIVE:
        return values
    arrays = {name: real_array(name, value) for name, value in values.items()}
    typed = [
        np.promote_types(array.dtype, np.float32) if array.dtype.kind == "f" else float
        for name, array in arrays.items()
        if hasattr(values[name], "dtype")
    ]
    dtype = np.result_type(*typed or [float])
    return {name: array.astype(dtype, copy=False) for name, array in arrays.items()}


def _misfit(lines: Mapping[str, str], arrays: Mapping[str, NDArray]) -> Any:
    """Return the name of the first array that does not fit, and the words for it."""
    sizes: dict[str, int] = {}
    origins: dict[str, str] = {}
    batch: tuple[int, ...] = ()
    for name, array in arrays.items():
        words = lines[name].split()
        if array.ndim == 0 and "?" in lines[name]:
            continue
        axes = [word for word in words if word != "..."]
        cut = array.ndim - len(axes)
        fits = cut == 0 or (cut > 0 and axes != words)
        now = dict(sizes)
        for word, size in zip(axes, array.shape[max(cut, 0) :], strict=False):
            fits &= size == _size(word, now, size) >= ("+" in word)
            now.setdefault(word.rstrip("?+"), size)
        try:
            batch = np.broadcast_shapes(batch, array.shape[:cut] if fits else ())
        except ValueError:
            fits, words = False, [*map(str, batch), *axes]
        if not fits:
            needed = _needed(words, sizes, origins)
            return name, f"{name} has shape {array.shape}; it needs {needed}"
        origins |= dict.fromkeys(now.keys() - sizes.keys(), name.split()[0])
        sizes = now
    return None


def _size(word: str, sizes: Mapping[str, int], unknown: Any) -> Any:
    factors = [sizes.get(factor) for factor in word.rstrip("?+").split("*")]
    return unknown if None in factors else math.prod(factors)


def _needed(words: list[str], sizes: Mapping, origins: Mapping) -> str:
    """Return a shape with its known sizes filled in, and where they are known from."""
    plain = [word.rstrip("?+") for word in words]
    axes = ", ".join(str(_size(word, sizes, word)) for word in plain)
    said = f"({axes}{',' * (len(words) == 1)})" + " or one number" * ("?" in words[-1])
    least = [word for word in plain if f"{word}+" in words and word not in sizes]
    said += f" with {' and '.join(least)} at least 1" * bool(least)
    factors = dict.fromkeys("*".join(plain).split("*"))
    known = [f"{f} is {sizes[f]} in {origins[f]}" for f in factors if f in sizes]
    return f"{said}: {', '.join(known)}" if known else said


def _hint(value: Any) -> str:
    """Return what may have happened, where a value that does not fit looks like it."""
    if isinstance(value, tuple) and any(isinstance(v, np.ndarray) for v in value):
        return "; unpack a group of arrays with *"
    while isinstance(value, list | tuple) and value:
        value = value[0]
    is_mask = isinstance(value, bool) or np.dtype(bool) == getattr(value, "dtype", None)
    return "; it holds booleans: is it the mask?" * is_mask


class NotNumbers(ValueError):
    """Something does not hold real numbers; `what` says what it is, or holds."""

    def __init__(self, name: str, what: str, needed: str = "real numbers") -> None:
        super().__init__(f"{name} must hold {needed}, not {what}")
        self.what = what.partition(";")[0]


def real_array(name: str, value: Array, needed: str = "real numbers") -> NDArray:
    """Return a reader's value as an array of real numbers, of the type it came in.

    Fractions and Decimals become float64. An array comes back as it is, not copied.

    Raises
    ------
    NotNumbers
        If it holds anything else, masked entries, or rows of different lengths.
    """
    if type(value) is np.ndarray and value.dtype.kind in "biuf":
        return value
    what = _other(value)
    if not what:
        try:
            array = np.asarray(value)
            array = array.astype(np.float64) if array.dtype == object else array
            what = _other(array)
        except OverflowError:
            what = "a number too large for a float"
        except (TypeError, ValueError):
            what = "rows of different lengths"
    if what:
        raise NotNumbers(name, what, needed)
    return array


def _other(value: Any) -> str:
    """Return what a value holds that is no real number: NumPy would guess, or wait."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype != object:
        if np.any(getattr(value, "mask", False)):
            return "an array with masked entries"
        kind = value.dtype.kind
        return "" if kind in "biuf" else KINDS.get(kind, str(value.dtype))
    if isinstance(value, list | tuple | np.ndarray):
        parts = value.flat if isinstance(value, np.ndarray) else value
        return next(filter(None, map(_other, parts)), "")
    if value is None or isinstance(value, str | bytes):
        return "None" if value is None else "text"
    if isinstance(value, complex):
        return "complex numbers"
    known = isinstance(value, Number | Sequence)
    if known or hasattr(type(value), "__array__") or hasattr(type(value), "__float__"):
        return ""
    called = type(value).__name__
    listable = isinstance(value, Iterable) and not isinstance(value, Mapping | type)
    article = "an" if called[0] in "aeiouAEIOU" else "a"
    return f"{article} {called}" + "; make a list of it: list(...)" * listable


def one_number(name: str, value: Array, least: float = -math.inf) -> float:
    """Return one finite number as a float, or refuse what is none."""
    number = value if isinstance(value, float) else real_array(name, value)
    if np.ndim(number) or not math.isfinite(number) or number < least:
        needed = f", at least {least:g}" * (least > -math.inf)
        raise ValueError(f"{name} is {number}; it must be one finite number{needed}")
    return float(number)


def whole_number(name: str, value: Any, least: int) -> int:
    """Return a count, or refuse what is none."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        needed = f"it must be a whole number, at least {least}"
        raise ValueError(f"{name} is {value!r}; {needed}")
    return int(value)


def generator(name: str, value: Any) -> np.random.Generator:
    """Return a generator of random numbers, or refuse what is none."""
    if not isinstance(value, np.random.Generator):
        needed = "it must come from np.random.default_rng"
        raise ValueError(f"{name} is {value!r}; {needed}")
    return value
