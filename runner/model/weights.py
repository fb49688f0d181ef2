"""Weights that change: plain gradient descent, and the weight versions of a stage that updates after every backward
while other micro-batches are in flight (weight stashing, PipeDream, section 3.3).

The backward of a micro-batch uses the version with which its forward began; a version is freed when no micro-batch in
flight began with it and it is not the newest. Knows nothing of ranks or schedules.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import Tensor

from runner.model.parameters import RATE
from runner.model.stage import Stage


def descended(stage: Stage, gradients: Mapping[str, Tensor]) -> Stage:
    """Return a copy of a stage after one step of gradient descent; `gradients` by the names of its parameters."""
    updated = copy.deepcopy(stage)
    updated.zero_grad(set_to_none=True)
    with torch.no_grad():
        for name, parameter in updated.named_parameters():
            if name in gradients:  # else the stage is not trained
                parameter.sub_(gradients[name], alpha=RATE)
    return updated


class Versions:
    """The versions of one stage's weights; `held` is the most that existed at once, `total` the sum of all gradients by
    parameter."""

    def __init__(self, stage: Stage) -> None:
        self.newest = stage
        self.begun: dict[int, Stage] = {}
        self.held = 1
        self.total: dict[str, Tensor] = {}

    def begin(self, micro: int) -> Stage:
        """Return the version for a micro-batch's forward: the newest."""
        self.begun[micro] = self.newest
        self._count()
        return self.newest

    def update(self, micro: int) -> None:
        """Make a new version from the newest and the gradient of a micro-batch, computed with the version that its
        forward began with."""
        used = self.begun.pop(micro)
        gradients = used.gradients()
        used.zero_grad(set_to_none=True)
        for name, gradient in gradients.items():
            self.total[name] = self.total[name] + gradient if name in self.total else gradient
        self.newest = descended(self.newest, gradients)
        self._count()

    def _count(self) -> None:
        self.held = max(self.held, len({id(stage) for stage in (*self.begun.values(), self.newest)}))
