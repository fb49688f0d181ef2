"""Estimate the costs of a model on a machine: the time of every stage, hop latency, and what follows from them.

Per layer and micro-batch F is 2sbN + 4s^2bh FLOP, I 2sbN + 8s^2bh, W 2sbN, with N the parameters that a token passes
through; for the papers' layer (N = 12h^2) that is sbh(24h+4s), sbh(24h+8s) and 24sbh^2. A causal core of flash
attention has half of the s^2. Times follow from the shapes of the products and what moves beside them (layer_time.py),
or, where an efficiency is given, from the FLOP at that share of the peak rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import Message, message
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.derivation import Ledger
from backend.schedule.hardware.footprint import Footprint, footprint, memory_note, stage_sizes
from backend.schedule.hardware.layer_tensors import parameters, tokens_of
from backend.schedule.hardware.layer_time import collectives, context_exchange, products, score_flop, traffic
from backend.schedule.hardware.machines import LINK_SHARE, MEMORY_SHARE, TILE
from backend.schedule.hardware.models import Kind, Model
from backend.schedule.hardware.option_costs import OptionCosts, option_costs
from backend.schedule.hardware.tail import Tail, step_tail, tail_of_stages
from backend.schedule.simulation.costs import Cost, Costs

Floats = npt.NDArray[np.float64]
UNIT = "ms"
PAPERS = message("hardware.counted_as_in_papers", "the papers' layer: sbh(24h+4s), sbh(24h+8s), 24sbh^2 FLOP")
COUNTED = message(
    "hardware.counted_by_parameters",
    "2 FLOP per token and activated parameter in each of F, I and W, and the attention core's 4s^2bh, 8s^2bh, 0",
)
CAUSAL = message("hardware.counted_causal", "{counted}; half of the scores, which are causal", counted=COUNTED)


@dataclass(frozen=True)
class Estimate:
    """Costs in milliseconds, ``w_share``, memory in bytes, costs of the options, and the derivation of all of them.

    ``tail`` are the milliseconds of a step behind its last backward: the optimizer, and what replicas exchange;
    ``tails`` those of each stage where a pipeline has one copy of them, and where it has two.
    """

    setting: Setting
    costs: Costs
    footprint: Footprint
    options: OptionCosts
    tail: float
    tails: tuple[Tail, Tail]
    ledger: Ledger

    @cached_property
    def pieces(self) -> Pieces:
        return _pieces(self.setting, self.ledger)

    @property
    def flop(self) -> dict[str, float]:
        """Return the model's FLOP of a micro-batch, without recomputation: of all layers with all scores of the
        attention, of the scores above the diagonal (part of them), and of the output layer.
        """
        whole = {key: self.ledger.names[f"{key}_flop"] for key in ("layers", "masked", "output")}
        if not self.setting.frozen:
            return whole
        return {key: size * _trained(self.setting, self.ledger, key) for key, size in whole.items()}

    def with_layers(self, layers: tuple[int, ...]) -> Footprint:
        """Return the sizes of the stages of another split."""
        return replace(self.footprint, stages=stage_sizes(self.setting, self.ledger, layers))

    @property
    def vocabulary_ratio(self) -> float:
        """Return the ratio of the output layer to a transformer layer, in parameters."""
        return self.ledger.names["ratio"]

    def as_dict(self) -> dict[str, Any]:
        """Return the response of /api/costs and of the command line."""
        return {
            "model": self.setting.model.name,
            "machine": self.setting.machine.name,
            "costs": self.costs.to_json(),
            "w_share": self.footprint.w_share,
            "options": self.options.as_dict(),
            "unit": UNIT,
            "layers": list(self.setting.layers),
            "bytes": self.footprint.as_dict(),
            "memory": list(self.footprint.memory),
            "flop": self.flop,
            "memory_note": memory_note(self.setting),
            "tail": self.tail,
            "tails": [each.as_dict() for each in self.tails],
            "fits": self.footprint.fits,
            "vocabulary_ratio": self.vocabulary_ratio,
            "counted": _counted(self.setting.model),
            "arithmetic": [figure.as_dict() for figure in self.ledger.figures],
            "names": self.ledger.names,
            "setting": self.setting.as_dict(),
        }


def _trained(setting: Setting, ledger: Ledger, what: str) -> float:
    """Return the part of the FLOP that frozen stages leave, of the layers, of masked scores or of the output layer."""
    last = setting.stages - 1
    if what == "output":
        return 2 / 3 if last in setting.frozen else 1.0
    done = whole = 0.0
    for stage, counts in enumerate(setting.kinds_of(setting.layers)):
        for n, kind in zip(counts, setting.model.kinds, strict=True):
            f, i, w = (ledger.names[f"{letter}1{kind.suffix}"] for letter in "FIW")
            if what == "masked":  # scores have no weights
                f, i, w = 1.0, 2.0, 0.0
            whole += n * (f + i + w)
            done += n * (f + (stage not in setting.untrained) * i + (stage not in setting.frozen) * w)
    return done / whole


def _counted(model: Model) -> Message:
    if model.as_in_papers and not model.half_scores:
        return PAPERS
    return CAUSAL if model.half_scores else COUNTED


@dataclass(frozen=True)
class Pieces:
    """Milliseconds by F, I, W: of a layer of each kind, of what the first and the last stage have beside layers, and of
    the modules for further tokens where they are in another stage than the last.
    """

    kinds: tuple[tuple[float, float, float], ...]
    first: tuple[float, float, float]
    last: tuple[float, float, float]
    further: tuple[float, float, float]
    setting: Setting

    @property
    def layer(self) -> float:
        """Return the milliseconds of the heaviest layer in all."""
        return max(map(sum, self.kinds))

    def stages(self, layers: Sequence[int]) -> Floats:
        """Return (3, stages): F, I and W of each stage in ms, added in the order of the formulas."""
        times = np.array(self.kinds).T @ np.array(self.setting.kinds_of(layers), np.float64).T
        times[:, 0] += self.first
        times[:, -1] += self.last
        times[:, self.setting.mtp_stage] += self.further
        return times


@lru_cache(maxsize=64)  # hundreds of plans of one search have few settings
def estimate(setting: Setting) -> Estimate:
    """Estimate all costs of a setting. The result is shared: it must not be changed."""
    machine = setting.machine
    ledger = Ledger(
        setting.model.names
        | {"p": setting.p, "v": setting.v, "t": setting.tp, "u": setting.sequence_shards, "n": setting.data,
           "P": setting.peak,
           "H": machine.hbm_bandwidth, "D": machine.host_bandwidth,
           "X": machine.intra_bandwidth if setting.inside else machine.node_bandwidth,
           "y": machine.intra_latency if setting.inside else machine.inter_latency}
    )  # fmt: skip
    if setting.context > 1:
        ledger.define({"C": setting.context, "S": setting.model.sequence / setting.context})
    if setting.model.experts is not None:
        ledger.define({"G": setting.expert})
    kinds = setting.model.kinds
    _parameters(setting, ledger)
    for kind in kinds:
        _flop(setting, ledger, kind)
    _model_flop(setting, ledger)
    if setting.efficiency is None:
        _times_by_shape(setting, ledger)
    else:
        _times_by_efficiency(setting, ledger)
    f, i, w = (_cost(setting, ledger, kind) for kind in "FIW")
    ledger.add(
        message("hardware.bytes_of_a_message", "bytes of a message"), f"2*{tokens_of(setting)}*h/u", "bytes", "M"
    )
    comm = ledger.add(message("hardware.time_of_a_hop", "time of a hop"), "1000*(M/X + y)", UNIT, "c")
    kept = footprint(setting, ledger)
    tails = tail_of_stages(setting, ledger, 1), tail_of_stages(setting, ledger, 2)
    tail = step_tail(setting, ledger, tails[0])
    return Estimate(setting, Costs(f, i, w, comm), kept, option_costs(setting, ledger), tail, tails, ledger)


def _parameters(setting: Setting, ledger: Ledger) -> None:
    for kind in setting.model.kinds:
        end = kind.suffix
        common, routed = parameters(setting.model, kind)
        ledger.add(kind.named(message("hardware.common_parameters", "parameters that every token passes through")),
                   common, "parameters", f"Nc{end}" if kind.experts else f"N{end}")  # fmt: skip
        if kind.experts:
            matrices = 3 if setting.model.gated else 2
            ledger.add(message("hardware.expert_parameters", "parameters of all routed experts of a layer"),
                       routed, "parameters", "Ne")  # fmt: skip
            ledger.add(message("hardware.activated_parameters", "parameters of a layer that a token passes through"),
                       f"Nc + {matrices}*h*de*E", "parameters", "N")  # fmt: skip
    ledger.add(
        message("hardware.parameters_of_output_layer", "parameters of the output layer"), "h*V", "parameters", "O"
    )
    ledger.add(message("hardware.output_layer_ratio", "output layer to transformer layer"), "O/N", "", "ratio")


def _flop(setting: Setting, ledger: Ledger, kind: Kind) -> None:
    """Add the FLOP of a layer's F, I and W, with the scores that are computed."""
    end, scores = kind.suffix, score_flop(setting)
    tokens = "2*s*b*N" + end
    for letter, formula in (("F", f"{tokens} + {scores}"), ("I", f"{tokens} + 2*{scores}"), ("W", tokens)):
        name = kind.named(message("hardware.flop_of_a_layer", "{kind} of a layer", kind=letter))
        ledger.add(name, formula, "FLOP", f"{letter}1{end}")


def _model_flop(setting: Setting, ledger: Ledger) -> None:
    """Add the model's FLOP of a micro-batch as the utilization is defined by (PaLM, arXiv 2204.02311, appendix B)."""
    computed = " + ".join(
        f"{kind.count}*(F1{kind.suffix} + I1{kind.suffix} + W1{kind.suffix})" for kind in setting.model.kinds
    )
    mtp = setting.model.mtp
    if mtp:
        computed += f" + {mtp}*(F1 + I1 + W1 + 12*s*b*h*h)"
    layers = f"(L + {mtp})" if mtp else "L"
    masked = f"3*{layers}*{score_flop(setting)}" if setting.model.half_scores else "0"
    ledger.add(message("hardware.masked_flop", "FLOP of the scores above the diagonal"), masked, "FLOP", "masked_flop")
    name = message("hardware.model_flop", "model FLOP of a micro-batch, all layers and all scores")
    ledger.add(name, f"{computed} + masked_flop", "FLOP", "layers_flop")
    output = f"{1 + mtp}*6*s*b*h*V" if mtp else "6*s*b*h*V"
    ledger.add(message("hardware.output_flop", "FLOP of the output layer"), output, "FLOP", "output_flop")


def _times_by_efficiency(setting: Setting, ledger: Ledger) -> None:
    """Add the milliseconds of one layer, the embedding and the output layer from their FLOP at a share of the peak."""
    ledger.define({"e": setting.efficiency, "calibration": setting.calibration})  # type: ignore[dict-item]  # not None
    ranks = "t" if setting.context == 1 else "t*C"
    scaled = "" if setting.calibration == 1.0 else "/calibration"
    ledger.add(message("hardware.rate_of_a_stage", "rate of a stage's devices"), f"e*P*{ranks}{scaled}", "FLOP/s", "r")
    for kind in setting.model.kinds:
        for letter in "FIW":
            _time_of_layer(ledger, kind, letter, f"1000*{letter}1{kind.suffix}/r")
    if setting.heads:
        embedding = {"F": "1000*s*b*h/r", "I": "", "W": "1000*2*s*b*h/r"}
        _ends(setting, ledger, embedding, dict.fromkeys("FIW", "1000*2*s*b*h*V/r"), "1000*4*s*b*h*h/r")


def _times_by_shape(setting: Setting, ledger: Ledger) -> None:
    """Add the milliseconds of one layer, the embedding and the output layer from their products and traffic."""
    machine, tokens = setting.machine, tokens_of(setting)
    ledger.define({
        "o": TILE, "mu": machine.product_share / setting.calibration,
        "eta": machine.core_share / setting.calibration,
        "B": MEMORY_SHARE * machine.hbm_bandwidth / setting.calibration,
        "Xt": LINK_SHARE * machine.intra_bandwidth, "yt": machine.intra_latency,
        "Xc": LINK_SHARE * setting.bandwidth(setting.ranks), "Xe": LINK_SHARE * setting.bandwidth(setting.expert),
        "ye": machine.intra_latency if setting.in_node(setting.expert) else machine.inter_latency,
    })  # fmt: skip
    for kind in setting.model.kinds:
        _layer_by_shape(setting, ledger, kind)
    if not setting.heads:
        return
    name = message("hardware.output_product", "output layer's product")
    ledger.add(name, f"1000*2*({tokens} + o)*(h + o)*(V/t + o)/(mu*P)", UNIT, "mo")
    # The loss reads the logits, converts them to float32, and reads them for the maximum, the sum and the gradient.
    output = {"F": f"mo + 1000*18*{tokens}*V/(t*B)", "I": f"mo + 1000*6*{tokens}*V/(t*B)", "W": "mo"}
    embedding = {"F": f"1000*4*{tokens}*h/(u*B)", "I": "", "W": f"1000*8*{tokens}*h/(u*B)"}
    _ends(setting, ledger, embedding, output, f"1000*2*({tokens} + o)*(2*h + o)*(h/t + o)/(mu*P)")


def _layer_by_shape(setting: Setting, ledger: Ledger, kind: Kind) -> None:
    end = kind.suffix
    made = []
    for at, product in enumerate(products(setting, kind)):
        name = kind.named(message("hardware.time_of_product", "product: {name}", name=product.name))
        made.append(f"p{at}{end}")
        ledger.add(name, f"1000*{product.flop}/(mu*P)", UNIT, made[-1])
    name = kind.named(message("hardware.time_of_products", "products of a layer's forward"))
    ledger.add(name, " + ".join(made), UNIT, f"m{end or 1}")
    ranks = "t" if setting.context == 1 else "t*C"
    if not kind.suffix:  # the same attention in every kind
        core = f"1000*{score_flop(setting)}/({ranks}*eta*P16)"
        ledger.define({"P16": setting.machine.flops})
        ledger.add(message("hardware.time_of_core", "core of the attention, forward"), core, UNIT, "k1")
        if setting.context > 1:
            name = message("hardware.time_of_exchange", "keys and values of the other ranks")
            ledger.add(name, context_exchange(setting), UNIT, "kx")
    forward, backward = traffic(setting, kind)
    name = kind.named(message("hardware.time_of_traffic", "norms, activation function and the like, forward"))
    ledger.add(name, f"1000*({forward})/B", UNIT, f"ef{end}")
    name = kind.named(message("hardware.time_of_backward_traffic", "the same, backward"))
    ledger.add(name, f"1000*({backward})/B", UNIT, f"ei{end}")
    sent = ""
    for at, (name, formula) in enumerate(collectives(setting, kind)):
        ledger.add(kind.named(name), formula, UNIT, f"l{at}{end}")
        sent += f" + l{at}{end}"
    again = "2.5*k1" if setting.model.flash else "2*k1"
    exposed = (" + max(0, kx - k1)", f" + max(0, 2*kx - {again})") if setting.context > 1 else ("", "")
    _time_of_layer(ledger, kind, "F", f"m{end or 1} + k1 + ef{end}{sent}{exposed[0]}")
    _time_of_layer(ledger, kind, "I", f"m{end or 1} + {again} + ei{end}{sent}{exposed[1]}")
    _time_of_layer(ledger, kind, "W", f"m{end or 1}")


def _time_of_layer(ledger: Ledger, kind: Kind, letter: str, formula: str) -> None:
    name = kind.named(message("hardware.time_of_a_layer", "{kind} of a layer, time", kind=letter))
    ledger.add(name, formula, UNIT, f"{letter.lower()}1{kind.suffix}")


def _ends(
    setting: Setting, ledger: Ledger, embedding: Mapping[str, str], output: Mapping[str, str], projection: str
) -> None:
    """Add the times of the embedding and of what the last stage has: the output layer and the modules that predict
    further tokens.
    """
    mtp = setting.model.mtp
    for letter in "FIW":
        low = letter.lower()
        if embedding[letter]:
            name = message("hardware.time_of_embedding", "{kind} of the embedding, time", kind=letter)
            ledger.add(name, embedding[letter], UNIT, f"{low}e")
        name = message("hardware.time_of_output_layer", "{kind} of the output layer, time", kind=letter)
        ledger.add(name, output[letter], UNIT, f"{low}o")
        if mtp:
            name = message("hardware.time_of_mtp", "{kind} of the multi-token prediction, time", kind=letter)
            apart = setting.mtp_stage < setting.stages - 1
            whole = f"{low}1 + {projection}" if apart else f"{low}1 + {low}o + {projection}"
            ledger.add(name, f"{mtp}*({whole})", UNIT, f"{low}x")
        if mtp and apart:
            name = message("hardware.time_of_mtp_output", "{kind} of its output layer, time", kind=letter)
            ledger.add(name, f"{mtp}*{low}o", UNIT, f"{low}xo")


def _pieces(setting: Setting, ledger: Ledger) -> Pieces:
    def times(*suffixes: str) -> tuple[float, float, float]:
        f, i, w = (sum(ledger.names.get(f"{letter}{end}", 0.0) for end in suffixes) for letter in "fiw")
        return f, i, w

    kinds = tuple(times(f"1{kind.suffix}") for kind in setting.model.kinds)
    if "fxo" in ledger.names:
        return Pieces(kinds, times("e"), times("o", "xo"), times("x"), setting)
    return Pieces(kinds, times("e"), times("o", "x"), (0.0, 0.0, 0.0), setting)


def _cost(setting: Setting, ledger: Ledger, letter: str) -> Cost:
    """Return one number for a device's share if all stages are alike, else one number per stage, in ms."""
    low, layers, last = letter.lower(), setting.layers, setting.stages - 1
    suffixes = [kind.suffix for kind in setting.model.kinds]
    if not setting.heads and len(set(layers)) == 1 and len(suffixes) == 1:
        return ledger.add(
            message("hardware.time_of_a_device", "{kind} of a device", kind=letter), f"L/p*{low}1", UNIT, low
        )
    stages = [
        (
            counts,
            stage == 0 and setting.heads,
            stage == last and setting.heads,
            stage == setting.mtp_stage and setting.heads,
        )
        for stage, counts in enumerate(setting.kinds_of(layers))
    ]
    times: list[float] = []
    for (counts, first, final, further), run in groupby(stages):
        count = len(list(run))
        parts = [f"{n}*{low}1{end}" if n > 1 else f"{low}1{end}" for n, end in zip(counts, suffixes, strict=True) if n]
        ends = ((first, f"{low}e"), (final, f"{low}o"), (final, f"{low}xo"), (further, f"{low}x"))
        parts += [name for there, name in ends if there and name in ledger.names]
        at, end = len(times), len(times) + count - 1
        name = message("hardware.time_of_stage", "{kind} of stage {stage}", kind=letter, stage=at)
        if count > 1:
            name = message(
                "hardware.time_of_stages", "{kind} of stages {first} to {last}", kind=letter, first=at, last=end
            )
        times += [ledger.add(name, " + ".join(parts) or "0", UNIT)] * count
    return tuple(times)
