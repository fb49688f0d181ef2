"""Compute the memory of a model on a machine: weights, gradients, optimizer state, activations, and a reserve.

Activations are the tensors of layer_tensors.py; the output layer adds its logits in float32. The bytes per parameter
are the setting's: 2 + 4 + 12 by default, weights in bfloat16, gradients accumulated in float32, and Adam's master
weights and two moments in float32, as in Megatron-LM. ZeRO (Rajbhandari et al. 2020, arXiv 1910.02054) shards them over
the data-parallel replicas: 1 the optimizer, 2 also the gradients, 3 also the weights; the parameters of experts are
sharded over the replicas of an expert. Gathered weights are part of the reserve. A bidirectional schedule's second
replica is not counted here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from backend.schedule.errors import Message, message
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.derivation import Ledger
from backend.schedule.hardware.layer_tensors import (
    GRADIENT,
    output_tensors,
    tensors,
    tokens_of,
    total,
    without_weights,
)
from backend.schedule.hardware.models import Kind

STATES = ("weights", "gradients", "optimizer")
FIELDS = {"weights": "weight_bytes", "gradients": "gradient_bytes", "optimizer": "optimizer_bytes"}
SHARDED_FROM = {"weights": 3, "gradients": 2, "optimizer": 1}  # the stage of ZeRO from which each is sharded


@dataclass(frozen=True)
class Footprint:
    """Memory in bytes. Lists have one entry per device: ``activations`` and ``kept`` (for W) of one micro-batch,
    ``parameters`` (their number), and ``memory``, the total with the micro-batches ``in_flight`` there.

    ``stages`` has the activations of a micro-batch, the part of them that is the output layer's (``outputs``), and the
    states of each stage; ``table`` the states of the parameters of the embedding and of the output layer, and
    ``logits`` the activations of the output layer, on the devices that share a stage; where ``tied``, both tables are
    one, which a device with both has once. ``kept_by_recompute`` is the part of the activations that each kind of
    recomputation holds until the backward.
    """

    message: float
    layer: dict[str, float]
    activations: tuple[float, ...]
    kept: tuple[float, ...]
    parameters: tuple[float, ...]
    memory: tuple[float, ...]
    stages: dict[str, list[float]]
    table: dict[str, list[float]]
    logits: float
    per_parameter: dict[str, float]
    kept_by_recompute: dict[str, float]
    reserve: float
    limit: float
    in_flight: tuple[float, ...]
    w_share: float
    tied: bool

    @property
    def fits(self) -> bool:
        """Return whether every device has enough memory."""
        return max(self.memory) <= self.limit

    def as_dict(self) -> dict[str, Any]:
        """Return the footprint as JSON."""
        return {
            "message": self.message,
            "layer": self.layer,
            "activations": list(self.activations),
            "kept_for_w": list(self.kept),
            "parameters": list(self.parameters),
            "per_parameter": self.per_parameter,
            "stages": self.stages,
            "kept_by_recompute": self.kept_by_recompute,
            "table": self.table,
            "logits": self.logits,
            "reserve": self.reserve,
            "memory": list(self.memory),
            "most": max(self.memory),
            "limit": self.limit,
            "in_flight": list(self.in_flight),
        }


def shards(setting: Setting, state: str, experts: bool) -> int:
    """Return over how many replicas a state of a parameter is sharded. Context ranks are replicas of the weights."""
    if setting.zero < SHARDED_FROM[state]:
        return 1
    return setting.expert_replicas if experts else setting.data * setting.context


def bytes_formula(setting: Setting, experts: bool = False) -> str:
    """Return the bytes per parameter as a formula, such as ``2 + 4 + 12/n``."""
    factors = ["n", *(["C"] if setting.context > 1 else []), *(["t/G"] if experts and setting.expert > 1 else [])]
    replicas = factors[0] if len(factors) == 1 else f"({'*'.join(factors)})"
    each = ((f"{getattr(setting, FIELDS[state]):g}", shards(setting, state, experts)) for state in STATES)
    return " + ".join(number if count == 1 else f"{number}/{replicas}" for number, count in each)


def memory_note(setting: Setting) -> Message | str:
    """Return what data parallelism leaves out of the estimate, "" without it."""
    if setting.data == 1:
        return ""
    if setting.zero == 0:
        return message(
            "hardware.replicas_not_counted",
            "{data} replicas, nothing sharded. The all-reduce of the gradients at the end of a step is not overlapped.",
            data=setting.data,
        )
    return message(
        "hardware.zero_not_counted",
        "ZeRO {zero} (Rajbhandari et al. 2020, arXiv 1910.02054) over {data} replicas. Its traffic is counted once a "
        "step and not overlapped: with a pipeline, ZeRO 2 reduces gradients and ZeRO 3 gathers weights for every "
        "micro-batch, beside the compute.",
        zero=setting.zero,
        data=setting.data,
    )


def footprint(setting: Setting, ledger: Ledger) -> Footprint:
    """Compute all sizes in bytes; the ledger already contains the message and the parameters of a layer."""
    model = setting.model
    for kind in model.kinds:
        _tensors(setting, ledger, kind)
        _stored(setting, ledger, kind)
    share = ledger.add(
        message("hardware.share_needed_by_w", "share of the activations that W needs"), "min(1, K/A1)", "", "w_share"
    )
    ledger.add(message("hardware.output_activations", "activations of the output layer"),
               total(output_tensors(setting)), "bytes", "Ao")  # fmt: skip
    layers = " + ".join(f"{kind.count}*Q{kind.suffix}" for kind in model.kinds)
    mtp = f" + {model.mtp}*(Q + 2*h*h)" if model.mtp else ""
    ledger.add(message("hardware.parameters_of_model", "parameters of the model"),
               f"{layers}{mtp} + {'O' if model.tied else '2*O'}", "parameters")  # fmt: skip
    if setting.frozen:
        _frozen(setting, ledger)
    rows = _devices(setting, ledger)
    state = {state: _bytes(setting, state, False) for state in STATES}
    return Footprint(
        message=ledger.names["M"],
        layer={"activations": ledger.names["A1"], "kept_for_w": ledger.names["K"]},
        activations=tuple(row[0] for row in rows),
        kept=tuple(row[0] * share for row in rows),
        parameters=tuple(row[1] for row in rows),
        memory=tuple(row[2] for row in rows),
        stages=stage_sizes(setting, ledger, setting.layers),
        table={name: _tables(setting, ledger, name, each) for name, each in state.items()},
        logits=ledger.names["Ao"],
        per_parameter=state,
        kept_by_recompute=_kept(setting, ledger),
        reserve=setting.reserve,
        limit=setting.machine.memory,
        in_flight=setting.held,
        w_share=share,
        tied=model.tied,
    )


def _tensors(setting: Setting, ledger: Ledger, kind: Kind) -> None:
    """Add the tensors of a layer and their sums: all activations, what W needs, what selective recomputation frees."""
    end, made = kind.suffix, tensors(setting, kind)
    symbols = {}
    for at, tensor in enumerate(made):
        name = message("tensor.until", "kept until {op}: {name}", op="W" if tensor.until == GRADIENT else tensor.until,
                       name=tensor.name)  # fmt: skip
        symbols[tensor] = f"a{at}{end}"
        ledger.add(kind.named(name), tensor.size, "bytes", symbols[tensor])
    kept = [tensor for tensor in made if tensor.until != GRADIENT]
    remade = "elementwise" if setting.model.flash else "core"
    sums = (
        (message("hardware.activations_of_layer", "activations of a layer"), "A1", kept),
        (message("hardware.needed_by_w", "needed by W: inputs of products and gradients of their outputs"), "K",
         [tensor for tensor in made if tensor.until != "I"]),
        (message("hardware.remade_selectively", "made again by selective recomputation"), "As",
         [tensor for tensor in kept if tensor.remade == remade]),
    )  # fmt: skip
    for name, symbol, those in sums:
        ledger.add(kind.named(name), " + ".join(symbols[tensor] for tensor in those), "bytes", f"{symbol}{end}")


def _frozen(setting: Setting, ledger: Ledger) -> None:
    """Add what a layer and the output layer keep where they are not trained: activations for the input gradient, and
    weights.
    """
    name = message("hardware.frozen_activations", "activations of a layer that is not trained")
    for kind in setting.model.kinds:
        kept = without_weights(setting, [tensor for tensor in tensors(setting, kind) if tensor.until != GRADIENT])
        ledger.add(kind.named(name), total(kept), "bytes", f"Af{kind.suffix}")
    output = [tensor for tensor in output_tensors(setting) if tensor.until == "I" or tensor.width == 4]
    ledger.add(message("hardware.frozen_output", "activations of an output layer that is not trained"),
               total(output), "bytes", "Aof")  # fmt: skip


def _stored(setting: Setting, ledger: Ledger, kind: Kind) -> None:
    """Add the parameters of a layer in all, and their states on a device."""
    experts, end = kind.experts, kind.suffix
    ledger.add(kind.named(message("hardware.stored_parameters", "parameters that a layer keeps")),
               "Nc + Ne" if experts else f"N{end}", "parameters", f"Q{end}")  # fmt: skip
    common = "Nc" if experts else f"N{end}"
    formula = f"({bytes_formula(setting)})*{common}/t"
    if experts:
        # With tensor parallelism alone an expert's matrices are split over its ranks.
        formula += f" + ({bytes_formula(setting, True)})*Ne/{'G' if setting.expert > 1 else 't'}"
    name = message("hardware.states_of_layer", "weights, gradients and optimizer of a layer on a device")
    ledger.add(kind.named(name), formula, "bytes", f"T{end}")


def _tables(setting: Setting, ledger: Ledger, state: str, each: float) -> list[float]:
    """Return the bytes of a state of the embedding and of the output layer, which are trained with their stages."""
    size = each * ledger.names["O"] / setting.tp
    ends = (stage in setting.frozen and state != "weights" for stage in (0, setting.stages - 1))
    return [0.0 if frozen else size for frozen in ends]


def _bytes(setting: Setting, state: str, experts: bool) -> float:
    each: float = getattr(setting, FIELDS[state])
    return each / shards(setting, state, experts)


def _devices(setting: Setting, ledger: Ledger) -> list[tuple[float, float, float]]:
    """Return activations, parameters and memory of each device; the first of several equal ones has its formulas."""
    done: dict[tuple[Any, ...], tuple[float, float, int, str]] = {}
    rows, counts, suffixes = [], setting.kinds_of(setting.layers), [kind.suffix for kind in setting.model.kinds]
    mtp = setting.model.mtp
    ledger.define({"reserve": setting.reserve})
    for rank, held in enumerate(setting.held):
        stages = setting.stages_of(rank)
        if setting.frozen:
            rows.append(_with_frozen(setting, ledger, rank))
            continue
        layers = tuple(sum(counts[stage][k] for stage in stages) for k in range(len(suffixes)))
        last = setting.heads and setting.stages - 1 in stages
        key = (layers, setting.heads and 0 in stages, last, setting.mtp_stage in stages)
        outputs = [(1 + mtp, "Ao")] if last else []
        new = key not in done
        if new:
            terms = [(n, end) for n, end in zip(layers, suffixes, strict=True) if n]
            more = [(mtp, "")] if mtp and setting.heads and setting.mtp_stage in stages else []
            name = message("hardware.activations_on_device", "activations of a micro-batch on device {rank}", rank=rank)
            sizes = _sum([(n, f"A1{end}") for n, end in terms + more] + outputs)
            activations = ledger.add(name, sizes, "bytes", f"A_{rank}")
            tables = _table_count(setting, stages)
            beside = [(tables, "O")] * (tables > 0) + [(2 * mtp, "h*h")] * bool(more)
            size = _sum([(n, f"Q{end}") for n, end in terms + more] + beside)
            name = message("hardware.parameters_of_device", "parameters of the stages of device {rank}", rank=rank)
            parameters = ledger.add(name, size, "parameters")
            states = _sum([(n, f"T{end}") for n, end in terms + more])
            if beside:
                states += f" + ({bytes_formula(setting)})*({_sum(beside)})/t"
            done[key] = activations, parameters, rank, states
        activations, parameters, first, states = done[key]
        ledger.define({f"q{rank}": held})
        kept = f"q{rank}*A_{first}"
        if outputs and setting.in_flight is None and held != 1.0:  # their backward follows at once
            kept = f"q{rank}*(A_{first} - {_sum(outputs)}) + {_sum(outputs)}"
        name = message("hardware.memory_of_device", "memory of device {rank}", rank=rank)
        formula = f"{states} + reserve + {kept}"
        rows.append((activations, parameters, ledger.add(name, formula, "bytes") if new else ledger.value(formula)))
    return rows


def _table_count(setting: Setting, stages: Sequence[int]) -> int:
    """Return the number of tables on a device with these stages: embedding and output layer, one if they are tied."""
    if not setting.heads:
        return 0
    ends = (0 in stages) + (setting.stages - 1 in stages)
    return 1 if ends == 2 and setting.model.tied else ends


def _with_frozen(setting: Setting, ledger: Ledger, rank: int) -> tuple[float, float, float]:
    """Return activations, parameters and memory of a device where stages are frozen: sums over its stages."""
    sizes, stages = stage_sizes(setting, ledger, setting.layers), setting.stages_of(rank)
    held = sum(sizes["activations"][stage] for stage in stages if stage not in setting.untrained)
    states = sum(sizes[state][stage] for state in STATES for stage in stages)
    counts, names = setting.kinds_of(setting.layers), ledger.names
    parameters = _table_count(setting, stages) * names["O"]
    for stage in stages:
        for n, kind in zip(counts[stage], setting.model.kinds, strict=True):
            parameters += n * names[f"Q{kind.suffix}"]
    return held, parameters, states + setting.reserve + setting.held[rank] * held


def _sum(terms: Sequence[tuple[int, str]]) -> str:
    """Return the formula of a sum of multiples."""
    return " + ".join(term if n == 1 else f"{n}*{term}" for n, term in terms) or "0"


def stage_sizes(setting: Setting, ledger: Ledger, split: Sequence[int]) -> dict[str, list[float]]:
    """Return bytes of activations of a micro-batch, and of weights, gradients and optimizer, of each stage."""
    names, kinds, last = ledger.names, setting.model.kinds, setting.stages - 1
    sizes: dict[str, list[float]] = {"activations": [], "outputs": [], **{state: [] for state in STATES}}
    each = {state: (_bytes(setting, state, False), _bytes(setting, state, True)) for state in STATES}
    for stage, (layers, common, routed) in enumerate(stage_parameters(setting, ledger, split)):
        # A stage without backwards keeps nothing; as large as others, it leaves its rank's mean chunk as it is.
        f = "f" if stage in setting.frozen and stage not in setting.untrained else ""
        held = sum(n * names[f"A{f or 1}{kind.suffix}"] for n, kind in zip(layers, kinds, strict=True))
        outputs = (1 + setting.model.mtp) * (setting.heads and stage == last)
        sizes["outputs"].append(outputs * names[f"Ao{f}"])
        sizes["activations"].append(held + sizes["outputs"][stage])
        for state in STATES:
            if stage in setting.frozen and state != "weights":
                sizes[state].append(0.0)
                continue
            whole = each[state][0] * common / setting.tp
            sizes[state].append(whole + each[state][1] * routed / setting.expert_shards)
    return sizes


def stage_parameters(
    setting: Setting, ledger: Ledger, split: Sequence[int]
) -> Iterator[tuple[list[int], float, float]]:
    """Yield of each stage its layers of each kind, and its parameters: (common ones, those of routed experts)."""
    names, kinds, last = ledger.names, setting.model.kinds, setting.stages - 1
    for stage, counts in enumerate(setting.kinds_of(split)):
        ends = setting.heads * ((stage == 0) + (stage == last))
        mtp = setting.model.mtp if setting.heads and stage == setting.mtp_stage else 0
        layers = [n + (mtp if k == 0 else 0) for k, n in enumerate(counts)]
        common = ends * names["O"] + mtp * 2 * names["h"] ** 2
        routed = 0.0
        for n, kind in zip(layers, kinds, strict=True):
            common += n * names["Nc" if kind.experts else f"N{kind.suffix}"]
            routed += n * names["Ne"] if kind.experts else 0.0
        yield layers, common, routed


def _kept(setting: Setting, ledger: Ledger) -> dict[str, float]:
    """Return what recomputation keeps of a layer's activations: selective what takes a matrix product to make again,
    full the layer's input.
    """
    names, suffix = ledger.names, setting.model.kinds[0].suffix
    inputs = ledger.value(f"2*{tokens_of(setting)}*h/u")
    layer = names[f"A1{suffix}"]
    return {"none": 1.0, "selective": 1.0 - names.get(f"As{suffix}", 0.0) / layer, "full": inputs / layer}
