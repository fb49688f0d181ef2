"""The fastest ways to train a model within the memory of its devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from backend.schedule.analysis import plan_question
from backend.schedule.analysis.plans import TrainingSetup, best_of_each, plans
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.step_units import GB
from bubbleline.schedules import Schedule
from bubbleline.settings import preset_of


@dataclass(frozen=True)
class Plan:
    """A way to train a model: a schedule with its options, and the sizes of the parallelism around it."""

    setup: TrainingSetup

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule, with the costs of its layout."""
        return Schedule(self.setup.spec, self.setup.layout.preset)

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes by name: p, v, tp, context, expert, data, micro_batch and m."""
        return self.setup.layout.sizes(self.setup.spec.v)

    @property
    def seconds(self) -> float:
        """Seconds of a step with what follows its last backward."""
        return self.setup.seconds

    @property
    def tokens_per_second(self) -> float:
        """Tokens per second of all devices."""
        return self.setup.units.rate

    @property
    def mfu(self) -> float:
        """The model's FLOP over what the devices could compute, 0 to 1."""
        return self.setup.units.mfu

    @property
    def gb(self) -> float:
        """Memory of the fullest device in GB."""
        return self.setup.units.memory.most / GB

    @property
    def fits(self) -> bool:
        """Whether every device has that memory."""
        return self.setup.fits

    @property
    def frameworks(self) -> tuple[str, ...]:
        """Names of the frameworks that run it; ``schedule.configuration`` has what they need."""
        return tuple(self.setup.frameworks)

    def __repr__(self) -> str:
        spec, fits = self.setup.spec, "fits" if self.fits else "does not fit"
        options = "".join(
            f" {name}={getattr(spec, name)}" for name in ("recompute", "offload") if getattr(spec, name) != "none"
        )
        return f"<Plan {spec.family} v={spec.v}{options}: {self.seconds:.3f} s, {self.gb:.1f} GB, {fits}>"


def plan(
    model: str | Preset,
    *,
    p: int | None = None,
    m: int | None = None,
    gpus: int | None = None,
    batch: int | None = None,
    gb: float | None = None,
    families: Sequence[str] | None = None,
    framework: str | None = None,
    recompute: bool = True,
    offload: bool = True,
    every: bool = False,
) -> tuple[Plan, ...]:
    """Find the fastest steps of a model within a device's memory.

    Args:
        model: A model on a machine: ``bl.model(...)``, or a name.
        p, m: Devices of the pipeline and micro-batches of a step; or
        gpus, batch: devices in all and sequences of a step, for which the layouts are tried too.
        gb: Memory of a device in GB; by default the machine's.
        families: Only these schedules.
        framework: Only what this framework runs: torch, megatron ...
        recompute, offload: Whether plans may have it.
        every: All plans instead of the best of each schedule (with ``gpus``, of each layout).

    Returns:
        Plans that fit from the fastest, then the others from the least memory.

    Raises:
        SpecError: A value is illegal, or nothing can be built.

    Examples:
        >>> import bubbleline as bl
        >>> best = bl.plan(bl.model("llama3-8b", "h100", tp=2), p=4, m=16, families=["1f1b", "interleaved"])
        >>> best[0].fits, best[0].schedule.family
        (True, 'interleaved')
    """
    given = {"p": p, "m": m, "gpus": gpus, "batch": batch, "gb": gb, "framework": framework,
             "families": None if families is None else ",".join(families)}  # fmt: skip
    asked = {key: value for key, value in given.items() if value is not None}
    found = plans(plan_question.read(asked | {"recompute": recompute, "offload": offload}, preset_of(model)))
    return tuple(map(Plan, found if every else best_of_each(found)))
