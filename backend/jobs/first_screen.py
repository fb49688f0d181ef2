"""The first screen: the figures and the boxes of the schedule that the address without a query shows.

The server writes them into the page, so that a slow line shows the picture with the first bytes. It takes 2 ms, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from backend.schedule.families.registry import order
from backend.schedule.order.ops import LETTERS
from backend.schedule.order.order import decode
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec
from backend.tasks.task import tasks

SPEC = Spec(family="gpipe")
PRICE, MANY, HOURS = 2.5, 512, 24  # $ of a GPU-hour, GPUs of the larger example, hours of a day: as in story.ts


@dataclass(frozen=True)
class FirstScreen:
    """What the template fills in; rows are those of the ranks, each a list of (start, length, kind)."""

    gpus: int
    pieces: int
    share: str
    day: str
    many: int
    many_day: str
    price: str
    end: float
    rows: tuple[tuple[tuple[float, float, str], ...], ...]
    task: str


@lru_cache(maxsize=1)
def first_screen() -> FirstScreen:
    """Return the first screen's contents."""
    timeline = simulate(order(SPEC), SPEC.timing, SPEC.v)
    found = figures(timeline)
    bubble = found.global_bubble.of_total
    return FirstScreen(
        gpus=SPEC.p,
        pieces=SPEC.m,
        share=f"{100 * bubble:.0f} %",
        day=_dollars(SPEC.p * bubble),
        many=MANY,
        many_day=_dollars(MANY * bubble),
        price=f"{PRICE:.2f}",
        end=found.makespan,
        rows=tuple(tuple(_boxes(timeline, rank)) for rank in range(SPEC.p)),
        task=next(iter(tasks())),
    )


def _dollars(idle: float) -> str:
    """Return what GPUs that are idle for this many hours of each hour cost a day."""
    return f"${PRICE * HOURS * idle:,.0f}"


def _boxes(timeline: Timeline, rank: int) -> Iterator[tuple[float, float, str]]:
    made = timeline.order
    starts, ends = timeline.rank(rank)
    codes = made.codes[made.offsets[rank] : made.offsets[rank + 1]].tolist()
    for start, end, code in zip(starts.tolist(), ends.tolist(), codes, strict=True):
        yield start, end - start, LETTERS[decode(code, made.chunks)[0]].lower()
