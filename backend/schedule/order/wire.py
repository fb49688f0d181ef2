"""An order as bytes: a JSON header and one byte per op. What the page and the runner receive.

    u32 little-endian: length of the header | header, UTF-8 JSON | N bytes of codes | stored micro-batches, if any
    | C bytes of copy codes | int32 column of C: when each copy is issued

Header: ``p``, ``m``, ``placement``, ``ranks`` (the rank of each stage, only of a custom placement), ``chunks``,
``counts`` (ops per rank, one number if all alike), ``stored`` (0: micro-batches implied; 1: one int32 column of N
follows; 2: two columns, the second for backward halves of pairs), ``barriers`` (0, 1, 2), ``copies`` (copies per rank,
as counts), and for the page ``spec`` (all of it) and ``base``, true where the page adds S, T and copies by the costs.

``phases``, only of a large order, are where its rows repeat a block of ops (repeats.py): of each phase ``period``, the
ops of a block, ``begin`` and ``end``, where it is in each rank's row, and ``more``, how many blocks before ``end`` are
not among the N bytes. Each of their ops is the one ``period`` before it. The rows of ``counts`` have them.

The page gets these bytes deflated and reads them in static/js/core/schedule/wire.ts. The runner gets ``to_text``: the
bytes without a spec, deflated (zlib), in base64. Deflated because codes repeat in smaller orders and in groups too.
Reading is strict and bounded: hostile bytes raise OrderError.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import OrderError, message
from backend.schedule.order.copy_lanes import Copies
from backend.schedule.order.order import Order, offsets_of
from backend.schedule.order.order_codec import MOST_RANKS, MOST_STAGES, assemble
from backend.schedule.order.repeats import MOST_PHASES, Repeats, without_blocks

MOST_OPS = 2**24  # most ops of an order that is read, as of a spec
MOST_HEADER = 2**22  # bytes: a spec may list a cost for each of 65,536 stages
MOST_BYTES = 4 + MOST_HEADER + 14 * MOST_OPS  # 9 bytes per op with both columns, 5 per copy
PHASE = ("period", "more", "begin", "end")  # the keys of a phase
NOT_AN_ORDER = message("schedule.not_an_order", "these bytes are not an encoded order, or a part of them is missing")


def encode(order: Order, spec: Mapping[str, Any] | None = None) -> bytes:
    """Encode an order, before compression. ``spec`` is the spec's JSON, which the page needs."""
    copies = order.copies
    stored = 0 if order.micro is None else 1 if bool((order.micro[:, 1] < 0).all()) else 2
    header: dict[str, Any] = {
        "p": order.p,
        "m": order.m,
        "placement": order.placement.kind,
        "chunks": order.chunks,
        "counts": _counts(order.offsets),
        "stored": stored,
        "barriers": order.barriers,
        "copies": 0 if copies is None else _counts(copies.offsets),
    }
    if order.placement.ranks:
        header["ranks"] = order.placement.ranks
    if spec is not None:
        header["spec"] = spec
    phases = None if stored else order.repeats
    if phases is not None:
        header["phases"] = _phases(phases)
    head = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    codes = order.codes if phases is None else without_blocks(order.codes, order.offsets, phases, phases.blocks - 1)
    parts = [struct.pack("<I", len(head)), head, codes.tobytes()]
    if order.micro is not None:
        parts += [order.micro[:, column].astype("<i4").tobytes() for column in range(stored)]
    if copies is not None:
        parts += [copies.codes.tobytes(), copies.issued.astype("<i4").tobytes()]
    return b"".join(parts)


def decode(body: bytes) -> Order:
    """Read the bytes of ``encode``. Raises OrderError for bytes that are not an order.

    As with an imported order, every field is then in range, but the order may still lack an op or deadlock: call
    ``simulation.check.check`` before it is executed or timed.
    """
    header, rest = _header(body)
    p, stored = _whole(header, "p", 1, MOST_RANKS), _whole(header, "stored", 0, 2)
    offsets, copy_offsets = _offsets(header, "counts", p), _offsets(header, "copies", p)
    phases, more = _read_phases(header, offsets)
    whole, copy_count = int(offsets[-1]), int(copy_offsets[-1])
    count = whole - p * int(more @ phases.period)
    if (stored and count < whole) or len(rest) != count * (1 + 4 * stored) + 5 * copy_count:
        raise OrderError(NOT_AN_ORDER)
    codes = _with_blocks(np.frombuffer(rest, np.uint8, count), offsets, phases, more)
    columns = [np.frombuffer(rest, "<i4", count, count * (1 + 4 * each)) for each in range(stored)]
    copies = None
    if copy_count:
        begin = count * (1 + 4 * stored)
        copy_codes = np.frombuffer(rest, np.uint8, copy_count, begin).copy()
        issued = np.frombuffer(rest, "<i4", copy_count, begin + copy_count).astype(np.int32)
        copies = Copies(copy_codes, copy_offsets, issued)
    sizes = p, _whole(header, "m", 1, 2**31), _whole(header, "chunks", 1, 256)
    barriers, kind = _whole(header, "barriers", 0, 2), header.get("placement")
    kind = kind if isinstance(kind, str) else ""
    return assemble(kind, sizes, codes, offsets, columns, barriers, copies, _ranks(header))


def to_text(order: Order) -> str:
    """Return the order as base64 of its deflated bytes, without a spec, as in a runner's command."""
    return base64.b64encode(compress(encode(order))).decode()


def from_text(text: str) -> Order:
    """Read the text of ``to_text``. Raises OrderError as ``decode`` does."""
    try:
        inflate = zlib.decompressobj()
        body = inflate.decompress(base64.b64decode(text, validate=True), MOST_BYTES)
    except (binascii.Error, zlib.error, ValueError):
        raise OrderError(NOT_AN_ORDER) from None
    if not inflate.eof or inflate.unused_data:
        raise OrderError(NOT_AN_ORDER)
    return decode(body)


def compress(body: bytes) -> bytes:
    """Return a zlib stream, as in HTTP's Content-Encoding "deflate". Level 1 for large bodies: the codes repeat so
    much that a higher level gains little and costs milliseconds.
    """
    return zlib.compress(body, 6 if len(body) < 100_000 else 1)


def _counts(offsets: npt.NDArray[np.int64]) -> int | list[int]:
    """Return the lengths of the rows, as one number if all are equal."""
    counts: list[int] = np.diff(offsets).tolist()
    return counts[0] if len(set(counts)) == 1 else counts


def _phases(phases: Repeats) -> list[dict[str, Any]]:
    """Return the header's phases, of which one block each is sent."""
    columns = (phases.period.tolist(), (phases.blocks - 1).tolist(), phases.begin.T.tolist(), phases.end.T.tolist())
    return [dict(zip(PHASE, phase, strict=True)) for phase in zip(*columns, strict=True)]


def _read_phases(header: Mapping[str, Any], offsets: npt.NDArray[np.int64]) -> tuple[Repeats, npt.NDArray[np.int64]]:
    """Return the phases of a header and (phases,) the blocks that were not sent."""
    rows, listed = np.diff(offsets), header.get("phases", [])
    if not isinstance(listed, list) or len(listed) > MOST_PHASES or not all(isinstance(each, dict) for each in listed):
        raise OrderError(NOT_AN_ORDER)
    period, more, begin, end = np.zeros((4, len(rows), len(listed)), np.int64)
    last = np.zeros_like(rows)
    for number, each in enumerate(listed):
        period[:, number], more[:, number] = _whole(each, "period", 1, MOST_OPS), _whole(each, "more", 0, MOST_OPS)
        for name, column in (("begin", begin), ("end", end)):
            values = each.get(name)
            if not isinstance(values, list) or len(values) != len(rows):
                raise OrderError(NOT_AN_ORDER)
            column[:, number] = [_whole({name: value}, name, 0, MOST_OPS) for value in values]
        least = (more[:, number] + 1) * period[:, number]
        if (begin[:, number] < last).any() or (end[:, number] - begin[:, number] < least).any():
            raise OrderError(NOT_AN_ORDER)
        last = end[:, number]
    if (last > rows).any():
        raise OrderError(NOT_AN_ORDER)
    return Repeats(begin, end, period[0]), more[0]


def _with_blocks(
    sent: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], phases: Repeats, more: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint8]:
    """Return (N,) the codes of all rows, with the blocks that were not sent."""
    if not len(more):
        return sent.copy()  # compiled code does not accept read-only arrays
    parts, at = [], 0
    missing = list(zip(more.tolist(), phases.period.tolist(), strict=True))
    for row, ends in zip(np.diff(offsets).tolist(), phases.end.tolist(), strict=True):
        done = 0
        for end, (blocks, period) in zip(ends, missing, strict=True):
            stop = at + end - blocks * period - done
            parts += [sent[at:stop], np.tile(sent[stop - period : stop], blocks)]
            at, done = stop, end
        parts.append(sent[at : at + row - done])
        at += row - done
    return np.concatenate(parts)


def _header(body: bytes) -> tuple[dict[str, Any], memoryview]:
    """Return the header and the bytes after it."""
    if len(body) < 4:
        raise OrderError(NOT_AN_ORDER)
    length = struct.unpack_from("<I", body)[0]
    if length > min(len(body) - 4, MOST_HEADER):
        raise OrderError(NOT_AN_ORDER)
    try:
        header = json.loads(body[4 : 4 + length].decode())
    except (ValueError, RecursionError):
        raise OrderError(NOT_AN_ORDER) from None
    if not isinstance(header, dict):
        raise OrderError(NOT_AN_ORDER)
    return header, memoryview(body)[4 + length :]


def _ranks(header: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the ranks of the stages, () where the header has none."""
    ranks = header.get("ranks", [])
    if not isinstance(ranks, list) or len(ranks) > MOST_STAGES:
        raise OrderError(NOT_AN_ORDER)
    return tuple(_whole({"ranks": rank}, "ranks", 0, MOST_RANKS - 1) for rank in ranks)


def _whole(header: Mapping[str, Any], key: str, low: int, high: int) -> int:
    """Return a whole number of the header, from ``low`` to ``high``."""
    value = header.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise OrderError(NOT_AN_ORDER)
    return value


def _offsets(header: Mapping[str, Any], key: str, p: int) -> npt.NDArray[np.int64]:
    """Return (p + 1,) the offset of each rank's row, from counts per rank or the one count of all."""
    counts = header.get(key)
    if not isinstance(counts, list):
        counts = [counts] * p
    if len(counts) != p:
        raise OrderError(NOT_AN_ORDER)
    offsets = offsets_of([_whole({key: each}, key, 0, MOST_OPS) for each in counts])
    if offsets[-1] > MOST_OPS:
        raise OrderError(NOT_AN_ORDER)
    return offsets
