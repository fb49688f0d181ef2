"""Answers that the engine finds: the next op of a device, what an idle device waits for, the order of a row.

And what a reader is told of an answer: whether it is right, else why not, as far as the answer itself tells.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

from backend.errors import message
from backend.lessons.lesson import Question
from backend.lessons.values import FORMATS, Budget, Given, LessonError, Measured, measured, spec_of
from backend.schedule.simulation.message_flow import producers

EPSILON = 1e-9
LONGEST_ORDER = 24  # ops that a reader may be asked to put in order
NUMBER = re.compile(r"[+-]?\d{1,12}(?:[.,]\d{1,9})?(?:e[+-]?\d{1,3})?", re.ASCII)
GROUPED = re.compile(r"\d{1,3}(,\d{3})+", re.ASCII)
GRADIENT = re.compile(r"(\d+)([FIWB])(\d+)")


@dataclass(frozen=True)
class Found:
    """An op that is an answer, and the view that shows it."""

    op: str
    query: str


def next_op(text: str, budget: Budget) -> Found:
    """Find the op after the first ``after`` ones of a device's row: ``1f1b p=4 m=8 rank=0 after=4``."""
    given = spec_of(text, ("rank", "after"))
    row = _row(given, measured(given.spec, budget))
    after = _whole(given, "after", len(row) - 1)
    return Found(row[after], f"{given.query}&sel={row[after]}")


def awaited_op(text: str, budget: Budget) -> Found:
    """Find the op that an idle device waits for: ``1f1b p=4 m=8 rank=0 at=5``; its input arrives last."""
    given = spec_of(text, ("rank", "at"))
    of = measured(given.spec, budget)
    at = float(given.more["at"])
    rank = _whole(given, "rank", of.order.p - 1)
    begin, end = of.order.offsets[rank], of.order.offsets[rank + 1]
    coming = [x for x in range(begin, end) if of.timeline.end[x] > at]
    if not coming or of.timeline.start[coming[0]] <= at:
        raise LessonError(
            message("lessons.not_idle", "device {rank} does not wait for an op at {at}", rank=rank, at=f"{at:g}")
        )
    made_by, hops = producers(of.order)
    x = coming[0]
    sources = [
        (of.timeline.end[made_by[x, half]] + (given.spec.timing.comm if hops[x, half] else 0.0), -half)
        for half in (0, 1)
        if made_by[x, half] >= 0
    ]
    if not sources:
        raise LessonError(message("lessons.waits_for_no_op", "device {rank} waits for no single op there", rank=rank))
    op = _op_text(of, int(made_by[x, -max(sources)[1]]))
    return Found(op, f"{given.query}&sel={op}&at={at:g}")


def row_part(text: str, budget: Budget) -> tuple[tuple[str, ...], str]:
    """Return (ops, query) of a part of a device's row: ``1f1b p=2 m=3 rank=0 from=0 to=6``."""
    given = spec_of(text, ("rank", "from", "to"))
    row = _row(given, measured(given.spec, budget))
    first, last = _whole(given, "from", len(row)), _whole(given, "to", len(row))
    if not 2 <= last - first <= LONGEST_ORDER:
        raise LessonError(
            message(
                "lessons.order_length", "from={first} to={last} are not 2 to {most} ops",
                first=first, last=last, most=LONGEST_ORDER,
            )
        )  # fmt: skip
    return tuple(row[first:last]), f"{given.query}&sel={row[first]}"


def shuffled(ops: tuple[str, ...]) -> tuple[str, ...]:
    """Mix ops, the same way each time, and never into their right order."""
    mixed, chance = list(ops), random.Random(" ".join(ops))
    while tuple(mixed) == ops:
        chance.shuffle(mixed)
    return tuple(mixed)


def _row(given: Given, of: Measured) -> list[str]:
    return [op.text() for op in of.order.row(_whole(given, "rank", of.order.p - 1))]


def _whole(given: Given, key: str, most: int) -> int:
    value = given.more[key]
    if not isinstance(value, int) or not 0 <= value <= most:
        raise LessonError(
            message(
                "lessons.key_out_of_range", "{key}={value} must be a whole number from 0 to {most}",
                key=key, value=f"{value:g}", most=most,
            )
        )  # fmt: skip
    return value


def _op_text(of: Measured, x: int) -> str:
    """Return the text of the op at a flat index; of a pair, that of the pair."""
    offsets = of.order.offsets
    rank = int((offsets[1:] > x).argmax())
    op = of.order.row(rank)[x - int(offsets[rank])]
    return op.text()


# -- what a reader is told


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and if not why, "" where only the hint can tell."""

    right: bool
    reason: str


def judge(question: Question, given: Any) -> Verdict:
    """Judge an answer: a number as text, the index of an option, or ops with spaces between."""
    if question.kind == "predict":
        return _judge_number(question, str(given))
    if question.kind == "choose":
        return _judge_option(question, str(given))
    return _judge_order(question, str(given).split())


def _judge_number(question: Question, text: str) -> Verdict:
    text = text.replace("\u00a0", " ").strip().removesuffix("%").removesuffix(question.unit).strip()
    if GROUPED.fullmatch(text):
        text = text.replace(",", "")
    if not NUMBER.fullmatch(text):
        return Verdict(False, message("lessons.not_a_number", "That is no number. Write it like 27.3."))
    share = 100.0 if question.unit == "%" else 1.0
    value = float(text.replace(",", ".")) / share
    if abs(value - question.answer) <= question.tolerance + EPSILON:
        return Verdict(True, "")
    for name, other in question.others:
        if abs(value - other) <= question.tolerance + EPSILON:
            why = message(
                "lessons.another_value", "{given} is {name}; the question is about another figure.",
                given=f"{text} %", name=name,
            )  # fmt: skip
            return Verdict(False, why)
    if abs(value * share - question.answer) <= question.tolerance + EPSILON and share > 1:
        return Verdict(False, message("lessons.as_percent", "Write it in percent: 0.25 is 25."))
    low = message("lessons.too_low", "{given} is too low.", given=text)
    return Verdict(
        False, low if value < question.answer else message("lessons.too_high", "{given} is too high.", given=text)
    )


def _judge_option(question: Question, text: str) -> Verdict:
    if not text.isdigit() or len(text) > 3 or int(text) >= len(question.options):
        return Verdict(False, message("lessons.choose_one", "Choose one of the options."))
    return Verdict(int(text) == question.right, question.options[int(text)].reason)


def _judge_order(question: Question, ops: list[str]) -> Verdict:
    if sorted(ops) != sorted(question.ops):
        return Verdict(False, message("lessons.all_ops_once", "Each of the ops must stand there once."))
    if tuple(ops) == question.ops:
        return Verdict(True, "")
    done: set[str] = set()
    for op in ops:
        before = _forward_of(op)
        if before in question.ops and before not in done:
            why = message(
                "lessons.gradient_first", "{op} cannot come before {before}: a device needs the forward's activations.",
                op=op, before=before,
            )  # fmt: skip
            return Verdict(False, why)
        done.add(op)
    same = next(at for at, (one, other) in enumerate(zip(ops, question.ops, strict=True)) if one != other)
    return Verdict(
        False,
        message("lessons.right_up_to", "The first {count} are right; number {next} is not.", count=same, next=same + 1),
    )


def _forward_of(op: str) -> str:
    """Return the forward whose activations an op of gradients needs on the same device, "" for a forward."""
    found = GRADIENT.fullmatch(op)
    return f"{found[1]}F{found[3]}" if found and found[2] != "F" else ""


def shown_answer(question: Question) -> str:
    """Return the right answer as a reader reads it."""
    if question.kind == "order":
        return " ".join(question.ops)
    return question.shown if question.kind == "predict" else ""


def number_text(value: float, unit: str) -> str:
    """Write a number in the unit of its question: 27.3 %, 9, 4 micro-batches."""
    if unit == "%":
        return FORMATS["percent"](value)
    return f"{FORMATS['number'](value)}\u00a0{unit}".rstrip("\u00a0")
