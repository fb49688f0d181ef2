"""Measure the schedule core: generate, simulate, compute memory, encode for the wire; and torch for comparison.

    .venv/bin/python bench/core.py

Prints, for four sizes, the time of each step (best of several, one core, compiled kernels warm), the bytes that go to
the page, and of the largest the memory it takes; then the full loop on costs whose sums are rounded, which no steady
state shortens; the time from a new process to its first result; and torch.distributed.pipelining's own generator and
lowering of the same order in the same run.
"""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from backend.schedule import jit
from backend.schedule.families import registry
from backend.schedule.order import wire
from backend.schedule.order.placement import place
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import advance, simulate
from backend.schedule.spec import Spec

ROOT = Path(__file__).resolve().parent.parent
SIZES = [
    ("interleaved", 16, 128, 4),
    ("interleaved-zb", 16, 128, 4),
    ("interleaved-zb", 64, 1280, 4),
    ("interleaved-zb", 64, 13056, 4),
]
TARGETS = {24_576: (2.0, 1_000), 983_040: (8.0, 20_000), 10_027_008: (40.0, 20_000)}  # ops: (ms, bytes)
MOST_MB = 60  # that ten million ops may take
LARGE = SIZES[2]
UNEVEN = Costs(F=tuple(1.0 + stage % 7 / 8 for stage in range(256)), I=1.25, W=0.75, comm=0.125)
ROUNDED = Costs(18.522, 18.086, 9.337, 0.601)
FIRST_RESULT_S = 1.5
FIRST_RESULT = """
from backend.schedule import jit
from backend.schedule.families import registry
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
spec = Spec(*{size})
print(figures(simulate(registry.order(spec), spec.timing, spec.v)).makespan)
"""


def best(action: Callable[[], Any], repeat: int = 9) -> tuple[float, Any]:
    """Least milliseconds over some repeats, and the result of the action."""
    times, made = [], None
    for _ in range(repeat):
        start = time.perf_counter()
        made = action()
        times.append((time.perf_counter() - start) * 1e3)
    return min(times), made


def megabytes(action: Callable[[], Any]) -> float:
    """The most memory that one call of the action has allocated at a time."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def ours(family: str, p: int, m: int, v: int) -> None:
    spec = Spec(family, p, m, v)
    generate, order = best(lambda: registry.order(spec))
    run, _ = best(lambda: figures(simulate(order, spec.costs, v)))
    memory, _ = best(lambda: peaks(order, 1.0, v))
    encode, body = best(lambda: wire.compress(wire.encode(order, spec.to_json())))
    whole, _ = best(lambda: everything(spec), 15)
    line = f"{family:15} p={p:<3} m={m:<5} v={v} {len(order):>10,} ops  generate {generate:6.2f}  simulate {run:6.2f}"
    print(f"{line}  memory {memory:5.2f}  wire {encode:5.2f}  all {whole:6.2f} ms  {len(body):>6,} bytes")
    if len(order) in TARGETS:
        ms, size = TARGETS[len(order)]
        shares = f"{whole / ms:.2f} of the time, {len(body) / size:.2f} of the size"
        print(f"{'':15} target {ms:g} ms and {size:,} bytes: {shares}")
    if (family, p, m, v) == SIZES[-1]:
        took = megabytes(lambda: everything(spec))
        print(f"{'':15} target {MOST_MB} MB: {took:.0f} MB allocated at most, {took / MOST_MB:.2f} of it")


def everything(spec: Spec) -> bytes:
    order = registry.order(spec)
    figures(simulate(order, spec.costs, spec.v))
    peaks(order, spec.w_share, spec.v)
    return wire.compress(wire.encode(order, spec.to_json()))


def full_loop() -> None:
    """Compare times from a steady state with those of the full loop, which must be the same."""
    spec = Spec(*LARGE)
    order = registry.order(spec)

    def all_times(costs: Costs) -> tuple[memoryview, memoryview]:
        timeline = simulate(order, costs, spec.v)
        return timeline.start.data, timeline.end.data

    for name, costs in (("equal", spec.costs), ("uneven", UNEVEN), ("rounded", ROUNDED)):
        quick, _ = best(lambda costs=costs: simulate(order, costs, spec.v), 5)
        whole, ours = best(lambda costs=costs: all_times(costs), 5)
        loop, (full, *_) = best(lambda costs=costs: advance(order, costs, spec.v), 5)
        same = ours == (full.start.data, full.end.data)
        print(
            f"{name + ' costs':15} simulate {quick:.2f} ms, with start and end of all ops {whole:.2f} ms; the full"
            f" loop {loop:.2f} ms, {loop / quick:.1f} times as long; {'equal bit by bit' if same else 'DIFFERENT'}"
        )


def first_result() -> None:
    """Time a new process until it has the figures of the large order, with the kernels in numba's cache."""
    source = FIRST_RESULT.format(size=LARGE)
    ms, _ = best(lambda: subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True, capture_output=True), 3)
    share = ms / 1e3 / FIRST_RESULT_S
    print(f"a new process has its first result after {ms / 1e3:.2f} s, {share:.2f} of the target {FIRST_RESULT_S} s")


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
    mine, _ = best(lambda: everything(Spec("interleaved-zb", p, m, v)))
    print(f"torch's own, {ops:,} ops: {whole:,.0f} ms of which lowering to messages {lowering:,.0f} ms;")
    print(f"ours, with simulation, memory and wire: {mine:.2f} ms, {whole / mine:,.0f} times faster")


def main() -> None:
    start = time.perf_counter()
    jit.compile_all()
    print(f"kernels ready after {time.perf_counter() - start:.2f} s (a server does not wait for them)")
    for size in SIZES:
        ours(*size)
    full_loop()
    first_result()
    torch_peer(16, 128, 4)


if __name__ == "__main__":
    main()
