"""Read the setting of a cost model, strictly: which model on which machine, cut into how many stages.

Any field of the model or the machine can be given beside their names and then overrides the preset's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.schedule.errors import SpecError, message
from backend.schedule.hardware.machines import MACHINE_FIELDS, Machine, machine_of
from backend.schedule.hardware.models import MODEL_FIELDS, WHOLE, Model, model_of
from backend.schedule.options.effective_costs import spread_layers
from backend.schedule.order.placement import place
from backend.schedule.spec import LIMITS, boolean, choice, entries_of, integer, number, reject_unknown

LINKS = ("auto", "intra", "inter")
PLACEMENTS = ("looped", "v")
DEFAULTS: dict[str, Any] = {
    "model": "llama3-8b", "machine": "h100", "p": 8, "v": 1, "tp": 1, "efficiency": 0.45, "heads": False,
    "layers": None, "link": "auto", "placement": "looped", "in_flight": None, "data": 1, "zero": 0,
}  # fmt: skip
WHOLE_BOUNDS = {"data": (1, 4096), "zero": (0, 3)}
SETTING_BOUNDS: dict[str, tuple[float, float]] = {"efficiency": (1e-3, 1.0), **WHOLE_BOUNDS}
KEYS = (*DEFAULTS, *(field for field in (*MODEL_FIELDS, *MACHINE_FIELDS) if field not in DEFAULTS))


@dataclass(frozen=True)
class Setting:
    """The setting of a cost model.

    ``tp`` devices share each stage; ``efficiency`` is the fraction of the peak rate that is reached; ``heads`` adds
    the embedding to the first stage and the output layer to the last; ``layers`` are those of each stage; ``link`` is
    the link of a hop (auto: the node's own if all p * tp devices fit in one node); ``placement`` determines the
    stages in a device's memory; ``in_flight`` is the number of micro-batches whose activations a device holds at once
    (None: p, the most that 1F1B holds); ``data`` replicas of the pipeline share the batch, and ``zero`` is the stage of
    ZeRO, which shards optimizer state (1), gradients (2) and weights (3) over them.
    """

    model: Model
    machine: Machine
    p: int
    v: int
    tp: int
    efficiency: float
    heads: bool
    layers: tuple[int, ...]
    link: str
    placement: str
    in_flight: float
    data: int = 1
    zero: int = 0

    @staticmethod
    def read(data: Mapping[str, Any]) -> Setting:
        """Read a setting; keys left out take their defaults. Raises SpecError for the key that is wrong."""
        reject_unknown(data, KEYS, message("hardware.the_cost_model", "the cost model"))
        given = DEFAULTS | dict(data)
        p, v = integer("p", given["p"], 1, LIMITS["p"]), integer("v", given["v"], 1, LIMITS["v"])
        shares = given.pop("layers")
        changes = {key: given[key] for key in MODEL_FIELDS if key in given}
        listed = isinstance(shares, list | tuple)
        if listed:
            changes["layers"] = sum(_shares(shares, p * v))
        elif shares is not None:
            changes["layers"] = shares
        model = model_of(given["model"], changes)
        machine = machine_of(given["machine"], {key: given[key] for key in MACHINE_FIELDS if key in given})
        heads = boolean("heads", given["heads"])
        return Setting(
            model, machine, p, v,
            integer("tp", given["tp"], 1, machine.per_node),
            number("efficiency", given["efficiency"], *SETTING_BOUNDS["efficiency"]),
            heads,
            tuple(int(share) for share in shares) if listed else even(model.layers, p, v, heads),
            choice("link", given["link"], LINKS),
            choice("placement", given["placement"], PLACEMENTS),
            float(p) if given["in_flight"] is None else number("in_flight", given["in_flight"], 0.0, 1e6),
            integer("data", given["data"], *WHOLE_BOUNDS["data"]),
            integer("zero", given["zero"], *WHOLE_BOUNDS["zero"]),
        )._validated()  # fmt: skip

    @property
    def stages(self) -> int:
        return self.p * self.v

    @property
    def inside(self) -> bool:
        """Return whether hops stay inside a node."""
        return self.link == "intra" or (self.link == "auto" and self.p * self.tp <= self.machine.per_node)

    def stages_of(self, rank: int) -> list[int]:
        """Return the stages in a device's memory."""
        stages: list[int] = place("v" if self.placement == "v" else "looped", self.p, self.v).stage_of[rank].tolist()
        return stages

    def _validated(self) -> Setting:
        """Return this setting. Raises SpecError if a stage is left without work."""
        for stage, share in enumerate(self.layers):
            if share == 0 and not (self.heads and stage in (0, self.stages - 1)):
                text = message(
                    "hardware.stage_without_layer",
                    "stage {stage} has no layer; only the first and the last may have none, and with heads",
                    stage=stage,
                )
                raise SpecError("layers", list(self.layers[:64]), text, limit=1)
        return self

    def as_dict(self) -> dict[str, Any]:
        """Return every value that was used, as JSON."""
        keys = ("p", "v", "tp", "efficiency", "heads", "placement", "in_flight", "data", "zero")
        return {key: getattr(self, key) for key in keys} | {
            "link": "intra" if self.inside else "inter",
            "layers": list(self.layers),
            "model": self.model.as_dict(),
            "machine": self.machine.as_dict(),
        }


def even(layers: int, p: int, v: int, heads: bool = False) -> tuple[int, ...]:
    """Return layers per stage, as even as possible, the larger shares first. With ``heads`` the first and the last
    stage have one layer less where this makes all others equal, as for the models of arXiv 2405.15362.
    """
    stages = p * v
    if heads and stages > 2 and (layers + 2) % stages == 0:
        each = (layers + 2) // stages
        return (each - 1, *(each,) * (stages - 2), each - 1)
    if p * v > layers:
        text = message(
            "hardware.more_stages_than_layers",
            "{stages} stages are more than the model's {layers} layers",
            stages=p * v,
            layers=layers,
        )
        wrong, nearest = ("v", layers // p) if p <= layers else ("p", layers)
        raise SpecError(wrong, v if wrong == "v" else p, text, limit=nearest, nearest=nearest)
    each, over = divmod(layers, p * v)
    return (each + 1,) * over + (each,) * (p * v - over)


def _shares(shares: Any, stages: int) -> list[int]:
    """Read the layers of each stage, one entry per stage. Raises SpecError for any other value."""
    counts = entries_of(shares, lambda share: integer("layers", share, 0, WHOLE["layers"][1]))
    if len(counts) != stages:
        text = message(
            "hardware.layers_need_an_entry_per_stage",
            "layers as a list has one entry per stage: {stages} here, not {given}",
            stages=stages,
            given=len(counts),
        )
        nearest = list(spread_layers(counts, stages)) if sum(counts) else None
        raise SpecError("layers", len(counts), text, limit=stages, nearest=nearest)
    return list(counts)
