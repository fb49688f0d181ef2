"""Read the setting of a cost model, strictly: which model on which machine, cut into how many stages.

Any field of the model or the machine can be given beside their names and then overrides the preset's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from backend.schedule.errors import SpecError, message
from backend.schedule.hardware.machines import MACHINE_FIELDS, Machine, machine_of
from backend.schedule.hardware.models import MODEL_FIELDS, WHOLE, Model, model_of
from backend.schedule.options.effective_costs import spread_layers
from backend.schedule.options.frozen import untrained
from backend.schedule.order.placement import place
from backend.schedule.spec import (
    LIMITS,
    boolean,
    choice,
    entries_of,
    frozen_stages,
    integer,
    number,
    optional,
    reject_unknown,
    with_length,
)

LINKS = ("auto", "intra", "inter")
PLACEMENTS = ("looped", "v")
DEFAULTS: dict[str, Any] = {
    "model": "llama3-8b", "machine": "h100", "p": 8, "v": 1, "tp": 1, "efficiency": None, "heads": True,
    "layers": None, "link": "auto", "placement": "looped", "in_flight": None, "data": 1, "zero": 0, "context": 1,
    "expert": 1, "sequence_parallel": None, "fp8": False, "weight_bytes": 2.0, "gradient_bytes": 4.0,
    "optimizer_bytes": 12.0, "reserve": 2e9, "calibration": 1.0, "mtp_stage": None, "frozen": None,
}  # fmt: skip
IN_FLIGHT = (0.0, 1e6)
WHOLE_BOUNDS = {"data": (1, 4096), "zero": (0, 3), "context": (1, 4096), "expert": (1, 4096)}
PER_PARAMETER = {"weight_bytes": (0.0, 64.0), "gradient_bytes": (0.0, 64.0), "optimizer_bytes": (0.0, 64.0)}
SETTING_BOUNDS: dict[str, tuple[float, float]] = {
    "mtp_stage": (0, LIMITS["p"] * LIMITS["v"] - 1),
    "efficiency": (1e-3, 1.0), **WHOLE_BOUNDS, **PER_PARAMETER, "reserve": (0.0, 1e15), "calibration": (0.01, 100.0),
}  # fmt: skip
PARALLEL = ("mtp_stage", "context", "expert", "sequence_parallel", "fp8", *PER_PARAMETER, "reserve", "calibration")
KEYS = (*DEFAULTS, *(field for field in (*MODEL_FIELDS, *MACHINE_FIELDS) if field not in DEFAULTS))


@dataclass(frozen=True)
class Setting:
    """The setting of a cost model.

    ``tp`` devices share each stage, with ``sequence_parallel`` also its tensors along the sequence (the default with tp
    > 1); ``context`` groups of them share each sequence, ``expert`` devices the experts of a layer (they are among the
    tp * context * data). ``efficiency`` is the fraction of the peak rate that is reached (None: it follows from the
    shapes of the matrix products); with ``fp8`` the products have 8 bits; and ``calibration`` multiplies all times of
    compute: a measured step over the estimated one.

    ``heads`` adds the embedding to the first stage and the output layer to the last; ``layers`` are those of each
    stage; ``link`` is the link of a hop (auto: the node's own if all devices of a pipeline fit in one node);
    ``placement`` determines the stages in a device's memory; ``in_flight`` are the micro-batches whose activations
    each device holds at once (None: as many as 1F1B, ``held``).

    ``data`` replicas of the pipeline share the batch, and ``zero`` is the stage of ZeRO, which shards optimizer state
    (1), gradients (2) and weights (3) over them. A parameter takes ``weight_bytes``, ``gradient_bytes`` and
    ``optimizer_bytes``; ``reserve`` is the memory in bytes that buffers of communication, the allocator's gaps and the
    device's own context take. The modules for further tokens are in ``mtp_stage``, their output layer in the last one.
    ``frozen`` stages are not trained: they have weights alone, and keep activations for
    their input gradients only.
    """

    model: Model
    machine: Machine
    p: int
    v: int
    tp: int
    efficiency: float | None
    heads: bool
    layers: tuple[int, ...]
    link: str
    placement: str
    in_flight: tuple[float, ...] | None
    data: int
    zero: int
    context: int
    expert: int
    sequence_parallel: bool
    fp8: bool
    weight_bytes: float
    gradient_bytes: float
    optimizer_bytes: float
    reserve: float
    calibration: float
    mtp_stage: int
    frozen: tuple[int, ...] = ()

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
        tp = integer("tp", given["tp"], 1, machine.per_node)
        bounded: dict[str, Any] = {field: number(field, given[field], *SETTING_BOUNDS[field])
                   for field in (*PER_PARAMETER, "reserve", "calibration")}  # fmt: skip
        whole: dict[str, Any] = {field: integer(field, given[field], *bounds) for field, bounds in WHOLE_BOUNDS.items()}
        split = given["sequence_parallel"]
        return Setting(
            model, machine, p, v, tp,
            optional(number, "efficiency", given["efficiency"], *SETTING_BOUNDS["efficiency"]),
            heads,
            tuple(int(share) for share in shares) if listed else even(model.layers, p, v, heads),
            choice("link", given["link"], LINKS),
            choice("placement", given["placement"], PLACEMENTS),
            None if given["in_flight"] is None else _in_flight(given["in_flight"], p),
            sequence_parallel=tp > 1 if split is None else boolean("sequence_parallel", split),
            fp8=boolean("fp8", given["fp8"]),
            mtp_stage=_mtp_stage(given["mtp_stage"], p * v, model, shares if listed else None),
            frozen=frozen_stages(given["frozen"]) or (),
            **whole, **bounded,
        )._validated()  # fmt: skip

    @property
    def stages(self) -> int:
        return self.p * self.v

    @property
    def ranks(self) -> int:
        """Return the devices that share a stage of one replica."""
        return self.tp * self.context

    @property
    def devices(self) -> int:
        return self.p * self.ranks * self.data

    @property
    def expert_shards(self) -> int:
        """Return over how many devices the experts' matrices are split: without devices of their own over the
        tensor-parallel ranks, as all others.
        """
        return self.expert if self.expert > 1 else self.tp

    @property
    def expert_replicas(self) -> int:
        """Return how many devices have the same experts."""
        return max(1, self.data * self.ranks // self.expert_shards)

    @property
    def sequence_shards(self) -> int:
        """Return the tensor-parallel ranks over which tensors are split along the sequence."""
        return self.tp if self.sequence_parallel else 1

    @property
    def inside(self) -> bool:
        """Return whether hops stay inside a node."""
        return self.link == "intra" or (self.link == "auto" and self.p * self.ranks <= self.machine.per_node)

    @property
    def peak(self) -> float:
        """Return the peak rate of a device in the precision of the matrix products, in FLOP/s."""
        return self.machine.fp8_flops if self.fp8 else self.machine.flops

    @property
    def held(self) -> tuple[float, ...]:
        """Return the micro-batches whose activations each device holds at once: those given, else those of 1F1B, of
        interleaved 1F1B with several chunks; a V holds as many on every device.
        """
        if self.in_flight is not None:
            return self.in_flight
        if self.placement == "v":
            return (float(self.p),) * self.p
        warm = ((self.v - 1) * self.p + (1 if self.v == 1 else 2) * (self.p - 1 - rank) for rank in range(self.p))
        return tuple((each + 1) / self.v for each in warm)

    def bandwidth(self, group: int) -> float:
        """Return the bytes per second of a collective over ``group`` devices that hold the same stage."""
        return self.machine.intra_bandwidth if self.in_node(group) else self.machine.node_bandwidth

    def in_node(self, group: int) -> bool:
        """Return whether ``group`` devices that hold the same stage are in one node: neighbours, except that replicas
        are a pipeline apart where its hops stay inside a node.
        """
        apart = group > self.ranks and self.inside and self.p * self.ranks <= self.machine.per_node
        return (self.p if apart else 1) * group <= self.machine.per_node

    def kinds_of(self, layers: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the number of layers of each of the model's kinds in each stage; the dense ones come first."""
        kinds = self.model.kinds
        if len(kinds) == 1:
            return [(count,) for count in layers]
        counts: list[tuple[int, ...]] = []
        dense = kinds[1].count
        for count in layers:
            here = min(dense, count)
            dense -= here
            counts.append((count - here, here))
        return counts

    @property
    def untrained(self) -> frozenset[int]:
        """Return the stages that have no backwards: those before the first trained one."""
        return untrained(self.frozen)

    def stages_of(self, rank: int) -> list[int]:
        """Return the stages in a device's memory."""
        stages: list[int] = place("v" if self.placement == "v" else "looped", self.p, self.v).stage_of[rank].tolist()
        return stages

    def _validated(self) -> Setting:
        """Return this setting. Raises SpecError for values that do not go together."""
        model, machine = self.model, self.machine
        heads = model.attention_heads
        if heads % self.tp:
            nearest = max(each for each in range(1, self.tp) if heads % each == 0)
            text = message("hardware.tp_must_divide", "tp must divide the {heads} attention heads", heads=heads)
            raise SpecError("tp", self.tp, text, limit=heads, nearest=nearest)
        if self.fp8 and machine.fp8_flops == 0.0:
            text = message(
                "hardware.no_fp8", "{machine} has no rate in 8 bits; give its fp8_flops", machine=machine.title
            )
            raise SpecError("fp8", True, text, nearest=False)
        if self.expert > 1:
            self._validate_experts()
        inside = [stage for stage in self.frozen if stage < self.stages]
        if len(inside) == self.stages or len(inside) < len(self.frozen):
            text = message(
                "schedule.frozen_stages",
                "frozen is a number of first stages, or a list of stages from 0 to {last}; at least one stage is "
                "trained",
                last=self.stages - 1,
            )
            kept = inside[: self.stages - 1] or None
            raise SpecError("frozen", list(self.frozen), text, limit=self.stages - 1, nearest=kept)
        return self

    def _validate_experts(self) -> None:
        experts = self.model.experts
        if experts is None:
            text = message("hardware.no_experts", "the model has no experts to share")
            raise SpecError("expert", self.expert, text, limit=1, nearest=1)
        among = self.ranks * self.data
        if experts % self.expert or among % self.expert:
            text = message(
                "hardware.expert_must_divide",
                "expert must divide the {experts} experts and the tp * context * data = {among} devices that hold a "
                "stage",
                experts=experts,
                among=among,
            )
            shared = gcd(experts, among)
            nearest = max(each for each in range(1, shared + 1) if shared % each == 0 and each <= self.expert)
            raise SpecError("expert", self.expert, text, limit=shared, nearest=nearest)

    def as_dict(self) -> dict[str, Any]:
        """Return every value that was used, as JSON."""
        keys = (
            "p", "v", "tp", "efficiency", "heads", "placement", "data", "zero", "context", "expert",
            "sequence_parallel", "fp8", *PER_PARAMETER, "reserve", "calibration",
        )  # fmt: skip
        return {key: getattr(self, key) for key in keys} | {
            "in_flight": list(self.held),
            "mtp_stage": self.mtp_stage,
            "frozen": list(self.frozen),
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


def _in_flight(value: Any, p: int) -> tuple[float, ...]:
    """Read one number for all devices, or one for each."""
    if not isinstance(value, list | tuple):
        return (number("in_flight", value, *IN_FLIGHT),) * p
    held = entries_of(value, lambda each: number("in_flight", each, *IN_FLIGHT))
    if len(held) != p:
        text = message(
            "hardware.in_flight_needs_an_entry_per_device",
            "in_flight as a list has one entry per device: {devices} here, not {given}",
            devices=p,
            given=len(held),
        )
        raise SpecError("in_flight", len(held), text, limit=p, nearest=with_length(held, p) if held else None)
    return held


def _mtp_stage(given: Any, stages: int, model: Model, layers: Sequence[int] | None) -> int:
    """Read the stage of the modules for further tokens: the last one, or one with no layers behind it. With layers that
    are spread evenly it is the last one, as for another number of stages than that of the layers it goes with.
    """
    last = stages - 1
    if given is None:
        return last
    stage = integer("mtp_stage", given, 0, LIMITS["p"] * LIMITS["v"] - 1 if layers is None else last)
    if layers is None:
        return last
    if not model.mtp:
        text = message("hardware.needs_field", "{field} means nothing without {other}", field="mtp_stage", other="mtp")
        raise SpecError("mtp_stage", stage, text)
    if any(layers[stage + 1 :]):
        nearest = max(at for at, count in enumerate(layers) if count)
        text = message("hardware.mtp_before_layers", "further tokens are predicted behind all layers")
        raise SpecError("mtp_stage", stage, text, nearest=nearest)
    return stage


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
