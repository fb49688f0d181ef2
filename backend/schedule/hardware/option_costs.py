"""Compute the costs of the options on a model and a machine: host-memory copies, output-layer shards, weight
versions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend.schedule.errors import message
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.derivation import Ledger
from backend.schedule.hardware.layer_tensors import tokens_of
from backend.schedule.hardware.layer_time import remade_traffic, score_flop

MS = "ms"


@dataclass(frozen=True)
class OptionCosts:
    """Costs of the options.

    ``copy``: milliseconds to move a device's activations of one micro-batch out or back; ``ratio``: PipeOffload's k
    (both copies over compute); ``product``: milliseconds of one of the output layer's three matrix products on one of
    p shards; ``weights``: a stashed weight version, in units of one micro-batch's activations; ``selective`` and
    ``full``: milliseconds that either recomputation adds to a device's I; ``wire``: those of a hop for which a message
    occupies its stream, its bytes over the bandwidth.
    """

    copy: float
    ratio: float
    product: float
    weights: float
    selective: float
    full: float
    wire: float

    def as_dict(self) -> dict[str, Any]:
        """Return the costs as JSON; ``shards`` has S and T of each way to spread the output layer (vocabulary.py)."""
        one, two = self.product, 2 * self.product
        late, early = {"S": one, "T": two}, {"S": two, "T": one}  # the input gradient's product with T, or with S
        shards = {"redistribute": late, "parallel-1": late, "parallel-2": early, "interlaced": late}
        return {"O": self.copy, "k": self.ratio, "shards": shards, "weights": self.weights,
                "R": {"selective": self.selective, "full": self.full}, "wire": self.wire}  # fmt: skip


def option_costs(setting: Setting, ledger: Ledger) -> OptionCosts:
    """Compute the costs of the options. PipeOffload's k (arXiv 2503.01328) is 10/(3(6h+s)) B_c/B_o with 20sbh bytes per
    layer each way; here all tensors of the layer go, as much as is freed: 34/20 of that for the papers' layer.
    """
    ledger.add(message("hardware.copy_of_a_layer", "one copy of a layer's activations"), "1000*A1/D", MS, "x1")
    copy = ledger.add(message("hardware.copy_of_a_device", "one copy of a device's activations"), "L/p*x1", MS)
    ratio = ledger.add(
        message("hardware.copies_to_compute", "copies to compute, PipeOffload's k"), "2*x1/(f1 + i1 + w1)", ""
    )
    shard = f"1000*2*{tokens_of(setting)}*h*V/(r*p)"
    if setting.efficiency is None:
        shard = f"1000*2*({tokens_of(setting)} + o)*(h + o)*(V/(t*p) + o)/(mu*P)"
    product = ledger.add(
        message("hardware.product_of_a_shard", "one product of the output layer on one of p shards"), shard, MS
    )
    weights = ledger.add(
        message("hardware.weight_version_ratio", "a weight version to a micro-batch's activations"),
        f"{setting.weight_bytes:g}*Q/({'t' if setting.expert == 1 else 'G'}*A1)",
        "",
    )
    kind = setting.model.kinds[0]
    if setting.efficiency is None:
        moved = f"1000*L*({remade_traffic(setting, kind)})/(p*B)"
        formula = moved if setting.model.flash else f"L/p*k1 + {moved}"
    else:
        formula = "0" if setting.model.flash else f"L/p*1000*{score_flop(setting)}/r"
    name = message("hardware.selective_time", "selective recomputation on a device")
    selective = ledger.add(name, formula, MS)
    full = ledger.add(message("hardware.full_time", "full recomputation on a device"), "L/p*f1", MS)
    wire = ledger.add(message("hardware.time_on_the_wire", "of a hop, time on the wire"), "1000*M/X", MS)
    return OptionCosts(copy, ratio, product, weights, selective, full, wire)
