"""DualPipe: two replicas of the model in opposite directions (DeepSeek-V3, arXiv 2412.19437, section 3.2.1).

Micro-batches 0..m/2-1 travel from rank 0 to rank p-1 (stream 0), the others from rank p-1 to rank 0 (stream 1). In the
steps below "0" is the direction that enters at the rank's own end of the pipeline, "1" the other. Parameters are held
twice; the two copies' gradients are summed after the step.
"""

from __future__ import annotations

import numpy as np

from backend.schedule.errors import SpecError, message
from backend.schedule.families.family import Family, Row, phases
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.order import ops
from backend.schedule.order.order import encode
from backend.schedule.spec import Spec

CHUNKS = 2
F, I, W, B, FB = (encode(kind, 0, CHUNKS) for kind in (ops.F, ops.I, ops.W, ops.B, ops.PAIR))  # of chunk 0


def eight_steps(half: int, h: int, m: int, near: int, unpaired_start: bool) -> Row:
    """Build one rank's row.

    ``half`` is H (ranks from one end to the turn), ``h`` the rank's distance from its own end, ``m`` the
    micro-batches of each direction, ``near`` the chunk of direction 0. Shared with DualPipeV, whose two chunks are
    the two directions of a pipeline folded in the middle.
    """
    far = 1 - near
    f0, f1, i0, i1, b0, b1 = F + near, F + far, I + near, I + far, B + near, B + far
    w = W  # its chunk follows from the first-in-first-out queue of weight gradients: see _pop_weights
    f0b1, f1b0 = FB + near * CHUNKS + far, FB + far * CHUNKS + near
    rest = half - h - 1
    main = m - 2 * half + h + 1
    split = (h + 1) // 2  # the pass of step 6 in which the backward starts to be split
    first, then = ([f0, b1, f1b0], main - 1) if unpaired_start else ([], main)
    row = phases(
        (2 * rest, [f0]),  # 1: nF0
        (h + 1, [f0, f1]),  # 2: nF0F1
        (rest, [i1, w, f1]),  # 3: nB1W1F1, B split
        (1, first),  # 4: nF0B1F1B0, overlapped; the very first pair on the middle rank is not
        (then, [f0b1, f1b0]),
        (rest, [b1, f1b0]),  # 5: nB1F1B0
        (split, [b1, b0]),  # 6: nB1B0, in the second half of it B split
        *([(h + 1 - split, [i1, i0])] if h % 2 else [(1, [b1, i0]), (h - split, [i1, i0])]),
        (rest, [w, i0]),  # 7: nWB0
        (h + 1, [w]),  # 8: nW
    )
    return _pop_weights(row)


def _pop_weights(row: Row) -> Row:
    """Assign to each W the oldest input gradient whose weight gradient is still to come."""
    inputs = row[(row >= I) & (row < I + CHUNKS)]
    weights = np.flatnonzero((row >= W) & (row < W + CHUNKS))
    row[weights] = inputs - I + W
    return row


def rows(spec: Spec) -> list[Row]:
    """Build each rank's row; ranks of the second half mirror the first: their near direction is stream 1."""
    p, half = spec.p, spec.p // 2
    out = []
    for r in range(p):
        h = min(r, p - 1 - r)
        out.append(eight_steps(half, h, spec.m // 2, near=int(r >= half), unpaired_start=h == half - 1))
    return out


def legal(spec: Spec) -> None:
    """Raise SpecError unless p is even, m is even, and m >= 2p."""
    p, m = spec.p, spec.m
    if p % 2:
        raise SpecError(
            "p",
            p,
            message(
                "schedule.dualpipe_needs_even_p",
                "DualPipe needs an even number of devices; p = {nearest} is the nearest",
                nearest=p + 1,
            ),
            nearest=p + 1,
        )
    if m < 2 * p:
        raise SpecError(
            "m",
            m,
            message(
                "schedule.dualpipe_needs_more_micro_batches",
                "DualPipe needs at least 2p = {least} micro-batches",
                least=2 * p,
            ),
            limit=2 * p,
            nearest=2 * p,
        )
    if m % 2:
        raise SpecError(
            "m",
            m,
            message(
                "schedule.dualpipe_needs_even_m",
                "DualPipe needs an even number of micro-batches; {nearest} is the nearest",
                nearest=m + 1,
            ),
            nearest=m + 1,
        )


SHORT_W = (
    "w <= f and w <= i",
    message("schedule.unless_short_w", "W takes longer than F or I and does not fit where it should fill"),
)
FULL_PAIR = (
    "fb_full == 1",
    message("schedule.unless_full_pair", "a pair that is faster than F + B leaves different idle time on each rank"),
)


def laws(share: str = "") -> tuple[Law, ...]:
    """Return the laws of DeepSeek's table; ``share`` is the divisor if a device's layers are split over chunks
    (DualPipeV).
    """
    return (
        Law(
            "bubble",
            "global",
            f"(S/2-1)*(FB+b-3*w){share}",
            (
                UNIFORM,
                NO_HOPS,
                ("f == i", message("schedule.unless_equal_f_and_i", "F and I take different times")),
                SHORT_W,
                FULL_PAIR,
            ),
            message("schedule.law_dualpipe_bubble", "DeepSeek's table: (PP/2-1)(F&B + B - 3W), B the full backward"),
        ),
        Law(
            "bubble",
            "global",
            f"(S/2-1)*(2*f+i-w){share}",
            (
                UNIFORM,
                NO_HOPS,
                ("f >= i", message("schedule.unless_f_not_shorter_than_i", "F is shorter than I")),
                SHORT_W,
                FULL_PAIR,
            ),
            message("schedule.law_dualpipe_bubble_long_f", "the same where F takes longer than I"),
        ),
        Law(
            "peak",
            "global",
            "S+1",
            (),
            message("schedule.law_dualpipe_peak", "DeepSeek's table: PP + 1, on every rank"),
        ),
    )


DUALPIPE = Family(
    name="dualpipe",
    title="DualPipe",
    year=2024,
    source=message(
        "schedule.dualpipe_source", "DeepSeek-AI, DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.2.1"
    ),
    used_by="DeepSeek-V3",
    group="bidirectional",
    summary=message(
        "schedule.dualpipe_summary",
        "Two replicas run in opposite directions; a forward and a backward overlap on each device.",
    ),
    backward="both",
    complexity=message("schedule.complexity_eight_steps", "eight steps"),
    placement="bidirectional",
    rows=rows,
    legal=legal,
    fields=("FB",),
    chunks=lambda spec: 2,
    ops=lambda spec: spec.p * (spec.m + 2 * spec.p - 1) + 2,
    laws=laws(),
)
