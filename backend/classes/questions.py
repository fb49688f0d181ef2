"""Questions of a class: what a leader may ask, which answers a question takes, and whether one is right.

An answer is a short text in one spelling, so that answers of all kinds are stored and counted alike.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from typing import Any

from backend.errors import Message, RequestError, message
from backend.jobs.strict_json import only
from backend.schedule.spec import choice
from backend.tasks.task import task_of

KINDS = ("predict", "choose", "order", "find", "build")
KEYS = ("kind", "text", "options", "ops", "unit", "tolerance", "task", "query", "right")
LONGEST_TEXT, LONGEST_OPTION, LONGEST_UNIT, LONGEST_QUERY = 400, 120, 12, 8000  # characters
OPTIONS, OPS = (2, 8), (2, 12)
LARGEST = 1e9
EPSILON = 1e-9
MOST_COUNTED = 400  # different answers in one message
OP = re.compile(r"[0-9FIWBST();]{3,40}", re.ASCII)  # a pair of overlapped ops has two
MOMENT = re.compile(r"([0-9]{1,4})@([0-9]{1,9}(?:\.[0-9]{1,6})?)", re.ASCII)
WAIT = re.compile(r"([0-9]{1,4})@([0-9]{1,9}(?:\.[0-9]{1,6})?)-([0-9]{1,9}(?:\.[0-9]{1,6})?)", re.ASCII)
NUMBER = re.compile(r"[+-]?(?:[0-9]{1,12}(?:[.,][0-9]{0,12})?|[.,][0-9]{1,12})(?:e[+-]?[0-9]{1,2})?", re.ASCII | re.I)
QUERY = re.compile(r"(?:\?[\x21\x22\x24-\x7e]*)?", re.ASCII)  # of a page: "#" would end it
Question = dict[str, Any]


def read_question(given: Any) -> Question:
    """Return a leader's question with all its fields. Raises RequestError."""
    data = only(given, KEYS, "question")
    kind = choice("kind", data.get("kind"), KINDS)
    question: Question = {
        "kind": kind,
        "text": plain_text("text", data.get("text", ""), LONGEST_TEXT),
        "options": _texts("options", data.get("options", []), OPTIONS, LONGEST_OPTION) if kind == "choose" else [],
        "ops": _ops(data.get("ops", [])) if kind == "order" else [],
        "unit": plain_text("unit", data.get("unit", ""), LONGEST_UNIT),
        "tolerance": _number("tolerance", data.get("tolerance", 0)),
        "task": task_of(str(data.get("task", ""))[:80]).slug if kind == "build" else "",
        "query": query_of(data.get("query", "")),
    }
    if kind != "build" and not question["text"]:
        raise RequestError("text", "", message("classes.no_text", "a question needs a text"))
    question["right"] = read_right(question, data.get("right"))
    if kind == "order":
        question["ops"] = _mixed(question["ops"], question["right"])
    return question


def read_right(question: Question, given: Any) -> str | None:
    """Return the right answer in its spelling; None for none. Raises RequestError."""
    if given is None or given == "" or question["kind"] == "build":
        return None
    wait = WAIT.fullmatch(given) if question["kind"] == "find" and isinstance(given, str) else None
    return f"{int(wait[1])}@{_plain(wait[2])}-{_plain(wait[3])}" if wait else read_answer(question, given)


def read_answer(question: Question, given: Any) -> str:
    """Return an answer in the one spelling of its kind. Raises RequestError for what is none.

    An order for a task of the workbench is not read here: it takes a simulation.
    """
    kind = question["kind"]
    is_number = isinstance(given, float) or (type(given) is int and abs(given) <= LARGEST)
    text = format(given, ".12g") if is_number else given
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise _wrong(given, message("classes.answer_is_text", "an answer is a text or a number"))
    text = " ".join(text.split())
    if kind == "predict":
        return _predicted(text)
    if kind == "choose":
        most = len(question["options"])
        if not re.fullmatch("[0-9]{1,2}", text, re.ASCII) or int(text) >= most:
            raise _wrong(given, message("classes.answer_is_option", "choose one of the {count} options", count=most))
        return str(int(text))
    if kind == "order":
        if sorted(text.split()) != sorted(question["ops"]):
            raise _wrong(given, message("classes.answer_has_ops", "give every op once, in order"))
        return text
    moment = MOMENT.fullmatch(text)
    if not moment and not OP.fullmatch(text):
        raise _wrong(given, message("classes.answer_is_place", "select an op or a wait on the timeline"))
    return f"{int(moment[1])}@{_plain(moment[2])}" if moment else text


def is_right(question: Question, answer: str) -> bool | None:
    """Return whether an answer is right, None where the leader has not said what is."""
    right: str | None = question.get("right")
    if question["kind"] == "build":
        return not answer.startswith("0@")
    if right is None:
        return None
    if question["kind"] == "predict":
        return abs(float(answer) - float(right)) <= float(question["tolerance"]) + EPSILON
    wait, moment = WAIT.fullmatch(right), MOMENT.fullmatch(answer)
    if question["kind"] == "find" and wait and moment:
        return wait[1] == moment[1] and float(wait[2]) <= float(moment[2]) <= float(wait[3])
    return answer == right


def for_members(question: Question | None) -> Question | None:
    """Return a question without what only its leader may see."""
    return None if question is None else {key: value for key, value in question.items() if key != "right"}


def query_of(given: Any) -> str:
    """Return the query of a page of this server, "" for none. Raises RequestError for what could lead elsewhere."""
    if not isinstance(given, str) or len(given) > LONGEST_QUERY or not QUERY.fullmatch(given):
        why = message("classes.no_query", "query is the query of the page, of at most {most} characters",
                      most=LONGEST_QUERY)  # fmt: skip
        raise RequestError("query", given[:80] if isinstance(given, str) else None, why, limit=LONGEST_QUERY)
    return given


def plain_text(field: str, given: Any, most: int) -> str:
    """Return a text without spaces around it. Raises RequestError for one that is too long or cannot be written."""
    # Half of a character, which JSON can spell, would end the connection of everybody to whom it is sent.
    if not isinstance(given, str) or len(given) > most or any("\ud800" <= each <= "\udfff" for each in given):
        why = message("classes.text_too_long", "{field} is a text of at most {most} characters", field=field, most=most)
        raise RequestError(field, given[:80] if isinstance(given, str) else None, why, limit=most)
    return given.strip()


def _plain(digits: str) -> str:
    """Return a moment as it is spelled in answers: all its digits, and none that says nothing."""
    whole, _, rest = digits.partition(".")
    rest = rest.rstrip("0")
    return f"{int(whole)}.{rest}" if rest else str(int(whole))


def _predicted(text: str) -> str:
    bare = text.removesuffix("%").strip()
    value = float(bare.replace(",", ".")) if NUMBER.fullmatch(bare) else math.nan
    if not abs(value) <= LARGEST:
        raise _wrong(text, message("classes.answer_is_number", "the answer is a number, such as 27.3"))
    return format(value + 0.0, ".12g")


def _wrong(given: Any, why: Message) -> RequestError:
    return RequestError("answer", given[:80] if isinstance(given, str) else None, why)


def _texts(field: str, given: Any, count: tuple[int, int], most: int) -> list[str]:
    texts = (
        [plain_text(field, each, most) for each in given] if isinstance(given, list) and len(given) <= count[1] else []
    )
    if len(texts) < count[0] or not all(texts):
        why = message(
            "classes.how_many", "{field} are {least} to {most} texts", field=field, least=count[0], most=count[1]
        )
        raise RequestError(field, None, why, limit=count[1])
    return texts


def _ops(given: Any) -> list[str]:
    ops = _texts("ops", given, OPS, 40)
    wrong = next((op for op in ops if not OP.fullmatch(op)), None)
    if wrong is not None or len(set(ops)) < len(ops):
        raise RequestError("ops", wrong, message("classes.not_ops", "ops are different ops of a schedule, such as 0F0"))
    return ops


def _mixed(ops: list[str], right: str | None) -> list[str]:
    """Return at least two different ops in a random order that is not the right one, without one not that given."""
    told = right or " ".join(ops)
    mixed = told.split()
    while " ".join(mixed) == told:
        mixed = random.sample(ops, len(ops))
    return mixed


def _number(field: str, given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= LARGEST:
        raise RequestError(field, None, message("classes.not_a_number", "{field} is a number from 0", field=field))
    return float(given)


def tally_of(counts: Sequence[tuple[str, int]], question: int, round_: int) -> dict[str, Any]:
    """Return how a class has answered: its answers with how often each was given, the most frequent first."""
    ordered = sorted(counts, key=lambda each: (-each[1], each[0]))
    return {
        "question": question,
        "round": round_,
        "answered": sum(count for _, count in counts),
        "counts": [list(each) for each in ordered[:MOST_COUNTED]],
    }
