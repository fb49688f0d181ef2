"""Schemas of a spec, from the tables that its reader uses: as JSON, and as keys of a query."""

from __future__ import annotations

from backend.address.query import KEYS, LISTS, MOST_ENTRIES, PER_CHUNK, PER_MICRO_BATCH
from backend.schedule.families import imported
from backend.schedule.families.registry import FAMILIES
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.offload import OF_A_CHUNK as OFFLOAD_OF_A_CHUNK
from backend.schedule.options.recompute import MODES as RECOMPUTE
from backend.schedule.options.recompute import TIMES
from backend.schedule.options.sizes import DEALS, INJECTIONS, MOST_REPLICAS
from backend.schedule.options.vocabulary import MODES as VOCABULARY
from backend.schedule.order.messages import RECEIVES, STREAMS
from backend.schedule.spec import (
    LIMITS,
    MAX_TIME,
    MOST_EFFORT,
    MOST_LAYERS,
    MOST_ORDER,
    MOST_SEED,
    MOST_SPARED,
    PACKED,
    Spec,
)
from backend.web.openapi.operation import Parameter
from backend.web.openapi.schema import Schema, array, choice, either, flag, nullable, number, record, text, whole

PER_STAGE = "One value, or one for each stage: `1.5,62*1,1.5` has 62 ones between its ends."
BY_CHUNK = "One word, or one for each chunk of a device, the first chunk's first: `full,none`."
TABLE: dict[str, tuple[Schema, str]] = {
    "family": (choice((*FAMILIES, imported.NAME), Spec.family), "schedule family; `imported` takes `order`"),
    "p": (whole(1, LIMITS["p"], Spec.p), "devices"),
    "m": (whole(1, LIMITS["m"], Spec.m), "micro-batches in a step"),
    "v": (whole(1, LIMITS["v"]), "model chunks on a device; by default the family's own number"),
    "group": (whole(1, LIMITS["m"]), "interleaved: micro-batches taken together; by default torch's rule"),
    "memory": (number(1e-3, MAX_TIME), "limit, in activations of one micro-batch on one device"),
    "w_share": (number(0.0, 1.0, Spec.w_share), "share of these activations that W still needs after I"),
    "lifo": (flag(Spec.lifo), "gpipe: backward from the last micro-batch to the first"),
    "forward_only": (flag(Spec.forward_only), "inference: forwards without backwards"),
    "frozen": (
        whole(0, MOST_ENTRIES),
        "stages that are not trained: the number of first stages, or a list of stages such as `0,2` (`1*0`: stage 0)",
    ),
    "recompute": (choice(RECOMPUTE, "none"), f"Part of the forward that runs again before the backward. {BY_CHUNK}"),
    "recompute_at": (choice(TIMES, Spec.recompute_at), "when it runs again, and how much; with `recompute` only"),
    "spared": (
        whole(0, MOST_SPARED, 0),
        "of the chunks that a rank holds at once, how many run nothing again; with `recompute` only",
    ),
    "layers": (whole(0, MOST_LAYERS), f"Layers of each stage. {PER_STAGE}"),
    "sizes": (
        text(r"^[a-z]+:[0-9.:,e-]+$", 4000),
        "Sizes of the micro-batches where they differ: a list with one for each, `lognormal:SIGMA:SEED`, or "
        "`tokens:ALPHA:BETA:L,L,...`.",
    ),
    "fixed": (number(0.0, 1.0, Spec.fixed), "share of an op that does not depend on the size of its micro-batch"),
    "injection": (
        choice(INJECTIONS, "given"),
        "The order in which micro-batches enter: a word, or each micro-batch once.",
    ),
    "replicas": (whole(1, MOST_REPLICAS, 1), "data-parallel replicas, each with m of the sizes; with `sizes` only"),
    "deal": (choice(DEALS, "given"), "which replica takes which micro-batch"),
    "replica": (whole(0, MOST_REPLICAS - 1, 0), "the replica that is shown"),
    "vocabulary": (choice(VOCABULARY, Spec.vocabulary), "placement of the output layer"),
    "offload": (choice(OFFLOAD, "none"), f"Activations copied to host memory and back. {BY_CHUNK}"),
    "shared_link": (flag(Spec.shared_link), "two devices share one link to host memory"),
    "streams": (choice(STREAMS, Spec.streams), "which messages of a rank share a stream"),
    "receives": (choice(RECEIVES, Spec.receives), "where receives are posted; with `streams` only"),
    "weights": (
        number(0.0, MAX_TIME),
        "pipedream: memory of one stashed weight version, in the unit of `memory`",
    ),
    "effort": (
        whole(1, MOST_EFFORT),
        "zb-auto, v-auto, chimera-auto: orders that the search evaluates; by default it only constructs one",
    ),
    "seed": (whole(0, MOST_SEED, Spec.seed), "seed of the search"),
    "order": (text(f"^{PACKED.pattern}$", MOST_ORDER), "packed order of family `imported`"),
    "F": (number(0.0, MAX_TIME, 1.0), f"Time of a forward. {PER_STAGE}"),
    "I": (number(0.0, MAX_TIME, 1.0), f"Time of an input gradient. {PER_STAGE}"),
    "W": (number(0.0, MAX_TIME, 1.0), f"Time of a weight gradient. {PER_STAGE}"),
    "comm": (number(0.0, MAX_TIME, 0.0), "latency of a hop between devices"),
    "FB": (number(0.0, MAX_TIME), "time of an overlapped pair; by default F + I + W"),
    "S": (number(0.0, MAX_TIME), "time of a device's shard of the output layer"),
    "T": (number(0.0, MAX_TIME), "time of its gradients"),
    "O": (number(0.0, MAX_TIME), "time of one copy to or from host memory"),
    "wire": (number(0.0, MAX_TIME, 0.0), "time for which a message occupies its streams"),
    "R": (number(0.0, MAX_TIME), "time that recomputation adds to I, where a device's whole share is run again"),
}
"""Each field of a spec and of its costs: as one value (LISTS may have a list of them), and its meaning."""
FIELDS = {key: schema for key, (schema, _) in TABLE.items()}
MAY_LACK = frozenset(
    {"group", "memory", "weights", "effort", "order", "layers", "frozen", "sizes", "FB", "S", "T", "O", "R"}
)
"""Null: none."""
ENTRY = r"([0-9]{1,6}\*)?[0-9]{1,12}(\.[0-9]{1,12})?(e-?[0-9]{1,2})?"
LIST = text(rf"^{ENTRY}(,{ENTRY})*$")
WORDS_OF_A_CHUNK = {"recompute": tuple(RECOMPUTE), "offload": OFFLOAD_OF_A_CHUNK}
"""What the keys of PER_CHUNK can say of one chunk."""


def query_schema(key: str) -> Schema:
    """Describe a key of a spec in a query, where lists are text."""
    if key in PER_CHUNK:
        word = rf"([0-9]{{1,2}}\*)?({'|'.join(WORDS_OF_A_CHUNK[key])})"
        return either(FIELDS[key], text(rf"^{word}(,{word}){{0,{LIMITS['v'] - 1}}}$"))
    return either(FIELDS[key], LIST) if key in LISTS | PER_MICRO_BATCH else FIELDS[key]


def spec_query(*keys: str) -> tuple[Parameter, ...]:
    """Describe the keys of a spec in a query; all of them if none are named."""
    return tuple(Parameter(key, query_schema(key), TABLE[key][1]) for key in keys or KEYS)


def _json_schema(key: str) -> Schema:
    """Describe a field in JSON, where lists are arrays and what may be missing is null."""
    schema = FIELDS[key]
    if key in LISTS:
        many = array(schema, 1, MOST_ENTRIES)
        schema = many if key == "layers" else either(schema, many)
    if key in PER_CHUNK:
        schema = either(schema, array(choice(WORDS_OF_A_CHUNK[key]), 1, LIMITS["v"]))
    return nullable(schema) if key in MAY_LACK else schema


def spec_json(costs: tuple[str, ...]) -> Schema:
    """Describe a spec as JSON, with every key and its `costs` in an object of their own."""
    rest = {key: _json_schema(key) for key in FIELDS if key not in costs}
    return record(**rest, costs=record(**{key: _json_schema(key) for key in costs}))


def without_required(schema: Schema) -> Schema:
    """Describe the same object with all its fields optional, those of its objects too: a spec that is sent."""
    fields = {
        key: without_required(each) if each.get("type") == "object" else each
        for key, each in schema["properties"].items()
    }
    return {key: each for key, each in schema.items() if key != "required"} | {"properties": fields}
