"""Which sizes a family takes: rules as formulas, which Python and the page evaluate, with the nearest legal size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from backend.schedule.errors import Message, SpecError
from backend.schedule.families.table import compile_formulas, sizes
from backend.schedule.laws.formula import parse
from backend.schedule.spec import Spec

FARTHEST = 4096  # how far from a refused value the nearest legal one is looked for; twice the most devices would do


class Sentence(NamedTuple):
    """A sentence with holes that are filled when a rule refuses a spec; like those of ``message``, of literals."""

    code: str
    text: str


@dataclass(frozen=True)
class Rule:
    """``where`` holds for every legal spec; otherwise the field ``name`` is refused.

    The sentence may name the ``family``, the ``nearest`` legal value, and what ``holes`` gives by formulas.
    """

    name: Literal["p", "m", "group", "memory"]
    where: str
    sentence: Sentence
    holes: Mapping[str, str] = field(default_factory=dict)

    def validate(self, spec: Spec, title: str) -> None:
        """Raise SpecError unless the rule holds; ``title`` is that of the family."""
        if self._holds(spec):
            return
        names = sizes(spec)
        value = names.g if self.name == "group" else getattr(names, self.name)
        nearest = self._nearest(spec, int(value))
        filled = map(int, compile_formulas(*self.holes.values())(*names))
        holes = {"family": title, "nearest": nearest} | dict(zip(self.holes, filled, strict=True))
        text = self.sentence.text
        params = {name: each for name, each in holes.items() if f"{{{name}}}" in text}
        limit = nearest if parse(self.where)[0] in ("<=", ">=") else None
        raise SpecError(self.name, value, Message(self.sentence.code, text, params), limit=limit, nearest=nearest)

    def _holds(self, spec: Spec) -> bool:
        return bool(compile_formulas(self.where)(*sizes(spec))[0])

    def _nearest(self, spec: Spec, value: int) -> int | None:
        """Return the closest value from 1 up with which the rule holds, of two the larger one."""
        for distance in range(1, FARTHEST):
            for each in (value + distance, value - distance):
                if each > 0 and self._holds(spec.with_(**{self.name: each})):
                    return each
        return None

    def as_dict(self) -> dict[str, Any]:
        """Return the rule as JSON for the page: trees instead of text."""
        return {
            "field": self.name,
            "where": parse(self.where),
            "code": self.sentence.code,
            "template": self.sentence.text,
            "holes": {name: parse(formula) for name, formula in self.holes.items()},
        }


_EVEN = {
    "p": Sentence("schedule.needs_even_p", "{family} needs an even number of devices; p = {nearest} is the nearest"),
    "m": Sentence("schedule.needs_even_m", "{family} needs an even number of micro-batches; {nearest} is the nearest"),
}


def even(name: Literal["p", "m"]) -> Rule:
    """Build the rule that p or m is even."""
    return Rule(name, f"{name} % 2 == 0", _EVEN[name])


def two_per_device() -> Rule:
    """Build the rule that there are at least two micro-batches for each device."""
    text = Sentence("schedule.needs_two_per_device", "{family} needs at least 2p = {nearest} micro-batches")
    return Rule("m", "m >= 2*p", text)


def whole_groups(size: str) -> Rule:
    """Build the rule that m is a multiple of a size, given as a formula."""
    return Rule(
        "m",
        f"m % ({size}) == 0",
        Sentence(
            "schedule.whole_groups_needed",
            "micro-batches go in groups of {group}; m = {nearest} is the nearest that is whole groups",
        ),
        {"group": size},
    )
