"""The description of a family of schedules: a table of its rows, rules for its sizes, and its laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from backend.schedule.families.rules import Rule
from backend.schedule.families.table import BlockTable, Table, compile_formulas, sizes
from backend.schedule.laws.formula import parse
from backend.schedule.laws.law import Law
from backend.schedule.order.order import Codes, Order, from_rows
from backend.schedule.order.placement import Kind, Placement, place, place_on
from backend.schedule.search.problem import Problem
from backend.schedule.spec import LIMITS, Spec


@dataclass(frozen=True)
class Family:
    """A family of schedules.

    Its rows follow from ``table``; or ``construct`` builds them, each rank's op codes with implied micro-batches; or a
    search for ``problem`` finds them (searched.py). ``legal`` are the rules for its sizes, after the size checks of
    spec.py.
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
    laws: tuple[Law, ...]
    table: Table | None = None
    construct: Callable[[Spec], list[Codes]] | None = None
    problem: Callable[[Spec], Problem] | None = None
    legal: tuple[Rule, ...] = ()
    fields: tuple[str, ...] = ()
    """Which of group, lifo, FB, memory, offload, effort, seed and forward_only the family takes, besides p, m and the
    costs."""
    v: tuple[int, int, int] = (1, 1, 1)
    """Least, natural and greatest v; where all are alike the page shows no slider."""
    ops: str | None = None
    """How many ops its order has, a formula, where that is not the same for every micro-batch and chunk: pairs."""
    vocabulary: tuple[str, ...] = ()
    """The ways to spread the output layer over the ranks that the family's order can take in (vocabulary.py)."""
    asynchronous: bool = False
    """Whether weights change after every backward instead of once a step; each F then has a weight version."""
    ranks: tuple[int, ...] = ()
    """The rank of each stage where the placement is custom, which an imported order's may be."""
    block: BlockTable | None = None
    """One micro-batch's ops, repeated at a constant pace: the steady state at equal F, I and W, or what a family that
    is shaped by the costs is constructed from. None where nothing repeats micro-batch by micro-batch."""

    @property
    def shaped_by_costs(self) -> bool:
        """Return whether the order, not only its times, depends on the costs: a search or a squeeze."""
        return self.construct is not None

    def placement_of(self, spec: Spec) -> Placement:
        """Return where the stages of a spec are."""
        if self.ranks:
            return place_on(self.ranks, spec.p)
        return place(self.placement, spec.p, 2 if self.placement == "bidirectional" else spec.v)

    def stages(self, spec: Spec) -> int:
        """Return the number of stages of a spec."""
        return self.placement_of(spec).stages

    def validate(self, spec: Spec) -> None:
        """Raise SpecError unless the family takes the sizes of a spec."""
        for rule in self.legal:
            rule.validate(spec, self.title)

    def order(self, spec: Spec) -> Order:
        """Build the order of a legal spec."""
        placement = self.placement_of(spec)
        if self.table is None:
            assert self.construct is not None
            return from_rows(placement, spec.m, self.construct(spec))
        return self.table.build(spec, placement)

    def numbered(self, spec: Spec) -> bool:
        """Return whether the order stores its micro-batch numbers, because they are not first in, first out."""
        return self.table is not None and self.table.is_last_first(sizes(spec))

    def op_count(self, spec: Spec) -> int:
        """Count the ops in the order of a spec with its options, without building it.

        F and B of each micro-batch and chunk, or F, I and W; with the output layer spread over the ranks also S and T
        of each micro-batch; of a forward-only spec F alone.
        """
        if spec.forward_only:
            return spec.p * spec.m * spec.v
        shards = 2 * spec.p * spec.m if spec.barriers else 0
        if self.ops is not None:
            return int(compile_formulas(self.ops)(*sizes(spec))[0]) + shards
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
        texts = ("name", "title", "source", "used_by", "group", "summary", "backward", "complexity", "placement")
        return {key: getattr(self, key) for key in texts} | {
            "year": self.year,
            "fields": list(self.fields),
            "vocabulary": list(self.vocabulary),
            "asynchronous": self.asynchronous,
            "shaped_by_costs": self.shaped_by_costs,
            "block": None if self.block is None else self.block.as_dict(),
            "table": None if self.table is None else self.table.as_dict(),
            "legal": [rule.as_dict() for rule in self.legal],
            "ops": None if self.ops is None else parse(self.ops),
            "searched": self.problem is not None,
            "v": {"min": least, "default": natural, "max": most},
            "laws": [law.as_dict() for law in self.laws],
        }
