"""The orders of other families that a search begins with: those on the same placement, with the backward split.

A whole backward becomes I and its W right after it, an overlapped pair F and such a backward. These take as long and
hold as much memory, while I passes its result on earlier: the split order is never longer than the family's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import SpecError
from backend.schedule.families.family import Family
from backend.schedule.order.ops import PAIR, B, F, I, W
from backend.schedule.order.order import MAX_CHUNKS, Codes, code_count, decode, encode
from backend.schedule.spec import Spec


def fixed_orders(spec: Spec, families: Sequence[Family]) -> Iterator[Codes]:
    """Yield the codes (p, steps) of each family that can be built at the spec's sizes and costs; equal ones once."""
    found: set[bytes] = set()
    for codes in _built(spec, families):
        if codes.tobytes() not in found:
            found.add(codes.tobytes())
            yield codes


def _built(spec: Spec, families: Sequence[Family]) -> Iterator[Codes]:
    for family in families:
        same = spec.with_(family=family.name, memory=None, effort=None)
        try:
            family.validate(same)
        except SpecError:
            continue  # too few micro-batches, for example
        order = family.order(same)
        yield split(order.codes, order.chunks).reshape(order.p, -1)


def split(codes: Codes, chunks: int) -> Codes:
    """Return codes with F, I and W in place of every full backward and pair."""
    counts, parts = _parts(chunks)
    return parts[codes][np.arange(parts.shape[1]) < counts[codes][:, None]]


@lru_cache(maxsize=MAX_CHUNKS)
def _parts(chunks: int) -> tuple[npt.NDArray[np.int64], Codes]:
    """Return (256,) how many ops each byte consists of, and (256, 3) their codes."""
    counts, parts = np.ones(256, np.int64), np.zeros((256, 3), np.uint8)
    for code in range(code_count(chunks)):
        kind, chunk, b_chunk = decode(code, chunks)
        ops = [(kind, chunk)]
        if kind == B:
            ops = [(I, chunk), (W, chunk)]
        elif kind == PAIR:
            ops = [(F, chunk), (I, b_chunk), (W, b_chunk)]
        counts[code] = len(ops)
        parts[code, : len(ops)] = [encode(*op, chunks) for op in ops]
    return counts, parts
