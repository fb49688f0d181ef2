"""Value expressions: the figures of a lesson, computed by the engine.

    gpipe p=4 m=16 : bubble                          a family, keys as in links, and one of VALUES
    ratio: gpipe p=4 m=8 : peak ; 1f1b p=4 m=8 : peak
    product: gpipe p=4 m=8 : bubble ; 512 ; 24       values and numbers
    model llama3-70b : vocabulary * hidden           fields of a preset, multiplied or divided
    ... | percent                                    a format, one of FORMATS

Work is bounded: each schedule has a limit of ops, and so have all of a lesson together (Budget).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote_plus

import numpy as np

from backend.address.query import nested, number_of, value_of
from backend.errors import Message, RequestError, message
from backend.schedule.families.registry import family_of, op_count, order, read
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.estimate import estimate
from backend.schedule.hardware.models import MODELS, model_of
from backend.schedule.order.order import Order
from backend.schedule.result import law_values
from backend.schedule.simulation.memory import peak_memory, peaks
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.metrics import Figures, figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec

LONGEST = 400  # characters of an expression
MOST_OPS = 200_000  # of one schedule; one that is constructed op by op counts SLOW times
SLOW = 20
MOST_LESSON_OPS = 4_000_000  # of all schedules of a lesson
FACTORS = 12  # of a product
NBSP = "\u00a0"

PAIR = re.compile(r"([A-Za-z_][\w.]*)=(\S+)")
NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,6})?", re.ASCII)
FIELD = re.compile(r"[a-z_]+|\d{1,12}(?:\.\d{1,6})?")


class LessonError(ValueError):
    """Something in a lesson's file that is wrong; the message says what, and where there is one the way out."""

    def __init__(self, cause: str, line: int = 0) -> None:
        super().__init__(str(cause))
        self.cause, self.line = cause, line  # line: after the place where it is reported


def mistake(code: str, text: str, /, line: int = 0, **params: Any) -> LessonError:
    """Return the error of a mistake, which a `message` describes."""
    return LessonError(Message(code, text, params), line)


@dataclass
class Budget:
    """How many ops a lesson may still have timed."""

    left: int = MOST_LESSON_OPS
    seen: set[Spec] = field(default_factory=set)

    def spend(self, spec: Spec) -> None:
        """Count a schedule once. Raises LessonError for one that is too large, or searched for long."""
        if spec.effort is not None:
            raise mistake("lessons.no_search", "a lesson does not search for long; leave effort out")
        family = family_of(spec)
        slow = family.problem is not None or family.shaped_by_costs
        ops = op_count(spec) * (SLOW if slow else 1)
        most = MOST_OPS // (SLOW if slow else 1)
        if ops > MOST_OPS:
            raise mistake(
                "lessons.too_many_ops",
                "this schedule has {ops} ops; in a lesson {family} may have {most}",
                ops=f"{op_count(spec):,}",
                family=family.title,
                most=f"{most:,}",
            )
        if spec not in self.seen:
            self.seen.add(spec)
            self.left -= ops
        if self.left < 0:
            raise mistake(
                "lessons.budget_spent",
                "the schedules of this lesson have more than {most} ops together",
                most=f"{MOST_LESSON_OPS:,}",
            )


@dataclass(frozen=True, eq=False)
class Measured:
    """A schedule, timed."""

    spec: Spec
    order: Order
    timeline: Timeline
    figures: Figures


@dataclass(frozen=True)
class Computed:
    """A value: its number, its text, the view that it is from ("" for none), and what it could be confused with."""

    number: float
    text: str
    query: str = ""
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Given:
    """A spec as an expression names it, with the keys that are not a spec's own."""

    spec: Spec
    query: str
    more: dict[str, int | float]


@lru_cache(maxsize=256)
def _measured(spec: Spec) -> Measured:
    built = order(spec)
    timeline = simulate(built, spec.timing, spec.v)
    return Measured(spec, built, timeline, figures(timeline))


def measured(spec: Spec, budget: Budget) -> Measured:
    """Build and time a schedule within the budget. Raises LessonError."""
    budget.spend(spec)
    try:
        return _measured(spec)
    except RequestError as error:
        raise LessonError(error.message) from None


def _messages(of: Measured) -> float:
    made_by, hops = producers(of.order)
    return float(np.count_nonzero((made_by >= 0) & hops))


VALUES: dict[str, tuple[Callable[[Measured], float], str]] = {
    "bubble": (lambda of: of.figures.global_bubble.of_total, "percent"),
    "bubble.of_total": (lambda of: of.figures.global_bubble.of_total, "percent"),
    "bubble.ideal": (lambda of: of.figures.global_bubble.of_ideal, "percent"),
    "bubble.span": (lambda of: of.figures.span_bubble.of_total, "percent"),
    "bubble.span.ideal": (lambda of: of.figures.span_bubble.of_ideal, "percent"),
    "makespan": (lambda of: of.figures.makespan, "number"),
    "idle": (lambda of: of.figures.makespan - of.figures.busy, "number"),
    "peak": (
        lambda of: float(
            peak_memory(of.timeline, of.spec.w_share, of.spec.v, of.spec.kept, of.spec.weights or 0.0).max()
        ),
        "number",
    ),
    "in_flight": (lambda of: float(peaks(of.order)[0].max()), "number"),
    "messages": (_messages, "number"),
    "hops": (lambda of: _messages(of) / (2 * of.spec.m), "number"),
    "ops": (lambda of: float(len(of.order)), "number"),
}
"""Each value of a schedule: how it is computed, and its format."""
BUBBLES = {
    "bubble": message("lessons.bubble", "the idle share of the whole step"),
    "bubble.ideal": message("lessons.bubble_ideal", "the idle time relative to the work"),
    "bubble.span": message("lessons.bubble_span", "the idle share of the busiest device's own window"),
    "bubble.span.ideal": message("lessons.bubble_span_ideal", "the idle time of that window relative to the work"),
}
LAW = "law."
LAW_FORMATS = {"bubble": "number", "share": "percent", "makespan": "number", "peak": "number"}


def _plain(value: float) -> str:
    if value == round(value) and abs(value) < 1e15:
        return f"{round(value):,}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{float(f'{value:.4g}'):g}"


def _scaled(unit: str, size: float) -> Callable[[float], str]:
    def show(value: float) -> str:
        scaled = value / size
        return f"{scaled:,.0f}{NBSP}{unit}" if scaled >= 100 else f"{float(f'{scaled:.3g}'):g}{NBSP}{unit}"

    return show


FORMATS: dict[str, Callable[[float], str]] = {
    "percent": lambda value: f"{100 * value:.1f}{NBSP}%",
    "number": _plain,
    "about": lambda value: _plain(float(f"{value:.2g}")),
    "x": lambda value: f"{value:.1f}".removesuffix(".0") + "x",
    "thousands": _scaled("k", 1e3),
    "millions": _scaled("M", 1e6),
    "billions": _scaled("B", 1e9),
    "MB": _scaled("MB", 1e6),
    "GB": _scaled("GB", 1e9),
}


def compute(text: str, budget: Budget) -> Computed:
    """Evaluate an expression. Raises LessonError that says what is wrong in it."""
    body, bar, wanted = text.partition("|")
    body, wanted = body.strip(), wanted.strip()
    if len(text) > LONGEST:
        raise mistake("lessons.value_too_long", "a value has at most {most} characters", most=LONGEST)
    if bar and wanted not in FORMATS:
        raise mistake(
            "lessons.no_such_format", "{given} is no format; there are {names}", given=wanted[:40], names=list(FORMATS)
        )
    number, usual, query, others = _evaluate(body, budget)
    if not math.isfinite(number):
        raise mistake("lessons.not_finite", "this value is not a finite number")
    return Computed(number, FORMATS[wanted or usual](number), query, others)


def _evaluate(body: str, budget: Budget) -> tuple[float, str, str, tuple[tuple[str, float], ...]]:
    """Return (number, format, query, others)."""
    if body.startswith("ratio:"):
        above, semicolon, below = body.removeprefix("ratio:").partition(";")
        if not semicolon:
            raise mistake("lessons.ratio_needs_two", "ratio: takes two values with a semicolon between: ratio: A ; B")
        top, _, query, _ = _evaluate(above.strip(), budget)
        bottom = _evaluate(below.strip(), budget)[0]
        if bottom == 0:
            raise mistake("lessons.ratio_by_zero", "the second value of this ratio is 0")
        return top / bottom, "number", query, ()
    if body.startswith("product:"):
        return _values_product(body.removeprefix("product:").split(";"), budget), "number", "", ()
    head, colon, tail = body.rpartition(":")
    if not colon:
        raise mistake(
            "lessons.value_form",
            "a value is written FAMILY p=4 m=8 : VALUE, where VALUE is one of {names}",
            names=[*VALUES, "law.bubble"],
        )
    if head.split()[:1] == ["model"]:
        return _product(head.split()[1:], tail), "number", "", ()
    return _quantity(head, tail.strip(), budget)


def _values_product(parts: list[str], budget: Budget) -> float:
    """Multiply values and numbers. Raises LessonError."""
    if len(parts) > FACTORS:
        raise mistake("lessons.too_many_factors", "a product has at most {most} factors", most=FACTORS)
    factors = [part.strip() for part in parts]
    return math.prod(float(factor) if NUMBER.fullmatch(factor) else _evaluate(factor, budget)[0] for factor in factors)


def _quantity(head: str, name: str, budget: Budget) -> tuple[float, str, str, tuple[tuple[str, float], ...]]:
    given = spec_of(head, ())
    if name.startswith(LAW):
        return _law(given.spec, name.removeprefix(LAW)), LAW_FORMATS.get(name[4:], "number"), given.query, ()
    if name not in VALUES:
        raise mistake(
            "lessons.no_such_value",
            "{given} is no value; there are {names}",
            given=name[:40],
            names=[*VALUES, "law.bubble", "law.share", "law.makespan", "law.peak"],
        )
    value, usual = VALUES[name]
    of = measured(given.spec, budget)
    same = name.replace(".of_total", "")
    others = tuple((told, VALUES[key][0](of)) for key, told in BUBBLES.items() if key != same)
    return value(of), usual, given.query, others if same in BUBBLES else ()


def _law(spec: Spec, quantity: str) -> float:
    laws = [law for law in law_values(spec) if law["quantity"] == quantity]
    if not laws:
        raise mistake(
            "lessons.no_law", "{family} has no law of {given} here", family=family_of(spec).title, given=quantity[:40]
        )
    chosen = next((law for law in laws if law["exact"]), laws[0])
    return float(chosen["value"])


def _product(names: list[str], text: str) -> float:
    """Multiply and divide fields of a model's preset: ``vocabulary * hidden``. Raises LessonError."""
    if not names:
        raise mistake("lessons.model_needs_name", "model takes a preset; there are {names}", names=list(MODELS))
    try:
        changes = {key: number_of(key, value) for key, value in _pairs(names[1:])}
        fields = model_of(names[0], changes).as_dict()
        setting = Setting.read({"model": names[0], **changes, "p": 1})
        fields["parameters"] = estimate(setting).ledger.names["N"]  # of a layer, that a token passes through
    except RequestError as error:
        raise LessonError(error.message) from None
    parts = re.split(r"\s*([*/])\s*", text.strip())
    value = 1.0
    if len(parts) > 2 * FACTORS:
        raise mistake("lessons.too_many_factors", "a product has at most {most} factors", most=FACTORS)
    for at in range(0, len(parts), 2):
        factor = _factor(fields, parts[at])
        if at and parts[at - 1] == "/":
            if factor == 0:
                raise mistake("lessons.division_by_zero", "{given} is 0", given=parts[at])
            value /= factor
        else:
            value *= factor
    return value


def _factor(fields: dict[str, object], name: str) -> float:
    value = fields.get(name) if not name[:1].isdigit() else (float(name) if FIELD.fullmatch(name) else None)
    if isinstance(value, bool) or not isinstance(value, int | float):
        known = [key for key, each in fields.items() if isinstance(each, int | float) and not isinstance(each, bool)]
        raise mistake(
            "lessons.no_such_field",
            "{given} is no number of this model; there are {names}",
            given=name[:40],
            names=known,
        )
    return float(value)


def spec_of(head: str, more: tuple[str, ...]) -> Given:
    """Read ``FAMILY key=value ...``; keys of ``more`` are whole numbers or times of the expression's own.

    Raises LessonError for an illegal spec, with its reason.
    """
    family, *words = head.split() or [""]
    own: dict[str, int | float] = {}
    data: dict[str, object] = {"family": family}
    try:
        for key, text in _pairs(words):
            if key in more:
                own[key] = number_of(key, text)
            else:
                data[key] = value_of(key, text)
        spec = read(nested(data))
    except RequestError as error:
        raise LessonError(_named(error)) from None
    missing = [key for key in more if key not in own]
    if missing:
        raise mistake("lessons.key_is_missing", "{key}= is missing", key=missing[0])
    rest = [(key, text) for key, text in _pairs(words) if key not in (*more, "p", "m")]
    keys = [("family", spec.family), ("p", str(spec.p)), ("m", str(spec.m)), *rest]
    return Given(spec, "?" + "&".join(f"{key}={quote_plus(text, safe=',*')}" for key, text in keys), own)


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    pairs = [PAIR.fullmatch(word) for word in words]
    for word, pair in zip(words, pairs, strict=True):
        if pair is None:
            raise mistake("lessons.not_a_pair", "{given} is not written key=value, such as p=4", given=word[:40])
    return [(pair[1], pair[2]) for pair in pairs if pair is not None]


def _named(error: RequestError) -> Message | str:
    """Return the sentence of an error with the field that is wrong."""
    if error.field is None:
        return error.message
    return message(
        "lessons.field_is_wrong", "{field}={value}: {why}",
        field=error.field, value=str(error.value)[:40], why=error.message,
    )  # fmt: skip
