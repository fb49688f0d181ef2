"""What a job tells its ranks before a run, and its reader when the run begins and when it is over.

Knows the fields of these; not when any is sent, nor how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.engines.base import JobResources
from runner.job.outcome import finite, judged, kept, notes, outcome
from runner.job.plan import Plan
from runner.messages import TOLERANCE, Ready, Setup, StepDone, Verdict
from runner.program.traffic import Traffic
from runner.telemetry.op_board import Board


def setups(plan: Plan, ground: JobResources, board: Board) -> Iterator[Setup]:
    """What each rank needs to know."""
    for rank in range(plan.ranks):
        yield Setup(
            group=ground.groups[rank],
            program=plan.program.ranks[rank],
            folder=ground.folder,
            meeting=ground.meeting,
            rows=board.places(rank),
            training=plan.training,
            device=plan.device_of(rank),
            arrivals=plan.arrivals_of(rank),
            replicas=plan.program.replicas,
            unit=(plan.unit_ms or 0.0) * 1e6,
            hop=int(plan.hop_ms * 1e6),
            mailbox=ground.mailbox,
            together=plan.together,
        )


class Report:
    """What is told of one run whose ranks said, in their order, what they are `ready` with."""

    def __init__(self, ready: Sequence[Ready]) -> None:
        devices = {reply.device for reply in ready}
        self.device = "cpu" if devices == {"cpu"} else ", ".join(sorted(devices))
        self.note_ns = max(reply.note_ns for reply in ready)
        self.hops = [hop.latency for reply in ready for hop in reply.links]

    @property
    def hop_ms(self) -> float:
        """How long a hop takes between those two neighbours that are farthest apart."""
        return max(self.hops) / 1e6

    def running(self, plan: Plan) -> dict[str, Any]:
        """Of a run that begins."""
        return {
            "mode": plan.mode,
            "why": plan.why,
            "device": self.device,
            "overlapped": False if plan.program.pairs else None,  # a CPU does the halves one after the other
            "unit_ms": plan.unit_ms,
            "ops": plan.program.ops,
            **self._hop(plan),
        }

    def _hop(self, plan: Plan) -> dict[str, float]:
        """The hop that the plan has, where hops were measured."""
        return {"hop_ms": plan.hop_ms} if self.hops else {}

    def finished(
        self,
        plan: Plan,
        board: Board,
        traffic: Traffic,
        results: Sequence[StepDone],
        losses: Sequence[Sequence[float]],
        verdict: Verdict,
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Of a run that is over: the verdict, and everything."""
        dtype = plan.training.dtype
        judgement = {"verified": verdict.verified, "max_grad_error": verdict.max_grad_error}
        judgement |= {"tolerance": TOLERANCE[dtype]}
        judgement |= {"loss": finite(verdict.loss), "reference_loss": finite(verdict.reference_loss)}
        unit_ns = None if plan.unit_ms is None else plan.unit_ms * 1e6
        found = outcome(plan.timeline, board.times, unit_ns)
        told = {
            "status": "finished",
            **judgement,
            "device": self.device,
            "mode": plan.mode,
            "dtype": dtype,
            "unit_ms": found.unit_ms,
            "predicted": found.predicted,
            "measured": found.measured,
            "largest_residual": found.largest_residual,
            **kept(plan, results, losses),
            **notes(plan, found, verdict, results, losses),
            **judged(plan, board, traffic, self.note_ns, found),
        }
        return judgement | {"worst": verdict.worst}, told | self._hop(plan)
