"""Runs and stores of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from backend.database.address import Location
from backend.runs.run import Run
from backend.runs.store import Store
from backend.schedule.spec import Spec

DETAILS = {"bytes": [[0, 0, 8, 16, 4096], [1, 0, 0, 8, 64]], "messages": [[0, 1, 0, 1, 0, 30, 25, 41, 8]]}


def a_run(run_id: str = "abc", created: float = 100.0) -> Run:
    return Run(run_id, Spec().to_json(), "auto", None, created)


def grow(run: Run, ops: int = 2) -> None:
    """Add ops of rank 0, in one batch."""
    at = run.log.ops
    run.apply({"event": "op_batch", "ops": [[0, at + k, 1, 2, 3, 0] for k in range(ops)]})


def ops_of(run: Run) -> list[list[int]]:
    """All ops of a run as viewers receive them."""
    return [list(row) for row in run.log.rows()]


def a_finished_run(run_id: str = "abc", created: float = 100.0, rows: int = 3) -> Run:
    run = a_run(run_id, created)
    run.move(1)
    run.apply({"event": "warming", "id": run_id})
    run.apply({"event": "running", "mode": "paced", "device": "cpu", "overlapped": True, "unit_ms": 2.0, "clock_ns": 9})
    for k in range(rows):
        run.apply({"event": "op_batch", "ops": [[0, k, 10**15 + k, 20 + k, 30 + k, -1]]})
    run.apply({"event": "op_batch", "ops": [], **DETAILS})
    run.apply({"event": "verified", "verified": True, "max_grad_error": 0.0, "loss": 1.5})
    run.apply({"event": "finished", "verified": True, "measured": {"makespan": 3.5}, "predicted": {"makespan": 3.0}})
    return run


@contextmanager
def opened(location: Location) -> Iterator[Store]:
    """Open the store of a database until the end of the block."""
    store = Store(location)
    store.open()
    yield store
    store.close()
