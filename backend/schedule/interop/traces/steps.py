"""Find the steps in a trace, and choose one that all ranks have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from backend.schedule.errors import OrderError, message
from backend.schedule.interop.traces.events import Slice
from backend.schedule.interop.traces.names import UNKNOWN
from backend.schedule.order.ops import Op, halves

Step = list[Slice]


def numbered(slices: Sequence[Slice], stage: int) -> list[Slice]:
    """Return slices in the order of their start, with what their names leave open: the stage is that of the rank, and
    the micro-batches of one kind and stage are counted.
    """
    found = []
    counts: dict[tuple[str, int], int] = {}
    for each in in_time(slices):
        op = each.op
        if isinstance(op, Op) and UNKNOWN in (op.stage, op.micro):
            placed = replace(op, stage=stage if op.stage == UNKNOWN else op.stage)
            if op.micro == UNKNOWN:
                kind = placed.kind, placed.stage
                placed = replace(placed, micro=counts.get(kind, 0))
                counts[kind] = placed.micro + 1
            each = replace(each, op=placed)
        found.append(each)
    return found


def in_time(slices: Sequence[Slice]) -> list[Slice]:
    """Return slices in the order of their start."""
    return sorted(slices, key=lambda each: (each.start, each.end, each.op.text()))


def last_whole_step(ranks: Sequence[Sequence[Slice]]) -> tuple[list[Step], int, int]:
    """Return each rank's slices of the last step that all ranks have whole, else of the one with most ops; the number
    of that step, from 1; and of how many. Raises OrderError where no step is on all ranks.
    """
    pieces = [_pieces(slices) for slices in ranks]
    whole = [len({each.op for each in slices}) for slices in ranks]
    most = max(map(len, pieces))
    steps = _steps(pieces)
    if not steps:
        text = message(
            "schedule.trace_without_common_step",
            "no step is on all ranks: the files begin and end in different steps; record the same steps on every rank",
        )
        raise OrderError(text)
    complete = [step for step in steps if [len({each.op for each in piece}) for piece in step] == whole]
    chosen = complete[-1] if complete else max(reversed(steps), key=lambda step: sum(map(len, step)))
    first = next(rank for rank, found in enumerate(pieces) if len(found) == most)
    at = next(at for at, piece in enumerate(pieces[first]) if piece is chosen[first])
    return chosen, at + 1, most


def whole_steps(ranks: Sequence[Sequence[Slice]]) -> list[tuple[int, list[Step]]]:
    """Return the number, from 1, and each rank's slices of every step that all ranks have whole; where there is none,
    of the one with most ops. Raises OrderError as ``last_whole_step`` does.
    """
    chosen, number, _ = last_whole_step(ranks)
    pieces = [_pieces(slices) for slices in ranks]
    whole = [len({each.op for each in slices}) for slices in ranks]
    complete = [
        (at, step)
        for at, step in enumerate(_steps(pieces), 1)
        if [len({each.op for each in piece}) for piece in step] == whole
    ]
    return complete or [(number, chosen)]


def _pieces(slices: Sequence[Slice]) -> list[Step]:
    """Return the steps on one rank, the last and the first of which may be cut off.

    A step begins with the forward of the smallest micro-batch in the lowest stage.
    """
    slices = in_time(slices)
    if len({each.op for each in slices}) == len(slices):
        return [slices]
    forwards = [(half.stage, half.micro) for each in slices for half in halves(each.op) if half.kind == "F"]
    if not forwards:
        return [in_time(list({each.op: each for each in slices}.values()))]
    first = min(forwards)
    begins = [
        index
        for index, each in enumerate(slices)
        if any((half.stage, half.micro) == first and half.kind == "F" for half in halves(each.op))
    ]
    return [slices[a:b] for a, b in zip(begins, [*begins[1:], len(slices)], strict=True)]


def _steps(pieces: Sequence[Sequence[Step]]) -> list[list[Step]]:
    """Return the pieces of all ranks step by step: those that begin at about the same time.

    Where two ranks have no time in common, and no other rank connects them, their clocks differ, and the steps are
    counted from the last one.
    """
    fewest = min(pieces, key=len)
    spans = sorted((each[0][0].start, max(slice_.end for step in each for slice_ in step)) for each in pieces)
    ends = np.maximum.accumulate([end for _, end in spans])
    one_clock = all(begin <= end for (begin, _), end in zip(spans[1:], ends, strict=False))
    found = []
    for back, piece in enumerate(reversed(fewest), 1):
        near = [min(each, key=lambda other: abs(other[0].start - piece[0].start)) for each in pieces]
        if not all(other[0].start <= piece[-1].end and piece[0].start <= other[-1].end for other in near):
            if one_clock:
                continue
            near = [each[-back] for each in pieces]
        found.append(near)
    return found[::-1]
