"""The outcome of a search: an order, its span, and a lower bound on the span of any order.

Also checks the memory limit: under some limits no order exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend.schedule.errors import SpecError, message
from backend.schedule.order.order import Codes, Order, from_rows
from backend.schedule.search.building_block import Instance

MET = 1e-9  # spans are sums of thousands of float64


@dataclass(frozen=True, eq=False)
class Found:
    """The outcome of a search: ``codes`` (p, steps) in rank order, their ``span``, and a ``lower_bound`` by the
    argument ``bound_name`` (bounds.py).

    The same instance, seed and number of ``evaluations`` (orders that were timed) give the same codes.
    """

    codes: Codes
    span: float
    lower_bound: float
    bound_name: str
    evaluations: int
    seed: int

    @property
    def gap(self) -> float:
        """Return by which part of the bound the span exceeds it."""
        if self.optimal:
            return 0.0
        return self.span / self.lower_bound - 1.0 if self.lower_bound > 0.0 else float("inf")

    @property
    def optimal(self) -> bool:
        """Return whether the span meets the bound, so that no order is better."""
        return meets(self.span, self.lower_bound)

    def order(self, instance: Instance) -> Order:
        """Return the codes as an order of the instance they were found for."""
        return from_rows(instance.placement, instance.m, list(self.codes))

    def as_dict(self) -> dict[str, Any]:
        """Return the certificate of a Result as JSON."""
        return {
            "span": self.span,
            "lower_bound": self.lower_bound,
            "bound": self.bound_name,
            "gap": self.gap,
            "optimal": self.optimal,
            "evaluations": self.evaluations,
            "seed": self.seed,
        }


def meets(span: float, bound: float) -> bool:
    """Return whether a span equals a bound, except for rounding."""
    return span <= bound * (1.0 + MET)


def feasible(instance: Instance) -> None:
    """Raise SpecError for a limit under which not even one micro-batch can pass.

    Each device holds the activations of a micro-batch's F's, one chunk each, until it comes back. In that much
    memory the micro-batches can always run one after the other.
    """
    least = instance.least_room
    if instance.room < least - 1e-9:
        v = instance.v
        text = message(
            "schedule.memory_below_one_micro_batch",
            "one micro-batch's activations on a device ({least}) are the least memory that a step can run in",
            least=f"{least / v:g}",
        )
        raise SpecError("memory", instance.room / v, text, limit=least / v, nearest=least / v)
