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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.laws.formula import Tree, compiled, parse
from backend.schedule.order.ops import KINDS, PAIR, B, F, I, W
from backend.schedule.order.order import encode
from backend.schedule.order.placement import Placement
from backend.schedule.search.building_block import Block
from backend.schedule.spec import Spec

Row = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Names = dict[str, Any]
Formulas = Mapping[str, str]


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
        due, lag = np.empty((p, chunks, 2)), np.empty((p, chunks))
        for names in _ranks({"p": p}, self.let, p):
            for token, slot in self.due.items():
                due[names["r"], int(token[1]), "FI".index(token[0])] = compiled(slot)(names)
            lag[names["r"]] = compiled(self.lag)(names)
        return Block(due, float(self.period), lag if self.lag != "0" else None)

    def as_dict(self) -> dict[str, Any]:
        """Return the block as JSON, with trees for its formulas."""
        return {"due": _trees(self.due), "period": self.period, "lag": parse(self.lag), "let": _trees(self.let)}


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

    def build(self, spec: Spec, placement: Placement) -> list[Row]:
        """Build the op codes of each rank, with implied micro-batches."""
        n = spec.m // placement.streams
        if self.slots:
            ranks = _ranks(sizes(spec) | {"i": np.arange(n)}, self.let, placement.p)
            return [self._by_slots(names, placement.chunks, n) for names in ranks]
        sequence = self._chunk_sequence(spec, placement.chunks)

        @cache
        def row(*counts: int, mirrored: bool) -> Row:
            return self._row(counts, mirrored, sequence, placement.chunks, n)

        return [
            row(*(int(compiled(count)(names)) for count, _ in self.rows), mirrored=bool(compiled(self.mirrored)(names)))
            for names in _ranks(sizes(spec), self.let, placement.p)
        ]

    def is_last_first(self, spec: Spec) -> bool:
        """Return whether the full backwards of a spec run from the last micro-batch to the first."""
        return bool(compiled(self.last_first)(sizes(spec)))

    def as_dict(self) -> dict[str, Any]:
        """Return the table as JSON, with trees for its formulas."""
        return {
            "rows": [[parse(count), pattern] for count, pattern in self.rows],
            "slots": _trees(self.slots),
            "let": _trees(self.let),
            **{name: parse(getattr(self, name)) for name in ("group", "mirrored", "last_first")},
        }

    def _chunk_sequence(self, spec: Spec, chunks: int) -> Row:
        """Return (m*v,) the chunk of each forward that names none."""
        g = int(compiled(self.group)(sizes(spec)))
        each = np.arange(chunks, dtype=np.uint8)
        return np.concatenate((np.tile(np.repeat(each, g), spec.m // g), np.repeat(each, spec.m % g)))

    def _row(self, counts: Sequence[int], mirrored: bool, sequence: Row, chunks: int, n: int) -> Row:
        """Build one row from the counts of its phases; ``n`` is the number of micro-batches in each chunk."""
        tokens, phases = _numbered(tuple(pattern for _, pattern in self.rows))
        numbers = np.frombuffer(b"".join(phase * count for phase, count in zip(phases, counts, strict=True)), np.uint8)
        row = np.array([_code(token, chunks, mirrored) for token in tokens], np.uint8)[numbers]
        if chunks > 1:
            free = np.array([KINDS.index(token) if token in KINDS else -1 for token in tokens])[numbers]
            _choose_chunks(row, free, sequence, chunks)
        return row if len(row) <= n or np.bincount(row).max() <= n else _without_surplus(row, n)

    def _by_slots(self, names: Names, chunks: int, n: int) -> Row:
        """Build one row from the slots of its ops."""
        slots = np.concatenate([compiled(slot)(names) for slot in self.slots.values()])
        codes = np.repeat(np.array([_code(token, chunks) for token in self.slots], np.uint8), n)
        return codes[np.argsort(slots, kind="stable")]


def sizes(spec: Spec) -> Names:
    """Return the names that formulas of tables and rules use: sizes, and fields of a spec as numbers, 0 for none."""
    names = {"p": spec.p, "m": spec.m, "v": spec.v, "g": spec.group_size}
    return names | {"group": spec.group or 0, "memory": spec.memory or 0, "lifo": int(spec.lifo)}


def _ranks(names: Names, let: Formulas, p: int) -> Iterator[Names]:
    """Yield the names of each rank: those given, its number, and what ``let`` adds."""
    for r in range(p):
        of_rank = names | {"r": r}
        for name, formula in let.items():
            of_rank[name] = compiled(formula)(of_rank)
        yield of_rank


@cache
def _numbered(patterns: tuple[str, ...]) -> tuple[list[str], list[bytes]]:
    """Return the tokens of all patterns, each once, and each pattern as their numbers."""
    tokens = list(dict.fromkeys(" ".join(patterns).split()))
    return tokens, [bytes(tokens.index(token) for token in pattern.split()) for pattern in patterns]


def _code(token: str, chunks: int, mirrored: bool = False) -> int:
    """Return the code of a token, with chunk 0 if it names none."""
    forward, _, backward = token.partition("&")
    a, b = (int(half[1:] or 0) ^ mirrored for half in (forward, backward or "B0"))
    return encode(PAIR, a, chunks, b) if backward else encode(KINDS.index(forward[0]), a, chunks)


def _choose_chunks(row: Row, free: Ints, sequence: Row, chunks: int) -> None:
    """Give each op that names no chunk its chunk; ``free`` is its kind, -1 for the others."""
    forward, backward, weight = free == F, (free == B) | (free == I), free == W
    row[forward] += sequence[: forward.sum()]
    row[backward] += (chunks - 1 - sequence)[: backward.sum()]
    if weight.any():
        row[weight] = row[(row >= I * chunks) & (row < (I + 1) * chunks)] + (W - I) * chunks


def _without_surplus(row: Row, n: int) -> Row:
    """Return a row without the ops after the first n of each code."""
    kept = np.ones(len(row), bool)
    for code in np.flatnonzero(np.bincount(row) > n):
        kept[np.flatnonzero(row == code)[n:]] = False
    return row[kept]


def _trees(formulas: Formulas) -> dict[str, Tree]:
    return {name: parse(formula) for name, formula in formulas.items()}
