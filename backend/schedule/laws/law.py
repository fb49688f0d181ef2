"""Closed forms of schedules, each with the region where it is exact.

A law is data: a formula, and conditions, each with the reason why the law may fail outside it. Every family has its
laws; tests compare every law with the simulation inside its region.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from backend.schedule.errors import message
from backend.schedule.laws.formula import Tree, parse, text, value_of
from backend.schedule.simulation.costs import Cost, Costs, SizedCosts


@dataclass(frozen=True)
class Law:
    """``formula`` gives ``quantity``: the idle time per device in a window ("bubble"), its share of the window
    ("share", as textbooks have it), the whole time ("makespan"), or the most chunks in flight on any rank ("peak"),
    wherever every condition of ``where`` holds.
    """

    quantity: Literal["bubble", "share", "makespan", "peak"]
    formula: str
    source: str
    where: tuple[tuple[str, str], ...] = ()
    window: Literal["global", "span"] = "global"
    when: str | None = None
    """A condition without which the law does not apply to a spec and is left out."""
    shards: bool = False
    """Whether it holds too if S and T of a sharded output layer are among the ops (vocabulary.py)."""
    forward: bool = False
    """Whether it is about the forward-only schedule of a family, instead of the one with backwards."""
    sized: bool = False
    """Whether it is about micro-batches that differ (options/sizes.py); one of a peak in chunks is about any."""

    @property
    def tree(self) -> Tree:
        return parse(self.formula)

    def as_dict(self) -> dict[str, Any]:
        """Return the law as JSON for the page: trees instead of text."""
        return {
            "name": self.quantity,
            "quantity": self.quantity,
            "window": self.window,
            "formula": self.tree,
            "where": [[parse(condition), sentence] for condition, sentence in self.where],
            "source": self.source,
            "when": parse(self._when),
        }

    def speaks(self, names: dict[str, float]) -> bool:
        """Return whether the law applies to a spec with these names."""
        return bool(value_of(self._when, names))

    @cached_property
    def _when(self) -> str:
        passes = f"forward_only == {self.forward:d} and frozen == 0"
        if self.quantity != "peak":
            passes = f"({passes}) and sized == {self.sized:d}"
        return passes if self.when is None else f"({passes}) and ({self.when})"

    def value(self, names: dict[str, float]) -> float:
        """Return what the formula gives at one point."""
        return value_of(self.formula, names)

    def broken(self, names: dict[str, float]) -> str | None:
        """Return why the law may not be exact at one point; None where it is."""
        return next((sentence for condition, sentence in self.where if not value_of(condition, names)), None)

    def evaluate(self, names: dict[str, float]) -> dict[str, Any]:
        """Evaluate the law at one point: its text, with numbers, its value, whether it is exact there, and if not,
        why.
        """
        broken = self.broken(names)
        return {
            "quantity": self.quantity,
            "window": self.window,
            "text": text(self.tree),
            "numbers": text(self.tree, names),
            "value": self.value(names),
            "exact": broken is None,
            "why": broken,
        }


AHEAD = "lead > 0"
"""Where recomputation runs ahead of the gradient."""
UNIFORM = (
    "uniform == 1",
    message("schedule.unless_uniform", "the stages differ in cost; the closed form assumes equal ones"),
)
NO_SHARD_HOPS = (
    "barriers == 0 or c == 0",
    message("schedule.unless_no_shard_hops", "the hops of the barriers around S and T are not counted"),
)
IN_STEP = (
    "interlaced == 0 or f <= b",
    message("schedule.unless_in_step", "interlaced, a forward that is longer than the backward holds the ranks up"),
)
NO_HOPS = (
    "c == 0",
    message("schedule.unless_no_hops", "the formula leaves out communication, and here a hop takes time"),
)


def names(p: int, m: int, v: int, g: int, stages: int, costs: Costs) -> dict[str, float]:
    """Return the names that formulas use, at these sizes and costs.

    Sizes, costs per device (f, i, w, b = i + w, hop latency c, pair FB, the part ``lead``
    of i that runs ahead of the gradient), the sums and maxima over stages for uneven
    ones, ``sum_x`` and ``max_x`` of what micro-batches take of that (m and 1 where they are equal), and three
    conditions as 0 or 1: ``uniform``, ``fb_full`` (a pair takes F + B), ``sized``.
    """
    f, i, w = (_mean(cost, stages, v) for cost in (costs.F, costs.I, costs.W))
    per_f, per_i, per_w = (_list(cost, stages, v) for cost in (costs.F, costs.I, costs.W))
    per_b = [a + b for a, b in zip(per_i, per_w, strict=True)]
    pair = f + i + w if costs.FB is None else costs.FB
    scale = costs.scale if isinstance(costs, SizedCosts) else []
    return {
        "p": p, "m": m, "v": v, "g": g, "S": stages, "f": f, "i": i, "w": w, "b": i + w, "c": costs.comm, "FB": pair,
        "lead": _mean(costs.lead, stages, v), "s": costs.S or 0.0, "t": costs.T or 0.0,
        "sum_f": sum(per_f), "max_f": max(per_f), "sum_b": sum(per_b), "max_b": max(per_b),
        "sum_x": sum(scale) if scale else m, "max_x": max(scale, default=1.0), "sized": float(bool(scale)),
        "uniform": float(costs.uniform), "fb_full": float(costs.FB is None or f + i + w == costs.FB),
    }  # fmt: skip


def _list(cost: Cost, stages: int, v: int) -> list[float]:
    return list(cost) if isinstance(cost, tuple) else [cost / v] * stages


def _mean(cost: Cost, stages: int, v: int) -> float:
    """Return the cost of a device's whole share: for a list, v times the mean of its entries."""
    if not isinstance(cost, tuple):
        return cost
    return cost[0] * v if len(set(cost)) == 1 else v * sum(cost) / stages
