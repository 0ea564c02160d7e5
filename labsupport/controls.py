"""What an explorer is made of: what a hand can move, and numbers that can be drawn.

Plain data, which knows neither widgets nor what is drawn: `live.Explorer` moves it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from labsupport.shapes import NotNumbers, real_array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray


class Unusable(Exception):
    """What the reader's function handed back cannot be drawn."""


@dataclass
class Control:
    """A slider, over whole numbers if `step` is one; or a choice, `at` its options.

    `thing`, a key of ``LOOK``, is what it moves: its look stands beside the label.
    """

    label: str
    low: float
    high: float
    step: float
    thing: str = ""
    options: Sequence[tuple[str, Any]] = ()  # what is shown, value
    at: float = 0

    @property
    def value(self) -> Any:
        """What it stands for in the state."""
        return self.options[int(self.at)][1] if self.options else self.at

    def nearest(self, value: Any) -> float:
        """Return where it stands for `value`: within its ends, and on a step."""
        if self.options:
            return [known for _text, known in self.options].index(value)
        on_step = self.low + round((value - self.low) / self.step) * self.step
        inside = min(max(on_step, self.low), self.high)
        # 0.3 for 0.30000000000000004, and 0.0 for -0.0
        return inside if isinstance(self.step, int) else round(inside, 6) + 0.0


slider = Control


def choice(label: str, options: Sequence[tuple[str, Any]]) -> Control:
    """Return a choice between a few words; `options` are (what is shown, value)."""
    return Control(label, 0, len(options) - 1, 1, options=options)


@dataclass
class Handle:
    """What a hand can take hold of in the picture; the control `name` moves it too.

    `at` is from the state to (x, y) in the data of the axes, or to None where there is
    nothing to hold; without `at` the whole of the axes answers. `move` is from (state,
    x, y) to what a drag changes, `press` to what taking hold changes: unless given,
    nothing, or in the whole of the axes the same.
    """

    name: str
    axes: Axes
    at: Callable[[dict], Any] | None
    move: Callable[[dict, float, float], dict]
    press: Callable[[dict, float, float], dict] | None = None


def numbers(name: str, value: Any, *shape: int) -> NDArray:
    """Return what the reader's function `name` handed back, as an array of that shape.

    Raises `Unusable` if it is not numbers, has another shape, or holds NaN or infinity.
    """
    needed = f"it must return {f'an array of shape {shape}' if shape else 'one number'}"
    try:
        array = np.array(real_array(name, value), dtype=float)
    except NotNumbers as error:
        raise Unusable(f"{name} returned {error.what}; {needed}") from None
    if array.shape != shape:
        raise Unusable(f"{name} returned shape {array.shape}; {needed}")
    if not np.isfinite(array).all():
        bad = array[~np.isfinite(array)][0]
        raise Unusable(f"{name} returned {bad}; every number must be finite")
    return array
