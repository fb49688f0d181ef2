"""What a person chooses for a run besides its schedule, read strictly. The runner has the same limits; here they are
held so that a bad choice is refused at once and not when the run's turn comes. Starts nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.runs.cluster_state import LOCAL
from backend.runs.run import MODES
from backend.schedule.errors import SpecError
from backend.schedule.spec import choice, integer, number

DTYPES = ("float32", "bfloat16")
DEVICES = ("auto", "cpu", "cuda")
UNIT_MS = (0.001, 10_000.0)
MOST_STEPS = 100
MOST_SEED = 2**31 - 1
# Of a run on a cluster: where its ranks sit, in which order, and whether its plan takes hops as long as they are there.
SPREAD, ARRANGE, HOPS = ("pack", "spread"), ("given", "latency"), ("given", "measured")
CLUSTER = {"spread": SPREAD, "arrange": ARRANGE, "hops": HOPS}  # the usual one comes first
KEYS = ("mode", "unit_ms", "dtype", "device", "steps", "seed", *CLUSTER)


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is to be: its pace, how long a unit of its costs lasts (None: as the runner finds fit), the type of
    activations and arithmetic, where it runs, how many training steps it has and what its numbers start from; on a
    cluster, how its ranks are placed, and whether the plan's hops are as long as those measured there."""

    mode: str = "auto"
    unit_ms: float | None = None
    dtype: str = DTYPES[0]
    device: str = DEVICES[0]
    steps: int = 1
    seed: int = 0
    spread: str = SPREAD[0]
    arrange: str = ARRANGE[0]
    hops: str = HOPS[0]

    def chosen(self) -> dict[str, Any]:
        """What is kept with a run beside mode and unit, as the runner reads it."""
        return {"dtype": self.dtype, "device": self.device, "steps": self.steps, "seed": self.seed} | self.placed()

    def placed(self) -> dict[str, str]:
        """Of what only a cluster knows, what is not as usual: any runner takes a run that asks for none of it."""
        return {key: value for key, (usual, _) in CLUSTER.items() if (value := getattr(self, key)) != usual}


PLAIN = Options()


def read(data: Mapping[str, Any]) -> Options:
    """The options among the keys of a request. Raises SpecError."""
    mode, unit_ms = choice("mode", data.get("mode", "auto"), MODES), data.get("unit_ms")
    if unit_ms is not None:
        unit_ms = number("unit_ms", unit_ms, *UNIT_MS)
        if mode == "free":
            raise SpecError("unit_ms", unit_ms, "unit_ms goes with paced mode; free mode has no pace")
    hops = choice("hops", data.get("hops", HOPS[0]), HOPS)
    if hops == "measured" and mode == "free":
        message = "measured hops go with paced mode: in free mode the length of a time unit is not known before the run"
        raise SpecError("hops", hops, message, nearest=HOPS[0])
    return Options(
        mode,
        unit_ms,
        choice("dtype", data.get("dtype", DTYPES[0]), DTYPES),
        choice("device", data.get("device", DEVICES[0]), DEVICES),
        integer("steps", data.get("steps", 1), 1, MOST_STEPS),
        integer("seed", data.get("seed", 0), 0, MOST_SEED),
        choice("spread", data.get("spread", SPREAD[0]), SPREAD),
        choice("arrange", data.get("arrange", ARRANGE[0]), ARRANGE),
        hops,
    )


def refuse_missing(device: str, devices: Sequence[Mapping[str, Any]]) -> None:
    """Refuse GPUs where the runner has said that there are none; what it has not said is its own to judge."""
    if device == "cuda" and devices and not any(each.get("kind") == "cuda" for each in devices):
        raise SpecError("device", device, "there is no GPU to run on", limit=0, nearest="cpu")


def refuse_local(options: Options, engine: str) -> None:
    """Refuse what only a cluster knows where the runner has said that it has none; "" is a runner that has not."""
    if engine == LOCAL:
        for key, value in options.placed().items():
            message = f"{key} {value} needs a cluster: start the server with make run ENGINE=ray, or leave it out"
            raise SpecError(key, value, message, nearest=CLUSTER[key][0])
