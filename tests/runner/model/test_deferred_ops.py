"""Input and weight gradients as separate ops, against plain autograd, in one process."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from runner.model.activations import ActivationMemory
from runner.model.config import Shape, Training
from runner.model.deferred_stage import DeferredStage
from runner.model.parameters import Data
from runner.model.reference import mean, train
from runner.model.stage import Stage
from runner.worker.verification import compare, relative_error

SHAPE = Shape(hidden=16, heads=2, sequence=6, batch=2, vocabulary=24, layers=2)
MICROS = 3


def training_of(stages: int, micros: int = MICROS, seed: int = 0) -> Training:
    return Training(SHAPE, (SHAPE.layers,) * stages, micros, seed)


def parts(stages: int, seed: int = 0, recompute: str = "none", *, ahead: bool = False) -> list[DeferredStage]:
    training = replace(training_of(stages, MICROS, seed), recompute=recompute, ahead=ahead)
    data = Data(training, torch.device("cpu"))
    return [DeferredStage(training, index, data, ActivationMemory()) for index in range(stages)]


def forward(model: list[DeferredStage], micro: int) -> None:
    x = None
    for part in model:
        x = part.forward(micro, x)


def input_gradients(model: list[DeferredStage], micro: int) -> None:
    gradient = None
    for part in reversed(model):
        gradient = part.input_gradient(micro, gradient)


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("stages", [1, 3])
def test_deferred_gradients_equal_plain_autograd(stages: int, recompute: str, *, ahead: bool) -> None:
    model = parts(stages, recompute=recompute, ahead=ahead)
    for micro in range(MICROS):
        forward(model, micro)
        for part in model if ahead else ():
            part.recompute_ahead(micro)
            assert micro not in part.again
        input_gradients(model, micro)
    for part in model:
        for micro in reversed(range(MICROS)):
            part.weight_gradient(micro)
    (losses,), reference = train(training_of(stages))
    copies = [part.results() for part in model]
    loss = mean([float(model[-1].losses[micro]) for micro in range(MICROS)])
    verdict = compare(loss, copies, mean(losses), reference)
    assert verdict.verified, verdict
    assert sum(len(one) for one in copies) == len(reference) == sum(len(list(p.stage.parameters())) for p in model)


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_a_backward_does_not_import_what_would_take_each_worker_half_a_second(
    monkeypatch: pytest.MonkeyPatch, recompute: str
) -> None:
    monkeypatch.setitem(sys.modules, "torch.fx.experimental.symbolic_shapes", None)  # its import fails
    model = parts(2, recompute=recompute)
    forward(model, 0)
    input_gradients(model, 0)
    with pytest.raises(ImportError, match="symbolic_shapes"):
        torch.ones((), requires_grad=True).backward(torch.ones(()))


def test_a_gradient_of_another_shape_than_the_output_is_refused() -> None:
    first = parts(2)[0]
    first.forward(0, None)
    with pytest.raises(RuntimeError, match="shape"):
        first.input_gradient(0, torch.zeros(7, 3))


def test_the_input_gradient_op_touches_no_weight_and_leaves_work_on_every_stage() -> None:
    model = parts(2)
    forward(model, 0)
    input_gradients(model, 0)
    for part in model:
        assert all(parameter.grad is None for parameter in part.stage.parameters())
        assert len(part.deferred[0]) >= 12  # seven operations with parameters in each of two blocks, and the ends


@pytest.fixture
def no_gc() -> Iterator[None]:
    """Nothing may be left to the garbage collector."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_gc")
def test_activations_are_freed_once_their_weight_gradient_is_done() -> None:
    model = parts(2)
    seen: list[weakref.ref[torch.Tensor]] = []
    gelu = torch.nn.functional.gelu

    def watched(x: torch.Tensor) -> torch.Tensor:
        seen.append(weakref.ref(x))
        return gelu(x)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.functional, "gelu", watched)
        forward(model, 0)
    assert all(part.memory.live > 0 for part in model)
    input_gradients(model, 0)
    for part in model:
        part.weight_gradient(0)
        assert not part.saved
        assert not part.deferred
        assert part.memory.live == 0
    assert seen
    assert all(one() is None for one in seen)


def test_a_wrong_gradient_is_found_and_named() -> None:
    (losses,), reference = train(training_of(2))
    loss = mean(losses)
    spoiled = {name: gradient.clone() for name, gradient in reference.items()}
    spoiled["stage1.blocks.1.up"][0, 0] += 1e-3 * reference["stage1.blocks.1.up"].norm()
    verdict = compare(loss, [spoiled], loss, reference)
    assert not verdict.verified
    assert verdict.worst == "stage1.blocks.1.up"
    assert verdict.max_grad_error == pytest.approx(1e-3, rel=1e-2)


def test_a_parameter_without_a_gradient_is_not_verified() -> None:
    (losses,), reference = train(training_of(1, 1))
    loss = mean(losses)
    partial = {name: gradient for name, gradient in reference.items() if name != "stage0.positions"}
    verdict = compare(loss, [partial], loss, reference)
    assert not verdict.verified
    assert verdict.worst == "stage0.positions"


def test_a_gradient_that_is_not_a_number_is_the_worst_and_not_verified() -> None:
    (losses,), reference = train(training_of(1, 1))
    loss = mean(losses)
    broken = reference | {"stage0.head": torch.full_like(reference["stage0.head"], float("nan"))}
    verdict = compare(loss, [broken], loss, reference)
    assert not verdict.verified
    assert verdict.worst == "stage0.head"
    assert verdict.max_grad_error is None


def test_every_parameter_has_a_gradient_that_a_relative_error_can_judge() -> None:
    _, reference = train(training_of(2))
    assert min(float(gradient.norm()) for gradient in reference.values()) > 1e-4
    assert relative_error(reference["stage0.tokens"], reference["stage0.tokens"]) == 0.0


def test_weights_and_data_come_from_the_seed_alone() -> None:
    one, same, other = (Stage(training_of(3, seed=seed), 1) for seed in (7, 7, 8))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
    assert not torch.equal(next(iter(one.blocks)).qkv, next(iter(other.blocks)).qkv)


def test_activations_dropped_by_recomputation_are_restored_for_the_weight_gradient() -> None:
    kept = {}
    for mode in ("none", "selective", "full"):
        model = parts(2, recompute=mode)
        forward(model, 0)
        after_forward = model[0].memory.live
        input_gradients(model, 0)
        kept[mode] = (after_forward, model[0].memory.live)
    forwards, backwards = zip(*kept.values(), strict=True)
    assert forwards[0] > forwards[1] > forwards[2] > 0
    assert len(set(backwards)) == 1
    # Full keeps the input of each of a stage's two layers.
    assert forwards[2] == 2 * 4 * SHAPE.batch * SHAPE.sequence * SHAPE.hidden


@pytest.mark.usefixtures("no_gc")
def test_offloaded_activations_leave_the_device_and_are_reloaded_unchanged() -> None:
    model = parts(2)
    part = model[0]
    part.movable = True
    forward(model, 0)
    before = part.memory.live
    assert part.offload(0) == before
    assert (part.memory.live, part.memory.away) == (0, before)
    with pytest.raises(RuntimeError, match="while it is in host memory"):
        part.input_gradient(0, torch.zeros(SHAPE.batch, SHAPE.sequence, SHAPE.hidden))


@pytest.mark.usefixtures("no_gc")
def test_a_reload_restores_for_the_backward_what_the_forward_kept() -> None:
    moved, plain = parts(2), parts(2)
    for part in moved:
        part.movable = True
    for model in (moved, plain):
        forward(model, 0)
    for part in moved:
        part.offload(0)
        part.reload(0)
        assert part.memory.away == 0
        assert part.memory.peak == part.memory.whole
    for model in (moved, plain):
        input_gradients(model, 0)
        for part in model:
            part.weight_gradient(0)
            assert part.memory.live == 0
    for one, other in zip(moved, plain, strict=True):
        expected = other.results()
        assert all(torch.equal(gradient, expected[name]) for name, gradient in one.results().items())
