"""Routes of the charts: figures as plotly's JSON, and plotly's own script, which the page loads when a chart is opened.

Knows how the question stands in the address and how answers are kept; what is drawn is backend/charts'.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from flask import Blueprint, Response, abort, request
from gevent.lock import BoundedSemaphore

from backend.charts.appearance import Look
from backend.schedule.analysis import pareto
from backend.schedule.analysis.pareto import Point
from backend.schedule.errors import SpecError
from backend.schedule.families import registry, searched
from backend.schedule.families.registry import op_count, read
from backend.schedule.order.order import Order
from backend.schedule.spec import Spec, choice, integer
from backend.theme_tokens import ALL_THEMES
from backend.web.address.query import KEYS, fields_of, nested, number_of, value_of
from backend.web.http.cache import Encoded
from backend.web.http.responses import AWAY_FROM, apart, encode_json, send
from backend.web.routes.schedule import refused
from backend.web.services import services

charts = Blueprint("charts", __name__)
HEIGHTS = ("throughput", "bubble")
WIDTH, HEIGHT = (240, 2400), (180, 1600)  # px of a figure, from and to
YEAR = 31_536_000  # seconds
# A library inside plotly's script (MapLibre, for maps) writes a style sheet into the page unless it is there already;
# the page's policy forbids that, and no chart has maps.
STYLED = re.compile(rb'if\(!document\.getElementById\("[0-9a-f]{64}"\)\)')
# One search at a time: a slider asks for many, and other requests need the threads too.
TURN = BoundedSemaphore(1)


@charts.get("/api/charts/pareto")
def show_pareto() -> Response:
    """Memory against throughput: the figure, how to read it, and its points; ``found=0`` leaves out what is sought."""
    try:
        spec, look, found = asked_of(request.query_string)
    except SpecError as error:
        return refused(error)
    cache = services().cache
    key = ("pareto", spec, tuple(look.items()), found, searched.finds() if found else None)
    if not found:
        return send(request, cache.kept(key, lambda: apart(8 * op_count(spec), lambda: _pareto(spec, look, found))))
    return send(request, cache.kept(key, lambda: _in_turn(key, lambda: _pareto(spec, look, found))))


@charts.get("/vendor/plotly-<release>.min.js")
def plotly_script(release: str) -> Response:
    """Plotly's script as its Python package brings it, so that both are of one release. It never changes."""
    if release != version("plotly"):
        abort(404)
    answer = send(request, services().cache.kept(("plotly", release), lambda: apart(AWAY_FROM, _script)))
    answer.headers["Cache-Control"] = f"public, max-age={YEAR}, immutable"
    return answer


def script_path() -> str:
    """Where the page finds plotly's script."""
    return f"/vendor/plotly-{version('plotly')}.min.js"


def asked_of(query: bytes) -> tuple[Spec, dict[str, Any], bool]:
    """(the setting, the looks, whether to seek); SpecError names the key that is wrong."""
    data = fields_of(query, (*KEYS, *LOOKS, "found"), look_value)
    look = {key: check(data.pop(key, default)) for key, (default, check) in LOOKS.items()}
    found = bool(integer("found", data.pop("found", 1), 0, 1))
    return read(nested(data)), look, found


def look_value(key: str, text: str) -> Any:
    """How a key of a chart's address is read: its looks, else a spec's."""
    if key in ("width", "height", "found"):
        return number_of(key, text)
    return text if key in LOOKS else value_of(key, text)


LOOKS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "theme": ("light", lambda value: choice("theme", value, ALL_THEMES)),
    "y": ("throughput", lambda value: choice("y", value, HEIGHTS)),
    "width": (880, lambda value: integer("width", value, *WIDTH)),
    "height": (380, lambda value: integer("height", value, *HEIGHT)),
}
"""Each key of a figure's looks: what it is by itself, and how it is judged."""


def _in_turn(key: Any, make: Callable[[], Encoded]) -> Encoded:
    """What is sought, one at a time; who waited for the same answer finds it."""
    with TURN:
        return services().cache.get(key) or apart(AWAY_FROM, make)


def _pareto(spec: Spec, look: dict[str, Any], found: bool) -> Encoded:
    from backend.charts.pareto import figure  # plotly takes half a second to import

    points = pareto.points(spec)
    error: dict[str, Any] | None = None
    if found:
        try:
            points += _frontier(pareto.setting_of(spec), searched.finds())
        except SpecError as problem:
            error = problem.as_dict()
    drawn, reads = figure(spec, points, Look(**look))
    rows = pareto.described(points, spec)
    shape = {"spec": spec.to_json(), "found": found, "error_found": error, "reads": reads, "points": rows}
    return encode_json(shape | {"figure": drawn.to_dict()})


@lru_cache(maxsize=128)
def _frontier(setting: Spec, finds: int) -> list[Point]:
    """What is found for a setting, whatever family is on the screen, after so many finds."""
    return pareto.frontier(setting, None, _best_known)


def _best_known(spec: Spec) -> tuple[Spec, Order]:
    """What searches of late came to, else a construction: a figure must not keep a reader waiting for a long search."""
    best = searched.known(spec)
    return best, registry.order(best)


def _script() -> Encoded:
    package = find_spec("plotly")
    assert package is not None
    assert package.submodule_search_locations is not None
    path = Path(package.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
    return Encoded.of(zlib.compress(STYLED.sub(b"if(!1)", path.read_bytes())), "text/javascript")
