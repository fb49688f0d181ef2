"""An order as a short text that a spec and a link can hold, and back: any order, whatever built it.

    l, v or b (the placement) | base64url, without padding, of a raw deflate stream of:
    p, m, chunks, flags and how many ops each rank has, as varints | one byte an op | stored micro-batches | copies

Flags: bits 0-1 columns of stored micro-batches, 2-3 barriers, 4 whether there are copies, 5 whether all ranks have as
many ops (then that number stands once). Stored micro-batches and the copies' columns are differences to the one before
(for micro-batches: to the last op of the same code on that rank), in four planes of bytes, so that steady progress is
hardly anything to deflate. Reads strictly and with bounds; knows no family, nor whether an order can run (check.py).
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import OrderError
from backend.schedule.order.copy_lanes import Copies
from backend.schedule.order.order import MAX_CHUNKS, Order, code_count, offsets_of
from backend.schedule.order.placement import Kind, place

MOST_OPS = 262_144  # of a packed order: it is unpacked and checked wherever its spec is read
MOST_RANKS, MOST_MICRO = 1024, 65_536
MOST_BYTES = 14 * MOST_OPS + 16_384  # unpacked; deflate could make a thousand times the text of it
LETTERS: dict[str, Kind] = {"l": "looped", "v": "v", "b": "bidirectional"}
STORED, BARRIERS, COPIES, ALIKE = 3, 12, 16, 32
BROKEN = "the text is not a packed order, or a part of it is missing"
Ints = npt.NDArray[np.int32]


def pack(order: Order) -> str:
    """The text of an order. Raises OrderError for one that is too large to be unpacked again."""
    if len(order) > MOST_OPS:
        raise OrderError(f"the order has {len(order):,} ops; a spec holds at most {MOST_OPS:,}")
    copies, counts = order.copies, np.diff(order.offsets).tolist()
    stored = 0 if order.micro is None else 1 if bool((order.micro[:, 1] < 0).all()) else 2
    alike = len(set(counts)) == 1
    flags = stored | order.barriers << 2 | (0 if copies is None else COPIES) | (ALIKE if alike else 0)
    head = [order.p, order.m, order.chunks, flags, *(counts[:1] if alike else counts)]
    parts = [_varints(head), order.codes.tobytes()]
    for column in range(stored):
        assert order.micro is not None
        parts.append(_planes(_steps(order.codes, order.offsets, order.micro[:, column])))
    if copies is not None:
        parts += [_varints(np.diff(copies.offsets).tolist()), copies.codes.tobytes()]
        parts.append(_planes(np.diff(copies.issued, prepend=np.int32(0))))
    letter = next(letter for letter, kind in LETTERS.items() if kind == order.placement.kind)
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15, 9)
    body = deflate.compress(b"".join(parts)) + deflate.flush()
    return letter + base64.urlsafe_b64encode(body).decode().rstrip("=")


def unpack(text: str) -> Order:
    """The order of a text. Raises OrderError for what is none."""
    kind = LETTERS.get(text[:1])
    if kind is None:
        raise OrderError(BROKEN)
    body = _Body(_inflated(text[1:]))
    p, m, chunks, flags = (body.varint() for _ in range(4))
    stored, barriers = flags & STORED, (flags & BARRIERS) >> 2
    if not (1 <= p <= MOST_RANKS and 1 <= m <= MOST_MICRO and 1 <= chunks <= MAX_CHUNKS and flags < 2 * ALIKE):
        raise OrderError(BROKEN)
    if stored > 2 or barriers > 2 or (kind == "bidirectional" and (chunks != 2 or p % 2 or m % 2)):
        raise OrderError(BROKEN)
    offsets = offsets_of([body.varint()] * p if flags & ALIKE else [body.varint() for _ in range(p)])
    if offsets[-1] > MOST_OPS:
        raise OrderError(f"the order has {offsets[-1]:,} ops; a spec holds at most {MOST_OPS:,}")
    codes = body.codes(int(offsets[-1]), code_count(chunks))
    placement = place(kind, p, chunks)
    n = m // placement.streams
    columns = [body.column(len(codes)) for _ in range(stored)]
    micro: Ints | None = None
    if columns:
        numbers = [_sums(codes, offsets, column) for column in columns] + [np.full(len(codes), -1, np.int64)]
        table = np.stack(numbers[:2], 1)
        if len(table) and (table.min() < -1 or table.max() >= n or (table[:, 0] < 0).any()):
            raise OrderError(BROKEN)
        micro = table.astype(np.int32)
    copies = body.copies(p, chunks) if flags & COPIES else None
    if not body.over():
        raise OrderError(BROKEN)
    return Order(placement, m, codes, offsets, micro, barriers, copies)


class _Body:
    """What is left to read of an unpacked text."""

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

    def codes(self, count: int, limit: int) -> npt.NDArray[np.uint8]:
        codes = np.frombuffer(self._take(count), np.uint8).copy()  # compiled code takes no arrays that are read only
        if count and int(codes.max()) >= limit:
            raise OrderError(BROKEN)
        return codes

    def column(self, count: int) -> Ints:
        planes = np.frombuffer(self._take(4 * count), np.uint8).reshape(4, count)
        return cast(Ints, np.ascontiguousarray(planes.T).view("<i4").ravel())

    def copies(self, p: int, chunks: int) -> Copies:
        offsets = offsets_of([self.varint() for _ in range(p)])
        if offsets[-1] > MOST_OPS:
            raise OrderError(BROKEN)
        codes = self.codes(int(offsets[-1]), 2 * chunks)
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
    """The bytes behind a text, which have a bound: a few characters can unpack to gigabytes."""
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
    """First all low bytes, then all second ones, and so on."""
    return np.ascontiguousarray(column, "<i4").view(np.uint8).reshape(-1, 4).T.tobytes()


def _alike(codes: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    """Where the ops of one code on one rank stand, for each rank and code."""
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
