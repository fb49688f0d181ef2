"""Build the setup of each rank before a run, and the fields of the `running` and `finished` events.

Does not decide when any of these is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.errors import message
from backend.schedule.interop.measured_rows import FIELDS
from runner.engines.base import JobResources
from runner.job.outcome import busy_machine, finite, notes, outcome, resource_use, timing_details
from runner.job.plan import JobPlan
from runner.job.watchdog import SECOND, patience_ns
from runner.messages import Ready, Setup, StepDone
from runner.model.verdict import TOLERANCE, Verdict
from runner.telemetry.op_board import Board


def setups(plan: JobPlan, resources: JobResources, board: Board) -> Iterator[Setup]:
    """Yield the setup of each rank."""
    for rank in range(plan.ranks):
        yield Setup(
            group=resources.groups[rank],
            program=plan.program.ranks[rank],
            folder=resources.folder,
            meeting=resources.meeting,
            rows=board.first_rows(rank),
            training=plan.training,
            device=plan.device_of(rank),
            arrivals=plan.arrivals_of(rank),
            replicas=plan.program.replicas,
            unit=(plan.unit_ms or 0.0) * 1e6,
            hop=int(plan.hop_ms * 1e6),
            mailbox=resources.mailbox,
            together=plan.together,
            wire=plan.costs.wire,
        )


class Report:
    """The events of one run; `ready` are the replies of its ranks, in their order."""

    def __init__(self, ready: Sequence[Ready]) -> None:
        devices = sorted({reply.device for reply in ready})
        shared = any(reply.shared for reply in ready)
        names = ", ".join(devices)
        self.device = message("runner.shared_gpu", "shared GPU {devices}", devices=names) if shared else names
        self.record_ns = max(reply.record_ns for reply in ready)
        self.longest = max(reply.longest for reply in ready)
        self.hops = [hop.latency for reply in ready for hop in reply.hops]

    @property
    def hop_ms(self) -> float:
        """Return the latency, in ms, between the two neighbours that are farthest apart."""
        return max(self.hops) / 1e6

    def running(self, plan: JobPlan) -> dict[str, Any]:
        """Return the fields of `running`."""
        return {
            "mode": plan.mode,
            "why": plan.why,
            "device": self.device,
            "overlapped": False if plan.program.pairs else None,  # a CPU does the halves one after the other
            "unit_ms": plan.unit_ms,
            "ops": plan.program.ops,
            "stall_s": patience_ns(plan, self.longest) / SECOND,
            "fields": FIELDS,
            **self._hop(plan),
        }

    def _hop(self, plan: JobPlan) -> dict[str, float]:
        """Return the hop of the plan, if hops were measured."""
        return {"hop_ms": plan.hop_ms} if self.hops else {}

    def finished(
        self,
        plan: JobPlan,
        board: Board,
        results: Sequence[StepDone],
        losses: Sequence[Sequence[float]],
        verdict: Verdict,
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the fields of `verified` and of `finished`. `losses` are those of each micro-batch of each step."""
        dtype = plan.training.dtype
        verified = {"verified": verdict.verified, "max_grad_error": verdict.max_grad_error}
        verified |= {"tolerance": TOLERANCE[dtype]}
        verified |= {"loss": finite(verdict.loss), "reference_loss": finite(verdict.reference_loss)}
        unit_ns = None if plan.unit_ms is None else plan.unit_ms * 1e6
        measured = outcome(plan.timeline, board.times, unit_ns)
        details = timing_details(plan, board, self.record_ns, measured)
        late = busy_machine(plan, measured, details)
        finished = {
            "status": "finished",
            **verified,
            "device": self.device,
            "mode": plan.mode,
            "dtype": dtype,
            "unit_ms": measured.unit_ms,
            "predicted": measured.predicted,
            "measured": measured.measured,
            "largest_residual": measured.largest_residual,
            **resource_use(plan, results, losses),
            **late,
            **notes(plan, measured, verdict, results, losses, late),
            **details,
        }
        return verified | {"worst": verdict.worst}, finished | self._hop(plan)
