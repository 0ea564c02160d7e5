"""The mechanism of shapes, tried once, on functions that do nothing else."""

import inspect
import re
import traceback
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from labsupport.shapes import NotNumbers, real_array, shapes


@shapes(x="... n+ d", W="d h*k", gamma="h?")
def f(x, W, gamma=1.0, *, name="f"):
    """Return the arguments as they came through."""
    return x, W, gamma, name


@shapes(x="... d", group={"A": "d d_ff", "B": "d_ff d"})
def g(x, group):
    return x, group


X, W = np.ones((2, 3, 4)), np.ones((4, 6))
SAID = [
    (lambda: f(X[0, 0], W), "x has shape (4,); it needs (..., n, d) with n at least 1"),
    (lambda: f(X[:, :0], W), "x has shape (2, 0, 4); it needs (..., n, d) with n at"),
    (lambda: f(X, W.T), "W has shape (6, 4); it needs (4, h*k): d is 4 in x"),
    (lambda: f(X, W[None]), "W has shape (1, 4, 6); it needs (4, h*k): d is 4 in x"),
    (lambda: f(X, W, np.ones((2, 2))), "gamma has shape (2, 2); it needs (h,) or one"),
    (lambda: g(X, (W, W)), "B in group has shape (4, 6); it needs (6, 4): d_ff is 6"),
    (lambda: g(X, (W,)), "group holds 1 item; it needs 2: A, B"),
    (lambda: g(X, 3), "group holds 0 items; it needs 2: A, B"),
    (lambda: f(X, W > 0, 1), None),
    (lambda: f([[True, False]], np.ones((3, 3))), "W has shape (3, 3); it needs (2,"),
    (lambda: f(W, np.tri(3, dtype=bool)), "W has shape (3, 3); it needs (6, h*k): d"),
]


@pytest.mark.parametrize(("call", "words"), SAID)
def test_what_does_not_fit_is_named_with_what_it_had_and_needed(call, words):
    if words is None:
        call()
        return
    with pytest.raises(ValueError, match="^" + re.escape(words)) as caught:
        call()
    assert len(traceback.extract_tb(caught.tb)) <= 4  # this, the lambda, one of ours


def test_a_mask_in_another_s_place_and_a_group_handed_on_whole_are_guessed():
    with pytest.raises(ValueError, match="it holds booleans: is it the mask"):
        f(W, np.tri(3, dtype=bool))
    with pytest.raises(ValueError, match=r"unpack a group of arrays with \*"):
        f(X, W, (np.ones(3), np.ones(3)))


def test_sizes_that_fit_go_through_with_any_batch_axes():
    for lead in ((), (5,), (0,), (2, 1)):
        x, W_, gamma, name = f(np.ones((*lead, 3, 4)), W, np.ones(7), name="other")
        assert (x.shape, W_.shape) == ((*lead, 3, 4), (4, 6))
        assert (gamma.shape, name) == ((7,), "other")


@pytest.mark.parametrize(
    ("x", "W", "dtype"),
    [
        (X.astype(np.float32), W.tolist(), np.float32),
        (X.astype(np.float32), W, np.float64),
        (X.astype(np.float16), W.tolist(), np.float32),
        (X.tolist(), W.astype(int), np.float64),
        (X > 0, W.tolist(), np.float64),
        (X.astype(">f8"), W.astype(">f4"), np.float64),
        ([[Fraction(1, 3)] * 4], [[Decimal("0.5")] * 6] * 4, np.float64),
    ],
)
def test_all_arrays_of_a_call_get_one_float_type(x, W, dtype):
    for array in f(x, W)[:2]:
        assert array.dtype == dtype
        assert array.dtype.isnative


def test_a_call_again_with_other_arrays_of_the_same_kind_is_held_too():
    f(X, W)  # remembered as fitting
    assert f(X + 1, W)[0][0, 0, 0] == 2
    with pytest.raises(ValueError, match=r"^W has shape"):
        f(X[..., :3], W)


def test_the_function_keeps_its_name_its_words_and_its_signature():
    assert f.__name__ == "f"
    assert "as they came through" in f.__doc__
    assert list(inspect.signature(f).parameters) == ["x", "W", "gamma", "name"]


def test_a_call_that_lacks_an_argument_is_python_s_own_to_refuse():
    for call in (lambda: f(X), lambda: f(X, W, z=1), lambda: f(X, W, x=X)):
        with pytest.raises(TypeError, match=r"^f\(\) "):
            call()


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("1.5", "text"),
        ([["1.5", 2]], "text"),
        (b"1", "text"),
        (None, "None"),
        ([1, None], "None"),
        ([1j], "complex numbers"),
        (np.array([1 + 0j]), "complex numbers"),
        (np.ma.masked_array([1, 2], [False, True]), "an array with masked entries"),
        (map(float, [1, 2]), "a map"),
        ({1, 2}, "a set"),
        ((n for n in (1, 2)), "a generator"),
        ({"a": 1}, "a dict"),
        ([[1], [1, 2]], "rows of different lengths"),
        ([10**400], "a number too large for a float"),
        (np.array(["2020"], dtype="M8[D]"), "dates"),
        (..., "an ellipsis"),
    ],
)
def test_one_gate_says_what_is_no_number(value, what):
    with pytest.raises(NotNumbers, match=r"^answer must hold real numbers") as caught:
        real_array("answer", value)
    assert caught.value.what == what
    listable = what in ("a map", "a set", "a generator")
    assert ("make a list of it" in str(caught.value)) == listable


def test_numbers_come_through_as_they_are():
    for given in (np.arange(3), np.float32([1]), np.array([True]), X):
        assert real_array("x", given) is given
    assert real_array("x", [Fraction(1, 2)]).tolist() == [0.5]
    assert real_array("x", np.ma.masked_array([1, 2])).tolist() == [1, 2]
