"""Routes of runs: start, list, open and cancel runs; the order of a run."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify, request

from backend.errors import RequestError, message, with_codes
from backend.runs import estimate, options
from backend.runs.rows import KINDS
from backend.runs.run import Run
from backend.runs.run_order import encoded_order
from backend.schedule.families import registry
from backend.schedule.order import wire
from backend.schedule.spec import reject_unknown
from backend.web.address.query import ADDRESS, pairs, query_of
from backend.web.http import access
from backend.web.http.background import estimated_ops, run_in_background
from backend.web.http.cache import Encoded
from backend.web.http.clients import client_of
from backend.web.http.request_json import only, read_object
from backend.web.http.responses import BINARY, send
from backend.web.services import services
from backend.web.sockets.run_snapshot import rows_of

runs = Blueprint("runs", __name__, url_prefix="/api/runs")
A_RUN = message("runs.a_run", "a run")  # where keys were given, for errors
MOST_LISTED = 100


@runs.post("")
def start_run() -> tuple[Response, int]:
    """Queue a run with its order; the answer has its id, its estimated seconds and the address of its page."""
    asked = only(read_object(request), ("spec", *options.KEYS), A_RUN)
    spec, chosen = registry.read(asked.get("spec", {})), options.read(asked)
    options.refuse_missing(chosen.device, services().runs.client.devices)
    options.refuse_local(chosen, services().runs.client.engine)
    client = services().runs.client
    setting = estimate.setting_of(spec.p, chosen, client.choices, client.devices)

    def build() -> tuple[str, estimate.Work]:
        built = registry.order(spec)
        return wire.to_text(built), estimate.Work.of(built, spec, setting.mode)

    order, work = run_in_background(estimated_ops(spec), build)
    length = estimate.estimate(work, spec.p, chosen, setting, services().runs.times)
    estimate.refuse_long(length, services().config.run_s, spec, chosen)
    run = services().runs.submit(
        client_of(request), spec.to_json(), order, chosen, owner=access.identity().owner, seconds=length.seconds
    )
    access.record("run", run.id, family=spec.family)
    query = query_of(spec)
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
    work = (
        0 if run.order else estimated_ops(registry.read(run.spec))
    )  # a run that was stored without one: from its spec

    def encode() -> Encoded:
        return Encoded.of(encoded_order(run), BINARY)

    kept = services().cache.get_or_make(("run-order", run.id), lambda: run_in_background(work + _ops(run), encode))
    return send(request, kept)


def _ops(run: Run) -> int:
    """Estimate the number of ops in the order of a run."""
    spec = run.spec
    return 3 * int(spec["p"]) * int(spec["m"]) * int(spec["v"])


@runs.post("/<run_id>/cancel")
def cancel_run(run_id: str) -> tuple[Response, int]:
    """Cancel a run; one in progress is over with its event `cancelled`."""
    manager = services().runs
    access.require_owner(manager.get(run_id).owner, run_id)
    run = manager.cancel(run_id)
    access.record("cancel", run_id)
    return jsonify(id=run.id, status=run.status), 202
