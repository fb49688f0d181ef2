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
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from backend.schedule.laws.formula import Tree, compiled, parse
from backend.schedule.order.ops import KINDS, PAIR, I, W
from backend.schedule.order.order import encode
from backend.schedule.order.placement import Placement
from backend.schedule.search.building_block import Block
from backend.schedule.spec import Spec

Row = npt.NDArray[np.uint8]
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
        at = [(int(token[1]), "FI".index(token[0])) for token in self.due]
        values = compiled(*self.due.values(), self.lag, let=tuple(self.let.items()))
        due, lag = np.empty((p, chunks, 2)), np.empty((p, chunks))
        for r in range(p):
            *slots, lag[r] = values({"p": p, "r": r})
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

    def build(self, spec: Spec, placement: Placement) -> list[Row]:
        """Build the op codes of each rank, with implied micro-batches."""
        chunks, n, let = placement.chunks, spec.m // placement.streams, tuple(self.let.items())
        if self.slots:
            codes = np.repeat(np.array([_code(token, chunks) for token in self.slots], np.uint8), n)
            slots = compiled(*self.slots.values(), let=let)
            given = sizes(spec) | {"i": np.arange(n)}
            return [
                codes[np.argsort(np.concatenate(slots(given | {"r": r})), kind="stable")] for r in range(placement.p)
            ]
        counts = compiled(self.mirrored, *(count for count, _ in self.rows), let=let)
        names, row = sizes(spec), self._rows_of(spec, chunks, n)
        return [row(*counts(names | {"r": r})) for r in range(placement.p)]

    def _rows_of(self, spec: Spec, chunks: int, n: int) -> Callable[..., Row]:
        """Return a function that builds a row, with ``n`` micro-batches in each chunk, from ``mirrored`` and the counts
        of its phases. Ranks with the same counts share a row.
        """
        patterns = tuple(pattern for _, pattern in self.rows)
        free = chunks > 1 and not set(KINDS).isdisjoint(" ".join(patterns).split())
        next_of = _sequences(self._chunk_sequence(spec, chunks), chunks) if free else {}

        @cache
        def row(mirrored: float, *counts: float) -> Row:
            read = _phases(patterns, chunks, bool(mirrored))
            phases = [(int(count), phase) for count, phase in zip(counts, read, strict=True) if count > 0]
            if free:
                made = _with_chunks(phases, next_of, chunks)
            else:
                made = np.frombuffer(b"".join(phase.codes * count for count, phase in phases), np.uint8)
            return made if len(made) <= 3 * n * chunks else _without_surplus(made, n)

        return row

    def is_last_first(self, spec: Spec) -> bool:
        """Return whether the full backwards of a spec run from the last micro-batch to the first."""
        return self.last_first != "0" and bool(compiled(self.last_first)(sizes(spec))[0])

    def as_dict(self) -> dict[str, Any]:
        """Return the table as JSON, with trees for its formulas; ``let`` and ``slots`` are in order."""
        return {
            "rows": [[parse(count), pattern] for count, pattern in self.rows],
            "slots": _pairs(self.slots),
            "let": _pairs(self.let),
            **{name: parse(getattr(self, name)) for name in ("group", "mirrored", "last_first")},
        }

    def _chunk_sequence(self, spec: Spec, chunks: int) -> Row:
        """Return (m*v,) the chunk of each forward that names none."""
        g = int(compiled(self.group)(sizes(spec))[0])
        each = np.arange(chunks, dtype=np.uint8)
        return np.concatenate((np.tile(np.repeat(each, g), spec.m // g), np.repeat(each, spec.m % g)))


def sizes(spec: Spec) -> Names:
    """Return the names that formulas of tables and rules use: sizes, and fields of a spec as numbers, 0 for none."""
    names = {"p": spec.p, "m": spec.m, "v": spec.v, "g": spec.group_size}
    return names | {"group": spec.group or 0, "memory": spec.memory or 0, "lifo": int(spec.lifo)}


@cache
def _code(token: str, chunks: int, mirrored: bool = False) -> int:
    """Return the code of a token, with chunk 0 if it names none."""
    forward, _, backward = token.partition("&")
    a, b = (int(half[1:] or 0) ^ mirrored for half in (forward, backward or "B0"))
    return encode(PAIR, a, chunks, b) if backward else encode(KINDS.index(forward[0]), a, chunks)


class Phase(NamedTuple):
    """A pattern: its ``codes``, with chunk 0 for ops that name none, the columns and kinds of these, and the chunks of
    the I that name one.
    """

    codes: bytes
    free: tuple[tuple[int, str], ...]
    inputs: bytes


@cache
def _phases(patterns: tuple[str, ...], chunks: int, mirrored: bool) -> list[Phase]:
    """Read the patterns of all phases."""
    phases = []
    for tokens in (pattern.split() for pattern in patterns):
        codes = bytes(_code(token, chunks, mirrored) for token in tokens)
        inputs = bytes(code - I * chunks for code, token in zip(codes, tokens, strict=True) if token[:-1] == "I")
        phases.append(Phase(codes, tuple((at, each) for at, each in enumerate(tokens) if each in KINDS), inputs))
    return phases


def _sequences(forward: Row, chunks: int) -> dict[str, Row]:
    """Return the codes of the ops of each kind that name no chunk, from the chunks of the forwards."""
    backward = chunks - 1 - forward
    return {kind: (forward if kind == "F" else backward) + k * chunks for k, kind in enumerate(KINDS)}


def _with_chunks(phases: list[tuple[int, Phase]], next_of: dict[str, Row], chunks: int) -> Row:
    """Build a row in which an op that names no chunk is the next of its kind; B and I are of one kind here.

    W follows the I: those that name their chunk, or else the sequence.
    """
    inputs = b"".join(phase.inputs * count for count, phase in phases)
    weights = np.frombuffer(inputs, np.uint8) + W * chunks if inputs else next_of["W"]
    taken = {"F": 0, "B": 0, "W": 0}
    parts = []
    for count, phase in phases:
        part = np.empty((count, len(phase.codes)), np.uint8)
        if len(phase.free) < len(phase.codes):
            part[:] = np.frombuffer(phase.codes, np.uint8)
        for column, kind in phase.free:
            counter = "B" if kind == "I" else kind
            first = taken[counter]
            part[:, column] = (weights if kind == "W" else next_of[kind])[first : first + count]
            taken[counter] = first + count
        parts.append(part.ravel())
    return np.concatenate(parts)


def _without_surplus(row: Row, n: int) -> Row:
    """Return a row without the ops after the first n of each code."""
    kept = np.ones(len(row), bool)
    for code in np.flatnonzero(np.bincount(row) > n):
        kept[np.flatnonzero(row == code)[n:]] = False
    return row[kept]


def _pairs(formulas: Formulas) -> list[tuple[str, Tree]]:
    """Return formulas as JSON that keeps their order."""
    return [(name, parse(formula)) for name, formula in formulas.items()]
