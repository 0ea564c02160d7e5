"""Still pictures: each function returns one matplotlib Figure, and words for it.

No pyplot: a figure shows once, where its cell ends, and nothing keeps it alive.
"""

from __future__ import annotations

import ctypes
import io
import sys
from functools import wraps
from typing import TYPE_CHECKING

import matplotlib.style
import numpy as np
from matplotlib.axis import Axis
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MultipleLocator

from labsupport.block import relu

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

# Three colours and black, apart in lightness as well as hue, so that they hold in
# greyscale and for the common colour-vision deficiencies. None is told by colour
# alone: a thing keeps its line style and marker too, in all six notebooks.
NAVY, RUST, SKY, BLACK = "#1a2566", "#a33809", "#3496bb", "#000000"
LOOK = {
    "evidence": {"color": NAVY, "linestyle": "-", "marker": "o"},
    "pattern": {"color": RUST, "linestyle": "--", "marker": "^"},
    "contribution": {"color": SKY, "linestyle": "-.", "marker": "s"},
    "replace": {"color": RUST, "linestyle": "--", "marker": "v"},
    "add": {"color": NAVY, "linestyle": "-", "marker": "o"},
    "post_norm": {"color": SKY, "linestyle": "-.", "marker": "s"},
    "pre_norm": {"color": BLACK, "linestyle": ":", "marker": "D"},
}
NAMES = {
    "replace": "replaced",
    "add": "added",
    "post_norm": "added, then tidied (post-norm)",
    "pre_norm": "a tidied copy read, then added (pre-norm)",
}
# From light over grey at zero to dark: the sign can be told in greyscale too.
CELLS = LinearSegmentedColormap.from_list("cells", ["#fff0b0", "#c4cad6", NAVY])
CSS_DPI = 100


class Still(Figure):
    """A figure that shows itself once, sharp on any screen, with its words beside it.

    `words` says what the picture shows, computed from what is drawn: it is the
    output's plain text and the picture's alternative text.
    """

    words = "A figure"

    def draw(self, renderer) -> None:
        # Ticks are made as late as this, and would take the reader's own settings.
        with in_the_lab_look():
            super().draw(renderer)

    def __repr__(self) -> str:
        return self.words

    def forget_canvas(self) -> None:
        """Let go of the megabytes it was last drawn on; the next drawing makes its own.

        A notebook remembers each figure it has shown, and they would add up.
        """
        FigureCanvasBase(self)
        with in_the_lab_look():
            for axis in self.findobj(Axis):
                # An axis keeps ticks that are out of sight, and they the canvas.
                axis.reset_ticks()
        for text in self.findobj(Text):
            text._renderer = None
        hand_back_memory()

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict, dict]:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=2 * CSS_DPI)
        self.forget_canvas()
        width, height = (round(inches * CSS_DPI) for inches in self.get_size_inches())
        shown = {"width": width, "height": height, "alt": self.words}
        data = {"image/png": buffer.getvalue(), "text/plain": self.words}
        return data, {"image/png": shown}


def hand_back_memory() -> None:
    """Let the system have what drawing has freed: Linux's C library would keep it.

    It is some 20 MB in each kernel, and a class has many.
    """
    if sys.platform == "linux":
        library = ctypes.CDLL(None)
        if hasattr(library, "malloc_trim"):  # glibc has it, musl does not
            library.malloc_trim(0)


def new_figure(width: float = 7.2, height: float = 3.6) -> Still:
    """Return an empty figure in the lab's look; sizes in inches of 100 CSS pixels."""
    with in_the_lab_look():
        return Still(figsize=(width, height))


def in_the_lab_look():
    """Return a context (or decorator) in which artists take the lab's one look."""
    return matplotlib.style.context("labsupport.lab")


def _look(draw: Callable[..., Still]) -> Callable[..., Still]:
    @wraps(draw)
    def drawn(*args, **kwargs) -> Still:
        with in_the_lab_look():
            return draw(*args, **kwargs)

    return drawn


@_look
def bend(bend: Callable, matches: ArrayLike) -> Still:
    """Return the bend as a line, with each match on it. `matches`: (n,)."""
    figure = new_figure(7.2, 3.4)
    axes = figure.subplots()
    line = np.linspace(-2, 2, 201)
    fired = np.asarray(bend(np.asarray(matches)))
    axes.plot(line, bend(line), color=BLACK, label="after the bend")
    axes.plot(matches, fired, "o", color=NAVY, markersize=10, label="the matches")
    for match, height in zip(matches, fired, strict=True):
        note = _minus(f"{match:+z.1f} → {height:z.1f}")
        axes.annotate(note, (match - 0.06, height + 0.14), ha="right", color=NAVY)
    axes.set(xlim=(-2, 2), ylim=(-0.3, 2.1), title="The bend (ReLU)")
    axes.set(xlabel="match: pattern · evidence", ylabel="the unit fires")
    axes.legend(loc="upper left")
    pairs = zip(matches, fired, strict=True)
    shown = ", ".join(f"{match:+z.1f} to {height:z.1f}" for match, height in pairs)
    figure.words = _minus(f"Figure: the bend takes the matches {shown}")
    return figure


def _minus(text: str) -> str:
    """Return the text with the minus sign that the axes have."""
    return text.replace("-", "−")


@_look
def plane(pattern: ArrayLike, evidences: ArrayLike) -> Still:
    """Return the plane of all evidence: the half on which a unit fires is shaded.

    `pattern`: (2,); `evidences`: (n, 2).
    """
    figure = new_figure(7.2, 4.4)
    axes = figure.subplots()
    corners = np.array([[-2, -1.5], [2, -1.5], [2, 1.5], [-2, 1.5]])
    axes.fill(*_half_plane(corners, pattern).T, color="#d9e8ef", label="fires here")
    arrow(axes, pattern, "pattern")
    matches = np.asarray(evidences) @ pattern
    for evidence, match in zip(evidences, matches, strict=True):
        arrow(axes, evidence, "evidence")
        note = _minus(f"match {match:+z.1f}")
        side, shift = ("left", 9) if evidence[0] > 0 else ("right", -9)
        look = {"ha": side, "va": "center", "textcoords": "offset points"}
        axes.annotate(note, evidence, (shift, 0), **look)
    axes.set(xlim=(-2, 2), ylim=(-1.5, 1.5), aspect="equal")
    axes.set(xlabel="first number", ylabel="second number")
    axes.set_title("Where one unit fires")
    figure.legend(*_once(axes), loc="outside right upper")
    count = int((matches > 0).sum())
    figure.words = f"Figure: {count} of {len(matches)} evidences on the firing side"
    return figure


def arrow(axes, tip: ArrayLike, name: str):
    """Draw an arrow from the origin in the look of `name`, and return it."""
    look = LOOK[name]
    (line,) = axes.plot([0, tip[0]], [0, tip[1]], markevery=[1], label=name, **look)
    return line


def _half_plane(corners: np.ndarray, pattern: ArrayLike) -> np.ndarray:
    """Return the part of a polygon where pattern · point is positive."""
    inside = []
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        match_a, match_b = np.dot(pattern, a), np.dot(pattern, b)
        if match_a >= 0 and np.any(pattern):  # a pattern of zeros never fires
            inside.append(a)
        if match_a * match_b < 0:
            inside.append(a + (b - a) * match_a / (match_a - match_b))
    return np.array(inside or [[0.0, 0.0]])


def _once(axes) -> tuple[list, list]:
    """Return the legend's handles and labels, each label once."""
    handles, labels = axes.get_legend_handles_labels()
    first = {label: handle for handle, label in zip(handles, labels, strict=True)}
    return list(first.values()), list(first)


@_look
def bank_by_hand(
    x: ArrayLike, W1: ArrayLike, W2: ArrayLike, bend: Callable = relu
) -> Still:
    """Return a small bank as the product it is, every number written in.

    `x`: (d,); `W1`: (d, d_ff); `W2`: (d_ff, d).
    """
    x, W1, W2 = np.atleast_2d(x), np.asarray(W1), np.asarray(W2)
    matches = x @ W1
    fired = bend(matches)
    panels = {
        "evidence": x,
        "@ W1": W1,
        "= matches": matches,
        "after the bend": fired,
        "@ W2": W2,
        "= added": fired @ W2,
    }
    figure = new_figure(7.2, 2.2)
    figure.suptitle("A bank, number by number", x=0.01, ha="left")
    widths = [panel.shape[1] for panel in panels.values()]
    limit = max(np.abs(panel).max() for panel in panels.values())
    axes = figure.subplots(1, len(panels), width_ratios=widths)
    for ax, (title, panel) in zip(axes, panels.items(), strict=True):
        _matrix(ax, panel, limit)
        _write_numbers(ax, panel, limit)
        ax.set_title(title, fontsize="medium", fontweight="normal", loc="center")
        ax.set_aspect("equal")
    out = _minus(", ".join(f"{number:z.1f}" for number in (fired @ W2)[0]))
    count = f"{int((fired > 0).sum())} of {fired.size}"
    figure.words = f"Figure: units that fire: {count}, adding [{out}]"
    return figure


@_look
def bank(x: ArrayLike, W1: ArrayLike, W2: ArrayLike, bend: Callable = relu) -> Still:
    """Return a bank at full size at work: a row a word, a column a number.

    `x`: (n, d); `W1`: (d, d_ff); `W2`: (d_ff, d).
    """
    x = np.asarray(x)
    matches = x @ W1
    fired = bend(matches)
    panels = {
        "evidence": x,
        "matches: @ W1": matches,
        "after the bend: who fires": fired,
        "added: @ W2": fired @ W2,
    }
    figure = new_figure(7.2, 5.4)
    axes = figure.subplots(len(panels), 1)
    limit = max(np.abs(panel).max() for panel in panels.values())
    for ax, (title, panel) in zip(axes, panels.items(), strict=True):
        shown = _matrix(ax, panel, limit)
        ax.set_title(f"{title}   {panel.shape[0]} × {panel.shape[1]}")
        ax.set(ylabel="words")
    figure.supxlabel("numbers, one a column", fontsize="medium")
    figure.colorbar(shown, ax=axes, label="value", aspect=40)
    count = int((fired > 0).sum())
    figure.words = f"Figure: of {fired.size} matches, {count} fire"
    return figure


def _matrix(axes, numbers: ArrayLike, limit: float):
    """Draw numbers as cells: yellow below zero, grey at zero, blue above."""
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    axes.spines[:].set_visible(True)
    look = {"cmap": CELLS, "vmin": -limit, "vmax": limit}
    return axes.imshow(numbers, aspect="auto", **look)


def _write_numbers(axes, numbers: ArrayLike, limit: float, form: str = ".1f") -> None:
    for (row, column), number in np.ndenumerate(numbers):
        ink = "white" if number > 0.55 * limit else BLACK
        said = _minus(f"{number:z{form}}")
        axes.text(column, row, said, ha="center", va="center", color=ink)


@_look
def third_fact(
    cases: Sequence[str], wanted: ArrayLike, linear: ArrayLike, banked: ArrayLike
) -> Still:
    """Return what should be concluded in each case beside two tries, all (n,)."""
    figure = new_figure(7.2, 3.4)
    axes = figure.subplots()
    at = np.arange(len(cases))
    look = {"color": "#888888", "linewidth": 5, "label": "wanted"}
    axes.hlines(wanted, at - 0.35, at + 0.35, **look)
    axes.plot(at - 0.12, linear, "v", color=RUST, ms=9, label="best linear map")
    axes.plot(at + 0.12, banked, "o", color=NAVY, ms=9, label="one small bank")
    axes.set(ylim=(-0.45, 1.25), title="Does “mouse” follow?")
    axes.set(xlabel="what is known", ylabel="conclusion")
    axes.set_xticks(at, cases)
    figure.legend(*_once(axes), loc="outside right upper")
    worst = [np.abs(np.subtract(tried, wanted)).max() for tried in (linear, banked)]
    figure.words = (
        f"Figure: the best linear map misses by up to {worst[0]:.2f}, "
        f"the bank by {worst[1]:.2f}"
    )
    return figure


@_look
def folded_line(straight: ArrayLike, folded: ArrayLike) -> Still:
    """Return where a straight line of evidence ends up; both arrays (n, 2)."""
    figure = new_figure(7.2, 3.4)
    axes = figure.subplots(1, 2)
    titles = ("Without the bend", "With the bend")
    bent = []
    for ax, line, title in zip(axes, (straight, folded), titles, strict=True):
        line = np.asarray(line)
        corners = _corners(line)
        ax.plot(*line.T, color=NAVY, label="the line")
        ax.plot(*line[[0, -1]].T, "o", color=NAVY, label="its ends")
        ax.plot(*corners.T, "D", color=RUST, markersize=5, label="a corner")
        ax.set(title=title, xlabel="first number", ylabel="second number")
        ax.set_aspect("equal", adjustable="datalim")
        bent.append(len(corners))
    figure.legend(*_once(axes[1]), loc="outside lower center", ncols=3)
    figure.words = (
        f"Figure: the line has {bent[0]} corners without the bend, {bent[1]} with it"
    )
    return figure


def _corners(line: np.ndarray) -> np.ndarray:
    """Return the points (n, 2) where a line of evenly spaced ones turns, or stops."""
    steps = np.diff(line, axis=0)
    turned = np.linalg.norm(np.diff(steps, axis=0), axis=1)
    turned = turned > 1e-6 * np.linalg.norm(steps, axis=1).max()
    # A corner between two points shows as a turn at both.
    turned[1:] &= ~turned[:-1]
    return line[1:-1][turned]


@_look
def region(values: ArrayLike, answers: ArrayLike, after: ArrayLike) -> Still:
    """Return the region three values span, a head's answers, and where thinking leads.

    `values`: (3, 2); `answers` and `after`, what a bank made of them: (n, 2).
    """
    figure = new_figure(7.2, 4.2)
    axes = figure.subplots()
    axes.fill(*np.transpose(values), color="#dddddd", label="the values' region")
    axes.plot(*np.transpose(after), "v", color=RUST, markersize=4, label="after a bank")
    axes.plot(
        *np.transpose(answers), "o", color=NAVY, markersize=3, label="a head's answers"
    )
    axes.plot(*np.transpose(values), "D", color=BLACK, markersize=9, label="values")
    axes.set(title="A head stays inside", xlabel="first number")
    axes.set(ylabel="second number")
    axes.set_aspect("equal", adjustable="datalim")
    figure.legend(*_once(axes), loc="outside right upper")
    figure.words = f"Figure: {len(answers)} answers of a head, and of a bank after it"
    return figure


@_look
def by_storey(
    curves: Mapping[str, ArrayLike],
    title: str,
    ylabel: str,
    *,
    xlabel: str = "storey",
    log: bool = True,
    start: int = 0,
) -> Still:
    """Return one curve a rule ("replace", "add", "post_norm", "pre_norm") by storey.

    Each curve is (n,); `start` is the number of the storey it begins at.
    """
    figure = new_figure(7.2, 3.8)
    axes = figure.subplots()
    for rule, curve in curves.items():
        storeys = np.arange(start, start + len(curve))
        axes.plot(storeys, curve, markevery=4, label=NAMES[rule], **LOOK[rule])
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_title(title)
    axes.xaxis.set_major_locator(MultipleLocator(4))
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")  # 0.01, not a raised, smaller −2
    figure.legend(*_once(axes), loc="outside lower center", ncols=2)
    ends = "; ".join(
        f"{NAMES[rule]} from {curve[0]:.3g} to {curve[-1]:.3g}"
        for rule, curve in curves.items()
    )
    figure.words = f"Figure: {title}: {ends}"
    return figure


@_look
def shares(words: Sequence[str], rows: Mapping[str, ArrayLike]) -> Still:
    """Return how one word's attention is shared out; each row (n,), by its name."""
    figure = new_figure(7.2, 3.2)
    axes = figure.subplots()
    width = 0.8 / len(rows)
    looks = ({"color": SKY}, {"color": NAVY, "hatch": "//", "edgecolor": "white"})
    looks = looks[: len(rows)]
    for i, ((name, row), look) in enumerate(zip(rows.items(), looks, strict=True)):
        at = np.arange(len(words)) + (i - (len(rows) - 1) / 2) * width
        bars = axes.bar(at, row, width, label=name, **look)
        axes.bar_label(bars, fmt="%.2f")
    axes.set(ylim=(0, 1.1), xlabel="word", ylabel="share of what is read")
    axes.set_title("What “chased” reads")
    axes.set_xticks(np.arange(len(words)), words)
    figure.legend(*_once(axes), loc="outside lower center", ncols=2)
    most = "; ".join(
        f"{name}: {words[int(np.argmax(row))]} {np.max(row):.2f}"
        for name, row in rows.items()
    )
    figure.words = f"Figure: what chased reads most. {most}"
    return figure


@_look
def block_parts(shape: tuple[int, ...]) -> Still:
    """Return the pre-norm block as boxes in order: what is read, and what is added."""
    figure = new_figure(7.2, 2.6)
    axes = figure.subplots()
    axes.axis("off")
    axes.set(xlim=(0, 9.6), ylim=(-0.75, 1.45))
    axes.set_title("The block: the norms stand on the branches, never on the stream")
    _arrow(axes, (0, 0), (9.6, 0), color=NAVY, linewidth=3)
    for start, sublayer, does in (
        (0.3, "attention", "gather"),
        (4.5, "feed-forward", "think"),
    ):
        norm, layer, end = start + 0.95, start + 2.75, start + 3.8
        axes.plot([start, start, end], [0, 1, 1], color=BLACK, linewidth=1.5)
        axes.plot(start, 0, "o", color=BLACK)
        for tail, tip in (
            ((start, 1), (norm - 0.6, 1)),
            ((norm, 1), (layer - 0.75, 1)),
            ((end, 1), (end, 0.2)),
        ):
            _arrow(axes, tail, tip, color=BLACK, linewidth=1.5)
        _box(axes, norm, 1, "layer norm\ntidy")
        _box(axes, layer, 1, f"{sublayer}\n{does}")
        look = {"markersize": 22, "color": "white", "markeredgecolor": NAVY}
        axes.plot(end, 0, "o", zorder=4, **look)
        axes.plot(end, 0, "+", zorder=5, color=NAVY, markersize=11, mew=2)
        axes.text(end, -0.5, "add", ha="center", va="center")
    axes.text(0, -0.5, f"in {shape}", va="center")
    axes.text(9.6, -0.5, f"out {shape}", va="center", ha="right")
    figure.words = (
        f"Figure: {shape} in; layer norm, attention, add; layer norm, feed-forward, "
        f"add; {shape} out"
    )
    return figure


def _arrow(axes, tail: tuple, tip: tuple, **look) -> None:
    style = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tip, tail, arrowprops=style | look)


def _box(axes, x: float, y: float, text: str) -> None:
    look = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": BLACK}
    axes.text(x, y, text, ha="center", va="center", bbox=look)


@_look
def moved(words: Sequence[str], distances: ArrayLike) -> Still:
    """Return how far each word's row has moved, by depth. `distances`: (depth, n)."""
    distances = np.asarray(distances)
    figure = new_figure(7.2, 0.8 + 0.42 * len(distances) + 0.6)
    axes = figure.subplots()
    shown = _matrix(axes, distances, distances.max())
    _write_numbers(axes, distances, distances.max(), ".2f")
    axes.set_xticks(np.arange(len(words)), words)
    axes.set_yticks(np.arange(len(distances)))
    axes.set(xlabel="word", ylabel="after block")
    axes.set_title("How far each row moved")
    bar = figure.colorbar(shown, ax=axes, label="distance")
    bar.ax.set_ylim(0, None)
    # As written in the cells: what is less has not moved, it was rounded.
    reached = int((distances[-1].round(2) > 0).sum())
    figure.words = f"Figure: at the last depth {reached} of {len(words)} rows moved"
    return figure
