"""A page that plays by itself: the embed's code and style, the orders and what the page needs of them in one file.

It opens from a disk: no server, no network, which its own policy enforces. The bundle is made at set-up.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

from flask import Blueprint, Response, render_template, request
from markupsafe import Markup

from backend import __version__
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.registry import family_of
from backend.schedule.order import wire
from backend.schedule.spec import Spec
from backend.web.address.link_state import entries_of, plans_of
from backend.web.http.bundle import BUILT
from backend.web.http.errors import ApiError
from backend.web.http.responses import apart
from backend.web.routes.preview import MOST_WORK, preview_of
from backend.web.routes.schedule import work_of

standalone = Blueprint("standalone", __name__)
SCRIPT, STYLE = BUILT / "js" / "standalone.js", BUILT / "css" / "embed.css"
THEMES = ("auto", "light", "dark")


@standalone.get("/api/standalone")
def show_standalone() -> Response:
    """The view of a query as one file to keep."""
    plans = plans_of(request.query_string)
    work = sum(work_of(spec) for spec in plans)
    if work > MOST_WORK:
        raise SpecError("m", plans[0].m, "this is too large for one file; choose fewer micro-batches or devices")
    try:
        script, style = SCRIPT.read_text(), STYLE.read_text()
    except OSError:
        message = "The page's bundle is not there; whoever looks after this server runs: make setup"
        raise ApiError(503, "bundle", None, message) from None
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    data = apart(work, lambda: _data(plans))
    preview = preview_of(request)
    entries = entries_of(request.query_string)
    theme = entries.get("theme", "")
    text = render_template(
        "standalone.html",
        version=__version__, title=preview.title, description=preview.description,
        theme=theme if theme in THEMES else "auto",
        script=Markup(script), script_hash=_hash(script), style=Markup(style), style_hash=_hash(style),
        data=_embedded(data | _about(preview.url, "m.model" in entries)),
    )  # fmt: skip
    answer = Response(text, mimetype="text/html")
    answer.headers["Content-Disposition"] = f'attachment; filename="{_file_name(plans)}"'
    return answer


def _about(url: str, ms: bool) -> dict[str, Any]:
    return {"search": url.partition("?")[2] and f"?{url.partition('?')[2]}", "link": url, "ms": ms}


def _data(plans: list[Spec]) -> dict[str, Any]:
    """The specs with their orders, and what the page must know of their families."""
    named = {spec.family: family_of(spec) for spec in plans}
    bodies = [wire.compress(wire.encode(registry.order(spec), spec.to_json())) for spec in plans]
    return {
        "specs": [spec.to_json() for spec in plans],
        "orders": [b64encode(body).decode() for body in bodies],
        "families": [family.as_dict() | {"laws": []} for family in named.values()],
        "defaults": Spec().to_json(),
    }


def _embedded(data: dict[str, Any]) -> Markup:
    """JSON that cannot end the element it stands in."""
    return Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _file_name(plans: list[Spec]) -> str:
    """bubbleline-zb-h1-p8-m32.html"""
    names = "-".join(re.sub(r"[^a-z0-9-]", "", spec.family) for spec in plans)
    return f"bubbleline-{names}-p{plans[0].p}-m{plans[0].m}.html"
