"""The component <bubble-line>: its one script, for pages of any site, and its documentation page."""

from __future__ import annotations

import zlib

from flask import Blueprint, Response, render_template, request

from backend import __version__
from backend.web.http.bundle import BUILT, entry
from backend.web.http.cache import Encoded
from backend.web.http.responses import built_text, send

components = Blueprint("component", __name__)
SCRIPT = BUILT / "js" / "bubble-line.js"
DAY = 86_400  # seconds
ANY_SITE = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}


@components.get("/component")
def show_component() -> str:
    """Render the component's documentation, with live examples."""
    return render_template(
        "component.html", version=__version__, address=f"{request.host_url}bubble-line.js",
        script=entry("js", "component_page"), style=entry("css", "component"),
    )  # fmt: skip


@components.get("/bubble-line.js")
def component_script() -> Response:
    """Return the component's script, which every site may load; for a day a browser does not ask again."""
    body = zlib.compress(built_text(SCRIPT).encode())
    answer = send(request, Encoded.of(body, "text/javascript"))
    answer.headers.update(ANY_SITE)
    answer.headers["Cache-Control"] = f"public, max-age={DAY}, stale-while-revalidate={7 * DAY}"
    answer.headers["Vary"] = "Accept-Encoding"
    return answer
