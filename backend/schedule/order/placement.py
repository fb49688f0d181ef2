"""Placement of stages: the map between (rank, chunk) and (stream, stage), and each slot's neighbours.

A *slot* is one model part on one rank, numbered ``rank * chunks + chunk``. A *stream* is one direction through one
replica of the model: one for every placement except the bidirectional, which has two (DualPipe). Where ranks hold
different numbers of stages, ``chunks`` is the most of any rank, and the slots that others lack have stage -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

Kind = Literal["looped", "v", "bidirectional", "custom"]
KINDS: tuple[str, ...] = get_args(Kind)
NAMED = KINDS[:3]  # those that follow from p and chunks
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Placement:
    """A placement of stages: ``kind`` looped (linear if ``chunks`` is 1), v (zigzag), bidirectional (two replicas,
    DualPipe), or custom (any other map from stages to ranks).

    looped: stage = chunk*p + rank. v: odd chunks run back, stage = chunk*p + p-1-rank. bidirectional: chunk 0 is
    stage ``rank`` of stream 0, chunk 1 is stage ``p-1-rank`` of stream 1. custom: stage s is on ``ranks[s]``, whose
    chunks are its stages in model order; ``ranks`` is empty for the other kinds.
    """

    kind: Kind
    p: int
    chunks: int
    ranks: tuple[int, ...] = ()

    @property
    def streams(self) -> int:
        return 2 if self.kind == "bidirectional" else 1

    @property
    def stages(self) -> int:
        """Return S, the number of stages in model order."""
        if self.kind == "custom":
            return len(self.ranks)
        return self.p if self.kind == "bidirectional" else self.p * self.chunks

    @cached_property
    def stage_of(self) -> Ints:
        """Return (p, chunks): the stage in each slot, -1 in a slot that its rank does not have."""
        if self.kind == "custom":
            held = stages_by_rank(self.ranks, self.p)
            return np.array([[*stages, *[-1] * (self.chunks - len(stages))] for stages in held], np.int64)
        rank, chunk = np.indices((self.p, self.chunks))
        turned = (chunk % 2 == 1) & (self.kind != "looped")
        within = np.where(turned, self.p - 1 - rank, rank)
        return within if self.kind == "bidirectional" else chunk * self.p + within

    @cached_property
    def stream_of(self) -> Ints:
        """Return (p, chunks): the stream that passes through each slot."""
        chunk = np.indices((self.p, self.chunks))[1]
        return chunk if self.streams == 2 else np.zeros_like(chunk)

    @cached_property
    def slot_at(self) -> Ints:
        """Return (streams, stages): the slot of each stage of each stream; the inverse of ``stage_of``."""
        slots, held = np.empty((self.streams, self.stages), np.int64), np.flatnonzero(self.stage_of >= 0)
        slots[self.stream_of.ravel()[held], self.stage_of.ravel()[held]] = held
        return slots

    @cached_property
    def chunk_of(self) -> dict[tuple[int, int, int], int]:
        """Return the chunk of each (rank, stage, stream)."""
        where = enumerate(zip(self.stage_of.ravel().tolist(), self.stream_of.ravel().tolist(), strict=True))
        return {(k // self.chunks, *each): k % self.chunks for k, each in where if each[0] >= 0}

    @cached_property
    def before(self) -> Ints:
        """Return (slots,): the slot of the previous stage in the same stream, -1 for the first stage."""
        return self._neighbour(-1)

    @cached_property
    def after(self) -> Ints:
        """Return (slots,): the slot of the next stage in the same stream, -1 for the last stage."""
        return self._neighbour(+1)

    def _neighbour(self, step: int) -> Ints:
        stage = self.stage_of.ravel() + step
        inside = (self.stage_of.ravel() >= 0) & (stage >= 0) & (stage < self.stages)
        found = self.slot_at[self.stream_of.ravel(), np.clip(stage, 0, self.stages - 1)]
        return np.where(inside, found, -1)

    @cached_property
    def held(self) -> Ints:
        """Return (p,): the number of stages on each rank."""
        held: Ints = np.count_nonzero(self.stage_of >= 0, axis=1)
        return held

    def stages_of(self, rank: int) -> list[int]:
        """Return the stages of a rank, chunk by chunk."""
        stages: list[int] = self.stage_of[rank, : self.held[rank]].tolist()
        return stages

    def rank_of(self, stage: int, stream: int = 0) -> int:
        return self.homes[stream][stage]

    @cached_property
    def homes(self) -> list[list[int]]:
        """Return (streams, stages): the rank of each stage of each stream."""
        ranks: list[list[int]] = (self.slot_at // self.chunks).tolist()
        return ranks

    def text(self) -> str:
        """Return the placement in words: its kind, and of a custom one the stages of the first ranks."""
        if self.kind != "custom":
            return self.kind
        shown = [f"rank {rank}: {' '.join(map(str, self.stages_of(rank)))}" for rank in range(min(self.p, 8))]
        return f"custom ({', '.join(shown)}{', ...' * (self.p > 8)})"

    def stage(self, rank: int, chunk: int) -> int:
        return int(self.stage_of[rank, chunk])

    def stream(self, rank: int, chunk: int) -> int:
        return int(self.stream_of[rank, chunk])

    def prev(self, rank: int, chunk: int) -> tuple[int, int] | None:
        """Return (rank, chunk) of the previous stage in the same stream; None for the first stage."""
        return self._pair(self.before[rank * self.chunks + chunk])

    def next(self, rank: int, chunk: int) -> tuple[int, int] | None:
        """Return (rank, chunk) of the next stage in the same stream; None for the last stage."""
        return self._pair(self.after[rank * self.chunks + chunk])

    def _pair(self, slot: np.int64) -> tuple[int, int] | None:
        return None if slot < 0 else divmod(int(slot), self.chunks)


@lru_cache(maxsize=256)
def place(kind: Kind, p: int, chunks: int) -> Placement:
    """Return the placement, one object for each (kind, p, chunks) so that its tables are built once."""
    return Placement(kind, p, chunks)


@lru_cache(maxsize=64)
def place_on(ranks: tuple[int, ...], p: int) -> Placement:
    """Return the placement of stage s on ``ranks[s]``: looped or v where it is one of these, else custom.

    Every rank from 0 to p - 1 must be among them.
    """
    chunks = max(map(len, stages_by_rank(ranks, p)))
    kinds: tuple[Kind, ...] = ("looped", "v")
    for kind in kinds:
        named = place(kind, p, chunks)
        if named.stages == len(ranks) and tuple((named.slot_at[0] // chunks).tolist()) == ranks:
            return named
    return Placement("custom", p, chunks, ranks)


def stages_by_rank(ranks: Sequence[int], p: int) -> list[list[int]]:
    """Return the stages of each rank, in model order."""
    stages: list[list[int]] = [[] for _ in range(p)]
    for stage, rank in enumerate(ranks):
        stages[rank].append(stage)
    return stages
