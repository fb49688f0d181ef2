"""What schedules are asked for: costs, options, and a model on a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from backend.errors import RequestError
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.interop.megatron_layout import with_layout
from backend.schedule.spec import COST_KEYS

__all__ = ["Costs", "Options", "Preset", "RequestError", "families", "model", "preset_of", "spec_data"]

Cost = float | Sequence[float]
_NAMES = {name.lower(): name for name in COST_KEYS}


@dataclass(frozen=True)
class Costs:
    """Times of a micro-batch, in any unit: numbers for a device's whole share of the layers, of which an op of v chunks
    takes 1/v, or one entry per stage, in a list or an array.

    Attributes:
        f: Forward.
        i: Input gradient.
        w: Weight gradient; a full backward takes ``i + w``.
        comm: Latency of one hop between devices.
        fb: An overlapped pair of forward and backward; None is f + i + w.
        s: A device's shard of a spread output layer; None is f / 4 where there is one.
        t: The gradients of that shard; None is f / 2.
        o: One copy of a device's activations to host memory or back; None is (f + i + w) / 2.
        r: What recomputation adds to i; None is a part of f.
        wire: How long a message occupies its streams, before its hop.
    """

    f: Cost = 1.0
    i: Cost = 1.0
    w: Cost = 1.0
    comm: float = 0.0
    fb: float | None = None
    s: float | None = None
    t: float | None = None
    o: float | None = None
    r: float | None = None
    wire: float = 0.0


class Options(TypedDict, total=False):
    """Options of a schedule, as keywords; docs/contracts.md (Spec) has them in full.

    Attributes:
        group: Micro-batches that an interleaved schedule takes together.
        memory: Limit in one micro-batch's activations on a device.
        w_share: Share of these activations that W still needs after I, 0 to 1.
        lifo: Backward from the last micro-batch to the first (gpipe).
        forward_only: Inference: forwards without backwards.
        frozen: Stages that are not trained: the first k, or a list.
        recompute: "none", "selective" or "full", or a word for each chunk.
        recompute_at: Whether that waits for the gradient: "backward", or not: "ahead"; or "bubble": only what exceeds p
            micro-batches, in waits for any gradient.
        spared: Of the chunks that a device holds at once, how many keep all and recompute nothing.
        layers: Layers of each stage.
        sizes: Sizes of micro-batches that differ: one each, "lognormal:SIGMA:SEED" or "tokens:ALPHA:BETA:L,L,...".
        fixed: Share of an op, 0 to 1, that does not depend on the size of its micro-batch.
        injection: Order in which micro-batches enter: "given", "mountain", "searched" or each once.
        replicas: Data-parallel replicas with micro-batches of their own, that wait for the slowest.
        deal: Which replica takes which: "given" or "longest" (longest first to the one with the least work).
        replica: The replica that is shown.
        vocabulary: Where the output layer is: "plain", "redistribute", "parallel-1", "parallel-2", "interlaced".
        offload: What goes to host memory: "none", "selective" or "full", or a word for each chunk.
        shared_link: Two devices share one link to host memory.
        streams: Which messages of a rank share a stream: "none", "rank", "direction" or "edge".
        receives: Where receives are posted: "torch", "deferred" or "placed".
        weights: Memory of one stashed weight version (pipedream), as ``memory``.
        effort: Orders that a search tries; the same effort and seed give the same order.
        seed: Seed of a search.
    """

    group: int | None
    memory: float | None
    w_share: float
    lifo: bool
    forward_only: bool
    frozen: int | Sequence[int] | None
    recompute: str | Sequence[str]
    recompute_at: str
    spared: int
    layers: Sequence[int] | None
    sizes: str | Sequence[float] | None
    fixed: float
    injection: str | Sequence[int]
    replicas: int
    deal: str
    replica: int
    vocabulary: str
    offload: str | Sequence[str]
    shared_link: bool
    streams: str
    receives: str
    weights: float | None
    effort: int | None
    seed: int


def families() -> list[str]:
    """Return the names of all schedule families.

    Examples:
        >>> import bubbleline as bl
        >>> bl.families()[:4]
        ['gpipe', '1f1b', 'pipedream', 'interleaved']
    """
    return list(FAMILIES)


def model(name: str, machine: str | None = None, **fields: Any) -> Preset:
    """Return a model on a machine, from which costs in milliseconds, tokens and bytes follow.

    Args:
        name: A preset such as "llama3-70b", or "custom" with all fields.
        machine: A preset such as "h100"; None takes the default.
        **fields: Any other field, by its name on the command line: tp, data, zero, sequence, micro_batch, hidden, ...

    Raises:
        SpecError: A field is unknown or illegal.

    Examples:
        >>> import bubbleline as bl
        >>> llama = bl.model("llama3-8b", "h100", tp=2)
        >>> step = bl.schedule("1f1b", p=4, m=16, model=llama).units
        >>> f"{step.seconds:.2f} s, {step.memory.most / 1e9:.0f} GB of {step.memory.limit / 1e9:.0f} GB"
        '2.14 s, 41 GB of 80 GB'
    """
    given = {"model": name} | ({} if machine is None else {"machine": machine})
    made = Preset.of(with_layout(given | {key: _plain(value) for key, value in fields.items()}))
    made.setting()  # wrong fields are refused even where no schedule is priced
    return made


def preset_of(given: str | Preset | None) -> Preset | None:
    """Return a model that is given by its name, or made by ``model``."""
    return model(given) if isinstance(given, str) else given


def spec_data(costs: Costs | Mapping[str, Any] | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec as JSON from arguments; those that are None take the spec's own defaults."""
    data = {name: _plain(value) for name, value in fields.items() if value is not None}
    if costs is None:
        return data
    times = vars(costs) if isinstance(costs, Costs) else costs
    if not isinstance(times, Mapping):
        return data | {"costs": times}  # refused with the spec
    return data | {
        "costs": {
            _NAMES.get(str(name).lower(), name): _plain(value) for name, value in times.items() if value is not None
        }
    }


def _plain(value: Any) -> Any:
    """Return an array, of NumPy or of another library with its ``tolist``, as a list; any other value as it is."""
    return value.tolist() if hasattr(value, "tolist") else value
