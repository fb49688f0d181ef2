"""The operations about runs: start, watch, name, delete, export, import; devices and the cluster."""

from __future__ import annotations

from backend.jobs.encoding import BINARY, JSON
from backend.runs import options, run_files
from backend.runs.run import MODES, STATUSES
from backend.schedule.interop.measured_rows import KINDS
from backend.web.openapi.operation import Answer, Operation, Parameter, json_answer
from backend.web.openapi.schema import (
    NUMBER,
    TEXT,
    WHOLE,
    Schema,
    array,
    choice,
    either,
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
RUN_ID: dict[str, Schema] = {"run_id": {"type": "string", "pattern": "^[^/]+$", "examples": ["0f3a9c2e11"]}}
OPTIONS: dict[str, Schema] = {
    "mode": choice(MODES, options.PLAIN.mode),
    "unit_ms": nullable(number(*options.UNIT_MS)),
    "dtype": choice(options.DTYPES, options.PLAIN.dtype),
    "device": choice(options.DEVICES, options.PLAIN.device),
    "steps": whole(1, options.MOST_STEPS, options.PLAIN.steps),
    "seed": whole(0, options.MOST_SEED, options.PLAIN.seed),
    **{key: choice(words, words[0]) for key, words in options.CLUSTER.items()},
}
"""The options of a run beside its spec."""
HOST = {"type": "object"}
FILE = {"Content-Disposition": {"required": True, "schema": TEXT}}
STORED = (404, 503)

OPERATIONS: dict[str, Operation] = {
    "runs.start_run": Operation(
        TAG,
        json_answer(
            "The run is queued.",
            record(
                {
                    "id": TEXT,
                    "status": choice(STATUSES),
                    "position": nullable(WHOLE),
                    "estimate_s": NUMBER,
                    "url": TEXT,
                }
            ),
            202,
        ),
        body=record({}, {"spec": ref("GivenSpec"), **OPTIONS}),
        refusals=(429, 503),
        strict=False,
    ),
    "runs.list_runs": Operation(
        TAG,
        json_answer("The latest runs.", record({"runs": array(ref("Run")), "next": nullable(TEXT)})),
        (
            Parameter("limit", whole(1, MOST_LISTED, 20), "runs in the answer, at most"),
            Parameter("before", text(), "id of the last run listed before; the list continues after it"),
        ),
        refusals=STORED,
    ),
    "runs.show_run": Operation(
        TAG,
        json_answer("The run.", ref("RunWithRows")),
        (
            Parameter(
                "rows",
                text("^({0}|({1})(,({1}))*)$".format(NONE, "|".join(KINDS))),
                f"kinds of rows, with commas, or {NONE}; by default all",
            ),
        ),
        path=RUN_ID,
        refusals=(304, *STORED),
    ),
    "runs.show_order": Operation(
        TAG, {200: Answer("The order.", {BINARY: {}})}, path=RUN_ID, refusals=(304, *STORED), strict=False
    ),
    "runs.cancel_run": Operation(
        TAG,
        json_answer("The run ends soon.", record({"id": TEXT, "status": choice(STATUSES)}), 202),
        path=RUN_ID,
        refusals=(409, *STORED),
        strict=False,
    ),
    "history.rename_run": Operation(
        TAG,
        json_answer("The run has its name.", record({"id": TEXT, "name": TEXT})),
        path=RUN_ID,
        body=record({"name": text(most=LONGEST_NAME)}),
        refusals=STORED,
        strict=False,
    ),
    "history.delete_run": Operation(
        TAG, {204: Answer("The run is deleted.")}, path=RUN_ID, refusals=(409, *STORED), strict=False
    ),
    "history.export_run": Operation(
        TAG,
        {200: Answer("The file.", {JSON: either(ref("RunFile"), ref("ChromeTrace"))}, FILE)},
        (Parameter("format", choice(run_files.FORMATS, "json"), "format of the file"),),
        path=RUN_ID,
        refusals=(409, *STORED),
    ),
    "history.calibrate_run": Operation(
        TAG,
        json_answer(
            "The schedule at the measured costs.",
            record(
                {
                    "spec": ref("Spec"),
                    "unit_ms": NUMBER,
                    "predicted": ref("Figures"),
                    "measured": ref("Figures"),
                    "error": NUMBER,
                }
            ),
        ),
        path=RUN_ID,
        refusals=(409, *STORED),
        strict=False,
    ),
    "imports.import_run": Operation(
        TAG,
        json_answer(
            "The run is stored.",
            record(
                {
                    "id": TEXT,
                    "status": choice(STATUSES),
                    "url": TEXT,
                    "spec": ref("Spec"),
                    "notes": array(ref("Text")),
                }
            ),
            201,
        ),
        body=either(
            ref("GivenTrace"),
            record({"traces": array(ref("GivenTrace"), 1)}),
            array({"type": "object", "description": "an event of a Chrome trace"}),
        ),
        refusals=(429,),
        strict=False,
        more="The body may be gzipped.",
    ),
    "history.devices": Operation(
        TAG,
        json_answer(
            "The devices.",
            record(
                {
                    "state": choice(("off", "starting", "ready", "down", "stopped")),
                    "why": ref("Text"),
                    "devices": array(HOST),
                    "choices": array(HOST),
                },
                {"engine": TEXT},
            ),
        ),
        strict=False,
    ),
    "history.show_cluster": Operation(
        TAG,
        json_answer(
            "The cluster.",
            record(
                {"engine": TEXT},
                {
                    **dict.fromkeys(("address", "state"), TEXT),
                    **dict.fromkeys(("why", "waiting"), ref("Text")),
                    "hosts": array(HOST),
                    "links": array(HOST),
                },
            ),
        ),
        strict=False,
    ),
}
