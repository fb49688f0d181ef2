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
from backend.schedule.spec import choice, integer, number, optional

UNIT_MS = (0.001, 10_000.0)
MOST_STEPS = 100
MOST_SEED = 2**31 - 1
# Of a run on a cluster: few hosts or many, the order of its ranks, and whether its plan has the hops measured there.
CLUSTER = {"spread": ("pack", "spread"), "arrange": ("given", "latency"), "hops": ("given", "measured")}
CHOICES = {"mode": MODES, "dtype": ("float32", "bfloat16"), "device": ("auto", "cpu", "cuda"), **CLUSTER}
"""The words of each option that is one of several; the default comes first."""
KEYS = ("mode", "unit_ms", "dtype", "device", "steps", "seed", *CLUSTER)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run: pace, length of a unit of its costs in ms (None: chosen by the runner), type of activations
    and arithmetic, device, number of training steps and random seed; on a cluster, the placement of its ranks, and
    whether the plan's hops are as long as those measured there."""

    mode: str = CHOICES["mode"][0]
    unit_ms: float | None = None
    dtype: str = CHOICES["dtype"][0]
    device: str = CHOICES["device"][0]
    steps: int = 1
    seed: int = 0
    spread: str = CHOICES["spread"][0]
    arrange: str = CHOICES["arrange"][0]
    hops: str = CHOICES["hops"][0]

    def chosen(self) -> dict[str, Any]:
        """Return what is stored with a run besides mode and unit, with the runner's keys."""
        return {"dtype": self.dtype, "device": self.device, "steps": self.steps, "seed": self.seed} | self.placed()

    def placed(self) -> dict[str, str]:
        """Return the options of clusters that differ from their defaults; every runner takes a run without any."""
        return {key: value for key, (default, _) in CLUSTER.items() if (value := getattr(self, key)) != default}


PLAIN = Options()


def read(data: Mapping[str, Any]) -> Options:
    """Read the options among the keys of a request. Raises RequestError."""
    chosen = {key: choice(key, data.get(key, words[0]), words) for key, words in CHOICES.items()}
    unit_ms = optional(number, "unit_ms", data.get("unit_ms"), *UNIT_MS)
    if unit_ms is not None and chosen["mode"] == "free":
        text = message("runs.unit_ms_is_for_paced", "unit_ms is for paced mode; free mode has no pace")
        raise RequestError("unit_ms", unit_ms, text)
    if chosen["hops"] == "measured" and chosen["mode"] == "free":
        text = message(
            "runs.measured_hops_are_for_paced",
            "measured hops are for paced mode: in free mode the length of a time unit is not known before the run",
        )
        raise RequestError("hops", chosen["hops"], text, nearest=PLAIN.hops)
    steps = integer("steps", data.get("steps", PLAIN.steps), 1, MOST_STEPS)
    seed = integer("seed", data.get("seed", PLAIN.seed), 0, MOST_SEED)
    return Options(unit_ms=unit_ms, steps=steps, seed=seed, **chosen)


def refuse_missing(device: str, devices: Sequence[Mapping[str, Any]]) -> None:
    """Raise RequestError if a GPU is requested and the runner has reported devices without any."""
    if device == "cuda" and devices and not any(each.get("kind") == "cuda" for each in devices):
        text = message("runs.no_gpu", "there is no GPU to run on")
        raise RequestError("device", device, text, limit=0, nearest="cpu")


def refuse_steps(steps: int, forward_only: bool, asynchronous: bool) -> None:
    """Raise RequestError for several training steps of a forward-only schedule, which trains nothing, or of an
    asynchronous one, in which every micro-batch is a step."""
    if steps == 1 or not (forward_only or asynchronous):
        return
    text = message(
        "runs.step_per_micro_batch",
        "every micro-batch is a training step here already: ask for more micro-batches",
    )
    if forward_only:
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
