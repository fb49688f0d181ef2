"""Schedules as tables: the rows of a family, and its building block, as formulas that Python and the page read.

A row is written as in its paper: phases, each a count and a pattern of ops to repeat. Counts are formulas
(laws/formula.py) in the sizes of a spec, the rank ``r``, and the names that ``let`` adds. The page builds the same rows
from the same table.

Tokens of a pattern, separated by spaces:

- ``F`` the next forward of the rank's chunk sequence: chunk 0 for the micro-batches of a group, then chunk 1 for the
  same ones, and so on; ``B`` or ``I`` the next backward, of the same sequence with the chunks reversed;
- ``W`` the weight gradient of the oldest I that has none yet;
- ``F0``, ``I1``, ``W0``, ``B1`` the next op of a kind in the chunk of this number; ``F0&B1`` an overlapped pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from backend.schedule.laws.formula import Tree, compiled, parse
from backend.schedule.order.ops import KINDS, PAIR, B, F, I, W
from backend.schedule.order.order import Order, encode, micro_numbers, offsets_of
from backend.schedule.order.placement import Placement
from backend.schedule.search.building_block import Block
from backend.schedule.spec import Spec

Formulas = Mapping[str, str]
Values = Callable[..., tuple[Any, ...]]


class Sizes(NamedTuple):
    """What the formulas of tables and rules name: sizes, and fields of a spec as numbers, 0 for none."""

    p: int
    m: int
    v: int
    g: int
    group: int
    memory: float
    lifo: int


def sizes(spec: Spec) -> Sizes:
    """Return the values of these names."""
    return Sizes(spec.p, spec.m, spec.v, spec.group_size, spec.group or 0, spec.memory or 0, int(spec.lifo))


@cache
def compile_formulas(*formulas: str, let: tuple[tuple[str, str], ...] = ()) -> Values:
    """Compile formulas to a function of ``*Sizes``, the rank ``r`` and the micro-batch ``i``."""
    return compiled(formulas, f"{', '.join(Sizes._fields)}, r=0, i=0", let)


@dataclass(frozen=True, eq=False)
class BlockTable:
    """A building block: the slot of each F and I of micro-batch 0 on rank ``r``, as ``F0``, ``I0``, ``F1``, ``I1``.

    The next micro-batch follows ``period`` slots later; W is ``lag`` micro-batches later than its I.
    """

    due: Formulas
    period: int = 6
    lag: str = "0"
    let: Formulas = field(default_factory=dict)

    def build(self, p: int) -> Block:
        """Build the block on p devices."""
        chunks = len(self.due) // 2
        at = [(int(token[1]), "FI".index(token[0])) for token in self.due]
        values = compiled((*self.due.values(), self.lag), "p, r", self.let.items())
        due, lag = np.empty((p, chunks, 2)), np.empty((p, chunks))
        for r in range(p):
            *slots, lag[r] = values(p, r)
            for (chunk, kind), slot in zip(at, slots, strict=True):
                due[r, chunk, kind] = slot
        return Block(due, float(self.period), lag if self.lag != "0" else None)

    def as_dict(self) -> dict[str, Any]:
        """Return the block as JSON, with trees for its formulas; ``let`` is in order."""
        due = {op: parse(slot) for op, slot in self.due.items()}
        return {"due": due, "period": self.period, "lag": parse(self.lag), "let": _pairs(self.let)}


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a family.

    ``rows`` are phases: a count, not positive for none, and a pattern to repeat. Instead of them, ``slots`` may give
    the slot of micro-batch ``i`` for each op; a rank does its ops by their slots. Micro-batches beyond those of the
    spec are left out.
    """

    rows: Sequence[tuple[str, str]] = ()
    slots: Formulas = field(default_factory=dict)
    let: Formulas = field(default_factory=dict)
    """Names and their formulas, which may use the names before them."""
    group: str = "m"
    """The micro-batches of a group in the chunk sequence; the last group may be smaller."""
    mirrored: str = "0"
    """Whether a rank does with chunk 1 what the table says of chunk 0, and the reverse."""
    last_first: str = "0"
    """Whether each chunk's full backwards run from the last micro-batch to the first."""

    def build(self, spec: Spec, placement: Placement) -> Order:
        """Build the order of a spec."""
        names, n = sizes(spec), spec.m // placement.streams
        rows = self._rows_of_slots(names, placement) if self.slots else self._rows(names, placement)
        most = 3 * n * placement.chunks
        rows = [row if len(row) <= most else _without_surplus(row, n) for row in rows]
        codes = np.frombuffer(bytearray().join(rows), np.uint8)
        order = Order(placement, spec.m, codes, offsets_of([len(row) for row in rows]))
        return _backwards_from_the_last(order) if self.is_last_first(names) else order

    def _rows_of_slots(self, names: Sizes, placement: Placement) -> list[bytearray]:
        """Build each rank's row from the slots of its ops."""
        p, n = placement.p, names.m // placement.streams
        slots = self._values(*names, np.arange(p)[:, None], np.arange(n))
        codes = np.repeat(np.array([_code(token, placement.chunks) for token in self.slots], np.uint8), n)
        return [bytearray(row) for row in codes[np.argsort(np.concatenate(slots, axis=1), kind="stable")]]

    def _rows(self, names: Sizes, placement: Placement) -> list[bytearray]:
        """Build each rank's row from the counts of its phases."""
        plain, mirrored, free = _read(self._patterns, placement.chunks)
        g = int(compile_formulas(self.group)(*names)[0]) if free else 0
        next_of = {kind: _sequence(kind, placement.chunks, names.m, g) for kind in free}
        rows = []
        for r in range(placement.p):
            turned, *counts = map(int, self._values(*names, r))
            phases = mirrored if turned else plain
            row = bytearray().join(map(mul, phases.codes, counts))
            if free:
                _fill_chunks(row, phases, counts, next_of)
            rows.append(row)
        return rows

    @cached_property
    def _patterns(self) -> tuple[str, ...]:
        return tuple(pattern for _, pattern in self.rows)

    @cached_property
    def _values(self) -> Values:
        """Return the function that gives the slots, or ``mirrored`` and the counts of the phases."""
        formulas = self.slots.values() or (self.mirrored, *(count for count, _ in self.rows))
        return compile_formulas(*formulas, let=tuple(self.let.items()))

    def is_last_first(self, names: Sizes) -> bool:
        """Return whether the full backwards run from the last micro-batch to the first at these sizes."""
        return self.last_first != "0" and bool(compile_formulas(self.last_first)(*names)[0])

    def as_dict(self) -> dict[str, Any]:
        """Return the table as JSON, with trees for its formulas; ``let`` and ``slots`` are in order."""
        return {
            "rows": [[parse(count), pattern] for count, pattern in self.rows],
            "slots": _pairs(self.slots),
            "let": _pairs(self.let),
            **{name: parse(getattr(self, name)) for name in ("group", "mirrored", "last_first")},
        }


def _code(token: str, chunks: int, mirrored: bool = False) -> int:
    """Return the code of a token, with chunk 0 if it names none."""
    forward, _, backward = token.partition("&")
    a, b = (int(half[1:] or 0) ^ mirrored for half in (forward, backward or "B0"))
    return encode(PAIR, a, chunks, b) if backward else encode(KINDS.index(forward[0]), a, chunks)


class Phases(NamedTuple):
    """The patterns of all phases, in columns: the ``codes`` of each, with chunk 0 for ops that name none; of these the
    places and kinds (``free``); and the codes of W after each I that names its chunk.
    """

    codes: list[bytes]
    free: list[list[tuple[int, int]]]
    weights: list[bytes]


@cache
def _read(patterns: tuple[str, ...], chunks: int) -> tuple[Phases, Phases, frozenset[int]]:
    """Read patterns: as they are, mirrored, and the kinds of the ops that have to look for their chunk."""
    plain, mirrored = (_phases(patterns, chunks, turned) for turned in (False, True))
    return plain, mirrored, frozenset(kind for places in plain.free for _, kind in places)


def _phases(patterns: tuple[str, ...], chunks: int, mirrored: bool) -> Phases:
    phases = Phases([], [], [])
    for tokens in (pattern.split() for pattern in patterns):
        codes = [_code(token, chunks, mirrored) for token in tokens]
        named = [code for code, token in zip(codes, tokens, strict=True) if token[:-1] == "I"]
        free = [(at, KINDS.index(token)) for at, token in enumerate(tokens) if token in KINDS]
        phases.codes.append(bytes(codes))
        phases.free.append(free if chunks > 1 else [])  # with one chunk there is nothing to look for
        phases.weights.append(bytes(code + (W - I) * chunks for code in named))
    return phases


def _sequence(kind: int, chunks: int, m: int, g: int) -> bytearray:
    """Return (m*v,) the codes of the ops of a kind that name no chunk, in groups of g micro-batches."""
    codes = range(kind * chunks, (kind + 1) * chunks)

    def group(size: int) -> bytearray:
        return bytearray().join(bytes([code]) * size for code in (codes if kind == F else reversed(codes)))

    return group(g) * (m // g) + group(m % g)


def _fill_chunks(row: bytearray, phases: Phases, counts: list[int], next_of: dict[int, bytearray]) -> None:
    """Let each op that names no chunk be the next of its kind, in place; B and I are of one kind here.

    W follows the I: those that name their chunk, or else the sequence.
    """
    named = bytearray().join(map(mul, phases.weights, counts))
    if named:
        next_of = next_of | {W: named}
    taken, begin = [0] * len(KINDS), 0
    for codes, free, count in zip(phases.codes, phases.free, counts, strict=True):
        if count <= 0:
            continue
        end = begin + count * len(codes)
        for place, kind in free:
            counter = I if kind == B else kind
            first = taken[counter]
            taken[counter] = last = first + count
            row[begin + place : end : len(codes)] = next_of[kind][first:last]
        begin = end


def _without_surplus(row: bytearray, n: int) -> bytearray:
    """Return a row without the ops after the first n of each code."""
    codes = np.frombuffer(row, np.uint8)
    kept = np.ones(len(codes), bool)
    for code in np.flatnonzero(np.bincount(codes) > n):
        kept[np.flatnonzero(codes == code)[n:]] = False
    return bytearray(codes[kept])


def _backwards_from_the_last(order: Order) -> Order:
    """Return the same order with each chunk's full backwards from the last micro-batch to the first."""
    if order.n == 1:
        return order  # a single micro-batch: nothing to reverse
    full = order.codes // order.chunks == B
    first = np.concatenate([micro_numbers(order, rank)[0] for rank in range(order.p)])
    numbers = np.where(full, order.n - 1 - first, first)
    micro = np.stack((numbers, np.full_like(numbers, -1)), 1).astype(np.int32)
    return Order(order.placement, order.m, order.codes, order.offsets, micro)


def _pairs(formulas: Formulas) -> list[tuple[str, Tree]]:
    """Return formulas as JSON that keeps their order."""
    return [(name, parse(formula)) for name, formula in formulas.items()]
