"""Measure the schedule core: generate, simulate, compute memory, encode for the wire; and torch for comparison.

    .venv/bin/python bench/core.py

Prints, for two sizes, the time of each step (best of several, one core, compiled kernels warm) and the bytes that go
to the page; then torch.distributed.pipelining's own generator and lowering of the same order in the same run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from backend.schedule import jit
from backend.schedule.families import registry
from backend.schedule.order import wire
from backend.schedule.order.placement import place
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

SIZES = [("interleaved", 16, 128, 4), ("interleaved-zb", 16, 128, 4), ("interleaved-zb", 64, 1280, 4)]
TARGETS = {24_576: (2.0, 1_000), 983_040: (30.0, 20_000)}  # ops: (ms, bytes)


def best(action: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Least milliseconds over some repeats, and the result of the action."""
    times, made = [], None
    for _ in range(repeat):
        start = time.perf_counter()
        made = action()
        times.append((time.perf_counter() - start) * 1e3)
    return min(times), made


def ours(family: str, p: int, m: int, v: int) -> None:
    spec = Spec(family, p, m, v)
    generate, order = best(lambda: registry.order(spec), 9)
    run, _ = best(lambda: simulate(order, spec.costs, v), 9)
    memory, _ = best(lambda: peaks(order, 1.0, v), 9)
    encode, body = best(lambda: wire.compress(wire.encode(order, spec.to_json())), 9)
    whole, _ = best(lambda: everything(spec), 9)
    line = f"{family:15} p={p:<3} m={m:<5} v={v} {len(order):>8,} ops  generate {generate:6.2f}  simulate {run:6.2f}"
    print(f"{line}  memory {memory:5.2f}  wire {encode:5.2f}  all {whole:6.2f} ms  {len(body):>6,} bytes")
    if len(order) in TARGETS:
        ms, size = TARGETS[len(order)]
        shares = f"{whole / ms:.2f} of the time, {len(body) / size:.2f} of the size"
        print(f"{'':15} target {ms:g} ms and {size:,} bytes: {shares}")


def everything(spec: Spec) -> bytes:
    order = registry.order(spec)
    simulate(order, spec.costs, spec.v)
    peaks(order, spec.w_share, spec.v)
    return wire.compress(wire.encode(order, spec.to_json()))


def torch_peer(p: int, m: int, v: int) -> None:
    """Torch's ScheduleInterleavedZeroBubble: building it generates the order and lowers it to sends and receives."""
    from torch.distributed.pipelining import schedules

    from tests.support.torch.orders import torch_rows

    lowering = 0.0
    original = schedules._add_send_recv

    def timed(*args: Any, **kwargs: Any) -> Any:
        nonlocal lowering
        start = time.perf_counter()
        try:
            return original(*args, **kwargs)
        finally:
            lowering += (time.perf_counter() - start) * 1e3

    schedules._add_send_recv = timed
    try:
        start = time.perf_counter()
        rows = torch_rows("ScheduleInterleavedZeroBubble", place("looped", p, v), m)
        whole = (time.perf_counter() - start) * 1e3
    finally:
        schedules._add_send_recv = original
    ops = sum(len(row.split()) for row in rows)
    mine, _ = best(lambda: everything(Spec("interleaved-zb", p, m, v)), 9)
    print(f"torch's own, {ops:,} ops: {whole:,.0f} ms of which lowering to messages {lowering:,.0f} ms;")
    print(f"ours, with simulation, memory and wire: {mine:.2f} ms, {whole / mine:,.0f} times faster")


def main() -> None:
    start = time.perf_counter()
    jit.compile_all()
    print(f"kernels ready after {time.perf_counter() - start:.2f} s (a server does not wait for them)")
    for size in SIZES:
        ours(*size)
    torch_peer(16, 128, 4)


if __name__ == "__main__":
    main()
