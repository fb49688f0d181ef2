"""The score of a complete order: time, memory, messages and simplicity."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from backend.schedule.partial_order.position import Position
from backend.schedule.partial_order.rule_length import simplicity
from backend.schedule.simulation.check import check
from backend.schedule.simulation.memory import peak_memory
from backend.schedule.simulation.message_flow import message_count
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate

METRICS = ("makespan", "bubble", "peak", "messages", "simplicity")


@dataclass(frozen=True)
class Score:
    """The score of an order, in each metric the less the better.

    ``makespan`` in the unit of the costs; ``bubble`` the idle part of all devices' time from the first start to the
    last end; ``peak`` the most micro-batches' activations on one device; ``messages`` the inputs that come from another
    device; ``simplicity`` the length of the shortest rule (rule_length.py).
    """

    makespan: float
    bubble: float
    peak: float
    messages: int
    simplicity: int

    def as_dict(self) -> dict[str, Any]:
        """Return the score as JSON."""
        return asdict(self)

    def key(self) -> tuple[float, float, int, int]:
        """Return what orders are compared by: time, then memory, messages and simplicity."""
        return self.makespan, self.peak, self.messages, self.simplicity


def score(position: Position) -> Score:
    """Compute the score of a complete position. Raises OrderError if its order is not complete or cannot run."""
    order = position.order()
    check(order)
    timeline = simulate(order, position.timing, position.v)
    found = figures(timeline)
    peak = float(peak_memory(timeline, position.w_share, position.v, position.spec.kept).max())
    return Score(found.makespan, found.global_bubble.of_total, peak, message_count(order), simplicity(order))
