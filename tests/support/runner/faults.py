"""Faults of a worker process, selected by the seed of a run; loaded by the fork server of altered_runner.py. Each
happens once, in micro-batch 5, so that a shorter run with the same seed is not affected.
"""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from runner.model.deferred_stage import DeferredStage
from runner.transport.shared_memory import SharedMemoryTransport
from runner.worker.collectives import Collectives

KILL_FORWARD, KILL_BACKWARD, KILL_COLLECTIVE, STOP, DROP, MEMORY, REFUSED, NAN, WRONG = range(1001, 1010)
STAGE, MICRO = 1, 5


def end_here(number: signal.Signals) -> None:
    """Signal this thread, which does not get any further: another thread might take a signal to the process."""
    signal.pthread_kill(threading.get_ident(), number)


def fill_memory() -> None:
    """Request more memory than a limit of this process allows."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + 2**24
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
    torch.empty(2**28, dtype=torch.uint8)


def refuse() -> None:
    raise MemoryError


def spoil(part: DeferredStage) -> None:
    """Make a weight NaN, as in a diverging training."""
    with torch.no_grad():
        part.stage.head[0, 0] = float("nan")


def change(part: DeferredStage) -> None:
    """Change a weight a little, as a wrong kernel would."""
    with torch.no_grad():
        part.stage.blocks[0].up[0, 0] += 1.0


def on_forward(part: DeferredStage, micro: int) -> None:
    seed = part.training.seed
    if micro != MICRO or part.index != STAGE:
        if seed == NAN and micro == MICRO and part.stage.ends:
            spoil(part)
        return
    actions: dict[int, Callable[[], None]] = {
        KILL_FORWARD: lambda: end_here(signal.SIGKILL),
        STOP: lambda: end_here(signal.SIGSTOP),
        MEMORY: fill_memory,
        REFUSED: refuse,
        WRONG: lambda: change(part),
    }
    actions.get(seed, lambda: None)()
    if seed == DROP:
        SharedMemoryTransport.send = silent  # type: ignore[method-assign]


def on_backward(part: DeferredStage, micro: int) -> None:
    if (part.training.seed, part.index, micro) == (KILL_BACKWARD, STAGE, MICRO):
        end_here(signal.SIGKILL)


def on_collective(chains: Collectives, _: Any, micro: int) -> None:
    if (chains.embedding.training.seed, chains.rank, micro) == (KILL_COLLECTIVE, STAGE, MICRO):
        end_here(signal.SIGKILL)


def silent(self: SharedMemoryTransport, *_: Any) -> None:
    """Drop a message that the sender considers sent."""


def before(owner: type, name: str, act: Callable[..., None]) -> None:
    """Run a function before a method."""
    original = getattr(owner, name)

    def method(self: Any, *args: Any) -> Any:
        act(self, *args[: act.__code__.co_argcount - 1])
        return original(self, *args)

    setattr(owner, name, method)


before(DeferredStage, "forward", on_forward)
before(DeferredStage, "input_gradient", on_backward)
before(Collectives, "_statistics", on_collective)
