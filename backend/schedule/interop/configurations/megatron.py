"""The flags of Megatron-LM, of Sea AI Lab's fork with zero-bubble schedules, and the overrides of Megatron Bridge.

Megatron Bridge trains with Megatron's core in NeMo; its fields have the flags' names with underscores, in sections
(docs/megatron-lm-to-megatron-bridge.md of NVIDIA-NeMo/Megatron-Bridge). The flags of the fork are in the README of
sail-sg/zero-bubble.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.schedule.errors import SpecError, message
from backend.schedule.interop.configurations.settings import Settings, whole
from backend.schedule.interop.megatron_layout import StageLayout, read_layout, write_layout
from backend.schedule.spec import LIMITS, integer


@dataclass(frozen=True)
class Flag:
    """A flag without its dashes, and its name in Megatron Bridge with its section; ``key`` names it below. A ``switch``
    has no value: "on" means true, "off" false.
    """

    key: str
    name: str
    bridge: str
    switch: str = ""


def _flag(key: str, name: str, bridge: str = "", section: str = "model", switch: str = "") -> Flag:
    return Flag(key, name, bridge or f"{section}.{name.replace('-', '_')}", switch)


FLAGS = (
    _flag("p", "pipeline-model-parallel-size"),
    _flag("v", "num-virtual-stages-per-pipeline-rank", "model.virtual_pipeline_model_parallel_size"),
    _flag("layout", "pipeline-model-parallel-layout"),
    _flag("group", "microbatch-group-size-per-virtual-pipeline-stage"),
    _flag("tp", "tensor-model-parallel-size"),
    _flag("sequence_parallel", "sequence-parallel", switch="on"),
    _flag("context", "context-parallel-size"),
    _flag("expert", "expert-model-parallel-size"),
    _flag("zero", "use-distributed-optimizer", section="ddp", switch="on"),
    _flag("micro_batch", "micro-batch-size", section="train"),
    _flag("batch", "global-batch-size", section="train"),
    _flag("granularity", "recompute-granularity"),
    _flag("method", "recompute-method"),
    _flag("again", "recompute-num-layers"),
    _flag("modules", "recompute-modules"),
    _flag("spared", "num-microbatches-with-partial-activation-checkpoints"),
    _flag("fp8", "fp8-format", "model.fp8"),
    _flag("layers", "num-layers"),
    _flag("hidden", "hidden-size"),
    _flag("ffn", "ffn-hidden-size"),
    _flag("attention_heads", "num-attention-heads"),
    _flag("grouped", "group-query-attention", "", switch="on"),
    _flag("kv_heads", "num-query-groups"),
    _flag("head_width", "kv-channels"),
    _flag("latent", "multi-latent-attention", switch="on"),
    _flag("query_rank", "q-lora-rank"),
    _flag("kv_rank", "kv-lora-rank"),
    _flag("latent_width", "qk-head-dim"),
    _flag("rope_width", "qk-pos-emb-head-dim"),
    _flag("value_width", "v-head-dim"),
    _flag("gated", "swiglu", "model.gated_linear_unit", switch="on"),
    _flag("experts", "num-experts", "model.num_moe_experts"),
    _flag("experts_per_token", "moe-router-topk"),
    _flag("expert_ffn", "moe-ffn-hidden-size"),
    _flag("shared_width", "moe-shared-expert-intermediate-size"),
    _flag("frequency", "moe-layer-freq"),
    _flag("mtp", "mtp-num-layers"),
    _flag("qk_norms", "qk-layernorm", switch="on"),
    _flag("tied", "untie-embeddings-and-output-weights", "model.share_embeddings_and_output_weights", switch="off"),
    _flag("vocabulary", "vocab-size"),
    _flag("attention_dropout", "attention-dropout"),
    _flag("hidden_dropout", "hidden-dropout"),
    _flag("sequence", "seq-length"),
    _flag("positions", "max-position-embeddings", "dataset.seq_length"),
)
CHUNK_LAYERS = _flag("chunk_layers", "num-layers-per-virtual-pipeline-stage")
READ_ONLY = (  # other ways to say the same
    CHUNK_LAYERS,
    _flag("first", "decoder-first-pipeline-num-layers", "model.num_layers_in_first_pipeline_stage"),
    _flag("last", "decoder-last-pipeline-num-layers", "model.num_layers_in_last_pipeline_stage"),
    _flag("with_embedding", "account-for-embedding-in-pipeline-split", switch="on"),
    _flag("with_loss", "account-for-loss-in-pipeline-split", switch="on"),
    _flag("activations", "recompute-activations", "", switch="on"),
    _flag("nodes", "nnodes", ""),
    _flag("per_node", "nproc-per-node", ""),
    _flag("zero_bubble", "enable-zero-bubble", switch="on"),
    _flag("v_schedule", "zero-bubble-v-schedule", switch="on"),
    _flag("v_memory", "zero-bubble-v-schedule-mem-setup"),
    _flag("pending", "zero-bubble-max-pending-backward"),
)
NOT_IN_BRIDGE = ("grouped", "fp8")
FREQUENCY = re.compile(r"\(\[0\]\*(\d{1,6})\+\[1\]\*\d+\)|\[((?:0,)*)[01,]*\]")
MAY_BE_ZERO = ("spared", "mtp", "shared_width", "rope_width")

FORK: dict[str, tuple[str, ...]] = {
    "1f1b": (), "interleaved": (),
    "zb-h1": ("--enable-zero-bubble", "--zero-bubble-max-pending-backward {p}"),
    "zb-h2": ("--enable-zero-bubble", "--zero-bubble-max-pending-backward {twice}"),
    "zb-auto": ("--enable-zero-bubble", "--zero-bubble-max-pending-backward {memory}"),
    "v-min": ("--zero-bubble-v-schedule", "--zero-bubble-v-schedule-mem-setup min"),
    "v-half": ("--zero-bubble-v-schedule", "--zero-bubble-v-schedule-mem-setup half"),
    "v-zb": ("--zero-bubble-v-schedule", "--zero-bubble-v-schedule-mem-setup zb"),
}  # fmt: skip
"""What chooses a schedule in Sea AI Lab's fork, by family."""
V_MEMORY = {flags[-1].split()[-1]: family for family, flags in FORK.items() if "--zero-bubble-v-schedule" in flags}
ADAPTIVE = "auto"  # the limit of pending backwards, by itself


def megatron_flags(settings: Settings) -> list[str]:
    """Return the flags of Megatron-LM, each with its value."""
    given = _given(settings)
    if "layout" in given:
        given.pop("v", None)  # it says how many stages there are
    return _lines(given)


def fork_flags(settings: Settings) -> list[str]:
    """Return the flags of Sea AI Lab's fork, which places two chunks a device in a V by itself, and knows neither
    layouts nor what selective recomputation recomputes.
    """
    more, given = FORK[settings["family"]], _given(settings)
    words = {"p": settings["p"], "twice": 2 * settings["p"], "memory": settings["memory"]}
    for key in ("layout", "modules", "v"):
        given.pop(key, None)
    if not more and settings["v"] > 1 and "layers" in given:
        given["chunk_layers"] = given["layers"] // (settings["p"] * settings["v"])
    return [*(flag.format(**words) for flag in more), *_lines(given)]


def _lines(given: Mapping[str, Any]) -> list[str]:
    return [
        f"--{flag.name}" if flag.switch else f"--{flag.name} {_quoted(given[flag.key])}"
        for flag in (*FLAGS, CHUNK_LAYERS)
        if flag.key in given and (not flag.switch or given[flag.key] == (flag.switch == "on"))
    ]


def bridge_overrides(settings: Settings) -> list[str]:
    """Return the overrides of Megatron Bridge."""
    given = _given(settings)
    if "frequency" in given:  # lists, where the flags have a text or words
        dense = settings["dense_layers"]
        given["frequency"] = f"[{','.join('0' * dense + '1' * (settings['layers'] - dense))}]"
    given |= {"modules": f"[{given['modules']}]"} if "modules" in given else {}
    lines = []
    for flag in FLAGS:
        if flag.key in given and flag.key not in NOT_IN_BRIDGE:
            value = given[flag.key]
            lines.append(f"{flag.bridge}={str(value).lower() if flag.switch else _grammar(value)}")
    return [*lines, *(["model.activation_func=silu"] if given.get("gated") else [])]


def _quoted(value: Any) -> str:
    text = str(value)
    return text if re.fullmatch(r"[\w.+-]+", text) else f"'{text}'"


def _grammar(value: Any) -> str:
    """Return a value as Hydra's grammar reads it."""
    text = str(value)
    if text.startswith("["):
        return f"'{text}'"
    return text if re.fullmatch(r"[\w.+-]+", text) else f"'\"{text}\"'"


def _given(settings: Settings) -> dict[str, Any]:
    """Return the values of flags by their keys."""
    get = settings.get
    layout: StageLayout | None = get("layout")
    found: dict[str, Any] = {"p": settings["p"], "batch": settings["batch"]}
    found["micro_batch"] = get("micro_batch", 1)
    found |= {"v": settings["v"]} if settings["v"] > 1 else {}
    if layout is not None and not _is_usual(layout):
        found["layout"] = write_layout(layout)
    found |= {key: get(key) for key in ("tp", "context", "expert") if get(key, 1) > 1}
    found |= {key: True for key in ("sequence_parallel", "qk_norms", "gated") if get(key)}
    found |= {"zero": True} if get("zero", 0) else {}
    found |= {"fp8": "hybrid"} if get("fp8") else {}
    found |= {"group": get("group")} if get("group") else {}
    if settings["recompute"] != "none":
        found["granularity"] = settings["recompute"]
        full = settings["recompute"] == "full"
        found |= {"method": "uniform", "again": 1} if full else {"modules": "core_attn"}
        found |= {"spared": get("spared")} if get("spared") else {}
    if "hidden" not in settings:
        return found
    found |= {key: get(key) for key in ("layers", "hidden", "attention_heads", "vocabulary", "sequence")}
    found |= {"ffn": get("ffn") or 4 * get("hidden", 0), "positions": get("sequence"), "tied": bool(get("tied"))}
    found |= {} if get("dropout") else {"attention_dropout": 0, "hidden_dropout": 0}
    if get("kv_rank"):
        found |= {"latent": True, "latent_width": get("head_width")}
        found |= {key: get(key) for key in ("query_rank", "kv_rank", "rope_width", "value_width") if get(key)}
    else:
        grouped = get("kv_heads") not in (None, get("attention_heads"))
        found |= {"grouped": True, "kv_heads": get("kv_heads")} if grouped else {}
        found |= {"head_width": get("head_width")} if get("head_width") else {}
    if get("experts"):
        width = get("expert_ffn") or found["ffn"]
        found |= {"experts": get("experts"), "experts_per_token": get("experts_per_token"), "expert_ffn": width}
        found |= {"shared_width": get("shared_experts") * width} if get("shared_experts") else {}
        dense = get("dense_layers", 0)
        found |= {"frequency": f"([0]*{dense}+[1]*{get('layers') - dense})"} if dense else {}
    return found | ({"mtp": get("mtp")} if get("mtp") else {})


def _is_usual(layout: StageLayout) -> bool:
    """Return whether Megatron-LM cuts the layers so by itself: as many in each stage, further tokens in the last."""
    return len(set(layout.layers)) == 1 and layout.mtp_stage is None


def read_flags(given: Mapping[str, str]) -> Settings:
    """Return the settings of flags, by their names without dashes, with underscores, or as Bridge has them. Raises
    SpecError naming the flag whose value is wrong.
    """
    found: Settings = {}
    every = {flag.name: flag for flag in (*FLAGS, *READ_ONLY)}
    by_name = every | {flag.name.replace("-", "_"): flag for flag in every.values()}
    by_name |= {flag.bridge: flag for flag in every.values() if flag.bridge}
    for name, text in given.items():
        flag = by_name.get(name)
        if flag is not None:
            found[flag.key] = _value(flag, name, text)
    return _settings(found | _zero_bubble(found))


def _zero_bubble(found: Mapping[str, Any]) -> Settings:
    """Return the family that flags of Sea AI Lab's fork choose, with its chunks and its limit of memory; nothing where
    they choose none. Without a limit the fork finds one by the memory that is left.
    """
    if found.get("v_schedule"):
        setup = found.get("v_memory", "zb")
        if setup not in V_MEMORY:
            why = message("configuration.v_memory", "the memory of a V schedule is one of {setups}", setups=[*V_MEMORY])
            raise SpecError("zero-bubble-v-schedule-mem-setup", setup, why, nearest="zb")
        return {"family": V_MEMORY[setup], "v": 2}
    if not found.get("zero_bubble"):
        return {}
    p, pending = found.get("p", 1), found.get("pending", ADAPTIVE)
    if pending in (p, 2 * p):
        return {"family": "zb-h1" if pending == p else "zb-h2", "v": 1, "pending": pending}
    return {"family": "zb-auto", "v": 1, "pending": pending} | ({} if pending == ADAPTIVE else {"memory": pending})


def _value(flag: Flag, name: str, text: str) -> Any:
    if flag.switch:
        on = text.lower() not in ("false", "0", "no")
        # share_embeddings=false is what --untie-embeddings says; both mean that nothing is tied
        return on if flag.switch == "on" else on and name == flag.bridge
    if flag.key in ("granularity", "method", "modules", "fp8", "v_memory") or (flag.key, text) == ("pending", ADAPTIVE):
        return text
    if flag.key in ("attention_dropout", "hidden_dropout"):
        return re.search(r"[1-9]", text.partition("e")[0]) is not None  # whether anything is dropped
    if flag.key in ("layout", "frequency"):
        return text.strip("\"'")
    return whole(name, text, 0 if flag.key in MAY_BE_ZERO else 1)


def _settings(found: dict[str, Any]) -> Settings:
    """Return the settings that the values of flags mean."""
    plain = ("p", "v", "tp", "context", "expert", "group", "micro_batch", "batch", "spared", "layers", "hidden", "ffn",
             "attention_heads", "kv_heads", "head_width", "query_rank", "kv_rank", "rope_width", "value_width", "gated",
             "experts", "experts_per_token", "expert_ffn", "mtp", "qk_norms", "vocabulary", "sequence",
             "sequence_parallel", "family", "memory", "pending")  # fmt: skip
    settings: Settings = {"sequence_parallel": False} | {key: found[key] for key in plain if key in found}
    if "granularity" in found or found.get("activations"):
        settings["recompute"] = found.get("granularity", "selective")
    settings |= {"zero": 1} if found.get("zero") else {}
    settings |= {"fp8": True} if found.get("fp8") else {}
    rates = [found[key] for key in ("attention_dropout", "hidden_dropout") if key in found]
    settings |= {"dropout": any(rates)} if rates else {}
    settings |= {"gpus": found.get("nodes", 1) * found["per_node"]} if "per_node" in found else {}
    settings |= {"head_width": found["latent_width"]} if "latent_width" in found else {}
    if "shared_width" in found and found.get("expert_ffn"):
        settings["shared_experts"] = found["shared_width"] // found["expert_ffn"]
    dense = FREQUENCY.fullmatch(found.get("frequency", "").replace(" ", ""))
    settings |= {"dense_layers": int(dense[1] or 0) or len(dense[2] or "") // 2} if dense else {}
    p, layers = settings.get("p", 1), settings.get("layers")
    integer("pipeline-model-parallel-size", p, 1, LIMITS["p"])
    integer("num-virtual-stages-per-pipeline-rank", settings.get("v", 1), 1, LIMITS["v"])
    if "layout" in found:
        layout = read_layout(found["layout"])
        stages = len(layout.layers)
        if stages % p:
            why = message("configuration.layout_stages", "the layout has {stages} stages, no multiple of p, {p}",
                          stages=stages, p=p)  # fmt: skip
            raise SpecError("pipeline-model-parallel-layout", found["layout"], why, nearest=p * max(1, stages // p))
        return settings | {"layout": layout, "v": stages // p, "layers": layers or sum(layout.layers)}
    if layers is not None:
        if "chunk_layers" in found and "family" not in found:
            settings["v"] = max(1, layers // (p * found["chunk_layers"]))
        cut = _cut(found, layers, p, settings.get("v", 1))
        settings |= {} if cut is None else {"layout": cut}
    return settings


def _cut(found: Mapping[str, Any], layers: int, p: int, v: int) -> StageLayout | None:
    """Return the layers of each stage where flags make the first and the last ones others; None where all are alike."""
    stages = p * v
    counted = bool(found.get("with_embedding")), bool(found.get("with_loss"))
    if any(counted):
        each = (layers + sum(counted)) // stages
        counts = [each] * stages
        counts[0] -= counted[0]
        counts[-1] -= counted[1]
    elif "first" in found or "last" in found:
        ends = [found.get(key) for key in ("first", "last")]
        inner = p - sum(end is not None for end in ends)
        each = (layers - sum(end or 0 for end in ends)) // max(1, inner) // v
        counts = [each] * stages
        for end, rank in zip(ends, (0, p - 1), strict=True):
            if end is not None:
                counts[rank::p] = [end // v] * v
    else:
        return None
    if sum(counts) != layers:
        why = message("configuration.uneven_layers", "{layers} layers cannot be cut so into {stages} stages",
                      layers=layers, stages=stages)  # fmt: skip
        raise SpecError("num-layers", layers, why, nearest=sum(counts))
    return StageLayout(tuple(counts), (0,) * stages)
