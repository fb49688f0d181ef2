"""The picture of a view's link, 1200 x 630."""

from __future__ import annotations

import zlib

from flask import Blueprint, Response, request
from gevent.lock import BoundedSemaphore

from backend.errors import RequestError
from backend.schedule.spec import Spec
from backend.web.address.preview import drawable
from backend.web.http.background import run_in_background
from backend.web.http.cache import Encoded
from backend.web.http.responses import send
from backend.web.services import services

previews = Blueprint("previews", __name__)
PICTURE_OPS = 4_000_000  # of work: drawing takes as long
DAY = 86_400  # seconds
# Two pictures at a time, so that many crawlers at once leave threads for people.
TURN = BoundedSemaphore(2)


@previews.get("/preview.png")
def show_picture() -> Response:
    """Draw the view's schedules; Bubbleline's own picture where they cannot be drawn."""
    plans = drawable(request.query_string)
    key = ("preview", plans)
    answer = send(request, services().cache.get(key) or _in_turn(key, plans))
    answer.headers["Cache-Control"] = f"public, max-age={DAY}"
    answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"  # other sites may show it
    return answer


def _in_turn(key: object, plans: tuple[Spec, ...]) -> Encoded:
    """Draw the picture; a request that waited for the same one takes it from the cache."""
    with TURN:
        cache = services().cache
        return cache.get_or_make(key, lambda: run_in_background(PICTURE_OPS, lambda: _encoded(plans)))


def _encoded(plans: tuple[Spec, ...]) -> Encoded:
    from backend.preview_image.card import brand_card, card, timed

    try:
        picture = card([timed(spec) for spec in plans]) if plans else brand_card()
    except RequestError:
        picture = brand_card()
    return Encoded.of(zlib.compress(picture, 1), "image/png")
