"""The page elsewhere: the stand-alone HTML file of a view, and the component <bubble-line> for pages of any site.

The stand-alone file has the embed's code and style, the orders and their families; it opens from a disk and needs no
server and no network, which its own policy enforces. The component is one script with a documentation page. The bundles
are made at set-up.
"""

from __future__ import annotations

import zlib

from flask import Blueprint, Response, render_template, request

from backend import __version__
from backend.address.preview import preview_of
from backend.address.query import efforts_of
from backend.jobs import files
from backend.jobs.encoding import Encoded
from backend.jobs.pictures import SCRIPT, STYLE, html_file
from backend.web.http.bundle import BUILT, built_text, entry
from backend.web.http.computing import compute
from backend.web.http.responses import send
from backend.web.services import services

standalone = Blueprint("standalone", __name__)
THEMES = ("auto", "light", "dark")

components = Blueprint("component", __name__)
COMPONENT = BUILT / "js" / "bubble-line.js"
DAY = 86_400  # seconds
ANY_SITE = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}


@standalone.get("/api/standalone")
def show_standalone() -> Response:
    """Return the view of a query as an attachment."""
    query = request.query_string
    view = compute(files.standalone, query, services().searches.found.to_send(efforts_of(query)))
    preview = preview_of(request.host_url, query, view.texts)
    search = "".join(preview.url.partition("?")[1:])
    data = view.data | {"search": search, "link": preview.url, "ms": view.in_ms}
    theme = view.theme if view.theme in THEMES else "auto"
    text = html_file(data, preview.title, preview.description, theme, built_text(SCRIPT), built_text(STYLE))
    answer = Response(text, mimetype="text/html")
    answer.headers["Content-Disposition"] = f'attachment; filename="{view.name}"'
    return answer


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
    body = zlib.compress(built_text(COMPONENT).encode())
    answer = send(request, Encoded.of(body, "text/javascript"))
    answer.headers.update(ANY_SITE)
    answer.headers["Cache-Control"] = f"public, max-age={DAY}, stale-while-revalidate={7 * DAY}"
    answer.headers["Vary"] = "Accept-Encoding"
    return answer
