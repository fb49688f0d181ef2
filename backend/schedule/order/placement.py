"""Placement of stages: the map between (rank, chunk) and (stream, stage), and each slot's neighbours.

A *slot* is one model part on one rank, numbered ``rank * chunks + chunk``. A *stream* is one direction through one
replica of the model: one for every placement except the bidirectional, which has two (DualPipe).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

Kind = Literal["looped", "v", "bidirectional"]
KINDS: tuple[str, ...] = get_args(Kind)
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Placement:
    """A placement of stages: ``kind`` looped (linear if ``chunks`` is 1), v (zigzag), or bidirectional (two
    replicas, DualPipe).

    looped: stage = chunk*p + rank. v: odd chunks run back, stage = chunk*p + p-1-rank. bidirectional: chunk 0 is
    stage ``rank`` of stream 0, chunk 1 is stage ``p-1-rank`` of stream 1.
    """

    kind: Kind
    p: int
    chunks: int

    @property
    def streams(self) -> int:
        return 2 if self.kind == "bidirectional" else 1

    @property
    def stages(self) -> int:
        """Return S, the number of stages in model order."""
        return self.p if self.kind == "bidirectional" else self.p * self.chunks

    @cached_property
    def stage_of(self) -> Ints:
        """Return (p, chunks): the stage in each slot."""
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
        slots = np.empty((self.streams, self.stages), np.int64)
        slots[self.stream_of.ravel(), self.stage_of.ravel()] = np.arange(self.p * self.chunks)
        return slots

    @cached_property
    def chunk_of(self) -> dict[tuple[int, int, int], int]:
        """Return the chunk of each (rank, stage, stream)."""
        where = zip(self.stage_of.ravel().tolist(), self.stream_of.ravel().tolist(), strict=True)
        return {(k // self.chunks, *each): k % self.chunks for k, each in enumerate(where)}

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
        inside = (stage >= 0) & (stage < self.stages)
        found = self.slot_at[self.stream_of.ravel(), np.clip(stage, 0, self.stages - 1)]
        return np.where(inside, found, -1)

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
