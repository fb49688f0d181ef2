"""A stage driven op by op: forward, input gradient and weight gradient are separate calls.

Holds the saved activations of micro-batches in flight, and counts their bytes. Knows no ranks, messages or schedules.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, get_gradient_edge

from runner.model.activations import ActivationMemory, SavedActivations, copy_stream
from runner.model.config import Training
from runner.model.deferred_ops import Again, Deferred, DeferredArithmetic, leave
from runner.model.operations import Arithmetic
from runner.model.parameters import Data, named_outputs, named_results
from runner.model.stage import Stage, cross_entropy
from runner.model.weights import Versions, descended


@dataclass(frozen=True, slots=True)
class InFlight:
    """A micro-batch between its forward and its input gradient: the end of its graph, the list from which the graph
    takes the gradient of the stage's output, and the one to which it appends that of the stage's input, both (batch,
    sequence, hidden). Holds no activation, so that these can be moved to host memory meanwhile."""

    end: GradientEdge
    given: list[Tensor]
    gradient: list[Tensor]


class DeferredStage:
    """A stage with its weight gradients deferred."""

    def __init__(self, training: Training, index: int, data: Data, memory: ActivationMemory):
        self.stage, self.index, self.training = Stage(training, index).to(data.device), index, training
        self.data, self.memory, self.movable = data, memory, False
        self.frozen = index in training.frozen
        self.versions = Versions(self.stage) if training.asynchronous else None
        self.in_flight: dict[int, InFlight] = {}
        self.saved: dict[int, SavedActivations] = {}
        self.deferred: dict[int, Deferred | None] = {}  # None: the stage is not trained
        self.again: dict[int, Again] = {}  # of the micro-batches in flight, if they recompute ahead of the gradient
        self.losses: dict[int, Tensor] = {}
        self.outputs: dict[int, Tensor] = {}  # (batch, vocabulary), of a forward-only run
        self.anchor = torch.zeros((), requires_grad=True)
        self.stream = copy_stream(data.device)

    def forward(self, micro: int, x: Tensor | None) -> Tensor:
        """Run F: x and result (batch, sequence, hidden); x None where the model begins. Where it ends, the result is
        the micro-batch's share of the loss, (); of a forward-only run, its output."""
        if self.training.keeps_nothing(self.index):
            return self._infer(micro, x)
        deferred: Deferred | None = None if self.frozen else []
        self.deferred[micro] = deferred
        saved = self.saved[micro] = SavedActivations(self.memory, self.movable)
        again = self.again.setdefault(micro, []) if self.training.ahead else None
        ops = DeferredArithmetic(deferred, self.training.recompute_of(self.index, micro), again)
        stage = self.stage if self.versions is None else self.versions.begin(micro)
        given: list[Tensor] = []
        gradient: list[Tensor] = []
        with saved.recording():
            entry = self.data.inputs(micro) if x is None else _enter(self.anchor, x, gradient)
            out: Tensor = stage(entry, ops)
            if stage.ends:
                loss = stage.loss(out, self.data.targets(micro), ops)
                self.losses[micro] = loss.detach()
                out = loss * self.training.share
        end = out if stage.ends else leave(out, given)
        self.in_flight[micro] = InFlight(get_gradient_edge(end), given, gradient)
        saved.count()
        return out.detach()

    def _infer(self, micro: int, x: Tensor | None) -> Tensor:
        """Run F where no backward follows, and keep nothing for one. Where the model ends, the result is the logits
        (batch, vocabulary) of the token after each sequence, which depend on all tokens before it."""
        with torch.no_grad():
            ops = Arithmetic()
            out: Tensor = self.stage(self.data.inputs(micro) if x is None else x, ops)
            if self.stage.ends:
                logits = self.stage.logits(out, ops)
                self.losses[micro] = cross_entropy(logits, self.data.targets(micro))
                out = self.outputs[micro] = logits[:, -1].clone()  # a view would keep all of them
        return out

    def recompute_ahead(self, micro: int) -> None:
        """Run again what a micro-batch has not saved, before the gradient of the stage's output is there."""
        saved = self.saved[micro]
        saved.begin_backward()
        with saved.recording():
            for run_again in self.again.pop(micro, ()):
                run_again()
        saved.count()

    def input_gradient(self, micro: int, gradient: Tensor | None) -> Tensor | None:
        """Run I: from the gradient of the stage's output, None where the model ends, to that of its input, None on the
        first stage, both (batch, sequence, hidden); the weights' gradients are deferred."""
        flight, saved = self.in_flight.pop(micro), self.saved[micro]
        self.again.pop(micro, None)
        saved.begin_backward()
        runs_again = self.training.recompute_of(self.index, micro) != "none"
        with saved.recording() if runs_again else nullcontext():
            if gradient is not None:
                flight.given.append(gradient)
            torch.autograd.backward(flight.end)
        saved.count()
        return flight.gradient[0] if flight.gradient else None

    def weight_gradient(self, micro: int) -> None:
        """Run W: add this micro-batch to the parameters' gradients, free its activations, and, where every backward is
        a step of its own, update the weights."""
        with torch.no_grad():
            deferred = self.deferred.pop(micro) or []
            for compute in deferred:
                compute()
            deferred.clear()  # the graph, if anything still holds it, refers to this list
        self.saved.pop(micro).close()
        if self.versions is not None:
            self.versions.update(micro)

    def offload(self, micro: int) -> int:
        """Move the saved activations of a micro-batch to host memory; returns the bytes moved."""
        return self.saved[micro].offload(self.stream)

    def reload(self, micro: int) -> int:
        """Move them back to the device; returns the bytes moved."""
        return self.saved[micro].reload(self.data.device, self.stream)

    def reset(self) -> None:
        """Undo all effects of the ops so far."""
        self.losses.clear()
        self.outputs.clear()
        self.stage.zero_grad(set_to_none=True)
        self.versions = Versions(self.stage) if self.training.asynchronous else None

    def results(self) -> dict[str, Tensor]:
        """Return the results that are compared with the reference's, by name, each of its parameter's shape: the
        gradients, and the weights if they were changed; of a forward-only run the outputs (batch, vocabulary)."""
        if self.training.forward_only:
            return named_outputs(self.outputs)
        if self.versions is not None:
            return named_results(self.versions.total, self.index, dict(self.versions.newest.named_parameters()))
        weights = dict(self.stage.named_parameters()) if self.training.steps > 1 else None
        return named_results(self.stage.gradients(), self.index, weights)

    def advance(self, data: Data) -> None:
        """Do one step of gradient descent, and go on to the next step's data."""
        self.stage = descended(self.stage, self.stage.gradients())
        self.data = data
        self.losses.clear()


def _enter(anchor: Tensor, x: Tensor, gradients: list[Tensor]) -> Tensor:
    entered: Tensor = _Enter.apply(anchor, x, gradients)
    return entered


class _Enter(torch.autograd.Function):
    """Put the stage's input x (batch, sequence, hidden) into the graph without a reference from the graph.

    The graph would hold a leaf until its gradient is computed. The anchor () requires a gradient, so that there is a
    graph.
    """

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, x: Tensor, gradients: list[Tensor]) -> Tensor:
        ctx.gradients = gradients
        return x.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, None]:
        ctx.gradients.append(gradient)
        return None, None, None
