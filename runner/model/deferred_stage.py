"""A stage driven op by op: forward, input gradient and weight gradient, each when the schedule says.

Keeps what micro-batches in flight need, and counts it. Knows nothing of ranks, messages or schedules.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, get_gradient_edge

from runner.model.activations import Memory, Saved, copy_stream
from runner.model.config import Training
from runner.model.deferred_ops import DeferredArithmetic, Later
from runner.model.reference import named, named_results
from runner.model.stage import Data, Stage
from runner.model.weights import Versions, descended


@dataclass(frozen=True, slots=True)
class Flight:
    """A micro-batch between its forward and its input gradient: the end of its graph, and where the graph leaves the
    gradient of the stage's input. No tensor is held here, so that what was kept can go to host memory meanwhile."""

    end: GradientEdge
    gradient: list[Tensor]


class DeferredStage:
    """A stage with its weight gradients deferred."""

    def __init__(self, training: Training, index: int, data: Data, memory: Memory):
        self.stage, self.index, self.training = Stage(training, index).to(data.device), index, training
        self.data, self.memory, self.movable = data, memory, False
        self.versions = Versions(self.stage) if training.asynchronous else None
        self.flights: dict[int, Flight] = {}
        self.saved: dict[int, Saved] = {}
        self.later: dict[int, Later] = {}
        self.losses: dict[int, Tensor] = {}
        self.anchor = torch.zeros((), requires_grad=True)
        self.stream = copy_stream(data.device)
        self.one = torch.ones((), device=data.device)

    def forward(self, micro: int, x: Tensor | None) -> Tensor:
        """F: hidden states out, or, where the model ends, this micro-batch's share of the loss."""
        later = self.later[micro] = []
        saved = self.saved[micro] = Saved(self.memory, self.movable)
        do = DeferredArithmetic(later, self.training.recompute)
        stage = self.stage if self.versions is None else self.versions.begin(micro)
        gradient: list[Tensor] = []
        with saved.recording():
            entry = self.data.inputs(micro) if x is None else _enter(self.anchor, x, gradient)
            out: Tensor = stage(entry, do)
            if stage.ends:
                loss = stage.loss(out, self.data.targets(micro), do)
                self.losses[micro] = loss.detach()
                out = loss * self.training.share
        self.flights[micro] = Flight(get_gradient_edge(out), gradient)
        saved.count()
        return out.detach()

    def input_gradient(self, micro: int, gradient: Tensor | None) -> Tensor | None:
        """I: the gradient of the stage's input (None on the first stage); leaves the weights' for later."""
        flight, saved = self.flights.pop(micro), self.saved[micro]
        saved.used()
        with saved.recording() if self.training.recompute != "none" else nullcontext():  # what it brings back
            torch.autograd.backward([flight.end], [self.one if gradient is None else gradient])
        saved.count()
        return flight.gradient[0] if flight.gradient else None

    def weight_gradient(self, micro: int) -> None:
        """W: add this micro-batch to the parameters' gradients, free what was kept for it, and, where every backward
        is a step of its own, take that step."""
        with torch.no_grad():
            later = self.later.pop(micro)
            for run in later:
                run()
            later.clear()  # the graph, if anything holds it still, refers to this list
        self.saved.pop(micro).close()
        if self.versions is not None:
            self.versions.update(micro)

    def offload(self, micro: int) -> int:
        """Move what a micro-batch's forward kept to host memory; the bytes moved."""
        return self.saved[micro].offload(self.stream)

    def reload(self, micro: int) -> int:
        """Bring it back."""
        return self.saved[micro].reload(self.data.device, self.stream)

    def forget(self) -> None:
        """Leave no trace of what was done so far."""
        self.losses.clear()
        self.stage.zero_grad(set_to_none=True)
        self.versions = Versions(self.stage) if self.training.asynchronous else None

    def results(self) -> dict[str, Tensor]:
        """What a reference is compared with, by name: the gradients, and the weights if they were changed."""
        if self.versions is not None:
            return named_results(self.versions.newest, self.versions.total, self.index)
        gradients = self.stage.gradients()
        if self.training.steps == 1:
            return named(gradients, self.index)
        return named_results(self.stage, gradients, self.index)

    def advance(self, data: Data) -> None:
        """One step of gradient descent, and on to the next step's data."""
        self.stage = descended(self.stage, self.stage.gradients())
        self.data = data
        self.losses.clear()


def _enter(anchor: Tensor, x: Tensor, left: list[Tensor]) -> Tensor:
    entered: Tensor = _Enter.apply(anchor, x, left)  # type: ignore[no-untyped-call]
    return entered


class _Enter(torch.autograd.Function):
    """The stage's input enters the graph, which keeps no hold of it: a leaf would be held until its gradient is there.
    The anchor is there to have the graph made."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, x: Tensor, left: list[Tensor]) -> Tensor:
        ctx.left = left
        return x.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, None]:
        ctx.left.append(gradient)
        return None, None, None
