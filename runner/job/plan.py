"""JobPlan a run: its decoded order with costs and planned times, its program, its device and its mode.

Applies the limits of this machine; knows no schedule by name. Every refusal is a RequestError (field, value, limit,
nearest).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from backend.errors import RequestError, message
from backend.schedule.families import imported, registry
from backend.schedule.families.apply_options import on_streams, validate_sizes
from backend.schedule.options.frozen import untrained
from backend.schedule.options.offload import with_offload
from backend.schedule.options.vocabulary import MODES as VOCABULARY
from backend.schedule.order import wire
from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import PAIR, F, Pair
from backend.schedule.order.order import Order
from backend.schedule.order.weight_versions import weight_versions
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs, SizedCosts, copy_times, leads
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.pace import default_unit_ms, mean_op
from backend.schedule.simulation.recomputation import recomputation
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec
from runner import devices
from runner.devices import MAX_RANKS, Machine
from runner.model.config import SMALL, TINY, Shape, Training, blocks_of, sequences_of, shape_from_json
from runner.program.compile import Program, build
from runner.program.instructions import Transfer
from runner.protocol import Run

MAX_OPS = 100_000
MAX_SECONDS = 600.0
REHEARSED_OPS = 1000  # of a rank


@dataclass(frozen=True, slots=True)
class JobPlan:
    """A run, ready to be set up.

    `unit_ms` is None in free mode; `used` are the weight versions of each stage's micro-batches if weights change
    within a step; costs given for a device are divided by `v`; `why` is the reason for the mode; `together`: the
    ranks are threads of one process, and share `gpus` if they run on any.
    """

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
        """Return the number of ranks."""
        return len(self.program.ranks)

    def device_of(self, rank: int) -> str:
        """Return the device of a rank, as torch names it."""
        if self.device != "cuda":
            return self.device
        return f"cuda:{rank * self.gpus // self.ranks if self.together else rank}"

    def arrivals_of(self, rank: int) -> tuple[Transfer, ...]:
        """Return what the other ranks send to this one, each in its own order; on GPUs only."""
        if self.device == "cpu" or self.together:
            return ()
        return tuple(transfer for other in self.program.ranks for transfer in other.sends() if transfer.target == rank)

    @property
    def rehearsed(self) -> bool:
        """Return whether the step runs once unreported first.

        Unpaced ops take longer while memory is used for the first time, which the warm-up cannot avoid without
        holding as much. In a long step, or the last of several, this is over soon.
        """
        short = max(len(rank.steps) for rank in self.program.ranks) <= REHEARSED_OPS
        return self.mode == "free" and self.device == "cpu" and self.training.steps == 1 and short

    @property
    def longest_op_ms(self) -> float:
        """Return the longest planned time of an op with its hop, in ms; 0 in free mode."""
        longest = float((self.timeline.end - self.timeline.start).max())
        return longest * (self.unit_ms or 0.0) + self.hop_ms


def plan(run: Run, machine: Machine | None = None) -> JobPlan:
    """JobPlan a run command for a machine, this host by default. Raises RequestError."""
    machine = machine or devices.this_machine()
    order = _decoded(run.order, Spec.from_json({"frozen": run.spec.get("frozen")}).frozen)
    spec = _spec(run, order)
    validate_sizes(spec)
    spec = registry.with_entry(spec, order)
    order = on_streams(spec, order)
    costs = spec.timing
    asynchronous = spec.family != imported.NAME and registry.family_of(spec).asynchronous
    timeline = simulate(order, costs, spec.v)
    choice = _choose(order.p, machine, run.device)
    device = choice.device
    if spec.streams != "none" and device != "cpu":
        reason = message("runner.streams_on_cpus", "messages share streams in runs on CPUs only; leave streams out")
        raise RequestError("streams", spec.streams, reason, nearest="none")
    mode, why = _mode(run, choice)
    shape = shape_from_json(run.model or {}, TINY if mode == "paced" else SMALL)
    training = _training(run, spec, order, shape, asynchronous)
    cores = 1 if choice.together else machine.cores  # threads of one process launch their ops one after the other
    unit_ms = _unit(run, timeline, max(training.blocks), cores) if mode == "paced" else None
    if device == "cuda" and not choice.together and run.steps > 1:
        reason = message(
            "runner.one_step_on_gpus",
            "where every rank has a GPU of its own, a run is one step: its groups are made for one",
        )
        raise RequestError("steps", run.steps, reason, limit=1, nearest=1)
    _limit_memory(training, order, device, machine.memory)
    copying = [] if order.copies is None else copy_times(order, costs, spec.v).tolist()
    program = build(order, (timeline.end - timeline.start).tolist(), copying, leads_of(order, spec))
    return JobPlan(
        program,
        timeline,
        training,
        mode,
        device,
        unit_ms,
        hop_ms=costs.comm * (unit_ms or 0.0),
        used=_versions(order) if asynchronous else None,
        v=spec.v,
        why=why,
        together=choice.together,
        gpus=machine.gpus,
        costs=costs,
    )


def with_hop(plan: JobPlan, hop_ms: float) -> JobPlan:
    """Return the same paced plan with hops of `hop_ms`; ops and their order stay as they are."""
    assert plan.unit_ms is not None
    costs = replace(plan.costs, comm=hop_ms / plan.unit_ms)
    return replace(plan, costs=costs, timeline=simulate(plan.timeline.order, costs, plan.v), hop_ms=hop_ms)


def _decoded(text: str, frozen: tuple[int, ...] | None) -> Order:
    """Decode and check an order with frozen stages. Raises RequestError if it is too large or cannot run."""
    order = replace(wire.from_text(text), untrained=untrained(frozen))
    if order.p > MAX_RANKS:
        reason = message("runner.too_many_ranks", "a run has at most {limit} ranks", limit=MAX_RANKS)
        raise RequestError("p", order.p, reason, limit=MAX_RANKS, nearest=MAX_RANKS)
    if len(order) > MAX_OPS:
        nearest = max(1, order.m * MAX_OPS // len(order))
        reason = message(
            "runner.too_many_ops",
            "{ops} ops are over the runner's limit of {limit}; m = {nearest} is about the most",
            ops=f"{len(order):,}",
            limit=f"{MAX_OPS:,}",
            nearest=nearest,
        )
        raise RequestError("m", order.m, reason, limit=MAX_OPS, nearest=nearest)
    check(order)
    return order


def _spec(run: Run, order: Order) -> Spec:
    """Read the spec that goes with an order; its sizes are the order's. Raises RequestError where it names others, or
    options that the order does not have."""
    sizes = {"p": order.p, "m": order.m, "v": order.chunks // order.placement.streams}
    spec = Spec.from_json(sizes | {"forward_only": order.forward_only} | dict(run.spec))
    for name, size in sizes.items():
        given = getattr(spec, name)
        if given != size:
            reason = message(
                "runner.order_of_other_size",
                "the order has {name} = {size}, not {given}",
                name=name,
                size=size,
                given=given,
            )
            raise RequestError(name, given, reason, limit=size, nearest=size)
    stages = order.placement.stages
    lists = {"F": spec.costs.F, "I": spec.costs.I, "W": spec.costs.W, "layers": spec.layers}
    for name, values in lists.items():
        if isinstance(values, tuple) and len(values) != stages:
            reason = message(
                "runner.list_of_other_length",
                "{name} as a list has one entry per stage: {stages} here, not {given}",
                name=name,
                stages=stages,
                given=len(values),
            )
            raise RequestError(name, len(values), reason, limit=stages, nearest=stages)
    if spec.forward_only != order.forward_only:
        reason = message("runner.order_has_backwards", "the order has backwards; run it with forward_only false")
        if order.forward_only:
            reason = message(
                "runner.order_has_no_backwards", "the order has no backwards; run it with forward_only true"
            )
        raise RequestError("forward_only", spec.forward_only, reason, nearest=order.forward_only)
    if spec.barriers != order.barriers:
        nearest = next(name for name, mode in VOCABULARY.items() if mode.barriers == order.barriers)
        reason = message(
            "runner.vocabulary_not_of_order",
            "the order is not one of vocabulary {given}; its S and T are those of {nearest}",
            given=spec.vocabulary,
            nearest=nearest,
        )
        raise RequestError("vocabulary", spec.vocabulary, reason, nearest=nearest)
    if spec.offload != "none" and order.copies is None and _has_copies(spec, order):
        reason = message(
            "runner.no_copies_in_order", "the order has no copies of activations; run it with offload none"
        )
        raise RequestError("offload", spec.offload, reason, nearest="none")
    if spec.offload == "none" and order.copies is not None:
        reason = message("runner.copies_in_order", "the order has copies of activations; run it with offload full")
        raise RequestError("offload", spec.offload, reason, nearest="full")
    return spec


def _has_copies(spec: Spec, order: Order) -> bool:
    """Return whether any activations of an order live long enough to be copied."""
    return with_offload(order, spec.mean_timing, spec.v, spec.offload).copies is not None


def _choose(ranks: int, machine: Machine, device: str) -> devices.Choice:
    choice = devices.choose(ranks, machine.cores, machine.gpus, device, machine.shares)
    if choice.together and not machine.shares:
        reason = message(
            "runner.no_shared_gpus",
            "on a cluster every rank has a GPU of its own, and there are {gpus} for {ranks} ranks",
            gpus=machine.gpus,
            ranks=ranks,
        )
        raise RequestError("device", device, reason, limit=machine.gpus, nearest="cpu")
    return choice


def _mode(run: Run, choice: devices.Choice) -> tuple[str, str]:
    """Return the mode and the reason for it. A unit that is given asks for paced ops; otherwise the machine decides."""
    mode: str = run.mode
    why: str = message("runner.mode_as_asked", "{mode}, as asked", mode=run.mode)
    if run.mode == "auto" and run.unit_ms is not None:
        mode, why = "paced", message("runner.paced_by_unit", "paced, since a unit was given")
    elif run.mode == "auto":
        mode, why = choice.mode, choice.why
    if mode == "free" and run.unit_ms is not None:
        reason = message("runner.unit_in_free_mode", "unit_ms goes with paced mode; free mode has no pace")
        raise RequestError("unit_ms", run.unit_ms, reason)
    if mode == "free" and run.hops == "measured":
        reason = message(
            "runner.hops_in_free_mode",
            "measured hops go with paced mode: in free mode the length of a time unit is not known before the run",
        )
        raise RequestError("hops", run.hops, reason, nearest="given")
    return mode, why


def _training(run: Run, spec: Spec, order: Order, shape: Shape, asynchronous: bool) -> Training:
    if asynchronous and run.steps > 1:
        reason = message(
            "runner.step_per_micro_batch",
            "here every micro-batch is a training step already: ask for more micro-batches",
        )
        raise RequestError("steps", run.steps, reason, limit=1, nearest=1)
    if order.forward_only and run.steps > 1:
        reason = message(
            "runner.steps_without_training",
            "a forward-only run trains nothing, so a further step would repeat the first: ask for more micro-batches",
        )
        raise RequestError("steps", run.steps, reason, limit=1, nearest=1)
    sharded = order.barriers > 0
    if sharded and shape.vocabulary < order.p:
        reason = message(
            "runner.vocabulary_too_small",
            "each of {ranks} ranks has a shard of the vocabulary, so it has at least as many words",
            ranks=order.p,
        )
        raise RequestError("model.vocabulary", shape.vocabulary, reason, limit=order.p, nearest=order.p)
    blocks = blocks_of(spec.run_layers, order.placement.stages, shape)
    return Training(
        shape,
        blocks,
        order.m,
        run.seed,
        spec.recompute,
        asynchronous,
        sharded,
        run.steps,
        run.dtype,
        order.forward_only,
        spec.frozen or (),
        spec.recompute_at != "backward",
        _spared(order, spec.timing),
        sequences_of(timing.sizes, shape) if isinstance(timing := spec.timing, SizedCosts) else (),
        early=order.barriers == 1,
    )


def _spared(order: Order, costs: Costs) -> frozenset[tuple[int, int]]:
    """Return the stages and micro-batches that save all."""
    if not costs.recomputes_some:
        return frozenset()
    rank, _, kind, chunk, micro, *_ = op_columns(order)
    mine = recomputation(order, costs.spared, costs.within).keeps & np.isin(kind, (F, PAIR))
    stage = order.placement.stage_of[rank[mine], chunk[mine]]
    return frozenset(zip(stage.tolist(), micro[mine].tolist(), strict=True))


def leads_of(order: Order, spec: Spec) -> list[tuple[float, tuple[int, int] | None]]:
    """Return the part of each op that runs before its gradient is there, in time units, and the chunk and the
    micro-batch of what runs again; [] for none.
    """
    if spec.recompute_at == "backward" or spec.recompute == "none":
        return []
    _, _, kind, chunk, micro, back, second = op_columns(order)
    again: list[tuple[int, int] | None] = [None] * len(order)
    before = recomputation(order, spec.timing.spared, spec.timing.within).before
    chunk, micro = np.where(kind == PAIR, back, chunk), np.where(kind == PAIR, second, micro)
    for each in np.flatnonzero(before >= 0).tolist():
        again[before[each]] = int(chunk[each]), int(micro[each])
    return list(zip(leads(order, spec.timing, spec.v).max(axis=1).tolist(), again, strict=True))


def _versions(order: Order) -> tuple[tuple[int, ...], ...]:
    """Return, per stage, the weight version that it uses for each micro-batch."""
    used, table = weight_versions(order).used, [[0] * order.m for _ in range(order.placement.stages)]
    for rank in range(order.p):
        for index, op in enumerate(order.row(rank), int(order.offsets[rank])):
            assert not isinstance(op, Pair), "weight_versions refuses pairs"
            table[op.stage][op.micro] = int(used[index])
    return tuple(tuple(row) for row in table)


def _unit(run: Run, timeline: Timeline, blocks: int, cores: int) -> float:
    """Return the milliseconds of a time unit: as given, or the default (backend/schedule/simulation/pace.py)."""
    makespan = float(timeline.end.max()) * run.steps
    if makespan <= 0 or (run.unit_ms is None and not mean_op(timeline)):
        reason = message("runner.no_costs", "paced mode needs at least one op with a cost above zero")
        raise RequestError("costs", 0, reason, nearest=1)
    most = MAX_SECONDS * 1000 / makespan
    if run.unit_ms is None:
        step = makespan / run.steps
        return default_unit_ms(step, mean_op(timeline), timeline.order.p, cores, blocks, run.steps)
    if run.unit_ms > most:
        reason = message(
            "runner.unit_too_long",
            "{makespan} units of {unit} ms take {seconds} s, over the limit of {limit} s",
            makespan=f"{makespan:g}",
            unit=f"{run.unit_ms:g}",
            seconds=f"{makespan * run.unit_ms / 1000:,.0f}",
            limit=f"{MAX_SECONDS:g}",
        )
        raise RequestError("unit_ms", run.unit_ms, reason, limit=MAX_SECONDS, nearest=_floor(most))
    return run.unit_ms


def _floor(value: float) -> float:
    """Round down to three figures, so that the nearest legal value is legal."""
    text = f"{value:.3g}"
    return float(text) if float(text) <= value else float(f"{value * 0.995:.3g}")


def _limit_memory(training: Training, order: Order, device: str, memory: int) -> None:
    """Raise RequestError if weights, gradients (the reference's too) and activations in flight would not fit on a
    CPU.
    """
    if device != "cpu":
        return
    shape = training.shape
    rows, most = shape.batch * shape.sequence, max(training.blocks)
    weights = sum(training.blocks) * 12 * shape.hidden**2 + 2 * shape.vocabulary * shape.hidden
    attention = shape.batch * shape.heads * shape.sequence
    saved = most * (rows * 34 * shape.hidden + 2 * attention) + rows * 3 * shape.vocabulary
    versions = order.p if training.asynchronous else 0  # of the first stage, which keeps the most
    copies = (1 if training.forward_only else 2) * (1 + order.placement.streams)  # gradients are as large
    outputs = 2 * order.m * shape.batch * shape.vocabulary if training.forward_only else 0
    needed = 4 * (weights * (copies + versions) + saved * int(peaks(order)[0].sum()) + outputs)
    limit = memory // 2
    if needed > limit:
        needs, most_text = f"{needed / 2**30:.1f} GiB", f"{limit / 2**30:.1f} GiB"
        reason = message(
            "runner.too_much_memory",
            "this run would take about {needed}, over half of the memory that there is",
            needed=needs,
        )
        raise RequestError("model", needs, reason, limit=most_text)
