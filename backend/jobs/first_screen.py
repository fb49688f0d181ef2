"""What the server writes into the page: the first screen's figures, and the first picture of its view.

A slow line shows them with the first bytes; the script then draws over the picture. Both are kept: an address costs 1
to 10 ms, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from backend.address.query import is_packed
from backend.charts.previews.card import sizes_of, timed
from backend.charts.previews.svg import lane
from backend.errors import RequestError
from backend.jobs.order_time import WORKER_MS, order_ms
from backend.jobs.previews import drawable
from backend.schedule.spec import Spec
from backend.tasks.task import tasks

SPEC = Spec(family="gpipe")
PRICE, MANY, HOURS = 2.5, 512, 24  # $ of a GPU-hour, GPUs of the larger example, hours of a day: as in story.ts


MOST_OPS = 2000  # of a first picture: 30 kB before compression
FOREIGN = (b"t0=", b"t1=", b"run=", b"pin=")  # with these the view begins otherwise than with the whole schedules


@dataclass(frozen=True)
class FirstScreen:
    """What the template fills in."""

    gpus: int
    pieces: int
    share: str
    day: str
    many: int
    many_day: str
    price: str
    task: str


@dataclass(frozen=True)
class FirstLane:
    """A schedule of the first picture: its name and sizes, its rows as SVG."""

    title: str
    sizes: str
    picture: str


@lru_cache(maxsize=1)
def first_screen() -> FirstScreen:
    """Return the first screen's contents."""
    bubble = timed(SPEC).bubble
    return FirstScreen(
        gpus=SPEC.p,
        pieces=SPEC.m,
        share=f"{100 * bubble:.0f} %",
        day=_dollars(SPEC.p * bubble),
        many=MANY,
        many_day=_dollars(MANY * bubble),
        price=f"{PRICE:.2f}",
        task=next(iter(tasks())),
    )


def first_picture(query: bytes) -> tuple[FirstLane, ...]:
    """Return the lanes of the view at an address; none where they are not constructed at once, or are too many ops."""
    if is_packed(query) or any(part.startswith(FOREIGN) for part in query.split(b"&")):
        return ()
    plans = drawable(query)
    ops = sum(3 * spec.p * spec.m * spec.v for spec in plans)
    return _lanes(plans) if ops <= MOST_OPS and all(order_ms(spec) < WORKER_MS for spec in plans) else ()


@lru_cache(maxsize=64)
def _lanes(plans: tuple[Spec, ...]) -> tuple[FirstLane, ...]:
    try:
        drawn = [timed(spec) for spec in plans]
    except RequestError:
        return ()
    end = max((float(plan.timeline.end.max()) for plan in drawn), default=0.0)
    names = "ABCD" if len(drawn) > 1 else ("",)
    return tuple(
        FirstLane(f"{name} · {plan.title}" if name else plan.title, " · ".join(sizes_of(plan.spec)), lane(plan, end))
        for name, plan in zip(names, drawn, strict=False)
    )


def _dollars(idle: float) -> str:
    """Return what GPUs that are idle for this many hours of each hour cost a day."""
    return f"${PRICE * HOURS * idle:,.0f}"
