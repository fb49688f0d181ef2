"""Forward-only runs: real processes, whose outputs are compared with those of a single process."""

from __future__ import annotations

import re

import pytest

from backend.schedule.families import registry
from runner.job.plan import plan
from tests.support.runner.client import TINY, RunnerProgram, planned_run
from tests.support.runner.faults import NAN, WRONG

SPEC = {"family": "1f1b", "p": 2, "m": 8, "forward_only": True}


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        (SPEC, {"mode": "free"}),
        ({"family": "interleaved", "p": 3, "m": 6, "v": 2}, {"mode": "paced", "unit_ms": 5}),
        ({"family": "v-zb", "p": 2, "m": 5}, {"mode": "free", "dtype": "bfloat16"}),
    ],
    ids=lambda value: str(value.get("family", value.get("mode"))),
)
def test_a_forward_only_run_has_the_outputs_and_the_loss_of_a_single_process(
    runner: RunnerProgram, spec: dict[str, object], options: dict[str, object]
) -> None:
    *events, last = runner.run(spec=spec | {"forward_only": True}, model=TINY, **options)
    assert (last["event"], last["verified"]) == ("finished", True)
    assert last["loss"] == pytest.approx(last["reference_loss"], rel=last["tolerance"])
    assert last["max_grad_error"] <= last["tolerance"]
    assert set(last["activations"]["peak_bytes"]) == {0}  # nothing is kept for a backward
    order = registry.order(registry.read(spec | {"forward_only": True}))
    rows = [row for event in events if event["event"] == "op_batch" for row in event["ops"]]
    assert len(rows) == len(order)


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        (WRONG, "the output of micro-batch [567] has a relative error"),
        (NAN, "the loss of micro-batch 5 in step 1 is nan"),
    ],
)
def test_a_wrong_output_is_found_and_its_micro_batch_named(
    altered_runner: RunnerProgram, seed: int, words: str
) -> None:
    spec = SPEC | {"p": 3}  # the fault is in the second stage, or in the last one
    last = altered_runner.run(spec=spec, mode="paced", unit_ms=2, seed=seed, model=TINY)[-1]
    assert (last["event"], last["verified"]) == ("finished", False)
    assert any(re.search(words, note["message"]) for note in last["notes"]), last["notes"]


def test_several_steps_without_training_are_refused(runner: RunnerProgram) -> None:
    last = runner.run(spec=SPEC, mode="free", steps=2, model=TINY)[-1]
    assert (last["event"], last["error"]["field"], last["error"]["nearest"]) == ("error", "steps", 1)


def test_a_spec_that_contradicts_its_order_is_refused_and_one_that_says_nothing_is_completed() -> None:
    order = registry.order(registry.read(SPEC))
    refused = planned_run({"forward_only": False}, order)
    with pytest.raises(Exception, match="the order has no backwards"):
        plan(refused)
    assert plan(planned_run({}, order)).training.forward_only
