"""The operations about costs: presets, the costs of a model on a machine, balanced layers."""

from __future__ import annotations

from backend.address.preset import NONE
from backend.schedule.hardware.balance import BALANCE_KEYS
from backend.schedule.hardware.cost_model import DEFAULTS, KEYS, LINKS, PLACEMENTS, SETTING_BOUNDS, WHOLE_BOUNDS
from backend.schedule.hardware.machines import MACHINES, PER_NODE, RANGES
from backend.schedule.hardware.models import COUNTS, MAY_LACK, MODELS, TRUTHS, WHOLE
from backend.schedule.spec import COST_KEYS, LIMITS
from backend.web.openapi.operation import PREFER, Operation, Parameter, json_answer
from backend.web.openapi.schema import (
    ANY,
    COUNT,
    NUMBER,
    TEXT,
    TRUTH,
    Schema,
    array,
    choice,
    either,
    flag,
    nullable,
    number,
    record,
    ref,
    whole,
)
from backend.web.openapi.specs import FIELDS, LIST, LIST_MEANING, MEANINGS

TAG = "costs"
LEAST_IN_FLIGHT, MOST_IN_FLIGHT = 0.0, 1e6
PLAIN: dict[str, Schema] = {
    "model": choice(MODELS, DEFAULTS["model"]),
    "machine": choice(MACHINES, DEFAULTS["machine"]),
    "p": whole(1, LIMITS["p"], DEFAULTS["p"]),
    "v": whole(1, LIMITS["v"], DEFAULTS["v"]),
    "tp": whole(1, PER_NODE[1], DEFAULTS["tp"]),
    "efficiency": number(*SETTING_BOUNDS["efficiency"], DEFAULTS["efficiency"]),
    "heads": flag(DEFAULTS["heads"]),
    "link": choice(LINKS, DEFAULTS["link"]),
    "placement": choice(PLACEMENTS, DEFAULTS["placement"]),
    "in_flight": number(LEAST_IN_FLIGHT, MOST_IN_FLIGHT),
    **{key: whole(*bounds, DEFAULTS[key]) for key, bounds in WHOLE_BOUNDS.items()},
    **{key: whole(*bounds) for key, bounds in WHOLE.items()},
    **{key: number(*bounds) for key, bounds in COUNTS.items()},
    **{key: {"type": "boolean"} for key in TRUTHS},
    **{key: number(*bounds) for key, bounds in RANGES.items()},
    "per_node": whole(*PER_NODE),
}
BESIDE: dict[str, Schema] = {**dict.fromkeys(MAY_LACK, choice((NONE,))), "layers": LIST}  # values of another form
SETTING: dict[str, Schema] = {key: either(PLAIN[key], BESIDE[key]) if key in BESIDE else PLAIN[key] for key in KEYS}
"""Each key of a model on a machine in a query."""
SETTING_MEANINGS = {
    "model": "preset; other keys change its fields",
    "machine": "preset; other keys change its fields",
    "p": "devices of the pipeline",
    "v": "model chunks on a device",
    "tp": "devices that share a stage",
    "efficiency": "fraction of the peak rate that is reached",
    "heads": "count the embedding and the output layer",
    "layers": "Layers. " + LIST_MEANING,
    "link": "link of a hop; auto: the node's own if all devices fit in one node",
    "in_flight": "micro-batches whose activations a device holds at once; by default p",
    "data": "data-parallel replicas of the pipeline",
    "zero": "stage of ZeRO: 1 shards the optimizer over the replicas, 2 also gradients, 3 also weights",
}
BALANCE: dict[str, Schema] = {key: FIELDS[key] for key in BALANCE_KEYS}
COSTS = record({key: either(nullable(NUMBER), array(NUMBER)) for key in COST_KEYS})
BYTES = (
    "message", "layer", "flash", "activations", "kept_for_w", "parameters", "weights", "gradients", "optimizer",
    "per_parameter", "memory", "most", "limit", "in_flight", "stages", "table", "kept_by_recompute",
)  # fmt: skip
ESTIMATE = record(
    {
        "model": TEXT,
        "machine": TEXT,
        "costs": COSTS,
        "w_share": NUMBER,
        "options": {"type": "object"},
        "unit": TEXT,
        "layers": array(COUNT),
        "bytes": record(dict.fromkeys(BYTES, ANY)),
        "memory": array(NUMBER),
        "fits": TRUTH,
        "flop": record({"layers": NUMBER, "output": NUMBER}),
        "memory_note": ref("Text"),
        "vocabulary_ratio": NUMBER,
        "counted": ref("Sentence"),
        "arithmetic": array({"type": "object"}),
        "names": {"type": "object", "additionalProperties": NUMBER},
        "setting": {"type": "object"},
    }
)
DEVICE_MEMORY = record(
    {
        "ranks": array(NUMBER),
        "activations": array(NUMBER),
        "most": NUMBER,
        "rank": COUNT,
        "limit": NUMBER,
        "fits": TRUTH,
    }
)
SPLIT = record(
    {
        "layers": array(COUNT),
        "makespan": NUMBER,
        "heaviest_stage": NUMBER,
        "costs": COSTS,
        "memory": DEVICE_MEMORY,
    }
)
BALANCED = record(
    {
        **dict.fromkeys(("model", "machine", "family", "unit"), TEXT),
        **dict.fromkeys(("p", "m", "v", "tried"), COUNT),
        "group": nullable(COUNT),
        "before": SPLIT,
        "after": SPLIT,
        "saved": NUMBER,
    }
)
PRESETS = record(
    {
        "models": array(record({"name": TEXT, "title": ref("Text"), "note": ref("Text")}, more=True)),
        "machines": array(record({"name": TEXT, "title": ref("Text"), "source": ref("Text")}, more=True)),
        "defaults": {"type": "object"},
        "bounds": {"type": "object", "additionalProperties": array(NUMBER, 2, 2)},
        "shape": array(TEXT),
    }
)
SETTING_QUERY = tuple(Parameter(key, schema, SETTING_MEANINGS.get(key, "")) for key, schema in SETTING.items())
BALANCE_QUERY = tuple(Parameter(key, schema, MEANINGS[key]) for key, schema in BALANCE.items())

OPERATIONS: dict[str, Operation] = {
    "costs.list_models": Operation(TAG, json_answer("The presets.", PRESETS), refusals=(304,), strict=False),
    "costs.show_costs": Operation(
        TAG,
        json_answer("The costs.", either(ESTIMATE, ref("Error"))),
        SETTING_QUERY,
        (PREFER,),
        refusals=(304,),
    ),
    "costs.show_balance": Operation(
        TAG,
        json_answer("The layers of each stage.", either(BALANCED, ref("Error"))),
        (*SETTING_QUERY, *BALANCE_QUERY),
        (PREFER,),
        refusals=(304,),
    ),
}
