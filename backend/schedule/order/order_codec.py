"""Encode any order as a short text for a spec or a link, and decode it.

    l, v, b or cS- (the placement) | base64url, without padding, of a raw deflate stream of:
    p, m, chunks, flags and the number of ops of each rank, as varints | ranks of the S stages of a custom placement, as
    varints | one byte per op | stored micro-batches | copies

Flags: bits 0-1 columns of stored micro-batches, 2-3 barriers, 4 whether there are copies, 5 whether all ranks have
the same number of ops (which is then stored once). Stored micro-batches and the copies' columns are differences to
the previous value (for micro-batches: to the last op of the same code on that rank), in four planes of bytes, so that
steady progress compresses to almost nothing. Reading is strict and bounded; check.py checks whether an order can run.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import OrderError, message
from backend.schedule.order.copy_lanes import Copies
from backend.schedule.order.ops import S
from backend.schedule.order.order import MAX_CHUNKS, Order, code_count, code_table, offsets_of
from backend.schedule.order.placement import KINDS, NAMED, Kind, Placement, place, place_on

MOST_OPS = 262_144  # most ops of a packed order, which is unpacked and checked whenever its spec is read
MOST_RANKS, MOST_MICRO = 1024, 65_536
MOST_STAGES = 65_536
MOST_BYTES = 14 * MOST_OPS + 2 * MOST_STAGES + 16_384  # most unpacked bytes; a deflate stream can expand a thousandfold
LETTERS: dict[str, Kind] = {"l": "looped", "v": "v", "b": "bidirectional", "c": "custom"}
_HEAD = re.compile(r"[lvb]|c([1-9]\d{0,4})-")  # its group: the stages of a custom placement
STORED, BARRIERS, COPIES, ALIKE = 3, 12, 16, 32
BROKEN = message("schedule.packed_order_broken", "the text is not a packed order, or a part of it is missing")
Ints = npt.NDArray[np.int32]


def pack(order: Order) -> str:
    """Encode an order as text. Raises OrderError for one that is too large to be unpacked again."""
    if len(order) > MOST_OPS:
        raise _too_many_ops(len(order))
    copies, counts = order.copies, np.diff(order.offsets).tolist()
    stored = 0 if order.micro is None else 1 if bool((order.micro[:, 1] < 0).all()) else 2
    alike = len(set(counts)) == 1
    flags = stored | order.barriers << 2 | (0 if copies is None else COPIES) | (ALIKE if alike else 0)
    head = [order.p, order.m, order.chunks, flags, *(counts[:1] if alike else counts)]
    parts = [_varints([*head, *order.placement.ranks]), order.codes.tobytes()]
    for column in range(stored):
        assert order.micro is not None
        parts.append(_planes(_steps(order.codes, order.offsets, order.micro[:, column])))
    if copies is not None:
        parts += [_varints(np.diff(copies.offsets).tolist()), copies.codes.tobytes()]
        parts.append(_planes(np.diff(copies.issued, prepend=np.int32(0))))
    letter = next(letter for letter, kind in LETTERS.items() if kind == order.placement.kind)
    stages = f"{order.placement.stages}-" if order.placement.ranks else ""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
    body = deflate.compress(b"".join(parts)) + deflate.flush()
    return letter + stages + base64.urlsafe_b64encode(body).decode().rstrip("=")


def unpack(text: str) -> Order:
    """Decode the text of an order. Raises OrderError for any other text."""
    head = _HEAD.match(text)
    if head is None:
        raise OrderError(BROKEN)
    body = _Body(_inflated(text[head.end() :]))
    p, m, chunks, flags = (body.varint() for _ in range(4))
    if not 1 <= p <= MOST_RANKS or flags >= 2 * ALIKE:
        raise OrderError(BROKEN)
    offsets = offsets_of([body.varint()] * p if flags & ALIKE else [body.varint() for _ in range(p)])
    if offsets[-1] > MOST_OPS:
        raise _too_many_ops(int(offsets[-1]))
    ranks = tuple(body.varint() for _ in range(custom_stages(text) or 0))
    codes = body.take(int(offsets[-1]))
    columns = [_sums(codes, offsets, body.column(len(codes))) for _ in range(flags & STORED)]
    copies = body.copies(p) if flags & COPIES else None
    if not body.over():
        raise OrderError(BROKEN)
    sizes, barriers = (p, m, chunks), (flags & BARRIERS) >> 2
    return assemble(LETTERS[text[0]], sizes, codes, offsets, columns, barriers, copies, ranks)


def custom_stages(text: str) -> int | None:
    """Return the number of stages of a packed order with a custom placement, which its text begins with; None for
    another placement, whose number of stages follows from its kind.
    """
    head = _HEAD.match(text)
    return int(head[1]) if head and head[1] else None


def assemble(
    kind: str,
    sizes: tuple[int, int, int],
    codes: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    columns: Sequence[npt.NDArray[np.integer]],
    barriers: int,
    copies: Copies | None,
    ranks: tuple[int, ...] = (),
) -> Order:
    """Build an order from parts that were read from bytes, each of which may be wrong. Raises OrderError.

    ``sizes`` p, m and chunks; ``codes`` (N,), ``offsets`` (p + 1,), ``columns`` none, one or two (N,) of stored
    micro-batches, ``ranks`` (stages,) of a custom placement. Afterwards every array is in the range that the rest of
    the core counts on; whether the order can run is checked by ``simulation.check.check``.
    """
    p, m, chunks = sizes
    if not (1 <= p <= MOST_RANKS and 1 <= m <= MOST_MICRO and 1 <= chunks <= MAX_CHUNKS) or kind not in KINDS:
        raise OrderError(BROKEN)
    if barriers not in (0, 1, 2) or len(columns) > 2:
        raise OrderError(BROKEN)
    if kind == "bidirectional" and (chunks != 2 or p % 2 or m % 2):
        raise OrderError(BROKEN)
    if len(codes) and int(codes.max()) >= code_count(chunks):
        raise OrderError(BROKEN)
    placement = place(cast(Kind, kind), p, chunks) if kind in NAMED else _custom(ranks, p, chunks)
    if placement.ranks:
        kind_of, *halves = code_table(chunks)[codes].T
        held = np.repeat(placement.held, np.diff(offsets))
        if barriers or copies is not None or (kind_of >= S).any() or any((half >= held).any() for half in halves):
            raise OrderError(BROKEN)  # no option places S and T, or copies, on such a placement
    micro = _stored(columns, m // placement.streams) if columns else None
    if copies is not None and len(copies):
        issued = copies.issued
        if int(copies.codes.max()) >= 2 * chunks or int(issued.min()) < 0 or int(issued.max()) > len(codes):
            raise OrderError(BROKEN)
    return Order(placement, m, codes, offsets, micro, barriers, copies)


def _custom(ranks: tuple[int, ...], p: int, chunks: int) -> Placement:
    """Return the placement of stages on these ranks. Raises OrderError unless all ranks have some, ``chunks`` at most,
    and no other kind of placement means the same.
    """
    if len(ranks) > MOST_STAGES or set(ranks) != set(range(p)):
        raise OrderError(BROKEN)
    placement = place_on(ranks, p)
    if placement.kind != "custom" or placement.chunks != chunks:
        raise OrderError(BROKEN)
    return placement


def _stored(columns: Sequence[npt.NDArray[np.integer]], n: int) -> Ints:
    """Return (N, 2) stored micro-batches, each below n; -1 in the second column for an op without a backward half."""
    table = np.full((len(columns[0]), 2), -1, np.int64)
    for number, column in enumerate(columns):
        table[:, number] = column
    if len(table) and (table.min() < -1 or table.max() >= n or (table[:, 0] < 0).any()):
        raise OrderError(BROKEN)
    return table.astype(np.int32)


def _too_many_ops(count: int) -> OrderError:
    """Return the error for an order that is too large to be packed."""
    return OrderError(
        message(
            "schedule.too_many_ops_to_pack",
            "the order has {ops} ops; a spec holds at most {most}",
            ops=f"{count:,}",
            most=f"{MOST_OPS:,}",
        )
    )


class _Body:
    """A cursor over the bytes of an unpacked text."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def varint(self) -> int:
        value = 0
        for shift in range(0, 28, 7):
            byte = self._take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise OrderError(BROKEN)

    def take(self, count: int) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self._take(count), np.uint8).copy()  # compiled code does not accept read-only arrays

    def column(self, count: int) -> Ints:
        planes = np.frombuffer(self._take(4 * count), np.uint8).reshape(4, count)
        return cast(Ints, np.ascontiguousarray(planes.T).view("<i4").ravel())

    def copies(self, p: int) -> Copies:
        offsets = offsets_of([self.varint() for _ in range(p)])
        if offsets[-1] > MOST_OPS:
            raise OrderError(BROKEN)
        codes = self.take(int(offsets[-1]))
        issued = np.cumsum(self.column(len(codes)), dtype=np.int64)
        if len(issued) and not (issued.min() >= 0 and issued.max() <= MOST_OPS):
            raise OrderError(BROKEN)
        return Copies(codes, offsets, issued.astype(np.int32))

    def over(self) -> bool:
        return self._at == len(self._data)

    def _take(self, count: int) -> bytes:
        if self._at + count > len(self._data):
            raise OrderError(BROKEN)
        self._at += count
        return self._data[self._at - count : self._at]


def _inflated(text: str) -> bytes:
    """Return the inflated bytes of a text, up to a limit: a few characters can inflate to gigabytes."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        inflate = zlib.decompressobj(-15)
        data = inflate.decompress(packed, MOST_BYTES)
    except (binascii.Error, zlib.error, ValueError):
        raise OrderError(BROKEN) from None
    if not inflate.eof or inflate.unused_data:
        raise OrderError(BROKEN)
    return data


def _varints(numbers: Sequence[int]) -> bytes:
    out = bytearray()
    for number in numbers:
        while number > 127:
            out.append(number & 127 | 128)
            number >>= 7
        out.append(number)
    return bytes(out)


def _planes(column: npt.NDArray[np.int32]) -> bytes:
    """Return all low bytes, then all second ones, and so on."""
    return np.ascontiguousarray(column, "<i4").view(np.uint8).reshape(-1, 4).T.tobytes()


def _alike(codes: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the positions of the ops of one code on one rank, for each rank and code."""
    for begin, end in pairwise(offsets.tolist()):
        row = codes[begin:end]
        by_code = np.argsort(row, kind="stable") + begin
        yield from np.split(by_code, np.flatnonzero(np.diff(codes[by_code])) + 1)


def _steps(codes: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], numbers: Ints) -> Ints:
    steps = np.zeros(len(numbers), np.int32)
    for at in _alike(codes, offsets):
        steps[at] = np.diff(numbers[at], prepend=np.int32(-1))
    return steps


def _sums(codes: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], steps: Ints) -> npt.NDArray[np.int64]:
    numbers = np.zeros(len(steps), np.int64)
    for at in _alike(codes, offsets):
        numbers[at] = np.cumsum(steps[at], dtype=np.int64) - 1
    return numbers
