"""What a person chooses for a run besides its schedule, read strictly. The runner has the same limits; here they are
held so that a bad choice is refused at once and not when the run's turn comes. Starts nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.runs.run import MODES
from backend.schedule.errors import SpecError
from backend.schedule.spec import choice, integer, number

DTYPES = ("float32", "bfloat16")
DEVICES = ("auto", "cpu", "cuda")
UNIT_MS = (0.001, 10_000.0)
MOST_STEPS = 100
MOST_SEED = 2**31 - 1
KEYS = ("mode", "unit_ms", "dtype", "device", "steps", "seed")


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is to be: its pace, how long a unit of its costs lasts (None: as the runner finds fit), the type of
    activations and arithmetic, where it runs, how many training steps it has and what its numbers start from."""

    mode: str = "auto"
    unit_ms: float | None = None
    dtype: str = DTYPES[0]
    device: str = DEVICES[0]
    steps: int = 1
    seed: int = 0

    def chosen(self) -> dict[str, Any]:
        """What is kept with a run beside mode and unit, as the runner reads it."""
        return {"dtype": self.dtype, "device": self.device, "steps": self.steps, "seed": self.seed}


PLAIN = Options()


def read(data: Mapping[str, Any]) -> Options:
    """The options among the keys of a request. Raises SpecError."""
    mode, unit_ms = choice("mode", data.get("mode", "auto"), MODES), data.get("unit_ms")
    if unit_ms is not None:
        unit_ms = number("unit_ms", unit_ms, *UNIT_MS)
        if mode == "free":
            raise SpecError("unit_ms", unit_ms, "unit_ms goes with paced mode; free mode has no pace")
    return Options(
        mode,
        unit_ms,
        choice("dtype", data.get("dtype", DTYPES[0]), DTYPES),
        choice("device", data.get("device", DEVICES[0]), DEVICES),
        integer("steps", data.get("steps", 1), 1, MOST_STEPS),
        integer("seed", data.get("seed", 0), 0, MOST_SEED),
    )


def refuse_missing(device: str, devices: Sequence[Mapping[str, Any]]) -> None:
    """Refuse GPUs where the runner has said that there are none; what it has not said is its own to judge."""
    if device == "cuda" and devices and not any(each.get("kind") == "cuda" for each in devices):
        raise SpecError("device", device, "there is no GPU to run on", limit=0, nearest="cpu")
