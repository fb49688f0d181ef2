"""An order: the ops of each rank, in sequence. The only representation of a schedule; everything else reads it.

One byte per op: ``kind * chunks + chunk`` for F, I, W, B; ``4 * chunks + f_chunk * chunks + b_chunk`` for an
overlapped pair; the two codes after the pairs for S and T. Micro-batches are implied if each slot takes them first
in, first out, and stored otherwise. simulation/check.py checks whether an order can run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from backend.schedule.order.copy_lanes import Copies, merged
from backend.schedule.order.messages import Messages
from backend.schedule.order.ops import LETTERS, PAIR, B, F, I, Op, Pair, S, T, W
from backend.schedule.order.placement import Placement
from backend.schedule.order.repeats import Repeats, repeats

Codes = npt.NDArray[np.uint8]
Micro = npt.NDArray[np.int32]

MAX_CHUNKS = 64  # 4 kinds * 64 chunks fill the byte
MAX_PAIR_CHUNKS = 14  # 4 * 14 + 14 * 14 codes, and S and T, still fit the byte


@dataclass(frozen=True, eq=False)
class Order:
    """The ops of all ranks.

    ``codes`` (N,) has the ranks' ops one rank after the other, rank r in ``[offsets[r]:offsets[r + 1]]``; ``m`` is
    the number of micro-batches in a step; ``micro`` is None if implied, else (N, 2): the slot's own micro-batch
    number of each op, column 1 for the backward half of a pair (-1 for other ops). ``barriers`` (0, 1, 2) is how
    often all ranks wait for each other around S and T (vocabulary.py); ``copies`` are the ops of the copy lanes
    (copy_lanes.py), ``messages`` those of streams (messages.py); ``untrained`` the stages that have no backwards,
    before the first trained one (frozen.py).
    """

    placement: Placement
    m: int
    codes: Codes
    offsets: npt.NDArray[np.int64]
    micro: Micro | None = None
    barriers: int = 0
    copies: Copies | None = None
    messages: Messages | None = None
    untrained: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def p(self) -> int:
        return self.placement.p

    @property
    def chunks(self) -> int:
        return self.placement.chunks

    @cached_property
    def forward_only(self) -> bool:
        """Return whether all ops are forwards: inference, in which nothing is kept for a backward."""
        return len(self.codes) > 0 and bool((self.codes < self.chunks).all())

    @property
    def forward_slots(self) -> npt.NDArray[np.bool_]:
        """Return (p, chunks) which slots have forwards alone: all of a forward-only order, else the untrained ones."""
        if self.forward_only or not self.untrained:
            return np.full((self.p, self.chunks), self.forward_only)
        return np.isin(self.placement.stage_of, list(self.untrained))

    @cached_property
    def repeats(self) -> Repeats | None:
        """Return where the rows repeat a block of ops; None for a small order, or if no phases are common to them."""
        return repeats(self.codes, self.offsets)

    @property
    def n(self) -> int:
        """Return the number of micro-batches through one slot: m, or half of it if two streams share them."""
        return self.m // self.placement.streams

    def first_micro(self, rank: int, chunk: int) -> int:
        """Return the number of the first micro-batch through a slot: n in the second of two streams, otherwise 0."""
        return self.n * self.placement.stream(rank, chunk)

    def row(self, rank: int) -> list[Op | Pair]:
        """Return the ops of one rank, in order."""
        codes = self.codes[self.offsets[rank] : self.offsets[rank + 1]]
        first, second = micro_numbers(self, rank)
        ops: list[Op | Pair] = []
        for code, one, two in zip(codes.tolist(), first.tolist(), second.tolist(), strict=True):
            kind, a, b = decode(code, self.chunks)
            if kind == PAIR:
                ops.append(Pair(self._op(rank, F, a, one), self._op(rank, B, b, two)))
            else:
                ops.append(self._op(rank, kind, a, one))
        return ops

    def _op(self, rank: int, kind: int, chunk: int, k: int) -> Op:
        return Op(LETTERS[kind], self.placement.stage(rank, chunk), k + self.first_micro(rank, chunk), chunk)

    def text(self) -> list[str]:
        """Return one line of op texts for each rank; a copy is placed where it is issued."""
        rows = [self._texts(rank) for rank in range(self.p)]
        if self.copies is not None:
            rows = [merged(row, self.copies, self.placement, rank) for rank, row in enumerate(rows)]
        return [" ".join(row) for row in rows]

    def _texts(self, rank: int) -> list[str]:
        """Return the texts of the ops of ``row``, without the ops: making them takes several times as long."""
        codes = self.codes[self.offsets[rank] : self.offsets[rank + 1]].tolist()
        first, second = (each.tolist() for each in micro_numbers(self, rank))
        spelled = {code: self._spelling(rank, code) for code in set(codes)}
        return [
            f"{head}{one + shift}" if pair is None else f"({head}{one + shift};{pair[0]}{two + pair[1]})OVERLAP_F_B"
            for (head, shift, pair), one, two in zip(map(spelled.__getitem__, codes), first, second, strict=True)
        ]

    def _spelling(self, rank: int, code: int) -> tuple[str, int, tuple[str, int] | None]:
        """Return (what precedes the micro-batch, what is added to its number in the slot, both for a backward half)."""
        kind, a, b = decode(code, self.chunks)

        def half(kind: int, chunk: int) -> tuple[str, int]:
            of_slot = self._op(rank, kind, chunk, 0)
            return f"{of_slot.stage}{of_slot.kind}", of_slot.micro

        return (*half(F, a), half(B, b)) if kind == PAIR else (*half(kind, a), None)


def encode(kind: int, chunk: int, chunks: int, b_chunk: int = 0) -> int:
    """Return the byte of an op; for a pair ``chunk`` is the forward's and ``b_chunk`` the backward's."""
    if kind == PAIR:
        return 4 * chunks + chunk * chunks + b_chunk
    return kind * chunks + chunk if kind < PAIR else 4 * chunks + chunks * chunks + (kind - S)


def decode(code: int, chunks: int) -> tuple[int, int, int]:
    """Return (kind, chunk, backward chunk of a pair or 0) of a byte; the chunk of S and T is 0."""
    if code < 4 * chunks:
        return (*divmod(code, chunks), 0)
    beyond = code - 4 * chunks - chunks * chunks
    return (S + beyond, 0, 0) if beyond >= 0 else (PAIR, *divmod(code - 4 * chunks, chunks))


def code_count(chunks: int) -> int:
    """Return the number of op codes, including pairs, S and T if they fit into a byte."""
    return 4 * chunks + (chunks * chunks + 2 if chunks <= MAX_PAIR_CHUNKS else 0)


@lru_cache(maxsize=MAX_CHUNKS)
def code_table(chunks: int) -> npt.NDArray[np.int64]:
    """Return (256, 3): ``decode`` of every byte; a byte that is not a code counts as an F."""
    known = [decode(code, chunks) for code in range(code_count(chunks))]
    return np.array(known + [(F, 0, 0)] * (256 - len(known)), np.int64)


def from_rows(placement: Placement, m: int, rows: Sequence[npt.ArrayLike], barriers: int = 0) -> Order:
    """Build an order with implied micro-batches from each rank's codes."""
    arrays = [np.asarray(row, np.uint8) for row in rows]
    return Order(placement, m, np.concatenate(arrays), offsets_of([len(row) for row in arrays]), barriers=barriers)


def from_ops(placement: Placement, m: int, rows: Sequence[Sequence[Op | Pair]], barriers: int = 0) -> Order:
    """Build an order from each rank's ops with their own micro-batch numbers (global).

    The micro-batches are stored only if the codes alone do not imply them, so that equal orders are equal arrays.
    """
    chunks, n = placement.chunks, m // placement.streams
    codes, micro = [], []
    for rank, row in enumerate(rows):
        shift = [n * placement.stream(rank, chunk) for chunk in range(chunks)]
        for op in row:
            if isinstance(op, Pair):
                codes.append(encode(PAIR, op.forward.chunk, chunks, op.backward.chunk))
                micro.append((op.forward.micro - shift[op.forward.chunk], op.backward.micro - shift[op.backward.chunk]))
            else:
                codes.append(encode(LETTERS.index(op.kind), op.chunk, chunks))
                micro.append((op.micro - shift[op.chunk], -1))
    offsets = offsets_of([len(row) for row in rows])
    numbers = np.array(micro, np.int32).reshape(-1, 2)
    implied = Order(placement, m, np.array(codes, np.uint8), offsets, barriers=barriers)
    if all(
        np.array_equal(np.stack(micro_numbers(implied, r), 1), numbers[offsets[r] : offsets[r + 1]])
        for r in range(placement.p)
    ):
        return implied
    return replace(implied, micro=numbers)


def offsets_of(lengths: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return (rows + 1,) the offset of each row in the concatenation of all rows, and the end of the last."""
    return np.array([*accumulate(lengths, initial=0)], np.int64)


def same_order(one: Order, other: Order) -> bool:
    """Return whether two orders have the same ops and copies in the same places, however their micro-batches are
    encoded.
    """
    sizes = ((each.placement, each.m, each.barriers) for each in (one, other))
    copies = ((each.copies.codes, each.copies.offsets) if each.copies else () for each in (one, other))
    mine, theirs = ((each.codes, each.offsets, *lanes) for each, lanes in zip((one, other), copies, strict=True))
    if next(sizes) != next(sizes) or len(mine) != len(theirs) or not all(map(np.array_equal, mine, theirs)):
        return False
    if one.micro is None and other.micro is None:
        return True
    return all(
        np.array_equal(a, b)
        for rank in range(one.p)
        for a, b in zip(micro_numbers(one, rank), micro_numbers(other, rank), strict=True)
    )


def micro_numbers(order: Order, rank: int) -> tuple[Micro, Micro]:
    """Return the slot's own micro-batch number of each op of a rank, and of each pair's backward half (-1 for other
    ops).

    Implied numbers: a slot's k-th F is its micro-batch k; so is its k-th gradient, be it I, B or half a pair; its W
    ops take, in order, the micro-batches whose gradient was an I. A rank's k-th S and T are micro-batch k.
    """
    span = slice(order.offsets[rank], order.offsets[rank + 1])
    if order.micro is not None:
        return order.micro[span, 0], order.micro[span, 1]
    codes, chunks = order.codes[span], order.chunks
    kind, chunk, b_chunk = code_table(chunks)[codes].T
    paired = kind == PAIR
    b_chunk = np.where(paired, b_chunk, chunk)
    first = np.full(len(codes), -1, np.int32)
    second = np.full(len(codes), -1, np.int32)
    forwards, gradients, weights = (kind == F) | paired, (kind == I) | (kind == B) | paired, kind == W
    for c in range(chunks):
        forward = np.flatnonzero(forwards & (chunk == c))
        first[forward] = np.arange(len(forward))
        gradient = np.flatnonzero(gradients & (b_chunk == c))
        number = np.arange(len(gradient), dtype=np.int32)
        half = paired[gradient]
        second[gradient[half]] = number[half]
        first[gradient[~half]] = number[~half]
        weight = np.flatnonzero(weights & (chunk == c))
        split = number[kind[gradient] == I]
        # A W too many (an order that check.py rejects) gets the number n, which no micro-batch has.
        first[weight] = np.concatenate((split, np.full(len(weight), order.n, np.int32)))[: len(weight)]
    for each in (S, T) if order.barriers else ():
        at = np.flatnonzero(kind == each)
        first[at] = np.arange(len(at))
    return first, second
