"""Goals of a question that is answered with the sliders: a view, the sizes that may change, and what is to be reached.

    ?family=gpipe&p=4&m=4      bubble < 10 % and peak <= 40      m=28

A goal is a quantity, a comparison and a bound: a number, a percentage, or a value (values.py). The answer of the file
is one that reaches it, so that every goal can be reached; the view as it is must not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from backend.errors import Message, message
from backend.lessons.values import FORMATS, VALUES, Budget, compute, measured, mistake
from backend.lessons.views import view_of

GOAL = re.compile(r"([a-z]+)\s*(<=|>=|<|>)\s*(.+)", re.DOTALL)
BOUND = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(%?)")
SIZES = re.compile(r"[pmv]=\d{1,4}( [pmv]=\d{1,4})*", re.ASCII)
SLIDERS = {"p": 32, "m": 128, "v": 8}  # their ends beside a lesson
EPSILON = 1e-9
QUANTITIES: Mapping[str, Message] = {
    "bubble": message("lessons.goal_bubble", "bubble"),
    "makespan": message("lessons.goal_makespan", "step time"),
    "peak": message("lessons.goal_peak", "peak memory"),
}
"""What a goal can be about: figures that the page and the component show."""
COMPARISONS: Mapping[str, tuple[Callable[[float, float], bool], Message]] = {
    "<": (
        lambda value, bound: value < bound - EPSILON,
        message("lessons.below", "{quantity} below {bound}", quantity="{quantity}", bound="{bound}"),
    ),
    "<=": (
        lambda value, bound: value <= bound + EPSILON,
        message("lessons.at_most", "{quantity} at most {bound}", quantity="{quantity}", bound="{bound}"),
    ),
    ">": (
        lambda value, bound: value > bound + EPSILON,
        message("lessons.above", "{quantity} above {bound}", quantity="{quantity}", bound="{bound}"),
    ),
    ">=": (
        lambda value, bound: value >= bound - EPSILON,
        message("lessons.at_least", "{quantity} at least {bound}", quantity="{quantity}", bound="{bound}"),
    ),
}
NOT_REACHED = message("lessons.not_reached", "With {sizes} that is: {found}.", sizes="{sizes}", found="{found}")
SET_SIZES = message("lessons.set_sizes", "Move the slider first.")


@dataclass(frozen=True)
class Goal:
    """A quantity, its comparison with a bound, and the bound."""

    quantity: str
    comparison: str
    bound: float

    def text(self) -> Message:
        """Return it as a reader reads it: bubble below 10 %."""
        template = COMPARISONS[self.comparison][1]
        bound = shown_value(self.quantity, self.bound).replace(".0\u00a0%", "\u00a0%")
        shown = {"quantity": QUANTITIES[self.quantity], "bound": bound}
        return Message(template.code, template, shown)

    def is_met(self, value: float) -> bool:
        """Return whether a value reaches it."""
        return COMPARISONS[self.comparison][0](value, self.bound)


def shown_value(quantity: str, value: float) -> str:
    """Write a value of a quantity in its unit."""
    return FORMATS[VALUES[quantity][1]](value)


def goals_of(text: str, budget: Budget) -> tuple[Goal, ...]:
    """Read goals with "and" between: ``bubble < 10 % and peak <= 4``. Raises LessonError."""
    return tuple(_goal(part.strip(), budget) for part in text.split(" and "))


def _goal(text: str, budget: Budget) -> Goal:
    found = GOAL.fullmatch(text)
    if found is None or found[1] not in QUANTITIES:
        raise mistake(
            "lessons.bad_goal",
            "a goal is written {example}; the quantity is one of {names}",
            example="bubble < 10 %",
            names=list(QUANTITIES),
        )
    bound = BOUND.fullmatch(found[3])
    if bound is None:
        return Goal(found[1], found[2], compute(found[3], budget).number)
    return Goal(found[1], found[2], float(bound[1]) / (100.0 if bound[2] else 1.0))


def sizes_of(text: str) -> dict[str, int]:
    """Read sizes such as ``p=4 m=28``; none where the text is something else."""
    if not SIZES.fullmatch(text):
        return {}
    return {key: int(value) for key, _, value in (pair.partition("=") for pair in text.split())}


def solved_view(query: str, sizes: Mapping[str, int]) -> str:
    """Return a view's query with other sizes."""
    pairs = [(key, value) for key, value in parse_qsl(query.removeprefix("?")) if key not in sizes]
    return "?" + urlencode([*pairs, *((key, str(value)) for key, value in sizes.items())], safe=",*")


def reached(query: str, sizes: Mapping[str, int], goals: tuple[Goal, ...]) -> tuple[bool, list[Message]]:
    """Return whether a view with these sizes reaches all goals, and what it has of each. Raises LessonError."""
    of = measured(view_of(solved_view(query, sizes), Budget())[0], Budget())
    values = [(goal, VALUES[goal.quantity][0](of)) for goal in goals]
    return all(goal.is_met(value) for goal, value in values), [
        message(
            "lessons.value_of", "{quantity} {value}",
            quantity=QUANTITIES[goal.quantity], value=shown_value(goal.quantity, value),
        )
        for goal, value in values
    ]  # fmt: skip


def check(query: str, sizes: Mapping[str, int], goals: tuple[Goal, ...]) -> None:
    """Raise LessonError unless the goals are open at the start and the file's own answer reaches them."""
    if not sizes or any(value > SLIDERS[key] for key, value in sizes.items()):
        raise mistake(
            "lessons.no_sizes",
            "answer has the sizes that reach the goal, such as {example}; the sliders of a lesson end at {ends}",
            example="m=28",
            ends=[f"{key}={most}" for key, most in SLIDERS.items()],
        )
    begin, _ = reached(query, {}, goals)
    if begin:
        raise mistake("lessons.met_at_start", "this view reaches the goal already")
    done, found = reached(query, sizes, goals)
    if not done:
        raise mistake("lessons.goal_missed", "the answer does not reach the goal: {found}", found=found)
