"""The operations about costs: presets, the costs of a model on a machine, balanced layers."""

from __future__ import annotations

from backend.address.preset import MAY_LACK, NONE
from backend.schedule.hardware.balance import BALANCE_KEYS
from backend.schedule.hardware.cost_model import (
    DEFAULTS,
    IN_FLIGHT,
    KEYS,
    LINKS,
    PER_PARAMETER,
    PLACEMENTS,
    SETTING_BOUNDS,
    WHOLE_BOUNDS,
)
from backend.schedule.hardware.machines import COUNTS, MACHINES, RANGES
from backend.schedule.hardware.models import MODELS, NUMBERS, TRUTHS, WHOLE
from backend.schedule.spec import COST_KEYS, LIMITS
from backend.web.openapi.operation import Operation, Parameter, answer
from backend.web.openapi.schema import (
    COUNT,
    Schema,
    array,
    choice,
    either,
    flag,
    nullable,
    number,
    open_record,
    record,
    ref,
    whole,
)
from backend.web.openapi.specs import FIELDS, LIST, PER_STAGE, TABLE

TAG = "costs"
PLAIN: dict[str, Schema] = {
    "model": choice(MODELS, DEFAULTS["model"]),
    "machine": choice(MACHINES, DEFAULTS["machine"]),
    "p": whole(1, LIMITS["p"], DEFAULTS["p"]),
    "v": whole(1, LIMITS["v"], DEFAULTS["v"]),
    "tp": whole(1, COUNTS["per_node"][1], DEFAULTS["tp"]),
    "efficiency": number(*SETTING_BOUNDS["efficiency"]),
    "heads": flag(DEFAULTS["heads"]),
    "link": choice(LINKS, DEFAULTS["link"]),
    "placement": choice(PLACEMENTS, DEFAULTS["placement"]),
    "in_flight": number(*IN_FLIGHT),
    **{key: whole(*bounds, DEFAULTS[key]) for key, bounds in WHOLE_BOUNDS.items()},
    **{key: whole(*bounds) for key, bounds in WHOLE.items()},
    **{key: number(*bounds) for key, bounds in NUMBERS.items()},
    **{key: number(*SETTING_BOUNDS[key], DEFAULTS[key]) for key in (*PER_PARAMETER, "reserve", "calibration")},
    "frozen": whole(0, LIMITS["p"] * LIMITS["v"]),
    "mtp_stage": whole(*map(int, SETTING_BOUNDS["mtp_stage"])),
    "sequence_parallel": {"type": "boolean"},
    "fp8": flag(DEFAULTS["fp8"]),
    **{key: {"type": "boolean"} for key in TRUTHS},
    **{key: number(*bounds) for key, bounds in RANGES.items()},
    **{key: whole(*bounds) for key, bounds in COUNTS.items()},
}
BESIDE: dict[str, Schema] = {  # values of another form
    **dict.fromkeys(MAY_LACK, choice((NONE,))), **dict.fromkeys(("layers", "frozen", "in_flight"), LIST)
}  # fmt: skip
SETTING: dict[str, Schema] = {key: either(PLAIN[key], BESIDE[key]) if key in BESIDE else PLAIN[key] for key in KEYS}
"""Each key of a model on a machine in a query."""
SETTING_MEANINGS = {
    "model": "preset; other keys change its fields",
    "machine": "preset; other keys change its fields",
    "p": "devices of the pipeline",
    "v": "model chunks on a device",
    "tp": "devices that share a stage",
    "efficiency": "fraction of the peak rate that is reached; by default it follows from the matrix products",
    "heads": "count the embedding and the output layer",
    "layers": "Layers. " + PER_STAGE,
    "link": "link of a hop; auto: the node's own if all devices fit in one node",
    "in_flight": "micro-batches whose activations a device holds at once, one number or one per device; by default "
    "those of 1F1B",
    "data": "data-parallel replicas of the pipeline",
    "context": "devices that share a sequence (context parallelism)",
    "expert": "devices that share the experts of a layer",
    "sequence_parallel": "split tensors along the sequence over the tp devices; by default with tp > 1",
    "fp8": "matrix products in 8 bits",
    "weight_bytes": "bytes of a weight",
    "gradient_bytes": "bytes of a gradient",
    "optimizer_bytes": "bytes of the optimizer's state of a parameter",
    "reserve": "bytes that communication, the allocator and the device itself take",
    "calibration": "factor of all times of compute: a measured step over the estimated one",
    "mtp_stage": "stage of the modules for further tokens, with layers by stage; by default the last",
    "frozen": "stages that are not trained: their number from the first on, or a list",
    "zero": "stage of ZeRO: 1 shards the optimizer over the replicas, 2 also gradients, 3 also weights",
}
BYTES = (
    "message", "layer", "activations", "kept_for_w", "parameters", "per_parameter", "memory", "most",
    "limit", "in_flight", "stages", "table", "logits", "reserve", "kept_by_recompute",
)  # fmt: skip
COSTS = record(**dict.fromkeys(COST_KEYS, either(nullable(float), array(float))))
ESTIMATE = record(
    model=str,
    machine=str,
    costs=COSTS,
    w_share=float,
    options=dict,
    unit=str,
    layers=array(COUNT),
    bytes=record(**dict.fromkeys(BYTES, object)),
    memory=array(float),
    fits=bool,
    flop=record(layers=float, masked=float, output=float),
    tail=float,
    tails=array(record(stages=array(float), table=array(float))),
    memory_note=ref("Text"),
    vocabulary_ratio=float,
    counted=ref("Sentence"),
    arithmetic=array(dict),
    names={"type": "object", "additionalProperties": {"type": "number"}},
    setting=dict,
)
DEVICE_MEMORY = record(
    **dict.fromkeys(("ranks", "activations"), array(float)), most=float, rank=COUNT, limit=float, fits=bool
)
SPLIT = record(layers=array(COUNT), makespan=float, heaviest_stage=float, costs=COSTS, memory=DEVICE_MEMORY)
BALANCED = record(
    **dict.fromkeys(("model", "machine", "family", "unit"), str),
    **dict.fromkeys(("p", "m", "v", "tried"), COUNT),
    group=nullable(COUNT),
    before=SPLIT,
    after=SPLIT,
    saved=float,
)
PRESETS = record(
    models=array(open_record(name=str, title=ref("Text"), note=ref("Text"))),
    machines=array(open_record(name=str, title=ref("Text"), source=ref("Text"))),
    defaults=dict,
    bounds={"type": "object", "additionalProperties": array(float, 2, 2)},
)
SETTING_QUERY = tuple(Parameter(key, schema, SETTING_MEANINGS.get(key, "")) for key, schema in SETTING.items())
BALANCE_QUERY = tuple(Parameter(key, FIELDS[key], TABLE[key][1]) for key in BALANCE_KEYS)

OPERATIONS: dict[str, Operation] = {
    "costs.list_models": Operation(TAG, answer("The presets.", PRESETS), refusals=(304,)),
    "costs.show_costs": Operation(TAG, answer("The costs.", ESTIMATE), SETTING_QUERY, refusals=(304,)),
    "costs.show_balance": Operation(
        TAG, answer("The layers of each stage.", BALANCED), (*SETTING_QUERY, *BALANCE_QUERY), refusals=(304,)
    ),
}
