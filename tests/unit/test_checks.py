"""The checks, tried with answers of every kind: right, wrong, not started, hostile."""

import _thread
import ast
import contextlib
import dataclasses
import io
import itertools
import re
import signal
import sys
import threading
import time
import warnings

import answers
import nbformat
import numpy as np
import pytest
from store import NOTEBOOKS

from labsupport.checks import EXERCISES, Verdict, check, verdict
from labsupport.checks.judge import PRINTED, Function, When, guarded, named, text_of

FUNCTIONS = [name for name, e in EXERCISES.items() if isinstance(e, Function)]
VALUES = [name for name in EXERCISES if name not in FUNCTIONS]
CATALOGUE = [*answers.RIGHT]  # a new exercise may be tried here, but need not be


def each(table, names=EXERCISES):
    return [pytest.param(n, a, id=f"{n}-{i}") for n in names for i, a in table(n)]


def flat(message):
    return " ".join(message.split())


@pytest.mark.parametrize(
    ("name", "answer"), each(lambda name: enumerate(answers.RIGHT[name]), CATALOGUE)
)
def test_a_right_answer_is_right_in_any_form(name, answer):
    status, message = verdict(name, answer)
    assert status == "right", message
    assert message.startswith(f"{name}: right. ")
    assert len(message.split()) > 5  # says over what it was checked


@pytest.mark.parametrize(
    ("name", "case"), each(lambda name: enumerate(answers.WRONG[name]), CATALOGUE)
)
def test_a_wrong_answer_is_wrong_and_named(name, case):
    answer, words = case
    status, message = verdict(name, answer)
    assert status == "wrong", message
    assert message.startswith(f"{name}: wrong. ")
    assert words is None or words in flat(message), message


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_known_mistake_has_its_own_sentence(name):
    for sentence, mistake in EXERCISES[name].known():
        if isinstance(mistake, When):
            continue  # told by what an answer does: the catalogue below holds one
        status, message = verdict(name, mistake)
        assert status == "wrong", (
            f"{name}: no case shows this mistake; add one to its cases on which it "
            f"gives another result than the right answer: {sentence}"
        )
        given = flat(message).removeprefix(f"{name}: wrong. ").partition("  with ")[0]
        assert given.startswith(sentence), (
            f"{name}: {sentence!r} is for a mistake that is told {given!r}. They agree "
            "on every case: add a case that tells them apart, or let one sentence do."
        )


@pytest.mark.parametrize("name", CATALOGUE)
def test_each_sentence_is_for_an_answer_of_the_catalogue(name):
    messages = [
        flat(verdict(name, answer).message) for answer, _ in answers.WRONG[name]
    ]
    for sentence, mistakes in EXERCISES[name].mistakes:
        if name in VALUES or any(isinstance(mistake, When) for mistake in mistakes):
            assert any(m.startswith(f"{name}: wrong. {sentence}") for m in messages), (
                f"{name}: nothing gets the sentence {sentence!r}. Add an answer that "
                f"should to WRONG[{name!r}] in answers.py, or take the sentence out."
            )


def test_mistakes_can_be_listed_for_a_teacher():
    for exercise in EXERCISES.values():
        for sentence, mistakes in exercise.mistakes:
            assert sentence.endswith((".", "?"))
            assert mistakes


def test_a_table_of_mistakes_is_read_row_by_row():
    assert named("One.", abs, "Two.", min, max) == [
        ("One.", [abs]),
        ("Two.", [min, max]),
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_answer_is_shown_its_smallest_case(name):
    sizes = [sum(np.size(x) for x in flatten(case)) for case in EXERCISES[name].cases]
    for i in range(len(sizes)):
        message = verdict(name, wrong_from(i, name)).message
        shown = message[message.index("  with ") :]
        assert re.search(r"^  yours   ", shown, re.M), message
        assert re.search(r"^  wanted  ", shown, re.M), message
        first = next(iter(EXERCISES[name].names))
        assert f"{first} = {text_of(EXERCISES[name].cases[i][0])}" in shown
    assert sizes[0] <= 3 * min(sizes), f"{name}: let the smallest case come first"


def flatten(value):
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in flatten(item)]
    return [value]


def wrong_from(first, name):
    """Return an answer that is right before the case of that index, and then off."""
    calls = iter(range(1000))

    def answer(*case):
        right = EXERCISES[name].right(*case)
        off = ~right if np.asarray(right).dtype == bool else 2 * right + 0.1
        return right if next(calls) < first else off

    return answer


def test_what_is_shown():
    assert verdict("fires", lambda p, e: p @ e).message == (
        "fires: wrong. The bend is missing: a match below zero must give 0.\n"
        "  with    pattern = [2], evidence = [-3]\n"
        "  yours   -6\n"
        "  wanted  0"
    )
    assert verdict("fires", lambda p, e: -0.0).message == (
        "fires: wrong. It gives nothing but zeros.\n"
        "  with    pattern = [2], evidence = [3]\n"
        "  yours   0\n"
        "  wanted  6"
    )
    # Numbers that look alike are told apart by more digits.
    message = verdict("count_parameters", lambda d, f: 4 * d * d + 2 * d * f + 0.0001)
    assert "  yours   6.0001\n  wanted  6" in message.message
    # In a large array, the first number that differs.
    exercise = EXERCISES["layer_norm"]

    def off_in_one(X, *rest):
        result = exercise.right(X, *rest)
        if len(result) == 10:
            result[3, 7] += 1
        return result

    message = verdict("layer_norm", off_in_one).message
    assert "X = an array of shape (10, 32)" in message
    assert message.count("at [3, 7]") == 2


@pytest.mark.parametrize("name", EXERCISES)
def test_a_verdict_can_be_read_at_a_glance(name):
    wrong = [a for a, _ in answers.WRONG.get(name, [])]
    if name in FUNCTIONS:
        # Whatever comes out, in whichever case it shows first.
        wrong += [wrong_from(i, name) for i in range(len(EXERCISES[name].cases))]
        wrong += [m for _, m in EXERCISES[name].known() if not isinstance(m, When)]
    for answer in wrong + answers.HOSTILE_FUNCTIONS + answers.RIGHT.get(name, []):
        lines = verdict(name, answer).message.split("\n")
        assert max(map(len, lines)) <= 88, lines
        assert len(lines) <= 12 + PRINTED, lines


@pytest.mark.parametrize("name", EXERCISES)
@pytest.mark.parametrize("stub", answers.STUBS, ids=repr)
def test_a_stub_is_not_started(name, stub):
    assert verdict(name, stub) == ("not started", f"{name}: not started.")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("stub", answers.STUB_FUNCTIONS)
def test_a_stub_function_is_not_started(name, stub):
    words = f"{name}: not started. The function returns nothing yet."
    assert verdict(name, stub) == ("not started", words)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_answer_that_is_only_sometimes_there_is_wrong(name):
    calls = iter(range(1000))

    def answer(*case):
        return EXERCISES[name].right(*case) if next(calls) > 0 else None

    status, message = verdict(name, answer)
    assert status == "wrong"
    assert "It returns nothing." in message


@pytest.mark.parametrize("name", EXERCISES)
def test_nothing_handed_in_hurts(name, capfd):
    state = str(np.random.get_state())  # noqa: NPY002
    for answer in answers.HOSTILE_FUNCTIONS + answers.VALUES:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = verdict(name, answer)
            assert check(name, answer) is None
        assert isinstance(found, Verdict)
        assert found.status in ("wrong", "not started")
        printed, complaints = capfd.readouterr()
        assert printed == found.message + "\n"  # the same again, and nothing else
        assert complaints == ""
        assert caught == []
        assert np.geterr()["invalid"] == "warn"
        assert found.message.startswith(f"{name}: {found.status}.")
        assert len(found.message) < 2500
        assert "interrupted" not in found.message  # by what has no end
        assert "0x" not in found.message  # no address, which would differ next time
    assert state == str(np.random.get_state())  # noqa: NPY002


@pytest.mark.parametrize("name", EXERCISES)
def test_an_endless_loop_can_be_interrupted(name):
    def interrupted(*case):
        raise KeyboardInterrupt

    class Looping:
        def __array__(self, *args, **kwargs):
            raise KeyboardInterrupt

    words = f"{name}: wrong. It was interrupted: does every loop in it end?"
    answer = interrupted if name in FUNCTIONS else Looping()
    if name in ("absolute_value", "not_linear"):
        answer = (answer, answer)
    assert verdict(name, answer) == ("wrong", words)


def test_the_kernels_interrupt_ends_an_endless_loop():
    end = time.monotonic() + 20  # an interrupt that is lost shall fail, not hang

    def endless(pattern, evidence):
        while time.monotonic() < end:
            pass

    # As in a kernel, even where the tests run in the background and ignore the signal.
    outside = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.3, _thread.interrupt_main).start()
        assert "does every loop in it end?" in verdict("fires", endless).message
    finally:
        signal.signal(signal.SIGINT, outside)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_answer_that_spoils_its_arguments_spoils_nothing(name):
    kept = str(EXERCISES[name].cases)
    verdict(name, answers.empties)
    verdict(name, answers.reshapes)
    assert str(EXERCISES[name].cases) == kept
    assert verdict(name, EXERCISES[name].right).status == "right"


def test_an_array_too_large_to_copy_is_not_copied():
    vast = np.broadcast_to(1.0, 10**9)
    message = verdict("fires", lambda pattern, evidence: vast).message
    assert "What it gives is 1000000000 numbers." in message
    message = flat(verdict("storeys_to_vanish", vast).message)
    assert "what stands here is 1000000000 numbers." in message


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_answer_that_changes_settings_spoils_no_later_one(name):
    fresh = dataclasses.replace(EXERCISES[name])  # nothing worked out yet
    with guarded():
        for answer in (answers.turns_warnings_into_errors, answers.empties):
            assert fresh.judge(answer)[0] in ("wrong", "not started")
        assert fresh.judge(fresh.right)[0] == "right"
        for sentence, mistake in fresh.known():
            if not isinstance(mistake, When):
                assert fresh.judge(mistake)[1].startswith(sentence)


@pytest.mark.parametrize(
    ("name", "digits"), [("storeys_to_vanish", "39"), ("stretch", r"1\.7\d*|√")]
)
def test_no_verdict_gives_the_value_away(name, digits):
    tried = [a for a, _ in answers.WRONG[name]] + answers.VALUES
    tried += [n / 20 for n in range(-100, 5000)] + [*range(-100, 1000)]
    for answer in tried:
        status, message = verdict(name, answer)
        assert status == "right" or not re.search(rf"\b({digits})\b", message), message


def test_a_tolerance_is_finer_than_the_nearest_wrong_value():
    near = [
        s for s in np.arange(1, 3, 0.001) if verdict("stretch", s).status == "right"
    ]
    assert 1.65 < min(near) < 1.7
    assert 1.732 < max(near) < 1.735


@pytest.mark.parametrize("name", ["layer_norm", "block"])
def test_only_a_batch_is_a_remark(name):
    def one_sentence(X, *rest):
        if X.ndim > 2:
            raise ValueError("one sentence at a time")
        return EXERCISES[name].right(X, *rest)

    remark = "not yet for a batch"
    assert verdict(name, one_sentence).status == "right"
    assert remark in verdict(name, one_sentence).message
    assert remark not in verdict(name, EXERCISES[name].right).message


@pytest.mark.parametrize("digits", [2, 3, 4])
@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n in CATALOGUE])
def test_an_answer_may_be_rounded_as_the_text_prints_it(name, digits):
    def rounded(*case):
        return np.round(np.asarray(EXERCISES[name].right(*case), float), digits)

    def cut(*case):
        return np.trunc(EXERCISES[name].right(*case) * 10) / 10

    if name != "causal_mask":
        assert verdict(name, rounded).status == "right"
        assert (verdict(name, cut).status == "right") == (name == "count_parameters")


def test_a_pattern_that_is_known_is_right_with_a_remark():
    for known in ([1, -1], [2.5, -2.5], np.float32([0.1, -0.1])):
        assert verdict("pattern", known).status == "right"
        assert "can you find another?" in verdict("pattern", known).message
    assert "another" not in verdict("pattern", [1, -2]).message


@pytest.mark.parametrize("name", VALUES)
def test_a_value_with_a_gap_is_not_finished(name):
    gap = (1, ...) if name in ("pattern", "not_linear") else (np.eye(2), None)
    status, message = verdict(name, gap)
    assert status == "wrong"
    assert "not finished" in message


def test_what_an_answer_prints_is_shown_under_its_verdict():
    def debugged(pattern, evidence):
        print("match", pattern @ evidence)
        return pattern @ evidence

    assert verdict("fires", debugged).message.endswith("\n  prints  match -6.0")

    def talks(pattern, evidence):
        print("\n".join(map(str, range(100))))
        print("and this", file=sys.stderr)

    *_, first, last = verdict("fires", talks).message.split("\n")
    assert (first, last) == ("          8", "          ... and 92 lines more")


def test_a_verdict_prints_on_any_code_page():
    for name in CATALOGUE:
        for answer, _ in answers.WRONG[name]:
            assert verdict(name, answer).message.isascii()
        for sentence, _ in EXERCISES[name].mistakes:
            assert sentence.isascii()
    page = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    with contextlib.redirect_stdout(page):
        check("fires", lambda pattern, evidence: print("\u221a \udce4"))
    page.seek(0)
    assert "prints  ? ?" in page.read()


def test_a_number_shown_can_be_copied():
    message = verdict("feed_forward", lambda x, W1, W2: -x).message
    given = re.search(r"x = (.*?), W1 = (.*?), W2 = (.*)", message)
    assert [ast.literal_eval(part) for part in given.groups()]


def test_an_overwritten_function_is_named_and_not_blamed_on_the_answer(monkeypatch):
    monkeypatch.setattr(np, "maximum", 5)
    monkeypatch.setattr("math.exp", 5)
    monkeypatch.setattr("builtins.sum", 5)
    monkeypatch.setattr("labsupport.block.relu", 5)
    right = verdict("feed_forward", lambda x, W1, W2: np.maximum(x @ W1, 0) @ W2)
    wrong = verdict("fires", lambda pattern, evidence: pattern @ evidence)
    assert (right.status, wrong.status) == ("right", "wrong")
    assert "bend is missing" in wrong.message
    for name in ("np.maximum", "math.exp", "lab.relu", "sum"):
        assert name in flat(right.message).partition("Besides the answer: ")[2]
    assert np.maximum == 5  # the notebook is as it was


def test_a_name_that_a_variable_hides_is_named():
    space = {}
    exec("sum = 0\ndef answer(p, e):\n    return max(sum(p * e), 0)", space)
    assert "sum is a variable of yours" in flat(
        verdict("fires", space["answer"]).message
    )


def test_an_answer_that_overwrites_numpy_spoils_no_later_one():
    def spoils(pattern, evidence):
        np.maximum = np.minimum
        return 0

    kept = np.maximum
    assert verdict("fires", spoils).status == "wrong"
    assert np.maximum is kept


def test_at_is_right_with_a_remark_where_a_loop_is_asked_for():
    assert "No @" not in verdict("fires", answers.fires_loop).message
    for answer in (lambda p, e: max(p @ e, 0), lambda p, e: max(p.dot(e), 0)):
        assert verdict("fires", answer).status == "right"
        assert "no @ and no np.dot" in flat(verdict("fires", answer).message)


def test_an_unknown_exercise_is_named():
    for unknown in ("fire", ["fires"], None, np.zeros(2)):
        with pytest.raises(
            ValueError, match=r"there is no exercise .*; there are fires"
        ):
            verdict(unknown, 1)


# The folded answers of the notebooks.


def folded_answers():
    """Return {exercise: (what its notebook imports and defines, its folded answer)}."""
    found = {}
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        defined = []
        for cell, after in itertools.pairwise(cells):
            if cell.cell_type != "code":
                continue
            for name in re.findall(r"""\bcheck\("(\w+)", my_\1\)""", cell.source):
                fence = re.search(
                    r"<details>.*?```python\n(.*?)```", after.source, re.S
                )
                found[name] = "\n".join(defined), fence and fence[1]
            defined += [
                ast.unparse(node)
                for node in ast.parse(cell.source).body
                if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)
            ]
    return found


def test_every_exercise_stands_in_a_notebook():
    assert list(folded_answers()) == list(EXERCISES), (
        "Each exercise needs a cell that ends in check(name, my_name), in the order of "
        "its file, and under it a cell with one answer in <details>."
    )


@pytest.mark.parametrize("name", EXERCISES)
def test_the_folded_answer_is_right(name):
    assert name in folded_answers(), f"no notebook asks for my_{name}"
    defined, code = folded_answers()[name]
    space = {}
    exec(defined, space)
    exec(code, space)
    assert verdict(name, space[f"my_{name}"]).status == "right"


@pytest.mark.parametrize("name", EXERCISES)
def test_the_notebook_holds_an_untouched_stub(name):
    cells = [
        cell
        for path in NOTEBOOKS.glob("*.ipynb")
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code" and f'check("{name}", my_{name})' in cell.source
    ]
    assert len(cells) == 1, f"{len(cells)} cells ask for my_{name}"
    (cell,) = cells
    (output,) = cell.outputs
    assert output.text.startswith(f"{name}: not started.")
    assert output.text.count("\n") == 1
