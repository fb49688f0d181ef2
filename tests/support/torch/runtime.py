"""Torch's own pipeline runtime, driven by CSV files: real processes on this host, gloo, tiny real modules.

One pool of processes serves every file: a job names its number of ranks n, and the first n processes run it.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from tests.support import PATIENCE_S
from tests.support.torch import PRELOADED
from tests.support.torch.faults import Faults, Slow, planted

WIDTH, SAMPLES = 6, 2
RANKS = 4


@dataclass(frozen=True)
class Job:
    """The order in a file: ``stages`` lists each rank's stages. One step for its gradients, or, after a step to warm
    up, ``profiled_steps`` under torch's profiler, with ``faults``."""

    csv: str
    m: int
    stages: tuple[tuple[int, ...], ...]
    profiled_steps: int = 0
    faults: Faults | None = None

    @property
    def count(self) -> int:
        return sum(len(row) for row in self.stages)


@dataclass(frozen=True)
class Done:
    """The result of a rank: gradients by stage and parameter, a profile's file as text, or torch's own failure."""

    gradients: dict[str, Tensor]
    trace: str = ""
    error: str = ""


def stage_module(stage: int) -> nn.Sequential:
    """A stage with the same weights in every process; its output is no view (torch's split backward fails on those)."""
    made = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh())
    source = torch.Generator().manual_seed(100 + stage)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(0.0, 0.5, generator=source)
    return made


def batch(m: int) -> tuple[Tensor, Tensor]:
    """Input and target of a step."""
    source = torch.Generator().manual_seed(7)
    x, target = torch.randn(2, m * SAMPLES, WIDTH, generator=source)
    return x, target


def reference(stages: int, m: int) -> dict[str, Tensor]:
    """Every parameter's gradient from one process with plain autograd."""
    modules = [stage_module(stage) for stage in range(stages)]
    x, target = batch(m)
    for module in modules:
        x = module(x)
    nn.functional.mse_loss(x, target).backward()
    return {name: grad for stage, module in enumerate(modules) for name, grad in gradients(stage, module).items()}


def gradients(stage: int, module: nn.Module) -> dict[str, Tensor]:
    """A stage's gradients by name; what has none is left out, for a test to miss."""
    return {f"{stage}.{name}": each.grad for name, each in module.named_parameters() if each.grad is not None}


def step(job: Job, rank: int, group: dist.ProcessGroup, folder: str) -> Done:
    """Run one step of the file as torch reads it, on this rank."""
    from torch.distributed.pipelining import PipelineStage
    from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

    modules: dict[int, nn.Module] = {stage: stage_module(stage) for stage in job.stages[rank]}
    if job.faults is not None:
        modules = {stage: Slow(module, stage, job.m, job.faults) for stage, module in modules.items()}
    sample = torch.ones(SAMPLES, WIDTH)
    stages = [
        PipelineStage(
            module,
            stage,
            job.count,
            torch.device("cpu"),
            input_args=(sample.clone().requires_grad_(stage > 0),),
            output_args=(sample.clone().requires_grad_(),),
            group=group,
        )
        for stage, module in modules.items()
    ]
    runtime = _PipelineScheduleRuntime(stages, job.m, loss_fn=nn.functional.mse_loss)
    path = Path(folder, f"{rank}.csv")
    path.write_text(job.csv)
    runtime._load_csv(str(path), format="compute_comms" if "SEND" in job.csv else "compute_only")
    x, target = batch(job.m)
    args = (x,) if 0 in modules else ()
    wanted = {"target": target} if job.count - 1 in modules else {}
    runtime.step(*args, **wanted)
    if not job.profiled_steps:
        return Done(
            {name: grad for stage, module in modules.items() for name, grad in gradients(stage, module).items()}
        )
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profile, planted(job.faults, rank):
        for _ in range(job.profiled_steps):
            dist.barrier(group)
            runtime.step(*args, **wanted)
    profile.export_chrome_trace(f"{folder}/{rank}.json")
    return Done({}, Path(folder, f"{rank}.json").read_text())


def serve(pipe: Connection, rank: int, folder: str) -> None:
    """One process of the pool: jobs in, results out, until None."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/store", RANKS), rank=rank, world_size=RANKS)
    groups = {ranks: dist.new_group(list(range(ranks))) for ranks in range(2, RANKS + 1)}
    while (job := pipe.recv()) is not None:
        try:
            answer = step(job, rank, groups[len(job.stages)], folder)
        except Exception:
            answer = Done({}, error=traceback.format_exc())
        pipe.send(answer)
    dist.destroy_process_group()


class Pool:
    """The processes, each behind a pipe. A step that hangs ends the pool: gloo gives no way to abandon it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        self.folder = tempfile.TemporaryDirectory()
        self.pipes: list[Connection] = []
        self.processes = []
        for rank in range(RANKS):
            near, far = context.Pipe()
            self.processes.append(context.Process(target=serve, args=(far, rank, self.folder.name), daemon=True))
            self.processes[-1].start()
            far.close()
            self.pipes.append(near)

    def run(self, job: Job) -> list[Done]:
        """One job on as many ranks as it has rows."""
        used = self.pipes[: len(job.stages)]
        for pipe in used:
            pipe.send(job)
        return [self._answer(pipe) for pipe in used]

    def _answer(self, pipe: Connection) -> Any:
        if not pipe.poll(PATIENCE_S):
            self.kill()
            raise TimeoutError(f"torch's runtime has not answered for {PATIENCE_S} s")
        return pipe.recv()

    def kill(self) -> None:
        for process in self.processes:
            process.kill()

    def close(self) -> None:
        for pipe in self.pipes:
            with suppress(OSError):
                pipe.send(None)
        for process in self.processes:
            process.join(5)
        self.kill()
        self.folder.cleanup()


@contextmanager
def pool() -> Iterator[Pool]:
    """A pool for a test module: torch is imported once for all its processes."""
    made = Pool()
    try:
        yield made
    finally:
        made.close()
