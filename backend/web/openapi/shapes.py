"""The schemas that several answers share: errors, sentences, specs, figures, Results, runs."""

from __future__ import annotations

from backend.address.query import KEYS
from backend.runs.run import FACTS, IMPORTED, MODES, STATUSES
from backend.schedule.interop.measured_rows import FIELDS as ROW_FIELDS
from backend.schedule.interop.measured_rows import KINDS
from backend.schedule.spec import COST_KEYS
from backend.web.openapi.schema import (
    COUNT,
    Fields,
    Kind,
    Schema,
    array,
    choice,
    described,
    either,
    maybe,
    nullable,
    open_record,
    record,
    ref,
)
from backend.web.openapi.specs import query_schema, spec_json, without_required

SPEC = spec_json(COST_KEYS)
CODED: Fields = {"code": str, "params": dict, "message": str}
BUBBLE = record(of_total=float, of_ideal=float)
BUBBLES = record(**{"global": BUBBLE}, span=BUBBLE)
FIGURES: Fields = {"makespan": float, "longest_stage": float, "bubble": BUBBLES}


def _law(sentence: Kind) -> Schema:
    """Describe a law with its numbers; `sentence` is how this answer writes sentences."""
    return record(
        quantity=choice(("bubble", "share", "makespan", "peak")),
        window=choice(("global", "span")),
        text=str,
        numbers=str,
        value=float,
        exact=bool,
        why=nullable(sentence),
    )


RUN: Fields = {
    "id": str,
    "name": str,
    "status": choice(STATUSES),
    "spec": dict,  # as it was stored: an earlier version's spec may lack keys
    "mode": nullable(choice((*MODES, IMPORTED))),
    "unit_ms": nullable(float),
    "asked_mode": str,
    "asked": nullable(dict),
    "created": described(float, "Unix time in seconds"),
    **dict.fromkeys(FACTS, object),
    "failure": nullable(ref("Failure")),
}
"""What every run has; others of its facts may be beside them."""
LIVE_RUN: Fields = {
    **RUN,
    "position": nullable(int),
    "seq": COUNT,
    "op_count": COUNT,
    "unkept": nullable(ref("Sentence")),
}
"""What a run has while the server knows it; its file has less."""
ROWS = {kind: array(array(int, len(ROW_FIELDS[kind]), len(ROW_FIELDS[kind]))) for kind in KINDS}

TRACE: Schema = {
    "type": "object",
    "properties": {"traceEvents": array(dict)},
    "required": ["traceEvents"],
}
ERROR = record(
    code=described(str, "stable, for programs"),
    params=described(dict, "what fills the holes of the message"),
    field=nullable(described(str, "the field that is wrong")),
    value={
        "type": ["string", "number", "boolean", "null"],
        "description": "what was given, cut to a length that can be shown",
    },
    message=described(str, "English"),
    limit=maybe(described(object, "the bound that was exceeded")),
    nearest=maybe(described(object, "a legal value near the given one")),
    rank=maybe(COUNT),
)
RESULT = record(
    spec=ref("Spec"),
    order=array(str),
    **FIGURES,
    peak_in_flight=array(COUNT),
    peak_memory=array(float),
    law=nullable(ref("Law")),
    laws=array(ref("Law")),
    start=maybe(array(array(float))),
    end=maybe(array(array(float))),
    weight_versions=maybe(array(COUNT)),
    certificate=maybe(record(lower_bound=float, bound=str, gap=float, optimal=bool)),
)

SCHEMAS: dict[str, Schema] = {
    "Error": record(error=ERROR),
    "Sentence": record(**CODED),
    "Text": described(either(str, ref("Sentence")), "a name, or a sentence with its code"),
    "Spec": SPEC,
    "GivenSpec": described(without_required(SPEC), "a spec; every key has a default"),
    "View": {
        "type": "object",
        "properties": {key: query_schema(key) for key in KEYS} | {"z": described(str, "packed keys")},
        "additionalProperties": {"type": "string"},
    },
    "Figures": record(**FIGURES),
    "Law": _law(str),
    "CodedLaw": _law(ref("Sentence")),
    "Result": RESULT,
    "ChromeTrace": TRACE,
    "GivenTrace": described(TRACE, "a trace of one rank, or of all"),
    "Failure": record(kind=str, rank=nullable(int), op=nullable(str), **CODED),
    "Run": open_record(**LIVE_RUN),
    "RunWithRows": open_record(
        **LIVE_RUN,
        fields=record(**dict.fromkeys(KINDS, array(str))),
        **{kind: maybe(rows) for kind, rows in ROWS.items()},
    ),
    "RunFile": open_record(**RUN, ops=array(dict)),
}
