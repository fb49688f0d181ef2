"""Bubbleline from Python: schedules of pipeline-parallel training, their times, memory, checks and runs.

    >>> import bubbleline as bl
    >>> plan = bl.schedule("zb-h1", p=4, m=8)
    >>> round(plan.bubble, 4), plan.step_time
    (0.1111, 27.0)

Times are in the unit of the costs, milliseconds with a model; memory is in one micro-batch's activations on a device.
Illegal input raises a ``SpecError``, a ValueError with the ``field``, its ``value`` and the ``nearest`` legal one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend import __version__ as __version__

if TYPE_CHECKING:
    from bubbleline.api import (
        Certificate,
        Comparison,
        Costs,
        Diagnosis,
        Finding,
        Idle,
        Law,
        Options,
        OrderError,
        Plan,
        Preset,
        RequestError,
        Run,
        RunError,
        Schedule,
        SpecError,
        Trace,
        check,
        compare,
        diagnose,
        families,
        from_configuration,
        from_csv,
        model,
        plan,
        read_trace,
        schedule,
        search,
    )
    from bubbleline.notebook import Timeline

__all__ = [
    "Certificate",
    "Comparison",
    "Costs",
    "Diagnosis",
    "Finding",
    "Idle",
    "Law",
    "Options",
    "OrderError",
    "Plan",
    "Preset",
    "RequestError",
    "Run",
    "RunError",
    "Schedule",
    "SpecError",
    "Timeline",
    "Trace",
    "check",
    "compare",
    "diagnose",
    "families",
    "from_configuration",
    "from_csv",
    "model",
    "plan",
    "read_trace",
    "schedule",
    "search",
]


def __getattr__(name: str) -> Any:
    """Load the API at its first use: commands and the processes of a run import this package and do not need it."""
    if name not in __all__:
        raise AttributeError(f"module 'bubbleline' has no attribute {name!r}")
    if name == "Timeline":
        try:
            from bubbleline import notebook as words
        except ModuleNotFoundError as error:
            raise ImportError(f"Timeline needs {error.name}: pip install 'bubbleline[notebook]'") from None
    else:
        from bubbleline import api as words  # type: ignore[no-redef]
    return globals().setdefault(name, getattr(words, name))


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
