"""The page, the workbench, the embeddable timeline, the picture of a link, and plotly's script.

A view's state is in its URL, which the page reads.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from flask import Blueprint, Response, abort, render_template, request

from backend import __version__
from backend.address.first_visit import is_first_visit
from backend.address.preview import preview_of
from backend.address.query import is_packed
from backend.errors import RequestError
from backend.jobs import previews
from backend.jobs.encoding import Encoded
from backend.jobs.first_screen import first_picture, first_screen
from backend.jobs.order_time import result_ms
from backend.lessons.lesson import LANGUAGES
from backend.web.http import access
from backend.web.http.background import run_in_background
from backend.web.http.bundle import charts_address, entry, plotly_address, preloads
from backend.web.http.computing import compute, compute_soon
from backend.web.http.gate import host_name
from backend.web.http.responses import FOR_GOOD, send
from backend.web.services import send_cached, services

pages = Blueprint("page", __name__)
APPEARANCE = {"theme": ("auto", "light", "dark"), "controls": ("full", "minimal", "none")}
"""Choices for an embed; the first of each is the default."""
DAY = 86_400  # seconds
BUILD = ("Build a schedule", "Place forwards and backwards op by op, see times, bubble and memory at once, and run it.")
SOLVED_MS = 2000.0  # of what a task is measured by: some par orders are searched
PREVIEW_S = 2.0  # for which a page waits for its preview's texts; without them it has Bubbleline's own
# A library inside plotly's script (MapLibre, for maps) writes a style sheet into the page unless it is there already;
# the page's policy forbids that, and no chart has maps.
STYLED = re.compile(rb'if\(!document\.getElementById\("[0-9a-f]{64}"\)\)')


@pages.get("/")
def index() -> Response:
    """Render the whole page; the schedules come from the API. An address without a view has the first screen."""
    first_visit = is_first_visit(request.args)
    first = asdict(first_screen()) | {"first": True} if first_visit else {}
    lanes = first_picture(b"family=gpipe" if first_visit else request.query_string)
    language = request.args.get("lang") or request.accept_languages.best_match(LANGUAGES)
    text = render_template(
        "index.html", version=__version__, plotly=plotly_address(), charts=charts_address(),
        script=entry("js", "main"), chunks=preloads("main"), style=entry("css", "main"),
        preview=preview_of(request.host_url, request.query_string, _texts()), role=access.identity().role.name.lower(),
        runs_on=_place_of_runs(), zh=language == "zh", lanes=lanes, **first,
    )  # fmt: skip
    answer = send(request, Encoded.of(zlib.compress(text.encode()), "text/html"))  # its picture is a sixth, packed
    answer.vary.update(("Accept-Language", "Cookie"))
    return answer


@pages.get("/build")
def build() -> str:
    """Render the workbench; its board is in the address, which the page reads."""
    query = request.query_string
    texts = None if "Sec-Fetch-Dest" in request.headers or not query else _solution(query) or _texts()
    return render_template(
        "build.html", version=__version__, script=entry("js", "build"), chunks=preloads("build"),
        style=entry("css", "build"), role=access.identity().role.name.lower(), runs_on=_place_of_runs(),
        preview=preview_of(request.host_url, query, texts or BUILD, "build"),
    )  # fmt: skip


@pages.get("/embed")
def embed() -> str:
    """Render only the timeline and its playback, for a frame in a page of another site."""
    appearance = {key: choices[0] for key, choices in APPEARANCE.items()}
    for key, text in request.args.items():
        if key in APPEARANCE and text in APPEARANCE[key]:
            appearance[key] = text
    preview = preview_of(request.host_url, request.query_string, _texts())
    return render_template(
        "embed.html",
        script=entry("js", "embed"),
        chunks=preloads("embed"),
        style=entry("css", "embed"),
        preview=preview,
        **appearance,
    )


@pages.get("/preview.png")
def show_picture() -> Response:
    """Draw the view's schedules, 1200 x 630; Bubbleline's own picture where they cannot be drawn."""
    query, executed = request.query_string, _is_executed()
    # Views differ in more than is drawn.
    key = ("preview", query if is_packed(query) else previews.drawable(query), executed)
    answer = send_cached(key, lambda: compute(previews.picture, query, executed))
    answer.headers["Cache-Control"] = f"public, max-age={DAY}"
    answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"  # other sites may show it
    return answer


@pages.get("/vendor/plotly-<release>.min.js")
def plotly_script(release: str) -> Response:
    """Return Plotly's script from its Python package, so that both are of one release. It never changes."""
    if release != version("plotly"):
        abort(404)
    key = ("plotly", release)
    answer = send_cached(key, lambda: run_in_background(_script))
    answer.headers["Cache-Control"] = FOR_GOOD
    return answer


def _solution(query: bytes) -> tuple[str, str] | None:
    """Return title and description of an order that solves a task; None for any other link."""
    if b"task=" not in query:
        return None
    try:
        return compute_soon(previews.solution, query, _is_executed(), ms=SOLVED_MS, seconds=PREVIEW_S)
    except RequestError:  # no place in the queue
        return None


def _is_executed() -> bool:
    """Return whether the run in the address has executed and verified the order in the address."""
    if "run" not in request.args or "task" not in request.args:
        return False
    try:
        run = services().runs.get(request.args["run"])
    except RequestError:
        return False
    return run.facts.get("verified") is True and run.spec.get("order") == request.args.get("order")


def _place_of_runs() -> str:
    """Return where runs are executed: "here" on the reader's computer, "cluster ADDRESS", or the server's host."""
    config = services().config
    if config.cluster is not None:
        return f"cluster {config.cluster}".strip()
    return "here" if config.local else host_name(request.host)


def _texts() -> tuple[str, str] | None:
    """Return title and description of the view in the address.

    Browsers, which send Sec-Fetch-Dest, get no bubble in the title: it is not displayed there, and the page would have
    to wait for it. A page never waits for other computations.
    """
    query, browser = request.query_string, "Sec-Fetch-Dest" in request.headers
    if browser and not is_packed(query):
        return previews.texts(query, with_bubble=False)
    try:
        ms = None if is_packed(query) else sum(result_ms(spec) for spec in previews.drawable(query))
        return compute_soon(previews.texts, query, not browser, ms=ms, seconds=PREVIEW_S)
    except RequestError:  # no place in the queue
        return None


def _script() -> Encoded:
    package = find_spec("plotly")
    assert package is not None
    assert package.submodule_search_locations is not None
    path = Path(package.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
    return Encoded.of(zlib.compress(STYLED.sub(b"if(!1)", path.read_bytes())), "text/javascript")
