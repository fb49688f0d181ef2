"""A position of the workbench: the ops that each rank has been given so far, at given sizes, costs and memory.

A position need not be complete. Its JSON is the same on the page (static/js/core/workbench) and in tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from backend.schedule.errors import OrderError, SpecError, message
from backend.schedule.interop.op_rows import with_chunks
from backend.schedule.order.ops import Op, Pair, parse
from backend.schedule.order.order import Order, from_ops
from backend.schedule.order.placement import NAMED, Kind, Placement, place
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import MAX_TIME, Spec, choice, integer, number, optional, reject_unknown

LIMITS = {"p": 16, "m": 64, "v": 8}
KEYS = ("placement", "p", "m", "v", "costs", "w_share", "memory", "sizes", "recompute", "recompute_at", "rows")
COSTS = ("F", "I", "W", "comm", "FB", "R")
Row = tuple[Op | Pair, ...]


@dataclass(frozen=True)
class Position:
    """A position: ``rows`` has each rank's ops in order, with their micro-batches.

    ``v`` is the number of chunks per rank, 1 for the bidirectional placement; it divides costs that are given per
    device. ``memory`` is the most micro-batches' activations on one rank, None without a limit; ``w_share`` the part
    of them that W still needs after I. ``sizes`` has the size of each micro-batch where they differ; ``recompute`` and
    ``recompute_at`` are as in a spec. A position with any of these has no limit.
    """

    placement: Placement
    m: int
    v: int
    rows: tuple[Row, ...]
    costs: Costs = field(default_factory=Costs)
    w_share: float = 1.0
    memory: float | None = None
    sizes: tuple[float, ...] | None = None
    recompute: str = "none"
    recompute_at: str = "backward"

    @property
    def spec(self) -> Spec:
        """Return a spec of these sizes, costs and options, with some family."""
        options = {"sizes": self.sizes, "recompute": self.recompute, "recompute_at": self.recompute_at}
        return Spec("1f1b", self.p, self.m, self.v, costs=self.costs, w_share=self.w_share).with_(**options)

    @property
    def timing(self) -> Costs:
        """Return the effective costs of ops."""
        return self.spec.timing

    @property
    def p(self) -> int:
        return self.placement.p

    @property
    def n(self) -> int:
        """Return the number of micro-batches through one slot."""
        return self.m // self.placement.streams

    @property
    def placed(self) -> int:
        """Return the number of ops that are placed."""
        return sum(map(len, self.rows))

    def order(self) -> Order:
        """Return the rows as an order, which need not be complete or able to run."""
        return from_ops(self.placement, self.m, self.rows)

    def with_rows(self, rows: Sequence[Sequence[Op | Pair]]) -> Position:
        """Return the same position with other rows."""
        return replace(self, rows=tuple(tuple(row) for row in rows))

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Position:
        """Read a position strictly. Raises SpecError for a wrong field and OrderError for a wrong op."""
        reject_unknown(data, KEYS, message("workbench.a_position", "a position"))
        kind = cast(Kind, choice("placement", data.get("placement", "looped"), NAMED))
        sizes = {key: integer(key, data.get(key, 1), 1, most) for key, most in LIMITS.items()}
        p, m, v = sizes["p"], sizes["m"], sizes["v"]
        two = kind == "bidirectional"
        for name, wrong, nearest in (
            ("v", two and v != 1, 1),
            ("p", two and p % 2, p + 1),
            ("m", two and m % 2, m + 1),
        ):
            if wrong:
                text = message(
                    "workbench.two_directions",
                    "the bidirectional placement needs an even p and m, and v = 1; {name} = {nearest} is the nearest",
                    name=name,
                    nearest=nearest,
                )
                raise SpecError(name, sizes[name], text, nearest=nearest)
        placement = place(kind, p, 2 if two else v)
        costs = data.get("costs", {})
        if isinstance(costs, Mapping):
            reject_unknown(costs, COSTS, message("schedule.the_costs", "costs"))
        spec = Spec.from_json({"costs": costs})
        for name in ("F", "I", "W"):
            given = getattr(spec.costs, name)
            if isinstance(given, tuple) and len(given) != placement.stages:
                text = message(
                    "workbench.cost_of_each_stage",
                    "{name} as a list has one entry for each of the {stages} stages",
                    name=name,
                    stages=placement.stages,
                )
                raise SpecError(name, len(given), text)
        options = {key: data[key] for key in ("sizes", "recompute", "recompute_at") if key in data}
        found = _options(Spec.from_json({"m": m, "costs": costs} | options), data.get("memory"))
        return Position(
            placement,
            m,
            v,
            read_rows(placement, m, data.get("rows", [""] * p)),
            spec.costs,
            number("w_share", data.get("w_share", 1.0), 0.0, 1.0),
            optional(number, "memory", data.get("memory"), 1e-3, MAX_TIME),
            *found,
        )

    def to_json(self) -> dict[str, Any]:
        """Return every key, as ``from_json`` reads it."""
        costs = self.costs.to_json()
        return {
            "placement": self.placement.kind,
            "p": self.p,
            "m": self.m,
            "v": self.v,
            "costs": {key: costs[key] for key in COSTS if costs[key] is not None},
            "w_share": self.w_share,
            "memory": self.memory,
            "sizes": None if self.sizes is None else list(self.sizes),
            "recompute": self.recompute,
            "recompute_at": self.recompute_at,
            "rows": text_rows(self.rows),
        }


def _options(spec: Spec, memory: Any) -> tuple[tuple[float, ...] | None, str, str]:
    """Return sizes, recompute and recompute_at. Raises SpecError for those that a position does not have."""
    sizes, recompute = spec.sizes, spec.recompute
    if sizes is not None and (isinstance(sizes, str) or len(sizes) != spec.m):
        text = message("workbench.listed_sizes", "sizes has one number for each of the {m} micro-batches", m=spec.m)
        raise SpecError("sizes", sizes if isinstance(sizes, str) else len(sizes), text)
    if not isinstance(recompute, str):
        text = message("workbench.one_recompute", "a position recomputes all chunks alike")
        raise SpecError("recompute", list(recompute), text, nearest="full")
    if spec.recompute_at == "bubble":
        text = message("workbench.no_bubble", "what exceeds p micro-batches is known of a whole order; recompute ahead")
        raise SpecError("recompute_at", "bubble", text, nearest="ahead")
    if memory is not None and (sizes is not None or recompute != "none"):
        text = message(
            "workbench.limit_of_even", "a position with sizes or recomputation has no limit; leave memory out"
        )
        raise SpecError("memory", memory, text)
    assert sizes is None or not isinstance(sizes, str)
    return sizes, recompute, spec.recompute_at


def text_rows(rows: Sequence[Sequence[Op | Pair]]) -> list[str]:
    """Return one line of op texts for each rank; "" for an empty one."""
    return [" ".join(op.text() for op in row) for row in rows]


def read_rows(placement: Placement, m: int, given: Any) -> tuple[Row, ...]:
    """Read one text per rank. Raises OrderError for an op that is none, or that its rank does not have."""
    if not isinstance(given, list | tuple) or len(given) != placement.p or not all(isinstance(x, str) for x in given):
        text = message("workbench.a_row_a_rank", "rows has one text of ops for each of the {p} ranks", p=placement.p)
        raise SpecError("rows", given if isinstance(given, str) else None, text)
    most = 4 * placement.chunks * m  # more than any order has
    rows = []
    for rank, line in enumerate(given):
        if len(line) > 40 * most or line.count(" ") > most:
            text = message("workbench.row_too_long", "rank {rank} has more ops than these sizes have", rank=rank)
            raise OrderError(text, rank=rank)
        rows.append(tuple(with_chunks(map(parse, line.split()), placement, m, rank)))
    return tuple(rows)
