"""The route of the comparison: families side by side at one setting. Knows how the question stands in the address."""

from __future__ import annotations

from flask import Blueprint, Response, request

from backend.schedule.analysis.compare import compare
from backend.schedule.families.registry import FAMILIES, op_count
from backend.schedule.spec import Spec
from backend.web.address.query import KEYS, fields_of, nested, value_of
from backend.web.http.responses import apart, encode_json, send
from backend.web.services import services

comparisons = Blueprint("compare", __name__, url_prefix="/api")
OWN_KEYS = ("families", *(key for key in KEYS if key != "family"))


@comparisons.get("/compare")
def show_comparison() -> Response:
    """Rows and notes for the families named (all without), at p, m, costs and w_share; v for those with a choice."""
    names, spec, v = asked_of(request.query_string)
    key = ("compare", names, spec, v)
    cache = services().cache
    found = cache.get(key)
    if found is None:
        # Families differ in chunks and each may be tried larger to explain a claim, hence a generous guess.
        guess = 8 * op_count(spec) * len(names)
        found = apart(guess, lambda: encode_json(compare(spec, names, v)))
        cache.put(key, found)
    return send(request, found)


def asked_of(query: bytes) -> tuple[tuple[str, ...], Spec, int | None]:
    """(families, the setting, v if it is given); SpecError names the key that is wrong."""
    data = fields_of(query, OWN_KEYS, lambda key, text: text.split(",") if key == "families" else value_of(key, text))
    names = tuple(data.pop("families", FAMILIES))
    chosen = "v" in data
    spec = Spec.from_json(nested(data))
    return names, spec, spec.v if chosen else None
