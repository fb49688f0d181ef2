"""The texts and the picture of a link where it is pasted.

A view that cannot be drawn, or would take too long, gets Bubbleline's own.
"""

from __future__ import annotations

import zlib

from backend.address.link_state import plans_of
from backend.errors import RequestError
from backend.jobs.encoding import Encoded
from backend.jobs.order_time import order_ms
from backend.schedule.families.registry import family_of
from backend.schedule.spec import Spec

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


def picture(query: bytes) -> Encoded:
    """Draw a view's schedules as PNG, or Bubbleline's own picture."""
    from backend.charts.previews.card import brand_card, card, timed

    plans = drawable(query)
    try:
        drawn = card([timed(spec) for spec in plans]) if plans else brand_card()
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
