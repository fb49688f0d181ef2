"""Routes about runs that are kept: name, delete, take away as a file, read their costs. And what there is to run on."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify, request

from backend.runs import cluster_state, run_files
from backend.runs.errors import RunError
from backend.runs.run import Run
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.order.order import Order
from backend.schedule.spec import choice, reject_unknown
from backend.web.address.query import pairs
from backend.web.http.background import estimated_ops, run_in_background
from backend.web.http.request_json import only, read_object
from backend.web.services import services

history = Blueprint("history", __name__, url_prefix="/api")
LONGEST_NAME = 80


@history.patch("/runs/<run_id>")
def rename_run(run_id: str) -> Response:
    """{"name": text}: what the run is called from now on; "" takes the name away."""
    asked = only(read_object(request), ("name",), "a run")
    return jsonify(id=run_id, name=services().runs.rename(run_id, _name(asked.get("name"))).name)


@history.delete("/runs/<run_id>")
def delete_run(run_id: str) -> tuple[str, int]:
    """Forget a run that is over."""
    services().runs.remove(run_id)
    return "", 204


@history.get("/runs/<run_id>/export")
def export_run(run_id: str) -> Response:
    """A run that is over as a file; ``format`` says which."""
    given = dict(pairs(request.query_string))
    reject_unknown(given, ("format",), "the address")
    form = choice("format", given.get("format", "json"), tuple(run_files.FORMATS))
    run = _over(run_id)
    answer = Response(_apart(run, lambda order: run_files.render(run, order, form)), mimetype="application/json")
    answer.headers["Content-Disposition"] = f'attachment; filename="{run_files.file_name(run, form)}"'
    return answer


@history.get("/runs/<run_id>/calibration")
def calibrate_run(run_id: str) -> Response:
    """The schedule of a run with the costs that its ops had, and what these predict."""
    run = _over(run_id)
    return jsonify(_apart(run, lambda order: run_files.calibrated(run, order)))


@history.get("/devices")
def devices() -> Response:
    """What the runner said when it started that there is to run on, and what a run of how many ranks would use of it;
    nothing while it is not there."""
    client = services().runs.client
    about = {"engine": client.engine} if client.engine else {}
    return jsonify(state=client.state, why=client.why, devices=client.devices, choices=client.choices, **about)


@history.get("/cluster")
def show_cluster() -> Response:
    """The engine, and of a cluster its hosts, who is busy there, and how far apart the ranks of a run are."""
    client = services().runs.client
    return jsonify(cluster_state.answer(client.engine, client.cluster))


def _over(run_id: str) -> Run:
    run = services().runs.get(run_id)
    if not run.over:
        raise RunError("over", "id", run_id, "This run is not over yet.")
    return run


def _apart(run: Run, work: Any) -> Any:
    """Do work on a run with its order, off the loop where it is long: many ops, or an order that is sought again."""
    spec = registry.read(run.spec)

    def do() -> Any:
        order: Order = registry.order(spec)
        return work(order)

    return run_in_background(max(estimated_ops(spec), run.log.ops * 8), do)


def _name(text: Any) -> str:
    if not isinstance(text, str) or len(text.strip()) > LONGEST_NAME or not text.strip().isprintable():
        message = f"name must be a text of at most {LONGEST_NAME} characters in one line"
        raise SpecError("name", text if isinstance(text, str) else None, message, limit=LONGEST_NAME)
    return text.strip()
