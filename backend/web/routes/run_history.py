"""Routes of stored runs: name, delete, export as a file, measured costs; and of the devices and cluster for runs."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify, request

from backend.access.roles import Role
from backend.address.query import ADDRESS, pairs
from backend.errors import RequestError, message, with_codes
from backend.jobs import files
from backend.jobs.strict_json import only
from backend.runs import cluster_state, run_files
from backend.runs.run import Run
from backend.schedule.spec import choice, reject_unknown
from backend.web.http import access
from backend.web.http.computing import compute
from backend.web.http.request_body import read_object
from backend.web.services import services

history = Blueprint("history", __name__, url_prefix="/api")
RENAMING = message("runs.renaming", "a new name")  # where keys were given, for errors
LONGEST_NAME = 80


@history.patch("/runs/<run_id>")
def rename_run(run_id: str) -> Response:
    """Set the name of a run: {"name": text}; "" removes it."""
    asked = only(read_object(request), ("name",), RENAMING)
    name = _name(asked.get("name"))
    access.require_owner(services().runs.get(run_id).owner, run_id)
    renamed = services().runs.rename(run_id, name)
    access.record("rename", run_id, name=name)
    return jsonify(id=run_id, name=renamed.name)


@history.delete("/runs/<run_id>")
def delete_run(run_id: str) -> tuple[str, int]:
    """Delete a run that is over; one that is damaged has no owner, so only an administrator can delete it."""
    if access.identity().role < Role.ADMIN:
        access.require_owner(services().runs.get(run_id).owner, run_id)
    services().runs.remove(run_id)
    access.record("delete", run_id)
    return "", 204


@history.get("/runs/<run_id>/export")
def export_run(run_id: str) -> Response:
    """Return a run that is over as a file in one of the formats."""
    given = dict(pairs(request.query_string))
    reject_unknown(given, ("format",), ADDRESS)
    form = choice("format", given.get("format", "json"), tuple(run_files.FORMATS))
    run = _over(run_id)
    text = compute(files.file_of_run, run, form, ms=files.run_ms(run))
    response = Response(text, mimetype="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="{run_files.file_name(run, form)}"'
    return response


@history.get("/runs/<run_id>/calibration")
def calibrate_run(run_id: str) -> Response:
    """Return the schedule of a run with the measured costs of its ops, and the figures that they predict."""
    run = _over(run_id)
    return jsonify(compute(files.calibrated_run, run, ms=files.run_ms(run)))


@history.get("/devices")
def devices() -> Response:
    """Return the devices that the runner has reported, and the device and mode of a run by its number of ranks;
    empty lists if there is no runner.
    """
    client = services().runs.client
    about = {"engine": client.engine} if client.engine else {}
    state = {"state": client.state, "why": client.why, "devices": client.devices, "choices": client.choices}
    return jsonify(with_codes(state | about))


@history.get("/cluster")
def show_cluster() -> Response:
    """Return the engine and the state of its cluster: hosts, their use, and the links between neighbouring ranks."""
    client = services().runs.client
    return jsonify(with_codes(cluster_state.answer(client.engine, client.cluster)))


def _over(run_id: str) -> Run:
    run = services().runs.get(run_id)
    if not run.over:
        raise RequestError("id", run_id, message("runs.not_over", "This run is not over yet."), kind="over")
    return run


def _name(text: Any) -> str:
    if not isinstance(text, str) or len(text.strip()) > LONGEST_NAME or not text.strip().isprintable():
        why = message("runs.name", "name must be a text of at most {most} characters in one line", most=LONGEST_NAME)
        raise RequestError("name", text if isinstance(text, str) else None, why, limit=LONGEST_NAME)
    return text.strip()
