"""Measure the runner's overhead per op, beside that of torch's own runtime, on one machine.

    python bench/runner.py [overhead] [reporting]

1. Overhead per compute op: ranks run 1F1B with a stage that is one 8 x 8 linear layer, in free mode, by turns with
   our RankExecutor, which sends through shared memory, with the same over gloo, and with torch's
   _PipelineScheduleRuntime, which has gloo: same processes, same module, same order. One rank sends no messages, so
   p = 1 shows what is left without them. A step's time is the slowest rank's, from a barrier to the last op with all
   sends done, and includes all receives posted; overhead is that time over a rank's ops, less what a bare loop over
   the same module takes for one.
   The fastest step tells most where other programs share the cores; so does processor time, of all of a rank's
   threads and, beside it, of the one that runs its ops.
2. What reporting costs: noting an op in the rank that runs it, and reading and writing one in the main process, as a
   share of a core at 10,000 ops per second.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["PYTHONPATH"] = str(ROOT)  # for the fork server
os.chdir(ROOT)

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from backend.schedule.families import registry  # noqa: E402
from runner.devices import cores  # noqa: E402
from runner.job.plan import plan  # noqa: E402
from runner.program.compile import Program, build  # noqa: E402
from runner.program.instructions import RankProgram  # noqa: E402
from runner.program.traffic import Traffic  # noqa: E402
from runner.protocol import line  # noqa: E402
from runner.telemetry import clock  # noqa: E402
from runner.telemetry.op_board import Board, FirstRows, Ledger  # noqa: E402
from runner.telemetry.stream import Stream  # noqa: E402
from runner.transport.base import Transport  # noqa: E402
from runner.transport.factory import SPIN_NS  # noqa: E402
from runner.transport.gloo import GlooTransport  # noqa: E402
from runner.transport.groups import gloo_group  # noqa: E402
from runner.transport.mailbox import Mailbox, MailboxNeeds, lay_out  # noqa: E402
from runner.transport.shared_memory import SharedMemoryTransport  # noqa: E402
from runner.worker.executor import Pace, RankExecutor  # noqa: E402
from tests.support.runner.client import planned_run  # noqa: E402

WIDTH, REPEATS, WARM = 8, 15, 3
NAMES = ("ours", "gloo", "torch", "bare")
CLOCKS = (time.perf_counter, time.process_time, time.thread_time)
REPORTED = 10_000  # ops per second


class PlainPart:
    """A stage of one module by plain autograd, so that only the runner's own cost is added."""

    def __init__(self, module: nn.Module, micros: int) -> None:
        self.module, self.micros = module, micros
        self.saved: dict[int, tuple[Tensor, Tensor]] = {}

    def forward(self, micro: int, x: Tensor | None) -> Tensor:
        entry = torch.ones(1, WIDTH) if x is None else x.detach().requires_grad_()
        out = self.module(entry)
        self.saved[micro] = (entry, out)
        return out.detach()

    def input_gradient(self, micro: int, gradient: Tensor | None) -> Tensor | None:
        entry, out = self.saved.pop(micro)
        if gradient is None:
            loss(out, out).backward()
        else:
            torch.autograd.backward(out, gradient)
        return entry.grad

    def weight_gradient(self, micro: int) -> None:
        """Does nothing: plain autograd has computed it with the input's."""


def loss(out: Tensor, _: Tensor) -> Tensor:
    return out.sum()


def ours(program: RankProgram, transport: Transport, part: PlainPart, ledger: Ledger) -> None:
    transport.start_receiving()
    RankExecutor(program, [part], transport, ledger, Pace()).run(clock.now())
    transport.flush()


def torchs(program: Program, rank: int, module: nn.Module) -> Any:
    """Torch's runtime for the same order, and a function that runs one step of it."""
    from torch.distributed.pipelining import PipelineStage
    from torch.distributed.pipelining.schedules import _Action, _PipelineScheduleRuntime

    ranks = len(program.ranks)
    sample = (torch.ones(1, WIDTH, requires_grad=True),)
    stage = PipelineStage(module, rank, ranks, torch.device("cpu"), input_args=sample, output_args=sample)
    runtime = _PipelineScheduleRuntime([stage], program.micros, loss_fn=loss, scale_grads=False)
    actions = {one.rank: [_Action.from_str(step.text) for step in one.steps] for one in program.ranks}
    runtime._prepare_schedule_with_comms(actions, format="compute_only")
    x = torch.ones(program.micros, WIDTH)
    first, last = (x,) if rank == 0 else (), {"target": x} if rank == ranks - 1 else {}
    return lambda: runtime.step(*first, **last)


def bare(module: nn.Module, micros: int) -> None:
    """The work itself: forward and backward of every micro-batch, no runner."""
    part = PlainPart(module, micros)
    x = torch.ones(1, WIDTH)
    for micro in range(micros):
        out = part.forward(micro, x)
        part.input_gradient(micro, out)


def child(pipe: Connection, program: Program, rank: int, folder: str, places: FirstRows, box: Mailbox) -> None:
    """Time all of them on one rank, by turns, and send the times."""
    torch.set_num_threads(1)
    ranks = len(program.ranks)
    store = dist.FileStore(f"{folder}/torch", ranks)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks)
    group = gloo_group(f"{folder}/ours", rank, ranks)
    module = nn.Linear(WIDTH, WIDTH)
    part = PlainPart(module, program.micros)
    step = torchs(program, rank, module)
    times: dict[str, list[tuple[float, ...]]] = {name: [] for name in NAMES}
    mine = program.ranks[rank]
    shm = SharedMemoryTransport(box, rank, [(1, WIDTH)] * program.micros, spin=SPIN_NS if ranks <= cores() else 0)
    for _ in range(WARM + REPEATS):
        ledger = Ledger(f"{folder}/board", rank, ranks, places)
        gloo = GlooTransport(group, mine.receives(), [(1, WIDTH)] * program.micros)
        for name, run in (
            ("ours", lambda ledger=ledger: ours(mine, shm, part, ledger)),
            ("gloo", lambda ledger=ledger, gloo=gloo: ours(mine, gloo, part, ledger)),
            ("torch", step),
            ("bare", lambda: bare(module, program.micros)),
        ):
            module.zero_grad()
            ledger.reset()
            dist.barrier()
            begin = [clock() for clock in CLOCKS]
            run()
            times[name].append(tuple(clock() - at for clock, at in zip(CLOCKS, begin, strict=True)))
    pipe.send(times)
    pipe.recv()


def per_op(ranks: int, micros: int) -> dict[str, list[list[float]]]:
    """Microseconds per compute op of a rank, in each step, by each of CLOCKS: the slowest rank's."""
    order = registry.order(registry.read({"family": "1f1b", "p": ranks, "m": micros}))
    program = build(order, [1.0] * len(order))
    context = multiprocessing.get_context("forkserver")
    with tempfile.TemporaryDirectory() as folder:
        received = [len(one.receives()) for one in program.ranks]
        sends = [len(one.sends()) for one in program.ranks]
        box = lay_out(f"{folder}/messages", folder, MailboxNeeds(sends, 2 * ranks * micros, 4 * WIDTH))
        Path(box.path).touch()
        box.create()
        board = Board(f"{folder}/board", [len(one.steps) for one in program.ranks], messages=received)
        pipes: list[Connection] = []
        processes = []
        for rank in range(ranks):
            near, far = context.Pipe()
            processes.append(
                context.Process(
                    target=child, args=(far, program, rank, folder, board.first_rows(rank), box), daemon=True
                )
            )
            processes[-1].start()
            far.close()  # so that a process that fails ends this one too
            pipes.append(near)
        found = [pipe.recv() for pipe in pipes]
        for pipe in pipes:
            pipe.send(None)
        for process in processes:
            process.join()
    return {
        name: [[step * 1e6 / (2 * micros) for step in _slowest(found, name, of)] for of in range(len(CLOCKS))]
        for name in NAMES
    }


def _slowest(found: Sequence[dict[str, list[tuple[float, ...]]]], name: str, clock: int) -> list[float]:
    return [max(each[clock] for each in times) for times in zip(*(one[name][WARM:] for one in found), strict=True)]


def reporting() -> None:
    """Measure writing ops to a board and reading them again, by turns, as in a run of eight ranks."""
    planned = plan(planned_run(spec={"family": "1f1b", "p": 8, "m": 640}, mode="free"))
    traffic = Traffic(planned.program, planned.training.message_bytes)
    with tempfile.TemporaryDirectory() as folder:
        counts = [len(one.steps) for one in planned.program.ranks]
        board = Board(f"{folder}/board", counts, messages=traffic.received)
        ledgers = [Ledger(f"{folder}/board", rank, 8, board.first_rows(rank)) for rank in range(8)]
        note = ledgers[0].cost() / 1000
        stream, spent, ops = Stream(board, traffic), 0.0, 0
        for _ in range(20):
            for ledger in ledgers:
                for _ in range(REPORTED // 20 // 8):
                    at = clock.now()
                    ledger.record(at, at, at, 1000, 123_456)
            begin = time.thread_time()
            batch = stream.batch()
            line("op_batch", id="bench", **batch)
            spent, ops = spent + time.thread_time() - begin, ops + len(batch["ops"])
    share = spent / ops * REPORTED
    print(
        f"reporting: {note:.2f} us to note an op and its message, {spent / ops * 1e6:.2f} us to read and write one: "
        f"at {REPORTED:,} ops per second {share:.2%} of a core, {share / (os.cpu_count() or 1):.2%} of this machine"
    )


def overhead() -> None:
    for ranks, micros in ((1, 64), (2, 64), (2, 256), (4, 64)):
        found = per_op(ranks, micros)
        for what, of, by in (
            ("median step", statistics.median, 0),
            ("fastest step", min, 0),
            ("least processor time", min, 1),
            ("least of the ops' thread", min, 2),
        ):
            bare = of(found["bare"][by])
            mine, gloo, theirs = (of(found[name][by]) - bare for name in ("ours", "gloo", "torch"))
            print(
                f"p={ranks} m={micros} {what}: overhead per op ours {mine:.1f} us, over gloo {gloo:.1f} us, torch "
                f"{theirs:.1f} us, ratio {mine / theirs:.2f} (bare work {bare:.1f} us per op)"
            )


SECTIONS = {"overhead": overhead, "reporting": reporting}


def main() -> None:
    for name in sys.argv[1:] or SECTIONS:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
