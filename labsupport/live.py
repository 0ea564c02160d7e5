"""The one mechanism of every explorer: controls, one figure redrawn in place, words.

An explorer has a start state and a ``draw(state)`` that moves the artists of one
figure and returns the readout. Everything still is drawn once and stored; a move
restores it and draws only the artists made with ``animated=True`` on top. Each move is
answered before the next is taken, and the browser keeps only the newest one waiting,
so what is drawn is always the latest state.
"""

from __future__ import annotations

import html
import io
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets
import numpy as np
from IPython import get_ipython
from IPython.utils.capture import capture_output
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from labsupport.figures import CSS_DPI, Still, hand_back_memory, new_figure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

STYLE = """<style>
.lab-explorer {container-type: inline-size}
.lab-explorer .widget-inline-hbox {flex-flow: row wrap; height: auto; width: auto}
.lab-explorer .widget-inline-hbox > .widget-label {width: 100%; text-align: left;
  height: auto; line-height: 1.4; white-space: normal; font-size: 14px}
.lab-explorer .widget-readout {font-size: 14px}
.lab-explorer .lab-choice {margin: 2px}
.lab-explorer .lab-choice .widget-readout {flex: 0 0 7em; max-width: none}
.lab-explorer .lab-whole-row {grid-column: 1 / -1}
.lab-explorer .widget-button {flex: none}
.lab-explorer img {margin: 0; will-change: transform}
.lab-explorer .lab-readout {height: 70px; overflow: auto}
.lab-explorer .lab-readout .widget-html-content {line-height: 1.5; font-size: 14px;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
  color: var(--jp-content-font-color1, inherit)}
@container (max-width: 560px) {.lab-explorer .lab-readout {height: 112px}}
@container (max-width: 360px) {.lab-explorer .lab-readout {height: 200px}}
</style>"""
HOW_TO_MOVE = "Still picture: run this cell in JupyterLab to move it."


class Unusable(Exception):
    """What the reader's function handed back cannot be drawn."""


def slider(name: str, low: float, high: float, step: float) -> widgets.Widget:
    """Return a slider over whole numbers, or over decimals if `step` is a float."""
    kind = widgets.IntSlider if isinstance(step, int) else widgets.FloatSlider
    return kind(min=low, max=high, step=step, description=name)


def choice(name: str, options: list[tuple[str, Any]]) -> widgets.Widget:
    """Return a slider over a few words; `options` are (what is shown, value).

    Not a drop-down list: in JupyterLab the arrow keys leave that for the next cell.
    """
    made = widgets.SelectionSlider(options=options, description=name)
    made.add_class("lab-choice")
    return made


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


class Explorer(widgets.VBox):
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
    """

    _warm: Explorer | None = None
    _shown: tuple[Explorer, ...] = ()
    _parts: tuple[widgets.Widget, ...] = ()

    def __init__(
        self,
        title: str,
        controls: dict[str, Any],
        start: dict[str, Any],
        figure: Still,
        draw: Callable[[dict], str],
        follow: Callable[[dict, set], dict] | None = None,
    ) -> None:
        super().__init__()
        self.title, self.figure, self.readout = title, figure, ""
        self._start, self._draw, self._follow = start, draw, follow
        self._controls = {
            name: made if isinstance(made, list) else [made]
            for name, made in controls.items()
        }
        self._tuples = {n for n, made in controls.items() if isinstance(made, list)}
        self._holding = False
        self._warm_up()
        figure.set_layout_engine("none")
        moving = figure.findobj(lambda artist: artist.get_animated())
        self._moving = sorted(moving, key=lambda artist: artist.get_zorder())
        self._palette = _palette(self._render())
        self._good = b""  # the last picture that is true, packed

        width, height = (round(inch * CSS_DPI) for inch in figure.get_size_inches())
        self._picture = widgets.Image(width=str(width), height=str(height))
        self._words = widgets.HTML()
        self._words.add_class("lab-readout")
        reset = widgets.Button(description="Reset", layout={"width": "7em"})
        reset.on_click(lambda _: self.set(**self._start))
        columns = "repeat(auto-fit, minmax(min(17em, 100%), 1fr))"
        heading = widgets.HTML(f"{STYLE}<b>{html.escape(title)}</b>")
        top = widgets.HBox(
            [heading, reset], layout={"justify_content": "space-between"}
        )
        hand = [control for made in self._controls.values() for control in made]
        grid = widgets.GridBox(
            hand, layout={"grid_template_columns": columns, "grid_gap": "2px 24px"}
        )
        self.children = [top, grid, self._picture, self._words]
        self._parts = (*hand, *top.children, *self.children)
        self.layout.max_width = f"{width}px"
        self.add_class("lab-explorer")
        self._replace_earlier()
        self.set(**start)
        for name, made in self._controls.items():
            for control in made:
                control.observe(partial(self._moved, name), "value")

    @property
    def state(self) -> dict[str, Any]:
        """The state that the controls stand at: a copy."""
        values = {
            name: tuple(_tidy(control.value) for control in made)
            for name, made in self._controls.items()
        }
        return {n: v if n in self._tuples else v[0] for n, v in values.items()}

    def set(self, **state: Any) -> None:
        """Move the named controls, as a hand would, and draw once.

        A value beyond a slider's end moves it to that end.

        Raises
        ------
        ValueError
            If the explorer has no control of that name, or the control no such value.
        """
        for name, value in state.items():
            if name not in self._controls:
                known = ", ".join(self._controls)
                raise ValueError(f"there is no control {name!r}; there are {known}")
            values = value if name in self._tuples else (value,)
            count = len(self._controls[name])
            if np.shape(values)[:1] != (count,):
                raise ValueError(f"{name} is {value!r}; it takes {count} numbers")
        self._place(state)
        self._settle(set(state))

    def close(self) -> None:
        """Take the explorer away, with its controls, its figure and its observers."""
        Explorer._shown = tuple(e for e in Explorer._shown if e is not self)
        for part in self._parts:
            part.unobserve_all()
            for widget in (part.layout, getattr(part, "style", None), part):
                if widget is not None:
                    widget.close()
        self._parts = self._moving = ()
        if Explorer._warm is self:
            Explorer._warm = None
        self.figure = self._draw = self._canvas = self._background = None
        self.layout.close()
        super().close()

    def _moved(self, name: str, _change: Any) -> None:
        if not self._holding:
            # The kernel's sending thread needs the interpreter to say that a move has
            # come; if drawing keeps it from that, the whole answer is sent later.
            time.sleep(0.001)
            self._settle({name})

    def _settle(self, changed: set[str]) -> None:
        if self._follow:
            self._place(self._follow(self.state, changed))
        self._redraw()

    def _place(self, state: dict[str, Any]) -> None:
        self._holding = True
        try:
            for name, value in state.items():
                values = value if name in self._tuples else (value,)
                for control, one in zip(self._controls[name], values, strict=True):
                    control.value = one
        except Exception as error:
            raise ValueError(f"{name} cannot be {value!r}: {error}") from None
        finally:
            self._holding = False

    def _redraw(self) -> None:
        try:
            # A print in the reader's function would land under some cell or other.
            with capture_output(), np.errstate(all="ignore"):
                self.readout = self._draw(self.state)
            picture = self._good = _packed(self._render(), self._palette)
        except Exception as error:
            known = isinstance(error, Unusable)
            said = str(error) if known else f"{type(error).__name__}: {error}"
            self.readout = f"Not drawn, so the picture is grey: {said[:240]}"
            last = Image.open(io.BytesIO(self._good)) if self._good else self._render()
            pale = Image.new("L", last.size, 0xBB)
            picture = _png(Image.blend(last.convert("L"), pale, 0.75))
        # The words first: nothing then waits behind the picture's unpacking.
        self._words.value = f'<div role="status">{html.escape(self.readout)}</div>'
        self._picture.value = picture

    def _warm_up(self) -> None:
        """Draw what stands still; only the explorer moved last keeps that in memory."""
        if Explorer._warm is self:
            return
        if Explorer._warm:
            Explorer._warm._cool_down()
        Explorer._warm = self
        self._canvas = FigureCanvasAgg(self.figure)
        self._canvas.draw()
        self._background = self._canvas.copy_from_bbox(self.figure.bbox)

    def _cool_down(self) -> None:
        Explorer._warm = self._canvas = self._background = None
        self.figure.forget_canvas()

    def _render(self) -> Image.Image:
        self._warm_up()
        self._canvas.restore_region(self._background)
        for artist in self._moving:
            self.figure.draw_artist(artist)
        size = self._canvas.get_width_height()
        return Image.frombuffer("RGBA", size, self._canvas.buffer_rgba())

    def _replace_earlier(self) -> None:
        """Close what an earlier run of the same cell has left."""
        parent = getattr(get_ipython(), "get_parent", dict)() or {}
        self._cell = parent.get("metadata", {}).get("cellId", self.title)
        self._run = parent.get("header", {}).get("msg_id", id(self))
        for earlier in Explorer._shown:
            if earlier._cell == self._cell and earlier._run != self._run:
                earlier.close()
        Explorer._shown += (self,)

    def __repr__(self) -> str:
        return f"{self.title}. {self.readout}"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        """Return the widget, and for where no kernel runs a still picture and words."""
        view = super()._repr_mimebundle_(**kwargs)
        words = new_figure(self.figure.get_figwidth(), 0.9)
        words.text(0.02, 0.8 / 0.9, self.readout, wrap=True, va="top")
        words.text(0.02, 0.08, HOW_TO_MOVE, style="italic")
        words.words = repr(self)
        data, shown = words._repr_mimebundle_()
        both = self._picture.value, data["image/png"]
        data["image/png"] = _stacked(*both, self._palette)
        shown["image/png"]["height"] += round(self.figure.get_figheight() * CSS_DPI)
        hand_back_memory()
        return view | data, shown


def _palette(picture: Image.Image) -> Image.Image:
    """Return the 256 commonest colours of a picture, at Pillow's own six bits."""
    sixes = picture.convert("RGB").point([level & 0xFC for level in range(256)] * 3)
    counted = sorted(sixes.getcolors(64**3), reverse=True)[:256]
    levels = [level for _count, colour in counted for level in colour]
    holder = Image.new("P", (1, 1))
    # White stays white.
    holder.putpalette([255 if level == 252 else level for level in levels])
    return holder


def _packed(picture: Image.Image, palette: Image.Image) -> bytes:
    """Return the picture in the palette's colours: a fifth of the work to unpack.

    A band at a time, so that no move takes megabytes that the kernel then keeps.
    """
    few = Image.new("P", picture.size)
    few.putpalette(palette.getpalette())
    for top in range(0, picture.height, 110):
        box = (0, top, picture.width, min(top + 110, picture.height))
        band = picture.crop(box).convert("RGB")
        few.paste(band.quantize(palette=palette, dither=0), box)
    return _png(few)


def _stacked(above: bytes, below: bytes, palette: Image.Image) -> bytes:
    """Return one picture of two that are as wide as each other."""
    upper, lower = (Image.open(io.BytesIO(png)) for png in (above, below))
    both = Image.new("RGB", (upper.width, upper.height + lower.height))
    both.paste(upper.convert("RGB"))
    both.paste(lower.convert("RGB"), (0, upper.height))
    return _packed(both, palette)


def _png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def _tidy(value: Any) -> Any:
    """Return 0.3 for 0.30000000000000004, and 0.0 for −0.0."""
    return round(value, 6) + 0.0 if isinstance(value, float) else value
