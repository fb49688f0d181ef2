"""torchtitan's arguments (torchtitan/config/parallelism.py), with torch's own schedules or an order from a file."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from backend.schedule.errors import SpecError, message
from backend.schedule.interop.configurations.settings import Settings, natural_v, whole
from backend.schedule.interop.megatron_layout import StageLayout

SCHEDULES = {
    "gpipe": "GPipe", "1f1b": "1F1B", "interleaved": "Interleaved1F1B", "interleaved-bfs": "LoopedBFS",
    "interleaved-zb": "InterleavedZeroBubble", "v-zb": "ZBVZeroBubble", "dualpipev": "DualPipeV",
}  # fmt: skip
"""torch's names (get_schedule_class) by family."""

NAMES = {
    "p": "parallelism.pipeline_parallel_degree",
    "family": "parallelism.pipeline_parallel_schedule",
    "csv": "parallelism.pipeline_parallel_schedule_csv",
    "m": "parallelism.num_pp_microbatches",
    "chunk_layers": "parallelism.pipeline_parallel_layers_per_stage",
    "less_first": "parallelism.pipeline_parallel_first_stage_less_layers",
    "less_last": "parallelism.pipeline_parallel_last_stage_less_layers",
    "modules": "parallelism.pipeline_parallel_module_fqns_per_model_part",
    "tp": "parallelism.tensor_parallel_degree",
    "context": "parallelism.context_parallel_degree",
    "expert": "parallelism.expert_parallel_degree",
    "replicated": "parallelism.data_parallel_replicate_degree",
    "sharded": "parallelism.data_parallel_shard_degree",
    "local": "training.local_batch_size",
    "batch": "training.global_batch_size",
    "sequence": "training.seq_len",
    "recompute": "activation_checkpoint.mode",
}
LEAST = {"less_first": 0, "less_last": 0, "sharded": -1}  # -1: all ranks that are left
WEIGHT = 1  # in layers, of the embedding and of the output layer, where nothing says it


def torchtitan_arguments(settings: Settings, csv: str | None = None, placement: str = "looped") -> list[str]:
    """Return torchtitan's arguments; with ``csv`` the order is in that file, and its ``placement`` names the schedule
    whose stages are built.
    """
    get = settings.get
    found = {"p": settings["p"], "m": settings["m"]}
    found["family"] = SCHEDULES.get(settings["family"], "")
    if csv is not None:
        several = {"v": "DualPipeV"}.get(placement, "PipelineScheduleMulti")
        found |= {"family": several if settings["v"] > 1 else "1F1B", "csv": csv}
    layout: StageLayout | None = get("layout")
    if layout is not None:
        found |= _split(layout)
    found |= {key: get(key) for key in ("tp", "context", "expert") if get(key, 1) > 1}
    data = get("data", 1)
    found |= {"sharded": data} if get("zero", 0) else {"replicated": data, "sharded": 1}
    found |= {"local": settings["m"] * get("micro_batch", 1), "batch": settings["batch"]}
    found |= {"sequence": get("sequence")} if get("sequence") else {}
    modes = get("recompute", "none")
    found["recompute"] = modes if isinstance(modes, str) else max(set(modes), key=("none", "selective", "full").index)
    more = ["--training.disable_cuda_graphs"] if csv is not None else []
    return [f"--{name} {_quoted(str(found[key]))}" for key, name in NAMES.items() if key in found] + more


def _quoted(text: str) -> str:
    return f'"{text}"' if "[" in text else text


def _split(layout: StageLayout) -> dict[str, int | str]:
    """Return what cuts the layers so: layers in a stage, less in the first and the last; else the modules of each.

    torchtitan gives embedding and output layer the weight of some layers and deals all over the stages, what is left
    over to the first ones (generate_llm_fqn_per_model_part).
    """
    layers, stages = layout.layers, len(layout.layers)
    for first in range(WEIGHT + max(layers) + 1):
        for last in range(WEIGHT + max(layers) + 1):
            if layers == dealt(sum(layers), stages, first, last):
                return {
                    "chunk_layers": ceil((sum(layers) + first + last) / stages), "less_first": first, "less_last": last
                }  # fmt: skip
    names, at = [], 0
    for stage, count in enumerate(layers):
        part = [f"layers.{layer}" for layer in range(at, at + count)]
        names.append(
            (["tok_embeddings"] if stage == 0 else []) + part + (["norm", "output"] if stage + 1 == stages else [])
        )
        at += count
    return {"modules": str(names).replace("'", '\\"').replace(" ", "")}


def dealt(layers: int, stages: int, first: int, last: int) -> tuple[int, ...] | None:
    """Return the layers of each stage where the embedding counts as ``first`` layers and the output as ``last``; None
    where a stage has fewer than these.
    """
    each, over = divmod(layers + first + last, stages)
    counts = [each + (stage < over) for stage in range(stages)]
    counts[0] -= first
    counts[-1] -= last
    return tuple(counts) if min(counts) >= 0 else None


def read_arguments(given: Mapping[str, str]) -> Settings:
    """Return the settings of torchtitan's arguments, by their names. Raises SpecError naming one that is wrong."""
    texts = {key: given[name] for key, name in NAMES.items() if name in given}
    found: Settings = {
        key: whole(NAMES[key], text, LEAST.get(key, 1))
        for key, text in texts.items()
        if key not in ("family", "csv", "modules", "recompute")
    }
    by_title = {title.lower(): family for family, title in SCHEDULES.items()}
    title = texts.pop("family", "1F1B")
    if texts.get("csv"):
        why = message("configuration.order_in_file", "the order is in the file {file}; open that file too",
                      file=texts["csv"])  # fmt: skip
        raise SpecError(NAMES["csv"], texts["csv"], why)
    if title.lower() not in by_title:
        why = message("configuration.no_such_schedule", "{name} is none of torch's schedules: {names}",
                      name=title, names=list(SCHEDULES.values()))  # fmt: skip
        raise SpecError(NAMES["family"], title, why, nearest="1F1B")
    settings: Settings = {key: found[key] for key in ("p", "m", "tp", "context", "expert", "batch", "chunk_layers")
                          if key in found}  # fmt: skip
    settings |= {"family": by_title[title.lower()], "v": natural_v(by_title[title.lower()])}
    settings |= {"recompute": texts["recompute"]} if texts.get("recompute") in ("selective", "full") else {}
    sharded, replicated = max(1, found.get("sharded", 1)), found.get("replicated", 1)
    settings |= {"data": sharded * replicated, "zero": 3 if sharded > 1 else 0}
    if "local" in found and "m" in found:
        settings["micro_batch"] = max(1, found["local"] // found["m"])
    return settings
