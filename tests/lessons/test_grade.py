"""Grading an answer: the server and a lesson's file agree."""

from __future__ import annotations

import pytest

from backend.lessons.export import reasons_in, sealed
from backend.lessons.lesson import Question
from backend.lessons.page_sources import catalogue, html_of, template_of
from backend.lessons.questions.goals import sizes_of, solved_view
from backend.lessons.questions.grade import REASONS, grade
from backend.lessons.shelf import Shelf
from backend.lessons.values import VALUES, Budget, measured
from backend.lessons.views import view_of
from tests.lessons.support import SAMPLES
from tests.support import message_templates
from tests.support.node import answers, needs_node

PREDICT, CHOOSE, PEAK, ORDER, REACH, WAIT, OP = range(7)
CASES: list[tuple[int, str, bool, str]] = [
    (PREDICT, "27.3", True, ""),
    (PREDICT, " 27,3 % ", True, ""),
    (PREDICT, "27.9", False, "27.9 is too high."),
    (PREDICT, "27.8", True, ""),
    (PREDICT, "26.5", False, "26.5 is too low."),
    (PREDICT, "37.5", False, "37.5 % is the idle time relative to the work"),
    (PREDICT, "0.273", True, ""),
    (PREDICT, "3/11", True, ""),
    (PREDICT, " 6 / 22 ", True, ""),
    (PREDICT, "0.273 %", False, "0.273 is too low."),
    (PREDICT, "0.3", False, "0.3 is too high."),
    (PREDICT, "3/8", False, "3/8 is the idle time relative to the work"),
    (PREDICT, "3/0", False, "That is no number."),
    (PREDICT, "many", False, "That is no number."),
    (PREDICT, "<b>1</b>", False, "That is no number."),
    (PREDICT, "1e400", False, "too high"),
    (PREDICT, "1" * 300, False, "That is no number."),
    (CHOOSE, "1", True, "Its gradient comes from there."),
    (CHOOSE, "0", False, "Forwards go the other way"),
    (CHOOSE, "7", False, "Choose one of the options."),
    (CHOOSE, "-1", False, "Choose one of the options."),
    (PEAK, "16", True, ""),
    (PEAK, "16 micro-batches", True, ""),
    (PEAK, "32/2", True, ""),
    (PEAK, "0.16", False, "0.16 is too low."),
    (PEAK, "1,600", False, "1600 is too high."),
    (ORDER, "0F0 0F1 0F2 0B0 0B1 0B2", True, ""),
    (ORDER, "0F0 0F1 0B0 0F2 0B1 0B2", False, "The first 2 are right; number 3 is not."),
    (ORDER, "0B0 0F0 0F1 0F2 0B1 0B2", False, "0B0 cannot come before 0F0"),
    (ORDER, "0F0 0F1", False, "Give each of the ops once."),
    (ORDER, "0F0 0F0 0F2 0B0 0B1 0B2", False, "Give each of the ops once."),
    (REACH, "m=8", True, ""),
    (REACH, "m=6", False, "With m = 6 that is: bubble 33.3 %, peak memory 6."),
    (REACH, "m=12", False, "With m = 12 that is: bubble 20.0 %, peak memory 12."),
    (REACH, "p=2", False, "Move the slider first."),
    (REACH, "p=2 m=8", False, "Move the slider first."),
    (WAIT, "0@6", True, ""),
    (WAIT, "0@11", False, "This is another wait."),
    (WAIT, "1@6", False, "This is another wait."),
    (WAIT, "0F1", False, "0F1 is work; select a wait."),
    (WAIT, "there", False, "Select it on the timeline first."),
    (OP, "1B0", True, ""),
    (OP, "2B0", False, "2B0 is not the one."),
    (OP, "0@6", False, "This is a wait; select an op."),
]
"""Question, answer, whether it is right, and a part of the reason."""
NO_ANSWER = ("That is no number", "Choose one", "Give each of the ops", "Move the slider", "Select it on")


def questions() -> list[Question]:
    shelf = Shelf((SAMPLES,))
    return [*shelf.lesson("bubble", "en").questions, *shelf.lesson("order", "en").questions[-3:]]


def found(question: Question, given: str) -> dict[str, float]:
    """The figures of the sizes that are given, as a lesson's file has them of its timeline."""
    spec = view_of(solved_view(question.view, sizes_of(given)), Budget())[0]
    return {goal.quantity: VALUES[goal.quantity][0](measured(spec, Budget())) for goal in question.goals}


@pytest.mark.parametrize(("number", "given", "right", "reason"), CASES)
def test_an_answer_gets_its_verdict_and_a_wrong_one_its_reason(number: int, given: str, right: bool, reason: str):
    verdict = grade(questions()[number], given)
    assert verdict.right == right
    assert reason.replace(" %", "\u00a0%") in verdict.reason
    assert bool(verdict.reason) or right
    assert verdict.counted != any(text in verdict.reason for text in NO_ANSWER)


@needs_node
def test_a_lessons_file_grades_as_the_server_does():
    asked = questions()
    cases = [
        (sealed(asked[number], "zh"), given, found(asked[number], given) if asked[number].goals else None)
        for number, given, _, _ in CASES
    ]
    reasons = reasons_in("zh")
    graded = answers("grade", [{"cases": cases, "reasons": reasons}])[0]
    for (number, given, _, _), answer in zip(CASES, graded, strict=True):
        verdict = grade(asked[number], given)
        assert answer == {
            "right": verdict.right,
            "reason": html_of(verdict.reason, "zh"),
            "counted": verdict.counted,
        }, given


def test_every_reason_is_in_the_pages_chinese_catalogue_with_its_holes():
    for code, text in REASONS.items():
        assert code in catalogue("zh")
        assert set(template_of(text, "zh")) != set(str(text))
        assert sorted(part.split("}")[0] for part in template_of(text, "zh").split("{")[1:]) == sorted(text.params)


def test_the_whole_chinese_catalogue_is_read():
    assert message_templates.by_code().keys() <= catalogue("zh").keys()
