"""The stand-alone HTML file of a view: the embed's code and style, the orders and their families in one file.

It opens from a disk and needs no server and no network, which its own policy enforces. The bundle is made at set-up.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from typing import Any

from flask import Blueprint, Response, render_template, request
from markupsafe import Markup

from backend import __version__
from backend.errors import with_codes
from backend.schedule.families import searched
from backend.web.address.preview import preview_of
from backend.web.answers import files
from backend.web.http.bundle import BUILT
from backend.web.http.responses import built_text
from backend.web.work.computing import compute

standalone = Blueprint("standalone", __name__)
SCRIPT, STYLE = BUILT / "js" / "standalone.js", BUILT / "css" / "embed.css"
THEMES = ("auto", "light", "dark")


@standalone.get("/api/standalone")
def show_standalone() -> Response:
    """Return the view of a query as an attachment."""
    query = request.query_string
    view = compute(files.standalone, query, searched.recall(query))
    script, style = built_text(SCRIPT), built_text(STYLE)
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    preview = preview_of(request, view.texts)
    text = render_template(
        "standalone.html",
        version=__version__, title=preview.title, description=preview.description,
        theme=view.theme if view.theme in THEMES else "auto",
        script=Markup(script), script_hash=_hash(script), style=Markup(style), style_hash=_hash(style),
        data=_embedded(view.data | _link(preview.url) | {"ms": view.in_ms}),
    )  # fmt: skip
    answer = Response(text, mimetype="text/html")
    answer.headers["Content-Disposition"] = f'attachment; filename="{view.name}"'
    return answer


def _link(url: str) -> dict[str, Any]:
    return {"search": url.partition("?")[2] and f"?{url.partition('?')[2]}", "link": url}


def _embedded(data: dict[str, Any]) -> Markup:
    """Encode JSON that cannot end its script element."""
    return Markup(json.dumps(with_codes(data), separators=(",", ":")).replace("<", "\\u003c"))


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
