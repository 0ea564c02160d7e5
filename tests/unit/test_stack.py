"""Hold stack.py to plain loops, finite differences, PyTorch, and the documents."""

import json
import re
from fractions import Fraction
from pathlib import Path

import loops
import numpy as np
import pytest

from labsupport.stack import RULES, run_stack, size, slope_back, timid_storeys

pytestmark = pytest.mark.filterwarnings("error")

HERE = Path(__file__).parent
REFERENCE = json.loads((HERE / "reference" / "reference.json").read_text())["stack"]
N, D, DEPTH = 3, 5, 4


def near(got, wanted, tol=1e-12):
    assert np.shape(got) == np.shape(wanted)
    np.testing.assert_allclose(got, wanted, rtol=tol, atol=tol)


@pytest.fixture(params=RULES)
def rule(request):
    return request.param


@pytest.fixture
def small():
    rng = np.random.default_rng(3)
    return rng.normal(size=(N, D)), timid_storeys(rng, DEPTH, D)


@pytest.fixture
def documents():
    """The set-up that reproduces the documents' figures (U11, U15)."""
    rng = np.random.default_rng(42)
    return rng.normal(size=(10, 32)), timid_storeys(rng)


def test_there_are_four_rules():
    assert list(RULES) == ["replace", "add", "post_norm", "pre_norm"]


# Sizes.


def test_sizes_equal_plain_loops(rule, small):
    z, storeys = small
    wanted = loops.run_stack(z.tolist(), storeys.tolist(), rule)
    got = run_stack(z, storeys, rule)
    near(got, wanted)
    near(run_stack(z.tolist(), storeys.tolist(), rule), got)
    near(run_stack(np.stack([z, z]), list(storeys), rule), got)
    near(run_stack(z, storeys[:0], rule), wanted[:1])


def test_sizes_equal_pytorch(rule):
    z, storeys = REFERENCE["z"], REFERENCE["storeys"]
    near(run_stack(z, storeys, rule), REFERENCE["sizes"][rule])


def test_sizes_by_hand():
    double = 2 * np.eye(2)
    near(run_stack([3, -3], [double, double], "replace"), [3, 6, 12])
    near(run_stack([3, -3], [double, double], "add"), [3, 9, 27])
    near(run_stack([3, -3], [double], "post_norm"), [3, 1], tol=1e-6)
    near(run_stack([3, -3], [double], "pre_norm"), [3, 5], tol=1e-6)


def test_the_documents_sizes(documents):
    ends = {rule: run_stack(*documents, rule)[-1] for rule in RULES}
    assert f"{ends['replace']:.6f}" == "0.000135"
    assert f"{ends['add']:.1f}" == "107.9"
    assert f"{ends['pre_norm']:.2f}" == "3.57"
    tidied = run_stack(*documents, "post_norm")[1:]
    assert {f"{each:.2f}" for each in tidied} == {"1.00"}


def test_a_dud_storey(documents):
    z, storeys = documents
    storeys[7] = 0
    replaced = run_stack(z, storeys, "replace")
    assert (replaced[:8] > 0).all()
    assert (replaced[8:] == 0).all()
    assert (slope_back(storeys, "replace")[:8] == 0).all()
    added = run_stack(z, storeys, "add")
    assert added[8] == added[7]
    assert added[-1] > 10
    assert slope_back(storeys, "add")[0] > 10


def test_size_by_hand():
    near(size([3, 4]), np.sqrt(12.5))
    near(size([[1, -7], [1, 7]]), 5)
    near(size(-2), 2)
    near(size([Fraction(1, 2)]), 0.5)
    assert type(size(np.float32([3, 4]))) is float


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_size_neither_overflows_nor_vanishes(dtype):
    limits = np.finfo(dtype)
    for each in (limits.max, limits.tiny):
        near(size(np.array([each, -each]) / dtype(2)) / float(each), 0.5, tol=1e-6)
    near(run_stack([dtype(1)], [[[dtype(1e-25)]]], "replace")[1] * 1e25, 1, tol=1e-6)
    assert size(np.zeros(3, dtype)) == 0


# Slopes.


def test_slopes_equal_finite_differences(rule, small):
    z, storeys = small
    wanted = loops.slope_back(storeys.tolist(), rule, z.tolist())
    near(slope_back(storeys, rule, z), wanted, tol=1e-7)
    assert len({round(each, 3) for each in wanted}) == DEPTH


def test_slopes_equal_pytorchs_derivatives(rule):
    z, storeys = REFERENCE["z"], REFERENCE["storeys"]
    near(slope_back(storeys, rule, z), REFERENCE["slopes"][rule], tol=1e-11)


def test_slopes_by_hand():
    double = 2 * np.eye(3)
    near(slope_back([double] * 3, "replace"), [8, 4, 2])
    near(slope_back([double] * 3, "add"), [27, 9, 3])
    near(slope_back(np.zeros((2, 3, 3)), "pre_norm", [1, 2, 4]), [1, 1])
    # One direction of three is lost whole: root of (1 + 1 + 4) / 3.
    near(slope_back([np.diag([1, -1, 2])], "replace"), [np.sqrt(2)])
    near(slope_back([np.diag([1, -1, 0])], "replace"), [np.sqrt(2 / 3)])
    assert slope_back(np.zeros((0, 3, 3)), "add").shape == (0,)


def test_slopes_go_back_through_the_storeys_in_order():
    """Two storeys that do not commute: first turn, then keep one direction only."""
    turn, keep = np.array([[0, 1.0], [0, 0]]), np.array([[0, 0], [0, 1.0]])
    near(slope_back([turn, keep], "replace"), np.sqrt([0.5, 0.5]))
    near(slope_back([keep, turn], "replace"), [0, np.sqrt(0.5)])


def test_without_a_norm_the_slope_is_the_same_everywhere(small):
    z, storeys = small
    for rule in ("replace", "add"):
        near(slope_back(storeys, rule, z), slope_back(storeys, rule), tol=0)


def test_slopes_average_over_all_rows(rule, small):
    z, storeys = small
    squares = [slope_back(storeys, rule, row) ** 2 for row in z]
    wanted = np.sqrt(np.mean(squares, axis=0))
    near(slope_back(storeys, rule, z), wanted)
    near(slope_back(storeys, rule, z.reshape(N, 1, D)), wanted)
    near(slope_back(storeys.tolist(), rule, z.tolist()), wanted)


def test_the_documents_slopes(documents):
    z, storeys = documents
    at_the_bottom = {rule: slope_back(storeys, rule, z)[0] for rule in RULES}
    assert at_the_bottom["replace"] < 0.001
    for rule in ("add", "post_norm", "pre_norm"):
        assert at_the_bottom[rule] > 1
    assert (slope_back(storeys, "add") > 1).all()


# Storeys.


def test_storeys_are_drawn_one_after_the_other():
    got = timid_storeys(np.random.default_rng(42))
    rng = np.random.default_rng(42)
    near(got, [rng.normal(size=(32, 32)) * 0.7 / np.sqrt(32) for _ in range(24)])


def test_a_storey_passes_on_its_gain():
    rng = np.random.default_rng(0)
    for gain in (0.7, -0.7, Fraction(7, 10), np.float32(0.7)):
        storeys = timid_storeys(rng, n_storeys=3, d_model=150, gain=gain)
        assert storeys.shape == (3, 150, 150)
        assert storeys.dtype == np.float64
        ratio = size(rng.normal(size=(50, 150)) @ storeys[0])
        assert abs(ratio - 0.7) < 0.05
    assert timid_storeys(rng, 0, 4).shape == (0, 4, 4)
    assert (timid_storeys(rng, 2, 4, gain=0) == 0).all()


# Types, and what is left alone.


def test_float32_is_taken_as_it_comes(rule, small):
    z, storeys = small
    halved = z.astype(np.float32), storeys.astype(np.float32)
    near(run_stack(*halved, rule), run_stack(z, storeys, rule), tol=1e-5)
    wanted = slope_back(storeys, rule, z)
    near(slope_back(halved[1], rule, halved[0]), wanted, tol=1e-5)


def test_nothing_is_changed(rule, small):
    z, storeys = small
    before = z.copy(), storeys.copy()
    for array in (z, storeys):
        array.setflags(write=False)
    sizes, slopes = run_stack(z, storeys, rule), slope_back(storeys, rule, z)
    for got in (sizes, slopes):
        assert got.flags.writeable
        assert not np.shares_memory(got, z)
    near(z, before[0], tol=0)
    near(storeys, before[1], tol=0)
    near(run_stack(np.asfortranarray(z), storeys[::-1][::-1], rule), sizes)


# What does not fit.

EYES = np.stack([np.eye(4)] * 2)
RNG = np.random.default_rng(0)


def both(z, storeys, rule="pre_norm"):
    """Both functions say the same about the same misfit."""
    calls = (lambda: run_stack(z, storeys, rule), lambda: slope_back(storeys, rule, z))
    said = []
    for call in calls:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            call()
        said.append(str(caught.value))
    assert said[0] == said[1]
    raise ValueError(said[0])


REFUSED = [
    (lambda: both([1, 2, 3], EYES), "z has shape (3,); it needs (..., 4): d is 4 in"),
    (lambda: both(np.ones((0, 4)), EYES), "z has shape (0, 4); it needs at least one"),
    (lambda: both(["a"], EYES), "z must hold real numbers, not text"),
    (lambda: both(np.ones(4), EYES[:, :3]), "storeys has shape (2, 3, 4); it needs"),
    (lambda: both(np.ones(4), [[1], [1, 2]]), "storeys must hold real numbers, not"),
    (lambda: both(np.ones(4), EYES, "norm"), "rule is 'norm'; it must be one of rep"),
    (lambda: both(np.ones(4), EYES, ["add"]), "rule is ['add']; it must be one of"),
    (lambda: slope_back(EYES, "pre_norm"), "z is None; the rule 'pre_norm' needs"),
    (lambda: slope_back(EYES[0], "add"), "storeys has shape (4, 4); it needs (n_st"),
    (lambda: size([]), "z has shape (0,); it needs at least one number"),
    (lambda: timid_storeys(42), "rng is 42; it must come from np.random.default_rng"),
    (lambda: timid_storeys(RNG, -1), "n_storeys is -1; it must be a whole number"),
    (lambda: timid_storeys(RNG, 2, 0), "d_model is 0; it must be a whole number"),
    (lambda: timid_storeys(RNG, gain=np.nan), "gain is nan; it must be one finite"),
    (lambda: timid_storeys(RNG, gain=1j), "gain must hold real numbers, not complex"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_cannot_be_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match="^" + re.escape(words)):
        call()
