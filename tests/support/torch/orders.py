"""Torch's own schedule generators, called live: no process group, no module. For tests and the core's benchmark."""

from __future__ import annotations

from typing import Any

from torch.distributed.pipelining import schedules as torch_schedules
from torch.distributed.pipelining.stage import _PipelineStageBase

from backend.schedule.order.placement import Placement


class Stage(_PipelineStageBase):
    """As much of a stage as torch's generators look at; no process group, no module."""

    def __init__(self, placement: Placement, rank: int, index: int) -> None:
        self.stage_index, self.num_stages = index, placement.stages
        self.group_rank, self.group_size, self.group = rank, placement.p, None
        self.submod, self.device, self.has_backward = None, "cpu", True

    def _create_grad_recv_info(self, *args: Any, **kwargs: Any) -> tuple[()]:
        return ()

    def _prepare_forward_infra(self, *args: Any) -> Any: ...

    def _prepare_backward_infra(self, *args: Any) -> Any: ...


def torch_rows(name: str, placement: Placement, m: int) -> list[str]:
    """The rows of a torch schedule class, each op as its text, idle slots and gradient reductions left out."""
    stages = [Stage(placement, 0, index) for index in placement.stage_of[0].tolist()]
    make = getattr(torch_schedules, name)
    single = issubclass(make, torch_schedules.PipelineScheduleSingle)
    made = make(stages[0] if single else stages, m, loss_fn=lambda output, target: output)
    rows = made._get_pipeline_order() if single else made.pipeline_order
    return [" ".join(_text(a) for a in rows[rank] if a is not None and "REDUCE" not in str(a)) for rank in sorted(rows)]


def _text(action: Any) -> str:
    if action.sub_actions is None:
        return str(action)
    return f"({';'.join(str(each) for each in action.sub_actions)})OVERLAP_F_B"
