"""The explorers without a browser: what is drawn, said, held and survived.

What is drawn is read from the artists, and again from the SVG that reaches the page,
and compared with numbers computed here, from plain formulas that share no code with
the explorers. Nothing here reaches behind an explorer's public doors.
"""

import ast
import io
import itertools
import math
import re
import xml.etree.ElementTree as ET
from functools import lru_cache
from unittest import mock

import ipywidgets as widgets
import loops
import matplotlib
import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.display import display
from matplotlib.text import Text

from labsupport import block as lab_block
from labsupport import examples, explorers
from labsupport import stack as lab_stack

UNIT = [round(-1 + step * 0.05, 2) for step in range(41)]
SCORE = [round(-5 + step * 0.1, 1) for step in range(101)]
GAIN = [round(0.5 + step * 0.01, 2) for step in range(61)]
WEIGHT = [round(-1 + step * 0.05, 2) for step in range(61)]
STOREYS = list(range(1, 31))
PAIR = (UNIT, UNIT)
# Every control, and where it can stand.
RANGES = {
    "if_unit": {
        "unit": [0, 1, 2, 3],
        "evidence": PAIR,
        "pattern": PAIR,
        "contribution": PAIR,
    },
    "bank": {"evidence": PAIR, "bend": [True, False]},
    "third_fact": {
        "threshold": [round(-0.5 + step * 0.05, 2) for step in range(51)],
        "weights": (WEIGHT, WEIGHT),
    },
    "collapse": {
        "slope": [round(step * 0.02, 2) for step in range(51)],
        "banks": list(range(1, 7)),
    },
    "hull": {"scores": (SCORE, SCORE, SCORE)},
    "stack": {"gain": GAIN, "storeys": STOREYS, "dud": [0, *STOREYS]},
    "drift": {
        "gain": GAIN,
        "storeys": STOREYS,
        "norm": ["none", "post_norm", "pre_norm"],
    },
    "attention": {
        "round": [1, 2],
        "mask": [False, True],
        "word": list(range(10)),
        "asks": [round(step * 0.1, 1) for step in range(31)],
    },
    "block": {
        "depth": list(range(1, 7)),
        "word": list(range(5)),
        "nudge": [0.0, 0.05, 1.0, 2.0],  # four of them: the loops are slow
        "mask": [False, True],
    },
}
START = {
    "if_unit": "One if-unit. Unit 1. Pattern [+1.00, -1.00] · evidence [+0.80, -0.60]: "
    "match +1.40, fires 1.40, adds 1.40 × [+1.00, +0.50] = [+1.40, +0.70].",
    "bank": "A bank of three units. Evidence [+0.80, -0.60], bend on: matches "
    "[+1.40, -0.60, -0.20], fires [+1.40, +0.00, +0.00], out [+1.40, +0.70].",
    "third_fact": "A third fact from two. Threshold 0.00, weights [+1.00, +1.00]. "
    "Concluded from neither 0.00, cat 1.00, chased 1.00, both 2.00; wanted 0, 0, 0, 1: "
    "off by up to 1.00.",
    "collapse": "Banks with and without a bend. 3 banks, slope 1.00 below zero (no "
    "bend): the line comes out straight; a single matrix does the same.",
    "hull": "What a head can answer. Scores [+0.00, +0.00, +0.00] become weights "
    "[0.33, 0.33, 0.33]: the answer [+0.10, -0.13] lies inside the region.",
    "stack": "Replace or add. 24 storeys at gain 0.70, no dud. Replacing: size "
    "0.000135 at the top, slope 0.000154 back at storey 1. Adding: size 107.9, slope "
    "96.63.",
    "drift": "Drift, and the norm. 1 storey at gain 0.70, no norm: the size at the "
    "top is 1.21. chased then reads 0.03 of The, 0.13 of cat, 0.07 of chased, 0.01 of "
    "the, 0.76 of mouse.",
    "attention": "Who reads whom. First round, no mask: it reads 0.75 of mat. Of what "
    "mat concludes, exactly 0 has then reached it.",
    "block": "Blocks, one on another. cat nudged by 1.00, causal mask; after 3 blocks "
    "the rows moved by: The exactly 0, cat 1.88, chased 0.57, the 0.62, mouse 0.60. "
    "(5, 9) in, (5, 9) out.",
}
NAMES = list(RANGES)
MOVED = {
    "if_unit": {"evidence": (-0.3, 0.45), "pattern": (0.5, 0.75)},
    "bank": {"evidence": (-0.3, 0.45)},
    "third_fact": {"threshold": 1.2, "weights": (0.8, 1.1)},
    "collapse": {"slope": 0.2},
    "hull": {"scores": (1.5, -2.0, 0.5)},
    "stack": {"gain": 0.9, "dud": 7},
    "drift": {"gain": 0.9, "norm": "pre_norm"},
    "attention": {"round": 2, "mask": True, "asks": 2.0},
    "block": {"depth": 5, "word": 2, "mask": False},
}


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def make():
    made = []

    def make_one(name, *functions):
        made.append(getattr(explorers, name)(*functions))
        return made[-1]

    yield make_one
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def untouched():
    made = {name: getattr(explorers, name)() for name in NAMES}
    yield made
    for one in made.values():
        one.close()


@pytest.fixture
def explorer(name, untouched):
    """Return an explorer at its start; making one takes longer than most tests do."""
    untouched[name].reset()
    return untouched[name]


# What is drawn.


def xy(figure, label, panel=None):
    """Return the data of the lines of that label, (n, 2) each."""
    panels = figure.axes if panel is None else [figure.axes[panel]]
    lines = [line for axes in panels for line in axes.get_lines()]
    return [line.get_xydata() for line in lines if line.get_label() == label]


def widths(axes):
    """Return how wide the bars are that move."""
    (bars,) = axes.containers
    return [bar.get_width() for bar in bars]


def near(got, wanted, **within):
    np.testing.assert_allclose(got, wanted, **({"rtol": 1e-9, "atol": 1e-12} | within))


def shaded(axes, label="fires here"):
    """Return, for each region of that label, which of the points below lie in it."""
    regions = [patch for patch in axes.patches if patch.get_label() == label]
    return [region.get_path().contains_points(POINTS) for region in regions]


POINTS = np.random.default_rng(5).uniform(-1.55, 1.55, (60, 2))


def same_side(inside, matches):
    """The points are in the region where the match is above zero."""
    clear = np.abs(matches) > 1e-6
    assert (np.asarray(inside)[clear] == (np.asarray(matches) > 0)[clear]).all()


def drawn_if_unit(figure, evidence, pattern, contribution, **_):
    match = loops.dot(pattern, evidence)
    fires = max(match, 0.0)
    near(xy(figure, "pattern"), [[(0, 0), pattern]])
    near(xy(figure, "evidence"), [[(0, 0), evidence]])
    near(xy(figure, "what it adds"), [[(0, 0), [fires * c for c in contribution]]])
    curve, drop, dot = (line.get_xydata() for line in figure.axes[1].get_lines())
    near(dot, [[match, fires]])
    near(drop, [[match, 0], [match, fires]])
    if any(pattern):
        near(curve[:, 1], [max(x, 0) for x in curve[:, 0]])
        assert curve[[0, -1], 0].tolist() == [-2.4, 2.4]
    (inside,) = shaded(figure.axes[0])
    same_side(inside, [loops.dot(pattern, at) for at in POINTS])


def drawn_bank(figure, evidence, bend):
    matches = loops.times([evidence], examples.W1.tolist())[0]
    fires = loops.relu([matches])[0] if bend else matches
    pieces = [[f * w for w in row] for f, row in zip(fires, examples.W2, strict=True)]
    near(xy(figure, "match")[0][:, 0], matches)
    near(widths(figure.axes[1]), fires)
    near(xy(figure, "out"), [[np.sum(pieces, axis=0)]])
    tails = [np.sum(pieces[:i], axis=0) for i in range(4)]
    steps = xy(figure, "adds")
    near(steps, [(tails[i] + np.zeros(2), tails[i + 1]) for i in range(3)])
    near(xy(figure, "evidence"), [[(0, 0), evidence]])
    at_points = np.array(loops.times(POINTS.tolist(), examples.W1.tolist()))
    inside = shaded(figure.axes[0], "a unit fires")
    for region, unit in zip(inside, at_points.T, strict=True):
        same_side(region, unit if bend else abs(unit))
    # The notebook's prediction: somewhere at least one fires, wherever one looks.
    assert np.any(inside, axis=0).all()


def drawn_third_fact(figure, threshold, weights):
    concludes = [max(loops.dot(weights, fact) - threshold, 0.0)
                 for fact in [(0, 0), (1, 0), (0, 1), (1, 1)]]  # fmt: skip
    near(xy(figure, "the unit")[0], list(zip(range(4), concludes, strict=True)))
    near(xy(figure, "weights"), [[(0, 0), weights]])
    (inside,) = shaded(figure.axes[0])
    same_side(inside, [loops.dot(weights, at) - threshold for at in POINTS])


def drawn_collapse(figure, slope, banks):
    curve = figure.axes[0].get_lines()[0].get_xydata()
    near(curve[:, 1], [x if x > 0 else slope * x for x in curve[:, 0]])
    rows = np.column_stack([np.linspace(-1.5, 1.5, 61), np.full(61, 0.5)])
    line, rng = rows, np.random.default_rng(2790)
    for i, angle in enumerate(rng.uniform(0.4, 1.2, size=6)):
        W1, W2 = rng.normal(size=(2, 8)), rng.normal(size=(8, 2))
        c, s = math.cos(angle), math.sin(angle)
        W2 = W2 @ np.linalg.inv(W1 @ W2) @ [[c, s], [-s, c]]
        matches = rows @ W1
        if i < banks:
            rows = np.where(matches > 0, matches, slope * matches) @ W2
    best = line @ (np.linalg.inv(line.T @ line) @ line.T @ rows)
    near(xy(figure, "comes out"), [rows], atol=1e-9)
    near(xy(figure, "best single matrix"), [best], atol=1e-9)
    assert np.abs(rows).max() < 2.4  # all of it is in sight


def drawn_hull(figure, scores):
    (weights,) = loops.softmax([scores])
    values = [[-1.6, -1.2], [1.7, -0.8], [0.2, 1.6]]
    near(widths(figure.axes[0]), weights)
    dot = figure.axes[1].get_lines()[-1].get_xydata()
    near(dot, [np.dot(weights, values)])
    said = [text.get_text() for text in figure.axes[0].texts]
    assert said == [f"{weight:.2f}" for weight in weights]


@lru_cache
def sentence_and_storeys():
    rng = np.random.default_rng(42)
    z = rng.normal(size=(10, 32))
    return z, [rng.normal(size=(32, 32)) / math.sqrt(32) for _ in range(30)]


def root_mean_square(z):
    return math.sqrt((z * z).sum() / z.size)


def tidied(z):
    centred = z - z.mean(axis=1)[:, None]
    return centred / np.sqrt((centred**2).mean(axis=1)[:, None] + 1e-5)


def drawn_stack(figure, gain, storeys, dud):
    z, drawn = sentence_and_storeys()
    used = [gain * W * (i + 1 != dud) for i, W in enumerate(drawn[:storeys])]
    for rule, keep in (("replace", 0), ("add", 1)):
        steps = [keep * np.eye(32) + W for W in used]
        sizes, stream = [root_mean_square(z)], z
        for step in steps:
            stream = stream @ step
            sizes.append(root_mean_square(stream))
        back, slopes = np.eye(32), []
        for step in reversed(steps):
            back = step @ back
            slopes.insert(0, math.sqrt((back**2).sum() / 32))
        up, down = xy(figure, rule)
        zero = explorers.ZERO
        for line, first, wanted in ((up, 0, sizes), (down, 1, slopes)):
            assert line[:, 0].tolist() == list(range(first, storeys + 1))
            for drawn_, true in zip(line[:, 1], wanted, strict=True):
                if true == 0:
                    assert drawn_ == zero
                elif true < 2 * zero:
                    assert math.isnan(drawn_)
                else:
                    assert drawn_ == pytest.approx(true, rel=1e-9)


def drawn_drift(figure, gain, storeys, norm):
    z, drawn = sentence_and_storeys()
    sizes = [root_mean_square(z)]
    for W in drawn[:storeys]:
        if norm == "pre_norm":
            z = z + tidied(z) @ (gain * W)
        else:
            z = z + z @ (gain * W)
            z = tidied(z) if norm == "post_norm" else z
        sizes.append(root_mean_square(z))
    read = root_mean_square(tidied(z) if norm == "pre_norm" else z)
    scores = [math.log(share) * read**2 for share in (0.06, 0.18, 0.12, 0.04, 0.6)]
    labels = {"none": "no norm", "post_norm": "post-norm", "pre_norm": "pre-norm"}
    for rule, label in labels.items():
        (line,) = xy(figure, label)
        here = np.column_stack([range(storeys + 1), sizes])
        near(line, here if rule == norm else np.empty((0, 2)), rtol=1e-7)
    near(widths(figure.axes[1]), loops.softmax([scores])[0], atol=1e-9)


@lru_cache
def shares_in_loops(rounds, mask, asks):
    """The block that the notebook sets by hand, word by word, in plain loops."""
    n, mat, it = 10, 5, 7
    stream = [[float(i == j) for j in range(11)] for i in range(n)]
    may_read = [[j <= i for j in range(n)] for i in range(n)] if mask else None
    for _ in range(rounds):
        tidy = loops.layer_norm(stream)
        Q = [[asks * row[it]] + [0.0] * 10 for row in tidy]
        K = [[row[mat]] + [0.0] * 10 for row in tidy]
        shares = loops.attention_weights(Q, K, may_read)
        handed = [loops.dot(share, [row[10] for row in tidy]) for share in shares]
        for row, more in zip(stream, handed, strict=True):
            row[10] += more
        for row, tidy_row in zip(stream, loops.layer_norm(stream), strict=True):
            row[10] += 0.1 * max(tidy_row[mat], 0.0)
    return shares


def drawn_attention(figure, word, asks, mask, **state):
    shares = np.array(shares_in_loops(state["round"], mask, asks))
    (image,) = figure.axes[0].images
    near(np.ma.filled(image.get_array(), 0.0), shares, atol=1e-9)
    near(widths(figure.axes[1]), shares[word], atol=1e-9)
    near(figure.axes[0].get_lines()[0].get_xydata(), [[-0.5, word]])


@lru_cache
def blocks_in_loops(word, nudge, mask):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(5, 9)).tolist()
    X[word][0] += nudge
    streams = [X]
    may_read = [[j <= i for j in range(5)] for i in range(5)] if mask else None
    for _ in range(6):
        params = lab_block.init_block(9, 3, rng)
        groups = [[W.tolist() for W in group] for group in params]
        streams.append(loops.block(streams[-1], *groups, may_read))
    return np.array(streams)


def drawn_block(figure, depth, word, nudge, mask):
    moved = blocks_in_loops(word, nudge, mask) - blocks_in_loops(word, 0.0, mask)
    far = np.sqrt((moved**2).sum(axis=2))[: depth + 1]
    (image,) = figure.axes[1].images
    shown = np.ma.filled(image.get_array(), 0.0)
    near(shown[: depth + 1], far, atol=1e-9)
    assert (shown[depth + 1 :] < 0).all()  # not reached, which is no distance
    said = [text.get_text() for text in figure.axes[1].texts]
    assert said == [f"{x:.2f}" for x in far.ravel()] + [""] * (30 - 5 * depth)
    near(figure.axes[0].get_lines()[-1].get_xydata(), [[word, nudge]])


DRAWN = {name: globals()[f"drawn_{name}"] for name in NAMES}


def states(name, count):
    """Yield the corners of the range, and `count` random states."""
    ranges = {key: r for key, r in RANGES[name].items() if key != "unit"}
    flat = [part for r in ranges.values() for part in (r if is_pair(r) else [r])]
    rng = np.random.default_rng(0)
    corners = itertools.product(*((part[0], part[-1]) for part in flat))
    randoms = ([part[rng.integers(len(part))] for part in flat] for _ in range(count))
    for values in itertools.chain(corners, randoms):
        values = iter(values)
        yield {
            key: tuple(next(values) for _ in r) if is_pair(r) else next(values)
            for key, r in ranges.items()
        }


def is_pair(values):
    return isinstance(values, tuple)


def test_starts_at_the_documents_numbers(name, explorer):
    assert repr(explorer) == START[name]


def test_every_control_has_its_range_here(name, explorer):
    for key, made in explorer.controls.items():
        known = RANGES[name].get(key)
        assert known, f"explorers.{name} has a control {key!r}: give it a row in RANGES"
        for control, stands in zip(
            made, known if is_pair(known) else [known], strict=True
        ):
            if control.options:
                assert {value for _text, value in control.options} == set(stands)
            else:
                assert (control.low, control.high) == (stands[0], stands[-1])
    assert set(RANGES[name]) == set(explorer.controls)


def test_draws_the_right_numbers_over_the_whole_range(name, explorer):
    for state in states(name, 100):
        explorer.set(**state)
        assert state.items() <= explorer.state.items()
        assert not explorer.readout.startswith("Not drawn")
        assert not re.search(r"[-−]0\.0+\b(?![1-9])", explorer.readout)
        for numbers in re.findall(r"\[[^]]*\]", explorer.readout):
            assert isinstance(ast.literal_eval(numbers), list)  # it can be pasted
        assert max(map(len, re.findall(r"[\d.]+", explorer.readout))) <= 9
        DRAWN[name](explorer.figure, **state)


SVG = "{http://www.w3.org/2000/svg}"


def moving(explorer):
    """Return the elements that moved last: those after the background's."""
    return list(ET.fromstring(explorer.picture).iter())


def on_page(explorer, axes, points):
    """Return points of the data as the SVG has them: from the top left, 72 an inch."""
    at = axes.transData.transform(points)
    return np.column_stack([at[:, 0], explorer.figure.bbox.height - at[:, 1]])


def markers(explorer):
    """Return where the page has markers, (n, 2)."""
    uses = [e for e in moving(explorer) if e.tag == f"{SVG}use" and "y" in e.attrib]
    return np.array([(float(e.get("x")), float(e.get("y"))) for e in uses])


DOTS = {  # the panel, and what must stand in it as a marker
    "if_unit": (0, lambda s: [s["pattern"], s["evidence"]]),
    "bank": (0, lambda s: [s["evidence"]]),
    "third_fact": (0, lambda s: [s["weights"]]),
    "attention": (0, lambda s: [(-0.5, s["word"])]),
    "block": (0, lambda s: [(s["word"], s["nudge"])]),
}


@pytest.mark.parametrize("name", DOTS, indirect=True)
def test_the_page_has_the_dots_where_they_belong(name, explorer):
    panel, at = DOTS[name]
    for state in [*states(name, 3)][-3:]:
        explorer.set(**state)
        wanted = on_page(explorer, explorer.figure.axes[panel], at(explorer.state))
        found = markers(explorer)
        for point in wanted:
            assert np.abs(found - point).max(axis=1).min() < 0.01


def test_the_page_has_the_curves_and_numbers_that_were_computed(make):
    explorer = make("hull")
    explorer.set(scores=(1, -2, 0.5))
    (weights,) = loops.softmax([[1, -2, 0.5]])
    said = [e.text for e in moving(explorer) if e.tag == f"{SVG}text"]
    assert [f"{w:.2f}" for w in weights] == said
    explorer = make("stack")
    explorer.set(gain=0.8, storeys=3)
    up = xy(explorer.figure, "add")[0]
    paths = [e.get("d", "") for e in moving(explorer) if e.tag == f"{SVG}path"]
    wanted = on_page(explorer, explorer.figure.axes[0], up[[0, -1]])
    ends = [np.array(re.findall(r"-?[\d.]+", d), float).reshape(-1, 2)[[0, -1]]
            for d in paths if d.startswith("M") and "C" not in d]  # fmt: skip
    assert min(np.abs(end - wanted).max() for end in ends) < 0.01


def still(explorer):
    """Return the still picture, (height, width, 3), and what is stored beside it."""
    data, shown = explorer._repr_mimebundle_()
    image = matplotlib.image.imread(io.BytesIO(data["image/png"]), format="png")
    return image[..., :3], data, shown


def test_nothing_that_moves_is_blank_or_out_of_the_picture(name, explorer):
    """Hiding any artist that moves takes something away from the page."""
    explorer.set(**MOVED[name])
    whole = explorer.picture
    artists = explorer.figure.findobj(lambda artist: artist.get_animated())
    seen = [a for a in artists if not (hasattr(a, "get_text") and not a.get_text())]
    seen = [
        a for a in seen if not (hasattr(a, "get_xydata") and not len(a.get_xydata()))
    ]
    assert len(seen) > 1
    for artist in seen:
        artist.set_visible(False)
        explorer.set()
        assert len(explorer.picture) < len(whole), artist
        artist.set_visible(True)
    explorer.set()
    assert explorer.picture == whole


def test_every_control_changes_picture_and_readout(name, explorer):
    for key, made in explorer.controls.items():
        for i, control in enumerate(made):
            explorer.reset()
            before, said = explorer.picture, explorer.readout
            values = [one.value for one in made]
            stands = RANGES[name][key][i] if len(made) > 1 else RANGES[name][key]
            values[i] = next(v for v in stands if v != control.value)
            explorer.set(**{key: tuple(values) if len(made) > 1 else values[0]})
            assert explorer.readout != said, key
            assert explorer.picture != before or key == "unit", key


# Where each handle is taken and put, and what then stands in the state.
HANDLES = {
    "if_unit": [
        ("contribution", (0.7, -0.35), {"contribution": (0.5, -0.25), "unit": 0}),
        ("pattern", (0.52, 0.74), {"pattern": (0.5, 0.75), "unit": 0}),
        ("evidence", (-3, 0.11), {"evidence": (-1.0, 0.1)}),
    ],
    "bank": [("evidence", (0.21, -0.49), {"evidence": (0.2, -0.5)})],
    "third_fact": [
        ("threshold", (0.5, 0.52), {"threshold": 1.0}),
        ("weights", (0.3, 1.48), {"weights": (0.3, 1.5)}),
    ],
    "collapse": [("slope", (-2, -0.52), {"slope": 0.26})],
    "hull": [
        ("scores", (1.7, -0.8), {"scores": (-5.0, 5.0, -5.0)}),
        ("scores", (0.6, 1.2), {"scores": (0.0, 1.1, 0.0)}),
    ],
    "stack": [
        ("storeys", (11.6, 1), {"storeys": 12}),
        ("storeys", (99, 1), {"storeys": 30}),
        ("dud", (6.8, 1), {"dud": 7}),
        ("dud", (24, 1), {"dud": 24}),
    ],
    "drift": [("storeys", (4.2, 1), {"storeys": 4})] * 3,
    "attention": [("word", (3, 8.6), {"word": 9})],
    "block": [
        ("nudge", (3.8, 1.62), {"word": 4, "nudge": 1.6}),
        ("word", (2.2, 5), {"word": 2}),
    ],
}


def test_every_handle_stands_on_what_it_moves_and_moves_its_control(name, explorer):
    assert len(explorer.handles) == len(HANDLES[name]), "give each handle a row above"
    for handle, (moves, (x, y), wanted) in zip(
        explorer.handles, HANDLES[name], strict=True
    ):
        explorer.reset()
        assert handle.name == moves
        assert moves in explorer.controls
        before, at = explorer.picture, handle.at and handle.at(explorer.state)
        if at is not None:  # taken hold of and not moved, it moves nothing
            explorer.set(**handle.move(explorer.state, *at))
            assert repr(explorer) == START[name]
        act = handle.press or handle.move
        explorer.set(**act(explorer.state, x, y))
        assert wanted.items() <= explorer.state.items()
        assert explorer.picture != before
        if at is not None:
            assert tuple(handle.at(explorer.state)) != tuple(at)


def test_a_storey_that_is_clicked_again_is_mended(make):
    explorer = make("stack")
    *_, dud = explorer.handles
    for wanted in (7, 0, 7):
        explorer.set(**dud.press(explorer.state, 7.2, 1))
        assert explorer.state["dud"] == wanted
        assert dud.move(explorer.state, 9, 1) == {}


def test_reset_goes_back_to_the_start(name, explorer):
    before, state = explorer.picture, explorer.state
    explorer.set(**MOVED[name])
    assert explorer.picture != before
    explorer.reset()
    assert explorer.state == state
    assert repr(explorer) == START[name]
    assert explorer.picture == before


def test_the_state_is_a_copy(explorer):
    explorer.state.clear()
    assert explorer.state


def test_a_unit_sets_the_sliders_and_the_sliders_the_unit(make):
    explorer = make("if_unit")
    explorer.set(unit=3)
    assert explorer.state["pattern"] == (-1, -1)
    assert explorer.state["contribution"] == (0.5, -1)
    assert "match -0.20, fires 0.00" in explorer.readout
    explorer.set(contribution=(0.5, -0.95))
    assert explorer.state["unit"] == 0
    explorer.set(pattern=(0, 1), contribution=(-0.5, 1))
    assert explorer.state["unit"] == 2
    explorer.set(unit=0)
    assert explorer.state["pattern"] == (0, 1)


# What the notebooks ask to try.


def test_a_size_of_nothing_is_drawn_and_said_as_nothing(make):
    explorer = make("stack")
    explorer.set(dud=5)
    ticks = explorer.figure.axes[0].get_yticks()
    labels = [text.get_text() for text in explorer.figure.axes[0].get_yticklabels()]
    assert dict(zip(ticks, labels, strict=True))[explorers.ZERO] == "0"
    assert "Replacing: size exactly 0 at the top, slope exactly 0" in explorer.readout
    explorer.set(storeys=4)
    assert "no storey 5 to be a dud" in explorer.readout
    explorer.set(storeys=30, gain=0.5, dud=0)
    assert "e-10 at the top" in explorer.readout
    assert "outside the picture" in explorer.readout
    explorer.set(storeys=24, gain=0.8)
    assert "size 0.00332 at the top, slope 0.00378" in explorer.readout


def test_the_predictions_of_02_and_03_can_be_tried(make):
    explorer = make("third_fact")
    explorer.set(threshold=1)
    assert "both 1.00; wanted 0, 0, 0, 1: as wanted." in explorer.readout
    explorer = make("collapse")
    explorer.set(slope=0.98)
    assert "folded; the best single matrix misses by 0.0" in explorer.readout
    explorer.set(slope=0)
    assert "misses by 0.49 of it." in explorer.readout


def test_the_norms_hold_the_documents_sizes(make):
    explorer = make("drift")
    explorer.set(storeys=4)
    assert "1.00 of mouse" in explorer.readout
    explorer.set(storeys=24)
    assert "the size at the top is 107.9. chased then" in explorer.readout
    explorer.set(norm="post_norm")
    assert "size at the top is 1.00. chased then reads 0.06 of The" in explorer.readout
    explorer.set(norm="pre_norm")
    assert "top is 3.57, its copy's 1.00. chased then reads 0.06" in explorer.readout


def test_the_words_of_06_read_as_its_text_says(make):
    explorer = make("attention")
    explorer.set(round=2)
    assert "it reads 0.70 of mat. Of what mat concludes, 0.61 has" in explorer.readout
    explorer.set(round=1, asks=0)
    assert "it reads 0.10 of mat." in explorer.readout
    explorer.set(mask=True, word=0)
    assert "the reads exactly 0 of mat, and most of the (1.00)" in explorer.readout
    explorer = make("block")
    explorer.set(depth=6, word=4)
    assert "the exactly 0, mouse" in explorer.readout
    explorer.set(word=0)
    assert "exactly" not in explorer.readout


# The reader's function.

GOOD = {
    "if_unit": (lab_block.fires,),
    "bank": (lab_block.feed_forward,),
    "third_fact": (lab_block.feed_forward,),
    "collapse": (lab_block.relu,),
    "hull": (lab_block.softmax,),
    "stack": (lab_stack.run_stack, lab_stack.slope_back),
    "drift": (lab_block.layer_norm,),
    "attention": (lab_block.attention_weights,),
    "block": (lab_block.block,),
}


def raising(error):
    def answer(_):
        raise error

    return answer


BAD = {
    "raises": (lambda answer: 1 / 0, "ZeroDivisionError: division by zero"),
    "is interrupted": (raising(KeyboardInterrupt()), "Interrupted"),
    "exits": (raising(SystemExit(3)), "SystemExit: 3"),
    "NaN": (lambda answer: np.asarray(answer) * np.nan, "finite"),
    "infinite": (lambda answer: np.full(np.shape(answer), np.inf), "finite"),
    "one axis more": (lambda answer: np.asarray(answer)[None], "shape"),
    "too long": (lambda answer: np.append(answer, 1.0), "shape"),
    "complex": (lambda answer: np.asarray(answer) + 1j, "complex"),
    "text": (lambda answer: np.asarray(answer).astype(str), "text"),
    "nothing": (lambda answer: None, "None"),
    "a stub": (lambda answer: ..., "ellipsis"),
}


def spoilt(name, spoil):
    """Return the functions of an explorer, spoilt by what stands in `spoil`, if any."""

    def around(function):
        def wrapped(*args, **kwargs):
            answer = function(*args, **kwargs)
            return spoil[0](answer) if spoil else answer

        return wrapped

    return [around(function) for function in GOOD[name]]


def test_a_function_that_fails_is_told_and_its_picture_is_no_longer_true(name, make):
    spoil = []
    explorer = make(name, *spoilt(name, spoil))
    assert repr(explorer) == START[name]
    colours = np.ptp(still(explorer)[0], axis=2).max()
    for number, (kind, (spoiling, said)) in enumerate(BAD.items(), 1):
        spoil[:] = [spoiling]
        if name == "block":  # its runs are kept: a new one is due
            explorer.set(nudge=0.1 * number)
        explorer.set(**MOVED[name])
        assert "so the picture is grey: " in explorer.readout, kind
        assert said in explorer.readout, kind
        assert explorer.words == explorer.readout
        if kind == "raises":
            assert np.ptp(still(explorer)[0], axis=2).max() < 0.5 * colours
        spoil.clear()
        explorer.reset()
        assert repr(explorer) == START[name], kind


def test_a_function_that_never_worked(name, make):
    explorer = make(name, *[lambda *args, **kwargs: [][1]] * len(GOOD[name]))
    explorer.set(**MOVED[name])
    assert "IndexError: list index out of range" in explorer.readout
    assert still(explorer)[1]["text/plain"] == repr(explorer)
    for handle in explorer.handles:  # there is nothing to hold, and nothing breaks
        at = handle.at(explorer.state) if handle.at else (1.0, 1.0)
        if at is not None:
            explorer.set(**handle.move(explorer.state, *at))


def test_a_size_below_nothing_is_refused(make):
    explorer = make("stack", lambda z, storeys, rule: -np.ones(len(storeys) + 1))
    assert "a size is never below 0" in explorer.readout


def test_lists_and_negative_zeros_are_welcome(name, make):
    def plainly(function):
        def wrapped(*args, **kwargs):
            answer = np.asarray(function(*args, **kwargs))
            return np.where(answer == 0, -0.0, answer).tolist()

        return wrapped

    explorer = make(name, *map(plainly, GOOD[name]))
    assert repr(explorer) == START[name]
    explorer.set(**MOVED[name])
    assert "Not drawn" not in explorer.readout
    assert not re.search(r"-0\.0+\b(?![1-9])", explorer.readout)


def test_a_function_that_prints_warns_and_shows_leaves_no_trace(name, make, capfd):
    def noisily(function):
        def wrapped(*args, **kwargs):
            print("stray")
            display("stray")
            np.log(np.zeros(1))
            return function(*args, **kwargs)

        return wrapped

    explorer = make(name, *map(noisily, GOOD[name]))
    explorer.set(**MOVED[name])
    assert "Not drawn" not in explorer.readout
    assert capfd.readouterr() == ("", "")


def test_a_function_that_writes_into_its_input_harms_nothing(name, make):
    def rudely(function):
        def wrapped(*args, **kwargs):
            answer = np.array(function(*args, **kwargs))
            for arg in args:
                if isinstance(arg, np.ndarray) and arg.dtype != bool:
                    arg[...] = 7
            return answer

        return wrapped

    explorer = make(name, *map(rudely, GOOD[name]))
    assert repr(explorer) == START[name]
    explorer.set(**MOVED[name])
    explorer.reset()
    assert repr(explorer) == START[name]


def test_it_is_the_readers_function_that_is_drawn(make):
    explorer = make("bank", lambda x, W1, W2: x @ W1 @ W2)
    assert "fires [+1.40, -0.60, -0.20]" in explorer.readout
    explorer = make("third_fact", lambda x, W1, W2: x @ W1 @ W2)
    explorer.set(threshold=1)
    assert "neither -1.00, cat 0.00, chased 0.00, both 1.00;" in explorer.readout
    explorer = make("hull", np.exp)
    explorer.set(scores=(2, 2, 2))
    assert "OUTSIDE" in explorer.readout
    explorer = make("stack", lambda z, storeys, rule: np.ones(len(storeys) + 1))
    assert "Adding: size 1.00" in explorer.readout
    explorer = make("drift", lambda X: X)
    explorer.set(norm="post_norm", storeys=24)
    assert "107.9" in explorer.readout
    explorer = make("attention", lambda Q, K, mask: np.full((10, 10), 0.1))
    assert "it reads 0.10 of mat." in explorer.readout
    explorer = make("block", lambda X, attn, ffn, ln_1, ln_2, mask: X)
    assert "cat 1.00, chased exactly 0" in explorer.readout


def absolute(pattern, evidence):
    return abs(pattern @ evidence)


def absolute_of_one(pattern, evidence):
    return abs(float(pattern[0] * evidence[0] + pattern[1] * evidence[1]))


@pytest.mark.parametrize("fires", [absolute, absolute_of_one])
def test_curve_and_shade_are_the_reader_s_own_too(make, fires):
    """With abs for the bend both sides fire, and picture and readout say so."""
    explorer = make("if_unit", fires)
    explorer.set(evidence=(-0.8, 0.6))
    assert "match -1.40, fires 1.40" in explorer.readout
    curve, _drop, dot = explorer.figure.axes[1].get_lines()
    near(curve.get_ydata(), np.abs(curve.get_xdata()))
    near(dot.get_xydata(), [[-1.4, 1.4]])
    (inside,) = shaded(explorer.figure.axes[0])
    assert inside.all()
    explorer = make("collapse", np.abs)
    explorer.set(slope=0)
    bend = explorer.figure.axes[0].get_lines()[0]
    near(bend.get_ydata(), np.abs(bend.get_xdata()))
    explorer = make("bank", lambda x, W1, W2: np.abs(x @ W1) @ W2)
    assert np.all(shaded(explorer.figure.axes[0], "a unit fires"))
    explorer = make("third_fact", lambda x, W1, W2: np.abs(x @ W1) @ W2)
    assert np.all(shaded(explorer.figure.axes[0]))


def test_what_leaves_the_axes_is_said(make):
    for name, functions, state in (
        ("if_unit", [lambda p, e: 9.0 * (p @ e)], {}),
        ("bank", [lambda x, W1, W2: 9 * np.maximum(x @ W1, 0) @ W2], {}),
        ("third_fact", [lambda x, W1, W2: 9 * np.maximum(x @ W1, 0) @ W2], {}),
        ("collapse", [np.square], {"slope": 0, "banks": 6}),
        ("hull", [np.exp], {"scores": (5, 5, 5)}),
        ("stack", [], {"gain": 0.5}),
        ("drift", [lambda X: 100 * X], {"norm": "post_norm", "storeys": 9}),
    ):
        explorer = make(name, *functions)
        explorer.set(**state)
        assert explorer.readout.endswith("Part of it lies outside the picture."), name
        for number in re.findall(r"[\d.]+", explorer.readout):
            assert len(number.replace(".", "")) <= 8


# One redraw a move, nothing left over.


def test_one_move_asks_the_reader_s_function_once(make):
    calls = []

    def fires(pattern, evidence):
        calls.append(1)
        return lab_block.fires(pattern, evidence)

    explorer = make("if_unit", fires)
    calls.clear()
    explorer.set(evidence=(0.1, 0.2), contribution=(0.3, 0.4))
    assert len(calls) == 1
    explorer.set(pattern=(0.1, 0.2))  # a new curve and a new shade are due as well
    assert 1 < len(calls) < 20


def test_one_explorer_leaves_another_as_it_is(name, explorer, make):
    before = explorer.picture
    make(NAMES[NAMES.index(name) - 1]).set(**MOVED[NAMES[NAMES.index(name) - 1]])
    assert explorer.picture == before
    explorer.set(**MOVED[name])
    explorer.reset()
    assert explorer.picture == before


def test_a_closed_explorer_leaves_no_widget_and_no_figure(name):
    before = len(widgets.widget._instances)
    getattr(explorers, name)().close()
    assert len(widgets.widget._instances) == before
    assert not plt.get_fignums()


# The same for every reader, and where no kernel runs.


def test_a_still_picture_and_words_stand_in(name, explorer):
    explorer.set(**MOVED[name])
    image, data, shown = still(explorer)
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == repr(explorer)
    assert "\n" not in data["text/plain"]
    size = shown["image/png"]
    assert image.shape[:2] == (2 * size["height"], 2 * size["width"])
    assert size["alt"] == repr(explorer)
    picture, words = image[:660], image[660:]
    assert (picture < 0.5).mean() > 0.005
    assert (words < 0.5).mean() > 0.01  # the readout, and how to move it


def test_no_setting_of_the_reader_s_reaches_it(name, make):
    pictures = []
    for settings in ({}, {"font.size": 22, "axes.facecolor": "red", "text.usetex": True,
                          "lines.marker": "x", "image.origin": "lower",
                          "path.sketch": (1, 100, 2)}):  # fmt: skip
        with matplotlib.rc_context(settings):
            explorer = make(name)
            explorer.set(**MOVED[name])
            # An id on the page is made anew for each explorer, and says nothing.
            page = re.sub(r"\b[a-z]+[0-9a-f]{10}\b", "id", explorer.picture)
            pictures.append((page, still(explorer)[0].tobytes()))
    assert pictures[0] == pictures[1]


def drawn_texts(figure):
    """Return the texts that a drawing of everything draws: not those out of sight."""
    seen, draw = [], Text.draw

    def noting(text, renderer):
        draw(text, renderer)
        if text.get_visible():
            seen.append(text)

    moving = figure.findobj(lambda artist: artist.get_animated())
    with mock.patch.object(Text, "draw", noting):
        for artist in (figure, *moving):
            artist.draw(figure._get_renderer())
    return list(dict.fromkeys(seen))


def test_no_text_is_cut_off_or_on_another(name, explorer):
    """All that stands still and all that moves has room."""
    figure = explorer.figure
    for state in (explorer.state, MOVED[name]):
        explorer.set(**state)
        seen = drawn_texts(figure)
        texts = [text for text in seen if text.get_text().strip()]
        boxes = {t: t.get_window_extent() for t in texts}
        for text, box in boxes.items():
            within = box.x0 >= -0.5 and box.y0 >= -0.5
            within &= box.x1 <= figure.bbox.x1 + 0.5 and box.y1 <= figure.bbox.y1 + 0.5
            assert within, text
        for one, other in itertools.combinations(texts, 2):
            a, b = boxes[one].padded(-1), boxes[other].padded(-1)
            assert not a.overlaps(b), (one, other)
