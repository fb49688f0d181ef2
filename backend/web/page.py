"""The page and its files. All state of a view is in the page's own URL, which only the page reads."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from backend import __version__
from backend.web.bundle import entry
from backend.web.charts import script_path
from backend.web.preview import preview_of

pages = Blueprint("page", __name__)


@pages.get("/")
def index() -> str:
    """The whole page; what it shows comes from the API."""
    return render_template(
        "index.html", version=__version__, plotly=script_path(), script=entry("js", "main"), style=entry("css", "main"),
        preview=preview_of(request),
    )  # fmt: skip
