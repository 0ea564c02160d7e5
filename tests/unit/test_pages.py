"""What the teacher's page quotes stands where it is quoted from."""

import re

import pytest
from stored import NAMES, ROOT, prose

from labsupport.checks import EXERCISES

PAGE = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
MISTAKES = re.findall(r"^- `(\w+)`: (.+)$", PAGE, re.MULTILINE)
QUESTIONS = re.findall(r"^> (.+)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("exercise", "sentence"), MISTAKES)
def test_a_mistake_to_expect_is_one_that_the_check_knows(exercise, sentence):
    known = [known for known, *_ in EXERCISES[exercise].mistakes]
    assert sentence in known, f"{exercise} says none such: {known}"


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_to_ask_stands_in_a_notebook(question):
    asked = [f"*Predict:* {question}" in prose(name) for name in NAMES]
    assert any(asked), "take the question as the notebook has it now"


def test_each_exercise_has_mistakes_to_expect_and_each_notebook_questions():
    assert {exercise for exercise, _ in MISTAKES} == EXERCISES.keys()
    assert len(QUESTIONS) >= 2 * len(NAMES)
