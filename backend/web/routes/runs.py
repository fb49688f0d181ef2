"""Routes of runs: start, list, open and cancel runs; the order of a run."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify, request

from backend.address.query import ADDRESS, pairs
from backend.errors import RequestError, message, with_codes
from backend.jobs import files
from backend.jobs.order_time import IMPORTED_MS, order_ms
from backend.jobs.strict_json import only
from backend.runs import estimate, options
from backend.runs.runs import RunRequest
from backend.schedule.families import imported, registry
from backend.schedule.interop.measured_rows import KINDS
from backend.schedule.spec import reject_unknown
from backend.web.http import access
from backend.web.http.clients import client_of
from backend.web.http.computing import compute
from backend.web.http.request_body import read_object
from backend.web.http.responses import send
from backend.web.services import send_cached, services
from backend.web.sockets.run_snapshot import rows_of

runs = Blueprint("runs", __name__, url_prefix="/api/runs")
A_RUN = message("runs.a_run", "a run")  # where keys were given, for errors
MOST_LISTED = 100


@runs.post("")
def start_run() -> tuple[Response, int]:
    """Queue a run with its order; the answer has its id, its estimated seconds and the address of its page."""
    asked = only(read_object(request), ("spec", *options.KEYS), A_RUN)
    given, chosen = asked.get("spec", {}), options.read(asked)
    runner, times = services().runs.client, services().runs.times
    if runner.state == "missing":
        raise RequestError("runner", None, runner.why, kind="missing")
    options.refuse_missing(chosen.device, runner.devices)
    options.refuse_local(chosen, runner.engine)
    effort = given.get("effort") if isinstance(given, dict) else None
    found = services().searches.found.to_send({effort} if isinstance(effort, int) else ())
    wanted = compute(files.requested_run, given, chosen, runner.choices, runner.devices, found, ms=_building_ms(given))
    length = estimate.estimate(wanted.work, wanted.spec.p, chosen, wanted.setting, times)
    estimate.refuse_long(length, services().config.run_s, wanted.spec, chosen)
    asked_by, owner = client_of(request), access.identity().owner
    run = services().runs.submit(
        RunRequest(asked_by, wanted.spec.to_json(), wanted.order, chosen, owner, length.seconds)
    )
    access.record("run", run.id, family=wanted.spec.family)
    query = wanted.query
    url = f"/?{query}&run={run.id}" if query else f"/?run={run.id}"
    seconds = run.facts["estimate_s"]
    return jsonify(id=run.id, status=run.status, position=run.position, estimate_s=seconds, url=url), 202


@runs.get("")
def list_runs() -> Response:
    """List the latest runs without their rows; `before=ID` continues after the last run listed."""
    given: dict[str, Any] = {}
    for key, text in pairs(request.query_string):
        reject_unknown({key: text}, ("limit", "before"), ADDRESS)
        if key in given:
            raise RequestError(key, text, message("runs.key_twice", "{key} is more than once in the address", key=key))
        given[key] = text
    limit = given.get("limit", "20")
    if not (limit.isascii() and limit.isdigit() and len(limit) < 5 and 1 <= int(limit) <= MOST_LISTED):
        why = message("runs.list_limit", "limit must be a whole number from 1 to {most}", most=MOST_LISTED)
        raise RequestError("limit", limit, why, limit=MOST_LISTED, nearest=20)
    recent = services().runs.recent(int(limit), given.get("before"))
    may_change = access.identity().may_change
    listed = [{"mine": may_change(run.pop("owner"))} | with_codes(run) for run in recent]
    return jsonify(runs=listed, next=listed[-1]["id"] if len(listed) == int(limit) else None)


@runs.get("/<run_id>")
def show_run(run_id: str) -> Response:
    """Return one run with all its rows, or with the kinds of rows in the address; a viewer continues from its `seq`."""
    given = dict(pairs(request.query_string))
    reject_unknown(given, ("rows",), ADDRESS)
    kinds = rows_of(given.get("rows", ",".join(KINDS)))
    run = services().runs.get(run_id)
    mine = access.identity().may_change(run.owner)
    return send(request, services().snapshots.encoded(run, kinds, mine))


@runs.get("/<run_id>/order")
def show_order(run_id: str) -> Response:
    """Return the order of one run, in the wire format of /api/schedule."""
    run = services().runs.get(run_id)
    return send_cached(("run-order", run.id), lambda: compute(files.order_of_run, run, ms=files.run_ms(run)))


def _building_ms(spec: Any) -> float:
    """Estimate the time of building the order that a run is asked for. Raises RequestError for an illegal spec."""
    packed = isinstance(spec, dict) and spec.get("family") == imported.NAME
    return IMPORTED_MS if packed else order_ms(registry.read(spec, entry=False))


@runs.post("/<run_id>/cancel")
def cancel_run(run_id: str) -> tuple[Response, int]:
    """Cancel a run; one in progress is over with its event `cancelled`."""
    manager = services().runs
    access.require_owner(manager.get(run_id).owner, run_id)
    run = manager.cancel(run_id)
    access.record("cancel", run_id)
    return jsonify(id=run.id, status=run.status), 202
