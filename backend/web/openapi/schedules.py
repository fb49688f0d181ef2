"""The operations about schedules: orders, laws, bounds, blocks, comparisons, charts, files."""

from __future__ import annotations

from typing import Any

from backend.address.chart_query import APPEARANCE, HEIGHT, HEIGHTS, OTHERS, WIDTH
from backend.address.query import KEYS
from backend.charts.catalogue import KINDS
from backend.charts.theme_tokens import ALL_THEMES
from backend.jobs.analyses import COMPARED_KEYS
from backend.jobs.encoding import BINARY, JSON
from backend.jobs.schedules import BLOCK_KEYS
from backend.jobs.training_plans import SECONDS
from backend.schedule.analysis.plan_question import GIGABYTES, SIZES
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.preset_costs import PRESET_KEYS
from backend.schedule.interop.configurations.frameworks import FRAMEWORKS
from backend.schedule.interop.export import FORMATS
from backend.schedule.interop.torch_csv import PLACEMENTS
from backend.schedule.spec import LIMITS
from backend.web.openapi.costs import DEVICE_MEMORY, SETTING
from backend.web.openapi.operation import Answer, Operation, Parameter, answer
from backend.web.openapi.schema import (
    COUNT,
    Schema,
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
from backend.web.openapi.shapes import BUBBLES, FIGURES
from backend.web.openapi.specs import FIELDS, query_schema, spec_query

TAG = "schedules"
FAMILY = record(
    **dict.fromkeys(("name", "title", "group", "backward", "placement"), str),
    **dict.fromkeys(("source", "used_by", "summary", "complexity"), ref("Text")),
    **dict.fromkeys(("asynchronous", "shaped_by_costs", "searched"), bool),
    **dict.fromkeys(("table", "block", "ops"), object),
    legal=array(dict),
    year=COUNT,
    fields=array(str),
    vocabulary=array(str),
    v=record(min=COUNT, default=COUNT, max=COUNT),
    laws=array(dict),
)
FAMILY_LIST = record(families=array(FAMILY), limits=record(**dict.fromkeys(LIMITS, COUNT)), defaults=ref("Spec"))
UNITS = record(
    **dict.fromkeys(("seconds", "tail", "tokens", "tokens_per_second", "mfu", "mfu_causal"), float),
    devices=COUNT,
    memory=DEVICE_MEMORY,
    span=record(**dict.fromkeys(("seconds", "tokens_per_second", "mfu"), float)),
)
COMPARED = record(
    **dict.fromkeys(("family", "title", "backward"), str),
    **dict.fromkeys(("used_by", "complexity", "technique"), ref("Text")),
    year=COUNT,
    spec=ref("Spec"),
    adjusted=nullable(ref("Text")),
    **FIGURES,
    messages=COUNT,
    bytes_per_message_units=float,
    peak_in_flight=COUNT,
    peak_memory=record(ranks=array(float), max=float),
    parameters=record(ranks=array(COUNT), max=COUNT, why=ref("Text")),
    claim=nullable(dict),
    units=nullable(UNITS),
)
TRAINING_PLANS = record(
    **dict.fromkeys(("tried", "left_out"), COUNT),
    limit=float,
    would_fit=array(record(field=str, value=COUNT, memory=float)),
    plans=array(
        record(
            spec=ref("Spec"),
            units=UNITS,
            sizes=record(**dict.fromkeys(("p", "v", "tp", "context", "expert", "data", "micro_batch", "m"), COUNT)),
            preset=dict,
            place=nullable(COUNT),
            frameworks=array(str),
            **dict.fromkeys(("tied", "best", "frontier"), bool),
        )
    ),
)
CONFIGURATION = record(
    name=str,
    title=str,
    text=nullable(str),
    notes=array(ref("Text")),
    error=nullable(dict),
)
BLOCK = record(
    **dict.fromkeys(("family", "placement", "backward"), str),
    **dict.fromkeys(("p", "chunks", "peak"), COUNT),
    block=record(period=float, slots=array(object), lifespan=array(float)),
    memory=array(float),
    peaks=array(COUNT),
    sentence=ref("Sentence"),
    note=ref("Sentence"),
)
FIGURE = described(dict, "plotly's JSON")
ROW = record(cells=array(object), lines=array(ref("Text")), change=nullable(dict), mark=str)
CHART = record(
    spec=ref("Spec"),
    notes=array(ref("Text")),
    columns=array(array(ref("Text"), 2, 2)),
    rows=array(ROW),
    figure=FIGURE,
)
POINT = record(
    **dict.fromkeys(("family", "title", "group"), str),
    label=ref("Text"),
    limit=nullable(float),
    **dict.fromkeys(("memory", "of_p", "throughput"), float),
    bubble=BUBBLES,
    weights=COUNT,
    dominated_by=nullable(COUNT),
    adjusted=nullable(ref("Text")),
    units=nullable(UNITS),
    moved=bool,
    spec=ref("Spec"),
)
FRONTIER = record(
    spec=ref("Spec"),
    found=bool,
    error_found=nullable(described(dict, "why no order was searched: an error")),
    notes=array(ref("Text")),
    points=array(POINT),
    figure=FIGURE,
)


def _appearance(heights: tuple[str, ...]) -> tuple[Parameter, ...]:
    """Describe the keys of a figure's appearance; `heights` are the quantities that it may show."""
    schemas: dict[str, Schema] = {
        "theme": choice(ALL_THEMES, APPEARANCE["theme"][0]),
        "y": choice(heights),
        "width": whole(*WIDTH, APPEARANCE["width"][0]),
        "height": whole(*HEIGHT, APPEARANCE["height"][0]),
        "only": whole(0, 1, APPEARANCE["only"][0]),
    }
    meanings = {
        "y": "quantity on the vertical axis", "width": "of the figure, in px", "height": "of the figure, in px",
        "only": "1: of a chart of all families, those of the schedules given",
    }  # fmt: skip
    return tuple(Parameter(key, schemas[key], meanings.get(key, "")) for key in APPEARANCE)


def _prefixed(fields: dict[str, Schema], prefixes: tuple[str, ...], meaning: str) -> Parameter:
    """Describe keys that begin with a prefix and a dot."""
    words = "|".join(prefixes)
    keys = {f"^({words})\\.{key}$": schema for key, schema in fields.items()}
    shape: dict[str, Any] = {"type": "object", "patternProperties": keys, "additionalProperties": False}
    return Parameter("_".join((*prefixes, "keys")), shape, meaning, spread=True)


MORE_PLANS = _prefixed(
    {key: query_schema(key) for key in KEYS}, OTHERS,
    "Up to three more schedules: each key of a spec after `b.`, `c.` or `d.`. An illegal one is left out, with a note.",
)  # fmt: skip
A_SETTING = _prefixed(
    {key: SETTING[key] for key in PRESET_KEYS}, ("m",), "A model on a machine: each key of /api/costs after `m.`."
)

NAMES = Parameter(
    "families",
    text("^({0})(,({0}))*$".format("|".join(FAMILIES))),
    "names of families, with commas; by default all of them",
)
DIALECT = record(format=choice(("compute_only", "compute_comms")), letters=choice(("current", "2024")))
COMPARISON = record(rows=array(COMPARED), notes=array(ref("Text")))

OPERATIONS: dict[str, Operation] = {
    "schedule.list_families": Operation(TAG, answer("The families.", FAMILY_LIST), refusals=(304,)),
    "schedule.show_schedule": Operation(
        TAG,
        {200: Answer("The order.", {BINARY: {}, JSON: ref("Result")})},
        spec_query(),
        refusals=(304,),
        more="`Accept: application/json` gives the Result. docs/contracts.md describes the binary form.",
    ),
    "schedule.show_laws": Operation(
        TAG, answer("The laws.", record(laws=array(ref("CodedLaw")))), spec_query(), refusals=(304,)
    ),
    "schedule.show_bound": Operation(
        TAG, answer("The bound.", record(lower_bound=float, bound=ref("Text"))), spec_query(), refusals=(304,)
    ),
    "schedule.show_block": Operation(TAG, answer("The block.", BLOCK), spec_query(*BLOCK_KEYS), refusals=(304,)),
    "compare.show_comparison": Operation(
        TAG,
        answer("The comparison.", COMPARISON),
        (NAMES, *spec_query(*(key for key in COMPARED_KEYS if key in FIELDS)), A_SETTING),
        refusals=(304,),
    ),
    "compare.show_plans": Operation(
        TAG,
        answer("The plans.", TRAINING_PLANS),
        (
            *spec_query("p", "m"),
            Parameter("gpus", whole(*SIZES["gpus"]), "devices in all, whose layout is found; with batch"),
            Parameter("batch", whole(*SIZES["batch"]), "sequences of a step on all devices; with gpus, without m"),
            Parameter("gb", number(*GIGABYTES), "memory of a device in GB; by default the machine's"),
            Parameter("families", text(most=400), "only these schedules, names between commas"),
            Parameter("framework", choice(FRAMEWORKS), "only what this framework runs"),
            Parameter("recompute", whole(0, 1, 1), "0: no recomputation"),
            Parameter("offload", whole(0, 1, 1), "0: no offload"),
            Parameter("seconds", number(*SECONDS), "for which plans are constructed; left_out counts those not built"),
            A_SETTING,
        ),
        refusals=(304,),
        more="Those that fit come first, from the fastest, then the others from the least memory. `best`: the first "
        "of its family and v, of several layouts the first of each; `frontier`: faster than every plan with less "
        "memory; `place`: the same for those within 1 %, which are `tied`; `would_fit`: where none fits, other sizes "
        "with which the first would. m.model is required.",
    ),
    "export.export": Operation(
        TAG,
        {200: Answer("The file.", {JSON: either(ref("Result"), ref("ChromeTrace")), FORMATS["torch-csv"][1]: {}})},
        (Parameter("format", choice(FORMATS, "json"), "format of the file"), *spec_query()),
    ),
    "export.show_configurations": Operation(
        TAG,
        answer("One of each framework.", record(configurations=array(CONFIGURATION))),
        (*spec_query(), A_SETTING),
        more="`text` is its flags, overrides, arguments or file; null where it does not run the schedule, as `error` "
        "explains.",
    ),
    "charts.show_chart": Operation(
        "charts",
        answer("The chart.", CHART),
        (
            *_appearance(tuple(dict.fromkeys(height for kind in KINDS.values() for height in kind.heights))),
            *spec_query(),
            MORE_PLANS,
            A_SETTING,
        ),
        path={"name": choice(KINDS)},
        refusals=(304,),
    ),
    "charts.show_pareto": Operation(
        "charts",
        answer("The frontier.", FRONTIER),
        (
            Parameter("found", whole(0, 1, 1), "0: without searched orders"),
            *_appearance(HEIGHTS),
            *spec_query(),
            A_SETTING,
        ),
        refusals=(304,),
    ),
    "imports.import_order": Operation(
        TAG,
        answer(
            "The spec of the order.", record(spec=ref("Spec"), query=str, dialect=DIALECT, notes=array(ref("Text")))
        ),
        body=record(csv={"type": "string", "minLength": 1}, placement=maybe(nullable(choice(PLACEMENTS)))),
    ),
    "imports.import_configuration": Operation(
        TAG,
        answer("The view of the training.", record(spec=ref("Spec"), query=str, notes=array(ref("Text")))),
        body=record(text={"type": "string", "minLength": 1}),
    ),
}
