"""Compute the memory of a model on a machine: weights, gradients, optimizer state, activations.

Activations of a layer are sb(34h + 5as) bytes, or sb(34h) with flash attention; after I, W still needs 32sbh of them.
Tensor parallelism divides the 24h, the 5as and 24 of the 32. Mixed-precision Adam takes 2 bytes per parameter for the
weights, 2 for gradients, and 12 for the optimizer (master weights and two moments in fp32). ZeRO (Rajbhandari et al.
2020, arXiv 1910.02054) divides them by the number of data-parallel replicas: 1 the optimizer, 2 also the gradients, 3
also the weights; gathered weights and buffers are not counted. Neither are logits, workspaces and a bidirectional
schedule's second replica.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend.schedule.errors import Message, message
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.derivation import Ledger

PER_PARAMETER = {"weights": 2, "gradients": 2, "optimizer": 12}
SHARDED_FROM = {"weights": 3, "gradients": 2, "optimizer": 1}  # the stage of ZeRO from which each is sharded


@dataclass(frozen=True)
class Footprint:
    """Memory in bytes. Lists have one entry per device: ``activations`` and ``kept`` (for W) of one micro-batch,
    ``parameters`` (their number), and ``memory``, the total with ``in_flight`` micro-batches.

    ``stages`` has the activations and the parameters of each stage; ``table`` is the parameters of the output layer on
    the devices that share a stage; ``per_parameter`` has the bytes of each state that a device keeps, and
    ``kept_by_recompute`` the part of the activations that each kind of recomputation holds until the backward.
    """

    message: float
    layer: dict[str, float]
    flash: bool
    activations: tuple[float, ...]
    kept: tuple[float, ...]
    parameters: tuple[float, ...]
    memory: tuple[float, ...]
    stages: dict[str, list[float]]
    table: float
    per_parameter: dict[str, float]
    kept_by_recompute: dict[str, float]
    limit: float
    in_flight: float
    w_share: float

    @property
    def fits(self) -> bool:
        """Return whether every device has enough memory."""
        return max(self.memory) <= self.limit

    def as_dict(self) -> dict[str, Any]:
        """Return the footprint as JSON."""
        parts = {part: [each * size for size in self.parameters] for part, each in self.per_parameter.items()}
        return {
            "message": self.message,
            "layer": self.layer,
            "flash": self.flash,
            "activations": list(self.activations),
            "kept_for_w": list(self.kept),
            "parameters": list(self.parameters),
            **parts,
            "per_parameter": self.per_parameter,
            "stages": self.stages,
            "kept_by_recompute": self.kept_by_recompute,
            "table": self.table,
            "memory": list(self.memory),
            "most": max(self.memory),
            "limit": self.limit,
            "in_flight": self.in_flight,
        }


def is_sharded(setting: Setting, part: str) -> bool:
    """Return whether the replicas share a state: weights, gradients or optimizer."""
    return setting.data > 1 and setting.zero >= SHARDED_FROM[part]


def per_parameter(setting: Setting) -> dict[str, float]:
    """Return the bytes that a device keeps of each state, per parameter of its stages."""
    return {part: each / (setting.data if is_sharded(setting, part) else 1) for part, each in PER_PARAMETER.items()}


def bytes_formula(setting: Setting) -> str:
    """Return the bytes per parameter as a formula, such as ``2 + 2 + 12/n``."""
    return " + ".join(f"{each}/n" if is_sharded(setting, part) else str(each) for part, each in PER_PARAMETER.items())


def memory_note(setting: Setting) -> Message | str:
    """Return what data parallelism leaves out of the estimate, "" without it."""
    if setting.data == 1:
        return ""
    if setting.zero == 0:
        return message(
            "hardware.replicas_not_counted",
            "{data} replicas, nothing sharded. The all-reduce of the gradients at the end of a step takes no time "
            "here.",
            data=setting.data,
        )
    return message(
        "hardware.zero_not_counted",
        "ZeRO {zero} (Rajbhandari et al. 2020, arXiv 1910.02054) over {data} replicas. Gathered weights and buffers "
        "are not counted, and its traffic takes no time here: with a pipeline, ZeRO 2 reduces gradients and ZeRO 3 "
        "gathers weights for every micro-batch.",
        zero=setting.zero,
        data=setting.data,
    )


def footprint(setting: Setting, ledger: Ledger) -> Footprint:
    """Compute all sizes in bytes; the ledger already contains the message and the parameters of a layer."""
    model = setting.model
    flash = ledger.add(
        message("hardware.activations_with_flash", "activations of a layer with flash attention"),
        "s*b*h*(10 + 24/t)",
        "bytes",
        "Af",
    )
    plain = ledger.add(
        message("hardware.activations_without_flash", "activations of a layer without"),
        "Af + 5*a*s*s*b/t",
        "bytes",
        "Ap",
    )
    kept = ledger.add(
        message("hardware.activations_needed_by_w", "of those, needed by W"), "s*b*h*(8 + 24/t)", "bytes", "K"
    )
    used = "Af" if model.flash else "Ap"
    share = ledger.add(
        message("hardware.share_needed_by_w", "share of the activations that W needs"), f"K/{used}", "", "w_share"
    )
    if model.stored is not None:
        ledger.names["Y"] = model.stored
    ledger.add(
        message("hardware.stored_parameters", "parameters that a layer keeps"),
        "N" if model.stored is None else "Y",
        "parameters",
        "Q",
    )
    ledger.add(
        message("hardware.parameters_of_model", "parameters of the model"),
        "L*Q + O" if model.tied else "L*Q + 2*O",
        "parameters",
    )
    ledger.add(message("hardware.weights_read_once", "a device's weights read once"), "1000*2*N*L/(p*t*H)", "ms")
    rows = _devices(setting, ledger, used)
    return Footprint(
        message=ledger.names["M"],
        layer={"plain": plain, "flash": flash, "kept_for_w": kept},
        flash=model.flash,
        activations=tuple(row[0] for row in rows),
        kept=tuple(row[0] * share for row in rows),
        parameters=tuple(row[1] for row in rows),
        memory=tuple(row[2] for row in rows),
        stages=stage_sizes(setting, ledger, setting.layers),
        table=ledger.names["O"] / setting.tp,
        per_parameter=per_parameter(setting),
        kept_by_recompute=_kept(setting, ledger, used),
        limit=setting.machine.memory,
        in_flight=setting.in_flight,
        w_share=share,
    )


def _devices(setting: Setting, ledger: Ledger, used: str) -> list[tuple[float, float, float]]:
    """Return activations, parameters and memory of each device; equal devices are computed once."""
    done: dict[tuple[int, int], tuple[float, float, float]] = {}
    rows = []
    for rank in range(setting.p):
        stages = setting.stages_of(rank)
        layers = sum(setting.layers[stage] for stage in stages)
        tables = setting.heads * ((0 in stages) + (setting.stages - 1 in stages))  # embedding and output layer
        if (layers, tables) not in done:
            extra = ("", " + O", " + 2*O")[tables]
            name = message("hardware.activations_on_device", "activations of a micro-batch on device {rank}", rank=rank)
            held = ledger.add(name, f"{layers}*{used}", "bytes", f"A{rank}")
            name = message("hardware.parameters_of_device", "parameters of device {rank}", rank=rank)
            size = ledger.add(name, f"({layers}*Q{extra})/t", "parameters", f"Q{rank}")
            name = message("hardware.memory_of_device", "memory of device {rank}", rank=rank)
            total = ledger.add(name, f"({bytes_formula(setting)})*Q{rank} + q*A{rank}", "bytes")
            done[layers, tables] = (held, size, total)
        rows.append(done[layers, tables])
    return rows


def stage_sizes(setting: Setting, ledger: Ledger, split: tuple[int, ...]) -> dict[str, list[float]]:
    """Return bytes of activations of a micro-batch, and parameters, of each stage of a split."""
    used = "Af" if setting.model.flash else "Ap"
    layer, table, own = ledger.names[used], ledger.names["O"], ledger.names["Q"]
    last = setting.stages - 1
    tables = [setting.heads * ((stage == 0) + (stage == last)) for stage in range(setting.stages)]
    return {
        "activations": [layers * layer for layers in split],
        "parameters": [(n * own + k * table) / setting.tp for n, k in zip(split, tables, strict=True)],
    }


def _kept(setting: Setting, ledger: Ledger, used: str) -> dict[str, float]:
    """Return what recomputation keeps of a layer's activations: selective all but the attention core, which flash
    attention does not store anyway; full the layer's input, 2sbh.
    """
    model = setting.model
    layer = ledger.names[used]
    inputs = 2.0 * model.sequence * model.micro_batch * model.hidden
    return {"none": 1.0, "selective": ledger.names["Af"] / layer, "full": inputs / layer}
