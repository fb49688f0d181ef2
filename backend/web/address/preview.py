"""The preview of a view's link where it is pasted: title, description, and the addresses of its page and picture.

A view that cannot be drawn, or would take too long, gets Bubbleline's own title and picture.
"""

from __future__ import annotations

from dataclasses import dataclass

from flask import Request

from backend.errors import RequestError
from backend.schedule.families.registry import family_of
from backend.schedule.spec import Spec
from backend.web.address.link_state import plans_of
from backend.web.http.background import estimated_ops, run_in_background

CLAIM = "See, share and run pipeline-parallel training schedules."
MOST_OPS = 13_000_000  # ops built and timed for a picture or a file; more would keep others waiting


@dataclass(frozen=True)
class Preview:
    """The texts of a preview, and the addresses of its page and picture."""

    title: str
    description: str
    url: str
    picture: str


def preview_of(request: Request) -> Preview:
    """Make the preview of the view that a request asks for.

    Browsers, which send Sec-Fetch-Dest, get no bubble in the title: it is not displayed there, and the page would
    have to wait for it.
    """
    root = request.host_url.rstrip("/")
    query = request.query_string.decode("ascii", "replace")
    tail = f"?{query}" if query else ""
    plans = drawable(request.query_string)
    url, picture = f"{root}/{tail}", f"{root}/preview.png{tail}"
    if not plans:
        return Preview("Bubbleline", CLAIM, url, picture)
    return Preview(_title(plans, "Sec-Fetch-Dest" not in request.headers), _description(plans), url, picture)


def drawable(query: bytes) -> tuple[Spec, ...]:
    """Return a view's schedules; none if they cannot be read or are too large to be drawn on request."""
    try:
        plans = tuple(plans_of(query))
    except RequestError:
        return ()
    return plans if sum(estimated_ops(spec) for spec in plans) <= MOST_OPS else ()


def _title(plans: tuple[Spec, ...], with_bubble: bool) -> str:
    """Return a title such as "ZB-H1, p 8, m 32 · bubble 6.8 %"."""
    from backend.preview_image.card import percent, sizes_of

    names = [family_of(spec).title for spec in plans]
    head = ", ".join([" against ".join(names), *sizes_of(plans[0])])
    if not with_bubble:
        return head
    try:
        work = sum(estimated_ops(spec) for spec in plans)
        bubbles = run_in_background(work, lambda: [_bubble(spec) for spec in plans])
    except RequestError:
        return head
    return f"{head} · bubble {' against '.join(percent(bubble) for bubble in bubbles)}"


def _bubble(spec: Spec) -> float:
    from backend.preview_image.card import timed

    return timed(spec).bubble


def _description(plans: tuple[Spec, ...]) -> str:
    family = family_of(plans[0])
    return f"{family.title} ({family.year}): {family.summary} Play it, change it and run it in Bubbleline."
