"""The page and its files. All state of a view is in the page's own URL, which only the page reads."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from backend import __version__
from backend.web.http.bundle import entry
from backend.web.routes.pareto_chart import script_path
from backend.web.routes.preview import preview_of

pages = Blueprint("page", __name__)
LOOKS = {"theme": ("auto", "light", "dark"), "controls": ("full", "minimal", "none")}
"""What an embed may look like; the first is what it looks like without a word."""


@pages.get("/")
def index() -> str:
    """The whole page; what it shows comes from the API."""
    return render_template(
        "index.html", version=__version__, plotly=script_path(), script=entry("js", "main"), style=entry("css", "main"),
        preview=preview_of(request),
    )  # fmt: skip


@pages.get("/embed")
def embed() -> str:
    """The timeline and its playback alone, for a frame in somebody else's page."""
    look = {key: choices[0] for key, choices in LOOKS.items()}
    for key, text in request.args.items():
        if key in LOOKS and text in LOOKS[key]:
            look[key] = text
    return render_template(
        "embed.html", script=entry("js", "embed"), style=entry("css", "embed"), preview=preview_of(request), **look
    )
