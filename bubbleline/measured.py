"""What was measured: a run of a schedule, or the traces of another program."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy.typing as npt

from backend.jobs.recordings import recording_of
from backend.schedule.diagnosis import diagnosis
from backend.schedule.errors import OrderError, SpecError
from backend.schedule.interop.csv_table import text_of
from backend.schedule.interop.traces import chrome, run_trace
from backend.schedule.interop.traces.chrome import Measured
from backend.schedule.order import wire
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.timeline import Timeline
from backend.schedule.spec import number, optional
from bubbleline.schedules import Schedule
from bubbleline.tables import ops_of, to_pandas

MS = 1e-6  # of a ns


class RunError(RuntimeError):
    """A run failed: ``details`` has the failure (key ``failure``) with rank and op, if the runner itself has not."""

    def __init__(self, text: str, details: Mapping[str, Any]) -> None:
        super().__init__(text)
        self.details = details


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run.

    Attributes:
        schedule: What was run.
        timeline: Start and end of every op, in ns.
        details: The last line of ``app.py run --json``, as docs/contracts.md has it.
    """

    schedule: Schedule
    timeline: Timeline
    details: Mapping[str, Any]

    @property
    def verified(self) -> bool:
        """Whether loss and all gradients are those of one process that trains the same model."""
        return bool(self.details["verified"])

    @property
    def max_grad_error(self) -> float:
        """The largest relative error of a gradient."""
        return float(self.details["max_grad_error"])

    @property
    def step_ms(self) -> float:
        """Measured milliseconds from the first start to the last end."""
        return figures(self.timeline).makespan * MS

    @property
    def bubble(self) -> float:
        """The measured idle share of the step, 0 to 1."""
        return figures(self.timeline).global_bubble.of_total

    @cached_property
    def ops(self) -> npt.NDArray[Any]:
        """(N,) all ops as ``Schedule.ops``, with measured times in ms."""
        return ops_of(self.timeline, MS)

    def to_pandas(self) -> Any:
        """Return ``ops`` as a pandas DataFrame. Raises ImportError where pandas is not installed."""
        return to_pandas(self.ops)

    def __repr__(self) -> str:
        verdict = "verified" if self.verified else "NOT verified"
        return f"<Run of {self.schedule.family}: {verdict}, {self.step_ms:.1f} ms, bubble {self.bubble:.1%}>"


def run(schedule: Schedule, options: Mapping[str, Any]) -> Run:
    """Execute a schedule; see ``Schedule.run``."""
    from backend.cli.report import as_shape, failure_text, unfinished
    from backend.config import PROJECT, Config
    from backend.runs.run_series import RunnerGoneError, Series

    optional(number, "unit_ms", options["unit_ms"], 0.001, 60_000)
    if find_spec("torch") is None:
        raise ImportError("running a schedule needs torch: pip install 'bubbleline[run]'")
    job = {key: value for key, value in options.items() if value is not None}
    job |= {"spec": schedule.spec.to_json(), "order": wire.to_text(schedule._order)}
    try:
        with Series(Config.from_env().runner, str(PROJECT)) as series:
            last, rows = series.run(job)
    except RunnerGoneError as error:
        raise RunError(str(error), {}) from None
    if last["event"] != "finished":
        ending = unfinished(last)
        refused = ending.get("error")
        if refused:
            raise SpecError(refused["field"], refused["value"], refused["message"], nearest=refused.get("nearest"))
        raise RunError(failure_text(ending["failure"]), ending)
    timeline = run_trace.timeline_of(schedule._order, rows["ops"], rows["copies"])
    return Run(schedule, timeline, as_shape(last, schedule._order, rows))


@dataclass(frozen=True, eq=False)
class Trace:
    """A measured step of another program, in ms; of an incomplete one only what is missing."""

    measured: Measured

    @property
    def missing(self) -> str | None:
        """What a whole step lacks, in a sentence; None if it is whole."""
        return self.measured.missing

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on how exact the times are."""
        return tuple(map(str, self.measured.notes))

    @property
    def step_ms(self) -> float:
        """Measured milliseconds from the first start to the last end. Raises ValueError for an incomplete step."""
        return figures(self._timeline).makespan

    @property
    def bubble(self) -> float:
        """The measured idle share of the step, 0 to 1. Raises ValueError for an incomplete step."""
        return figures(self._timeline).global_bubble.of_total

    @cached_property
    def ops(self) -> npt.NDArray[Any]:
        """(N,) all ops as ``Schedule.ops``, with measured times in ms. Raises ValueError for an incomplete step."""
        return ops_of(self._timeline)

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule of the same order at the mean measured costs. Raises ValueError for an incomplete step."""
        from backend.runs.imported_run import spec_of

        return Schedule(spec_of(self._whole))

    def to_pandas(self) -> Any:
        """Return ``ops`` as a pandas DataFrame. Raises ImportError where pandas is not installed."""
        return to_pandas(self.ops)

    @property
    def _whole(self) -> Measured:
        if self.missing is not None:
            raise ValueError(f"the trace is not a whole step: {self.missing}")
        return self.measured

    @property
    def _timeline(self) -> Timeline:
        timeline = self._whole.timeline
        assert timeline is not None
        return timeline


def read_trace(*paths: str | Path, names: str | None = None, unit: str = "us") -> Trace:
    """Read a measured step from Chrome traces or those of torch's profiler.

    Args:
        *paths: One combined file, or one for each rank; may be gzipped.
        names: A pattern for the names of ops, where they are not as "2F0", "PP:2F0" or "Forward 0".
        unit: Unit of the file's times: us, ns, ms or s.

    Raises:
        OrderError: A file is no trace, or has no ops.
        SpecError: The pattern or the unit is illegal.
        OSError: A file cannot be read.
    """
    return Trace(chrome.load(*map(_text, paths), names=names, unit=unit))


def _text(path: str | Path) -> str:
    data = Path(path).read_bytes()
    return text_of(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Why a measured step takes as long as it does."""

    found: diagnosis.Diagnosis

    @property
    def verdict(self) -> str:
        """What costs most, what its repair saves, and what another schedule could save, in sentences."""
        return " ".join(map(str, self.found.verdict))

    @property
    def causes(self) -> dict[str, float]:
        """The share of the step that the repair of each cause saves alone, that which saves most first."""
        return {each.cause: each.saves for each in self.found.findings}

    @property
    def step_ms(self) -> float:
        """Measured milliseconds of a step, with the wait for the slowest replica and the tail after the last op."""
        return self.found.idle.step

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule of the same order at the measured costs of each stage."""
        return Schedule(self.found.spec)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, as ``bubbleline diagnose --json`` prints it."""
        return self.found.as_dict()


def diagnose(
    *paths: str | Path,
    step: int | None = None,
    replica: int | None = None,
    names: str | None = None,
    unit: str | None = None,
    layers: str | int | Sequence[int] | None = None,
) -> Diagnosis:
    """Say why the measured step in some files takes as long as it does, and what each repair would save.

    Args:
        *paths: Traces of torch's profiler or of this program (of all ranks, or one a rank), a production timeline,
            Megatron's timers, OpenTelemetry spans, Nsight's SQLite export, or a table as CSV or Parquet.
        step: Only this step; otherwise all.
        replica: Only this data-parallel replica; otherwise all.
        names: A pattern for the names of ops, where they are not as "2F0", "PP:2F0" or "Forward 0".
        unit: Unit of the times: us, ns, ms or s; us in a trace and ms in a table if None.
        layers: The layers of a stage, or of each, or Megatron's layout of them; then ``as_dict()["layers"]`` says how
            to move them.

    Raises:
        OrderError: The files hold no whole step.
        RequestError: A file is no text.
        SpecError: There is no such step or replica, or the pattern is illegal.
    """
    if not paths:
        raise OrderError("no file is given")
    recording = recording_of([Path(each) for each in paths], names, unit)
    return Diagnosis(diagnosis.diagnose(recording, step, replica, layers))
