"""Read the options of a run besides its schedule, strictly.

The runner has the same limits; checking them here refuses a bad choice at once, not when the run's turn comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.errors import RequestError, message
from backend.runs.cluster_state import LOCAL
from backend.runs.run import MODES
from backend.schedule.spec import choice, integer, number

DTYPES = ("float32", "bfloat16")
DEVICES = ("auto", "cpu", "cuda")
UNIT_MS = (0.001, 10_000.0)
MOST_STEPS = 100
MOST_SEED = 2**31 - 1
# Of a run on a cluster: few hosts or many, the order of its ranks, and whether its plan has the hops measured there.
SPREAD, ARRANGE, HOPS = ("pack", "spread"), ("given", "latency"), ("given", "measured")
CLUSTER = {"spread": SPREAD, "arrange": ARRANGE, "hops": HOPS}  # the default comes first
KEYS = ("mode", "unit_ms", "dtype", "device", "steps", "seed", *CLUSTER)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run: pace, length of a unit of its costs in ms (None: chosen by the runner), type of activations
    and arithmetic, device, number of training steps and random seed; on a cluster, the placement of its ranks, and
    whether the plan's hops are as long as those measured there."""

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
        """Return what is stored with a run besides mode and unit, with the runner's keys."""
        return {"dtype": self.dtype, "device": self.device, "steps": self.steps, "seed": self.seed} | self.placed()

    def placed(self) -> dict[str, str]:
        """Return the options of clusters that differ from their defaults; every runner takes a run without any."""
        return {key: value for key, (default, _) in CLUSTER.items() if (value := getattr(self, key)) != default}


PLAIN = Options()


def read(data: Mapping[str, Any]) -> Options:
    """Read the options among the keys of a request. Raises RequestError."""
    mode, unit_ms = choice("mode", data.get("mode", "auto"), MODES), data.get("unit_ms")
    if unit_ms is not None:
        unit_ms = number("unit_ms", unit_ms, *UNIT_MS)
        if mode == "free":
            text = message("runs.unit_ms_is_for_paced", "unit_ms is for paced mode; free mode has no pace")
            raise RequestError("unit_ms", unit_ms, text)
    hops = choice("hops", data.get("hops", HOPS[0]), HOPS)
    if hops == "measured" and mode == "free":
        text = message(
            "runs.measured_hops_are_for_paced",
            "measured hops are for paced mode: in free mode the length of a time unit is not known before the run",
        )
        raise RequestError("hops", hops, text, nearest=HOPS[0])
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
    """Raise RequestError if a GPU is requested and the runner has reported devices without any."""
    if device == "cuda" and devices and not any(each.get("kind") == "cuda" for each in devices):
        text = message("runs.no_gpu", "there is no GPU to run on")
        raise RequestError("device", device, text, limit=0, nearest="cpu")


def refuse_steps(steps: int, forward_only: bool) -> None:
    """Raise RequestError for several training steps of a forward-only schedule, which trains nothing."""
    if forward_only and steps > 1:
        text = message(
            "runs.forward_only_has_one_step",
            "a forward-only run trains nothing, so it has one step: ask for more micro-batches",
        )
        raise RequestError("steps", steps, text, limit=1, nearest=1)


def refuse_ranks(ranks: int, choices: Sequence[Mapping[str, Any]]) -> None:
    """Raise RequestError for more ranks than the runner has reported that a run can have (`choices` empty: it has
    reported none yet)."""
    most = max((int(row["to"]) for row in choices), default=ranks)
    if ranks > most:
        text = message(
            "runs.too_many_ranks",
            "a run has at most {most} ranks here, and this schedule has {ranks} devices",
            most=most,
            ranks=ranks,
        )
        raise RequestError("p", ranks, text, limit=most, nearest=most)


def refuse_local(options: Options, engine: str) -> None:
    """Raise RequestError for options of clusters if the runner has reported the local engine ("": it has reported
    none yet).
    """
    if engine == LOCAL:
        for key, value in options.placed().items():
            text = message(
                "runs.needs_cluster",
                "{key} {value} needs a cluster: start the server with make run ENGINE=ray, or leave it out",
                key=key,
                value=value,
            )
            raise RequestError(key, value, text, nearest=CLUSTER[key][0])
