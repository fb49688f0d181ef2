"""Weights that change: plain gradient descent, and the versions that a stage keeps where it updates after every
backward while other micro-batches are on their way (weight stashing, PipeDream, section 3.3).

A micro-batch's backward uses the version that its forward began with; a version is let go when no micro-batch on its
way began with it and it is not the newest. Knows nothing of ranks or schedules.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping

import torch
from torch import Tensor

from runner.model.stage import Stage

RATE = 0.05  # of descent: large enough that a stale gradient taken for a fresh one shows in the weights


def descended(stage: Stage, gradients: Mapping[str, Tensor]) -> Stage:
    """The stage one step of gradient descent further on; the one given stays as it is."""
    gone = copy.deepcopy(stage)
    gone.zero_grad(set_to_none=True)
    with torch.no_grad():
        for name, parameter in gone.named_parameters():
            parameter.sub_(gradients[name], alpha=RATE)
    return gone


class Versions:
    """The versions of one stage's weights; `held` the most that there were at once, `total` all gradients added up."""

    def __init__(self, stage: Stage) -> None:
        self.newest = stage
        self.begun: dict[int, Stage] = {}
        self.held = 1
        self.total: dict[str, Tensor] = {}

    def begin(self, micro: int) -> Stage:
        """The version that a micro-batch's forward uses: the newest there is."""
        self.begun[micro] = self.newest
        self._count()
        return self.newest

    def update(self, micro: int) -> None:
        """A new version from the newest and the gradient of a micro-batch, which is that of the version it began
        with."""
        used = self.begun.pop(micro)
        gradients = used.gradients()
        used.zero_grad(set_to_none=True)
        for name, gradient in gradients.items():
            self.total[name] = self.total[name] + gradient if name in self.total else gradient
        self.newest = descended(self.newest, gradients)
        self._count()

    def _count(self) -> None:
        self.held = max(self.held, len({id(stage) for stage in (*self.begun.values(), self.newest)}))
