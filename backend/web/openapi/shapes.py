"""The schemas that several answers share: errors, sentences, specs, figures, Results, runs."""

from __future__ import annotations

from backend.address.query import KEYS
from backend.runs.run import FACTS, IMPORTED, MODES, STATUSES
from backend.schedule.interop.measured_rows import FIELDS as ROW_FIELDS
from backend.schedule.interop.measured_rows import KINDS
from backend.schedule.spec import COST_KEYS
from backend.web.openapi.schema import (
    ANY,
    COUNT,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    Schema,
    array,
    choice,
    either,
    nullable,
    record,
    ref,
)
from backend.web.openapi.specs import query_schema, spec_json, without_required

SPEC = spec_json(COST_KEYS)
CODED: dict[str, Schema] = {"code": TEXT, "params": {"type": "object"}, "message": TEXT}
BUBBLE = record({"of_total": NUMBER, "of_ideal": NUMBER})
BUBBLES = record({"global": BUBBLE, "span": BUBBLE})
FIGURES: dict[str, Schema] = {"makespan": NUMBER, "longest_stage": NUMBER, "bubble": BUBBLES}


def _law(sentence: Schema) -> Schema:
    """Describe a law with its numbers; `sentence` is how this answer writes sentences."""
    return record(
        {
            "quantity": choice(("bubble", "share", "makespan", "peak")),
            "window": choice(("global", "span")),
            "text": TEXT,
            "numbers": TEXT,
            "value": NUMBER,
            "exact": TRUTH,
            "why": nullable(sentence),
        }
    )


RUN: dict[str, Schema] = {
    "id": TEXT,
    "name": TEXT,
    "status": choice(STATUSES),
    "spec": {"type": "object"},  # as it was stored: an earlier version's spec may lack keys
    "mode": nullable(choice((*MODES, IMPORTED))),
    "unit_ms": nullable(NUMBER),
    "asked_mode": TEXT,
    "asked": nullable({"type": "object"}),
    "created": {"type": "number", "description": "Unix time in seconds"},
    **dict.fromkeys(FACTS, ANY),
    "failure": nullable(ref("Failure")),
}
"""What every run has; others of its facts may be beside them."""
PROGRESS: dict[str, Schema] = {
    "position": nullable(WHOLE),
    "seq": COUNT,
    "op_count": COUNT,
    "unkept": nullable(ref("Sentence")),
}
"""What a run has while the server knows it, but its file does not."""

TRACE: Schema = {
    "type": "object",
    "properties": {"traceEvents": array({"type": "object"})},
    "required": ["traceEvents"],
}

SCHEMAS: dict[str, Schema] = {
    "Error": record(
        {
            "error": record(
                {
                    "code": {"type": "string", "description": "stable, for programs"},
                    "params": {"type": "object", "description": "what fills the holes of the message"},
                    "field": nullable({"type": "string", "description": "the field that is wrong"}),
                    "value": {
                        "type": ["string", "number", "boolean", "null"],
                        "description": "what was given, cut to a length that can be shown",
                    },
                    "message": {"type": "string", "description": "English"},
                },
                {
                    "limit": {**ANY, "description": "the bound that was exceeded"},
                    "nearest": {**ANY, "description": "a legal value near the given one"},
                    "rank": COUNT,
                },
            )
        }
    ),
    "Sentence": record(CODED),
    "Text": {**either(TEXT, ref("Sentence")), "description": "a name, or a sentence with its code"},
    "Spec": SPEC,
    "GivenSpec": {**without_required(SPEC), "description": "a spec; every key has a default"},
    "View": {
        "type": "object",
        "properties": {key: query_schema(key) for key in KEYS}
        | {"z": {"type": "string", "description": "packed keys"}},
        "additionalProperties": TEXT,
    },
    "Figures": record(FIGURES),
    "Law": _law(TEXT),
    "CodedLaw": _law(ref("Sentence")),
    "Result": record(
        {
            "spec": ref("Spec"),
            "order": array(TEXT),
            **FIGURES,
            "peak_in_flight": array(COUNT),
            "peak_memory": array(NUMBER),
            "law": nullable(ref("Law")),
            "laws": array(ref("Law")),
        },
        {
            "start": array(array(NUMBER)),
            "end": array(array(NUMBER)),
            "weight_versions": array(COUNT),
            "certificate": record({"lower_bound": NUMBER, "bound": TEXT, "gap": NUMBER, "optimal": TRUTH}),
        },
    ),
    "ChromeTrace": TRACE,
    "GivenTrace": {**TRACE, "description": "a trace of one rank, or of all"},
    "Failure": record({"kind": TEXT, "rank": nullable(WHOLE), "op": nullable(TEXT), **CODED}),
    "Run": record(RUN | PROGRESS, more=True),
    "RunWithRows": record(
        RUN | PROGRESS | {"fields": record({kind: array(TEXT) for kind in KINDS})},
        {kind: array(array(WHOLE, len(ROW_FIELDS[kind]), len(ROW_FIELDS[kind]))) for kind in KINDS},
        more=True,
    ),
    "RunFile": record(RUN | {"ops": array({"type": "object"})}, more=True),
}
