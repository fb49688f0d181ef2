"""The description of a family of schedules, and two helpers to write rows as in the papers.

A family is one file: a row of ops for each rank, written as phases (a count and a pattern), the legal specs, and the
laws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from backend.schedule.laws.law import Law
from backend.schedule.order.ops import B
from backend.schedule.order.order import Codes, Order, from_rows, micro_numbers
from backend.schedule.order.placement import Kind, place
from backend.schedule.search.building_block import Block
from backend.schedule.search.problem import Problem
from backend.schedule.spec import LIMITS, Spec

Row = npt.NDArray[np.uint8]
Pattern = Sequence[int] | Row


@dataclass(frozen=True)
class Family:
    """A family of schedules.

    ``rows(spec)`` gives each rank's op codes with implied micro-batches, ``legal(spec)`` raises SpecError for specs
    that the family cannot build (after the size checks of spec.py), ``chunks(spec)`` is the number of model parts per
    rank.
    """

    name: str
    title: str
    year: int
    source: str
    used_by: str
    group: Literal["classic", "interleaved", "zero bubble", "V", "bidirectional", "memory"]
    summary: str
    backward: Literal["full", "split", "both"]
    complexity: str
    placement: Kind
    rows: Callable[[Spec], list[Row]]
    legal: Callable[[Spec], None]
    laws: tuple[Law, ...]
    fields: tuple[str, ...] = ()
    """Which of group, lifo, FB, memory, offload, effort, seed and forward_only the family takes, besides p, m and the
    costs."""
    v: tuple[int, int, int] = (1, 1, 1)
    """Least, natural and greatest v; where all are alike the page shows no slider."""
    chunks: Callable[[Spec], int] = lambda spec: spec.v
    ops: Callable[[Spec], int] | None = None
    """How many ops its order has, where that is not the same for every micro-batch and chunk: overlapped pairs."""
    vocabulary: tuple[str, ...] = ()
    """The ways to spread the output layer over the ranks that the family's order can take in (vocabulary.py)."""
    asynchronous: bool = False
    """Whether weights change after every backward instead of once a step; each F then has a weight version."""
    shaped_by_costs: bool = False
    """Whether the order, not only its times, depends on the costs: a search or a squeeze."""
    block: Callable[[Spec], Block] | None = None
    """One micro-batch's ops, repeated at a constant pace: the steady state at equal F, I and W, or what a family that
    is shaped by the costs is laid from. None where nothing repeats micro-batch by micro-batch."""
    problem: Callable[[Spec], Problem] | None = None
    """The problem of a searched family, whose rows a search finds (searched.py); None where rows are constructed."""
    numbered: Callable[[Spec], bool] = lambda spec: False
    """Whether its order has to store micro-batch numbers, because they are not first in, first out."""
    finish: Callable[[Spec, Order], Order] = lambda spec, order: order
    """A last step on the order, for what phases cannot express (GPipe's backward from last to first)."""

    def order(self, spec: Spec) -> Order:
        """Build the order of a legal spec."""
        placement = place(self.placement, spec.p, self.chunks(spec))
        return self.finish(spec, from_rows(placement, spec.m, self.rows(spec)))

    def op_count(self, spec: Spec) -> int:
        """Count the ops in the order of a spec with its options, without building it.

        F and B of each micro-batch and chunk, or F, I and W; with the output layer spread over the ranks also S and T
        of each micro-batch; of a forward-only spec F alone.
        """
        if spec.forward_only:
            return spec.p * spec.m * spec.v
        shards = 2 * spec.p * spec.m if spec.barriers else 0
        if self.ops is not None:
            return self.ops(spec) + shards
        return (2 if self.backward == "full" else 3) * spec.p * spec.m * spec.v + shards

    def most_ops(self, spec: Spec) -> int:
        """Return the most ops that the order of a spec may have: fewer if each is placed by itself, by costs or with a
        number of its micro-batch, than if rows are phases.
        """
        placed = self.shaped_by_costs or self.numbered(spec) or spec.barriers or spec.offload != "none"
        return LIMITS["placed_ops" if placed else "ops"]

    def as_dict(self) -> dict[str, Any]:
        """Return the family as JSON, for the page and the command line."""
        least, natural, most = self.v
        plain = (
            "name",
            "title",
            "year",
            "source",
            "used_by",
            "group",
            "summary",
            "backward",
            "complexity",
            "placement",
        )
        return {key: getattr(self, key) for key in plain} | {
            "fields": list(self.fields),
            "vocabulary": list(self.vocabulary),
            "asynchronous": self.asynchronous,
            "shaped_by_costs": self.shaped_by_costs,
            "block": self.block is not None,
            "searched": self.problem is not None,
            "v": {"min": least, "default": natural, "max": most},
            "laws": [law.as_dict() for law in self.laws],
        }


def phases(*steps: tuple[int, Pattern]) -> Codes:
    """Build a row from its phases: each a count (none if not positive) and the pattern to repeat."""
    row = bytearray()  # whose concatenation takes a tenth of the time of numpy's
    for count, pattern in steps:
        if count > 0:
            row += (bytes(pattern) if isinstance(pattern, list) else np.asarray(pattern, np.uint8).tobytes()) * count
    return np.frombuffer(row, np.uint8) if row else np.empty(0, np.uint8)


def alternate(*columns: Row) -> Row:
    """Interleave one op of each column in turn: ``alternate(F, B)`` is the steady phase of 1F1B. All columns have
    the same length.
    """
    return np.stack(columns, axis=1).ravel()


def backwards_from_the_last(spec: Spec, order: Order) -> Order:
    """Return the same order with each chunk's full backwards from the last micro-batch to the first."""
    if order.n == 1:
        return order  # a single micro-batch: nothing to reverse
    full = order.codes // order.chunks == B
    first = np.concatenate([micro_numbers(order, rank)[0] for rank in range(order.p)])
    numbers = np.where(full, order.n - 1 - first, first)
    micro = np.stack((numbers, np.full_like(numbers, -1)), 1).astype(np.int32)
    return Order(order.placement, order.m, order.codes, order.offsets, micro)
