"""Compute the figures of a simulated step in an engineer's units: seconds, tokens, FLOP utilisation, bytes per device.

The memory of a device is that of its stages' weights, gradients and optimizer state, and of the activations that the
simulated schedule holds at its peak, each chunk with the size of its stage: logits are held as long as the chunk that
makes them. The page computes the same (static/js/data/costs/step_units.ts), and a test compares both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.estimate import Estimate
from backend.schedule.hardware.footprint import STATES, Footprint
from backend.schedule.options.per_chunk import values_of
from backend.schedule.options.vocabulary import MODES as VOCABULARY
from backend.schedule.order.placement import Placement
from backend.schedule.simulation.memory import peak_memory
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline
from backend.schedule.spec import Spec

Floats = npt.NDArray[np.float64]
GB = 1e9  # bytes
INFERENCE = ("weights",)
FORWARD = 3  # the FLOP of a layer's forward, backward included, over those of the forward


@dataclass(frozen=True)
class DeviceMemory:
    """Bytes on each rank of the pipeline against the memory of a device; ``activations`` are those at its peak."""

    ranks: tuple[float, ...]
    activations: tuple[float, ...]
    limit: float

    @cached_property
    def most(self) -> float:
        return max(self.ranks)

    @property
    def rank(self) -> int:
        """Return the rank that needs the most, the first of several."""
        return self.ranks.index(self.most)

    @property
    def fits(self) -> bool:
        return self.most <= self.limit

    def as_dict(self) -> dict[str, Any]:
        """Return the memory as JSON."""
        return {
            "ranks": list(self.ranks),
            "activations": list(self.activations),
            "most": self.most,
            "rank": self.rank,
            "limit": self.limit,
            "fits": self.fits,
        }


@dataclass(frozen=True)
class StepUnits:
    """``seconds`` of a pipeline's step and of its ``tail`` (the optimizer, and what replicas exchange), ``tokens`` of
    all replicas in it, ``mfu`` the model's FLOP over what the
    devices could compute in both, in the precision of the products (without recomputation; of the forwards alone, a
    third), ``devices`` in all.

    The FLOP are those of all scores, as the utilization is defined (PaLM, arXiv 2204.02311); ``mfu_causal`` leaves out
    those above the diagonal.

    ``window`` is the busiest device's own, from its first op to its last: outside of it the steps before and after may
    overlap with this one.
    """

    seconds: float
    tail: float
    tokens: float
    mfu: float
    mfu_causal: float
    devices: int
    memory: DeviceMemory
    window: float

    @property
    def whole(self) -> float:
        """Return the seconds of a step with what follows its last backward, from which tokens per second are."""
        return self.seconds + self.tail

    @property
    def rate(self) -> float:
        """Return tokens per second."""
        return self.tokens / self.whole

    @property
    def span(self) -> dict[str, float]:
        """Return seconds, tokens per second and FLOP utilisation in the busiest device's window, with the tail."""
        whole = self.window + self.tail
        mfu = self.mfu * self.whole / whole
        return {"seconds": whole, "tokens_per_second": self.tokens / whole, "mfu": mfu}

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        return {
            "seconds": self.seconds,
            "tail": self.tail,
            "tokens": self.tokens,
            "tokens_per_second": self.rate,
            "mfu": self.mfu,
            "mfu_causal": self.mfu_causal,
            "devices": self.devices,
            "memory": self.memory.as_dict(),
            "span": self.span,
        }


def step_units(found: Estimate, spec: Spec, timeline: Timeline) -> StepUnits:
    """Compute the figures of a step whose simulated times are milliseconds."""
    setting = found.setting
    model = setting.model
    seconds = float(timeline.end.max() - timeline.start.min()) / 1000
    placement = timeline.order.placement
    tail = 0.0 if spec.forward_only else _tail(found, spec, placement) / 1000
    tokens = float(model.micro_batch * model.sequence * spec.m * setting.data)
    with_output = setting.heads or spec.vocabulary != "plain"
    flop = found.flop["layers"] + with_output * found.flop["output"]
    parts = spec.m / (FORWARD if spec.forward_only else 1)
    devices = spec.p * setting.ranks * setting.data
    most = (seconds + tail) * spec.p * setting.ranks * setting.peak
    mfu, mfu_causal = flop * parts / most, (flop - found.flop["masked"]) * parts / most
    kept = values_of(spec.recompute, found.footprint.kept_by_recompute)
    weights = spec.weights
    if weights is None:  # of a weight version that is stashed, in micro-batches' activations
        family = FAMILIES.get(spec.family)  # an imported order is none of them
        weights = found.options.weights if family is not None and family.asynchronous else 0.0
    # one layer of a chunk at a time, but all of it where no backward follows at once
    restored = min(1.0, spec.p * spec.v / model.layers) if spec.recompute_at == "backward" else 1.0
    sizes, outputs = chunk_sizes(found.footprint, placement, spec.v)
    parts_kept = kept + (1.0 - np.array(kept)) * outputs  # recomputation is of layers
    held = peak_memory(timeline, spec.w_share, spec.v, parts_kept, weights, restored, sizes)
    memory = device_memory(found.footprint, spec, placement, held, setting.heads)
    window = figures(timeline).longest_stage / 1000
    return StepUnits(seconds, tail, tokens, mfu, mfu_causal, devices, memory, window)


def chunk_sizes(footprint: Footprint, placement: Placement, v: int) -> tuple[Floats, Floats]:
    """Return (p, chunks) activations of each chunk over those of a mean chunk of its device, and (p, chunks) the part
    of them that is the output layer's.
    """
    own, outputs = (np.array(footprint.stages[name])[placement.stage_of] for name in ("activations", "outputs"))
    mean = own.sum(1, keepdims=True) / (placement.streams * v)
    return np.where(mean > 0.0, own / np.where(mean > 0.0, mean, 1.0), 1.0), outputs / np.where(own > 0.0, own, 1.0)


def device_memory(footprint: Footprint, spec: Spec, placement: Placement, held: Floats, heads: bool) -> DeviceMemory:
    """Return the memory of each rank; ``held`` (p,) are the activations at its peak, in units of one micro-batch's on
    the device. With ``heads`` the stages' sizes contain the embedding and the output layer.
    """
    activations = np.array(footprint.stages["activations"])[placement.stage_of].sum(1) / placement.streams
    states = sum(
        np.array(footprint.stages[state])[placement.stage_of].sum(1)
        + _tables(footprint.table[state], footprint.tied, spec, placement, heads)
        for state in (INFERENCE if spec.forward_only else STATES)
    )
    kept = held * activations
    if VOCABULARY[spec.vocabulary].barriers:
        kept = kept + footprint.logits / spec.p
    ranks = states + footprint.reserve + kept
    return DeviceMemory(tuple(ranks.tolist()), tuple(kept.tolist()), footprint.limit)


def _tail(found: Estimate, spec: Spec, placement: Placement) -> float:
    """Return the milliseconds behind the pipeline on the device whose stages take most."""
    own = found.tails[placement.streams - 1]
    tables = _tables(own.table, found.footprint.tied, spec, placement, found.setting.heads)
    return float((np.array(own.stages)[placement.stage_of].sum(1) + tables).max())


def _tables(table: Sequence[float], tied: bool, spec: Spec, placement: Placement, heads: bool) -> Floats:
    """Return (p,) what the embedding and the output layer (``table``) take beside what is counted with the stages; less
    than nothing where a device has both and they are one table.
    """
    embedding, output = table
    both = min(embedding, output) if tied else 0.0
    if VOCABULARY[spec.vocabulary].barriers:
        return np.full(spec.p, (embedding + output - both) / spec.p)
    first, last = ((placement.stage_of == stage).any(1) for stage in (0, placement.stages - 1))
    added = spec.vocabulary == "redistribute" and not heads
    tables: Floats = added * (first * embedding + last * output) - (heads or added) * (first & last) * both
    return tables
