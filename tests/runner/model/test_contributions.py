"""One micro-batch of hundreds that is left out of the gradients, or in them twice, is found in bfloat16 too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from runner.messages import Verify, results_file
from runner.model.activations import ActivationMemory
from runner.model.config import Shape, Training
from runner.model.contributions import Contributions
from runner.model.deferred_stage import DeferredStage
from runner.model.parameters import Data
from runner.model.reference import train
from runner.model.verdict import TOLERANCE, Verdict
from runner.worker import verification
from runner.worker.verification import compare, relative_error, verify
from tests.support.runner.client import TINY as MODEL
from tests.support.runner.client import RunnerProgram

MANY, ODD = 300, 45  # micro-batches, and the one that is left out or doubled: too small a part for a norm to find
TRAINING = Training(Shape(**MODEL), (1, 1), MANY, 0, dtype="bfloat16")
Results = dict[str, Tensor]


@pytest.fixture(scope="module")
def stages() -> tuple[Sequence[float], list[Results], list[Results]]:
    """The losses of a run in bfloat16 with all micro-batches, each stage's gradients, and those of one
    micro-batch alone."""
    data = Data(TRAINING, torch.device("cpu"))
    model = [DeferredStage(TRAINING, index, data, ActivationMemory()) for index in range(TRAINING.stages)]

    def run(micros: Sequence[int]) -> list[Results]:
        for micro in micros:
            passed = model[1].forward(micro, model[0].forward(micro, None))
            assert not passed.shape
            model[0].input_gradient(micro, model[1].input_gradient(micro, None))
            for stage in model:
                stage.weight_gradient(micro)
        return [{name: value.clone() for name, value in stage.results().items()} for stage in model]

    alone = run([ODD])
    for stage in model:
        stage.reset()
    whole = run(range(MANY))
    return [float(model[1].losses[micro]) for micro in range(MANY)], whole, alone


@pytest.fixture(scope="module")
def trained_once() -> Iterator[None]:
    """Train the reference of TRAINING once: it is the same for every verdict, with what was recorded of it."""
    kept: list[tuple[list[list[float]], Results, dict[str, Any]]] = []

    def train_once(
        training: Training, device: torch.device, beat: Any, record: Any
    ) -> tuple[list[list[float]], Results]:
        assert training == TRAINING
        recorded: Contributions = record.__self__
        if not kept:
            kept.append((*train(training, device, beat, record), vars(recorded)))
        losses, reference, contributions = kept[0]
        vars(recorded).update(contributions)
        return losses, dict(reference)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verification, "train", train_once)
        yield


def verdict_on(folder: Path, losses: Sequence[float], stages: Sequence[Results]) -> Verdict:
    """The verdict of a run whose rank r has stage r."""
    for rank, results in enumerate(stages):
        torch.save({f"0/{name}": result for name, result in results.items()}, results_file(str(folder), rank))
    return verify(Verify(TRAINING, "cpu", str(folder), len(stages), tuple(losses), None))


def plus(results: Results, more: Results, times: float) -> Results:
    return {name: value + times * more[name] for name, value in results.items()}


@pytest.mark.usefixtures("trained_once")
@pytest.mark.parametrize(
    ("stage", "times", "count"), [(0, -1.0, "0.00"), (1, 1.0, "2.00")], ids=["left out", "doubled"]
)
def test_one_micro_batch_of_hundreds_left_out_or_doubled_on_one_stage_is_found(
    stages: tuple[Sequence[float], list[Results], list[Results]], tmp_path: Path, stage: int, times: float, count: str
) -> None:
    losses, whole, alone = stages
    wrong = [
        plus(each, one, times) if at == stage else each for at, (each, one) in enumerate(zip(whole, alone, strict=True))
    ]
    verdict = verdict_on(tmp_path, losses, wrong)
    assert (verdict.verified, verdict.worst) == (False, f"count {stage}/{ODD}/{count}")
    errors = [relative_error(each[name], whole[at][name]) for at, each in enumerate(wrong) for name in each]
    assert 0.0 < max(errors) < TOLERANCE["bfloat16"], "a norm does not find it"


@pytest.mark.usefixtures("trained_once")
def test_a_right_run_of_hundreds_of_micro_batches_is_verified(
    stages: tuple[Sequence[float], list[Results], list[Results]], tmp_path: Path
) -> None:
    losses, whole, _ = stages
    verdict = verdict_on(tmp_path, losses, whole)
    assert verdict.verified
    assert verdict.max_grad_error is not None
    assert verdict.max_grad_error < TOLERANCE["float32"]


def test_in_float32_a_norm_alone_finds_one_micro_batch_of_many() -> None:
    training = Training(Shape(**MODEL), (1,), 256, 0)
    sums: list[Results] = []
    (losses,), reference = train(
        training, record=lambda micro, stages: sums.append({k: v.clone() for k, v in stages[0].items()})
    )
    left_out = {name: value - (sums[8][name.removeprefix("stage0.")] - sums[7][name.removeprefix("stage0.")])
                for name, value in reference.items()}  # fmt: skip
    loss = sum(losses) / len(losses)
    verdict = compare(loss, [left_out], loss, reference)
    assert verdict.max_grad_error is not None
    assert verdict.max_grad_error > 100 * TOLERANCE["float32"]


@given(
    micros=st.integers(64, 400), odd=st.integers(0, 63), times=st.sampled_from([-1.0, 1.0]),
    noise=st.floats(0.0, 0.02), common=st.floats(0.0, 3.0), seed=st.integers(0, 2**16),
)  # fmt: skip
def test_roundings_of_every_micro_batch_neither_hide_a_wrong_one_nor_pass_for_one(
    micros: int, odd: int, times: float, noise: float, common: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    scale = random.lognormal(0.0, 1.0, 600)
    added = torch.tensor((random.standard_normal((micros, 600)) + common * random.standard_normal(600)) * scale)
    rounded = torch.tensor(1.0 + noise * random.standard_normal((micros, 600)))
    contributions = Contributions(micros)
    total = torch.zeros(600, dtype=torch.float64)
    for micro in range(micros):
        total = total + added[micro]
        contributions.record(micro, [{"head": total}])
    right = (added * rounded).sum(0)
    assert contributions.wrong({"stage0.head": right}) is None
    found = contributions.wrong({"stage0.head": right + times * added[odd]})
    assert found is not None
    assert (found.stage, found.micro) == (0, odd)
    assert found.times == pytest.approx(1.0 + times, abs=0.3)


def test_roundings_of_few_micro_batches_that_are_much_alike_do_not_pass_for_one_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = torch.Generator().manual_seed(0)
    first, noise, rounding = torch.ones(600), *(torch.randn(600, generator=random) for _ in range(2))
    second = first + 0.01 * noise

    def train_alike(_: Training, __: Any, ___: Any, record: Any) -> tuple[list[list[float]], Results]:
        for micro, total in enumerate((first, first + second)):
            record(micro, [{"head": total}])
        return [[1.0, 1.0]], {"stage0.head": first + second}

    monkeypatch.setattr(verification, "train", train_alike)
    rounded = (first + second) * (1.0 + TOLERANCE["bfloat16"] / 2 * rounding.sign())
    torch.save({"0/stage0.head": rounded}, results_file(str(tmp_path), 0))
    training = Training(Shape(**MODEL), (1,), 2, 0, dtype="bfloat16")
    assert verify(Verify(training, "cpu", str(tmp_path), 1, (1.0, 1.0), None)).verified


def test_without_differences_between_micro_batches_nothing_is_said() -> None:
    alike = Contributions(3)
    for micro in range(3):
        alike.record(micro, [{"head": torch.full((4,), micro + 1.0)}, {}])
    assert alike.wrong({"stage0.head": torch.full((4,), 3.0)}) is None
    assert Contributions(3).wrong({}) is None


def test_few_entries_of_many_are_kept_for_many_micro_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.model.contributions.MOST_KEPT", 60)
    contributions = Contributions(3)
    stages = [{"a": torch.zeros(50), "b": torch.zeros(2, 25)}, {"a": torch.zeros(7)}]
    contributions.record(0, stages)
    assert [each.shape for each in contributions.added] == [(3, 10), (3, 7)]
    assert contributions.wrong({}) is None


def test_many_updates_one_after_the_other_stay_those_of_the_reference(runner: RunnerProgram) -> None:
    spec = {"family": "pipedream", "p": 2, "m": 64}
    last = runner.run(spec=spec, mode="free", model=MODEL, dtype="bfloat16")[-1]
    assert last["verified"]
    assert last["max_grad_error"] < TOLERANCE["float32"]
