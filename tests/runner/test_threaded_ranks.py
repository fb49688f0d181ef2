"""Ranks as threads of one process, as on a shared GPU. Here on the CPU."""

from __future__ import annotations

import os
import signal

import pytest

from backend.schedule.families import registry
from tests.support.runner.altered_runner import THREADS
from tests.support.runner.client import LAST, TINY, RunnerProgram


@pytest.mark.parametrize("family", list(registry.FAMILIES))
def test_every_family_runs_in_one_process_with_the_gradients_of_plain_training(
    altered_runner: RunnerProgram, family: str
) -> None:
    last = altered_runner.run(spec={"family": family, "p": 2, "m": 4}, mode="free", seed=THREADS, model=TINY)[-1]
    assert (last["event"], last["verified"], last["device"]) == ("finished", True, "cpu")
    assert len(altered_runner.workers()) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"vocabulary": "parallel-1"},
        {"vocabulary": "parallel-2"},
        {"recompute": "full"},
        {"family": "gis", "v": 2, "offload": "full"},
    ],
    ids=str,
)
def test_options_run_in_one_process_too(altered_runner: RunnerProgram, options: dict[str, object]) -> None:
    spec = {"family": "1f1b", "p": 2, "m": 4} | options
    last = altered_runner.run(spec=spec, mode="paced", unit_ms=2, seed=THREADS, model=TINY, steps=2)[-1]
    assert (last["event"], last["verified"]) == ("finished", True)


def test_a_death_of_the_one_process_ends_the_run_and_the_next_one_works(altered_runner: RunnerProgram) -> None:
    altered_runner.start(spec={"family": "1f1b", "p": 3, "m": 200}, mode="paced", unit_ms=20, seed=THREADS, model=TINY)
    altered_runner.until("op_batch")
    victim = altered_runner.workers()[0]
    os.kill(victim, signal.SIGKILL)
    last = altered_runner.until(*LAST)[-1]
    assert last["failure"]["message"] == f"the worker process of all ranks, {victim}, ended (SIGKILL)"
    assert altered_runner.run(spec={"family": "1f1b", "p": 3, "m": 3}, mode="free", seed=THREADS, model=TINY)[-1][
        "verified"
    ]
