"""A stage driven op by op: forward, input gradient and weight gradient, each when the schedule says.

Keeps what micro-batches in flight need, and counts it. Knows nothing of ranks, messages or schedules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, get_gradient_edge

from runner.activations import Memory, Saved
from runner.deferred import DeferredArithmetic, Later
from runner.stage import Data, Stage


@dataclass(frozen=True, slots=True)
class Flight:
    """A micro-batch between its forward and its input gradient: the end of its graph, and where the graph leaves the
    gradient of the stage's input. No tensor is held here, so that what was kept can go to host memory meanwhile."""

    end: GradientEdge
    gradient: list[Tensor]


class DeferredStage:
    """A stage with its weight gradients deferred."""

    def __init__(self, stage: Stage, data: Data, micros: int, recompute: str = "none", memory: Memory | None = None):
        self.stage, self.data, self.recompute = stage, data, recompute
        self.memory = memory or Memory()
        self.share = 1.0 / micros  # of the loss that a micro-batch is
        self.flights: dict[int, Flight] = {}
        self.saved: dict[int, Saved] = {}
        self.later: dict[int, Later] = {}
        self.losses: dict[int, Tensor] = {}
        self.anchor = torch.zeros((), requires_grad=True)
        self.one = torch.ones((), device=data.device)

    def forward(self, micro: int, x: Tensor | None) -> Tensor:
        """F: hidden states out, or on the last stage this micro-batch's share of the loss."""
        later = self.later[micro] = []
        saved = self.saved[micro] = Saved(self.memory)
        do = DeferredArithmetic(later, self.recompute)
        gradient: list[Tensor] = []
        with saved.recording():
            entry = self.data.inputs(micro) if x is None else _enter(self.anchor, x, gradient)
            out: Tensor = self.stage(entry, do)
            if self.stage.last:
                loss = self.stage.loss(out, self.data.targets(micro), do)
                self.losses[micro] = loss.detach()
                out = loss * self.share
        self.flights[micro] = Flight(get_gradient_edge(out), gradient)
        saved.count()
        return out.detach()

    def input_gradient(self, micro: int, gradient: Tensor | None) -> Tensor | None:
        """I: the gradient of the stage's input (None on the first stage); leaves the weights' for later."""
        flight, saved = self.flights.pop(micro), self.saved[micro]
        saved.used()
        with saved.recording():  # what recomputation brings back
            torch.autograd.backward([flight.end], [self.one if gradient is None else gradient])
        saved.count()
        return flight.gradient[0] if flight.gradient else None

    def weight_gradient(self, micro: int) -> None:
        """W: add this micro-batch to the parameters' gradients and free what was kept for it."""
        with torch.no_grad():
            later = self.later.pop(micro)
            for run in later:
                run()
            later.clear()  # the graph, if anything holds it still, refers to this list
        self.saved.pop(micro).close()


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
