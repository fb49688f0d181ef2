"""What a link shows where it is pasted: a title, a description and a picture of its schedules.

Never in the way of the page: what cannot be drawn, or would take too long, gets Bubbleline's own title and picture.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from flask import Blueprint, Request, Response, request
from gevent.lock import BoundedSemaphore

from backend.schedule.errors import OrderError, SpecError
from backend.schedule.families.registry import family_of
from backend.schedule.spec import Spec
from backend.web.address.link_state import plans_of
from backend.web.http.cache import Encoded
from backend.web.http.responses import apart, send
from backend.web.routes.schedule import work_of
from backend.web.services import services

previews = Blueprint("previews", __name__)
CLAIM = "See, share and run pipeline-parallel training schedules."
MOST_WORK = 13_000_000  # ops built and timed for a picture; more would keep others waiting
PICTURE = 4_000_000  # ops that take as long as drawing does
DAY = 86_400  # seconds
# Two pictures at a time, so that a crowd of unfurlers leaves threads for people.
TURN = BoundedSemaphore(2)


@dataclass(frozen=True)
class Preview:
    """The texts of a preview, and where its page and picture are."""

    title: str
    description: str
    url: str
    picture: str


@previews.get("/preview.png")
def show_picture() -> Response:
    """The picture of a view's schedules, 1200 x 630."""
    plans = _drawable(request.query_string)
    key = ("preview", plans)
    answer = send(request, services().cache.get(key) or _in_turn(key, plans))
    answer.headers["Cache-Control"] = f"public, max-age={DAY}"
    answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"  # other sites may show it
    return answer


def preview_of(request: Request) -> Preview:
    """The preview of the view that a request asks for. Browsers, which say what they fetch, get no bubble in the title:
    nobody reads it there, and the page would have to wait for it."""
    root = _root(request)
    query = request.query_string.decode("ascii", "replace")
    tail = f"?{query}" if query else ""
    plans = _drawable(request.query_string)
    url, picture = f"{root}/{tail}", f"{root}/preview.png{tail}"
    if not plans:
        return Preview("Bubbleline", CLAIM, url, picture)
    return Preview(_title(plans, "Sec-Fetch-Dest" not in request.headers), _description(plans), url, picture)


def _drawable(query: bytes) -> tuple[Spec, ...]:
    """The schedules of a view, none where there are none that can be drawn while somebody waits."""
    try:
        plans = tuple(plans_of(query))
    except SpecError:
        return ()
    return plans if sum(work_of(spec) for spec in plans) <= MOST_WORK else ()


def _title(plans: tuple[Spec, ...], with_bubble: bool) -> str:
    """ZB-H1, p 8, m 32 · bubble 6.8 %"""
    from backend.preview_image.card import percent, sizes_of

    names = [family_of(spec).title for spec in plans]
    head = ", ".join([" against ".join(names), *sizes_of(plans[0])])
    if not with_bubble:
        return head
    try:
        bubbles = apart(sum(work_of(spec) for spec in plans), lambda: [_bubble(spec) for spec in plans])
    except (SpecError, OrderError):
        return head
    return f"{head} · bubble {' against '.join(percent(bubble) for bubble in bubbles)}"


def _bubble(spec: Spec) -> float:
    from backend.preview_image.card import shown

    return shown(spec).bubble


def _description(plans: tuple[Spec, ...]) -> str:
    family = family_of(plans[0])
    return f"{family.title} ({family.year}): {family.summary} Play it, change it and run it in Bubbleline."


def _in_turn(key: object, plans: tuple[Spec, ...]) -> Encoded:
    """The picture, made now; who waited for the same one finds it."""
    with TURN:
        return services().cache.kept(key, lambda: apart(PICTURE, lambda: _encoded(plans)))


def _encoded(plans: tuple[Spec, ...]) -> Encoded:
    from backend.preview_image.card import brand_card, card, shown

    try:
        picture = card([shown(spec) for spec in plans]) if plans else brand_card()
    except (SpecError, OrderError):
        picture = brand_card()
    return Encoded.of(zlib.compress(picture, 1), "image/png")


def _root(request: Request) -> str:
    """https://host: what people see; a proxy that ends TLS says so in X-Forwarded-Proto."""
    said = request.headers.get("X-Forwarded-Proto", "")
    return f"{said if said in ('http', 'https') else request.scheme}://{request.host}"
