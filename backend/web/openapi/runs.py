"""The operations about runs: start, watch, name, delete, export, import; devices and the cluster."""

from __future__ import annotations

from backend.jobs.encoding import BINARY
from backend.jobs.imports import MOST_STEP
from backend.runs import options, run_files
from backend.runs.run import STATUSES
from backend.schedule.interop.measured_rows import KINDS
from backend.schedule.interop.traces.events import UNITS
from backend.schedule.interop.traces.names import LONGEST_PATTERN
from backend.web.openapi.operation import Operation, Parameter, answer, nothing
from backend.web.openapi.schema import (
    array,
    choice,
    described,
    either,
    maybe,
    nullable,
    number,
    record,
    ref,
    text,
    whole,
)
from backend.web.routes.run_history import LONGEST_NAME
from backend.web.routes.runs import MOST_LISTED
from backend.web.sockets.run_snapshot import NONE

TAG = "runs"
RUN_ID = {"run_id": {"type": "string", "pattern": "^[^/]+$", "examples": ["0f3a9c2e11"]}}
OPTIONS = {
    "unit_ms": nullable(number(*options.UNIT_MS)),
    "steps": whole(1, options.MOST_STEPS, options.PLAIN.steps),
    "seed": whole(0, options.MOST_SEED, options.PLAIN.seed),
    **{key: choice(words, words[0]) for key, words in options.CHOICES.items()},
}
"""The options of a run beside its spec."""
STATUS = choice(STATUSES)
QUEUED = record(id=str, status=STATUS, position=nullable(int), estimate_s=float, url=str)
LIMIT = Parameter("limit", whole(1, MOST_LISTED, 20), "runs in the answer, at most")
BEFORE = Parameter("before", text(), "id of the last run listed before; the list continues after it")
ROWS = Parameter(
    "rows",
    text("^({0}|({1})(,({1}))*)$".format(NONE, "|".join(KINDS))),
    f"kinds of rows, with commas, or {NONE}; by default all",
)
FORMAT = Parameter("format", choice(run_files.FORMATS, "json"), "format of the file")
CALIBRATED = record(spec=ref("Spec"), unit_ms=float, predicted=ref("Figures"), measured=ref("Figures"), error=float)
IMPORTED = record(id=str, status=STATUS, url=str, spec=ref("Spec"), notes=array(ref("Text")))
FOUND = record(cause=str, saves=float, costs=float, place=dict, text=ref("Text"), repair=ref("Text"))
DIAGNOSIS = record(
    source=ref("Text"),
    **dict.fromkeys(
        ("recognised", "measured", "replay", "slowdown", "by_kind", "by_stage", "by_replica", "timeline"), dict
    ),
    **dict.fromkeys(("by_worker", "idle", "stages"), array(dict)),
    what_if=dict,
    layers=nullable(dict),
    findings=array(FOUND),
    verdict=array(ref("Text")),
    spec=ref("Spec"),
    query=str,
    notes=array(ref("Text")),
)
TRACES = either(
    ref("GivenTrace"),
    record(
        traces=array(ref("GivenTrace"), 1),
        names=maybe(described(text(most=LONGEST_PATTERN), "a regular expression for the names of ops")),
        unit=maybe(choice(UNITS, "us")),
    ),
    array(described(dict, "an event of a Chrome trace")),
)
DEVICES = record(
    state=choice(("off", "starting", "ready", "down", "missing", "stopped")),
    why=ref("Text"),
    devices=array(dict),
    choices=array(dict),
    engine=maybe(str),
)
CLUSTER = record(
    engine=str,
    **dict.fromkeys(("address", "state"), maybe(str)),
    **dict.fromkeys(("why", "waiting"), maybe(ref("Text"))),
    **dict.fromkeys(("hosts", "links"), maybe(array(dict))),
)
STORED = (404, 503)

OPERATIONS: dict[str, Operation] = {
    "runs.start_run": Operation(
        TAG,
        answer("The run is queued.", QUEUED, status=202),
        body=record(spec=maybe(ref("GivenSpec")), **{key: maybe(each) for key, each in OPTIONS.items()}),
        refusals=(429, 503),
    ),
    "runs.list_runs": Operation(
        TAG,
        answer("The latest runs.", record(runs=array(ref("Run")), next=nullable(str))),
        (LIMIT, BEFORE),
        refusals=STORED,
    ),
    "runs.show_run": Operation(
        TAG, answer("The run.", ref("RunWithRows")), (ROWS,), path=RUN_ID, refusals=(304, *STORED)
    ),
    "runs.show_order": Operation(TAG, answer("The order.", kind=BINARY), path=RUN_ID, refusals=(304, *STORED)),
    "runs.cancel_run": Operation(
        TAG,
        answer("The run ends soon.", record(id=str, status=STATUS), status=202),
        path=RUN_ID,
        refusals=(409, *STORED),
    ),
    "history.rename_run": Operation(
        TAG,
        answer("The run has its name.", record(id=str, name=str)),
        path=RUN_ID,
        body=record(name=text(most=LONGEST_NAME)),
        refusals=STORED,
    ),
    "history.delete_run": Operation(TAG, nothing("The run is deleted."), path=RUN_ID, refusals=(409, *STORED)),
    "history.export_run": Operation(
        TAG,
        answer("The file.", either(ref("RunFile"), ref("ChromeTrace")), file=True),
        (FORMAT,),
        path=RUN_ID,
        refusals=(409, *STORED),
    ),
    "history.calibrate_run": Operation(
        TAG, answer("The schedule at the measured costs.", CALIBRATED), path=RUN_ID, refusals=(409, *STORED)
    ),
    "imports.import_run": Operation(
        TAG,
        answer("The run is stored.", IMPORTED, status=201),
        body=TRACES,
        refusals=(429,),
        more="The body may be gzipped.",
    ),
    "imports.diagnose_files": Operation(
        TAG,
        answer("Why the step takes as long as it does.", DIAGNOSIS),
        body=record(
            files=array(record(name=str, text=maybe(str), base64=maybe(str)), 1),
            names=maybe(nullable(described(text(most=LONGEST_PATTERN), "a regular expression for the names of ops"))),
            unit=maybe(nullable(choice(UNITS))),
            step=maybe(nullable(whole(0, MOST_STEP))),
            replica=maybe(nullable(whole(0, MOST_STEP))),
            layers=maybe(nullable(str)),
        ),
        refusals=(429,),
        more="The body may be gzipped.",
    ),
    "history.devices": Operation(TAG, answer("The devices.", DEVICES)),
    "history.show_cluster": Operation(TAG, answer("The cluster.", CLUSTER)),
}
