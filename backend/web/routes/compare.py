"""The route of the comparison: families side by side at one setting."""

from __future__ import annotations

from flask import Blueprint, Response, request

from backend.schedule.analysis.compare import compare
from backend.schedule.families.registry import FAMILIES, op_count
from backend.schedule.spec import Spec
from backend.web.address.query import KEYS, fields_of, nested, value_of
from backend.web.http.background import run_in_background
from backend.web.http.responses import encode_json, send
from backend.web.services import services

comparisons = Blueprint("compare", __name__, url_prefix="/api")
COMPARED_KEYS = ("families", *(key for key in KEYS if key != "family"))


@comparisons.get("/compare")
def show_comparison() -> Response:
    """Return rows and notes of the families named (all by default), at p, m, costs and w_share; v for those with a
    choice.
    """
    names, spec, v = comparison_of(request.query_string)
    # Families differ in chunks and each may be tried larger to explain a claim, hence a generous estimate.
    work = 8 * op_count(spec) * len(names)
    answer = services().cache.get_or_make(
        ("compare", names, spec, v),
        lambda: run_in_background(work, lambda: encode_json(compare(spec, names, v))),
    )
    return send(request, answer)


def comparison_of(query: bytes) -> tuple[tuple[str, ...], Spec, int | None]:
    """Read (families, the setting, v if given) from a query. Raises RequestError naming the key that is wrong."""
    data = fields_of(
        query, COMPARED_KEYS, lambda key, text: text.split(",") if key == "families" else value_of(key, text)
    )
    names = tuple(data.pop("families", FAMILIES))
    with_v = "v" in data
    spec = Spec.from_json(nested(data))
    return names, spec, spec.v if with_v else None
