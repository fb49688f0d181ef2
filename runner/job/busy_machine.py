"""Say where the machine was too busy for a run: its times are then not those of the schedule alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.errors import Message, message

CROWDED = 0.02  # the share of a free run's time without a core above which it is noted
LATE = 0.03  # how much longer than planned a paced run may take, as a share of its plan
NAMED = 0.5  # a rank is named if its late starts are at least this share of the largest


def over_plan(predicted: Mapping[str, Any], measured: Mapping[str, Any]) -> float:
    """Return by which share of its planned makespan a paced run took longer (negative: shorter)."""
    return float(measured["makespan"]) / float(predicted["makespan"]) - 1


def too_busy(over: float, idle: Mapping[str, Sequence[int]], busy: Sequence[int], planned_busy: Sequence[float],
             unit_ns: float) -> dict[str, Any] | None:  # fmt: skip
    """Return the field `too_busy` of a paced run that took over LATE longer than its plan, otherwise None: its share
    `over`, and the `ranks` whose ops started late, or took longer than planned, the most.

    `idle` and `busy` (p,) in ns, `planned_busy` (p,) in units. `late_start` and `overrun` are ns, summed over all
    ranks: the time between when ops could have started and when they did, and by how much they took longer than
    planned.
    """
    if over <= LATE:
        return None
    late = list(idle["late_start"])
    overrun = [max(0, round(took - plan * unit_ns)) for took, plan in zip(busy, planned_busy, strict=True)]
    cause = late if sum(late) >= sum(overrun) else overrun
    ranks = [rank for rank, ns in enumerate(cause) if ns > 0 and ns >= NAMED * max(cause)]
    return {"over": over, "ranks": ranks, "late_start": sum(late), "overrun": sum(overrun)}


def note(found: Mapping[str, Any]) -> Message:
    """Return the field `too_busy` as a sentence with the way out."""
    over, ranks = f"{found['over'] * 100:.1f} %", _listed(found["ranks"])
    if found["late_start"] >= found["overrun"]:
        return message(
            "runner.too_busy",
            "The machine was too busy for this run: it took {over} longer than planned, as ops of rank {ranks} started "
            "late ({ms} ms summed over all ranks). Use fewer ranks, a larger unit or a quieter machine.",
            over=over,
            ranks=ranks,
            ms=f"{found['late_start'] / 1e6:.0f}",
        )
    return message(
        "runner.unit_too_short",
        "The unit is too short for this machine: the run took {over} longer than planned, as ops of rank {ranks} took "
        "longer than their planned time ({ms} ms summed over all ranks). Use a larger unit, fewer ranks or a quieter "
        "machine.",
        over=over,
        ranks=ranks,
        ms=f"{found['overrun'] / 1e6:.0f}",
    )


def _listed(ranks: Sequence[int]) -> str:
    """Return ascending ranks as a text, neighbours as a range: "0-3, 5"."""
    parts: list[list[int]] = []
    for rank in ranks:
        if parts and parts[-1][-1] == rank - 1:
            parts[-1].append(rank)
        else:
            parts.append([rank])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 2 else ", ".join(map(str, part)) for part in parts)


def lack_of_cores(mode: str, makespan_ns: float, starved: Sequence[int]) -> list[Message]:
    """Return a note if an unpaced run of `makespan_ns` lacked cores; `starved` (p,) ns."""
    most = max(starved)
    if mode != "free" or most <= CROWDED * makespan_ns:
        return []
    return [
        message(
            "runner.starved",
            "Rank {rank} was ready for {ms} ms without a core to run on, {share} of the run.",
            rank=starved.index(most),
            ms=f"{most / 1e6:.1f}",
            share=f"{most / makespan_ns:.0%}",
        )
    ]
