"""The one look: the same whatever the reader has set, and its numbers said briefly."""

import ast
import base64
import gc
import logging
import math
import os
import subprocess
import sys
import time
import weakref
from itertools import combinations, pairwise
from pathlib import Path
from unittest import mock

import matplotlib
import nbformat
import numpy as np
import pytest
from matplotlib.colors import to_hex
from nbclient import NotebookClient

from labsupport import figures, look

# Whatever the reader has set.

HOSTILE = {
    "font.size": 22,
    "image.origin": "lower",
    "figure.autolayout": True,
    "figure.dpi": 50,
    "savefig.dpi": 50,
    "savefig.transparent": True,
    "savefig.bbox": "tight",
    "text.usetex": True,
    "axes.prop_cycle": matplotlib.cycler(color=["red", "lime"]),
    "axes.unicode_minus": False,
    "path.sketch": (1, 100, 2),
    "timezone": "Asia/Tokyo",
    "svg.fonttype": "none",
}


def drawn():
    return figures.moved(["one", "two"], [[0.0, 1.0], [0.5, 1.25]])


def png(figure):
    return figure.bundle()[0]["image/png"]


@pytest.fixture
def hostile():
    with matplotlib.rc_context():
        matplotlib.style.use("dark_background")
        matplotlib.rcParams.update(HOSTILE)
        with np.errstate(all="raise"):
            yield


@pytest.fixture(scope="module")
def calm():
    return png(drawn())


def test_the_settings_before_drawing_change_no_byte(calm, hostile):
    assert png(drawn()) == calm


def test_the_settings_between_drawing_and_showing_change_no_byte(calm, request):
    figure = drawn()
    request.getfixturevalue("hostile")
    assert png(figure) == calm
    assert png(figure) == calm  # and shown again


def test_a_picture_that_is_saved_has_the_look_too(tmp_path, request):
    figure = drawn()
    figure.savefig(tmp_path / "calm.png", dpi=100)
    request.getfixturevalue("hostile")
    figure.savefig(tmp_path / "hostile.png", dpi=100)
    one, other = ((tmp_path / f"{n}.png").read_bytes() for n in ("calm", "hostile"))
    assert one == other


def test_the_reader_s_own_settings_come_back(hostile):
    before = dict(matplotlib.rcParams)
    png(drawn())
    assert dict(matplotlib.rcParams) == before


SET = (
    "import matplotlib, matplotlib.pyplot as plt\n"
    "plt.style.use('dark_background')\n"
    f"plt.rcParams.update({ {k: v for k, v in HOSTILE.items() if 'cycle' not in k} })"
)
SHOW = "figures.plane([1, -1], [[0.8, -0.6]])"


def run(*cells):
    """Return the outputs of each cell, run in one kernel."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    NotebookClient(notebook, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


def test_in_a_notebook_each_picture_shows_once_with_its_words_whatever_was_done():
    start = "from labsupport import figures"
    formats = "%config InlineBackend.figure_formats = ['svg', 'retina']"
    plot = "import matplotlib.pyplot as plt; plt.plot(); plt.close()"
    after = run(start, SHOW, plot, SHOW, formats, SHOW, f"f = {SHOW}", SET, "f", SHOW)
    before = run(SET, start, SHOW)
    shown = [outputs for outputs in (*after, *before) if outputs]
    assert [len(outputs) for outputs in shown] == [1] * 6
    (first, *others) = (outputs[0] for outputs in shown)
    assert first.output_type == "display_data"
    words = "Figure: 1 of 1 evidences on the firing side"
    assert first.data["text/plain"] == words
    assert first.metadata["image/png"] == {"width": 720, "height": 440, "alt": words}
    assert base64.b64decode(first.data["image/png"]).startswith(b"\x89PNG")
    assert others == [first] * 5


def test_a_first_import_is_quiet_and_the_reader_s_warnings_are_heard(tmp_path):
    code = (
        "import labsupport.figures, labsupport.look, logging\n"
        "logging.getLogger('matplotlib').warning('the reader hears this')"
    )
    no_home = str(tmp_path / "file" / "in_the_way")
    (tmp_path / "file").write_text("")
    for home in (str(tmp_path), no_home):
        places = ("HOME", "MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
        env = os.environ | dict.fromkeys(places, home)
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr == "the reader hears this\n"
    assert logging.getLogger("matplotlib").level == logging.NOTSET


def test_what_a_picture_was_drawn_on_is_let_go():
    sizes = []
    draw = look.Still.draw

    def noting(figure, renderer):
        draw(figure, renderer)
        sizes.append(weakref.ref(renderer._renderer))

    figure = drawn()
    try:
        with mock.patch.object(look.Still, "draw", noting):
            png(figure)
    except TypeError:  # a renderer in C that cannot be referred to weakly
        pytest.skip("this matplotlib's renderer cannot be watched")
    gc.collect()
    assert sizes
    assert not any(size() for size in sizes)


def test_there_is_one_way_into_the_look_and_no_pyplot():
    for module in ("look", "figures", "live", "explorers"):
        path = Path(look.__file__).with_name(f"{module}.py")
        tree = ast.parse(path.read_text("utf-8"))
        named = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        imported = {
            name
            for n in ast.walk(tree)
            if isinstance(n, ast.ImportFrom | ast.Import)
            for name in (getattr(n, "module", ""), *(alias.name for alias in n.names))
        }
        assert not any("pyplot" in str(name) for name in imported)
        assert module == "look" or not named & {"rc_context", "style"}


# Where a unit fires.


def axes_of(across=2.0, up=1.5):
    axes = look.new_figure().subplots()
    look.plane(axes, "", across, up)
    return axes


def loop(p, e):
    return max(p[0] * e[0] + p[1] * e[1], 0.0)


UNITS = {
    "relu": (lambda p, e: np.maximum(p @ e, 0), lambda m: m > 0, 0),
    "a loop for one evidence": (
        lambda p, e: max(float(loop(p, e)), 0),
        lambda m: m > 0,
        0,
    ),
    "both sides": (lambda p, e: np.abs(p @ e), lambda m: m != 0, 1e-6),
    "a threshold": (lambda p, e: np.maximum(p @ e - 0.5, 0), lambda m: m > 0.5, 0),
    "a band": (
        lambda p, e: np.maximum(0.5 - np.abs(p @ e), 0),
        lambda m: abs(m) < 0.5,
        0,
    ),
    "a step": (lambda p, e: np.where(p @ e > 0, 1.0, 0.0), lambda m: m > 0, 0.1),
    "always": (lambda p, e: 1.0, lambda m: m == m, 0),
    "never": (lambda p, e: 0.0, lambda m: m != m, 0),
}


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize(
    "pattern", [(1, -1), (1, 0), (0, -1), (-0.3, 2), (0.01, 0.01), (0, 0)]
)
def test_the_shade_is_where_the_unit_fires(name, pattern):
    fires, wanted, blur = UNITS[name]
    length = math.hypot(*pattern) or 1.0
    path = look.where_fires(fires, pattern, axes_of())
    points = np.random.default_rng(1).uniform((-2, -1.5), (2, 1.5), (500, 2))
    matches = [a * pattern[0] + b * pattern[1] for a, b in points]
    inside = path.contains_points(points)
    for match, here in zip(matches, inside, strict=True):
        if abs(match) > blur * length:
            assert here == wanted(match)
    assert len(path.vertices) < 20 or blur


def test_what_does_not_only_see_the_match_is_drawn_as_well():
    path = look.where_fires(lambda p, e: max(1 - np.hypot(*e), 0), (1, 0), axes_of())
    assert path.contains_points([(0, 0), (0, 0.9), (-0.6, -0.6)]).all()
    assert not path.contains_points([(0, 1.1), (1.2, 0), (-0.8, -0.8)]).any()


def test_a_function_that_answers_many_falsely_is_asked_one_by_one():
    points = np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 0.5], [2.0, 0.0]])

    def largest_of_all(e):
        return np.full(len(e), e.max()) if e.ndim == 2 else e.max()

    assert look.sampled(largest_of_all, points).tolist() == [2.0, 3.0, 0.5, 2.0]


def test_a_slow_function_is_not_asked_all_over():
    calls = []

    def slow(e):
        calls.append(time.sleep(0.05))
        return float(e[0])

    assert look.sampled(slow, np.ones((500, 2))) is None
    assert len(calls) <= 5


# Cells.


def test_zero_small_and_empty_cells_are_told_apart():
    numbers = np.array([[0.0, 1e-3, -1e-3, 1.0, np.nan, 1e-17]])
    axes = look.new_figure().subplots()
    cells = look.Cells(axes, numbers, 1.0, ".1f")
    colors = [to_hex(c) for c in cells.image.to_rgba(cells.image.get_array())[0]]
    assert colors[0] == colors[5] == "#ffffff"
    assert len(set(colors)) == 5
    said = [text.get_text() for text in axes.texts]
    assert said == ["0.0", "0.0", "0.0", "1.0", "", "0.0"]
    cells.fill(-numbers)
    assert axes.texts[3].get_text() == "−1.0"


SIGHTS = {
    "as it is": lambda color: color,
    "protanopia": lambda color: color.filter("protan"),
    "deuteranopia": lambda color: color.filter("deutan"),
    "tritanopia": lambda color: color.filter("tritan"),
    "greyscale": lambda color: color.filter("grayscale"),
}
every_sight = pytest.mark.parametrize("sight", SIGHTS)
COLORS = ["BLACK", "NAVY", "RUST", "SKY"]


@pytest.fixture
def color():
    everything = pytest.importorskip(
        "coloraide.everything", reason="pip install -e '.[test]' brings coloraide"
    )
    return lambda rgb: everything.ColorAll(to_hex(rgb))


def apart(one, other):
    return one.delta_e(other, method="cam02", space="cam02-ucs")


@every_sight
def test_the_colours_are_told_apart_and_stand_out_from_the_page(color, sight):
    # Published sequences of eight colours keep about 18 in this measure; of these four,
    # black and navy come nearest, and a line style always tells them apart as well.
    seen = {name: SIGHTS[sight](color(getattr(look, name))) for name in COLORS}
    for one, other in combinations(COLORS, 2):
        assert apart(seen[one], seen[other]) >= 18, (one, other)
    for name in COLORS:
        assert seen[name].contrast(color("white"), method="wcag21") >= 3, name


@every_sight
def test_the_sign_of_a_cell_is_told_and_zero_from_a_small_number(color, sight):
    at = {t: SIGHTS[sight](color(look.CELLS(t))) for t in (0.0, 0.499, 0.501, 1.0)}
    at["zero"] = SIGHTS[sight](color("white"))
    for one, other in (
        ("zero", 0.501), ("zero", 1.0), (0.499, 0.501), (0.0, 1.0), (0.0, "zero"),
    ):  # fmt: skip
        assert apart(at[one], at[other]) >= 8, (one, other)
    negative, positive = np.linspace(0, 0.499, 9), np.linspace(0.501, 1, 9)
    darkest = min(color(look.CELLS(t)).luminance() for t in negative)
    assert darkest > max(color(look.CELLS(t)).luminance() for t in positive)
    light = [color(look.CELLS(t)).luminance() for t in positive]
    assert all(before > behind for before, behind in pairwise(light))


def test_the_number_in_a_cell_can_be_read(color):
    axes = look.new_figure().subplots()
    numbers = np.linspace(-1, 1, 41)[None]
    image = look.Cells(axes, numbers, 1.0, ".2f").image
    for text, cell in zip(axes.texts, image.to_rgba(image.get_array())[0], strict=True):
        ink = color(text.get_color())
        assert ink.contrast(color(cell), method="wcag21") >= 4.5, text.get_text()


def test_nothing_is_told_by_colour_alone():
    things = ("evidence", "pattern", "contribution"), tuple(look.NAMES)
    assert set().union(*things) == set(look.LOOK)
    for together in things:
        looks = [look.LOOK[thing] for thing in together]
        assert len({made["marker"] for made in looks}) == len(together)
        lines = {(made["color"], made["linestyle"]) for made in looks}
        assert len(lines) == len(together)


# How numbers are said.

SIZES = [m * 10.0**p for p in range(-20, 21) for m in (1, 3.456, 9.996)]
SIGNED = [0.0, -0.0, *SIZES, *(-x for x in SIZES), 1e300, -1e-300]


@pytest.mark.parametrize("x", SIGNED)
def test_numbers_can_be_pasted_and_are_short(x):
    for say in (look.plain, look.signed, *([look.size_text] if x > 0 else [])):
        said = say(x)
        assert sum(letter.isdigit() for letter in said) <= 8
        value = ast.literal_eval(said)
        assert abs(value - x) <= max(0.005, 0.05 * abs(x))
        assert not said.lstrip("+").startswith("-0.00")


@pytest.mark.parametrize("x", SIZES)
def test_a_size_has_two_significant_digits(x):
    digits = look.size_text(x).split("e")[0].replace(".", "").lstrip("0")
    assert len(digits) >= 2
    assert float(look.size_text(x)) == pytest.approx(x, rel=0.05)


def test_sizes_as_the_notebooks_quote_them():
    quoted = {
        0: "exactly 0", 1.3e-9: "1.3e-9", 0.000135: "0.000135", 0.00332: "0.00332",
        0.28: "0.28", 3.57: "3.57", 107.93: "107.9", 13171.21: "13171.2", 8e6: "8.0e6",
    }  # fmt: skip
    assert {x: look.size_text(x) for x in quoted} == quoted
    assert look.row([1.4, -0.6, -1e-9]) == "[+1.40, -0.60, +0.00]"
    assert look.row([1.4, -0.6], look.plain) == "[1.40, -0.60]"
    assert look.on_paper("-1.4") == "−1.4"
    assert [look.count(n, "storey") for n in (1, 2)] == ["1 storey", "2 storeys"]
