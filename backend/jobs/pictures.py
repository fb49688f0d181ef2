"""Schedules as pictures without a browser: SVG, PNG, and the page's own file of HTML, which plays and zooms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from backend import __version__
from backend.charts.previews.card import card, timed
from backend.charts.previews.svg import document
from backend.config import PROJECT
from backend.errors import with_codes
from backend.jobs.files import view_data
from backend.lessons.export import built, inlined
from backend.lessons.page import environment
from backend.schedule.spec import Spec

BUILT = PROJECT / "static" / "vendor" / "app"
SCRIPT, STYLE = BUILT / "js" / "standalone.js", BUILT / "css" / "embed.css"


def draw(spec: Spec, form: str, in_ms: bool) -> bytes:
    """Return the schedule of a legal spec in one of PICTURES; ``in_ms``: its times are milliseconds. Raises LessonError
    where the page's bundle is missing.
    """
    plan = timed(spec)
    if form == "png":
        return card([plan])
    if form == "svg":
        return document([plan]).encode()
    title = f"{plan.title}, p {spec.p}, m {spec.m}"
    data = view_data([spec]) | {"search": "", "link": "", "ms": in_ms}
    return html_file(data, title, title, "auto", built(SCRIPT), built(STYLE)).encode()


def html_file(data: Mapping[str, Any], title: str, description: str, theme: str, script: str, style: str) -> str:
    """Return the file of HTML of some schedules; ``script`` and ``style`` are those of the bundle."""
    # JSON that cannot end its script element.
    embedded = Markup(json.dumps(with_codes(dict(data)), separators=(",", ":")).replace("<", "\\u003c"))
    return (
        environment()
        .get_template("standalone.html")
        .render(
            version=__version__,
            title=title,
            description=description,
            theme=theme,
            data=embedded,
            **inlined(script, style),
        )
    )
