"""Activations held: in chunks (in flight) and in units of one micro-batch's activations on a device.

Ops of a rank run one at a time, so the peak follows from the order alone; no times are needed. A chunk's activation is
taken when its F starts and given back when its W (or full B) ends; inside a pair the F takes before the B gives back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import jit
from .deps import code_count
from .ops import PAIR, B, F, I, W
from .order import Order, decode

Floats = npt.NDArray[np.float64]


@jit.kernel("void(uint8[::1], int64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])")
def _peaks(codes: Any, offsets: Any, take: Any, back: Any, peak: Any) -> None:
    """Highest level of each rank for two ways to count: ``take`` and ``back`` (codes, 2), ``peak`` (p, 2) filled."""
    for r in range(offsets.shape[0] - 1):
        level0, level1, top0, top1 = 0.0, 0.0, 0.0, 0.0
        for x in range(offsets[r], offsets[r + 1]):
            code = codes[x]
            level0 += take[code, 0]
            level1 += take[code, 1]
            top0 = max(top0, level0)
            top1 = max(top1, level1)
            level0 -= back[code, 0]
            level1 -= back[code, 1]
        peak[r, 0] = top0
        peak[r, 1] = top1


def changes(chunks: int, w_share: float, kept: float = 1.0) -> tuple[Floats, Floats]:
    """(codes, 2) taken at an op's start and given back at its end: column 0 counts chunks in flight (I gives nothing
    back), column 1 chunk activations. F keeps the part ``kept`` of them, the backward brings the rest back by
    recomputing, and W still needs ``w_share`` of all after I."""
    again = 1.0 - kept
    takes = {F: (1.0, kept), I: (0.0, again), W: (0.0, 0.0), B: (0.0, again), PAIR: (1.0, 1.0)}
    backs = {F: (0.0, 0.0), I: (0.0, 1.0 - w_share), W: (1.0, w_share), B: (1.0, 1.0), PAIR: (1.0, 1.0)}
    kinds = [decode(code, chunks)[0] for code in range(code_count(chunks))]
    return np.array([takes[kind] for kind in kinds]), np.array([backs[kind] for kind in kinds])


def peaks(order: Order, w_share: float = 1.0, v: int = 1, kept: float = 1.0) -> tuple[npt.NDArray[np.int64], Floats]:
    """(p,) the most chunks in flight, and (p,) the most memory in units of one micro-batch's activations on a device
    (1F1B's peak is min(p, m))."""
    peak = np.empty((order.p, 2))
    jit.compile_for(len(order))
    _peaks(order.codes, order.offsets, *changes(order.chunks, w_share, kept), peak)
    return peak[:, 0].astype(np.int64), peak[:, 1] / v


def curve(
    order: Order, start: Floats, end: Floats, rank: int, w_share: float = 1.0, v: int = 1, kept: float = 1.0
) -> tuple[Floats, Floats]:
    """Times and levels of one rank's memory as steps: level ``y[k]`` holds from ``t[k]`` on. Same unit as ``peaks``."""
    span = slice(order.offsets[rank], order.offsets[rank + 1])
    take, back = (table[order.codes[span], 1] for table in changes(order.chunks, w_share, kept))
    moves = np.stack((take, -back), 1).ravel()
    times = np.stack((start[span], end[span]), 1).ravel()
    keep = moves != 0.0
    return times[keep], np.cumsum(moves[keep]) / v
