"""An order as the page reads it: a JSON header and one byte an op, deflated on the way.

    u32 little-endian: length of the header | header, UTF-8 JSON | N bytes of codes | stored micro-batches, if any
    | C bytes of copy codes | int32 column of C: when each copy is issued

Header: ``spec`` (all of it), ``placement``, ``chunks``, ``counts`` (ops per rank, one number if all alike), ``stored``
(0: micro-batches implied; 1: one int32 column of N follows; 2: two columns, the second for backward halves of pairs),
``barriers`` (0, 1, 2), ``copies`` (copies per rank, as counts).
Read by static/js/core/schedule/wire.js.
"""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np
import numpy.typing as npt

from backend.schedule.order.order import Order
from backend.schedule.spec import Spec


def encode(spec: Spec, order: Order) -> bytes:
    """The body before compression."""
    copies = order.copies
    stored = 0 if order.micro is None else 1 if bool((order.micro[:, 1] < 0).all()) else 2
    header = {
        "spec": spec.to_json(),
        "placement": order.placement.kind,
        "chunks": order.chunks,
        "counts": _counts(order.offsets),
        "stored": stored,
        "barriers": order.barriers,
        "copies": 0 if copies is None else _counts(copies.offsets),
    }
    head = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    parts = [struct.pack("<I", len(head)), head, order.codes.tobytes()]
    if order.micro is not None:
        parts += [order.micro[:, column].astype("<i4").tobytes() for column in range(stored)]
    if copies is not None:
        parts += [copies.codes.tobytes(), copies.issued.astype("<i4").tobytes()]
    return b"".join(parts)


def _counts(offsets: npt.NDArray[np.int64]) -> int | list[int]:
    counts: list[int] = np.diff(offsets).tolist()
    return counts[0] if len(set(counts)) == 1 else counts


def compress(body: bytes) -> bytes:
    """Zlib stream, as HTTP's Content-Encoding "deflate" has it. Level 1 for large bodies: the codes repeat so much
    that a higher level gains little and costs milliseconds."""
    return zlib.compress(body, 6 if len(body) < 100_000 else 1)
