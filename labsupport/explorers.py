"""The explorers: each shows the reader's own function at work, under the hand.

Every one starts at the documents' own numbers and draws what the function it is given
does (the lab's own unless another is given). They share what `live.Explorer` has:
``set``, ``state``, ``readout``, ``picture`` and ``figure``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from labsupport import block as lab
from labsupport import examples, look
from labsupport import stack as lab_stack
from labsupport.controls import Handle, Unusable, choice, numbers, slider
from labsupport.live import Explorer
from labsupport.look import (
    BLACK,
    GREY,
    LOOK,
    NAVY,
    RUST,
    SKY,
    count,
    plain,
    row,
    signed,
    size_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

SIZE = (6.4, 3.3)
MOST_STOREYS = 30
ZERO = 1e-6  # where a log axis has its line for "exactly 0"


@look.in_the_lab_look()
def if_unit(fires: Callable = lab.fires) -> Explorer:
    """Return the explorer of one unit: pattern, evidence, contribution.

    `fires`: from (pattern, evidence), each (2,), to one number.
    Source: if-units, U1 to U4.
    """
    figure = look.new_figure(*SIZE)
    left, right = figure.subplots(1, 2)
    look.plane(left, "Evidence and pattern", 2.4)
    side = look.shade(left, None, "fires here", animated=True)
    pattern, evidence = _arrow(left, "pattern"), _arrow(left, "evidence")
    added = _arrow(left, "contribution", "what it adds")
    look.legend(figure, [pattern, evidence, added, side], ncols=4)
    right.set(title="The bend", xlabel="match", ylabel="fires", aspect="equal")
    right.set(xlim=(-2.4, 2.4), ylim=(-2.4, 2.4), xticks=range(-2, 3))
    curve = _moving(right, "-", GREY, linewidth=1.5)
    drop = _moving(right, ":", NAVY)
    dot = _moving(right, "o", NAVY, markersize=10)
    matches = np.linspace(-2.4, 2.4, 97)

    @lru_cache(maxsize=2)
    def everywhere(p: tuple) -> tuple:
        """Return where the reader's unit fires, and how strongly at each match."""
        side, length = look.where_fires(fires, p, left), np.dot(p, p)
        if not length:  # every match is 0: there is no curve
            return side, np.full(matches.shape, np.nan)
        points = np.outer(matches, p) / length
        return side, look.sampled(lambda e: fires(np.array(p), e), points)

    def draw(state: dict) -> str:
        unit, names = state["unit"], ("pattern", "evidence", "contribution")
        p, e, c = (np.array(state[name]) for name in names)
        fired = float(numbers("fires", fires(p.copy(), e.copy())))
        match = p @ e
        region, strength = everywhere(state["pattern"])
        side.set_path(region)
        slow = strength is None
        curve.set_data(matches, np.full(matches.shape, np.nan) if slow else strength)
        look.point(pattern, p)
        look.point(evidence, e)
        look.point(added, fired * c)
        drop.set_data([match, match], [0, fired])
        dot.set_data([match], [fired])
        who = f"Unit {unit}" if unit else "Your own unit"
        return (
            f"{who}. Pattern {row(p)} · evidence {row(e)}: match {signed(match)}, "
            f"fires {plain(fired)}, adds {plain(fired)} × {row(c)} = "
            f"{row(fired * c)}.{_unsaid(added, dot)}"
            f"{' It is slow: no curve, no shade.' if slow else ''}"
        )

    def follow(state: dict, changed: set) -> dict:
        if "unit" in changed and not changed & {"pattern", "contribution"}:
            return units.get(state["unit"], {})
        here = {name: state[name] for name in ("pattern", "contribution")}
        return {"unit": next((i for i, unit in units.items() if unit == here), 0)}

    def fired_now() -> float:
        return float(drop.get_ydata()[-1]) if len(drop.get_ydata()) else 0.0

    units = {
        i + 1: {"pattern": tuple(column), "contribution": tuple(weights)}
        for i, (column, weights) in enumerate(
            zip(examples.W1.T.tolist(), examples.W2.tolist(), strict=True)
        )
    }
    kinds = [("unit 1", 1), ("unit 2", 2), ("unit 3", 3), ("your own", 0)]
    controls: dict[str, Any] = {"unit": choice("unit", kinds)}
    controls |= {name: _pair(name) for name in ("evidence", "pattern", "contribution")}
    start = {"unit": 1, "evidence": tuple(examples.EVIDENCES[0].tolist()), **units[1]}
    contribution = Handle(
        "contribution",
        left,
        lambda _: _drawn(added, -1) if fired_now() else None,
        lambda state, *tip: {"contribution": tuple(np.divide(tip, fired_now() or 1))},
    )
    handles = [contribution, _tip("pattern", left), _tip("evidence", left)]
    return Explorer("One if-unit", controls, start, figure, draw, follow, handles)


@look.in_the_lab_look()
def bank(feed_forward: Callable = lab.feed_forward) -> Explorer:
    """Return the explorer of the three units as a bank: evidence, with or without bend.

    `feed_forward`: from (x, W1, W2), (n, 2), (2, 3) and (3, 2), to (n, 2). Without the
    bend the bank is ``x @ W1 @ W2`` and the function is not asked.
    Source: if-units, U4 and U8.
    """
    figure = look.new_figure(*SIZE)
    where, middle, right = figure.subplots(1, 3, width_ratios=(1, 0.7, 1))
    W1, W2, units = examples.W1, examples.W2, np.arange(1, 4)
    look.plane(where, "Who fires where", 1.6)
    style = {"color": SKY, "alpha": 0.22, "animated": True}
    sides = [look.shade(where, None, "a unit fires", **style) for _ in units]
    for unit, pattern in zip(units, W1.T, strict=True):
        known = look.arrow(where, "pattern", pattern, linewidth=1.2)
        style = {"ha": "center", "va": "center", "color": RUST}
        where.text(*1.3 * pattern, str(unit), **style)
    evidence = _arrow(where, "evidence")
    middle.set(title="Units", xlabel="match, fires", xticks=(-2, 0, 2))
    middle.set(xlim=(-2.4, 2.4), ylim=(3.5, 0.5), yticks=units)
    middle.set(box_aspect=1.4, anchor="N")
    middle.axvline(0, color="#444444", linewidth=0.9)
    matched = _moving(middle, "o", RUST, "match", fillstyle="none", markersize=11)
    style = {"height": 0.35, "color": NAVY, "label": "fires", "animated": True}
    bars = middle.barh(units, [0] * 3, **style)
    look.plane(right, "What they add", 3.2)
    steps = [_arrow(right, "contribution", "adds") for _ in units]
    out = _moving(right, "o", BLACK, "out", markersize=10)
    look.legend(
        figure, [evidence, known, sides[0], matched, bars, steps[0], out], ncols=4
    )

    def fire(rows: NDArray, bend: bool) -> tuple[NDArray, NDArray]:
        """Return what each unit fires, (n, 3), and what the bank adds, (n, 2)."""
        if not bend:
            return rows @ W1, rows @ W1 @ W2
        # [[1, 0], [0, 1], [0, 0]] for W2 hands back what units 1 and 2 fire.
        one_two, two_three, out = (
            _each("feed_forward", feed_forward, rows, W1, V)
            for V in (np.eye(3)[:, :2], np.eye(3)[:, 1:], W2)
        )
        return np.column_stack([one_two, two_three[:, 1]]), out

    @lru_cache(maxsize=2)
    def everywhere(bend: bool) -> list:
        x, y = look.lattice(where)
        fired, _ = fire(np.column_stack([x.ravel(), y.ravel()]), bend)
        return [look.above_zero(x, y, abs(unit).reshape(x.shape)) for unit in fired.T]

    def draw(state: dict) -> str:
        x = np.array(state["evidence"])
        matches = x @ W1
        (fired,), (total,) = fire(x[None], state["bend"])
        for side, region in zip(sides, everywhere(state["bend"]), strict=True):
            side.set_path(region)
        look.point(evidence, x)
        matched.set_data(matches, units)
        for bar, width in zip(bars, fired, strict=True):
            bar.set_width(width)
        corners = np.vstack([[0, 0], np.cumsum(fired[:, None] * W2, axis=0)])
        for step, tail, tip in zip(steps, corners, corners[1:], strict=False):
            look.point(step, tip, tail)
        out.set_data(total[:1], total[1:])
        return (
            f"Evidence {row(x)}, bend {'on' if state['bend'] else 'off'}: matches "
            f"{row(matches)}, fires {row(fired)}, out {row(total)}."
            f"{_unsaid(out, *steps)}"
        )

    controls: dict[str, Any] = {
        "evidence": _pair("evidence"),
        "bend": choice("bend", [("on", True), ("off", False)]),
    }
    start = {"evidence": tuple(examples.EVIDENCES[0].tolist()), "bend": True}
    handles, title = [_tip("evidence", where)], "A bank of three units"
    return Explorer(title, controls, start, figure, draw, handles=handles)


@look.in_the_lab_look()
def third_fact(feed_forward: Callable = lab.feed_forward) -> Explorer:
    """Return the explorer of the third fact: *mouse* from *cat* and *chased*.

    `feed_forward`: from (x, W1, W2), (n, 4), (4, 1) and (1, 4), to (n, 4); a row holds
    a constant 1, then *cat*, *chased* and *mouse*.
    Source: if-units, U5 and U6.
    """
    figure = look.new_figure(*SIZE)
    left, right = figure.subplots(1, 2)
    facts, wanted = np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), np.array([0, 0, 0, 1])
    cases = ["neither", "cat", "chased", "both"]
    look.plane(left, "Where “mouse” follows", 2.2)
    left.set(xlabel="cat", ylabel="chased")
    side = look.shade(left, None, "fires here", animated=True)
    weights = _arrow(left, "pattern", "weights")
    (given,) = left.plot(*facts.T, "o", color=NAVY, label="the four cases")
    right.set(title="What is concluded", ylim=(-0.5, 4.5), xlim=(-0.6, 3.6))
    right.set_xticks(range(4), cases)
    style = {"color": GREY, "linewidth": 5, "label": "wanted"}
    bars = right.hlines(wanted, np.arange(4) - 0.35, np.arange(4) + 0.35, **style)
    concluded = _moving(right, "s", NAVY, "the unit", markersize=9)
    look.legend(figure, [weights, side, given, bars, concluded], ncols=3)

    def conclude(pairs: NDArray, state: dict) -> NDArray:
        """Return what the unit writes into *mouse*, (n,), for pairs of facts."""
        W1 = np.array([[-state["threshold"], *state["weights"], 0.0]]).T
        W2 = np.array([[0.0, 0.0, 0.0, 1.0]])
        rows = np.column_stack([np.ones(len(pairs)), pairs, np.zeros(len(pairs))])
        return _each("feed_forward", feed_forward, rows, W1, W2)[:, 3]

    def draw(state: dict) -> str:
        mouse = conclude(facts, state)
        x, y = look.lattice(left, 21)
        strength = conclude(np.column_stack([x.ravel(), y.ravel()]), state)
        side.set_path(look.above_zero(x, y, strength.reshape(x.shape)))
        look.point(weights, state["weights"])
        concluded.set_data(range(4), mouse)
        worst = np.abs(mouse - wanted).max()
        said = ", ".join(f"{c} {plain(m)}" for c, m in zip(cases, mouse, strict=True))
        off = "as wanted" if worst < 1e-9 else f"off by up to {size_text(worst)}"
        return (
            f"Threshold {plain(state['threshold'])}, weights {row(state['weights'])}. "
            f"Concluded from {said}; wanted 0, 0, 0, 1: {off}.{_unsaid(concluded)}"
        )

    def on_edge(state: dict) -> Any:
        """Return the point of the edge that is nearest to the origin."""
        w: Any = np.array(state["weights"])
        return w * state["threshold"] / (w @ w) if w.any() else None

    names = [f"weight of {fact}" for fact in cases[1:3]]
    controls: dict[str, Any] = {
        "threshold": slider("threshold", -0.5, 2.0, 0.05),
        "weights": [slider(name, -1.0, 2.0, 0.05, "pattern") for name in names],
    }
    start = {"threshold": 0.0, "weights": (1.0, 1.0)}
    handles = [
        Handle(
            "threshold",
            left,
            on_edge,
            lambda state, x, y: {"threshold": np.dot(state["weights"], (x, y))},
        ),
        _tip("weights", left),
    ]
    title = "A third fact from two"
    return Explorer(title, controls, start, figure, draw, handles=handles)


@look.in_the_lab_look()
def collapse(bend: Callable = lab.relu) -> Explorer:
    """Return the explorer of the collapse: a line sent through banks as they bend.

    `bend`: the full bend, from (n, 8) to (n, 8). A slope s below zero is drawn as
    ``s * x + (1 - s) * bend(x)``: s = 1 is no bend at all, s = 0 is `bend` alone.
    Source: if-units, U8 to U10.
    """
    figure = look.new_figure(*SIZE)
    left, right = figure.subplots(1, 2)
    line = np.column_stack([np.linspace(-1.5, 1.5, 61), np.full(61, 0.5)])
    # This draw keeps the line on the plane, however many banks fold it.
    banks = _turning_banks(np.random.default_rng(2790), 6)
    matches = np.linspace(-2.4, 2.4, 49)
    full = matches.copy()  # what the full bend makes of them
    look.plane(left, "The bend", 2.4)
    left.set(xlabel="match", ylabel="after the bend")
    curve = _moving(left, "-", BLACK)
    look.plane(right, "A line through the banks", 2.4)
    (given,) = right.plot(*line.T, color=GREY, linewidth=1.5, label="goes in")
    out = _moving(right, "-", NAVY, "comes out")
    best = _moving(right, "--", RUST, "best single matrix")
    look.legend(figure, [given, out, best], ncols=3)

    def bent(matches: NDArray, slope: float) -> NDArray:
        answer = numbers("bend", bend(matches.copy()), *matches.shape)
        return slope * matches + (1 - slope) * answer

    def draw(state: dict) -> str:
        slope, rows = state["slope"], line
        for W1, W2 in banks[: state["banks"]]:
            rows = bent(rows @ W1, slope) @ W2
        nearest = line @ np.linalg.lstsq(line, rows, rcond=None)[0]
        # As a share of the answer, as in the notebook.
        miss = np.linalg.norm(rows - nearest) / np.fmax(np.linalg.norm(rows), 1e-300)
        full[:] = bent(np.tile(matches[:, None], 8), 0.0)[:, 0]
        curve.set_data(matches, slope * matches + (1 - slope) * full)
        out.set_data(*rows.T)
        best.set_data(*nearest.T)
        kind = {1.0: "no bend", 0.0: "the full bend"}.get(slope, "part of the bend")
        comes = f"folded; the best single matrix misses by {size_text(miss)} of it"
        if miss < 1e-9:
            comes = "straight; a single matrix does the same"
        return (
            f"{count(state['banks'], 'bank')}, slope {plain(slope)} below zero "
            f"({kind}): the line comes out {comes}.{_unsaid(out)}"
        )

    def lift(state: dict, x: float, y: float) -> dict:
        wide = matches[4] - full[4]
        return {"slope": (y - full[4]) / wide} if abs(wide) > 1e-9 else {}

    controls: dict[str, Any] = {
        "slope": slider("slope below zero (1: no bend, 0: ReLU)", 0.0, 1.0, 0.02),
        "banks": slider("banks", 1, 6, 1),
    }
    start = {"slope": 1.0, "banks": 3}
    arm = Handle("slope", left, lambda _: _drawn(curve, 4), lift)
    title = "Banks with and without a bend"
    return Explorer(title, controls, start, figure, draw, handles=[arm])


@look.in_the_lab_look()
def hull(softmax: Callable = lab.softmax) -> Explorer:
    """Return the explorer of a head's answer: three scores, three values, one blend.

    `softmax`: from (3,) scores to (3,) weights.
    Source: nine-wide, N2 and N4.
    """
    figure = look.new_figure(*SIZE)
    left, right = figure.subplots(1, 2)
    words = examples.WORDS[1:3] + examples.WORDS[4:]
    values = np.array([[-1.6, -1.2], [1.7, -0.8], [0.2, 1.6]])
    corners = np.vstack([values.T, np.ones(3)])
    shares = _Shares(left, "Weights", words)
    look.plane(right, "Values and answer", 2.4)
    right.fill(*values.T, facecolor="#e8e8ee", edgecolor=BLACK)
    right.plot(*values.T, "D", color=BLACK)
    for word, at in zip(words, values, strict=True):
        style = {"ha": "center", "textcoords": "offset points"}
        right.annotate(word, at, (0, 8 if at[1] > 0 else -18), **style)
    dot = _moving(right, "o", NAVY, markersize=11)

    def draw(state: dict) -> str:
        scores = np.array(state["scores"])
        weights = numbers("softmax", softmax(scores.copy()), 3)
        answer = weights @ values
        # Which blend of the three corners it is, whatever the weights claim.
        inside = (np.linalg.solve(corners, [*answer, 1]) > -1e-9).all()
        shares.fill(weights)
        dot.set_data(answer[:1], answer[1:])
        return (
            f"Scores {row(scores)} become weights {row(weights, plain)}: the answer "
            f"{row(answer)} lies {'inside' if inside else 'OUTSIDE'} the region."
            f"{_unsaid(dot)}"
        )

    def towards(state: dict, x: float, y: float) -> dict:
        scores = np.log(np.linalg.solve(corners, [x, y, 1]).clip(1e-5))
        return {"scores": tuple(scores - (scores.max() + scores.min()) / 2)}

    def weigh(state: dict, x: float, y: float) -> dict:
        scores, i = list(state["scores"]), _nearest(y, 3)
        share, others = np.clip(x, 1e-5, 1 - 1e-5), np.exp(np.delete(scores, i)).sum()
        scores[i] = np.log(share / (1 - share) * others)
        return {"scores": tuple(scores)}

    controls: dict[str, Any] = {
        "scores": [slider(f"score of {w}", -5.0, 5.0, 0.1) for w in words]
    }
    start = {"scores": (0.0, 0.0, 0.0)}
    handles = [
        Handle("scores", right, lambda _: _drawn(dot, 0), towards),
        Handle("scores", left, None, weigh),
    ]
    title = "What a head can answer"
    return Explorer(title, controls, start, figure, draw, handles=handles)


@look.in_the_lab_look()
def stack(
    run_stack: Callable = lab_stack.run_stack,
    slope_back: Callable = lab_stack.slope_back,
) -> Explorer:
    """Return the explorer of a stack that replaces, and of one that adds.

    `run_stack`: from (z, storeys, rule), (10, 32) and (n, 32, 32), to (n + 1,) sizes;
    `slope_back`: from (storeys, rule) to (n,) slopes, storey 1 first.
    Source: if-units, U11, U12, U14 and U15.
    """
    figure = look.new_figure(*SIZE)
    forward, back = figure.subplots(1, 2, sharey=True)
    z, unit_storeys = _sentence_and_storeys()
    _by_storey(forward, "Size on the way up", ZERO / 3)
    _by_storey(back, "Slope on the way back", ZERO / 3)
    forward.set(ylabel="size, slope (log axis)")
    rules = ("replace", "add")
    lines = {(ax, rule): _series(ax, rule) for ax in (forward, back) for rule in rules}
    look.legend(figure, [lines[forward, rule] for rule in rules], ncols=2)

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
            lines[forward, rule].set_data(range(n + 1), _on_log(up))
            lines[back, rule].set_data(range(1, n + 1), _on_log(down))
            said[rule] = size_text(up[-1]), size_text(down[0])
        dudded = f"storey {dud} a dud" if 0 < dud <= n else "no dud"
        if dud > n:
            dudded = f"no storey {dud} to be a dud"
        return (
            f"{count(n, 'storey')} at gain {plain(state['gain'])}, {dudded}. "
            f"Replacing: size {said['replace'][0]} at the top, slope "
            f"{said['replace'][1]} back at storey 1. Adding: size {said['add'][0]}, "
            f"slope {said['add'][1]}.{_unsaid(*lines.values())}"
        )

    def kick(state: dict, x: float, y: float) -> dict:
        storey = 1 + _nearest(x - 1, state["storeys"])
        return {"dud": 0 if storey == state["dud"] else storey}

    controls = _stack_controls() | {
        "dud": slider("dud storey (0: none)", 0, MOST_STOREYS, 1)
    }
    start = {"gain": examples.GAIN, "storeys": examples.N_STOREYS, "dud": 0}
    handles = [
        *(_end("storeys", lines[forward, rule]) for rule in rules),
        *(Handle("dud", ax, None, lambda *_: {}, kick) for ax in (forward, back)),
    ]
    title = "Replace or add"
    return Explorer(title, controls, start, figure, draw, handles=handles)


@look.in_the_lab_look()
def drift(layer_norm: Callable = lab.layer_norm) -> Explorer:
    """Return the explorer of the drift, and of the norm that holds it.

    `layer_norm`: from (10, 32) to (10, 32).
    Source: if-units, U15 and U17; nine-wide, N7, N8 and N14.
    """
    figure = look.new_figure(*SIZE)
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    z, unit_storeys = _sentence_and_storeys()
    scores = np.log(examples.CHASED_READS)
    _by_storey(left, "Size, storey by storey", 0.3)
    left.set(ylabel="size (log axis)")
    kinds = {"no norm": "none", "post-norm": "post_norm", "pre-norm": "pre_norm"}
    lines = {
        rule: _series(left, "add" if rule == "none" else rule, label)
        for label, rule in kinds.items()
    }
    left.legend(loc="upper left")
    shares = _Shares(right, "What chased reads", examples.WORDS)

    def tidy(stream: NDArray) -> NDArray:
        return numbers("layer_norm", layer_norm(stream.copy()), *stream.shape)

    rules = {
        "none": lambda z, W: z + z @ W,
        "post_norm": lambda z, W: tidy(z + z @ W),
        "pre_norm": lambda z, W: z + tidy(z) @ W,
    }

    def draw(state: dict) -> str:
        stream, sizes = z, [lab_stack.size(z)]
        for W in unit_storeys[: state["storeys"]] * state["gain"]:
            stream = rules[state["norm"]](stream, W)
            sizes.append(lab_stack.size(stream))
        # In pre-norm attention reads a tidied copy, never the stream itself.
        read = tidy(stream) if state["norm"] == "pre_norm" else stream
        size = lab_stack.size(read)
        weights = lab.softmax(scores * size**2)
        for rule, line in lines.items():
            here = rule == state["norm"]
            line.set_data((range(len(sizes)), sizes) if here else ([], []))
        shares.fill(weights)
        name = next(name for name, rule in kinds.items() if rule == state["norm"])
        copy = f", its copy's {size_text(size)}" if read is not stream else ""
        told = zip(examples.WORDS, weights, strict=True)
        return (
            f"{count(state['storeys'], 'storey')} at gain {plain(state['gain'])}, "
            f"{name}: the size at the top is {size_text(sizes[-1])}{copy}. chased then "
            f"reads {', '.join(f'{plain(w)} of {word}' for word, w in told)}."
            f"{_unsaid(*lines.values())}"
        )

    controls = _stack_controls() | {"norm": choice("norm", list(kinds.items()))}
    start = {"gain": examples.GAIN, "storeys": 1, "norm": "none"}
    handles = [_end("storeys", line) for line in lines.values()]
    title = "Drift, and the norm"
    return Explorer(title, controls, start, figure, draw, handles=handles)


@look.in_the_lab_look()
def attention(attention_weights: Callable = lab.attention_weights) -> Explorer:
    """Return the explorer of ten words' attention in a block's first and second round.

    `attention_weights`: from (Q, K, mask), (10, 11), (10, 11) and (10, 10) or None, to
    (10, 10). The block is set by hand: *it* asks, *mat* answers and hands over its
    conclusion, which the bank's one unit writes at the end of each round.
    Source: nine-wide, N1 and N3; if-units, U20.
    """
    figure = look.new_figure(*SIZE)
    left, right = figure.subplots(1, 2)
    words, n, last = examples.SENTENCE, len(examples.SENTENCE), 10
    mat, it = words.index("mat"), words.index("it")
    cells = look.Cells(left, np.zeros((n, n)), 1, animated=True)
    left.set(title="Who (down) reads whom")
    left.set_yticks(range(n), words)
    left.set_xticks(range(n), words, rotation=90)
    mark = _moving(left, ">", RUST, clip_on=False)
    shares = _Shares(right, "The marked word reads", words)

    def rounds(state: dict, concludes: float) -> tuple[NDArray, NDArray]:
        """Return the shares of the round that is asked for, and the stream after it."""
        stream, mask = (
            np.eye(n, last + 1),
            lab.causal_mask(n) if state["mask"] else None,
        )
        for _ in range(state["round"]):
            tidied = lab.layer_norm(stream)
            Q, K, V = (np.zeros_like(tidied) for _ in range(3))
            Q[:, 0] = state["asks"] * tidied[:, it]
            K[:, 0] = tidied[:, mat]
            V[:, last] = tidied[:, last]
            A = numbers("attention_weights", attention_weights(Q, K, mask), n, n)
            stream = stream + A @ V
            stream[:, last] += concludes * lab.relu(lab.layer_norm(stream)[:, mat])
        return A, stream

    def draw(state: dict) -> str:
        word, (A, stream) = state["word"], rounds(state, 0.1)
        trace = np.abs(stream - rounds(state, 0.0)[1])[word].max()
        cells.fill(A)
        mark.set_data([-0.5], [word])
        shares.fill(A[word])
        most = int(np.argmax(A[word]))
        more = f", and most of {words[most]} ({plain(A[word, most])})"
        return (
            f"{'First' if state['round'] == 1 else 'Second'} round, "
            f"{'causal mask' if state['mask'] else 'no mask'}: {words[word]} reads "
            f"{size_text(A[word, mat])} of mat"
            f"{more if A[word, most] > A[word, mat] + 1e-9 else ''}. Of what mat "
            f"concludes, {size_text(trace)} has then reached {words[word]}."
        )

    places = [(f"{i + 1} {word}", i) for i, word in enumerate(words)]
    controls: dict[str, Any] = {
        "round": choice("round", [("first", 1), ("second", 2)]),
        "mask": choice("mask", [("none", False), ("causal", True)]),
        "word": choice("word that reads", places),
        "asks": slider("how strongly it asks for mat", 0.0, 3.0, 0.1),
    }
    start = {"round": 1, "mask": False, "word": it, "asks": 1.0}
    pick = Handle("word", left, None, lambda state, x, y: {"word": _nearest(y, n)})
    title = "Who reads whom"
    return Explorer(title, controls, start, figure, draw, handles=[pick])


@look.in_the_lab_look()
def block(block: Callable = lab.block) -> Explorer:
    """Return the explorer of a pile of blocks: nudge one word, see which rows move.

    `block`: from (X, attn, ffn, ln_1, ln_2, mask=...), X being (5, 9), to (5, 9).
    Source: if-units, U19; nine-wide, N15 and N18.
    """
    deepest, words = 6, examples.WORDS
    figure = look.new_figure(*SIZE)
    top, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 3.4))
    rng = np.random.default_rng(13)
    X = rng.normal(size=(5, 9))
    piles = [lab.init_block(9, 3, rng) for _ in range(deepest)]
    top.set(title="The nudge", ylim=(0, 2.3), yticks=(0, 1, 2), ylabel="how far")
    stem = _moving(top, "-", BLACK)
    knob = _moving(top, "o", BLACK, markersize=10)
    cells = look.Cells(below, np.zeros((deepest + 1, 5)), 2, ".2f", animated=True)
    below.set(title="How far each row moved", ylabel="after block")
    below.set_xticks(range(5), words)
    below.set_yticks(range(deepest + 1))

    @lru_cache(maxsize=4)
    def streams(word: int, far: float, masked: bool) -> list[NDArray]:
        """Return the input alone; `run` adds blocks to it as deep as it is asked."""
        nudged = X.copy()
        nudged[word, 0] += far
        return [nudged]

    def run(depth: int, word: int, far: float, masked: bool) -> NDArray:
        reached = streams(word, far, masked)
        mask = lab.causal_mask(5) if masked else None
        for params in piles[len(reached) - 1 : depth]:
            answer = block(reached[-1].copy(), *params, mask=mask)
            reached.append(numbers("block", answer, 5, 9))
        return np.array(reached[: depth + 1])

    def draw(state: dict) -> str:
        depth, word = state["depth"], state["word"]
        nudged = run(depth, word, state["nudge"], state["mask"])
        still = run(depth, word, 0.0, state["mask"])
        shown = np.full((deepest + 1, 5), np.nan)
        shown[: depth + 1] = np.sqrt(np.square(nudged - still).sum(axis=2))
        cells.fill(shown)
        stem.set_data([word, word], [0, state["nudge"]])
        knob.set_data([word], [state["nudge"]])
        told = zip(words, shown[depth], strict=True)
        return (
            f"{words[word]} nudged by {plain(state['nudge'])}, "
            f"{'causal mask' if state['mask'] else 'no mask'}; after "
            f"{count(depth, 'block')} the rows moved by: "
            f"{', '.join(f'{w} {size_text(far)}' for w, far in told)}. {X.shape} in, "
            f"{nudged[-1].shape} out."
        )

    def nudge(state: dict, x: float, y: float) -> dict:
        return {"word": _nearest(x, 5), "nudge": y}

    controls: dict[str, Any] = {
        "depth": slider("depth: blocks", 1, deepest, 1),
        "word": choice("word that is nudged", [(w, i) for i, w in enumerate(words)]),
        "nudge": slider("how far", 0.0, 2.0, 0.05),
        "mask": choice("mask", [("none", False), ("causal", True)]),
    }
    start = {"depth": 3, "word": 1, "nudge": 1.0, "mask": True}
    pick = Handle("word", below, None, lambda state, x, y: {"word": _nearest(x, 5)})
    handles, title = [Handle("nudge", top, None, nudge), pick], "Blocks, one on another"
    return Explorer(title, controls, start, figure, draw, handles=handles)


# What follows is shared: controls and handles, the reader's answers, things to draw.


def _pair(thing: str) -> list:
    names = (f"{thing}, {which} number" for which in ("first", "second"))
    return [slider(name, -1.0, 1.0, 0.05, thing) for name in names]


def _stack_controls() -> dict:
    return {
        "gain": slider("gain of every storey", 0.5, 1.1, 0.01),
        "storeys": slider("storeys", 1, MOST_STOREYS, 1),
    }


def _tip(name: str, axes: Axes) -> Handle:
    """Return the handle at an arrow's tip: its control holds the tip's two numbers."""
    return Handle(name, axes, lambda state: state[name], lambda _, x, y: {name: (x, y)})


def _drawn(line: Line2D, i: int) -> Any:
    """Return a point of a line, or None before it is drawn."""
    points = line.get_xydata()
    return points[i] if len(points) else None


def _end(name: str, line: Line2D) -> Handle:
    """Return the handle at a curve's end: it says how far the curve goes."""

    def at(state: dict) -> Any:
        end, (low, high) = _drawn(line, -1), line.axes.get_ylim()
        return end if end is not None and low < end[1] < high else None

    return Handle(name, line.axes, at, lambda state, x, y: {name: x})


def _nearest(x: float, n: int) -> int:
    """Return the place nearest to x, of 0 to n - 1."""
    return int(np.clip(round(x), 0, n - 1))


def _each(
    name: str, bank: Callable, rows: NDArray, W1: NDArray, W2: NDArray
) -> NDArray:
    """Return what a reader's bank makes of rows, (n, width of W2).

    It is asked for all at once, or one by one if it was written for a single row.
    """
    width = W2.shape[1]
    try:
        return numbers(name, bank(rows.copy(), W1.copy(), W2.copy()), len(rows), width)
    except Exception:
        alone = (bank(one.copy(), W1.copy(), W2.copy()) for one in rows)
        return np.array([numbers(name, one, width) for one in alone])


def _not_negative(name: str, value: object, length: int) -> NDArray:
    sizes = numbers(name, value, length)
    if (sizes < 0).any():
        raise Unusable(f"{name} returned {sizes.min()}; a size is never below 0")
    return sizes


def _on_log(sizes: NDArray) -> NDArray:
    """Return sizes as a log axis takes them: 0 on its own line, next to 0 nowhere."""
    return np.where(sizes == 0, ZERO, np.where(sizes < 2 * ZERO, np.nan, sizes))


def _unsaid(*lines: Line2D) -> str:
    """Say so if what is drawn leaves its axes."""
    for line in lines:
        (left, right), (low, high) = line.axes.get_xlim(), line.axes.get_ylim()
        x, y = (np.asarray(numbers, dtype=float) for numbers in line.get_data())
        if not ((left <= x) & (x <= right) & (low <= y) & (y <= high)).all():
            return " Part of it lies outside the picture."
    return ""


def _sentence_and_storeys() -> tuple[NDArray, NDArray]:
    """Return the ten words, then storeys at gain 1: the first 24 are the documents'."""
    rng = np.random.default_rng(42)
    z = rng.normal(size=(len(examples.SENTENCE), examples.D_MODEL))
    return z, lab_stack.timid_storeys(rng, MOST_STOREYS, examples.D_MODEL, gain=1.0)


def _turning_banks(rng: np.random.Generator, n: int) -> list:
    """Return banks that without a bend only turn the plane, so that sizes stay."""
    banks = []
    for angle in rng.uniform(0.4, 1.2, size=n):
        W1, W2 = rng.normal(size=(2, 8)), rng.normal(size=(8, 2))
        turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        banks.append((W1, W2 @ np.linalg.solve(W1 @ W2, turn)))
    return banks


def _by_storey(axes: Axes, title: str, lowest: float) -> None:
    """Make a log axis by storey, from `lowest`; if that is below ZERO, 0 has a line."""
    axes.set(title=title, xlabel="storey", xlim=(-1, MOST_STOREYS + 1))
    axes.set(yscale="log", ylim=(lowest, 3e5))
    ticks = {10.0**power: f"{10.0**power:,g}" for power in range(-4, 6, 2)}
    ticks = {at: said for at, said in ({ZERO: "0"} | ticks).items() if at > lowest}
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()


def _series(axes: Axes, rule: str, label: str = "") -> Line2D:
    style = LOOK[rule] | {"markevery": 4, "label": label or rule}
    return axes.plot([], [], animated=True, **style)[0]


def _arrow(axes: Axes, thing: str, label: str = "") -> Line2D:
    return look.arrow(axes, thing, label=label, animated=True)


def _moving(axes: Axes, form: str, color: str, label: str = "", **style: Any) -> Line2D:
    """Return a line or points that a move will place."""
    style |= {"color": color, "label": label, "animated": True}
    return axes.plot([], [], form, **style)[0]


class _Shares:
    """Bars of how one word's attention is shared out, each with its number."""

    def __init__(self, axes: Axes, title: str, words: tuple) -> None:
        places = range(len(words))
        axes.set(title=title, xlim=(0, 1.3), ylim=(len(words) - 0.5, -0.5))
        axes.set_xticks([0, 0.5, 1])
        axes.set_yticks(places, words)
        style = {"height": 0.6, "color": NAVY, "animated": True}
        self.bars = axes.barh(places, [0] * len(words), **style)
        style = {"va": "center", "animated": True}
        self.texts = [axes.text(0, place, "", **style) for place in places]

    def fill(self, weights: NDArray) -> None:
        """Show other shares."""
        for bar, text, weight in zip(self.bars, self.texts, weights, strict=True):
            bar.set_width(weight)
            text.set(x=max(weight, 0) + 0.03, text=plain(weight))
