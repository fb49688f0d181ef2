"""The picture of a view's link, 1200 x 630."""

from __future__ import annotations

from flask import Blueprint, Response, request

from backend.web.address.query import is_packed
from backend.web.answers import previews as answers
from backend.web.http.responses import send
from backend.web.services import services
from backend.web.work.computing import compute

previews = Blueprint("previews", __name__)
DAY = 86_400  # seconds


@previews.get("/preview.png")
def show_picture() -> Response:
    """Draw the view's schedules; Bubbleline's own picture where they cannot be drawn."""
    query = request.query_string
    key = ("preview", query if is_packed(query) else answers.drawable(query))  # views differ in more than is drawn
    answer = send(request, services().cache.get_or_make(key, lambda: compute(answers.picture, query)))
    answer.headers["Cache-Control"] = f"public, max-age={DAY}"
    answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"  # other sites may show it
    return answer
