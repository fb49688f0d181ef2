"""Files from elsewhere: an order in torch's CSV gives a spec, a trace gives a run that is over.

Bodies arrive unread. What a client can make large is checked while it is read, and the worker's memory limit ends the
rest.
"""

from __future__ import annotations

import base64
import json
import re
import tempfile
import zlib
from pathlib import Path
from typing import Any

from backend.address.preset import link_parts
from backend.address.query import query_of
from backend.errors import Message, RequestError, json_reason, message
from backend.jobs.recordings import recording_of
from backend.jobs.strict_json import only, parse_object
from backend.runs.imported_run import run_of
from backend.runs.imported_run import spec_of as measured_spec
from backend.runs.run import Run
from backend.schedule.diagnosis.diagnosis import diagnose
from backend.schedule.errors import OrderError
from backend.schedule.families import imported, registry
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.interop import torch_csv
from backend.schedule.interop.configurations.read import read_configuration
from backend.schedule.interop.traces import chrome
from backend.schedule.interop.traces.events import UNITS
from backend.schedule.interop.traces.names import reader
from backend.schedule.order.order_codec import MOST_OPS
from backend.schedule.spec import Spec, choice, integer

AN_IMPORT = message("runs.an_import", "an import")  # where keys were given, for errors
GZIP = b"\x1f\x8b"
LONGEST_NAME = 120  # characters of a file's name that are kept
MOST_STEP = 2**31
MOST_TRACES = 1024  # files of one run: one per rank


def order_of(body: bytearray) -> tuple[dict[str, Any], str, dict[str, str], list[Message | str]]:
    """Return (spec as JSON, query of the page, dialect of the file, notes on its messages) of {"csv": text,
    "placement"?: "looped" or "v"}.
    """
    asked = only(parse_object(body), ("csv", "placement"), AN_IMPORT)
    body.clear()
    text, kind = asked.get("csv"), asked.get("placement")
    if not isinstance(text, str) or not text.strip():
        why = message("runs.csv_text", "csv is the text of torch's CSV: one line per rank, such as 0F0,0F1,0B0,0B1")
        raise RequestError("csv", text, why)
    if kind is not None:
        kind = choice("placement", kind, torch_csv.PLACEMENTS)
    try:
        found = torch_csv.read_file(text, kind, MOST_OPS)
        spec = imported.spec_of(found.order)
    except OrderError as error:
        raise RequestError("csv", error.op, error.message) from None
    return spec.to_json(), query_of(spec), found.dialect, list(found.notes)


def configuration_of(body: bytearray) -> tuple[dict[str, Any], str, list[Message]]:
    """Return (spec as JSON, query of the page, notes) of {"text": flags, overrides or arguments of a framework}."""
    text = only(parse_object(body), ("text",), AN_IMPORT).get("text")
    body.clear()
    if not isinstance(text, str):
        why = message("configuration.text", "text is a command or a script with a framework's flags")
        raise RequestError("text", text, why)
    spec, query, notes = view_of(text)
    return spec.to_json(), query, notes


def view_of(text: str) -> tuple[Spec, str, list[Message]]:
    """Return (spec, query of the page, notes) of a framework's configuration. Raises SpecError naming what is wrong."""
    found = read_configuration(text)
    preset = None if found.preset is None else Preset.of(found.preset)
    spec = registry.read(found.spec)
    if preset is not None:
        preset.estimate(spec)  # refuses what the model cannot be cut into
    return spec, "&".join([query_of(spec), *(link_parts(preset) if preset else [])]), list(found.notes)


def run_of_trace(most: int, owner: str, body: bytearray) -> tuple[Run, list[Message | str], str]:
    """Return (run, notes, query of the page) of a Chrome trace, or of {"traces": [one per rank], "names"?: pattern of
    the ops' names, "unit"?: of the times}.

    The body may be gzipped, to at most `most` bytes unpacked. The run still needs its id and its time.
    """
    spec, trace = _measured(_inflated(body, most))
    return run_of("", 0.0, owner, spec, trace), list(trace.notes), query_of(spec)


def diagnosis_of(most: int, body: bytearray) -> dict[str, Any]:
    """Return the diagnosis of {"files": [{"name", "text"}], "names"?, "unit"?, "step"?, "replica"?, "layers"?}, with
    the query of the page that shows its order at the measured costs; the body as that of ``run_of_trace``. A file that
    is no text has ``base64`` in place of ``text``.
    """
    text = bytearray(_inflated(body, most))
    asked = only(parse_object(text), ("files", "names", "unit", "step", "replica", "layers"), AN_IMPORT)
    text.clear()
    files, names, unit = asked.get("files"), asked.get("names"), asked.get("unit")
    contents = [_content(each) for each in files] if isinstance(files, list) else []
    if not isinstance(files, list) or not 1 <= len(files) <= MOST_TRACES or None in contents:
        why = message(
            "runs.diagnosed_files", "files is a list of objects with a name and the text of a file, or its base64"
        )
        raise RequestError("files", None, why)
    reader(names)
    if unit is not None:
        unit = choice("unit", unit, tuple(UNITS))
    step, replica = (None if asked.get(key) is None else integer(key, asked[key], 0, MOST_STEP)
                     for key in ("step", "replica"))  # fmt: skip
    layers = None if asked.get("layers") is None else str(asked["layers"])
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, (file, content) in enumerate(zip(files, contents, strict=True)):
            name = re.sub(r"[^\w.-]", "_", file["name"])[-LONGEST_NAME:].lstrip(".") or "file"
            paths.append(Path(folder, str(number), name))
            paths[-1].parent.mkdir()
            paths[-1].write_bytes(content or b"")
        try:
            found = diagnose(recording_of(paths, names, unit), step, replica, layers)
        except OrderError as error:
            raise RequestError("files", error.op, error.message) from None
    return found.as_dict() | {"query": query_of(found.spec)}


def _content(given: Any) -> bytes | None:
    """Return the bytes of a file as the page sends it; None where it is none."""
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        return None
    text, packed = given.get("text"), given.get("base64")
    if isinstance(text, str):
        return text.encode("utf-8", "replace")
    try:
        return base64.b64decode(packed, validate=True) if isinstance(packed, str) else None
    except ValueError:
        return None


def _measured(text: bytes | bytearray) -> tuple[Spec, chrome.Measured]:
    """Return the spec of a trace, with the mean durations of its ops as costs, and its times."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = message("runs.trace_not_json", "The trace is not JSON: {error}", error=json_reason(error))
        raise RequestError("body", None, why) from None
    asked: dict[str, Any] = {"traces": [data]}
    if isinstance(data, dict) and "traceEvents" not in data:
        asked = only(data, ("traces", "names", "unit"), AN_IMPORT)
    traces, names, unit = asked.get("traces"), asked.get("names"), asked.get("unit")
    if not isinstance(traces, list) or not 1 <= len(traces) <= MOST_TRACES:
        why = message(
            "runs.trace_body",
            "the body is a Chrome trace, or an object whose {key} are a list with one per rank",
            key="traces",
        )
        raise RequestError("traces", None, why)
    try:
        files = (each if isinstance(each, dict | list) else None for each in traces)
        trace = chrome.load(*files, names=names, unit="us" if unit is None else unit)
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


def _inflated(body: bytearray, most: int) -> bytes | bytearray:
    """Return the body, decompressed to at most `most` bytes if it is gzipped."""
    if not body.startswith(GZIP):
        return body
    inflate = zlib.decompressobj(31)
    try:
        text = inflate.decompress(body, most)
    except zlib.error as error:
        why = message("runs.not_gzip", "The body begins like gzip but is not: {error}", error=str(error))
        raise RequestError("body", None, why) from None
    if not inflate.eof:
        cut_off = message("runs.gzip_cut_off", "The gzipped body is cut off.")
        too_large = message("runs.gzip_too_large", "The gzipped body is over {mb} MB when unpacked.", mb=most // 2**20)
        raise RequestError("body", None, too_large if inflate.unconsumed_tail else cut_off)
    return text
