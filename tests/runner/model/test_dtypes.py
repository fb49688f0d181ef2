"""Runs in bfloat16 agree with a single process in bfloat16 within the rounding of that type, and no more."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from runner.model.activations import ActivationMemory
from runner.model.config import TINY, Training
from runner.model.deferred_stage import DeferredStage
from runner.model.parameters import Data
from runner.model.reference import mean, train
from runner.model.verdict import TOLERANCE
from runner.program.traffic import HEADER_BYTES
from runner.worker.verification import compare
from tests.support.runner.client import TINY as MODEL
from tests.support.runner.client import RunnerProgram

HALF = Training(TINY, (1, 1, 1), 8, 0, dtype="bfloat16")


@pytest.mark.parametrize(
    ("spec", "steps"),
    [
        ({"family": "zb-h1", "p": 2, "m": 4}, 1),
        ({"family": "dualpipe", "p": 2, "m": 4}, 2),
        ({"family": "1f1b", "p": 2, "m": 4, "recompute": "full"}, 1),
        ({"family": "1f1b", "p": 2, "m": 4, "vocabulary": "parallel-1"}, 1),
        ({"family": "1f1b", "p": 2, "m": 4, "vocabulary": "parallel-2"}, 3),
        ({"family": "pipedream", "p": 2, "m": 4}, 1),
        ({"family": "gis", "p": 2, "m": 4, "v": 2, "offload": "full"}, 1),
    ],
    ids=["zb-h1", "dualpipe", "recompute", "parallel-1", "parallel-2", "pipedream", "offload"],
)
def test_a_run_in_bfloat16_agrees_with_a_single_process_in_bfloat16(
    runner: RunnerProgram, spec: dict[str, object], steps: int
) -> None:
    last = runner.run(spec=spec, mode="free", model=MODEL, dtype="bfloat16", steps=steps)[-1]
    assert (last["event"], last["verified"], last["dtype"]) == ("finished", True, "bfloat16")
    assert last["max_grad_error"] <= TOLERANCE["bfloat16"] / 10, "both round in the same places"


def test_messages_and_activations_of_bfloat16_are_half_as_large(runner: RunnerProgram) -> None:
    found = {}
    for dtype in ("float32", "bfloat16"):
        events = runner.run(spec={"family": "1f1b", "p": 2, "m": 2}, mode="free", model=MODEL, dtype=dtype)
        sizes = {row[8] for event in events for row in event.get("messages", ())}
        assert len(sizes) == 1
        found[dtype] = (sizes.pop() - HEADER_BYTES, max(events[-1]["activations"]["peak_bytes"]))
    (whole, most), (half, less) = found["float32"], found["bfloat16"]
    assert whole == 2 * half
    assert less < 0.75 * most


def gradients(training: Training, micros: range) -> list[dict[str, torch.Tensor]]:
    """Gradients of the ops of a run, on these micro-batches only."""
    data = Data(training, torch.device("cpu"))
    model = [DeferredStage(training, index, data, ActivationMemory()) for index in range(training.stages)]
    for micro in micros:
        x = gradient = None
        for part in model:
            x = part.forward(micro, x)
        for part in reversed(model):
            gradient = part.input_gradient(micro, gradient)
            part.weight_gradient(micro)
    return [part.results() for part in model]


def test_the_tolerance_of_bfloat16_still_finds_a_micro_batch_left_out() -> None:
    (losses,), reference = train(HALF)
    loss = mean(losses)
    assert compare(loss, gradients(HALF, range(8)), loss, reference, "bfloat16").verified
    verdict = compare(loss, gradients(HALF, range(7)), loss, reference, "bfloat16")
    assert not verdict.verified
    assert verdict.max_grad_error is not None
    assert verdict.max_grad_error > 2 * TOLERANCE["bfloat16"]


def test_weights_and_their_gradients_stay_float32_and_bfloat16_is_near_float32() -> None:
    (losses,), reference = train(HALF)
    loss = mean(losses)
    assert {gradient.dtype for gradient in reference.values()} == {torch.float32}
    (losses,), gradients_exact = train(replace(HALF, dtype="float32"))
    exact = mean(losses)
    verdict = compare(loss, [reference], exact, gradients_exact)
    assert verdict.max_grad_error is not None
    assert TOLERANCE["float32"] < verdict.max_grad_error < 2 * TOLERANCE["bfloat16"]


def test_an_unknown_type_is_refused(runner: RunnerProgram) -> None:
    last = runner.run(spec={"p": 2, "m": 2}, dtype="float16")[-1]
    assert (last["event"], last["error"]["field"], last["error"]["nearest"]) == ("error", "dtype", "float32")
