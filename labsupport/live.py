"""The one mechanism of every explorer: controls, one figure moved in place, words.

An explorer has a start state and a ``draw(state)`` that moves the artists of one
figure and returns the readout. What stands still goes to the page once, as SVG; a move
brings only the artists made with ``animated=True`` and the readout. The page's part is
in ``live.js``: it sends what a hand does, newest last, and shows what comes back.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import numpy as np
import traitlets
from IPython import get_ipython
from IPython.utils.capture import capture_output
from matplotlib import rcParams
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox

from labsupport.look import CSS_DPI, LOOK, Still, in_the_lab_look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

HOW_TO_MOVE = "Still picture: run this cell in JupyterLab to move it."
WORDS_HEIGHT = 0.9  # inches under a still, for the readout
SVG_DPI = 72


class Unusable(Exception):
    """What the reader's function handed back cannot be drawn."""


@dataclass
class Slider:
    """A control over numbers: whole ones if `step` is an integer."""

    label: str
    low: float
    high: float
    step: float
    thing: str = ""
    value: Any = None

    def nearest(self, value: Any) -> float:
        """Return the value on the slider that is nearest to `value`."""
        if not np.isfinite(value):
            raise ValueError("not a finite number")
        on_step = self.low + round((value - self.low) / self.step) * self.step
        inside = min(max(on_step, self.low), self.high)
        # 0.3 for 0.30000000000000004, and 0.0 for -0.0
        return inside if isinstance(self.step, int) else round(inside, 6) + 0.0


@dataclass
class Choice:
    """A control over a few words; `options` are (what is shown, value)."""

    label: str
    options: list[tuple[str, Any]]
    value: Any = None

    def nearest(self, value: Any) -> Any:
        """Return `value`, if it is one of the options."""
        known = [option for _text, option in self.options]
        if value not in known:
            raise ValueError(f"the options are {', '.join(map(repr, known))}")
        return known[known.index(value)]


@dataclass
class Handle:
    """A place in the picture that a hand can take hold of.

    Parameters
    ----------
    name : str
        Of the control that it moves: there the keyboard goes on.
    axes : Axes
    at : callable or None
        From the state to (x, y) in the axes' data, or to None if it is out of sight.
        Without it the whole of the axes answers.
    move, press : callable
        From (state, x, y) to what changes, in a drag and when it is pressed. `press` is
        as `move` for the whole of the axes, and changes nothing for a place in it.
    """

    name: str
    axes: Axes
    at: Callable[[dict], Any] | None
    move: Callable[[dict, float, float], dict]
    press: Callable[[dict, float, float], dict] | None = None


def slider(label: str, low: float, high: float, step: float, thing: str = "") -> Slider:
    """Return a slider; `thing`, a key of ``LOOK``, is what it moves in the picture."""
    return Slider(label, low, high, step, thing)


def choice(label: str, options: list[tuple[str, Any]]) -> Choice:
    """Return a choice between a few words; `options` are (what is shown, value)."""
    return Choice(label, options)


def numbers(name: str, value: Any, *shape: int) -> NDArray:
    """Return what the reader's function `name` handed back, as an array of that shape.

    Raises
    ------
    Unusable
        If it is not numbers, has another shape, or holds NaN or infinity.
    """
    needed = f"an array of shape {shape}" if shape else "one number"
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = None
    if array is None or value is None:
        raise Unusable(f"{name} returned {str(value)[:60]!r}; it must return {needed}")
    if array.shape != shape:
        raise Unusable(f"{name} returned shape {array.shape}; it must return {needed}")
    if not np.isfinite(array).all():
        bad = array[~np.isfinite(array)][0]
        raise Unusable(f"{name} returned {bad}; every number must be finite")
    return array


class Explorer(anywidget.AnyWidget):
    """Controls, a picture that follows them, and a readout that says what it shows.

    Parameters
    ----------
    title : str
    controls : dict
        From a name in the state to its control, or to a list of controls whose values
        are a tuple in the state.
    start : dict
        The state it starts with and *Reset* goes back to.
    figure : Still
        What moves in it was made with ``animated=True``.
    draw : callable
        From the state to the readout; moves the artists on its way.
    follow : callable, optional
        From the state and the names that have just changed to what changes with them.
    handles : iterable of Handle
    """

    _esm = Path(__file__).with_name("live.js")
    _css = Path(__file__).with_name("live.css")
    _stage = traitlets.Dict().tag(sync=True)  # what stays
    _now = traitlets.Dict().tag(sync=True)  # what a move brings
    _shown: tuple[Explorer, ...] = ()

    def __init__(
        self,
        title: str,
        controls: dict[str, Any],
        start: dict[str, Any],
        figure: Still,
        draw: Callable[[dict], str],
        follow: Callable[[dict, set], dict] | None = None,
        handles: Iterable[Handle] = (),
    ) -> None:
        self.title, self.figure, self.readout = title, figure, ""
        self._start, self._draw, self._follow = start, draw, follow
        self._handles = list(handles)
        self.controls = {
            name: made if isinstance(made, list) else [made]
            for name, made in controls.items()
        }
        self._tuples = {n for n, made in controls.items() if isinstance(made, list)}
        with in_the_lab_look():
            figure.set_dpi(SVG_DPI)
            figure.draw_without_rendering()  # finds each thing its place
            figure.set_layout_engine("none")
        self._size = (figure.get_size_inches() * SVG_DPI).tolist()
        moving = figure.findobj(lambda artist: artist.get_animated())
        self._moving = sorted(moving, key=lambda artist: artist.get_zorder())
        self._stage = self._set_the_stage()
        self._place(start)
        self._redraw()
        super().__init__()
        self.on_msg(self._hear)
        self._replace_earlier()

    @property
    def state(self) -> dict[str, Any]:
        """The state that the controls stand at: a copy."""
        values = {n: tuple(c.value for c in made) for n, made in self.controls.items()}
        return {n: v if n in self._tuples else v[0] for n, v in values.items()}

    @property
    def picture(self) -> str:
        """The picture as it reaches the page: one SVG."""
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" '
            'xmlns:xlink="http://www.w3.org/1999/xlink" '
            f'viewBox="{self._stage["viewBox"]}">'
            f"{self._stage['background']}{self._now['moving']}</svg>"
        )

    @property
    def words(self) -> str:
        """What the page says of the picture, and reads out once it is at rest."""
        return self._now["words"]

    def set(self, **state: Any) -> None:
        """Move the named controls, as a hand would, and draw once.

        A value beyond a slider's end moves it to that end, one between two steps to the
        nearer.

        Raises
        ------
        ValueError
            If the explorer has no control of that name, or the control no such value.
        """
        if self.figure is None:
            raise RuntimeError(f"{self.title}: its cell ran again, and made a new one")
        self._move(state)
        self._redraw()

    def reset(self) -> None:
        """Go back to the start."""
        self.set(**self._start)

    def close(self) -> None:
        """Take the explorer away, with its figure."""
        Explorer._shown = tuple(e for e in Explorer._shown if e is not self)
        self.figure = self._draw = self._follow = None
        self._moving, self._handles = [], []
        self.layout.close()
        super().close()

    def _hear(self, _widget: Any, message: dict, _buffers: Any) -> None:
        """Do what the hand on the page did, step by step, and answer once."""
        for kind, *what in message["steps"]:
            if kind == "reset":
                self._move(self._start)
            elif kind == "set":
                name, which, value = what
                made = self.controls[name]
                values = [control.value for control in made]
                options = getattr(made[which], "options", None)
                values[which] = options[value][1] if options else value
                self._move({name: values if name in self._tuples else values[0]})
            else:
                handle = self._handles[what[0]]
                x, y = self._data(handle, *what[1:])
                act = handle.move if kind == "move" else handle.press or handle.move
                self._move(act(self.state, x, y))
        self._redraw([message["view"], message["n"]])

    def _move(self, changes: dict) -> None:
        self._place(changes)
        if self._follow:
            self._place(self._follow(self.state, set(changes)))

    def _place(self, state: dict[str, Any]) -> None:
        """Put the controls where they stand in `state`: all of them, or none."""
        placed = []
        for name, value in state.items():
            if name not in self.controls:
                known = ", ".join(self.controls)
                raise ValueError(f"there is no control {name!r}; there are {known}")
            made = self.controls[name]
            values = value if name in self._tuples else (value,)
            if np.shape(values)[:1] != (len(made),):
                raise ValueError(f"{name} is {value!r}; it takes {len(made)} numbers")
            try:
                placed += [
                    (c, c.nearest(one)) for c, one in zip(made, values, strict=True)
                ]
            except (TypeError, ValueError) as error:
                raise ValueError(f"{name} cannot be {value!r}: {error}") from None
        for control, value in placed:
            control.value = value

    def _redraw(self, answers: list | None = None) -> None:
        last = self._now
        with in_the_lab_look():
            try:
                # A print in the reader's function would land under some cell or other.
                with capture_output(), np.errstate(all="ignore"):
                    self.readout = self._draw(self.state)
                moving, true = _svg(self._moving, self._size, "none"), True
            except BaseException as error:  # an interrupt too: the old picture is false
                self.readout = _what_went_wrong(error)
                moving, true = last.get("moving", ""), False
        self._now = {
            "n": last.get("n", 0) + 1,
            "answers": answers or ["", 0],
            "moving": moving,
            "true": true,
            "words": self.readout,
            "values": [
                [_on_the_page(control) for control in made]
                for made in self.controls.values()
            ],
            "handles": [self._place_of(handle) for handle in self._handles],
        }

    def _set_the_stage(self) -> dict[str, Any]:
        """Return what the page is told once: the controls, and all that stays still."""
        with in_the_lab_look():
            background = _svg([self.figure], self._size, "path")
            controls = [
                [_described(c) for c in made] for made in self.controls.values()
            ]
        return {
            "title": self.title,
            "cell": getattr(get_ipython(), "execution_count", 0),
            "width": self._size[0] * CSS_DPI / SVG_DPI,
            "viewBox": f"0 0 {self._size[0]:g} {self._size[1]:g}",
            "background": background,
            "names": list(self.controls),
            "controls": controls,
            "handles": [self._described(handle) for handle in self._handles],
        }

    def _described(self, handle: Handle) -> dict[str, Any]:
        if handle.at:
            return {"name": handle.name, "presses": handle.press is not None}
        x0, y0, x1, y1 = handle.axes.bbox.extents / np.tile(self._size, 2)
        box = [x0, 1 - y1, x1 - x0, y1 - y0]
        return {"name": handle.name, "presses": True, "box": [float(s) for s in box]}

    def _place_of(self, handle: Handle) -> list[float] | None:
        """Return where a handle stands, as shares of the picture from its top left."""
        at = handle.at(self.state) if handle.at else None
        if at is None:
            return None
        x, y = handle.axes.transData.transform(at) / self._size
        return [round(float(x), 5), round(1 - float(y), 5)]

    def _data(self, handle: Handle, x: float, y: float) -> tuple[float, float]:
        """Return the point in the handle's axes that stands at shares of the picture."""
        pixels = np.array([x, 1 - y]) * self._size
        x, y = handle.axes.transData.inverted().transform(pixels).tolist()
        return x, y

    def _replace_earlier(self) -> None:
        """Close what an earlier run of the same cell has left."""
        parent = getattr(get_ipython(), "get_parent", dict)() or {}
        self._cell = parent.get("metadata", {}).get("cellId")
        self._run = parent.get("header", {}).get("msg_id")
        if self._cell is None:  # then nothing tells a second run from a second cell
            return
        for earlier in Explorer._shown:
            if earlier._cell == self._cell and earlier._run != self._run:
                earlier.close()
        Explorer._shown += (self,)

    def __repr__(self) -> str:
        return f"{self.title}. {self.readout}"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        """Return the widget, and for where no kernel runs a still picture and words."""
        data, shown = super()._repr_mimebundle_(**kwargs)
        width, height = self.figure.get_size_inches()
        size = {"width": width * CSS_DPI, "height": (height + WORDS_HEIGHT) * CSS_DPI}
        size = {name: round(length) for name, length in size.items()}
        data = data | {"text/plain": repr(self), "image/png": self._still()}
        return data, shown | {"image/png": size | {"alt": repr(self)}}

    def _still(self) -> bytes:
        """Return the picture with its words under it, as PNG."""
        figure, buffer = self.figure, io.BytesIO()
        width, height = figure.get_size_inches()
        with in_the_lab_look():
            added = [
                figure.text(0.02, -0.1 / height, self.readout, wrap=True, va="top"),
                figure.text(0.02, (0.08 - WORDS_HEIGHT) / height, HOW_TO_MOVE),
            ]
            added[1].set_style("italic")
            if not self._now["true"]:
                pale = Rectangle((0, 0), 1, 1, color="#bbbbbb", alpha=0.8, zorder=9)
                added.append(figure.add_artist(pale))
            figure.patch.set_bounds(0, -WORDS_HEIGHT / height, 1, 9)
            box = Bbox([[0, -WORDS_HEIGHT], [width, height]])
            figure.savefig(buffer, format="png", dpi=2 * CSS_DPI, bbox_inches=box)
            figure.patch.set_bounds(0, 0, 1, 1)
            for artist in added:
                artist.remove()
        return buffer.getvalue()


def _svg(artists: Iterable[Artist], size: Iterable[float], text: str) -> str:
    """Return what matplotlib draws of these artists, without a root element.

    Text as paths has its place whatever fonts the page has; text as text is short.
    """
    rcParams.update({"svg.fonttype": text, "svg.hashsalt": text})
    buffer = io.StringIO()
    renderer = RendererSVG(*size, buffer)
    buffer.seek(0)
    buffer.truncate()  # the header's style would reach the whole page
    for artist in artists:
        artist.draw(renderer)
    renderer.finalize()
    return buffer.getvalue().rpartition("</svg>")[0]


def _on_the_page(control: Slider | Choice) -> float:
    """Return a control's value as the page has it: of options, which one."""
    if isinstance(control, Slider):
        return control.value
    return [value for _text, value in control.options].index(control.value)


def _described(control: Slider | Choice) -> dict[str, Any]:
    """Return what the page needs to know of a control."""
    if isinstance(control, Choice):
        options = [text for text, _value in control.options]
        return {"label": control.label, "options": options}
    sample = ""
    if control.thing:
        line = Line2D([2, 28], [6, 6], markevery=[1], **LOOK[control.thing])
        sample = _svg([line], (34, 12), "none")
    return vars(control) | {"sample": sample, "whole": isinstance(control.step, int)}


def _what_went_wrong(error: BaseException) -> str:
    """Say why there is no picture, and what to do."""
    if isinstance(error, KeyboardInterrupt):
        return "Interrupted, so the picture is grey: move again to draw it."
    known = isinstance(error, Unusable)
    said = str(error) if known else f"{type(error).__name__}: {error}"
    return f"Not drawn, so the picture is grey: {said[:240]}"
