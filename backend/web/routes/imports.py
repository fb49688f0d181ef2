"""Routes that take files: an order in torch's CSV gives a spec, a trace gives a run that was executed elsewhere."""

from __future__ import annotations

import json
import zlib

from flask import Blueprint, Response, jsonify, request

from backend.errors import RequestError, message, with_codes
from backend.limits.rate_limit import HourlyRate
from backend.runs.errors import RunError
from backend.runs.imported_run import run_of
from backend.runs.imported_run import spec_of as measured_spec
from backend.schedule.errors import OrderError
from backend.schedule.families import imported
from backend.schedule.interop import torch_csv, trace_import
from backend.schedule.order.placement import KINDS
from backend.schedule.spec import Spec, choice
from backend.web.address.query import query_of
from backend.web.http import access
from backend.web.http.background import BACKGROUND_OPS, run_in_background
from backend.web.http.clients import client_of
from backend.web.http.errors import ApiError
from backend.web.http.request_json import only, read_object
from backend.web.services import services

imports = Blueprint("imports", __name__)
AN_IMPORT = message("runs.an_import", "an import")  # where keys were given, for errors
GZIP = b"\x1f\x8b"
INFLATED = 8  # an unpacked file may be this many times as large as the limit of packed ones
BYTES_PER_OP = 6  # of a CSV, roughly
LONGEST_ERROR = 200  # characters of a JSON error
MOST_TRACES = 1024  # files of one run: one per rank


@imports.post("/api/orders")
def import_order() -> Response:
    """Return the spec of the order in {"csv": text, "placement"?: "looped" or "v"}. Stores nothing."""
    request.max_content_length = services().config.import_mb * 2**20
    asked = only(read_object(request), ("csv", "placement"), AN_IMPORT)
    text, kind = asked.get("csv"), asked.get("placement")
    if not isinstance(text, str) or not text.strip():
        why = message("runs.csv_text", "csv is the text of torch's CSV: one line per rank, such as 0F0,0F1,0B0,0B1")
        raise RequestError("csv", text, why)
    if kind is not None:
        kind = choice("placement", kind, KINDS[:2])
    try:
        spec = run_in_background(len(text) // BYTES_PER_OP, lambda: imported.spec_of(torch_csv.read(text, kind)))
    except OrderError as error:
        raise RequestError("csv", error.op, error.message) from None
    return jsonify(spec=spec.to_json(), query=query_of(spec))


@imports.post("/api/runs/import")
def import_run() -> tuple[Response, int]:
    """Store a Chrome trace, or {"traces": [one per rank]}, as a run that is over, with the order in it."""
    request.max_content_length = services().config.import_mb * 2**20
    if request.mimetype != "application/json":
        why = message(
            "runs.import_is_json",
            "The body must be JSON, sent with Content-Type: application/json; it may be gzipped.",
        )
        raise ApiError(415, "Content-Type", request.mimetype, why)
    body, most = request.get_data(cache=False), services().config.import_mb * INFLATED * 2**20
    _take_share(services().imports, client_of(request))
    owner = access.identity().owner
    spec, trace = run_in_background(BACKGROUND_OPS, lambda: _measured(_inflated(body, most)))
    run = services().runs.keep(lambda run_id, created: run_of(run_id, created, owner, spec, trace))
    access.record("import", run.id, family=spec.family)
    url, notes = f"/?{query_of(spec)}&run={run.id}", with_codes(list(trace.notes))
    return jsonify(id=run.id, status=run.status, url=url, spec=run.spec, notes=notes), 201


def _measured(text: bytes) -> tuple[Spec, trace_import.Measured]:
    """Return the spec of a trace, with the mean durations of its ops as costs, and its times."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = message("runs.trace_not_json", "The trace is not JSON: {error}", error=str(error)[:LONGEST_ERROR])
        raise ApiError(400, "body", None, why) from None
    traces = data.get("traces") if isinstance(data, dict) and "traceEvents" not in data else [data]
    if not isinstance(traces, list) or not 1 <= len(traces) <= MOST_TRACES:
        why = message(
            "runs.trace_body",
            "the body is a Chrome trace, or an object whose {key} are a list with one per rank",
            key="traces",
        )
        raise RequestError("traces", None, why)
    try:
        trace = trace_import.load(*(each if isinstance(each, dict | list) else None for each in traces))
    except OrderError as error:
        raise RequestError("trace", error.op, error.message) from None
    if trace.missing is not None:
        why = message(
            "runs.trace_not_whole",
            "the trace is not a whole step: {missing} (ops found: {ops}, ranks: {ranks})",
            missing=trace.missing,
            ops=sum(len(lane.ops) for lane in trace.lanes),
            ranks=len(trace.lanes),
        )
        raise RequestError("trace", None, why)
    return measured_spec(trace), trace


def _inflated(body: bytes, most: int) -> bytes:
    """Return the body, decompressed to at most `most` bytes if it is gzipped."""
    if not body.startswith(GZIP):
        return body
    inflate = zlib.decompressobj(31)
    try:
        text = inflate.decompress(body, most)
    except zlib.error as error:
        why = message("runs.not_gzip", "The body begins like gzip but is not: {error}", error=str(error))
        raise ApiError(400, "body", None, why) from None
    if not inflate.eof:
        cut_off = message("runs.gzip_cut_off", "The gzipped body is cut off.")
        too_large = message("runs.gzip_too_large", "The gzipped body is over {mb} MB when unpacked.", mb=most // 2**20)
        raise ApiError(400, "body", None, too_large if inflate.unconsumed_tail else cut_off)
    return text


def _take_share(rate: HourlyRate, client: str) -> None:
    minutes = rate.take(client)
    if minutes is not None:
        why = message(
            "runs.imports_share", "The limit is {most} imported runs per hour; try again later", most=rate.most
        )
        error = RunError("share", "imports", rate.most, why, rate.most)
        error.retry_after = 60 * minutes
        raise error
