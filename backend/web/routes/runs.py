"""Routes about runs: start one, list them, open one, cancel one."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify, request

from backend.runs import options
from backend.runs.run_log import KINDS
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.registry import read
from backend.schedule.interop import torch_csv
from backend.schedule.spec import Spec, reject_unknown
from backend.web.address.query import pairs, query_of
from backend.web.http.background import estimated_ops, run_in_background
from backend.web.http.request_json import only, read_object
from backend.web.http.responses import send
from backend.web.services import services
from backend.web.sockets.run_snapshot import rows_of

runs = Blueprint("runs", __name__, url_prefix="/api/runs")
MOST_LISTED = 100


@runs.post("")
def start_run() -> tuple[Response, int]:
    """Put a run into the line; the answer tells its id and the page that shows it."""
    asked = only(read_object(request), ("spec", *options.KEYS), "a run")
    spec, chosen = read(asked.get("spec", {})), options.read(asked)
    options.refuse_missing(chosen.device, services().runs.client.devices)
    options.refuse_local(chosen, services().runs.client.engine)
    given = run_in_background(estimated_ops(spec), lambda: _order(spec)) if spec.effort is not None else {}
    run = services().runs.submit(request.remote_addr or "", spec.to_json(), chosen, given)
    query = query_of(spec)
    url = f"/?{query}&run={run.id}" if query else f"/?run={run.id}"
    return jsonify(id=run.id, status=run.status, position=run.position, url=url), 202


def _order(spec: Spec) -> dict[str, Any]:
    """The order of a sought spec as the runner reads one, so that it does not seek it again."""
    order = registry.order(spec)
    return {"csv": torch_csv.dump(order), "placement": order.placement.kind}


@runs.get("")
def list_runs() -> Response:
    """The latest runs without their ops; `before=ID` goes on behind the last one listed."""
    given: dict[str, Any] = {}
    for key, text in pairs(request.query_string):
        reject_unknown({key: text}, ("limit", "before"), "the address")
        if key in given:
            raise SpecError(key, text, f"{key} stands more than once in the address")
        given[key] = text
    limit = given.get("limit", "20")
    if not (limit.isascii() and limit.isdigit() and len(limit) < 5 and 1 <= int(limit) <= MOST_LISTED):
        message = f"limit must be a whole number from 1 to {MOST_LISTED}"
        raise SpecError("limit", limit, message, limit=MOST_LISTED, nearest=20)
    listed = services().runs.recent(int(limit), given.get("before"))
    return jsonify(runs=listed, next=listed[-1]["id"] if len(listed) == int(limit) else None)


@runs.get("/<run_id>")
def show_run(run_id: str) -> Response:
    """One run, whole, or with only the rows that the address names; `seq` is where a viewer goes on watching."""
    given = dict(pairs(request.query_string))
    reject_unknown(given, ("rows",), "the address")
    kinds = rows_of(given.get("rows", ",".join(KINDS)))
    run = services().runs.get(run_id)
    return send(request, services().opened.answer(run, kinds))


@runs.post("/<run_id>/cancel")
def cancel_run(run_id: str) -> tuple[Response, int]:
    """Cancel a run; one under way is over when its event says so."""
    run = services().runs.cancel(run_id)
    return jsonify(id=run.id, status=run.status), 202
