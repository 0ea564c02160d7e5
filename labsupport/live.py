"""The one mechanism of every explorer: controls, one figure moved in place, words.

What stands still in the figure goes to the page once, as SVG; a move brings only the
artists made with ``animated=True``, and the readout. The page's part, ``live.js``,
sends what a hand does, newest last, and shows what comes back.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anywidget
import numpy as np
import traitlets
from IPython import get_ipython
from IPython.utils.capture import capture_output

from labsupport.controls import Unusable
from labsupport.look import CSS_DPI, SVG_DPI, Still, in_the_lab_look, sample, svg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from labsupport.controls import Control, Handle

W3 = "http://www.w3.org"
ROOT = (
    f'<svg xmlns="{W3}/2000/svg" xmlns:xlink="{W3}/1999/xlink"'
    ' viewBox="0 0 {:g} {:g}" stroke-linejoin="round">'
)
HOW_TO_MOVE = "Still picture: run this cell in JupyterLab to move it."


class Explorer(anywidget.AnyWidget):
    """Controls, a picture that follows them, and a readout that says what it shows.

    `controls` is from a name in the state to its control, or to a list of controls
    whose values are a tuple there; `start` the state that *Reset* goes back to; `draw`
    from the state to the readout, and moves the artists of `figure` on its way;
    `follow` from the state and the names that have just changed to what they change.
    """

    _esm = Path(__file__).with_name("live.js")
    _css = Path(__file__).with_name("live.css")
    _stage = traitlets.Dict().tag(sync=True)  # what stays
    _now = traitlets.Dict().tag(sync=True)  # what a move brings
    _by_cell: tuple[Explorer, ...] = ()

    def __init__(
        self,
        title: str,
        controls: dict[str, Control | list[Control]],
        start: dict[str, Any],
        figure: Still,
        draw: Callable[[dict], str],
        follow: Callable[[dict, set], dict] = lambda state, changed: {},
        handles: Iterable[Handle] = (),
    ) -> None:
        self.title, self.figure, self.handles = title, figure, list(handles)
        self._start, self._draw, self._follow = start, draw, follow
        self._tuples = {name for name in controls if isinstance(controls[name], list)}
        self.controls: dict[str, list[Control]] = {
            name: made if isinstance(made, list) else [made]
            for name, made in controls.items()
        }
        self._hand = [(n, one) for n, made in self.controls.items() for one in made]
        moving = figure.findobj(lambda artist: artist.get_animated())
        self._moving = sorted(moving, key=lambda artist: artist.get_zorder())
        self._set_the_stage()
        self._place(start)
        self._redraw()
        super().__init__(model_id=self._stage["id"])
        self.on_msg(self._hear)
        self._replace_earlier()

    @property
    def state(self) -> dict[str, Any]:
        """The state that the controls stand at: a copy."""
        values = {n: tuple(c.value for c in made) for n, made in self.controls.items()}
        return {n: v if n in self._tuples else v[0] for n, v in values.items()}

    @property
    def picture(self) -> str:
        """The picture as it reaches the page, as one SVG."""
        stage = self._stage
        return f"{stage['root']}{stage['still']}{self._now['moving']}</svg>"

    @property
    def words(self) -> str:
        """What the page says beside the picture, and reads out once it is at rest."""
        return self._now["words"]

    def set(self, **state: Any) -> None:
        """Move the named controls, each to its nearest step, and draw once.

        Raises `ValueError` if there is no such control, or it has no such value.
        """
        if self.figure is None:
            raise ValueError(f"{self.title}: its cell ran again and made another one")
        self._move(state)
        self._redraw()

    def reset(self) -> None:
        """Go back to the start."""
        self.set(**self._start)

    def close(self) -> None:
        """Take the explorer away, with its figure."""
        Explorer._by_cell = tuple(e for e in Explorer._by_cell if e is not self)
        self.figure = self._draw = self._follow = None  # type: ignore[assignment]
        self._moving, self.handles = [], []
        self.layout.close()
        super().close()

    def _hear(self, _widget: Any, message: dict, _buffers: Any) -> None:
        """Do what the hand on the page did, step by step, and draw once."""
        for kind, *what in message["steps"]:
            if kind == "reset":
                self._move(self._start)
            elif kind == "set":
                name, control = self._hand[what[0]]
                control.at = what[1]
                self._move({name: self.state[name]})
            else:
                handle = self.handles[what[0]]
                act = handle.press if kind == "press" and handle.press else handle.move
                to_data = self.figure.transFigure - handle.axes.transData
                self._move(act(self.state, *to_data.transform(what[1:]).tolist()))
        self._redraw([message["view"], message["n"]])

    def _move(self, changes: dict) -> None:
        self._place(changes)
        self._place(self._follow(self.state, set(changes)))

    def _place(self, state: dict[str, Any]) -> None:
        """Put the named controls where they stand for `state`: all of them, or none."""
        placed = []
        for name, value in state.items():
            if name not in self.controls:
                known = ", ".join(self.controls)
                raise ValueError(f"there is no control {name!r}; there are {known}")
            values = value if name in self._tuples else [value]
            try:
                pairs = zip(self.controls[name], values, strict=True)
                placed += [(control, control.nearest(one)) for control, one in pairs]
            except (TypeError, ValueError, OverflowError) as error:
                raise ValueError(f"{name} cannot be {value!r}: {error}") from None
        for control, at in placed:
            control.at = at

    def _redraw(self, answers: list | None = None) -> None:
        moving, true = self._now.get("moving", ""), False
        with in_the_lab_look():
            try:
                # A print in the reader's function would land under some cell or other.
                with capture_output(), np.errstate(all="ignore"):
                    self.readout = self._draw(self.state)
                moving, true = svg(self._moving, self.figure.bbox.size, "none"), True
            except KeyboardInterrupt:
                self.readout = (
                    "Interrupted, so the picture is grey: move again to draw it."
                )
            except BaseException as error:  # even an exit: what stands is not true
                kind = (
                    "" if isinstance(error, Unusable) else f"{type(error).__name__}: "
                )
                self.readout = f"Not drawn, so the picture is grey: {kind}{error}"[:280]
        self._now = {
            "n": self._now.get("n", 0) + 1,
            "answers": answers,
            "moving": moving,
            "true": true,
            "words": self.readout,
            "values": [control.at for _name, control in self._hand],
            "handles": [self._stands(handle) for handle in self.handles],
        }

    def _stands(self, handle: Handle) -> list[float] | None:
        """Return where a handle stands, as shares of the picture from its foot."""
        at = handle.at(self.state) if handle.at else None
        if at is None:
            return None
        to_shares = handle.axes.transData - self.figure.transFigure
        return to_shares.transform(at).round(4).tolist()

    def _set_the_stage(self) -> None:
        """Draw what stands still, and describe the controls, once for the page."""
        with in_the_lab_look():
            self.figure.set_dpi(SVG_DPI)
            self.figure.draw_without_rendering()  # gives each thing its place
            size = self.figure.bbox.size.tolist()
            self._stage = {
                "id": uuid4().hex,
                "title": self.title,
                "size": size,
                "width": round(size[0] * CSS_DPI / SVG_DPI),
                "root": ROOT.format(*size),
                "still": svg([self.figure], size, "path"),
                "controls": [
                    {"name": name, "sample": c.thing and sample(c.thing)} | vars(c)
                    for name, c in self._hand
                ],
                "handles": [
                    {"name": handle.name, "presses": bool(handle.press)}
                    | {"box": None if handle.at else handle.axes.get_position().bounds}
                    for handle in self.handles
                ],
            }

    def _replace_earlier(self) -> None:
        """Close what an earlier run of the same cell has left."""
        parent: dict = getattr(get_ipython(), "get_parent", dict)() or {}
        self._cell = parent.get("metadata", {}).get("cellId")
        self._run = parent.get("header", {}).get("msg_id")
        if self._cell is None:  # a second run cannot be told from a second cell
            return
        for earlier in Explorer._by_cell:
            if earlier._cell == self._cell and earlier._run != self._run:
                earlier.close()
        Explorer._by_cell += (self,)

    def __repr__(self) -> str:
        return f"{self.title}. {self.readout}"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        """Return the widget, and for where no kernel runs a still picture and words."""
        view, about_view = super()._repr_mimebundle_(**kwargs) or ({}, {})
        self.figure.words = repr(self)
        pale = not self._now["true"]
        data, about_still = self.figure.bundle(self.readout, HOW_TO_MOVE, pale=pale)
        return view | data, about_view | about_still
