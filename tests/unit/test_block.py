"""Hold block.py to plain loops, to sums done by hand, and to PyTorch's own modules.

Every size differs from every other, so that a wrong axis or a transposed matrix
cannot hide, and every test runs with warnings as errors.
"""

import ast
import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import loops
import numpy as np
import pytest

import labsupport.block as lab

pytestmark = pytest.mark.filterwarnings("error")

HERE = Path(__file__).parent
REFERENCE = json.loads((HERE / "reference" / "reference.json").read_text("utf-8"))
N, M, D, H, D_K, D_V, D_FF = 5, 8, 4, 3, 2, 6, 7


def draw(*shape, seed=0):
    """Two decimals, so that the same numbers make short Fractions and floats."""
    return np.random.default_rng([seed, *shape]).normal(size=shape).round(2)


def near(got, wanted, tol=1e-12):
    assert np.shape(got) == np.shape(wanted)
    np.testing.assert_allclose(got, wanted, rtol=tol, atol=tol)


def block_of_ten(X, *ten, mask=None):
    """The block with its ten arrays in a row, so that it is tested like the rest."""
    return lab.block(X, ten[:4], ten[4:6], ten[6:8], ten[8:], mask)


def loops_of_ten(X, *ten, mask=None):
    return loops.block(X, ten[:4], ten[4:6], ten[6:8], ten[8:], mask)


ATTN = {
    "W_Q": draw(H, D, D_K),
    "W_K": draw(H, D, D_K, seed=1),
    "W_V": draw(H, D, D_V),
    "W_O": draw(H * D_V, D),
}
ONE_HEAD = {name: ATTN[name][0] for name in ("W_Q", "W_K", "W_V")}
FFN = {"W1": draw(D, D_FF), "W2": draw(D_FF, D)}
NORM = {"gamma": draw(D, seed=2), "beta": draw(D, seed=3)}
NORMS = {f"{k}_{i}": v + i for i in (1, 2) for k, v in NORM.items()}
X = draw(N, D)
CAUSAL = np.array([[key <= query for key in range(N)] for query in range(N)])

# Name: the function, the same in loops, its arrays in order, how many of them may
# have batch axes.
CASES = {
    "relu": (lab.relu, loops.relu, {"x": X}, 1),
    "fires": (lab.fires, loops.fires, {"pattern": draw(D), "evidence": X}, 0),
    "feed_forward": (lab.feed_forward, loops.feed_forward, {"x": X, **FFN}, 1),
    "softmax": (lab.softmax, loops.softmax, {"scores": draw(N, M)}, 1),
    "attention_weights": (
        lab.attention_weights,
        loops.attention_weights,
        {"Q": draw(N, D_K), "K": draw(M, D_K)},
        2,
    ),
    "head": (lab.head, loops.head, {"X": X, **ONE_HEAD}, 1),
    "multi_head_attention": (
        lab.multi_head_attention,
        loops.multi_head_attention,
        {"X": X, **ATTN},
        1,
    ),
    "layer_norm": (lab.layer_norm, loops.layer_norm, {"X": X, **NORM}, 1),
    "block": (block_of_ten, loops_of_ten, {"X": X, **ATTN, **FFN, **NORMS}, 1),
}
MASKED = ("head", "multi_head_attention", "block")


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def as_lists(arrays):
    return [array.tolist() for array in arrays]


# The same as plain loops.


def test_equals_plain_loops(case):
    function, in_loops, arrays, _ = case
    near(function(*arrays.values()), in_loops(*as_lists(arrays.values())))


@pytest.mark.parametrize("name", MASKED)
def test_equals_plain_loops_under_a_mask(name):
    function, in_loops, arrays, _ = CASES[name]
    mask = CAUSAL | (draw(N, N) > 0.8)
    assert (mask != CAUSAL).any()
    lists = as_lists(arrays.values())
    wanted = in_loops(*lists, mask=mask.tolist())
    near(function(*arrays.values(), mask=mask), wanted)
    near(function(*arrays.values(), mask=mask.tolist()), wanted)
    assert np.abs(np.subtract(wanted, in_loops(*lists))).max() > 0.01


def test_attention_weights_equal_plain_loops_under_an_oblong_mask():
    Q, K = CASES["attention_weights"][2].values()
    mask = draw(N, M) > -0.3
    wanted = loops.attention_weights(Q.tolist(), K.tolist(), mask.tolist())
    got = lab.attention_weights(Q, K, mask)
    near(got, wanted)
    assert (got[~mask] == 0).all()


@pytest.mark.parametrize("lead", [(1,), (2, 3), (0,)])
def test_any_leading_batch_axes(case, lead):
    function, in_loops, arrays, n_batched = case
    one = function(*arrays.values()).shape
    arrays = dict(arrays)
    batched = list(arrays)[:n_batched] or ["evidence"]
    for name in batched:
        arrays[name] = draw(*lead, *arrays[name].shape, seed=4)
    got = function(*arrays.values())
    assert got.shape == (*lead, *one)
    for at in np.ndindex(*lead):
        single = [a[at] if name in batched else a for name, a in arrays.items()]
        near(got[at], in_loops(*as_lists(single)))


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("mask_lead", [(), (3,), (2, 3), (2, 1), (1, 1)])
def test_a_mask_may_have_the_batch_axes(name, mask_lead):
    function, in_loops, arrays, _ = CASES[name]
    X, *weights = arrays.values()
    X = draw(2, 3, *X.shape)
    mask = CAUSAL | (draw(*mask_lead, N, N) > 0.5)
    got = function(X, *weights, mask=mask)
    for at in np.ndindex(2, 3):
        its_mask = np.broadcast_to(mask, (2, 3, N, N))[at]
        near(got[at], in_loops(*as_lists([X[at], *weights]), mask=its_mask.tolist()))


def test_queries_and_keys_broadcast_their_batch_axes():
    Q, K = draw(2, 1, N, D_K), draw(3, M, D_K)
    got = lab.attention_weights(Q, K)
    assert got.shape == (2, 3, N, M)
    for i, j in np.ndindex(2, 3):
        near(got[i, j], loops.attention_weights(Q[i, 0].tolist(), K[j].tolist()))


def test_one_row_or_one_number_is_enough_where_no_neighbour_is_read():
    for function in (lab.relu, lab.layer_norm, lab.softmax):
        near(function(X[0]), function(X)[0])
    near(lab.feed_forward(X[0], **FFN), lab.feed_forward(X, **FFN)[0])
    assert lab.fires([1, -1], [0.8, -0.6]).shape == ()
    assert lab.relu(-3).shape == ()
    near([lab.relu(-3), lab.relu(3)], [0, 3])


# The same as PyTorch.


@pytest.mark.parametrize("eps", ["1e-05", "0.1"])
def test_layer_norm_equals_pytorch(eps):
    ref = REFERENCE["layer_norm"]
    got = lab.layer_norm(ref["X"], ref["gamma"], ref["beta"], float(eps))
    near(got, ref["by_eps"][eps])


@pytest.mark.parametrize("mask", ["none", "causal", "batched"])
def test_heads_equal_pytorch(mask):
    ref = REFERENCE["attention"]
    seen, weights = ref["masks"][mask], [ref[name] for name in ("W_Q", "W_K", "W_V")]
    for h in range(len(ref["W_Q"])):
        got = lab.head(ref["X"], *(W[h] for W in weights), seen)
        near(got, np.array(ref["heads"][mask])[:, h])
    got = lab.multi_head_attention(ref["X"], *weights, ref["W_O"], seen)
    near(got, ref["out"][mask])


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_multi_head_attention_equals_pytorchs_module(mask):
    ref = REFERENCE["multi_head"]
    weights = [ref[name] for name in ("W_Q", "W_K", "W_V", "W_O")]
    seen = None if mask == "none" else lab.causal_mask(np.shape(ref["X"])[1])
    near(lab.multi_head_attention(ref["X"], *weights, seen), ref["out"][mask])


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_block_equals_pytorchs_pre_norm_layer(mask):
    ref = REFERENCE["block"]
    groups = [ref[name] for name in ("attn", "ffn", "ln_1", "ln_2")]
    seen = None if mask == "none" else lab.causal_mask(np.shape(ref["X"])[1])
    near(lab.block(ref["X"], *groups, seen), ref["out"][mask])


# Types, and what is left alone.


def test_float64_and_float32_stay(case):
    function, _, arrays, _ = case
    wanted = function(*arrays.values())
    got = function(*(a.astype(np.float32) for a in arrays.values()))
    assert (wanted.dtype, got.dtype) == (np.float64, np.float32)
    near(got, wanted, tol=2e-4)


def test_one_float32_row_stays_float32():
    one = np.float32([1, -2])
    assert lab.relu(one[0]).dtype == np.float32
    assert lab.fires(one, one).dtype == np.float32


MADE = {
    "list": lambda a: a.tolist(),
    "whole list": lambda a: a.astype(int).tolist(),
    "int8": lambda a: a.astype(np.int8),
    "float16": lambda a: a.astype(np.float16),
    "other byte order": lambda a: a.astype(">f8"),
    "fractions": np.vectorize(Fraction, otypes=[object]),
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "turned": lambda a: np.asfortranarray(a)[::-1][::-1],
}


@pytest.mark.parametrize("kind", MADE)
def test_numbers_of_every_kind_give_the_same(case, kind):
    function, _, arrays, _ = case
    whole = [np.rint(3 * a) for a in arrays.values()]
    made = [MADE[kind](a) for a in whole]
    for a in made:
        if isinstance(a, np.ndarray):
            a.setflags(write=False)
    got = function(*made)
    assert got.dtype == (np.float32 if kind == "float16" else np.float64)
    near(got, function(*whole), tol=1e-4 if kind == "float16" else 1e-12)


def test_a_list_beside_a_float32_array_takes_float32(case):
    function, _, arrays, _ = case
    for name in arrays:
        mixed = [
            a.astype(np.float32) if other == name else a.tolist()
            for other, a in arrays.items()
        ]
        assert function(*mixed).dtype == np.float32, name


def test_what_is_no_real_number_is_refused_by_name(case):
    function, _, arrays, _ = case
    for name in arrays:
        called = rf"{name[:5].rstrip('_12')}\w* " if function is block_of_ten else name
        for bad in ([[1j, 2.0]], "words", None, [[1.0], [1.0, 2.0]]):
            given = [bad if other == name else a for other, a in arrays.items()]
            with pytest.raises(
                ValueError, match=rf"^{called}\b.*must hold real numbers"
            ):
                function(*given)


def test_nothing_is_changed_and_no_memory_is_shared(case):
    function, _, arrays, _ = case
    given = {name: a.copy() for name, a in arrays.items()}
    got = function(*given.values())
    assert got.flags.writeable
    for name, a in given.items():
        assert not np.shares_memory(got, a), name
        near(a, arrays[name], tol=0)


@pytest.mark.parametrize("name", ["relu", "fires", "layer_norm", "softmax"])
def test_nothing_is_handed_through_when_nothing_changes(name):
    """A row that already is the answer comes back as a copy of itself."""
    function = getattr(lab, name)
    row = np.array([[0.0]]) if name == "layer_norm" else np.array([[1.0]])
    got = function(row[0], row) if name == "fires" else function(row)
    assert got == row
    assert not np.shares_memory(got, row)


def test_a_bend_that_writes_into_its_matches_changes_no_input():
    given = [X.copy(), FFN["W1"].copy(), FFN["W2"].copy()]
    near(
        lab.feed_forward(*given, bend=lambda m: np.maximum(m, 0, out=m)),
        lab.feed_forward(X, **FFN),
    )
    for a, before in zip(given, (X, *FFN.values()), strict=True):
        near(a, before, tol=0)


# By hand: units and banks.


def test_one_unit_by_hand():
    evidence = [[0.8, -0.6], [-0.8, 0.6], [0.5, 0.5]]
    near(lab.fires([1, -1], evidence), [1.4, 0, 0])
    near(lab.relu([-2, -0.0, 3]), [0, 0, 3])


def test_three_units_by_hand():
    W1 = [[1, 0, -1], [-1, 1, -1]]
    W2 = [[1, 0.5], [-0.5, 1], [0.5, -1]]
    near(lab.feed_forward([0.8, -0.6], W1, W2), [1.4, 0.7])
    # Without the bend 1.4, -0.6 and -0.2 all count.
    unbent = lab.feed_forward([0.8, -0.6], W1, W2, bend=lambda match: match)
    near(unbent, [1.4 + 0.3 - 0.1, 0.7 - 0.6 + 0.2])


def test_the_bend_is_the_readers_own():
    seen = []

    def step(matches):
        seen.append(matches)
        return matches > 0

    for dtype in (np.float64, np.float32):
        x, W1, W2 = (a.astype(dtype) for a in (X, *FFN.values()))
        got = lab.feed_forward(x, W1, W2, bend=step)
        near(seen[-1], x @ W1, tol=1e-6)
        near(got, (x @ W1 > 0) @ FFN["W2"], tol=1e-6)
        assert got.dtype == dtype
        as_list = lab.feed_forward(x, W1, W2, bend=lambda m: lab.relu(m).tolist())
        near(as_list, lab.feed_forward(x, W1, W2), tol=0)
        assert as_list.dtype == dtype


def test_a_bank_with_no_units_adds_nothing():
    near(lab.feed_forward(X, np.ones((D, 0)), np.ones((0, D))), np.zeros((N, D)))


# By hand: softmax and attention.


def test_softmax_by_hand():
    eighths = [[1, 2, 5], [2, 2, 4]]
    near(lab.softmax(np.log(eighths)), np.divide(eighths, 8))
    near(lab.softmax([7.0]), [1])
    near(lab.softmax([0, -np.inf, 0]), [0.5, 0, 0.5])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_of_extreme_scores(dtype):
    small = loops.softmax([[0.0, 1.0, 2.0]])[0]
    tol = 1e-6 if dtype == np.float32 else 1e-12
    for far in (1000, -1000):
        near(lab.softmax(np.array([far, far + 1, far + 2], dtype)), small, tol)
    top = np.finfo(dtype).max
    tiny = np.finfo(dtype).smallest_subnormal
    for scores, wanted in (
        ([top, -top], [1, 0]),
        ([top, top], [0.5, 0.5]),
        ([-top, -top, -np.inf], [0.5, 0.5, 0]),
        ([tiny, 0], [0.5, 0.5]),
        ([0, -800], [1, 0]),
    ):
        with np.errstate(all="raise", under="ignore"):
            got = lab.softmax(np.array(scores, dtype))
        near(got, wanted, tol)
        assert got.dtype == dtype
    near(lab.softmax([1e308, -1e308]), [1, 0])


def test_softmax_rows_are_positive_and_sum_to_one():
    got = lab.softmax(50 * draw(2, N, M))
    assert (got > 0).all()
    near(got.sum(axis=-1), np.ones((2, N)))


def test_causal_mask_by_hand():
    assert lab.causal_mask(3).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]
    assert lab.causal_mask(np.int64(1)).tolist() == [[True]]
    assert lab.causal_mask(0).shape == (0, 0)
    assert lab.causal_mask(2).dtype == bool


def test_attention_weights_by_hand():
    """Scores 4 and 0 over √4: e² to 1. Without the root it would be e⁴."""
    Q, K = [[2.0, 0, 0, 0]], [[2.0, 5, 0, 0], [0, 1, 0, 0]]
    e2 = np.exp(2.0)
    near(lab.attention_weights(Q, K), [[e2 / (e2 + 1), 1 / (e2 + 1)]])


def test_a_masked_key_may_hold_anything_finite():
    Q, K = draw(N, D_K), draw(M, D_K)
    mask = np.ones((N, M), bool)
    mask[:, 0] = False
    far = K.copy()
    far[0] = 1e308
    near(lab.attention_weights(Q, far, mask), lab.attention_weights(Q, K, mask), tol=0)


def test_the_causal_mask_hides_what_comes_after():
    weights = CASES["multi_head_attention"][2]
    before = lab.multi_head_attention(**weights, mask=lab.causal_mask(N))
    later = X.copy()
    later[-1] += 5
    after = lab.multi_head_attention(**weights | {"X": later}, mask=lab.causal_mask(N))
    near(after[:-1], before[:-1], tol=0)
    assert np.abs(after[-1] - before[-1]).max() > 0.1


def test_heads_stand_side_by_side_in_their_order():
    """Two heads that each copy one column of X: W_O then says which went where."""
    X = np.array([[1.0, 2, 3], [1, 2, 3]])
    pick = np.zeros((2, 3, 1))
    pick[0, 0], pick[1, 2] = 1, 1
    zeros = np.zeros_like(pick)
    W_O = np.array([[10.0, 0, 0], [0, 100, 0]])
    got = lab.multi_head_attention(X, zeros, zeros, pick, W_O)
    near(got, [[10, 300, 0]] * 2)


# By hand: layer norm.

NO_EPS = np.array([-3, -1, 1, 3]) / 5**0.5  # [1, 2, 3, 4], with eps at nothing
UNIT = np.array([-1.34163542, -0.44721181, 0.44721181, 1.34163542])


def test_layer_norm_by_hand():
    near(lab.layer_norm([1, 2, 3, 4]), UNIT, tol=1e-8)
    tiny = [-0.4472136, -0.1490712, 0.1490712, 0.4472136]
    near(lab.layer_norm([0.001, 0.002, 0.003, 0.004]), tiny, tol=1e-7)
    near(lab.layer_norm([[1, 3], [5, -5]], eps=0), [[-1, 1], [1, -1]])
    near(lab.layer_norm([1, 3], [2, 10], [0.5, -1], eps=0), [-1.5, 9])
    near(lab.layer_norm([1, 3], 2.0, 0.5, eps=3.0), [-0.5, 1.5])


def test_layer_norm_of_a_row_far_from_zero():
    for far in (1e6, 1e7):  # at 1e7 float32 holds no halves, so no exact mean either
        row = np.float32(far) + np.arange(4, dtype=np.float32)
        near(lab.layer_norm(row), UNIT, tol=1e-6)
    near(lab.layer_norm(1e12 + np.arange(4.0)), UNIT, tol=1e-8)
    half = lab.layer_norm(np.float16([60000, -60000, 60000, -60000]))
    near(half, [1, -1, 1, -1], tol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0, 0.1, 1 / 3, -7.7, 1e6 + 0.1, 1e30])
def test_a_constant_row_gives_exactly_beta(dtype, value):
    for d in (1, 2, 3, 10, 33):
        beta = draw(d).astype(dtype)
        got = lab.layer_norm(np.full((2, d), value, dtype), 3.0, beta)
        assert got.dtype == dtype
        assert (got == beta).all()


@pytest.mark.parametrize("size", [1e-40, 1e-20, 1e10, 1e30, 3e38])
def test_layer_norm_of_float32_rows_of_any_size(size):
    row = (np.array([1, 2, 3, 4]) * (size / 4)).astype(np.float32)
    near(lab.layer_norm(row, eps=0), NO_EPS, tol=1e-5 if size > 1e-39 else 1e-3)
    if size >= 1e10:
        assert lab.layer_norm(row).dtype == np.float32
        near(lab.layer_norm(row), NO_EPS, tol=1e-6)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1.7e308])
def test_layer_norm_of_float64_rows_of_any_size(size):
    near(lab.layer_norm(np.array([1, 2, 3, 4]) * (size / 4), eps=0), NO_EPS, tol=1e-9)
    assert (lab.layer_norm(np.full(3, size)) == 0).all()


@pytest.mark.parametrize("column", range(6))
@pytest.mark.parametrize("outlier", [1e2, 1e3, 1e4, 1e6])
def test_layer_norm_is_accurate_beside_an_outlier(column, outlier):
    for dtype, tol in ((np.float32, 2e-7), (np.float64, 2e-15)):
        rows = draw(20, 6).astype(dtype)
        rows[:, column] = outlier
        near(lab.layer_norm(rows), loops.layer_norm(rows.tolist()), tol=tol)


def test_a_tiny_eps_is_not_called_nothing():
    assert (lab.layer_norm(np.float32([[3, 3]]), eps=1e-50) == 0).all()


def test_layer_norm_reads_no_other_row():
    all_rows = draw(10, 32)
    alone = lab.layer_norm(all_rows[-1:])
    assert (lab.layer_norm(all_rows)[-1:] == alone).all()


def test_a_numpy_eps_does_not_widen_float32():
    row = np.float32([1, 2, 4])
    for eps in (np.float64(1e-5), np.float32(1e-5), Fraction(1, 10**5)):
        assert lab.layer_norm(row, eps=eps).dtype == np.float32
    assert lab.layer_norm(row, np.float64(2)).dtype == np.float64


# By hand: the block.


def test_a_block_of_zero_weights_returns_its_input_exactly():
    params = lab.init_block(D, 2, np.random.default_rng(0))
    attn, ffn = ([np.zeros_like(W) for W in group] for group in params[:2])
    for given in (X, X + 100, draw(2, 3, N, D)):
        got = lab.block(given, attn, ffn, *params[2:])
        near(got, given, tol=0)
        assert not np.shares_memory(got, given)


def test_a_block_adds_to_what_it_was_given_not_to_the_tidied_copy():
    """Layer norm does not see a shift, so the block hands it on as it came."""
    params = lab.init_block(D, 2, np.random.default_rng(0))
    near(lab.block(X + 100, *params), lab.block(X, *params) + 100, tol=1e-9)


def test_each_norm_reaches_only_its_own_sublayer():
    params = lab.init_block(D, 2, np.random.default_rng(0))
    silent, flat = np.zeros(D), (np.zeros(D), np.zeros(D))
    near(lab.block(X, *params[:2], flat, flat), X, tol=0)
    only_thought = lab.block(X, *params[:2], flat, params.ln_2)
    near(only_thought, X + lab.feed_forward(lab.layer_norm(X), *params.ffn))
    only_gathered = lab.block(X, *params[:2], params.ln_1, (silent, silent))
    tidy = lab.layer_norm(X)
    near(only_gathered, X + lab.multi_head_attention(tidy, *params.attn))


def test_shuffled_words_give_shuffled_rows():
    params = lab.init_block(D, 2, np.random.default_rng(0))
    order = [3, 0, 4, 1, 2]
    near(lab.block(X[order], *params), lab.block(X, *params)[order])


@pytest.mark.parametrize(("d", "h", "d_ff"), [(6, 3, None), (6, 1, 7), (1, 1, 1)])
def test_init_block_fits_block(d, h, d_ff):
    params = lab.init_block(d, h, np.random.default_rng(1), d_ff)
    wide = d_ff or 4 * d
    shapes = [[W.shape for W in group] for group in params]
    assert shapes == [
        [(h, d, d // h)] * 3 + [(d, d)],
        [(d, wide), (wide, d)],
        [(d,), (d,)],
        [(d,), (d,)],
    ]
    assert params._fields == ("attn", "ffn", "ln_1", "ln_2")
    rows = draw(N, d)
    assert lab.block(rows, *params, mask=lab.causal_mask(N)).shape == (N, d)
    for gamma, beta in (params.ln_1, params.ln_2):
        near(gamma, np.ones(d), tol=0)
        near(beta, np.zeros(d), tol=0)
    assert not np.shares_memory(params.ln_1[0], params.ln_2[0])


def test_init_block_draws_from_its_generator_alone():
    def weights(seed):
        params = lab.init_block(D, 2, np.random.default_rng(seed))
        return np.concatenate([W.ravel() for group in params[:2] for W in group])

    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    assert (weights(3) == weights(3)).all()
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002
    assert (weights(3) != weights(4)).all()
    assert len(set(weights(3))) == weights(3).size


def test_init_block_keeps_the_size_of_what_it_multiplies():
    params = lab.init_block(64, 4, np.random.default_rng(5))
    for W in (*params.attn, *params.ffn):
        assert abs(W.std() * np.sqrt(W.shape[-2]) - 1) < 0.05


def test_count_parameters_by_hand():
    nine = lab.init_block(9, 3, np.random.default_rng(0))
    assert lab.count_parameters(nine) == {
        "attention": 324,
        "feed_forward": 648,
        "layer_norm": 36,
        "total": 1008,
    }
    oblong = ([ATTN[k] for k in ATTN], list(FFN.values()), (1.0, 0.0), NORM.values())
    assert lab.count_parameters(oblong) == {
        "attention": 2 * H * D * D_K + 2 * H * D * D_V,
        "feed_forward": 2 * D * D_FF,
        "layer_norm": 2 + 2 * D,
        "total": 2 * H * D * (D_K + D_V) + 2 * D * D_FF + 2 + 2 * D,
    }
    assert {type(count) for count in lab.count_parameters(nine).values()} == {int}


# What does not fit: the argument, what it was, what it needed.

RNG = np.random.default_rng(0)
GROUPS = (tuple(ATTN.values()), tuple(FFN.values()), (1.0, 0.0), (1.0, 0.0))
inf, nan = np.inf, np.nan


# The axes that nothing else of the call shares: words, units of softmax, d_v.
FREE = {
    "relu": [("x", 0), ("x", 1)],
    "fires": [("evidence", 0)],
    "feed_forward": [("x", 0)],
    "softmax": [("scores", 0), ("scores", 1)],
    "attention_weights": [("Q", 0), ("K", 0)],
    "head": [("X", 0), ("W_V", 1)],
    "multi_head_attention": [("X", 0)],
    "layer_norm": [("X", 0)],
    "block": [("X", 0)],
}
SAID = r"^\w+( in \w+)? has shape \(.*\); it needs \("


@pytest.mark.parametrize("name", CASES)
def test_each_axis_is_held_to_its_size(name):
    function, _, arrays, n_batched = CASES[name]
    for place, (argument, array) in enumerate(arrays.items()):
        for axis in range(array.ndim):
            longer = np.concatenate([array, array], axis=axis)
            given = [longer if n == argument else a for n, a in arrays.items()]
            if (argument, axis) in FREE[name]:
                function(*given)
                continue
            with pytest.raises(ValueError, match=SAID):
                function(*given)
        if place >= n_batched and argument != "evidence":
            given = [array[None] if n == argument else a for n, a in arrays.items()]
            with pytest.raises(ValueError, match=SAID):
                function(*given)


REFUSED = [
    (lambda: bank(bend=None), "bend is None; it must be a function"),
    (lambda: bank(bend=lambda m: 1), "bend's result has shape (); it needs (5, 7)"),
    (lambda: bank(bend=lambda m: m + 0j), "bend's result must hold real numbers"),
    (lambda: lab.softmax([[0, nan]]), "scores holds nan at (0, 1); every score"),
    (lambda: lab.softmax([0, 1, inf]), "scores holds inf at 2; every score"),
    (
        lambda: lab.softmax([[0, 1], [-inf, -inf]]),
        "scores has nothing to read in row",
    ),
    (lambda: lab.softmax([]), "scores has shape (0,); it needs (..., n) with n at"),
    (lambda: lab.layer_norm([]), "X has shape (0,); it needs (..., d) with d at"),
    (lambda: lab.attention_weights(X, X[:0]), "K has shape (0, 4); it needs (..., m,"),
    (lambda: lab.attention_weights(X[:, :0], X), "Q has shape (5, 0); it needs (..."),
    (
        lambda: lab.attention_weights(np.ones((2, N, D)), np.ones((3, N, D))),
        "K has shape (3, 5, 4); it needs (2, m, 4)",
    ),
    (lambda: mha(W_Q=ATTN["W_Q"][:0]), "W_Q has shape (0, 4, 2); it needs (h, 4, d_k"),
    (lambda: lab.attention_weights([[1e200]], [[1e200]]), "scores holds inf at (0, 0)"),
    (lambda: lab.causal_mask(-1), "n is -1; it must be a whole number, at least 0"),
    (lambda: lab.causal_mask(2.0), "n is 2.0; it must be a whole number"),
    (lambda: lab.causal_mask(True), "n is True; it must be a whole number"),
    (lambda: lab.layer_norm(X, eps=-1e-9), "eps is -1e-09; it must be one finite"),
    (lambda: lab.layer_norm(X, eps=nan), "eps is nan; it must be one finite number"),
    (lambda: lab.layer_norm(X, eps=[1e-5]), "eps is"),
    (lambda: lab.layer_norm(X, eps=None), "eps must hold real numbers, not None"),
    (lambda: lab.layer_norm([[1, 2], [3, 3]], eps=0), "eps is 0 and X has no"),
    (
        lambda: lab.layer_norm(X, (NORM["gamma"], NORM["beta"])),
        "gamma has shape (2, 4)",
    ),
    (lambda: whole(attn=GROUPS[0][:3]), "attn holds 3 items; it needs 4: W_Q, W_K"),
    (lambda: whole(ffn=np.array(3.0)), "ffn holds 0 items; it needs 2: W1, W2"),
    (lambda: whole(ln_1=(1.0,)), "ln_1 holds 1 item; it needs 2: gamma, beta"),
    (lambda: whole(ln_2=(np.zeros((N, 1)), 0.0)), "gamma in ln_2 has shape (5, 1)"),
    (lambda: mha(X=CAUSAL), "W_Q has shape (3, 4, 2); it needs (h, 5, d_k)"),
    (lambda: lab.init_block(8, 3, RNG), "n_heads is 3; it must divide d_model, 8"),
    (lambda: lab.init_block(0, 1, RNG), "d_model is 0; it must be a whole number"),
    (lambda: lab.init_block(8, 2, RNG, 0), "d_ff is 0; it must be a whole number"),
    (lambda: lab.init_block(8, 2, 42), "rng is 42; it must come from np.random."),
    (lambda: lab.count_parameters(GROUPS[:3]), "params holds 3 items; it needs 4"),
    (lambda: lab.count_parameters((1, *GROUPS[1:])), "attn holds 0 items; it needs 4"),
]


def mha(**changed):
    return lab.multi_head_attention(**{"X": X, **ATTN, **changed})


def one_head(**changed):
    return lab.head(**{"X": X, **ONE_HEAD, **changed})


def bank(**changed):
    return lab.feed_forward(**{"x": X, **FFN, **changed})


def whole(**changed):
    groups = dict(zip(("attn", "ffn", "ln_1", "ln_2"), GROUPS, strict=True))
    return lab.block(**{"X": X, **groups, **changed})


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_cannot_be_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match="^" + re.escape(words)):
        call()


@pytest.mark.parametrize("call", [one_head, mha, whole])
@pytest.mark.parametrize(
    ("mask", "had", "needed"),
    [
        (np.ones((N, N + 1), bool), "(5, 6)", "(5, 5)"),
        (np.ones((N, 1), bool), "(5, 1)", "(5, 5)"),
        (np.ones((1, N), bool), "(1, 5)", "(5, 5)"),
        (np.ones(N, bool), "(5,)", "(5, 5)"),
        (True, "()", "(5, 5)"),
        (np.ones((2, N, N), bool), "(2, 5, 5)", "(5, 5)"),
        (np.tri(N), "float64", "booleans"),
        (np.tri(N, dtype=int), "int", "booleans"),
        ("causal", "text", "booleans"),
        ([[True], [True, False]], "rows of different lengths", ""),
        (CAUSAL & (np.arange(N) > 0)[:, None], "row 0", "at least one"),
        (CAUSAL & (np.arange(N) != 3)[:, None], "row 3", "at least one"),
    ],
    ids=lambda value: f"{value}"[:12] if isinstance(value, str) else None,
)
def test_a_mask_that_does_not_fit_is_named(call, mask, had, needed):
    with pytest.raises(ValueError, match=r"^mask\b") as caught:
        call(mask=mask)
    assert had in str(caught.value)
    assert needed in str(caught.value)


def test_a_batch_mask_that_does_not_fit_is_named():
    masks = np.ones((3, N, N), bool)
    with pytest.raises(ValueError, match=r"^mask has shape \(3, 5, 5\).*\(2, 5, 5\)"):
        mha(X=draw(2, N, D), mask=masks)
    masks[1, 2] = False
    with pytest.raises(ValueError, match=r"^mask lets row \(1, 2\) read nothing"):
        mha(X=draw(3, N, D), mask=masks)


# What importing costs, and who imports whom.


def fresh(code):
    """Run code in an interpreter of its own; return what it prints, as JSON."""
    run = [sys.executable, "-c", f"import json, sys\n{code}"]
    return json.loads(subprocess.check_output(run, text=True))


def test_importing_the_maths_imports_numpy_and_nothing_else():
    new = fresh(
        "import numpy; before = set(sys.modules); import labsupport.stack\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    roots = {name.partition(".")[0] for name in new} - sys.stdlib_module_names
    assert roots == {"labsupport"}
    ours = {name for name in new if name.startswith("labsupport")}
    rooms = ("block", "shapes", "stack")
    assert ours == {"labsupport", *(f"labsupport.{room}" for room in rooms)}


def test_importing_the_package_imports_nothing():
    new = fresh(
        "before = set(sys.modules); import labsupport\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    assert new == ["labsupport"]


MATHS = {"shapes", "block", "stack", "examples"}
MAY_IMPORT = {
    "__init__": set(),
    "shapes": set(),
    "examples": set(),
    "block": {"shapes"},
    "stack": {"block", "shapes"},
    "look": MATHS,
    "figures": {"look", *MATHS},
    "controls": {"shapes"},
    "live": {"controls", "look"},
    "explorers": {"controls", "live", "look", *MATHS},
    "checks": {"checks", *MATHS},
    "real": {"look", *MATHS},
    "collect": {"checks"},
    "editions": set(),
}


def lab_modules_imported(source):
    """The names of the lab's own modules that a file imports, at any depth."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = "labsupport." * bool(node.level) + (node.module or "")
            found |= {f"{base}.{alias.name}".replace("..", ".") for alias in node.names}
    parts = [name.split(".") for name in found if f"{name}.".startswith("labsupport.")]
    return {part[1] for part in parts if len(part) > 1}


def test_imports_run_one_way():
    home = Path(lab.__file__).parent
    for path in home.rglob("*.py"):
        room = path.relative_to(home).parts[0].removesuffix(".py")
        imported = lab_modules_imported(path.read_text(encoding="utf-8"))
        assert imported <= MAY_IMPORT[room], path.name


def test_the_test_of_imports_sees_every_form():
    for form in (
        "import labsupport.live",
        "def f():\n    from labsupport import live",
        "from labsupport.live import Explorer",
        "from . import live",
        "from .live import Explorer",
        "import labsupport.live as l",
    ):
        assert lab_modules_imported(form) == {"live"}, form
