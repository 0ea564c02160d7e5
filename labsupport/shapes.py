"""What may go in: real numbers, through one gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Numbers: TypeAlias = Any
"""Whatever `real_array` makes an array of, or refuses."""


class NotNumbers(ValueError):
    """Something does not hold real numbers; `what` says what it is, or holds."""

    def __init__(self, name: str, what: str, hint: str = "") -> None:
        super().__init__(f"{name} must hold real numbers, not {what}{hint}")
        self.what = what


def real_array(name: str, value: Numbers) -> NDArray:
    """Return a reader's value as an array of real numbers, of the type it came in.

    Fractions and Decimals become float64. An array comes back as it is, not copied.

    Raises
    ------
    NotNumbers
        If it holds anything else, masked entries, or rows of different lengths.
    """
    if odd := next(_oddities(value), None):
        raise NotNumbers(name, *odd)
    try:
        array = np.asarray(value)
        array = array.astype(np.float64) if array.dtype == object else array
    except OverflowError:
        raise NotNumbers(name, "a number too large for a float") from None
    except (TypeError, ValueError):
        raise NotNumbers(name, "rows of different lengths") from None
    if odd := next(_oddities(array), None):
        raise NotNumbers(name, *odd)
    return array


def _oddities(value: Any) -> Iterator[tuple[str, str]]:
    """Yield what each part that is no real number is, and what to do about it."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype != object:
        if np.any(getattr(value, "mask", False)):
            yield "an array with masked entries", ""
        elif value.dtype.kind not in "biuf":
            kinds = {"c": "complex numbers", "M": "dates", "S": "text", "U": "text"}
            yield kinds.get(value.dtype.kind, f"{value.dtype}"), ""
    elif isinstance(value, list | tuple | np.ndarray):
        for part in value.flat if isinstance(value, np.ndarray) else value:
            yield from _oddities(part)
    elif isinstance(value, str | bytes):
        yield "text", ""
    elif isinstance(value, complex):
        yield "complex numbers", ""
    elif not isinstance(value, Number | Sequence) and not (
        hasattr(type(value), "__array__") or hasattr(type(value), "__float__")
    ):
        called = type(value).__name__
        what = f"a{'n' * (called[0] in 'aeiouAEIOU')} {called}"
        listable = isinstance(value, Iterable) and not isinstance(value, Mapping | type)
        yield (
            "None" if value is None else what,
            "; make a list of it: list(...)" if listable else "",
        )
