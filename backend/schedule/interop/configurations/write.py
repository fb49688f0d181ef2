"""Write what tells a framework to train so: flags, overrides, arguments or a file, with what they leave out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import ceil
from typing import Any

from backend.schedule.errors import Message, SpecError, message
from backend.schedule.families.registry import family_of
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.interop.configurations.frameworks import FRAMEWORKS, Framework
from backend.schedule.interop.configurations.megatron import FORK, bridge_overrides, fork_flags, megatron_flags
from backend.schedule.interop.configurations.settings import Settings, settings_of
from backend.schedule.interop.configurations.torchtitan import torchtitan_arguments
from backend.schedule.interop.megatron_layout import StageLayout
from backend.schedule.spec import Spec

ORDER_FILE = "order.csv"
SCRIPTS = {
    "megatron": "pretrain_gpt.py",
    "nemo": "scripts/training/run_recipe.py --recipe RECIPE",
    "zero-bubble": "pretrain_gpt.py",
    "torch": "-m torchtitan.train",
    "torch-csv": "-m torchtitan.train",
}
CONFIGURED = (*SCRIPTS, "deepspeed")  # the frameworks that have a configuration here


@dataclass(frozen=True)
class Configuration:
    """A framework's configuration: its text, and what else a reader must do or know."""

    framework: Framework
    text: str
    notes: tuple[Message, ...]


def configuration(name: str, spec: Spec, preset: Preset | None) -> Configuration:
    """Return the configuration of a framework for a schedule, of a model on machines where a preset names them. Raises
    SpecError where the framework does not run it, with the nearest that it runs.
    """
    framework = FRAMEWORKS[name]
    refused = framework.refusal(spec, preset)
    if refused is not None:
        raise refused
    if name not in CONFIGURED or (name == "zero-bubble" and spec.family not in FORK):
        text = message(
            "configuration.none_written",
            "{framework} runs it, but its configuration is not written here; there are those of {names}",
            framework=framework.title,
            names=[FRAMEWORKS[each].title for each in CONFIGURED],
        )
        raise SpecError("format", name, text, nearest=CONFIGURED[0])
    settings = settings_of(spec, preset) | {"memory": int(spec.memory or spec.p)}
    notes = tuple(_notes(name, spec, settings))
    if name == "deepspeed":
        return Configuration(framework, deepspeed_config(settings), notes)
    if name == "nemo":
        lines = bridge_overrides(settings)
    elif name in ("torch", "torch-csv"):
        file = ORDER_FILE if name == "torch-csv" else None
        lines = torchtitan_arguments(settings, file, family_of(spec).placement_of(spec).kind)
    else:
        lines = (fork_flags if name == "zero-bubble" else megatron_flags)(settings)
    return Configuration(
        framework, " \\\n".join([_launch(name, settings), *(f"  {line}" for line in lines)]) + "\n", notes
    )


def _launch(name: str, settings: Settings) -> str:
    """Return the start of the command: torchrun on all nodes."""
    gpus = settings.get("gpus", settings["p"])
    each = min(gpus, settings.get("per_node", 8))
    return f"torchrun --nnodes {ceil(gpus / each)} --nproc-per-node {each} {SCRIPTS[name]}"


def _notes(name: str, spec: Spec, settings: Settings) -> list[Message]:
    notes: list[Message] = []
    if name in ("megatron", "zero-bubble"):
        notes.append(
            message("configuration.rest", "Data, tokenizer, positions, norms and learning rate are yours to add.")
        )
    if name == "zero-bubble" and "layout" in settings and len(set(settings["layout"].layers)) > 1:
        notes.append(message("configuration.no_layout", "The fork has no layout of layers; it cuts them evenly."))
    if name == "zero-bubble" and spec.v > 1 and not FORK[spec.family] and "layers" not in settings:
        notes.append(
            message(
                "configuration.chunks_need_layers",
                "The fork says chunks by their layers: with a model the flags have them, without one they are of 1F1B.",
            )
        )
    if spec.frozen is not None:
        notes.append(message("configuration.frozen", "Which stages are not trained is for your code."))
    if "hidden" not in settings:
        notes.append(
            message("configuration.pipeline_alone", "No model is chosen: these are the pipeline's sizes alone.")
        )
    if name == "nemo":
        notes.append(
            message("configuration.recipe", "RECIPE is the recipe of your model; the overrides change its sizes.")
        )
    if name in ("torch", "torch-csv"):
        notes.append(message("configuration.model_flavor", "Add --module and --config of your model, and its data."))
        notes += _recomputes_by_stage(spec)
    if name == "torch-csv":
        notes.append(message("configuration.order_file", "{file} is the order as torch's CSV.", file=ORDER_FILE))
    layout: StageLayout | None = settings.get("layout")
    if name == "deepspeed" and layout is not None and len(set(layout.layers)) > 1:
        notes.append(
            message("configuration.even_layers", "DeepSpeed cuts the layers evenly: it has no list of layers by stage.")
        )
    if name == "deepspeed" and family_of(spec).backward == "split":
        notes.append(message("configuration.zbh1", "ZB-H1 needs Megatron-DeepSpeed's --enable-zbh1-pipeline."))
    if name == "deepspeed" and settings.get("tp", 1) * settings.get("expert", 1) > 1:
        notes.append(message("configuration.mpu", "Tensor and expert parallel sizes are Megatron-DeepSpeed's flags."))
    if name in ("torch", "torch-csv", "deepspeed") and settings.get("mtp"):
        title = FRAMEWORKS[name].title
        notes.append(message("configuration.no_mtp", "{framework} predicts no further tokens; leave the modules out.",
                             framework=title))  # fmt: skip
    return notes


def _recomputes_by_stage(spec: Spec) -> list[Message]:
    if isinstance(spec.recompute, str):
        return []
    return [
        message("configuration.by_stage", "torchtitan recomputes in every stage; which stages do is for your code.")
    ]


def deepspeed_config(settings: Settings) -> str:
    """Return DeepSpeed's configuration (deepspeed/runtime/config.py), with its own pipeline engine. Sizes of tensor and
    expert parallelism are Megatron-DeepSpeed's flags.
    """
    get = settings.get
    shape: dict[str, Any] = {
        "train_batch_size": settings["batch"],
        "train_micro_batch_size_per_gpu": get("micro_batch", 1),
        "gradient_accumulation_steps": settings["m"],
        "zero_optimization": {"stage": get("zero", 0)},
        "bf16": {"enabled": True},
        "pipeline": {
            "stages": settings["p"],
            "partition": "uniform",
            "activation_checkpoint_interval": int(get("recompute") == "full"),
        },
    }
    return json.dumps(shape, indent=2) + "\n"
