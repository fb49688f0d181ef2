"""What a run command comes to: the order, its planned times, its matched program, how fast and on what it runs.

Knows the limits of this machine. Every refusal is a SpecError (field, value, limit, nearest) or an OrderError.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from backend.schedule.errors import SpecError
from backend.schedule.order.ops import Pair
from backend.schedule.order.order import Order
from backend.schedule.order.weight_versions import weight_versions
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs, copy_times
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.simulate import Timeline, simulate
from runner import devices
from runner.devices import Machine
from runner.job.work import Work, work_of
from runner.model.config import SMALL, TINY, Shape, Training, blocks_of, shape_from_json
from runner.program.compile import Program, build
from runner.program.instructions import Link
from runner.protocol import Run

MAX_OPS = 100_000
MAX_SECONDS = 600.0
REHEARSED_OPS = 1000  # of a rank
DEFAULT_SECONDS = 60.0
DEFAULT_OP_MS = 20.0
WORK_MS = 3.0  # an op of the tiny model with its messages, and room for what else the core does


@dataclass(frozen=True, slots=True)
class Plan:
    """A run, ready to be set up. `unit_ms` is None in free mode; `used` are the weight versions of each stage's
    micro-batches where weights change on the way; `v` divides costs that are given for a device, `why` says
    why it is this mode; `together`: the ranks are threads of one process, and share `gpus` if they are on any."""

    program: Program
    timeline: Timeline
    training: Training
    mode: str
    device: str
    unit_ms: float | None
    hop_ms: float
    used: tuple[tuple[int, ...], ...] | None
    v: int = 1
    why: str = ""
    together: bool = False
    gpus: int = 0
    costs: Costs = field(default_factory=Costs)

    @property
    def ranks(self) -> int:
        """Number of worker processes needed."""
        return len(self.program.ranks)

    def device_of(self, rank: int) -> str:
        """The device of a rank, as torch names it."""
        if self.device != "cuda":
            return self.device
        return f"cuda:{rank * self.gpus // self.ranks if self.together else rank}"

    def arrivals_of(self, rank: int) -> tuple[Link, ...]:
        """What the other ranks send to this one, each in its own order; on GPUs only."""
        if self.device == "cpu" or self.together:
            return ()
        return tuple(link for other in self.program.ranks for link in other.sends() if link.target == rank)

    @property
    def rehearsed(self) -> bool:
        """Whether the step runs once unseen first. Unpaced ops last longer while memory is touched for the first time,
        as warming up cannot do without holding as much; in a long step, or the last of several, that is over soon."""
        short = max(len(rank.steps) for rank in self.program.ranks) <= REHEARSED_OPS
        return self.mode == "free" and self.device == "cpu" and self.training.steps == 1 and short

    @property
    def longest_op_ms(self) -> float:
        """The longest time that an op is meant to take, with its hop; 0 in free mode."""
        longest = float((self.timeline.end - self.timeline.start).max())
        return longest * (self.unit_ms or 0.0) + self.hop_ms


def plan(run: Run, machine: Machine | None = None) -> Plan:
    """The plan of a run command on a machine, this host by default."""
    machine = machine or devices.here()
    work = work_of(run)
    order = work.order
    if len(order) > MAX_OPS:
        nearest = max(1, order.m * MAX_OPS // len(order))
        message = f"{len(order):,} ops are over the runner's limit of {MAX_OPS:,}; m = {nearest} is about the most"
        raise SpecError("m", order.m, message, limit=MAX_OPS, nearest=nearest)
    check(order)
    timeline = simulate(order, work.costs, work.v)
    # To name a unit is to ask for ops of that length; otherwise what the machine has room for.
    choice = _choose(order.p, machine, run.device)
    device, mode, why = choice.device, run.mode, f"{run.mode}, as asked"
    if run.mode == "auto":
        mode, why = ("paced", "paced, since a unit was given") if run.unit_ms is not None else (choice.mode, choice.why)
    if mode == "free" and run.unit_ms is not None:
        raise SpecError("unit_ms", run.unit_ms, "unit_ms goes with paced mode; free mode has no pace")
    if mode == "free" and run.hops == "measured":
        message = "measured hops go with paced mode: in free mode the length of a time unit is not known before the run"
        raise SpecError("hops", run.hops, message, nearest="given")
    shape = shape_from_json(run.model or {}, TINY if mode == "paced" else SMALL)
    training = _training(run, work, shape)
    unit_ms = _unit(run, timeline, max(training.blocks), machine.cores) if mode == "paced" else None
    if device == "cuda" and not choice.together and run.steps > 1:
        message = "where every rank has a GPU of its own, a run is one step: its groups are made for one"
        raise SpecError("steps", run.steps, message, limit=1, nearest=1)
    _limit_memory(training, order, device, machine.memory)
    copying = [] if order.copies is None else copy_times(order, work.costs, work.v).tolist()
    program = build(order, (timeline.end - timeline.start).tolist(), copying)
    hop_ms = work.costs.comm * (unit_ms or 0.0)
    used = _versions(order) if work.asynchronous else None
    shared = (choice.together, machine.gpus)
    return Plan(program, timeline, training, mode, device, unit_ms, hop_ms, used, work.v, why, *shared, work.costs)


def with_hop(plan: Plan, hop_ms: float) -> Plan:
    """The same, paced, each hop lasting so long; ops and their order stay as they were."""
    assert plan.unit_ms is not None
    costs = replace(plan.costs, comm=hop_ms / plan.unit_ms)
    return replace(plan, costs=costs, timeline=simulate(plan.timeline.order, costs, plan.v), hop_ms=hop_ms)


def _choose(ranks: int, machine: Machine, device: str) -> devices.Choice:
    choice = devices.choose(ranks, machine.cores, machine.gpus, device)
    if choice.together and not machine.shares:
        message = f"on a cluster every rank has a GPU of its own, and there are {machine.gpus} for {ranks} ranks"
        raise SpecError("device", device, message, limit=machine.gpus, nearest="cpu")
    return choice


def _training(run: Run, work: Work, shape: Shape) -> Training:
    if work.asynchronous and run.steps > 1:
        message = "here every micro-batch is a training step already: ask for more micro-batches"
        raise SpecError("steps", run.steps, message, limit=1, nearest=1)
    order, sharded = work.order, work.order.barriers > 0
    if sharded and shape.vocabulary < order.p:
        message = f"each of {order.p} ranks has a shard of the vocabulary, so it has at least as many words"
        raise SpecError("model.vocabulary", shape.vocabulary, message, limit=order.p, nearest=order.p)
    blocks = blocks_of(work.layers, order.placement.stages, shape)
    return Training(shape, blocks, order.m, run.seed, work.recompute, work.asynchronous, sharded, run.steps, run.dtype)


def _versions(order: Order) -> tuple[tuple[int, ...], ...]:
    """The weight version that each stage uses for each micro-batch."""
    used, table = weight_versions(order).used, [[0] * order.m for _ in range(order.placement.stages)]
    for rank in range(order.p):
        for at, op in enumerate(order.row(rank), int(order.offsets[rank])):
            assert not isinstance(op, Pair), "weight_versions sees to that"
            table[op.stage][op.micro] = int(used[at])
    return tuple(tuple(row) for row in table)


def _unit(run: Run, timeline: Timeline, blocks: int, cores: int) -> float:
    """Milliseconds of a time unit: as asked, or so that a mean op lasts DEFAULT_OP_MS, longer where ranks crowd the
    cores or a stage has many blocks, shorter where the whole would last over DEFAULT_SECONDS."""
    makespan = float(timeline.end.max()) * run.steps
    if makespan <= 0:
        raise SpecError("costs", 0, "paced mode needs at least one op with a cost above zero", nearest=1)
    most = MAX_SECONDS * 1000 / makespan
    if run.unit_ms is None:
        lasting = timeline.end - timeline.start
        crowd = max(1.0, timeline.order.p / cores)
        wanted = max(DEFAULT_OP_MS, WORK_MS * crowd * blocks) / float(np.mean(lasting[lasting > 0]))
        return min(wanted, DEFAULT_SECONDS * 1000 / makespan)
    if run.unit_ms > most:
        message = (
            f"{makespan:g} units of {run.unit_ms:g} ms take {makespan * run.unit_ms / 1000:,.0f} s, "
            f"over the limit of {MAX_SECONDS:g} s"
        )
        raise SpecError("unit_ms", run.unit_ms, message, limit=MAX_SECONDS, nearest=_floor(most))
    return run.unit_ms


def _floor(value: float) -> float:
    """Rounded down to three figures, so that the nearest legal value is legal."""
    text = f"{value:.3g}"
    return float(text) if float(text) <= value else float(f"{value * 0.995:.3g}")


def _limit_memory(training: Training, order: Order, device: str, memory: int) -> None:
    """Refuse what weights, gradients (the reference's too) and activations in flight would not fit for."""
    if device != "cpu":
        return
    shape = training.shape
    rows, most = shape.batch * shape.sequence, max(training.blocks)
    weights = sum(training.blocks) * 12 * shape.hidden**2 + 2 * shape.vocabulary * shape.hidden
    attention = shape.batch * shape.heads * shape.sequence
    kept = most * (rows * 34 * shape.hidden + 2 * attention) + rows * 3 * shape.vocabulary
    versions = order.p if training.asynchronous else 0  # of the first stage, the most
    needed = 4 * (weights * (2 * (1 + order.placement.streams) + versions) + kept * int(peaks(order)[0].sum()))
    limit = memory // 2
    if needed > limit:
        message = f"this run would take about {needed / 2**30:.1f} GiB, over half of the memory that there is"
        raise SpecError("model", f"{needed / 2**30:.1f} GiB", message, limit=f"{limit / 2**30:.1f} GiB")
