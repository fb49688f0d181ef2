"""Stages of torch's runtime that take as long as is asked, and faults planted in them: real sleeps and messages."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

OP = re.compile(r"\d[FIWB]\d")


@dataclass(frozen=True)
class Faults:
    """Seconds of a forward and of a backward, and what is wrong: factors of stages and of micro-batches, the delay of
    messages from a rank to the next, the time before every op, a pause before the op ``pause[1]`` of rank ``pause[0]``
    in the step ``pause[2]``.
    """

    forward: float
    backward: float
    stages: dict[int, float] = field(default_factory=dict)
    micros: dict[int, float] = field(default_factory=dict)
    link: tuple[int, float] | None = None
    overhead: float = 0.0
    pause: tuple[int, int, int, float] | None = None


class Asleep(torch.autograd.Function):
    """The identity, which takes its time in both directions."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, there: float, back: float) -> Tensor:
        ctx.back = back
        time.sleep(there)
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        time.sleep(ctx.back)
        return gradients[0], None, None


class Slow(nn.Module):
    """A stage's module, as slow as the faults say; its micro-batches come in their order."""

    def __init__(self, inner: nn.Module, stage: int, micros: int, faults: Faults) -> None:
        super().__init__()
        self.inner, self.stage, self.micros, self.faults, self.count = inner, stage, micros, faults, 0

    def forward(self, x: Tensor) -> Tensor:
        micro, faults = self.count % self.micros, self.faults
        self.count += 1
        factor = faults.stages.get(self.stage, 1.0) * faults.micros.get(micro, 1.0)
        out: Tensor = Asleep.apply(self.inner(x), factor * faults.forward, factor * faults.backward)
        return out


class Later:
    """A batch of messages that is sent after a while, by a thread of its own."""

    def __init__(self, send: Callable[[], list[Any]], delay: float) -> None:
        self.thread = threading.Thread(target=self._run, args=(send, delay), daemon=True)
        self.thread.start()

    def _run(self, send: Callable[[], list[Any]], delay: float) -> None:
        time.sleep(delay)
        for work in send():
            work.wait()

    def wait(self) -> None:
        self.thread.join()


@contextmanager
def planted(faults: Faults | None, rank: int) -> Iterator[None]:
    """Have torch's runtime in this process wait before its ops, and send late, as the faults say."""
    if faults is None:
        yield
        return
    from torch.distributed.pipelining import schedules

    batch, name = schedules._batch_p2p, schedules._get_profiler_function_name
    done = {"ops": 0}

    def named(action: Any) -> str:
        text = name(action)
        if OP.search(text):
            time.sleep(faults.overhead)
            if faults.pause is not None and faults.pause[:2] == (rank, done["ops"]):
                time.sleep(faults.pause[3])
            done["ops"] += 1
        return text

    def sent(operations: list[Any], *more: Any) -> list[Any]:
        late = faults.link is not None and faults.link[0] == rank
        if late and operations and operations[0].op.__name__ == "isend" and operations[0].group_peer > rank:
            return [Later(lambda: batch(operations, *more), faults.link[1])]  # type: ignore[index]
        return batch(operations, *more)

    schedules._batch_p2p, schedules._get_profiler_function_name = sent, named
    try:
        yield
    finally:
        schedules._batch_p2p, schedules._get_profiler_function_name = batch, name
