"""Still pictures: each function returns one figure, and words for it.

Most are drawn by one notebook only. They stand here all the same: a notebook holds
ideas, not axes. Colours, arrows, cells and the way a figure shows itself are `look`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from labsupport import block as lab
from labsupport import look
from labsupport.look import BLACK, GREY, LOOK, NAMES, NAVY, RUST, SKY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from labsupport.look import Still


@look.in_the_lab_look()
def bend(bend: Callable, matches: ArrayLike) -> Still:
    """Return the bend as a line, with each match on it. `matches`: (n,)."""
    figure = look.new_figure(7.2, 3.4)
    axes = figure.subplots()
    line = np.linspace(-2, 2, 201)
    bent, matches = np.asarray(bend(line)), np.asarray(matches)
    fired = np.asarray(bend(matches))
    axes.plot(line, bent, color=BLACK, label="after the bend")
    axes.plot(matches, fired, "o", color=NAVY, markersize=10, label="the matches")
    said = []
    for match, height in zip(matches, fired, strict=True):
        said.append(f"{match:+z.1f} to {height:z.1f}")
        note = look.on_paper(said[-1].replace("to", "→"))
        axes.annotate(note, (match - 0.06, height + 0.14), ha="right", color=NAVY)
    low, high = min(-0.3, bent.min() - 0.1), max(2.1, bent.max() + 0.1)
    known = np.allclose(bent, lab.relu(line))
    axes.set(xlim=(-2, 2), ylim=(low, high))
    axes.set(xlabel="match: pattern · evidence", ylabel="the unit fires")
    axes.set_title("The bend (ReLU)" if known else "The bend: another than ReLU")
    axes.legend(loc="upper left" if known else "best")
    figure.words = f"Figure: the bend takes the matches {', '.join(said)}"
    return figure


@look.in_the_lab_look()
def plane(
    pattern: ArrayLike, evidences: ArrayLike, fires: Callable = lab.fires
) -> Still:
    """Return the plane of all evidence, shaded where `fires` is above zero.

    `pattern`: (2,); `evidences`: (n, 2); `fires`: from (pattern, evidence) to a number.
    """
    figure = look.new_figure(7.2, 4.4)
    axes = figure.subplots()
    pattern, evidences = np.asarray(pattern), np.asarray(evidences)
    look.plane(axes, "Where one unit fires", 2, 1.5)
    look.shade(axes, look.where_fires(fires, pattern, axes), "fires here")
    look.arrow(axes, "pattern", pattern)
    for evidence in evidences:
        look.arrow(axes, "evidence", evidence)
        side, shift = ("left", 9) if evidence[0] > 0 else ("right", -9)
        style = {"ha": side, "va": "center", "textcoords": "offset points"}
        note = look.on_paper(f"match {evidence @ pattern:+z.1f}")
        axes.annotate(note, evidence, (shift, 0), **style)
    look.legend(figure, axes.get_legend_handles_labels()[0], "right upper")
    firing = sum(bool(fires(pattern, evidence) > 0) for evidence in evidences)
    figure.words = f"Figure: {firing} of {len(evidences)} evidences on the firing side"
    return figure


@look.in_the_lab_look()
def bank_by_hand(
    x: ArrayLike, W1: ArrayLike, W2: ArrayLike, bend: Callable = lab.relu
) -> Still:
    """Return a small bank as the product it is, every number written in.

    `x`: (d,); `W1`: (d, d_ff); `W2`: (d_ff, d).
    """
    x, W1, W2 = np.atleast_2d(x), np.asarray(W1), np.asarray(W2)
    matches = x @ W1
    fired = np.asarray(bend(matches))
    panels = {
        "evidence": x,
        "@ W1": W1,
        "= matches": matches,
        "after the bend": fired,
        "@ W2": W2,
        "= added": fired @ W2,
    }
    figure = look.new_figure(7.2, 2.2)
    figure.suptitle("A bank, number by number", x=0.01, ha="left")
    widths = [panel.shape[1] for panel in panels.values()]
    limit = max(np.abs(panel).max() for panel in panels.values())
    axes = figure.subplots(1, len(panels), width_ratios=widths)
    for ax, (title, panel) in zip(axes, panels.items(), strict=True):
        look.Cells(ax, panel, limit, ".1f")
        ax.set_title(title, fontsize="medium", fontweight="normal", loc="center")
        ax.set_aspect("equal")
    out = look.row((fired @ W2)[0], lambda number: f"{number:z.1f}")
    firing = f"{int((fired > 0).sum())} of {fired.size}"
    figure.words = f"Figure: units that fire: {firing}, adding {out}"
    return figure


@look.in_the_lab_look()
def bank(
    x: ArrayLike, W1: ArrayLike, W2: ArrayLike, bend: Callable = lab.relu
) -> Still:
    """Return a bank at full size at work: a row a word, a column a number.

    `x`: (n, d); `W1`: (d, d_ff); `W2`: (d_ff, d).
    """
    x = np.asarray(x)
    matches = x @ W1
    fired = np.asarray(bend(matches))
    panels = {
        "evidence": x,
        "matches: @ W1": matches,
        "after the bend: who fires": fired,
        "added: @ W2": fired @ W2,
    }
    figure = look.new_figure(7.2, 5.4)
    axes = figure.subplots(len(panels), 1)
    limit = max(np.abs(panel).max() for panel in panels.values())
    for ax, (title, panel) in zip(axes, panels.items(), strict=True):
        shown = look.Cells(ax, panel, limit)
        ax.set_title(f"{title}   {panel.shape[0]} × {panel.shape[1]}")
        ax.set(ylabel="words")
    figure.supxlabel("numbers, one a column", fontsize="medium")
    figure.colorbar(shown.image, ax=axes, label="value", aspect=40)
    firing = int((fired > 0).sum())
    figure.words = f"Figure: of {fired.size} matches, {firing} fire"
    return figure


@look.in_the_lab_look()
def third_fact(
    cases: Sequence[str], wanted: ArrayLike, linear: ArrayLike, banked: ArrayLike
) -> Still:
    """Return what should be concluded in each case beside two tries, all (n,)."""
    figure = look.new_figure(7.2, 3.4)
    axes = figure.subplots()
    at = np.arange(len(cases))
    style = {"color": GREY, "linewidth": 5, "label": "wanted"}
    axes.hlines(wanted, at - 0.35, at + 0.35, **style)
    axes.plot(at - 0.12, linear, "v", color=RUST, ms=9, label="best linear map")
    axes.plot(at + 0.12, banked, "o", color=NAVY, ms=9, label="one small bank")
    axes.set(ylim=(-0.45, 1.25), title="Does “mouse” follow?")
    axes.set(xlabel="what is known", ylabel="conclusion")
    axes.set_xticks(at, cases)
    look.legend(figure, axes.get_legend_handles_labels()[0], "right upper")
    worst = [np.abs(np.subtract(tried, wanted)).max() for tried in (linear, banked)]
    figure.words = (
        f"Figure: the best linear map misses by up to {worst[0]:.2f}, "
        f"the bank by {worst[1]:.2f}"
    )
    return figure


@look.in_the_lab_look()
def folded_line(straight: ArrayLike, folded: ArrayLike) -> Still:
    """Return where a straight line of evidence ends up; both arrays (n, 2)."""
    figure = look.new_figure(7.2, 3.4)
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
    look.legend(figure, axes[1].get_legend_handles_labels()[0], "lower center", ncols=3)
    figure.words = (
        f"Figure: the line has {bent[0]} corners without the bend, {bent[1]} with it"
    )
    return figure


def _corners(line: NDArray) -> NDArray:
    """Return the points (n, 2) where a line of evenly spaced ones turns, or stops."""
    steps = np.diff(line, axis=0)
    turned = np.linalg.norm(np.diff(steps, axis=0), axis=1)
    turned = turned > 1e-6 * np.linalg.norm(steps, axis=1).max()
    # A corner between two points shows as a turn at both.
    turned[1:] &= ~turned[:-1]
    return line[1:-1][turned]


@look.in_the_lab_look()
def region(values: ArrayLike, answers: NDArray, after: NDArray) -> Still:
    """Return the region three values span, a head's answers, and where thinking leads.

    `values`: (3, 2); `answers` and `after`, what a bank made of them: (n, 2).
    """
    figure = look.new_figure(7.2, 4.2)
    axes = figure.subplots()
    axes.fill(*np.transpose(values), color="#dddddd", label="the values' region")
    for points, form, color, size, label in (
        (after, "v", RUST, 4, "after a bank"),
        (answers, "o", NAVY, 3, "a head's answers"),
        (values, "D", BLACK, 9, "values"),
    ):
        style = {"color": color, "markersize": size, "label": label}
        axes.plot(*np.transpose(points), form, **style)
    axes.set(title="A head stays inside", xlabel="first number")
    axes.set(ylabel="second number")
    axes.set_aspect("equal", adjustable="datalim")
    look.legend(figure, axes.get_legend_handles_labels()[0], "right upper")
    figure.words = f"Figure: {len(answers)} answers of a head, and of a bank after it"
    return figure


@look.in_the_lab_look()
def by_storey(
    curves: Mapping[str, NDArray],
    title: str,
    ylabel: str,
    *,
    xlabel: str = "storey",
    log: bool = True,
    start: int = 0,
) -> Still:
    """Return one curve a rule by storey, its look from `LOOK`.

    Each curve is (n,); `start` is the number of the storey it begins at.
    """
    figure = look.new_figure(7.2, 3.8)
    axes = figure.subplots()
    for rule, curve in curves.items():
        storeys = np.arange(start, start + len(curve))
        axes.plot(storeys, curve, markevery=4, label=NAMES[rule], **LOOK[rule])
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_title(title)
    axes.set_xticks(range(0, start + max(map(len, curves.values())), 4))
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")  # 0.01, not a raised, smaller −2
    look.legend(figure, axes.get_legend_handles_labels()[0], "lower center", ncols=2)
    ends = "; ".join(
        f"{NAMES[rule]} from {curve[0]:.3g} to {curve[-1]:.3g}"
        for rule, curve in curves.items()
    )
    figure.words = f"Figure: {title}: {ends}"
    return figure


@look.in_the_lab_look()
def shares(words: Sequence[str], rows: Mapping[str, ArrayLike]) -> Still:
    """Return how one word's attention is shared out; each row (n,), by its name."""
    figure = look.new_figure(7.2, 3.2)
    axes = figure.subplots()
    width = 0.8 / len(rows)
    looks: Sequence = (
        {"color": SKY},
        {"color": NAVY, "hatch": "//", "edgecolor": "white"},
    )
    looks = looks[: len(rows)]
    for i, ((name, read), style) in enumerate(zip(rows.items(), looks, strict=True)):
        at = np.arange(len(words)) + (i - (len(rows) - 1) / 2) * width
        bars = axes.bar(at, read, width, label=name, **style)
        axes.bar_label(bars, fmt="%.2f")
    axes.set(ylim=(0, 1.1), xlabel="word", ylabel="share of what is read")
    axes.set_title("What “chased” reads")
    axes.set_xticks(np.arange(len(words)), words)
    look.legend(figure, axes.get_legend_handles_labels()[0], "lower center", ncols=2)
    most = "; ".join(
        f"{name}: {words[int(np.argmax(read))]} {np.max(read):.2f}"
        for name, read in rows.items()
    )
    figure.words = f"Figure: what chased reads most. {most}"
    return figure


@look.in_the_lab_look()
def block_parts(shape: tuple[int, ...]) -> Still:
    """Return the pre-norm block as boxes in order: what is read, and what is added."""
    figure = look.new_figure(7.2, 2.6)
    axes = figure.subplots()
    axes.axis("off")
    axes.set(xlim=(0, 9.6), ylim=(-0.75, 1.45))
    axes.set_title("The block: the norms stand on the branches, never on the stream")
    _way(axes, (0, 0), (9.6, 0), color=NAVY, linewidth=3)
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
            _way(axes, tail, tip, color=BLACK, linewidth=1.5)
        _box(axes, norm, 1, "layer norm\ntidy")
        _box(axes, layer, 1, f"{sublayer}\n{does}")
        style = {"markersize": 22, "color": "white", "markeredgecolor": NAVY}
        axes.plot(end, 0, "o", zorder=4, **style)
        axes.plot(end, 0, "+", zorder=5, color=NAVY, markersize=11, mew=2)
        axes.text(end, -0.5, "add", ha="center", va="center")
    axes.text(0, -0.5, f"in {shape}", va="center")
    axes.text(9.6, -0.5, f"out {shape}", va="center", ha="right")
    figure.words = (
        f"Figure: {shape} in; layer norm, attention, add; layer norm, feed-forward, "
        f"add; {shape} out"
    )
    return figure


def _way(axes: Axes, tail: tuple, tip: tuple, **style: object) -> None:
    way = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", tip, tail, arrowprops=way | style)


def _box(axes: Axes, x: float, y: float, text: str) -> None:
    style = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": BLACK}
    axes.text(x, y, text, ha="center", va="center", bbox=style)


@look.in_the_lab_look()
def moved(words: Sequence[str], distances: ArrayLike) -> Still:
    """Return how far each word's row has moved, by depth. `distances`: (depth, n)."""
    distances = np.asarray(distances)
    figure = look.new_figure(7.2, 0.8 + 0.42 * len(distances) + 0.6)
    axes = figure.subplots()
    shown = look.Cells(axes, distances, distances.max(), ".2f")
    axes.set_xticks(np.arange(len(words)), words)
    axes.set_yticks(np.arange(len(distances)))
    axes.set(xlabel="word", ylabel="after block")
    axes.set_title("How far each row moved")
    bar = figure.colorbar(shown.image, ax=axes, label="distance")
    bar.ax.set_ylim(0, None)
    # As written in the cells: what is less has not moved, it was rounded.
    reached = int((distances[-1].round(2) > 0).sum())
    figure.words = f"Figure: at the last depth {reached} of {len(words)} rows moved"
    return figure
