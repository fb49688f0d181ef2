"""Sums the gradients of stages that are held more than once (DualPipe holds each twice, in opposite directions).

Every copy adds the same vectors in the same order, so that all copies end with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from runner.messages import StagePlaces
from runner.model.stage import Stage


def sum_copies(group: Any, rank: int, stages: Sequence[Stage], copies: Sequence[StagePlaces], tag: int) -> None:
    """Add up each stage's gradients over its places; `tag` and the tags after it, one a stage, must be free."""
    for number, places in enumerate(copies):
        mine = {place: _flat(stages[place[1]]) for place in places if place[0] == rank}
        if not mine:
            continue
        sample = next(iter(mine.values()))
        if not sample.numel():  # a stage without layers
            continue
        others = {place: torch.empty_like(sample) for place in places if place[0] != rank}
        works = [group.recv([buffer], place[0], tag + number) for place, buffer in others.items()]
        works += [group.send([mine[one]], place[0], tag + number) for one in mine for place in others]
        for work in works:
            work.wait()
        everywhere = mine | others
        total = torch.stack([everywhere[place] for place in places]).sum(0)
        for place in mine:
            _spread(total, stages[place[1]])


def _flat(stage: Stage) -> Tensor:
    gradients = []
    for name, parameter in stage.named_parameters():
        if parameter.grad is None:
            raise RuntimeError(f"parameter {name} received no gradient")
        gradients.append(parameter.grad.flatten().cpu())
    return torch.cat(gradients) if gradients else torch.empty(0)


def _spread(total: Tensor, stage: Stage) -> None:
    parameters = list(stage.parameters())
    for parameter, part in zip(parameters, torch.split(total, [one.numel() for one in parameters]), strict=True):
        parameter.grad = part.view_as(parameter).clone().to(parameter.device)
