"""Estimate the costs of a model on a machine: every stage's time from counted FLOP and an efficiency, and hop latency.

Per layer and micro-batch F is 2sbN + 4s^2bh FLOP, I 2sbN + 8s^2bh, W 2sbN, with N the parameters that a token passes
through; for the papers' layer (N = 12h^2) that is sbh(24h+4s), sbh(24h+8s) and 24sbh^2. Counts matrix products only:
norms, softmax, optimizer and the all-reduces of tensor parallelism are what the efficiency is below one for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import message
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.derivation import Ledger
from backend.schedule.hardware.footprint import Footprint, footprint, memory_note, stage_sizes
from backend.schedule.hardware.option_costs import OptionCosts, option_costs
from backend.schedule.simulation.costs import Cost, Costs

Floats = npt.NDArray[np.float64]
UNIT = "ms"
PAPERS = message("hardware.counted_as_in_papers", "the papers' layer: sbh(24h+4s), sbh(24h+8s), 24sbh^2 FLOP")
COUNTED = message(
    "hardware.counted_by_parameters",
    "2 FLOP per token and activated parameter in each of F, I and W, and the attention core's 4s^2bh, 8s^2bh, 0",
)
_FLOP = {
    True: ("s*b*h*(24*h + 4*s)", "s*b*h*(24*h + 8*s)", "24*s*b*h*h"),
    False: ("2*s*b*N + 4*s*s*b*h", "2*s*b*N + 8*s*s*b*h", "2*s*b*N"),
}
_EXTRA = {  # FLOP of the embedding (3bsh in all, no input gradient) and of the output layer (6bshV)
    "F": ("s*b*h", "2*s*b*h*V"),
    "I": (None, "2*s*b*h*V"),
    "W": ("2*s*b*h", "2*s*b*h*V"),
}


@dataclass(frozen=True)
class Estimate:
    """Costs in milliseconds, ``w_share``, memory in bytes, costs of the options, and the derivation of all of them."""

    setting: Setting
    costs: Costs
    footprint: Footprint
    options: OptionCosts
    ledger: Ledger

    @cached_property
    def pieces(self) -> Pieces:
        return Pieces.of(self.ledger)

    @property
    def flop(self) -> dict[str, float]:
        """Return the model's FLOP of a micro-batch, without recomputation: of all layers, and of the output layer and
        the embedding.
        """
        return {"layers": self.ledger.names["G"], "output": self.ledger.names["U"]}

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
            "fits": self.footprint.fits,
            "vocabulary_ratio": self.vocabulary_ratio,
            "counted": PAPERS if self.setting.model.as_in_papers else COUNTED,
            "arithmetic": [figure.as_dict() for figure in self.ledger.figures],
            "names": self.ledger.names,
            "setting": self.setting.as_dict(),
        }


@dataclass(frozen=True)
class Pieces:
    """Milliseconds of one layer, the embedding and the output layer, by F, I, W."""

    layer: tuple[float, float, float]
    embedding: tuple[float, float, float]
    output: tuple[float, float, float]

    @staticmethod
    def of(ledger: Ledger) -> Pieces:
        """Read the times from a ledger; without heads the embedding and the output layer take no time."""
        f, e, o = ([ledger.names.get(f"{kind}{part}", 0.0) for kind in "fiw"] for part in ("1", "e", "o"))
        return Pieces((f[0], f[1], f[2]), (e[0], e[1], e[2]), (o[0], o[1], o[2]))

    def stages(self, layers: npt.NDArray[np.int64]) -> Floats:
        """Return (3, stages): F, I and W of each stage in ms, added in the order of the formulas."""
        times = np.outer(self.layer, layers)
        times[:, 0] += self.embedding
        times[:, -1] += self.output
        return times


@lru_cache(maxsize=64)  # hundreds of plans of one search have few settings
def estimate(setting: Setting) -> Estimate:
    """Estimate all costs of a setting. The result is shared: it must not be changed."""
    machine = setting.machine
    ledger = Ledger(
        setting.model.names
        | {"p": setting.p, "v": setting.v, "t": setting.tp, "e": setting.efficiency, "P": machine.flops,
           "q": setting.in_flight, "n": setting.data, "H": machine.hbm_bandwidth, "D": machine.host_bandwidth,
           "X": machine.intra_bandwidth if setting.inside else machine.inter_bandwidth,
           "y": machine.intra_latency if setting.inside else machine.inter_latency}
    )  # fmt: skip
    _parameters(setting, ledger)
    _layer(setting, ledger)
    f, i, w = (_cost(setting, ledger, kind) for kind in "FIW")
    ledger.add(message("hardware.bytes_of_a_message", "bytes of a message"), "2*b*s*h", "bytes", "M")
    comm = ledger.add(message("hardware.time_of_a_hop", "time of a hop"), "1000*(M/X + y)", UNIT, "c")
    kept = footprint(setting, ledger)
    return Estimate(setting, Costs(f, i, w, comm), kept, option_costs(setting, ledger), ledger)


def _parameters(setting: Setting, ledger: Ledger) -> None:
    model = setting.model
    attention = "2*h*h + 2*h*h*k/a" if model.head_width is None else "2*h*a*g + 2*h*k*g"
    formula = "12*h*h" if model.as_in_papers else f"{attention} + {3 if model.gated else 2}*h*d"
    if model.parameters is not None:
        ledger.names["Z"], formula = model.parameters, "Z"
    ledger.add(
        message("hardware.activated_parameters", "parameters of a layer that a token passes through"),
        formula,
        "parameters",
        "N",
    )
    ledger.add(
        message("hardware.parameters_of_output_layer", "parameters of the output layer"), "h*V", "parameters", "O"
    )
    ledger.add(message("hardware.output_layer_ratio", "output layer to transformer layer"), "O/N", "", "ratio")


def _layer(setting: Setting, ledger: Ledger) -> None:
    """Add FLOP and milliseconds of one layer, and with heads those of the embedding and the output layer."""
    formulas = dict(zip("FIW", _FLOP[setting.model.as_in_papers], strict=True))
    for kind, formula in formulas.items():
        if setting.model.head_width is not None:
            formula = formula.replace("s*s*b*h", "s*s*b*a*g")
        ledger.add(message("hardware.flop_of_a_layer", "{kind} of a layer", kind=kind), formula, "FLOP", f"{kind}1")
    ledger.add(message("hardware.rate_of_a_stage", "rate of a stage's devices"), "e*P*t", "FLOP/s", "r")
    for kind in "FIW":
        ledger.add(
            message("hardware.time_of_a_layer", "{kind} of a layer, time", kind=kind),
            f"1000*{kind}1/r",
            UNIT,
            f"{kind.lower()}1",
        )
    ledger.add(
        message("hardware.model_flop", "model FLOP of a micro-batch, all layers"), "L*(F1 + I1 + W1)", "FLOP", "G"
    )
    ledger.add(
        message("hardware.output_flop", "FLOP of the output layer and the embedding"),
        "6*s*b*h*V + 3*s*b*h",
        "FLOP",
        "U",
    )
    if setting.heads:
        for kind, (embedding, output) in _EXTRA.items():
            if embedding:
                ledger.add(
                    message("hardware.time_of_embedding", "{kind} of the embedding, time", kind=kind),
                    f"1000*{embedding}/r",
                    UNIT,
                    f"{kind.lower()}e",
                )
            ledger.add(
                message("hardware.time_of_output_layer", "{kind} of the output layer, time", kind=kind),
                f"1000*{output}/r",
                UNIT,
                f"{kind.lower()}o",
            )


def _cost(setting: Setting, ledger: Ledger, kind: str) -> Cost:
    """Return one number for a device's share if all stages are alike, else one number per stage, in ms."""
    letter, layers, last = kind.lower(), setting.layers, setting.stages - 1
    if not setting.heads and len(set(layers)) == 1:
        return ledger.add(
            message("hardware.time_of_a_device", "{kind} of a device", kind=kind), f"L/p*{letter}1", UNIT, letter
        )
    kinds = [(share, stage == 0, stage == last) for stage, share in enumerate(layers)]
    times: list[float] = []
    for (share, first, final), run in groupby(kinds):
        count = len(list(run))
        formula = f"{share}*{letter}1"
        if setting.heads:
            formula += (f" + {letter}e" if first and _EXTRA[kind][0] else "") + (f" + {letter}o" if final else "")
        at, end = len(times), len(times) + count - 1
        name = message("hardware.time_of_stage", "{kind} of stage {stage}", kind=kind, stage=at)
        if count > 1:
            name = message(
                "hardware.time_of_stages", "{kind} of stages {first} to {last}", kind=kind, first=at, last=end
            )
        times += [ledger.add(name, formula, UNIT)] * count
    return tuple(times)
