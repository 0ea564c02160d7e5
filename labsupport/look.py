"""The one look of the lab: its colours, its artists, and how it writes a number.

Stills and explorers take theirs from here, so that a thing looks the same in both,
whatever the reader has set in matplotlib. Nothing here uses pyplot.
"""

# ruff: noqa: E402

from __future__ import annotations

import ctypes
import io
import logging
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

# A first import on a fresh machine, or in a home that cannot be written, has matplotlib
# speak up in red under the reader's first cell. Its logger is loud again afterwards.
_log = logging.getLogger("matplotlib")
_level = _log.level
_log.setLevel(logging.ERROR)
import matplotlib.style
from contourpy import contour_generator
from IPython.display import display
from matplotlib import rcParams
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.transforms import Bbox

_log.setLevel(_level)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

# Three colours and black, apart in lightness as well as hue, so that they hold in
# greyscale and for the common colour-vision deficiencies. None is told by colour
# alone: a thing keeps its line style and marker too, in all six notebooks.
NAVY, RUST, SKY, BLACK = "#1a2566", "#a33809", "#3496bb", "#000000"
SHADE, GREY = "#d9e8ef", "#888888"
LOOK: dict[str, Any] = {
    "evidence": {"color": NAVY, "linestyle": "-", "marker": "o"},
    "pattern": {"color": RUST, "linestyle": "--", "marker": "^"},
    "contribution": {"color": SKY, "linestyle": "-.", "marker": "s"},
    "replace": {"color": RUST, "linestyle": "--", "marker": "v"},
    "add": {"color": NAVY, "linestyle": "-", "marker": "o"},
    "post_norm": {"color": SKY, "linestyle": "-.", "marker": "s"},
    "pre_norm": {"color": BLACK, "linestyle": ":", "marker": "D"},
    "last_norm": {"color": BLACK, "linestyle": "-", "marker": "^"},
}
NAMES = {
    "replace": "replaced",
    "add": "added",
    "post_norm": "added, then tidied (post-norm)",
    "pre_norm": "a tidied copy read, then added (pre-norm)",
    "last_norm": "pre-norm, through its last norm",
}
# Below zero yellow, above blue, and a step between them that no shade bridges: a small
# number is not zero, which is white, and the sign can be told in greyscale too.
CELLS = LinearSegmentedColormap.from_list(
    "cells", [(0, "#f5d45e"), (0.5, "#fdf3c0"), (0.5, "#b3bed6"), (1, NAVY)]
).with_extremes(bad="white", under="#eeeeee")
CSS_DPI, SVG_DPI = 100, 72
BELOW = (-0.1, -0.64), ("normal", "italic")  # a still's lines: inches, style
# Linux's C library keeps what is freed, some 10 MB a kernel; a class has many kernels.
LIBRARY: Any = ctypes.CDLL(None) if sys.platform == "linux" else None
NOWHERE = Path(np.zeros((1, 2)))

with matplotlib.style.context("labsupport.lab", after_reset=True):
    SETTINGS = dict(rcParams)


@contextmanager
def in_the_lab_look() -> Iterator[None]:
    """Return a context (or decorator) of matplotlib's defaults and the lab's style."""
    # The settings are valid; to check each again would cost a move of an explorer.
    before = dict.copy(rcParams)
    dict.update(rcParams, SETTINGS)
    try:
        yield
    finally:
        dict.update(rcParams, before)


class Still(Figure):
    """A figure that shows itself once, sharp on any screen, with its words beside it.

    `words` says what the picture shows, computed from what is drawn: it is the
    output's plain text and the picture's alternative text.
    """

    words = "A figure"
    _first = True

    def draw(self, renderer: Any) -> None:
        self._drawn_on = renderer
        layout, first = self.get_layout_engine(), self._first
        # Ticks are made as late as this, and would take the reader's own settings.
        with in_the_lab_look():
            if first and layout:
                layout.execute(self)  # it needs two goes
            super().draw(renderer)
        if first:
            self._stay(renderer)

    def _stay(self, renderer: Any) -> None:
        """Keep all where it was drawn first: a legend outside of the axes, too."""
        self._first = False
        self.set_layout_engine("none")
        for legend in self.legends:
            box = legend.get_window_extent(renderer)
            box = box.transformed(self.transFigure.inverted())
            legend.set_bbox_to_anchor(box, self.transFigure)
            legend.set_loc("center")

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """Save it in the lab's look, and let go of the megabytes it was drawn on."""
        FigureCanvasBase(self)  # what it was drawn on before may still be in use
        with in_the_lab_look():
            super().savefig(*args, **kwargs)
        # Each text and tick keeps the renderer, and a notebook each figure it showed.
        vars(self._drawn_on).clear()
        if hasattr(LIBRARY, "malloc_trim"):
            LIBRARY.malloc_trim(0)

    def __repr__(self) -> str:
        return self.words

    def bundle(self, *under: str, pale: bool = False) -> tuple[dict, dict]:
        """Return what a notebook stores: the picture and its words; size and alt.

        Under the picture stand what it says and a remark, if given; `pale` greys it.
        """
        (width, height), buffer = self.get_size_inches(), io.BytesIO()
        below = 0.9 if under else 0
        with in_the_lab_look():
            added: list[Artist] = [
                self.text(0.02, y / height, text, va="top", wrap=True, style=style)
                for text, y, style in zip(under, *BELOW, strict=False)
            ]
            if pale:
                grey = Rectangle((0, 0), 1, 1, color="#bbbbbb", alpha=0.8, zorder=9)
                added.append(self.add_artist(grey))
            self.patch.set_bounds(0, -below / height, 1, 1 + below / height)
            box = Bbox([[0, -below], [width, height]]) if under else None
            self.savefig(buffer, format="png", dpi=2 * CSS_DPI, bbox_inches=box)
            self.patch.set_bounds(0, 0, 1, 1)
        for artist in added:
            artist.remove()
        size = {"width": width * CSS_DPI, "height": (height + below) * CSS_DPI}
        shown = {name: round(length) for name, length in size.items()}
        data = {"image/png": buffer.getvalue(), "text/plain": self.words}
        return data, {"image/png": shown | {"alt": self.words}}

    def _ipython_display_(self) -> None:
        # The way that comes before IPython's formatters, which pyplot makes its own.
        data, metadata = self.bundle()
        display(data, metadata=metadata, raw=True)


def svg(artists: Iterable[Artist], size: Iterable[float], text: str) -> str:
    """Return what matplotlib draws of the artists, as SVG without its root.

    Text as paths ("path") stands as it should whatever fonts the page has, as text
    ("none") it is short. To be called in the lab's look.
    """
    rcParams.update({"svg.fonttype": text, "svg.hashsalt": f"the lab: {text}"})
    buffer = io.StringIO()
    width, height = size
    renderer = RendererSVG(width, height, buffer)
    buffer.seek(0)
    buffer.truncate()  # the style in its head would reach the whole page
    for artist in artists:
        artist.draw(renderer)
    renderer.finalize()
    return buffer.getvalue().rpartition("</svg>")[0].replace("\n", "")


def sample(thing: str) -> str:
    """Return a short line in the look of a thing, as SVG of 30 by 12."""
    line = Line2D([2, 26], [6, 6], markevery=[1], **LOOK[thing])
    return svg([line], (30, 12), "none")


def new_figure(width: float = 7.2, height: float = 3.6) -> Still:
    """Return an empty figure in the lab's look; sizes in inches of 100 CSS pixels."""
    with in_the_lab_look():
        return Still(figsize=(width, height))


def plane(axes: Axes, title: str, across: float, up: float | None = None) -> None:
    """Make the axes a plane of pairs of numbers that reaches as far on both sides."""
    up = across if up is None else up
    axes.set(title=title, xlim=(-across, across), ylim=(-up, up), aspect="equal")
    axes.set(xlabel="first number", ylabel="second number", anchor="N")


def arrow(
    axes: Axes, thing: str, tip: ArrayLike = (0, 0), label: str = "", **style: Any
) -> Line2D:
    """Draw an arrow from the origin in the look of `thing`, its marker at the tip."""
    style = LOOK[thing] | {"markevery": [1], "label": label or thing} | style
    return axes.plot(*np.transpose([(0, 0), tip]), **style)[0]


def point(arrow: Line2D, tip: ArrayLike, tail: ArrayLike = (0, 0)) -> None:
    """Move an arrow."""
    arrow.set_data(*np.transpose([tail, tip]))


def shade(axes: Axes, path: Path | None, label: str, **style: Any) -> PathPatch:
    """Draw a region, or none yet, under everything else on the axes."""
    style = {"color": SHADE, "linewidth": 0, "zorder": 0.5, "label": label} | style
    region = PathPatch(path or NOWHERE, **style)
    axes.add_patch(region)
    return region


def sampled(ask: Callable, points: NDArray) -> NDArray | None:
    """Return what a reader's function makes of each point (n, 2): one number each.

    It is asked for all at once, for which it must answer three of them as it does
    alone, else one by one; and not at all (None) if one takes it as long as a blink.
    """
    probes = np.linspace(0, len(points) - 1, 3).astype(int)
    start = time.perf_counter()
    alone = np.array([ask(points[i].copy()) for i in probes], dtype=float)
    slow = time.perf_counter() - start > 0.1
    for together in (points, points.T):
        try:
            answers = np.asarray(ask(together.copy()), dtype=float)
        except Exception:  # it was written for one point, as it was asked for
            continue
        fits = answers.shape == points.shape[:1]
        if fits and np.allclose(answers[probes], alone, equal_nan=True):
            return answers
    if slow:
        return None
    return np.array([ask(point.copy()) for point in points], dtype=float)


def lattice(axes: Axes, n: int = 33) -> tuple[NDArray, NDArray]:
    """Return points over the axes and a little beyond: x and y, (n, n) each."""
    ends = axes.get_xlim(), axes.get_ylim()
    x, y = np.meshgrid(*(np.linspace(1.1 * low, 1.1 * high, n) for low, high in ends))
    return x, y


def above_zero(x: NDArray, y: NDArray, strength: NDArray) -> Path:
    """Return the region in which a strength sampled on a lattice is above zero.

    What fires has fallen to zero before the next point, and been cut there: its edge
    lies where it would have passed zero if it had gone on as it came.
    """
    padded = np.pad(strength, 2, constant_values=np.nan)
    inner = (slice(2, -2), slice(2, -2))
    onward = []
    for axis in (0, 1):
        for step in (1, -1):
            near, far = (np.roll(padded, k * step, axis)[inner] for k in (1, 2))
            on = 2 * near - far
            on = np.where(on > 1e-9 * near, -near, np.minimum(on, 0))  # a jump: halfway
            onward.append(np.where(near > 0, on, np.nan))
    beyond = np.fmin.reduce(onward)
    signed = np.where(strength > 0, strength, np.where(np.isnan(beyond), -1, beyond))
    lines: Any = contour_generator(x, y, signed, name="serial", fill_type="OuterCode")
    polygons, codes = lines.filled(0, max(signed.max(), 0) + 1)
    if not polygons:
        return NOWHERE
    return _straightened(np.concatenate(polygons), np.concatenate(codes))


def _straightened(points: NDArray, codes: NDArray) -> Path:
    """Return the path without the points that stand twice or on a straight edge."""
    for turns in (
        lambda back, ahead: abs(back).max(axis=1) > 1e-9,
        lambda back, ahead: (
            abs(back[:, 0] * ahead[:, 1] - back[:, 1] * ahead[:, 0]) > 1e-9
        ),
    ):
        steps = np.diff(points, axis=0)
        keep = codes != Path.LINETO
        keep[1:-1] |= turns(steps[:-1], steps[1:])
        points, codes = points[keep], codes[keep]
    return Path(points, codes)


def where_fires(fires: Callable, pattern: ArrayLike, axes: Axes) -> Path:
    """Return where on the axes the reader's `fires` is above zero for this pattern.

    Nowhere, if it takes too long to be asked all over.
    """
    x, y = lattice(axes)
    points = np.column_stack([x.ravel(), y.ravel()])
    strength = sampled(lambda e: fires(np.array(pattern), e), points)
    if strength is None:
        return NOWHERE
    return above_zero(x, y, strength.reshape(x.shape))


class Cells:
    """A matrix as cells: yellow below zero, white at zero, blue above.

    `form` says how the numbers are written in, as after the colon in an f-string.
    """

    def __init__(
        self,
        axes: Axes,
        numbers: ArrayLike,
        limit: float,
        form: str | None = None,
        animated: bool = False,
    ) -> None:
        numbers = np.asarray(numbers)
        axes.set(xticks=[], yticks=[])
        axes.grid(False)
        axes.spines[:].set_visible(True)
        style: dict[str, Any] = {
            "cmap": CELLS,
            "vmin": -limit,
            "vmax": limit,
            "animated": animated,
        }
        self.limit, self.form = limit, form
        self.image = axes.imshow(numbers, aspect="auto", interpolation="none", **style)
        style = {"ha": "center", "va": "center", "animated": animated}
        places = np.ndindex(numbers.shape if form else (0, 0))
        self.texts = {(i, j): axes.text(j, i, "", **style) for i, j in places}
        self.fill(numbers)

    def fill(self, numbers: ArrayLike) -> None:
        """Show other numbers, NaN as an empty cell."""
        numbers = np.asarray(numbers, dtype=float)
        tiny = 1e-12 * self.limit  # what is left of zero by rounding
        shown = np.where(np.isnan(numbers), -2 * self.limit, numbers)
        self.image.set_data(np.ma.masked_inside(shown, -tiny, tiny))
        for place, text in self.texts.items():
            number = numbers[place]
            text.set_color("white" if number > 0.48 * self.limit else BLACK)
            text.set_text(
                "" if np.isnan(number) else on_paper(f"{number:z{self.form}}")
            )


def legend(
    figure: Figure, handles: Iterable, place: str = "lower center", **style: Any
) -> None:
    """Put a legend outside of the axes, each label in it once."""
    first: dict = {}
    for handle in handles:
        first.setdefault(handle.get_label(), handle)
    figure.legend(first.values(), first, loc=f"outside {place}", **style)


# Numbers in words have the minus sign that code has, for a reader copies them; only
# what is drawn has the one that the axes have.


def on_paper(text: str) -> str:
    """Return the text with the minus sign that the axes have."""
    return text.replace("-", "−")


def plain(x: float, sign: str = "") -> str:
    """Say a number to two decimals: 1.40, or 4.4e12 where that would be long."""
    if abs(x) >= 1e5:
        return _power(f"{x:{sign}.1e}")
    return f"{x:{sign}z.2f}"


def signed(x: float) -> str:
    """Say a number to two decimals with its sign: +1.40."""
    return plain(x, "+")


def row(numbers: ArrayLike, say: Callable = signed) -> str:
    """Say a row of numbers as a list that can be pasted into a cell."""
    return "[" + ", ".join(say(float(x)) for x in np.asarray(numbers)) + "]"


def size_text(x: float) -> str:
    """Say a size of any order: exactly 0, 1.3e-9, 0.000135, 3.57, 107.9."""
    if x == 0:
        return "exactly 0"
    if x < 1e-5 or x >= 1e6:
        return _power(f"{x:.1e}")
    if x < 0.0995:
        return f"{x:.{2 - int(np.floor(np.log10(x)))}f}"
    return f"{x:.2f}" if x < 100 else f"{x:.1f}"


def _power(text: str) -> str:
    """Return 1.3e-9 for 1.3e-09: both can be pasted."""
    digits, power = text.split("e")
    return f"{digits}e{int(power)}"


def count(n: int, what: str) -> str:
    """Return "1 storey", "24 storeys"."""
    return f"{n} {what}{'' if n == 1 else 's'}"
