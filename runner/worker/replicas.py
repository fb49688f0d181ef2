"""Sum the gradients of stages that several ranks hold (DualPipe holds each twice, in opposite directions).

Every replica adds the same vectors in the same order, so that all end with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from runner.messages import StagePlaces
from runner.model.stage import Stage


def sum_replicas(group: Any, rank: int, stages: Sequence[Stage], replicas: Sequence[StagePlaces], tag: int) -> None:
    """Add up each stage's gradients over its (rank, chunk) places; `tag` and the tags after it, one per stage, must be
    free in the group. `stages` are this rank's, one per chunk."""
    for number, places in enumerate(replicas):
        own = {place: _flat(stages[place[1]]) for place in places if place[0] == rank}
        if not own:
            continue
        sample = next(iter(own.values()))
        if not sample.numel():  # a stage without layers
            continue
        others = {place: torch.empty_like(sample) for place in places if place[0] != rank}
        works = [group.recv([buffer], place[0], tag + number) for place, buffer in others.items()]
        works += [group.send([own[one]], place[0], tag + number) for one in own for place in others]
        for work in works:
            work.wait()
        gradients = own | others
        total = torch.stack([gradients[place] for place in places]).sum(0)
        for place in own:
            _assign(total, stages[place[1]])


def _flat(stage: Stage) -> Tensor:
    """Return all gradients of a stage as one vector (parameters,) on the CPU."""
    gradients = []
    for name, parameter in stage.named_parameters():
        assert parameter.grad is not None, f"parameter {name} received no gradient"
        gradients.append(parameter.grad.flatten().cpu())
    return torch.cat(gradients) if gradients else torch.empty(0)


def _assign(total: Tensor, stage: Stage) -> None:
    """Set the gradients of a stage from a vector (parameters,)."""
    parameters = list(stage.parameters())
    for parameter, part in zip(parameters, torch.split(total, [one.numel() for one in parameters]), strict=True):
        parameter.grad = part.view_as(parameter).clone().to(parameter.device)
