"""The explorers without a browser: what is drawn, said and survived.

What is drawn is read from the artists and compared with numbers computed here, from
plain formulas that share no code with the explorers.
"""

import base64
import io
import itertools
import math
import re
from functools import lru_cache

import ipywidgets as widgets
import loops
import matplotlib.pyplot as plt
import numpy as np
import pytest
from IPython.display import display
from PIL import Image

from labsupport import block as lab_block
from labsupport import examples, explorers, live
from labsupport import stack as lab_stack

UNIT = [round(-1 + step * 0.05, 2) for step in range(41)]
SCORE = [round(-5 + step * 0.1, 1) for step in range(101)]
GAIN = [round(0.5 + step * 0.01, 2) for step in range(61)]
STOREYS = list(range(1, 41))
PAIR = (UNIT, UNIT)
RANGES = {
    "if_unit": {"evidence": PAIR, "pattern": PAIR, "contribution": PAIR},
    "bank": {"evidence": PAIR, "bend": [True, False]},
    "collapse": {
        "slope": [round(step * 0.02, 2) for step in range(51)],
        "layers": list(range(1, 7)),
    },
    "hull": {"scores": (SCORE, SCORE, SCORE)},
    "stack": {"gain": GAIN, "storeys": STOREYS, "dud": [0, *STOREYS]},
    "drift": {
        "gain": GAIN,
        "storeys": STOREYS,
        "norm": ["none", "post_norm", "pre_norm"],
    },
    "block": {
        "depth": list(range(1, 25)),
        "word": list(range(5)),
        "nudge": [0.0, 0.05, 1.0, 2.0],  # four of them: the loops are slow
        "mask": [False, True],
    },
}
START = {
    "if_unit": "One if-unit. Unit 1. Pattern [+1.00, −1.00] · evidence [+0.80, −0.60]: "
    "match +1.40, fires 1.40, adds 1.40 × [+1.00, +0.50] = [+1.40, +0.70].",
    "bank": "A bank of three units. Evidence [+0.80, −0.60], bend on: matches "
    "[+1.40, −0.60, −0.20], fires [+1.40, +0.00, +0.00], out [+1.40, +0.70].",
    "collapse": "Layers with and without a bend. 3 layers, slope 1.00 below zero (no "
    "bend): the line comes out straight, at a distance of 0.00 from the best single "
    "matrix.",
    "hull": "What a head can answer. Scores [+0.00, +0.00, +0.00] become weights "
    "[0.33, 0.33, 0.33]: the answer [+0.10, −0.13] lies inside the region.",
    "stack": "Replace or add. 24 storeys at gain 0.70, no dud. Replacing: size "
    "0.000135 at the top, slope 0.000154 back at storey 1. Adding: size 107.9, slope "
    "96.63.",
    "drift": "Drift, and the norm. 24 storeys at gain 0.70, no norm: the size at the "
    "top is 107.9. chased then reads 0.00 of The, 0.00 of cat, 0.00 of chased, 0.00 "
    "of the, 1.00 of mouse.",
    "block": "Blocks, one on another. mouse nudged by 1.00, no mask; after 3 blocks "
    "the rows moved by: The 0.28, cat 0.21, chased 0.20, the 0.44, mouse 1.52. "
    "(5, 9) in, (5, 9) out.",
}
NAMES = list(RANGES)
MOVED = {
    "if_unit": {"evidence": (-0.3, 0.45)},
    "bank": {"evidence": (-0.3, 0.45)},
    "collapse": {"slope": 0.2},
    "hull": {"scores": (1.5, -2.0, 0.5)},
    "stack": {"gain": 0.9, "dud": 7},
    "drift": {"gain": 0.9, "norm": "pre_norm"},
    "block": {"depth": 9, "word": 1, "mask": True},
}


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def explorer(name):
    made = getattr(explorers, name)()
    yield made
    made.close()


@pytest.fixture
def make():
    made = []

    def make_one(name, *functions):
        made.append(getattr(explorers, name)(*functions))
        return made[-1]

    yield make_one
    for one in made:
        one.close()


# What is drawn.


def xy(figure, label, panel=None):
    """Return the data of the lines of that label, (n, 2) each."""
    panels = figure.axes if panel is None else [figure.axes[panel]]
    lines = [line for axes in panels for line in axes.get_lines()]
    return [line.get_xydata() for line in lines if line.get_label() == label]


def widths(axes):
    return [bar.get_width() for bar in axes.patches if bar.get_animated()]


def near(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


def drawn_if_unit(figure, evidence, pattern, contribution, **_):
    match = loops.dot(pattern, evidence)
    fires = max(match, 0.0)
    near(xy(figure, "pattern"), [[(0, 0), pattern]])
    near(xy(figure, "evidence"), [[(0, 0), evidence]])
    near(xy(figure, "what it adds"), [[(0, 0), [fires * c for c in contribution]]])
    drop, dot = (line.get_xydata() for line in figure.axes[1].get_lines()[1:])
    near(dot, [[match, fires]])
    near(drop, [[match, 0], [match, fires]])
    (side,) = figure.axes[0].patches
    for x, y in itertools.product((-2.3, -0.7, 0.4, 2.1), repeat=2):
        ahead = x * pattern[0] + y * pattern[1]
        if abs(ahead) > 1e-6:
            inside = side.get_path().contains_point((x, y))
            assert inside == (ahead > 0)


def drawn_bank(figure, evidence, bend):
    matches = loops.times([evidence], examples.W1.tolist())[0]
    fires = loops.relu([matches])[0] if bend else matches
    pieces = [[f * w for w in row] for f, row in zip(fires, examples.W2, strict=True)]
    near(xy(figure, "match")[0][:, 0], matches)
    near(widths(figure.axes[0]), fires)
    near(xy(figure, "out"), [[np.sum(pieces, axis=0)]])
    tails = [np.sum(pieces[:i], axis=0) for i in range(4)]
    steps = xy(figure, "fired contributions")
    near(steps, [(tails[i] + np.zeros(2), tails[i + 1]) for i in range(3)])


def drawn_collapse(figure, slope, layers):
    rows = np.column_stack([np.linspace(-1.5, 1.5, 61), np.full(61, 0.5)])
    line = rows
    all_layers = explorers._turning_layers(np.random.default_rng(1), 6)
    for W1, W2 in all_layers[:layers]:
        matches = rows @ W1
        rows = np.where(matches > 0, matches, slope * matches) @ W2
    best = line @ (np.linalg.inv(line.T @ line) @ line.T @ rows)
    np.testing.assert_allclose(xy(figure, "the layers", 1), [rows], atol=1e-9)
    np.testing.assert_allclose(xy(figure, "the best single matrix"), [best], atol=1e-9)


def drawn_hull(figure, scores):
    (weights,) = loops.softmax([scores])
    (values,) = xy(figure, "values")
    near(widths(figure.axes[0]), weights)
    near(xy(figure, "the answer"), [[np.dot(weights, values)]])
    said = [text.get_text() for text in figure.axes[0].texts]
    assert said == [f"{weight:.2f}" for weight in weights]


@lru_cache
def sentence_and_storeys():
    rng = np.random.default_rng(42)
    z = rng.normal(size=(10, 32))
    return z, [rng.normal(size=(32, 32)) / math.sqrt(32) for _ in range(40)]


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
        floor = explorers.ZERO
        wanted = np.maximum(sizes, floor), np.maximum(slopes, floor)
        for line, first, numbers in zip((up, down), (0, 1), wanted, strict=True):
            assert line[:, 0].tolist() == list(range(first, storeys + 1))
            np.testing.assert_allclose(line[:, 1], numbers, rtol=1e-9)


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
        np.testing.assert_allclose(line, here if rule == norm else np.empty((0, 2)))
    shares = loops.softmax([scores])[0]
    np.testing.assert_allclose(widths(figure.axes[1]), shares, atol=1e-9)


@lru_cache
def blocks_in_loops(word, nudge, mask):
    rng = np.random.default_rng(13)
    X = rng.normal(size=(5, 9)).tolist()
    X[word][0] += nudge
    streams = [X]
    may_read = [[j <= i for j in range(5)] for i in range(5)] if mask else None
    for _ in range(24):
        params = lab_block.init_block(9, 3, rng)
        groups = [[W.tolist() for W in group] for group in params]
        streams.append(loops.block(streams[-1], *groups, may_read))
    return np.array(streams)


def drawn_block(figure, depth, word, nudge, mask):
    moved = blocks_in_loops(word, nudge, mask) - blocks_in_loops(word, 0.0, mask)
    far = np.sqrt((moved**2).sum(axis=2))[: depth + 1].T
    (grid,) = figure.axes[0].collections
    shown = grid.get_array().reshape(5, 25)
    assert np.ma.getmaskarray(shown)[:, depth + 1 :].all()
    np.testing.assert_allclose(
        shown[:, : depth + 1], np.log10(np.maximum(far, 1e-9)), atol=1e-6
    )
    header, *said = (text.get_text() for text in figure.axes[0].texts)
    assert header == f"after {depth}"
    np.testing.assert_allclose([float(text) for text in said], far[:, -1], atol=0.0051)


DRAWN = {name: globals()[f"drawn_{name}"] for name in NAMES}


def states(name, count):
    """Yield the corners of the range, and `count` random states."""
    ranges = RANGES[name]
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


def pixels(explorer):
    """Return the picture as the browser gets it, (height, width, 3)."""
    picture = Image.open(io.BytesIO(explorer.children[2].value))
    return np.asarray(picture.convert("RGB")).astype(int)


def test_starts_at_the_documents_numbers(name, explorer):
    assert repr(explorer) == START[name]


def test_draws_the_right_numbers_over_the_whole_range(name, explorer):
    for state in states(name, 200):
        explorer.set(**state)
        assert state.items() <= explorer.state.items()
        assert not explorer.readout.startswith("Not drawn")
        assert not re.search(r"[-−]0\.0+\b(?![1-9])", explorer.readout)
        DRAWN[name](explorer.figure, **state)


def test_what_is_seen_is_what_the_figure_holds(name, explorer):
    # Drawn anew from nothing, without stored background and palette.
    for state in [*states(name, 4)][-8:]:
        explorer.set(**state)
        seen = pixels(explorer)
        moving = explorer.figure.findobj(lambda artist: artist.get_animated())
        for artist in moving:
            artist.set_animated(False)
        explorer.figure.canvas.draw()
        anew = np.asarray(explorer.figure.canvas.buffer_rgba())[..., :3].astype(int)
        for artist in moving:
            artist.set_animated(True)
        off = np.abs(seen - anew).max(axis=2)
        assert (off > 24).mean() < 0.004
        assert (seen == 255).mean() > 0.2
        assert (seen < 128).mean() > 0.005


def test_every_control_changes_picture_and_readout(name, explorer):
    seen = {pixels(explorer).tobytes()}
    for made in explorer._controls.values():
        for control in made:
            explorer.set(**explorer._start)
            before, said = pixels(explorer), explorer.readout
            if hasattr(control, "options"):
                values = [value for _, value in control.options]
                control.value = next(v for v in values if v != control.value)
            else:
                low = control.min
                control.value = low + control.step * (control.value == low)
            assert (pixels(explorer) != before).any()
            assert explorer.readout != said
            seen.add(pixels(explorer).tobytes())
    assert len(seen) > 2


def test_reset_goes_back_to_the_start(name, explorer):
    before, state = pixels(explorer), explorer.state
    explorer.set(**MOVED[name])
    assert (pixels(explorer) != before).any()
    reset = explorer.children[0].children[1]
    reset.click()
    assert explorer.state == state
    assert repr(explorer) == START[name]
    assert (pixels(explorer) == before).all()


def test_the_state_is_a_copy(explorer):
    explorer.state.clear()
    assert explorer.state


def test_a_value_beyond_the_end_stops_at_the_end(make):
    explorer = make("stack")
    explorer.set(gain=7, storeys=-3)
    assert (explorer.state["gain"], explorer.state["storeys"]) == (1.1, 1)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"colour": 1}, "no control 'colour'"),
        ({"evidence": 1}, "evidence is 1"),
        ({"evidence": (1, 2, 3)}, "evidence is"),
        ({"unit": 9}, "9"),
    ],
)
def test_set_says_what_it_cannot_do(make, state, said):
    explorer = make("if_unit")
    with pytest.raises(ValueError, match=re.escape(said)):
        explorer.set(**state)
    assert repr(explorer) == START["if_unit"]


def test_a_unit_sets_the_sliders_and_the_sliders_the_unit(make):
    explorer = make("if_unit")
    explorer.set(unit=3)
    assert explorer.state["pattern"] == (-1, -1)
    assert explorer.state["contribution"] == (0.5, -1)
    assert "match −0.20, fires 0.00" in explorer.readout
    explorer.set(contribution=(0.5, -0.95))
    assert explorer.state["unit"] == 0
    explorer.set(pattern=(0, 1), contribution=(-0.5, 1))
    assert explorer.state["unit"] == 2
    explorer.set(unit=0)
    assert explorer.state["pattern"] == (0, 1)


def test_a_size_of_nothing_is_drawn_and_said_as_nothing(make):
    explorer = make("stack")
    explorer.set(dud=5)
    up, _ = xy(explorer.figure, "replace")
    assert (up[5:, 1] == explorers.ZERO).all()
    ticks = explorer.figure.axes[0].get_yticks()
    labels = [text.get_text() for text in explorer.figure.axes[0].get_yticklabels()]
    assert dict(zip(ticks, labels, strict=True))[explorers.ZERO] == "0"
    assert "Replacing: size exactly 0 at the top, slope exactly 0" in explorer.readout
    explorer.set(storeys=4)
    assert "no storey 5 to be a dud" in explorer.readout
    explorer.set(storeys=40, gain=0.5, dud=0)
    assert "× 10⁻¹³" in explorer.readout


def test_the_norms_hold_the_documents_sizes(make):
    explorer = make("drift")
    explorer.set(norm="post_norm")
    assert "size at the top is 1.00. chased then reads 0.06 of The" in explorer.readout
    explorer.set(norm="pre_norm")
    assert (
        "the top is 3.57, its copy's 1.00. chased then reads 0.06" in explorer.readout
    )


def test_the_mask_lets_no_earlier_row_move(make):
    explorer = make("block")
    explorer.set(depth=24, mask=True, word=2)
    assert "The 0, cat 0, chased" in explorer.readout


# The reader's function.

GOOD = {
    "if_unit": (lab_block.fires,),
    "bank": (lab_block.feed_forward,),
    "collapse": (lab_block.relu,),
    "hull": (lab_block.softmax,),
    "stack": (lab_stack.run_stack, lab_stack.slope_back),
    "drift": (lab_block.layer_norm,),
    "block": (lab_block.block,),
}
BAD = {
    "raises": (lambda answer: 1 / 0, "ZeroDivisionError: division by zero"),
    "NaN": (lambda answer: np.asarray(answer) * np.nan, "finite"),
    "infinite": (lambda answer: np.full(np.shape(answer), np.inf), "finite"),
    "one axis more": (lambda answer: np.asarray(answer)[None], "shape"),
    "too long": (lambda answer: np.append(answer, 1.0), "shape"),
    "nothing": (lambda answer: None, "None"),
    "a stub": (lambda answer: ..., "Ellipsis"),
    "words": (lambda answer: "<b>words</b>", "<b>words</b>"),
}


def spoilt(name, spoil, broken):
    """Return the functions of an explorer, spoilt while `broken` holds something."""

    def around(function):
        def wrapped(*args, **kwargs):
            answer = function(*args, **kwargs)
            return spoil(answer) if broken else answer

        return wrapped

    return [around(function) for function in GOOD[name]]


@pytest.mark.parametrize("kind", BAD)
def test_a_function_that_fails_is_told_and_the_picture_greyed(name, kind, make):
    spoil, said = BAD[kind]
    broken = []
    explorer = make(name, *spoilt(name, spoil, broken))
    assert repr(explorer) == START[name]
    broken.append("from here on")
    if name == "block":  # its runs are kept: a new one is due
        explorer.set(nudge=0.3)
    explorer.set(**MOVED[name])
    assert explorer.readout.startswith("Not drawn, so the picture is grey: ")
    assert said in explorer.readout
    grey = pixels(explorer)
    assert (grey.max(axis=2) == grey.min(axis=2)).all()
    assert grey.max() < 220
    assert grey.std() > 3  # still the old picture, faintly
    shown = explorer.children[3].value
    assert "<b>" not in shown
    assert 'role="status"' in shown
    broken.clear()
    explorer.set(**explorer._start)
    assert repr(explorer) == START[name]
    assert pixels(explorer).max() == 255


def test_a_function_that_never_worked(name, make):
    explorer = make(name, *[lambda *args, **kwargs: [][1]] * len(GOOD[name]))
    explorer.set(**MOVED[name])
    assert "IndexError: list index out of range" in explorer.readout
    assert explorer._repr_mimebundle_()[0]["text/plain"] == repr(explorer)


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
    assert not re.search(r"[-−]0\.0+\b(?![1-9])", explorer.readout)


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
            for arg in args[: 2 if name in ("if_unit", "stack") else 1]:
                if isinstance(arg, np.ndarray):
                    arg[...] = 7
            return answer

        return wrapped

    explorer = make(name, *map(rudely, GOOD[name]))
    assert repr(explorer) == START[name]
    explorer.set(**MOVED[name])
    explorer.set(**explorer._start)
    assert repr(explorer) == START[name]


def test_it_is_the_readers_function_that_is_drawn(make):
    explorer = make("if_unit", lambda pattern, evidence: 0.25)
    assert "fires 0.25, adds 0.25 × [+1.00, +0.50]" in explorer.readout
    explorer = make("bank", lambda x, W1, W2: x @ W1 @ W2)
    assert "fires [+1.40, −0.60, −0.20]" in explorer.readout
    explorer = make("collapse", np.abs)
    explorer.set(slope=0.0)
    assert "folded" in explorer.readout
    explorer = make("hull", np.exp)
    explorer.set(scores=(2, 2, 2))
    assert "OUTSIDE" in explorer.readout
    explorer = make("stack", lambda z, storeys, rule: np.ones(len(storeys) + 1))
    assert "Adding: size 1.00" in explorer.readout
    explorer = make("drift", lambda X: X)
    explorer.set(norm="post_norm")
    assert "107.9" in explorer.readout
    explorer = make("block", lambda X, attn, ffn, ln_1, ln_2, mask: X)
    assert "The 0, cat 0, chased 0, the 0, mouse 1.00" in explorer.readout


# One widget, one redraw, nothing left over.


def test_one_move_is_one_redraw(make):
    calls = []

    def fires(pattern, evidence):
        calls.append(1)
        return lab_block.fires(pattern, evidence)

    explorer = make("if_unit", fires)
    for move in (
        lambda: explorer.set(evidence=(0.1, 0.2), pattern=(0.3, 0.4)),
        lambda: explorer.set(unit=2),
        lambda: setattr(explorer._controls["evidence"][1], "value", 0.7),
        lambda: setattr(explorer._controls["pattern"][0], "value", 0.7),
        lambda: setattr(explorer._controls["unit"][0], "value", 3),
        lambda: explorer.children[0].children[1].click(),
    ):
        calls.clear()
        move()
        assert len(calls) == 1


def test_looks_the_same_after_another_has_been_moved(name, explorer, make):
    before = pixels(explorer)
    other = NAMES[NAMES.index(name) - 1]
    rival = make(other)
    explorer.set(**MOVED[name])
    rival.set(**MOVED[other])
    explorer.set(**explorer._start)
    assert np.array_equal(pixels(explorer), before)


def living():
    return len(widgets.widget._instances)


def test_running_the_cell_again_leaves_one_widget(name):
    first = getattr(explorers, name)()
    one = living()
    second = getattr(explorers, name)()
    assert living() == one
    assert first.comm is None
    for _ in range(5):
        second = getattr(explorers, name)()
    assert living() == one
    second.set(**MOVED[name])
    assert "Not drawn" not in second.readout
    second.close()
    assert not plt.get_fignums()


def test_two_in_one_cell_live_side_by_side(monkeypatch):
    class Shell:
        run = 1

        def get_parent(self):
            return {
                "metadata": {"cellId": "a"},
                "header": {"msg_id": f"run {self.run}"},
            }

    shell = Shell()
    monkeypatch.setattr(live, "get_ipython", lambda: shell)
    before = living()
    for shell.run in (1, 2):
        pair = [explorers.hull(), explorers.hull()]
        assert all(one.comm is not None for one in pair)
    for one in pair:
        one.close()
    assert living() == before


# What is left where no kernel runs.


def test_a_still_picture_and_words_stand_in(name, explorer):
    explorer.set(**MOVED[name])
    data, metadata = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == repr(explorer)
    assert "\n" not in data["text/plain"]
    png = data["image/png"]
    png = base64.b64decode(png) if isinstance(png, str) else png
    still = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)
    shown = metadata["image/png"]
    assert still.shape[:2] == (2 * shown["height"], 2 * shown["width"])
    assert shown["alt"] == repr(explorer)
    live_picture = pixels(explorer)
    height = len(live_picture)
    assert (np.abs(still[:height] - live_picture) <= 1).all()
    assert (still[height:] < 128).mean() > 0.01  # the readout, and how to move it
