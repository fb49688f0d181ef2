"""Grade the answer to a question: whether it is right, and otherwise why not, as far as the answer shows.

A lesson's file grades in the same way (static/js/app/learn/grade.ts); a test compares both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from backend.errors import Message, message
from backend.lessons.lesson import Question
from backend.lessons.questions.goals import NOT_REACHED, SET_SIZES, reached, sizes_of
from backend.lessons.questions.spots import WAIT, is_place
from backend.lessons.values import FORMATS, LessonError

EPSILON = 1e-9
NUMBER = re.compile(r"[+-]?\d{1,12}(?:[.,]\d{1,9})?(?:e[+-]?\d{1,3})?", re.ASCII)
FRACTION = re.compile(r"(\d{1,9}) ?[/⁄] ?(\d{0,8}[1-9]\d{0,8})", re.ASCII)
GROUPED = re.compile(r"\d{1,3}(,\d{3})+", re.ASCII)
OP = re.compile(r"(\d+)([FIWB])(\d+)")


NOT_A_NUMBER = message("lessons.not_a_number", "That is no number. Write it like 27.3 or 3/11.")
ANOTHER_VALUE = message(
    "lessons.another_value",
    "{given} is {name}; the question is about another figure.",
    given="{given}", name="{name}",
)  # fmt: skip
TOO_LOW = message("lessons.too_low", "{given} is too low.", given="{given}")
TOO_HIGH = message("lessons.too_high", "{given} is too high.", given="{given}")
CHOOSE_ONE = message("lessons.choose_one", "Choose one of the options.")
ALL_OPS_ONCE = message("lessons.all_ops_once", "Give each of the ops once.")
GRADIENT_FIRST = message(
    "lessons.gradient_first",
    "{op} cannot come before {before}: a device needs the forward's activations.",
    op="{op}", before="{before}",
)  # fmt: skip
RIGHT_UP_TO = message(
    "lessons.right_up_to", "The first {count} are right; number {wrong} is not.", count="{count}", wrong="{wrong}"
)
SELECT_FIRST = message("lessons.select_first", "Select it on the timeline first.")
ANOTHER_OP = message("lessons.another_op", "{op} is not the one.", op="{op}")
ANOTHER_WAIT = message("lessons.another_wait", "This is another wait.")
NOT_AN_OP = message("lessons.not_an_op", "This is a wait; select an op.")
NOT_A_WAIT = message("lessons.not_a_wait", "{op} is work; select a wait.", op="{op}")
REASONS = {
    each.code: each
    for each in (
        *(NOT_A_NUMBER, ANOTHER_VALUE, TOO_LOW, TOO_HIGH),
        *(CHOOSE_ONE, ALL_OPS_ONCE, GRADIENT_FIRST, RIGHT_UP_TO, SET_SIZES, NOT_REACHED),
        *(SELECT_FIRST, ANOTHER_OP, ANOTHER_WAIT, NOT_AN_OP, NOT_A_WAIT),
    )
}
"""Each reason by its code, with holes in the place of what fills them."""
UNREADABLE = (NOT_A_NUMBER, CHOOSE_ONE, ALL_OPS_ONCE, SET_SIZES, SELECT_FIRST)
"""Reasons of what is no answer."""


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and if not why, "" where only the hint can tell; what cannot be read as an answer
    (``counted`` false) is no try.
    """

    right: bool
    reason: str
    counted: bool = True


def grade(question: Question, given: str) -> Verdict:
    """Grade an answer: a number, the index of an option, ops with spaces between, sizes, or a place."""
    if question.kind == "predict":
        return _grade_number(question, given)
    if question.kind == "choose":
        return _grade_option(question, given)
    if question.kind == "reach":
        return _grade_sizes(question, given)
    return _grade_place(question, given) if question.kind == "find" else _grade_order(question, given.split())


def _wrong(reason: Message, **params: Any) -> Verdict:
    """Return the verdict on a wrong answer, with what fills the holes of its reason."""
    return Verdict(False, Message(reason.code, reason, params), reason not in UNREADABLE)


def _grade_number(question: Question, text: str) -> Verdict:
    whole = text.replace("\u00a0", " ").strip()
    text = whole.removesuffix("%").removesuffix(question.unit).strip()
    if GROUPED.fullmatch(text):
        text = text.replace(",", "")
    fraction = FRACTION.fullmatch(text)
    if not (fraction or NUMBER.fullmatch(text)):
        return _wrong(NOT_A_NUMBER)
    number = int(fraction[1]) / int(fraction[2]) if fraction else float(text.replace(",", "."))
    near = question.tolerance + EPSILON
    is_share = question.unit == "%" and not whole.endswith("%") and (fraction is not None or abs(number) < 1)
    value = number if is_share or question.unit != "%" else number / 100.0
    if abs(value - question.answer) <= near or (is_share and abs(number / 100.0 - question.answer) <= near):
        return Verdict(True, "")
    for name, other in question.others:
        if abs(value - other) <= near:
            return _wrong(ANOTHER_VALUE, given=text if is_share else f"{text}\u00a0{question.unit}".rstrip(), name=name)
    return _wrong(TOO_LOW if value < question.answer else TOO_HIGH, given=text)


def _grade_option(question: Question, text: str) -> Verdict:
    if not (text.isascii() and text.isdigit()) or len(text) > 3 or int(text) >= len(question.options):
        return _wrong(CHOOSE_ONE)
    return Verdict(int(text) == question.right, question.options[int(text)].reason)


def _grade_order(question: Question, ops: list[str]) -> Verdict:
    if sorted(ops) != sorted(question.ops):
        return _wrong(ALL_OPS_ONCE)
    if tuple(ops) == question.ops:
        return Verdict(True, "")
    done: set[str] = set()
    for op in ops:
        before = _forward_of(op)
        if before in question.ops and before not in done:
            return _wrong(GRADIENT_FIRST, op=op, before=before)
        done.add(op)
    same = next(at for at, (one, other) in enumerate(zip(ops, question.ops, strict=True)) if one != other)
    return _wrong(RIGHT_UP_TO, count=same, wrong=same + 1)


def _grade_sizes(question: Question, given: str) -> Verdict:
    sizes = sizes_of(given)
    if sizes.keys() != question.sizes.keys():
        return _wrong(SET_SIZES)
    try:
        right, found = reached(question.view, sizes, question.goals)
    except LessonError as error:
        return Verdict(False, error.cause, False)
    shown = ", ".join(f"{key} = {value}" for key, value in sizes.items())
    return Verdict(True, "") if right else _wrong(NOT_REACHED, sizes=shown, found=found)


def _grade_place(question: Question, given: str) -> Verdict:
    if not is_place(given):
        return _wrong(SELECT_FIRST)
    if any(spot.has(given) for spot in question.spots):
        return Verdict(True, "")
    wants_op = bool(question.spots[0].op)
    if WAIT.fullmatch(given):
        return _wrong(NOT_AN_OP if wants_op else ANOTHER_WAIT)
    return _wrong(ANOTHER_OP if wants_op else NOT_A_WAIT, op=given)


def _forward_of(op: str) -> str:
    """Return the forward whose activations an op of gradients needs on the same device, "" for a forward."""
    found = OP.fullmatch(op)
    return f"{found[1]}F{found[3]}" if found and found[2] != "F" else ""


def shown_answer(question: Question) -> str:
    """Return the right answer as a reader reads it."""
    if question.kind == "order":
        return " ".join(question.ops)
    if question.kind == "reach":
        return ", ".join(f"{key} = {value}" for key, value in question.sizes.items())
    if question.kind == "find":
        return question.spots[0].op
    return question.shown if question.kind == "predict" else ""


def number_text(value: float, unit: str) -> str:
    """Write a number in the unit of its question: 27.3 %, 9, 4 micro-batches."""
    if unit == "%":
        return FORMATS["percent"](value)
    return f"{FORMATS['number'](value)}\u00a0{unit}".rstrip("\u00a0")
