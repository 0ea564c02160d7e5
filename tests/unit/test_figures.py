"""The still pictures: drawn from the right numbers, labelled, and readable by all."""

import io
from functools import cache
from itertools import combinations, pairwise
from unittest import mock

import matplotlib.image
import numpy as np
import pytest
from matplotlib import _pylab_helpers
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from labsupport import figures, look
from labsupport.examples import CHASED_READS, EVIDENCES, PATTERN, W1, W2, WORDS

rng = np.random.default_rng(7)
x, W1_full, W2_full = (rng.normal(size=s) for s in ((10, 32), (32, 128), (128, 32)))
curves = {rule: np.geomspace(0.5, end, 25) for rule, end in zip(
    ("replace", "add", "post_norm", "pre_norm"), (1e-4, 100, 2, 7), strict=True
)}  # fmt: skip
along = np.linspace(-1, 1, 201)
straight = np.column_stack([along, 0.5 * along])
folded = np.column_stack([along, np.abs(along - 0.305)])
values = np.array([[-0.6, -0.5], [1.2, -0.3], [0.1, 1.1]])
answers = rng.dirichlet([1, 1, 1], 40) @ values
after = 1.4 * answers + np.array([0.3, 0.3])
cases, wanted = ["neither", "cat only", "chased only", "both"], [0, 0, 0, 1]
linear, banked = [-0.25, 0.25, 0.25, 0.75], [0.0, 0.0, 0.0, 0.9]
sharper = CHASED_READS**3 / (CHASED_READS**3).sum()
distances = np.array([[0, 1, 0, 0, 0], [0, 1.5, 0.2, 1e-17, 0.75]])


def bent(z):
    return [max(number, 0.0) for number in z]


# Each picture as a notebook draws it: the call, the titles, and the labels of x and y.
PICTURES = {
    "bend": (
        lambda: figures.bend(lambda z: np.where(np.asarray(z) > 0, z, 0), [1.4, -1.4]),
        ["The bend (ReLU)"],
        [("match: pattern · evidence", "the unit fires")],
    ),
    "plane": (
        lambda: figures.plane(PATTERN, EVIDENCES),
        ["Where one unit fires"],
        [("first number", "second number")],
    ),
    "bank_by_hand": (
        lambda: figures.bank_by_hand(EVIDENCES[0], W1, W2),
        ["evidence", "@ W1", "= matches", "after the bend", "@ W2", "= added"],
        [("", "")] * 6,
    ),
    "bank": (
        lambda: figures.bank(x, W1_full, W2_full),
        [
            "evidence   10 × 32",
            "matches: @ W1   10 × 128",
            "after the bend: who fires   10 × 128",
            "added: @ W2   10 × 32",
        ],
        [("", "words")] * 4,
    ),
    "third_fact": (
        lambda: figures.third_fact(cases, wanted, linear, banked),
        ["Does “mouse” follow?"],
        [("what is known", "conclusion")],
    ),
    "folded_line": (
        lambda: figures.folded_line(straight, folded),
        ["Without the bend", "With the bend"],
        [("first number", "second number")] * 2,
    ),
    "region": (
        lambda: figures.region(values, answers, after),
        ["A head stays inside"],
        [("first number", "second number")],
    ),
    "by_storey": (
        lambda: figures.by_storey(curves, "Size by storey", "size (log axis)"),
        ["Size by storey"],
        [("storey", "size (log axis)")],
    ),
    "shares": (
        lambda: figures.shares(WORDS, {"as it was": CHASED_READS, "times 3": sharper}),
        ["What “chased” reads"],
        [("word", "share of what is read")],
    ),
    "block_parts": (
        lambda: figures.block_parts((5, 9)),
        ["The block: the norms stand on the branches, never on the stream"],
        [("", "")],
    ),
    "moved": (
        lambda: figures.moved(WORDS, distances),
        ["How far each row moved"],
        [("word", "after block")],
    ),
}
every_picture = pytest.mark.parametrize("name", PICTURES)


@cache
def picture(name):
    figure = PICTURES[name][0]()
    pixels(figure)  # the layout is made at the first drawing
    return figure


def panels(name):
    return [ax for ax in picture(name).axes if ax.get_label() != "<colorbar>"]


def line_of(name, label, panel=0):
    found = [li for li in panels(name)[panel].lines if li.get_label() == label]
    return np.transpose([line.get_data() for line in found], (0, 2, 1))


def legend_of(name):
    legends = [*picture(name).legends, *(ax.get_legend() for ax in panels(name))]
    return [text.get_text() for legend in legends if legend for text in legend.texts]


def texts_of(figure):
    """Return each text that is seen, and its box in CSS pixels."""
    seen = []
    draw = Text.draw

    def noting(text, renderer):
        draw(text, renderer)
        if text.get_visible() and text.get_text():
            seen.append(text)

    with mock.patch.object(Text, "draw", noting):
        pixels(figure)
    to_css = look.CSS_DPI / figure.dpi
    return [(text, text.get_window_extent().extents * to_css) for text in seen]


def pixels(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba()).copy()


def test_every_picture_is_tested():
    made = {n for n, f in vars(figures).items() if getattr(f, "__wrapped__", None)}
    assert made == set(PICTURES)


@every_picture
def test_titles_and_labels(name):
    _, titles, labels = PICTURES[name]
    drawn = [ax.get_title(loc) for ax in panels(name) for loc in ("left", "center")]
    assert [title for title in drawn if title] == titles
    assert [(ax.get_xlabel(), ax.get_ylabel()) for ax in panels(name)] == labels


@every_picture
def test_text_is_as_large_as_the_notebook_s(name):
    sizes = {t.get_text(): t.get_size() for t, _ in texts_of(picture(name))}
    assert sizes
    assert min(sizes.values()) * look.CSS_DPI / 72 >= 14, sizes
    # What is raised in a formula is smaller than its text, and a formula's machinery
    # takes five megabytes.
    assert not [text for text in sizes if "$" in text]


@every_picture
def test_no_text_is_cut_off_or_on_another(name):
    width, height = picture(name).get_size_inches() * look.CSS_DPI
    texts = texts_of(picture(name))
    for text, (left, low, right, high) in texts:
        within = left >= 0 and low >= 0 and right <= width and high <= height
        assert within, text
    for (one, a), (other, b) in combinations(texts, 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] + 1 or b[3] <= a[1] + 1
        assert apart, f"{one} {other}"


@every_picture
def test_no_text_or_legend_lies_on_a_mark(name):
    figure = picture(name)
    to_css = look.CSS_DPI / figure.dpi
    boxes = [box for _, box in texts_of(figure)]
    legends = [ax.get_legend() for ax in panels(name) if ax.get_legend()]
    boxes += [le.get_window_extent().extents * to_css for le in legends]
    for ax in panels(name):
        for line in ax.lines:
            points = ax.transData.transform(line.get_xydata()) * to_css
            for left, low, right, high in boxes:
                inside = (points > [left, low]) & (points < [right, high])
                assert not inside.all(axis=1).any(), line.get_label()


@every_picture
def test_all_that_is_drawn_is_seen(name):
    """Hiding any one thing changes the picture: none is blank, covered or outside."""
    figure = PICTURES[name][0]()
    figure.set_dpi(50)
    pixels(figure)
    figure.set_layout_engine("none")
    whole = pixels(figure)
    for ax in (ax for ax in figure.axes if ax.get_label() != "<colorbar>"):
        # Not what has no size to be seen: no corner in a line, a share of nothing.
        things = [line for line in ax.lines if len(line.get_xydata())]
        things += [p for p in ax.patches if p.get_extents().height > 1]
        for thing in (*things, *ax.images, *ax.collections, *ax.texts):
            thing.set_visible(False)
            assert (pixels(figure) != whole).any(), thing
            thing.set_visible(True)


@every_picture
def test_shows_itself_once_with_its_words(name):
    figure = picture(name)
    width, height = figure.get_size_inches()
    assert (width, max(height, 6)) == (7.2, 6)
    published = []
    with mock.patch.object(look, "display", lambda *a, **k: published.append((a, k))):
        figure._ipython_display_()
    ((data,), options) = published[0]
    shown = options["metadata"]
    assert len(published) == 1
    assert set(data) == {"image/png", "text/plain"}
    assert data["text/plain"] == repr(figure) == figure.words
    assert figure.words.startswith("Figure: ")
    css = (round(width * 100), round(height * 100))
    alt = {"width": css[0], "height": css[1], "alt": figure.words}
    assert shown == {"image/png": alt}
    assert figure.bundle() == (data, shown)  # and the same once more
    png = matplotlib.image.imread(io.BytesIO(data["image/png"]), format="png")
    assert png.shape[:2] == (2 * css[1], 2 * css[0])
    assert np.ptp(png[..., :3]) > 0.8
    assert _pylab_helpers.Gcf.figs == {}


def test_bend():
    assert line_of("bend", "the matches").tolist() == [[[1.4, 1.4], [-1.4, 0.0]]]
    ((low, *_, high),) = line_of("bend", "after the bend").tolist()
    assert (low, high) == ([-2, 0], [2, 2])
    notes = {text.get_text(): text.xy for text in panels("bend")[0].texts}
    assert list(notes) == ["+1.4 → 1.4", "−1.4 → 0.0"]
    assert legend_of("bend") == ["after the bend", "the matches"]
    assert repr(picture("bend")) == (
        "Figure: the bend takes the matches +1.4 to 1.4, -1.4 to 0.0"
    )


def test_the_bend_that_is_drawn_and_named_is_the_one_given():
    figure = figures.bend(lambda z: 3 * np.asarray(z), [0.5])
    (axes,) = figure.axes
    assert axes.lines[0].get_ydata()[[0, -1]].tolist() == [-6, 6]
    assert axes.get_ylim()[0] < -6
    assert axes.get_ylim()[1] > 6
    assert "ReLU" in axes.get_title("left")
    assert axes.get_title("left") != "The bend (ReLU)"
    assert figure.words == "Figure: the bend takes the matches +0.5 to 1.5"


def test_a_match_that_is_zero_but_for_rounding_has_no_minus_sign():
    figure = figures.bend(np.asarray, [-1e-17])
    assert figure.words.endswith("+0.0 to 0.0")
    figure = figures.plane([1, -1], [[0.3, 0.3 + 1e-16]])
    assert [text.get_text() for text in figure.axes[0].texts] == ["match +0.0"]


def test_plane():
    tips = [tip for _, tip in line_of("plane", "evidence").tolist()]
    assert tips == EVIDENCES.tolist()
    assert line_of("plane", "pattern").tolist() == [[[0, 0], PATTERN.tolist()]]
    notes = {text.get_text(): list(text.xy) for text in panels("plane")[0].texts}
    names = ["match +1.4", "match −1.4", "match +0.0"]
    assert notes == dict(zip(names, EVIDENCES.tolist(), strict=True))
    assert legend_of("plane") == ["fires here", "pattern", "evidence"]
    assert repr(picture("plane")) == "Figure: 1 of 3 evidences on the firing side"


def test_the_plane_is_shaded_where_the_unit_that_is_given_fires():
    figure = figures.plane(PATTERN, EVIDENCES, fires=lambda p, e: abs(p @ e))
    assert figure.words == "Figure: 2 of 3 evidences on the firing side"
    ((own,), (usual,)) = (f.axes[0].patches for f in (figure, picture("plane")))
    for at in np.random.default_rng(1).uniform((-2, -1.5), (2, 1.5), (200, 2)):
        assert own.get_path().contains_point(at)
        assert usual.get_path().contains_point(at) == (at[0] > at[1])


def cells(axes):
    (image,) = axes.images
    return np.ma.filled(image.get_array(), 0.0)  # zero is masked: it is left white


def numbers_in(axes, shape):
    said = {text.get_position(): text.get_text() for text in axes.texts}
    rows, columns = map(range, shape)
    return [[said.pop((c, r)).replace("−", "-") for c in columns] for r in rows], said


@pytest.mark.parametrize("as_lists", [False, True])
def test_bank_by_hand(as_lists):
    given = EVIDENCES[0], W1, W2
    if as_lists:
        given = tuple(array.tolist() for array in given)
    figure = figures.bank_by_hand(*given)
    wanted = [
        [["0.8", "-0.6"]],
        [["1.0", "0.0", "-1.0"], ["-1.0", "1.0", "-1.0"]],
        [["1.4", "-0.6", "-0.2"]],
        [["1.4", "0.0", "0.0"]],
        [["1.0", "0.5"], ["-0.5", "1.0"], ["0.5", "-1.0"]],
        [["1.4", "0.7"]],
    ]
    for axes, numbers in zip(figure.axes, wanted, strict=True):
        written, more = numbers_in(axes, np.shape(numbers))
        assert (written, more) == (numbers, {})
        assert np.allclose(cells(axes), np.array(numbers, float))
    assert figure.words == "Figure: units that fire: 1 of 3, adding [1.4, 0.7]"
    assert figure.get_suptitle() == "A bank, number by number"


def test_bank_by_hand_takes_the_bend_it_is_given():
    figure = figures.bank_by_hand(EVIDENCES[0], W1, W2, bend=lambda z: -z)
    assert figure.words == "Figure: units that fire: 2 of 3, adding [-1.6, -0.3]"
    assert np.allclose(cells(figure.axes[3]), [[-1.4, 0.6, 0.2]])


def test_bank():
    def row_by_row(W, rows):
        return [[sum(r * c for r, c in zip(row, column, strict=True)) for column in W.T]
                for row in rows]  # fmt: skip

    matches = row_by_row(W1_full, x)
    fired = [bent(row) for row in matches]
    wanted = [x, matches, fired, row_by_row(W2_full, np.array(fired))]
    for axes, numbers in zip(panels("bank"), wanted, strict=True):
        assert np.allclose(cells(axes), numbers)
        assert axes.images[0].get_clim() == panels("bank")[0].images[0].get_clim()
    biggest = max(np.abs(numbers).max() for numbers in wanted)
    assert panels("bank")[0].images[0].get_clim() == pytest.approx((-biggest, biggest))
    count = sum(number > 0 for row in fired for number in row)
    assert repr(picture("bank")) == f"Figure: of 1280 matches, {count} fire"
    assert picture("bank").axes[-1].get_ylabel() == "value"
    assert picture("bank").get_supxlabel() == "numbers, one a column"


def test_third_fact():
    (axes,) = panels("third_fact")
    levels = [segment[0, 1] for segment in axes.collections[0].get_segments()]
    assert levels == wanted
    for label, heights in {"best linear map": linear, "one small bank": banked}.items():
        (points,) = line_of("third_fact", label)
        assert points[:, 1].tolist() == heights
        assert points[:, 0].round().tolist() == [0, 1, 2, 3]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == cases
    assert legend_of("third_fact") == ["wanted", "best linear map", "one small bank"]
    assert repr(picture("third_fact")) == (
        "Figure: the best linear map misses by up to 0.25, the bank by 0.10"
    )


def test_folded_line():
    for panel, line in enumerate((straight, folded)):
        (drawn,) = line_of("folded_line", "the line", panel)
        assert np.array_equal(drawn, line)
        (ends,) = line_of("folded_line", "its ends", panel)
        assert np.array_equal(ends, line[[0, -1]])
    assert line_of("folded_line", "a corner", 0).size == 0
    ((corner,),) = line_of("folded_line", "a corner", 1)
    assert np.abs(corner - [0.305, 0]).max() < 0.02
    assert legend_of("folded_line") == ["the line", "its ends", "a corner"]
    assert repr(picture("folded_line")) == (
        "Figure: the line has 0 corners without the bend, 1 with it"
    )


def test_a_corner_is_no_rounding_error():
    noise = np.random.default_rng(3).normal(scale=1e-13, size=straight.shape)
    zigzag = np.column_stack([along, np.abs(np.abs(along) - 0.5)])
    figure = figures.folded_line(straight + noise, zigzag + noise)
    assert figure.words.endswith("0 corners without the bend, 3 with it")


def test_region():
    assert np.array_equal(line_of("region", "values"), [values])
    assert np.array_equal(line_of("region", "a head's answers"), [answers])
    assert np.array_equal(line_of("region", "after a bank"), [after])
    (area,) = panels("region")[0].patches
    assert np.array_equal(area.get_xy()[:3], values)
    names = ["the values' region", "after a bank", "a head's answers", "values"]
    assert legend_of("region") == names
    said = "Figure: 40 answers of a head, and of a bank after it"
    assert repr(picture("region")) == said


def test_by_storey():
    names = {
        "replace": "replaced",
        "add": "added",
        "post_norm": "added, then tidied (post-norm)",
        "pre_norm": "a tidied copy read, then added (pre-norm)",
    }
    for rule, name in names.items():
        (points,) = line_of("by_storey", name)
        assert points[:, 0].tolist() == list(range(25))
        assert np.array_equal(points[:, 1], curves[rule])
    (axes,) = panels("by_storey")
    assert axes.get_yscale() == "log"
    assert legend_of("by_storey") == list(names.values())
    said = repr(picture("by_storey"))
    assert said.startswith("Figure: Size by storey: replaced from 0.5 to 0.0001; added")
    assert said.endswith("(pre-norm) from 0.5 to 7")


def test_by_storey_on_a_plain_axis_from_a_storey_of_ones_choice():
    figure = figures.by_storey(
        {"add": [2, 3, 4]}, "T", "y", xlabel="depth", log=False, start=1
    )
    (axes,) = figure.axes
    assert axes.get_yscale() == "linear"
    assert axes.get_xlabel() == "depth"
    assert axes.lines[0].get_xydata().tolist() == [[1, 2], [2, 3], [3, 4]]
    assert figure.words == "Figure: T: added from 2 to 4"


def test_shares():
    (axes,) = panels("shares")
    was, now = axes.containers[:2]
    assert [bar.get_height() for bar in was] == CHASED_READS.tolist()
    assert [bar.get_height() for bar in now] == sharper.tolist()
    pairs = list(zip(was, now, strict=True))
    middles = [(a.get_x() + b.get_x() + b.get_width()) / 2 for a, b in pairs]
    assert np.allclose(middles, range(5))
    assert all(a.get_x() < b.get_x() for a, b in pairs)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == list(WORDS)
    said = [text.get_text() for text in axes.texts]
    first, second = ["0.06", "0.18", "0.12", "0.04", "0.60"], sharper
    assert said == first + [f"{share:.2f}" for share in second]
    assert legend_of("shares") == ["as it was", "times 3"]
    assert repr(picture("shares")) == (
        "Figure: what chased reads most. as it was: mouse 0.60; times 3: mouse 0.96"
    )


def test_shares_takes_one_row_or_two_and_no_third_goes_missing():
    one = figures.shares(WORDS, {"as it was": CHASED_READS})
    assert np.allclose([b.get_x() + b.get_width() / 2 for b in one.axes[0].patches],
                       range(5))  # fmt: skip
    with pytest.raises(ValueError, match="shorter"):
        figures.shares(WORDS, dict.fromkeys("abc", CHASED_READS))


def test_block_parts():
    (axes,) = panels("block_parts")
    at = {}
    for text in axes.texts:
        at.setdefault(text.get_text(), []).append(text.get_position())
    norms, attention, feed = (
        at[f"{name}"]
        for name in ("layer norm\ntidy", "attention\ngather", "feed-forward\nthink")
    )
    order = [norms[0], attention[0], at["add"][0], norms[1], feed[0], at["add"][1]]
    assert all(before[0] < behind[0] for before, behind in pairwise(order))
    # Pre-norm: the boxes stand above the stream, which nothing but "+" interrupts.
    assert {y > 0 for name, places in at.items() if "\n" in name for _, y in places}
    stream = [a for a in axes.texts if a.get_text() == "" and a.xy == (9.6, 0)]
    assert [a.get_position() for a in stream] == [(0, 0)]
    crosses = [
        line.get_xydata().tolist() for line in axes.lines if line.get_marker() == "+"
    ]
    assert crosses == [[[x, 0]] for x, _ in at["add"]]
    assert at["in (5, 9)"][0][0] < norms[0][0]
    assert at["out (5, 9)"][0][0] > at["add"][1][0]
    assert repr(picture("block_parts")) == (
        "Figure: (5, 9) in; layer norm, attention, add; layer norm, feed-forward, add; "
        "(5, 9) out"
    )


def test_moved():
    (axes,) = panels("moved")
    assert np.allclose(cells(axes), distances, atol=1e-12)
    written, more = numbers_in(axes, distances.shape)
    assert written == [
        ["0.00", "1.00", "0.00", "0.00", "0.00"],
        ["0.00", "1.50", "0.20", "0.00", "0.75"],
    ]
    assert not more
    assert [tick.get_text() for tick in axes.get_xticklabels()] == list(WORDS)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["0", "1"]
    assert picture("moved").axes[-1].get_ylabel() == "distance"
    assert picture("moved").axes[-1].get_ylim()[0] == 0
    # What moved by a rounding error has not moved.
    assert repr(picture("moved")) == "Figure: at the last depth 3 of 5 rows moved"
