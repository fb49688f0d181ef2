"""Routes that take files: an order in torch's CSV becomes a spec, a trace a run that happened elsewhere.

Knows how large a file may be and how it may be packed; reading it is the schedule core's, off the event loop.
"""

from __future__ import annotations

import json
import zlib

from flask import Blueprint, Response, jsonify, request

from backend.rate_limit import HourlyRate
from backend.runs.errors import RunError
from backend.runs.imported_run import run_of
from backend.runs.imported_run import spec_of as measured_spec
from backend.schedule.errors import OrderError, SpecError
from backend.schedule.families import imported
from backend.schedule.interop import torch_csv, trace_import
from backend.schedule.order.placement import KINDS
from backend.schedule.spec import Spec, choice
from backend.web.address.query import query_of
from backend.web.http.background import BACKGROUND_OPS, run_in_background
from backend.web.http.errors import ApiError
from backend.web.http.request_json import only, read_object
from backend.web.services import services

imports = Blueprint("imports", __name__)
GZIP = b"\x1f\x8b"
INFLATED = 8  # a packed file may be so many times as large as an unpacked one
BYTES_AN_OP = 6  # of a CSV, roughly
MOST_TRACES = 1024  # files of one run: one a rank


@imports.post("/api/orders")
def import_order() -> Response:
    """{"csv": text, "placement"?: "looped" or "v"}: the spec of the order in it. Nothing is kept."""
    request.max_content_length = services().config.import_mb * 2**20
    asked = only(read_object(request), ("csv", "placement"), "an import")
    text, kind = asked.get("csv"), asked.get("placement")
    if not isinstance(text, str) or not text.strip():
        raise SpecError("csv", text, "csv is the text of torch's CSV: one line a rank, such as 0F0,0F1,0B0,0B1")
    if kind is not None:
        kind = choice("placement", kind, KINDS[:2])
    try:
        spec = run_in_background(len(text) // BYTES_AN_OP, lambda: imported.spec_of(torch_csv.read(text, kind)))
    except OrderError as error:
        raise SpecError("csv", error.op, error.message) from None
    return jsonify(spec=spec.to_json(), query=query_of(spec))


@imports.post("/api/runs/import")
def import_run() -> tuple[Response, int]:
    """A Chrome trace, or {"traces": [one a rank]}: kept as a run that is over, with the order that it shows."""
    request.max_content_length = services().config.import_mb * 2**20
    if request.mimetype != "application/json":
        message = "The body must be JSON, sent with Content-Type: application/json; it may be gzipped."
        raise ApiError(415, "Content-Type", request.mimetype, message)
    body, most = request.get_data(cache=False), services().config.import_mb * INFLATED * 2**20
    owner = request.remote_addr or ""
    _take_share(services().imports, owner)
    spec, found = run_in_background(BACKGROUND_OPS, lambda: _measured(_inflated(body, most)))
    run = services().runs.keep(lambda run_id, created: run_of(run_id, created, owner, spec, found))
    query = query_of(spec)
    return jsonify(id=run.id, status=run.status, url=f"/?{query}&run={run.id}", spec=run.spec, notes=found.notes), 201


def _measured(text: bytes) -> tuple[Spec, trace_import.Measured]:
    """The order of a trace with its mean costs, and its times."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "body", None, f"The trace is not JSON: {error}"[:200]) from None
    traces = data.get("traces") if isinstance(data, dict) and "traceEvents" not in data else [data]
    if not isinstance(traces, list) or not 1 <= len(traces) <= MOST_TRACES:
        raise SpecError("traces", None, 'the body is a Chrome trace, or {"traces": [...]} with one for each rank')
    try:
        found = trace_import.load(*(each if isinstance(each, dict | list) else None for each in traces))
    except OrderError as error:
        raise SpecError("trace", error.op, error.message) from None
    if found.missing is not None:
        ranks = len(found.lanes)
        seen = f"{sum(len(lane.ops) for lane in found.lanes)} ops of {ranks} rank{'s' * (ranks != 1)} were found"
        raise SpecError("trace", None, f"the trace is not a whole step: {found.missing} ({seen})")
    return measured_spec(found), found


def _inflated(body: bytes, most: int) -> bytes:
    """The body as it was before gzip, which must not grow without end."""
    if not body.startswith(GZIP):
        return body
    inflate = zlib.decompressobj(31)
    try:
        text = inflate.decompress(body, most)
    except zlib.error as error:
        raise ApiError(400, "body", None, f"The body begins like gzip and is not: {error}") from None
    if not inflate.eof:
        cut = "is cut off" if not inflate.unconsumed_tail else f"is over {most // 2**20} MB when unpacked"
        raise ApiError(400, "body", None, f"The gzipped body {cut}.")
    return text


def _take_share(rate: HourlyRate, owner: str) -> None:
    if rate.take(owner) is not None:
        message = f"{rate.most} imported runs an hour are enough; try again later"
        raise RunError("share", "imports", rate.most, message, rate.most)
