"""The stand-alone HTML file of a view: the embed's code and style, the orders and their families in one file.

It opens from a disk and needs no server and no network, which its own policy enforces. The bundle is made at set-up.
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
from backend.errors import RequestError, message, with_codes
from backend.schedule.families import registry
from backend.schedule.families.registry import family_of
from backend.schedule.order import wire
from backend.schedule.spec import Spec
from backend.web.address.link_state import entries_of, plans_of
from backend.web.address.preview import MOST_OPS, preview_of
from backend.web.http.background import estimated_ops, run_in_background
from backend.web.http.bundle import BUILT
from backend.web.http.errors import ApiError

standalone = Blueprint("standalone", __name__)
SCRIPT, STYLE = BUILT / "js" / "standalone.js", BUILT / "css" / "embed.css"
THEMES = ("auto", "light", "dark")


@standalone.get("/api/standalone")
def show_standalone() -> Response:
    """Return the view of a query as an attachment."""
    plans = plans_of(request.query_string)
    work = sum(estimated_ops(spec) for spec in plans)
    if work > MOST_OPS:
        why = message("web.view_too_large", "this is too large for one file; choose fewer micro-batches or devices")
        raise RequestError("m", plans[0].m, why)
    try:
        script, style = SCRIPT.read_text(), STYLE.read_text()
    except OSError:
        why = message(
            "web.no_bundle", "The page's bundle is missing; the administrator of this server can make it: make setup"
        )
        raise ApiError(503, "bundle", None, why) from None
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    data = run_in_background(work, lambda: _data(plans))
    preview = preview_of(request)
    entries = entries_of(request.query_string)
    theme = entries.get("theme", "")
    text = render_template(
        "standalone.html",
        version=__version__, title=preview.title, description=preview.description,
        theme=theme if theme in THEMES else "auto",
        script=Markup(script), script_hash=_hash(script), style=Markup(style), style_hash=_hash(style),
        data=_embedded(data | _link(preview.url) | {"ms": "m.model" in entries}),
    )  # fmt: skip
    answer = Response(text, mimetype="text/html")
    answer.headers["Content-Disposition"] = f'attachment; filename="{_file_name(plans)}"'
    return answer


def _link(url: str) -> dict[str, Any]:
    return {"search": url.partition("?")[2] and f"?{url.partition('?')[2]}", "link": url}


def _data(plans: list[Spec]) -> dict[str, Any]:
    """Return the specs with their orders, and their families as the page needs them."""
    families = {spec.family: family_of(spec) for spec in plans}
    bodies = [wire.compress(wire.encode(registry.order(spec), spec.to_json())) for spec in plans]
    return {
        "specs": [spec.to_json() for spec in plans],
        "orders": [b64encode(body).decode() for body in bodies],
        "families": [family.as_dict() | {"laws": []} for family in families.values()],
        "defaults": Spec().to_json(),
    }


def _embedded(data: dict[str, Any]) -> Markup:
    """Encode JSON that cannot end its script element."""
    return Markup(json.dumps(with_codes(data), separators=(",", ":")).replace("<", "\\u003c"))


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _file_name(plans: list[Spec]) -> str:
    """Return a name such as bubbleline-zb-h1-p8-m32.html."""
    names = "-".join(re.sub(r"[^a-z0-9-]", "", spec.family) for spec in plans)
    return f"bubbleline-{names}-p{plans[0].p}-m{plans[0].m}.html"
