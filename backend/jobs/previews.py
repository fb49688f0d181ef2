"""The texts and the picture of a link where it is pasted; of an order that solves a task, what it has achieved.

A view that cannot be drawn, or would take too long, gets Bubbleline's own.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from backend.address.link_state import entries_of, plans_of
from backend.errors import RequestError
from backend.jobs.encoding import Encoded
from backend.jobs.order_time import order_ms
from backend.schedule.errors import OrderError
from backend.schedule.families.registry import family_of
from backend.schedule.spec import Spec

if TYPE_CHECKING:
    from backend.charts.previews.card import Award

MOST_MS = 5000.0  # of building the orders of one picture
MOST_OPS = 13_000_000  # timed for a picture


def texts(query: bytes, with_bubble: bool) -> tuple[str, str] | None:
    """Return title and description of a view, such as "ZB-H1, p 8, m 32 · bubble 6.8 %"; None if it has none."""
    plans = drawable(query)
    if not plans:
        return None
    family = family_of(plans[0])
    about = f"{family.title} ({family.year}): {family.summary} Play it, change it and run it in Bubbleline."
    return _title(plans, with_bubble), about


def solution(query: bytes, executed: bool) -> tuple[str, str] | None:
    """Return title and description of an order that solves a task; None for any other link."""
    from backend.charts.previews.card import MOST_STARS

    found = award_of(query, executed)
    if found is None:
        return None
    stars = f"{found.stars} of {MOST_STARS} stars"
    return found.sentence, f"Task “{found.task}”: {found.facts}, {stars}. Look at this order, or build a better one."


def award_of(query: bytes, executed: bool) -> Award | None:
    """Return what the order of a link has achieved in its task; None where it has none, or does not solve it."""
    from backend.tasks.award import award
    from backend.tasks.grade import grade
    from backend.tasks.task import task_of

    try:
        entries = entries_of(query)
        if "task" not in entries or "order" not in entries:
            return None
        return award(grade(task_of(entries["task"]), entries["order"], None), executed)
    except (RequestError, OrderError):
        return None


def picture(query: bytes, executed: bool) -> Encoded:
    """Draw a view's schedules as PNG, or Bubbleline's own picture. `executed`: a run has verified its order."""
    from backend.charts.previews.card import brand_card, card, timed

    plans = drawable(query)
    try:
        award = award_of(query, executed) if len(plans) == 1 else None
        drawn = card([timed(spec) for spec in plans], award=award) if plans else brand_card()
    except RequestError:
        drawn = brand_card()
    return Encoded.of(zlib.compress(drawn, 1), "image/png")


def drawable(query: bytes) -> tuple[Spec, ...]:
    """Return a view's schedules; none if they cannot be read or are too large to be drawn on request."""
    try:
        plans = tuple(plans_of(query))
    except RequestError:
        return ()
    ops = sum(3 * spec.p * spec.m * spec.v for spec in plans)
    return plans if ops <= MOST_OPS and sum(order_ms(spec) for spec in plans) <= MOST_MS else ()


def _title(plans: tuple[Spec, ...], with_bubble: bool) -> str:
    from backend.charts.previews.card import percent, sizes_of, timed

    names = [family_of(spec).title for spec in plans]
    head = ", ".join([" against ".join(names), *sizes_of(plans[0])])
    if not with_bubble:
        return head
    try:
        bubbles = [percent(timed(spec).bubble) for spec in plans]
    except RequestError:
        return head
    return f"{head} · bubble {' against '.join(bubbles)}"
