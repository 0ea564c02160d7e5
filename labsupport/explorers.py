"""The explorers: each shows the reader's own function at work, under the hand.

Every one starts at the documents' own numbers and runs the function it is given (the
lab's own unless another is given) for what it draws. They share what `live.Explorer`
has: ``set``, ``state``, ``readout`` and ``figure``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.style import context

from labsupport import block as _block
from labsupport import examples
from labsupport import stack as _stack
from labsupport.figures import BLACK, LOOK, NAVY, RUST, new_figure
from labsupport.live import Explorer, Unusable, choice, numbers, slider

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text
    from numpy.typing import ArrayLike, NDArray

SIZE = (6.4, 3.3)
MOST_STOREYS = 40
ZERO = 1e-15  # where a log axis has its line for "exactly 0"
_lab_look = context("labsupport.lab")


@_lab_look
def if_unit(fires: Callable = _block.fires) -> Explorer:
    """Return the explorer of one unit: pattern, evidence, contribution.

    Parameters
    ----------
    fires : callable
        From (pattern, evidence), each (2,), to one number.

    Source: if-units, U1 to U4.
    """
    figure = new_figure(*SIZE)
    plane, bend = figure.subplots(1, 2)
    _plane(plane, "Evidence and pattern", 2.4)
    (side,) = plane.fill([0, 0, 0, 0], [0, 0, 0, 0], color="#f6e6dd", animated=True)
    side.set(label="fires here", zorder=0.5)
    pattern, evidence = _arrow(plane, "pattern"), _arrow(plane, "evidence")
    added = _arrow(plane, "contribution", "what it adds")
    figure.legend(
        handles=[pattern, evidence, added, side], loc="outside lower center", ncols=4
    )
    bend.set(title="The bend", xlabel="match", ylabel="fires", aspect="equal")
    bend.set(xlim=(-2.4, 2.4), ylim=(-2.4, 2.4), xticks=range(-2, 3))
    bend.plot([-2.4, 0, 2.4], [0, 0, 2.4], color="#888888", linewidth=1.5)
    (drop,) = bend.plot([0, 0], [0, 0], ":", color=NAVY, animated=True)
    (dot,) = bend.plot([0], [0], "o", color=NAVY, markersize=10, animated=True)

    def draw(state: dict) -> str:
        unit, names = state["unit"], ("pattern", "evidence", "contribution")
        p, e, c = (np.array(state[name]) for name in names)
        fired = float(numbers("fires", fires(p.copy(), e.copy())))
        match = p @ e
        side.set_xy(_half_plane(p))
        _point(pattern, p)
        _point(evidence, e)
        _point(added, fired * c)
        drop.set_data([match, match], [0, fired])
        dot.set_data([match], [fired])
        who = f"Unit {unit}" if unit else "Your own unit"
        return (
            f"{who}. Pattern {_row(p)} · evidence {_row(e)}: match {_signed(match)}, "
            f"fires {_plain(fired)}, adds {_plain(fired)} × {_row(c)} = "
            f"{_row(fired * c)}."
        )

    def follow(state: dict, changed: set) -> dict:
        if "unit" in changed and not changed & {"pattern", "contribution"}:
            return units.get(state["unit"], {})
        here = {name: state[name] for name in ("pattern", "contribution")}
        return {"unit": next((i for i, unit in units.items() if unit == here), 0)}

    units = {
        i + 1: {"pattern": tuple(column), "contribution": tuple(row)}
        for i, (column, row) in enumerate(
            zip(examples.W1.T.tolist(), examples.W2.tolist(), strict=True)
        )
    }
    kinds = [("unit 1", 1), ("unit 2", 2), ("unit 3", 3), ("your own", 0)]
    controls = {
        "unit": choice("unit", kinds),
        "evidence": _pair("evidence"),
        "pattern": _pair("pattern"),
        "contribution": _pair("contribution"),
    }
    controls["unit"].add_class("lab-whole-row")
    start = {"evidence": tuple(examples.EVIDENCES[0].tolist()), **units[1]}
    return Explorer("One if-unit", controls, start, figure, draw, follow)


@_lab_look
def bank(feed_forward: Callable = _block.feed_forward) -> Explorer:
    """Return the explorer of the three units as a bank: evidence, with or without bend.

    Parameters
    ----------
    feed_forward : callable
        From (x, W1, W2), (2,), (2, 3) and (3, 2), to (2,). Without the bend the bank is
        ``x @ W1 @ W2`` and the function is not asked.

    Source: if-units, U4 and U8.
    """
    figure = new_figure(*SIZE)
    left, plane = figure.subplots(1, 2)
    units = np.arange(1, 4)
    left.set(title="Three units", xlabel="match, and what fires", ylabel="unit")
    left.set(xlim=(-2.4, 2.4), ylim=(3.5, 0.5), yticks=units)
    left.axvline(0, color="#444444", linewidth=0.9)
    (matched,) = left.plot(
        [0] * 3, units, "o", color=RUST, fillstyle="none", markersize=11, animated=True
    )
    bars = left.barh(units, [0] * 3, height=0.35, color=NAVY, animated=True)
    matched.set_label("match")
    bars.set_label("fires")
    _plane(plane, "What they add", 3.2)
    steps = [_arrow(plane, "contribution", "fired contributions") for _ in units]
    (out,) = plane.plot(
        [0], [0], "o", color=BLACK, markersize=10, label="out", animated=True
    )
    figure.legend(
        handles=[matched, bars, steps[0], out], loc="outside lower center", ncols=4
    )

    def draw(state: dict) -> str:
        x, W1, W2 = np.array(state["evidence"]), examples.W1, examples.W2
        matches = x @ W1
        fired, total = matches, matches @ W2
        if state["bend"]:
            # W2 = [[1, 0], [0, 1], [0, 0]] hands back what units 1 and 2 fire.
            probes = np.eye(3)[:, :2], np.eye(3)[:, 1:], W2
            one_two, two_three, total = (
                numbers("feed_forward", feed_forward(x.copy(), W1.copy(), V.copy()), 2)
                for V in probes
            )
            fired = np.array([*one_two, two_three[1]])
        matched.set_xdata(matches)
        for bar, width in zip(bars, fired, strict=True):
            bar.set_width(width)
        corners = np.vstack([[0, 0], np.cumsum(fired[:, None] * W2, axis=0)])
        for step, tail, tip in zip(steps, corners, corners[1:], strict=False):
            _point(step, tip, tail)
        out.set_data(total[:1], total[1:])
        return (
            f"Evidence {_row(x)}, bend {'on' if state['bend'] else 'off'}: matches "
            f"{_row(matches)}, fires {_row(fired)}, out {_row(total)}."
        )

    controls = {
        "evidence": _pair("evidence"),
        "bend": choice("bend", [("on", True), ("off", False)]),
    }
    start = {"evidence": tuple(examples.EVIDENCES[0].tolist()), "bend": True}
    return Explorer("A bank of three units", controls, start, figure, draw)


@_lab_look
def collapse(bend: Callable = _block.relu) -> Explorer:
    """Return the explorer of the collapse: a line sent through layers as they bend.

    Parameters
    ----------
    bend : callable
        The full bend, from (n, 8) to (n, 8). A slope s below zero is drawn as
        ``s * x + (1 - s) * bend(x)``: s = 1 is no bend at all, s = 0 is `bend` alone.

    Source: if-units, U8 to U10.
    """
    figure = new_figure(*SIZE)
    before, after = figure.subplots(1, 2)
    line = np.column_stack([np.linspace(-1.5, 1.5, 61), np.full(61, 0.5)])
    layers = _turning_layers(np.random.default_rng(1), 6)
    _plane(before, "A line goes in", 2.4)
    before.plot(*line.T, **_without_marker("evidence"))
    _plane(after, "and comes out", 2.4)
    (best,) = after.plot([0], [0], color=RUST, linestyle="--", animated=True)
    (out,) = after.plot([0], [0], animated=True, **_without_marker("evidence"))
    best.set_label("the best single matrix")
    out.set_label("the layers")
    figure.legend(handles=[out, best], loc="outside lower center", ncols=2)

    def draw(state: dict) -> str:
        slope, rows = state["slope"], line
        for W1, W2 in layers[: state["layers"]]:
            matches = rows @ W1
            bent = numbers("bend", bend(matches.copy()), *matches.shape)
            rows = (slope * matches + (1 - slope) * bent) @ W2
        nearest = line @ np.linalg.lstsq(line, rows, rcond=None)[0]
        distance = np.sqrt(np.square(rows - nearest).sum(axis=1).mean())
        out.set_data(*rows.T)
        best.set_data(*nearest.T)
        bends = {1.0: "no bend", 0.0: "the full bend"}
        return (
            f"{_count(state['layers'], 'layer')}, slope {_plain(slope)} below zero "
            f"({bends.get(slope, 'part of the bend')}): the line comes out "
            f"{'straight' if distance < 1e-9 else 'folded'}, at a distance of "
            f"{_plain(distance)} from the best single matrix."
        )

    controls = {
        "slope": slider("slope below zero (1: no bend, 0: ReLU)", 0.0, 1.0, 0.02),
        "layers": slider("layers", 1, 6, 1),
    }
    start = {"slope": 1.0, "layers": 3}
    return Explorer("Layers with and without a bend", controls, start, figure, draw)


@_lab_look
def hull(softmax: Callable = _block.softmax) -> Explorer:
    """Return the explorer of a head's answer: three scores, three values, one blend.

    Parameters
    ----------
    softmax : callable
        From (3,) scores to (3,) weights.

    Source: nine-wide, N2 and N4.
    """
    figure = new_figure(*SIZE)
    left, plane = figure.subplots(1, 2)
    words = examples.WORDS[1:3] + examples.WORDS[4:]
    values = np.array([[-1.6, -1.2], [1.7, -0.8], [0.2, 1.6]])
    shares, said = _share_bars(left, "Weights", words)
    _plane(plane, "Values and answer", 2.4)
    plane.fill(*values.T, facecolor="#e8e8ee", edgecolor=BLACK, label="the region")
    plane.plot(*values.T, "D", color=BLACK, label="values")
    for word, at in zip(words, values, strict=True):
        plane.annotate(
            word,
            at,
            (0, 8 if at[1] > 0 else -18),
            ha="center",
            textcoords="offset points",
        )
    (dot,) = plane.plot([0], [0], "o", color=NAVY, markersize=11, animated=True)
    dot.set_label("the answer")

    def draw(state: dict) -> str:
        scores = np.array(state["scores"])
        weights = numbers("softmax", softmax(scores.copy()), 3)
        answer = weights @ values
        # Which blend of the three corners it is, whatever the weights claim.
        corners = np.vstack([values.T, np.ones(3)])
        inside = (np.linalg.solve(corners, [*answer, 1]) > -1e-9).all()
        _fill_bars(shares, said, weights)
        dot.set_data(answer[:1], answer[1:])
        return (
            f"Scores {_row(scores)} become weights {_row(weights, _plain)}: the answer "
            f"{_row(answer)} lies {'inside' if inside else 'OUTSIDE'} the region."
        )

    controls = {"scores": [slider(f"score of {w}", -5.0, 5.0, 0.1) for w in words]}
    start = {"scores": (0.0, 0.0, 0.0)}
    return Explorer("What a head can answer", controls, start, figure, draw)


@_lab_look
def stack(
    run_stack: Callable = _stack.run_stack, slope_back: Callable = _stack.slope_back
) -> Explorer:
    """Return the explorer of a stack that replaces, and of one that adds.

    Parameters
    ----------
    run_stack : callable
        From (z, storeys, rule), (10, 32) and (n, 32, 32), to (n + 1,) sizes.
    slope_back : callable
        From (storeys, rule) to (n,) slopes, storey 1 first.

    Source: if-units, U11, U12, U14 and U15.
    """
    figure = new_figure(*SIZE)
    forward, back = figure.subplots(1, 2, sharey=True)
    z, unit_storeys = _sentence_and_storeys()
    ticks = 10.0 ** np.arange(-12, 9, 4)
    forward.set(title="Size on the way up", ylabel="size (log axis)", xlabel="storey")
    back.set(title="Slope on the way back", xlabel="storey")
    forward.set(yscale="log", ylim=(ZERO / 4, 1e8), xlim=(-1, MOST_STOREYS + 1))
    forward.set_yticks([ZERO, *ticks], ["0", *(f"{_power(t)}" for t in ticks)])
    forward.minorticks_off()
    back.set(xlim=(-1, MOST_STOREYS + 1))
    rules = ("replace", "add")
    lines = {
        (axes, rule): _series(axes, rule) for axes in (forward, back) for rule in rules
    }
    figure.legend(
        handles=[lines[forward, rule] for rule in rules],
        loc="outside lower center",
        ncols=2,
    )

    def draw(state: dict) -> str:
        n, dud = state["storeys"], state["dud"]
        storeys = unit_storeys[:n] * state["gain"]
        if dud:
            storeys[dud - 1 : dud] = 0
        said = {}
        for rule in rules:
            sizes = run_stack(z.copy(), storeys.copy(), rule)
            slopes = slope_back(storeys.copy(), rule)
            up = _not_negative("run_stack", sizes, n + 1)
            down = _not_negative("slope_back", slopes, n)
            lines[forward, rule].set_data(np.arange(n + 1), np.maximum(up, ZERO))
            lines[back, rule].set_data(np.arange(1, n + 1), np.maximum(down, ZERO))
            said[rule] = _size(up[-1]), _size(down[0])
        dudded = f"storey {dud} a dud" if 0 < dud <= n else "no dud"
        if dud > n:
            dudded = f"no storey {dud} to be a dud"
        return (
            f"{_count(n, 'storey')} at gain {_plain(state['gain'])}, {dudded}. "
            f"Replacing: size "
            f"{said['replace'][0]} at the top, slope {said['replace'][1]} back at "
            f"storey 1. Adding: size {said['add'][0]}, slope {said['add'][1]}."
        )

    controls = _stack_controls() | {
        "dud": slider("dud storey (0: none)", 0, MOST_STOREYS, 1)
    }
    start = {"gain": examples.GAIN, "storeys": examples.N_STOREYS, "dud": 0}
    return Explorer("Replace or add", controls, start, figure, draw)


@_lab_look
def drift(layer_norm: Callable = _block.layer_norm) -> Explorer:
    """Return the explorer of the drift, and of the norm that holds it.

    Parameters
    ----------
    layer_norm : callable
        From (10, 32) to (10, 32).

    Source: if-units, U15 and U17; nine-wide, N7, N8 and N14.
    """
    figure = new_figure(*SIZE)
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    z, unit_storeys = _sentence_and_storeys()
    scores = np.log(examples.CHASED_READS)
    left.set(title="Size, storey by storey", xlabel="storey", ylabel="size (log axis)")
    left.set(yscale="log", ylim=(0.3, 1e7), xlim=(-1, MOST_STOREYS + 1))
    ticks = 10.0 ** np.arange(0, 8, 2)
    left.set_yticks(ticks, [_power(tick) for tick in ticks])
    left.minorticks_off()
    lines = {
        "none": _series(left, "add", label="no norm"),
        "post_norm": _series(left, "post_norm", label="post-norm"),
        "pre_norm": _series(left, "pre_norm", label="pre-norm"),
    }
    left.legend(loc="upper left")
    shares, said = _share_bars(right, "What chased reads", examples.WORDS)

    def tidy(stream: NDArray) -> NDArray:
        return numbers("layer_norm", layer_norm(stream.copy()), *stream.shape)

    rules = {
        "none": lambda z, W: z + z @ W,
        "post_norm": lambda z, W: tidy(z + z @ W),
        "pre_norm": lambda z, W: z + tidy(z) @ W,
    }

    def draw(state: dict) -> str:
        stream, sizes = z, [_stack.size(z)]
        for W in unit_storeys[: state["storeys"]] * state["gain"]:
            stream = rules[state["norm"]](stream, W)
            sizes.append(_stack.size(stream))
        # In pre-norm attention reads a tidied copy, never the stream itself.
        read = tidy(stream) if state["norm"] == "pre_norm" else stream
        size = _stack.size(read)
        weights = _block.softmax(scores * size**2)
        for rule, line in lines.items():
            here = rule == state["norm"]
            line.set_data((range(len(sizes)), sizes) if here else ([], []))
        _fill_bars(shares, said, weights)
        name = dict((value, text) for text, value in norms)[state["norm"]]
        copy = f", its copy's {_size(size)}" if read is not stream else ""
        return (
            f"{_count(state['storeys'], 'storey')} at gain {_plain(state['gain'])}, "
            f"{name}: the size at the top is {_size(sizes[-1])}{copy}. chased then "
            "reads "
            + ", ".join(
                f"{_plain(w)} of {word}"
                for word, w in zip(examples.WORDS, weights, strict=True)
            )
            + "."
        )

    norms = [
        ("no norm", "none"),
        ("post-norm", "post_norm"),
        ("pre-norm", "pre_norm"),
    ]
    controls = _stack_controls() | {"norm": choice("norm", norms)}
    start = {"gain": examples.GAIN, "storeys": examples.N_STOREYS, "norm": "none"}
    return Explorer("Drift, and the norm", controls, start, figure, draw)


@_lab_look
def block(block: Callable = _block.block) -> Explorer:
    """Return the explorer of a pile of blocks: nudge one word, see which rows move.

    Parameters
    ----------
    block : callable
        From (X, attn, ffn, ln_1, ln_2, mask=...), X being (5, 9), to (5, 9).

    Source: if-units, U19; nine-wide, N15 and N18.
    """
    deepest = 24
    figure = new_figure(*SIZE)
    axes = figure.subplots()
    rng = np.random.default_rng(13)
    X = rng.normal(size=(5, 9))
    piles = [_block.init_block(9, 3, rng) for _ in range(deepest)]
    axes.set(title="How far each row moved", xlabel="depth: blocks passed")
    axes.set(facecolor="#eeeeee", xticks=range(0, deepest + 1, 3))
    axes.set_yticks(range(5), examples.WORDS)
    axes.grid(False)
    edges = np.arange(deepest + 2) - 0.5, np.arange(6) - 0.5
    grid = axes.pcolormesh(
        *edges,
        np.zeros((5, deepest + 1)),
        vmin=-2,
        vmax=1,
        cmap=colormaps["cividis_r"].with_extremes(under="white"),
        animated=True,
    )
    bar = figure.colorbar(grid, ax=axes, extend="min", pad=0.16)
    bar.set_ticks([-2, -1, 0, 1], labels=["0.01", "0.1", "1", "10"])
    axes.invert_yaxis()
    said = [
        axes.text(deepest + 0.9, row, "", va="center", clip_on=False, animated=True)
        for row in (-0.75, *range(5))
    ]

    @lru_cache(maxsize=4)
    def streams(word: int, far: float, masked: bool) -> list[NDArray]:
        """Return the input alone; `run` adds blocks to it as deep as it is asked."""
        nudged = X.copy()
        nudged[word, 0] += far
        return [nudged]

    def run(depth: int, word: int, far: float, masked: bool) -> NDArray:
        reached = streams(word, far, masked)
        mask = _block.causal_mask(5) if masked else None
        for params in piles[len(reached) - 1 : depth]:
            answer = block(reached[-1].copy(), *params, mask=mask)
            reached.append(numbers("block", answer, 5, 9))
        return np.array(reached[: depth + 1])

    def draw(state: dict) -> str:
        depth, word = state["depth"], state["word"]
        nudged = run(depth, word, state["nudge"], state["mask"])
        still = run(depth, word, 0.0, state["mask"])
        moved = np.sqrt(np.square(nudged - still).sum(axis=2)).T
        shown = np.full((5, deepest + 1), np.nan)
        shown[:, : depth + 1] = np.log10(np.maximum(moved, 1e-9))
        grid.set_array(np.ma.masked_invalid(shown))
        rows = ["0" if far == 0 else _plain(far) for far in moved[:, -1]]
        for text, far in zip(said, [f"after {depth}", *rows], strict=True):
            text.set_text(far)
        told = ", ".join(
            f"{w} {far}" for w, far in zip(examples.WORDS, rows, strict=True)
        )
        return (
            f"{examples.WORDS[word]} nudged by {_plain(state['nudge'])}, "
            f"{'causal mask' if state['mask'] else 'no mask'}; after "
            f"{_count(depth, 'block')} the rows moved by: {told}. {X.shape} in, "
            f"{nudged[-1].shape} out."
        )

    controls = {
        "depth": slider("depth: blocks", 1, deepest, 1),
        "word": choice(
            "word that is nudged", [(w, i) for i, w in enumerate(examples.WORDS)]
        ),
        "nudge": slider("how far", 0.0, 2.0, 0.05),
        "mask": choice("mask", [("none", False), ("causal", True)]),
    }
    start = {"depth": 3, "word": 4, "nudge": 1.0, "mask": False}
    return Explorer("Blocks, one on another", controls, start, figure, draw)


# What follows is shared: controls, things to draw, and how numbers are said.


def _pair(name: str) -> list:
    return [slider(f"{name}, {which} number", -1.0, 1.0, 0.05) for which in _WHICH]


_WHICH = ("first", "second")


def _stack_controls() -> dict:
    return {
        "gain": slider("gain of every storey", 0.5, 1.1, 0.01),
        "storeys": slider("storeys", 1, MOST_STOREYS, 1),
    }


def _sentence_and_storeys() -> tuple[NDArray, NDArray]:
    """Return the ten words, then storeys at gain 1: the first 24 are the documents'."""
    rng = np.random.default_rng(42)
    z = rng.normal(size=(len(examples.SENTENCE), examples.D_MODEL))
    return z, _stack.timid_storeys(rng, MOST_STOREYS, examples.D_MODEL, gain=1.0)


def _turning_layers(rng: np.random.Generator, count: int) -> list:
    """Return layers that without a bend only turn the plane, so that sizes stay."""
    layers = []
    for angle in rng.uniform(0.4, 1.2, size=count):
        W1, W2 = rng.normal(size=(2, 8)), rng.normal(size=(8, 2))
        turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        layers.append((W1, W2 @ np.linalg.solve(W1 @ W2, turn)))
    return layers


def _plane(axes: Axes, title: str, end: float) -> None:
    axes.set(title=title, xlim=(-end, end), ylim=(-end, end), aspect="equal")
    axes.set(xlabel="first number", ylabel="second number")
    ticks = range(-int(end), int(end) + 1)
    axes.set(xticks=ticks, yticks=ticks)


def _arrow(axes: Axes, thing: str, label: str | None = None) -> Line2D:
    """Return a line from the origin whose marker stands at its tip."""
    look = LOOK[thing] | {"markevery": [1], "label": label or thing}
    return axes.plot([0, 0], [0, 0], animated=True, **look)[0]


def _point(arrow: Line2D, tip: ArrayLike, tail: ArrayLike = (0, 0)) -> None:
    arrow.set_data(*np.transpose([tail, tip]))


def _series(axes: Axes, rule: str, label: str | None = None) -> Line2D:
    look = LOOK[rule] | {"markersize": 4, "label": label or rule}
    return axes.plot([], [], animated=True, **look)[0]


def _without_marker(thing: str) -> dict:
    return LOOK[thing] | {"marker": ""}


def _half_plane(pattern: NDArray) -> NDArray:
    """Return the corners of the side where the match is above zero."""
    length = np.hypot(*pattern)
    ahead = 9 * pattern / length if length else np.zeros(2)
    aside = np.array([-ahead[1], ahead[0]])
    return np.array([aside, aside + ahead, ahead - aside, -aside])


def _share_bars(axes: Axes, title: str, words: tuple) -> tuple[list, list[Text]]:
    rows = range(len(words))
    axes.set(title=title, xlim=(0, 1.3), ylim=(len(words) - 0.5, -0.5))
    axes.set_xticks([0, 0.5, 1])
    axes.set_yticks(rows, words)
    bars = axes.barh(rows, [0] * len(words), height=0.6, color=NAVY, animated=True)
    said = [axes.text(0, row, "", va="center", animated=True) for row in rows]
    return bars, said


def _fill_bars(bars: list, said: list[Text], weights: NDArray) -> None:
    for bar, text, weight in zip(bars, said, weights, strict=True):
        bar.set_width(weight)
        text.set(x=max(weight, 0) + 0.03, text=_plain(weight))


def _not_negative(name: str, value: object, length: int) -> NDArray:
    sizes = numbers(name, value, length)
    if (sizes < 0).any():
        raise Unusable(f"{name} returned {sizes.min()}; a size is never below 0")
    return sizes


def _signed(x: float) -> str:
    return f"{round(float(x), 2) + 0.0:+.2f}".replace("-", "−")


def _plain(x: float) -> str:
    return f"{round(float(x), 2) + 0.0:.2f}".replace("-", "−")


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _row(numbers: ArrayLike, say: Callable = _signed) -> str:
    return "[" + ", ".join(say(x) for x in numbers) + "]"


def _power(x: float) -> str:
    superscript = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return "10" + str(round(np.log10(x))).translate(superscript)


def _size(x: float) -> str:
    """Say a size of any order: exactly 0, 1.3 × 10⁻⁹, 0.000135, 3.57, 107.9."""
    if x == 0:
        return "exactly 0"
    if x < 1e-6 or x >= 1e6:
        digits, power = f"{x:.1e}".split("e")
        return f"{digits} × {_power(10.0 ** int(power))}"
    return f"{x:.6f}" if x < 1e-3 else f"{x:.2f}" if x < 100 else f"{x:.1f}"
