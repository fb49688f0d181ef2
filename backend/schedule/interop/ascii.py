"""Text for a terminal: tables, and a timeline with one line per rank, one cell per op, dots where the rank is idle.

``F`` forward, ``I`` input gradient, ``W`` weight gradient, ``B`` full backward, ``S`` and ``T`` the sharded output
layer, each with its micro-batch if there is room; ``X`` an overlapped pair; lower-case letters are odd chunks (or
DualPipe's second direction). A rank that copies has a second line, ``O`` offload and ``R`` reload.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from backend.schedule.order.copy_lanes import LETTERS
from backend.schedule.order.ops import Pair
from backend.schedule.simulation.simulate import Timeline

MAX_COLUMNS = 240
ROUNDING = 1e-9  # of sums of activations


def draw(timeline: Timeline, columns: int | None = None) -> list[str]:
    """Return one line per rank. Without ``columns`` the scale is the smallest that labels every op, up to
    MAX_COLUMNS.
    """
    order = timeline.order
    total = float(timeline.end.max())
    if total <= 0.0:
        return [f"{rank:>3} " for rank in range(order.p)]
    spent = timeline.end - timeline.start
    shortest = float(spent[spent > 0.0].min())
    label = 1 + len(str(order.m - 1))
    natural = int(np.ceil(total / shortest * (label + 1)))
    width = columns or min(natural, MAX_COLUMNS)
    scale = width / total
    lines = []
    for rank in range(order.p):
        lines.append(f"{rank:>3} {_line(timeline, rank, scale, width)}")
        if order.copies is not None:
            lines.append(f"    {_copy_line(timeline, rank, scale, width)}".rstrip())
    return lines


def _line(timeline: Timeline, rank: int, scale: float, width: int) -> str:
    line = ["."] * width
    start, end = timeline.rank(rank)
    for op, begin, finish in zip(timeline.order.row(rank), start.tolist(), end.tolist(), strict=True):
        left, right = round(begin * scale), min(round(finish * scale), width)
        if isinstance(op, Pair):
            letter, text = "X", f"X{op.forward.micro}/{op.backward.micro}"
        else:
            letter = op.kind.lower() if op.chunk % 2 else op.kind
            text = f"{letter}{op.micro}"
        room = right - left
        cell = (text if len(text) <= room else letter).ljust(room, "-")[:room]
        line[left:right] = cell
    return "".join(line)


def _copy_line(timeline: Timeline, rank: int, scale: float, width: int) -> str:
    line = [" "] * width
    copies, chunks = timeline.order.copies, timeline.order.chunks
    assert copies is not None
    span = slice(copies.offsets[rank], copies.offsets[rank + 1])
    times = zip(timeline.copy_start[span].tolist(), timeline.copy_end[span].tolist(), strict=True)
    for (kind, chunk, micro, _), (begin, finish) in zip(copies.row(rank, chunks), times, strict=True):
        left, right = round(begin * scale), min(round(finish * scale), width)
        letter = LETTERS[kind].lower() if chunk % 2 else LETTERS[kind]
        text = f"{letter}{micro}"
        line[left:right] = (text if len(text) <= right - left else letter).ljust(right - left, "-")[: right - left]
    return "".join(line)


def _certified(spec: dict[str, Any], proof: dict[str, Any]) -> list[str]:
    bound = f"lower bound of the span {proof['lower_bound']:g} ({proof['bound']})"
    verdict = "optimal: no order is shorter" if proof["optimal"] else f"this order is {proof['gap']:.2%} above it"
    again = f"; --effort {spec['effort']} --seed {spec['seed']} gives it again" if spec["effort"] else ""
    return [f"{bound}: {verdict}{again}"]


QUANTITIES = {
    "bubble": "idle time per device",
    "share": "idle share of the step",
    "makespan": "makespan",
    "peak": "peak chunks in flight",
}


def memory_lines(peaks: Sequence[float], limit: float | None) -> list[str]:
    """Return the peak memory of each rank, and which ranks are over the limit, if there is one."""
    lines = [f"peak memory {' '.join(f'{each:g}' for each in peaks)}  (micro-batches' activations on one device)"]
    if limit is not None:
        over = [str(rank) for rank, each in enumerate(peaks) if each > limit + ROUNDING]
        verdict = f"rank{'s' if len(over) > 1 else ''} {', '.join(over)} above it" if over else "every rank within it"
        lines.append(f"memory limit {limit:g}: {verdict}")
    return lines


def summary(shape: dict[str, Any]) -> list[str]:
    """Return the figures of a Result, named by window and denominator, and its law, as lines of text."""
    lines = [f"makespan {shape['makespan']:g}   longest stage (span) {shape['longest_stage']:g}"]
    for window in ("global", "span"):
        bubble = shape["bubble"][window]
        shares = f"{bubble['of_total']:7.2%} of total  {bubble['of_ideal']:7.2%} of ideal"
        lines.append(f"bubble, {window:<6} window: {shares}")
    lines.append(f"peak chunks in flight {' '.join(map(str, shape['peak_in_flight']))}")
    lines += memory_lines(shape["peak_memory"], shape["spec"]["memory"])
    if "weight_versions" in shape:
        lines.append(f"weight versions held {' '.join(map(str, shape['weight_versions']))}")
    if shape["spec"]["recompute"] != "none" and any("I" in row for row in shape["order"]):
        lines.append(TWICE)
    if "replicas" in shape:
        lines += _replicas(shape["replicas"], shape["spec"]["replica"])
    if "certificate" in shape:
        lines += _certified(shape["spec"], shape["certificate"])
    law = shape["law"]
    if law is None:
        why = "is searched for these costs and this memory"
        if shape["spec"]["order"] or shape["spec"]["frozen"]:
            why = "is imported" if shape["spec"]["order"] else "has stages that are not trained"
        lines.append(f"law: none; the order {why}, and only the simulation tells")
    else:
        exact = "exact here" if law["exact"] else f"not exact here: {law['why']}"
        what = f"{QUANTITIES[law['quantity']]} ({law['window']})"
        lines.append(f"law: {what} = {law['text']} = {law['numbers']} = {law['value']:g}   {exact}")
    return lines


TWICE = (
    "recomputation is counted once, before I; where autograd splits the backward, as in torch, I and W each pay it "
    "(torchtitan issue 773)"
)


def _replicas(found: dict[str, Any], shown: int) -> list[str]:
    """Return lines on what replicas lose by waiting for the slowest."""
    step, gain = found["step"], found["dealt"] / found["step"] - 1
    waits = f"a step of {step:g}, {found['over_mean']:.3f} of the mean, {found['waiting']:.1%} of all device time"
    return [
        f"replicas: {len(found['ends'])} wait for the slowest, {found['slowest']}: {waits}; {shown} is shown",
        f"dealt longest first, entering as a mountain: {found['dealt']:g}, {gain:+.1%}",
    ]


def columns(lines: Sequence[Sequence[str]], left: Collection[int]) -> list[str]:
    """Return lines of cells, all as long as the first, in columns of one width; those at ``left`` are left-aligned, the
    others, numbers, right-aligned.
    """
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
