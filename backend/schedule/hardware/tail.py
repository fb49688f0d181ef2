"""Compute the time of a step behind the pipeline: the optimizer, and what replicas exchange.

It is proportional to the parameters, so each stage has its part, and a device takes that of the stages in its memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from backend.schedule.errors import message
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.derivation import Ledger
from backend.schedule.hardware.footprint import stage_parameters
from backend.schedule.hardware.machines import LINK_SHARE, MEMORY_SHARE

STEP_BYTES = 30  # read and written per parameter by Adam: gradient, master weights, two moments, weights


@dataclass(frozen=True)
class Tail:
    """Milliseconds behind the pipeline that each stage's parameters take, and those of the embedding and of the output
    layer (``table``), on the devices that share a stage.
    """

    stages: tuple[float, ...]
    table: tuple[float, float]

    def as_dict(self) -> dict[str, list[float]]:
        """Return them as JSON."""
        return {"stages": list(self.stages), "table": list(self.table)}


def tail_of_stages(setting: Setting, ledger: Ledger, copies: int) -> Tail:
    """Return what each stage's parameters take. Of the two ``copies`` in a bidirectional pipeline each device updates
    its own, and the gradient is reduced over both.
    """
    of_common, of_routed = (_of_parameter(setting, replicas, copies) for replicas in _replicas(setting))
    stages = []
    for stage, (_, common, routed) in enumerate(stage_parameters(setting, ledger, setting.layers)):
        took = of_common * common / setting.tp + of_routed * routed / setting.expert_shards
        stages.append(0.0 if stage in setting.frozen else took)
    each = of_common * ledger.names["O"] / setting.tp
    first, last = (0.0 if stage in setting.frozen else each for stage in (0, setting.stages - 1))
    return Tail(tuple(stages), (first, last))


def _replicas(setting: Setting) -> tuple[int, int]:
    """Return how many devices have the same parameters: (those of layers and tables, of routed experts)."""
    replicas = setting.data * setting.context
    return replicas, setting.expert_replicas if replicas > 1 else 1


def _of_parameter(setting: Setting, replicas: int, copies: int) -> float:
    """Return the milliseconds of a parameter of which each copy of the pipeline has ``replicas``."""
    updated = STEP_BYTES / (replicas if setting.zero else 1) / (MEMORY_SHARE * setting.machine.hbm_bandwidth)
    gradient, all_ = setting.gradient_bytes, replicas * copies
    sent = (gradient + setting.weight_bytes if setting.zero else 2 * gradient) * (all_ - 1) / all_
    return 1000 * (updated + sent / (LINK_SHARE * _bandwidth(setting, copies)))


def _bandwidth(setting: Setting, copies: int) -> float:
    """Return the bytes per second at which replicas exchange; the other copy of a stage is some hops away."""
    if copies > 1 and not setting.inside:
        return setting.machine.node_bandwidth
    if copies > 1 and setting.data == 1:
        return setting.machine.intra_bandwidth
    return setting.bandwidth(setting.ranks * setting.data)


def step_tail(setting: Setting, ledger: Ledger, tail: Tail) -> float:
    """Add the milliseconds of the device where they are most, and return them; ``tail`` is that of each stage."""
    common, routed = _slowest(setting, ledger, tail)
    replicas, expert_replicas = _replicas(setting)
    ledger.define({"Pc": common, "Hs": MEMORY_SHARE * setting.machine.hbm_bandwidth})
    parts = [("Pc", "J", replicas)]
    if routed:
        ledger.define({"Pr": routed})
        parts.append(("Pr", "Je", expert_replicas))
    ledger.define({symbol: count for _, symbol, count in parts})
    updated = " + ".join(f"{size}/{symbol}" if setting.zero else size for size, symbol, _ in parts)
    name = message("hardware.optimizer_time", "optimizer step of a device")
    whole = ledger.add(name, f"1000*{STEP_BYTES}*({updated})/Hs", "ms", "zo")
    if replicas > 1:
        ledger.define({"Xd": LINK_SHARE * _bandwidth(setting, 1)})
        gradient, weight = f"{setting.gradient_bytes:g}", f"{setting.weight_bytes:g}"
        each = f"({gradient} + {weight})" if setting.zero else f"2*{gradient}"
        sent = " + ".join(f"{size}*({symbol} - 1)/{symbol}" for size, symbol, _ in parts)
        name = message("hardware.replica_time", "gradients reduced and weights gathered over the replicas")
        whole += ledger.add(name, f"1000*{each}*({sent})/Xd", "ms", "zr")
    return whole


def _slowest(setting: Setting, ledger: Ledger, tail: Tail) -> tuple[float, float]:
    """Return the parameters of the device with the longest tail: (those of layers and tables, of routed experts)."""
    parameters = [each[1:] for each in stage_parameters(setting, ledger, setting.layers)]
    found, ends = [], {0, setting.stages - 1}
    for rank in range(setting.p):
        there = setting.stages_of(rank)
        trained = [stage for stage in there if stage not in setting.frozen]
        one = setting.heads and setting.model.tied and ends <= set(there)  # table, which is counted in both stages
        took = sum(tail.stages[stage] for stage in trained) - one * min(tail.table)
        common, routed = (sum(parameters[stage][part] for stage in trained) for part in (0, 1))
        common -= one * (min(tail.table) > 0.0) * ledger.names["O"]
        found.append((took, common / setting.tp, routed / setting.expert_shards))
    return max(found)[1:]
