"""Compute figures of a timeline, planned or measured: makespan, longest stage, bubbles by window and denominator.

Window: *global* is first start to last end; *span* is the longest of the ranks' own windows (the zero-bubble papers'
"longest stage"), which presumes that the optimizer step needs no global synchronisation. Denominator: idle share *of
total* time, or idle time relative to the *ideal* (no idle at all).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.schedule.simulation.simulate import Timeline


class Bubble(NamedTuple):
    """Idle time as a share of the window (``of_total``) and relative to the mean busy time (``of_ideal``)."""

    of_total: float
    of_ideal: float


@dataclass(frozen=True)
class Figures:
    """``makespan`` and ``longest_stage`` in the timeline's unit; ``busy`` the mean over ranks."""

    makespan: float
    longest_stage: float
    busy: float
    global_bubble: Bubble
    span_bubble: Bubble

    def as_dict(self) -> dict[str, Any]:
        """Return the figures with the keys of a Result."""
        return {
            "makespan": self.makespan,
            "longest_stage": self.longest_stage,
            "bubble": {"global": self.global_bubble._asdict(), "span": self.span_bubble._asdict()},
        }


def figures(timeline: Timeline) -> Figures:
    """Compute the figures of a timeline in which every rank has at least one op."""
    first, last = timeline.windows()
    makespan = float(last.max() - first.min())
    longest = float((last - first).max())
    busy = float(timeline.busy().mean())
    return Figures(makespan, longest, busy, bubble(makespan, busy), bubble(longest, busy))


def bubble(window: float, busy: float) -> Bubble:
    """Compute the idle time in a window, by both denominators; 0 if there is no work."""
    if window <= 0.0 or busy <= 0.0:
        return Bubble(0.0, 0.0)
    return Bubble(1.0 - busy / window, window / busy - 1.0)
