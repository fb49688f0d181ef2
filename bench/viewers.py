"""Measure how many viewers one server on one core can serve; this second process drives it over loopback.

    python bench/viewers.py [--viewers 500] [--stalled 20] [--rate 10000] [--seconds 20] [--details]
    python bench/viewers.py --viewers 1000 --processes 2

With `--processes` the server is that many processes around a Redis, on all cores, which they share with this one.

A run emits `rate` ops per second; each viewer is a WebSocket that watches it. Some do not read
until the run is over; some lose their connection and reconnect; some join late, and a class loads the run as pages
do, all at once. For every op and every viewer: the time from the op's end to its arrival, when the last byte of its
message is read, so the runner's 50 ms per line and this process's own delays are included. Other programs
lengthen everything; how long the server waited for its core is printed, and how late the runner was.
Exit code 1 where an op was lost or duplicated, 0 otherwise, however slow. Needs Linux (affinity, /proc).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from backend.cli.crowd.line import Crowd
from backend.schedule.interop.measured_rows import named
from bench.crowd.steady import LINE_S
from bench.crowd.viewer import Viewer
from bench.crowd.watched import Cost, Server, server, servers

LATE_MS, JOIN_MS = 150.0, 1000.0
WHOLE, RETURNING, LATE = 3, 10, 10  # viewers that decode everything, that come back, that join late
OPENING = 30  # pages that load the run at once: a class that follows a link
LEAD_S = 3.0  # quiet before the first op, in which the viewers connect


def connect(crowd: Crowd, address: str, count: int, **options: int) -> list[Viewer]:
    return [add(crowd, Viewer(address, whole=k < WHOLE, **options)) for k in range(count)]


def add(crowd: Crowd, viewer: Viewer) -> Viewer:
    crowd.add(viewer)
    return viewer


def come_back(crowd: Crowd, address: str, run: str, gone: Sequence[Viewer]) -> list[Viewer]:
    """Reconnect viewers that lost their connection, each from its last entry."""
    back = []
    for viewer in gone:
        back.append(add(crowd, Viewer(address)))
        back[-1].watch(run, viewer.seq)
    return back


def latencies(viewers: Sequence[Viewer], entries: range, begin: int, size: int, period: int) -> np.ndarray:
    """For each viewer a histogram of the time from an op's end to its arrival, in bins of one op's period: the ops of
    an entry end one period apart, so the histogram of its last op, shifted by bins, is that of the others.
    """
    found = np.zeros((len(viewers), 1 << 16), np.int64)
    for mine, viewer in zip(found, viewers, strict=True):
        for now, first, last in viewer.arrivals:
            for seq in range(first, min(last + 1, entries.stop)):  # behind these no ops come
                newest = (now - begin - (seq - entries.start + 1) * size * period) // period
                at = min(max(newest, 0), len(mine) - 1)
                mine[at] += 1
    spread = np.cumsum(found, axis=1)
    spread[:, size:] -= spread[:, :-size].copy()
    return spread


def quantile(histogram: np.ndarray, part: float, period: int) -> float:
    """Latency in ms below which this fraction of the ops is."""
    total = np.cumsum(histogram)
    return float(np.searchsorted(total, part * total[-1]) + 1) * period / 1e6


def verdict(value: float, most: float) -> str:
    return "" if value <= most else f"  over {most:.0f}"


def report_joins(name: str, viewers: Sequence[Viewer]) -> None:
    times = [(viewer.joined - viewer.began) / 1e6 if viewer.joined else float("inf") for viewer in viewers]
    held = max(viewer.present - viewer.since for viewer in viewers)
    print(f"{name:<44} {np.median(times):7.0f} ms, slowest of {len(times)} {max(times):.0f}, {held} entries"
          f"{verdict(max(times), JOIN_MS)}")  # fmt: skip


def report_loads(loads: Sequence[tuple[float, bytes]]) -> None:
    times = [seconds * 1000 for seconds, _ in loads]
    print(f"{'the run as pages load it, all at once':<44} {np.median(times):7.0f} ms, slowest of {len(times)} "
          f"{max(times):.0f}, {len(loads[0][1]) / 1e6:.1f} MB{verdict(max(times), JOIN_MS)}")  # fmt: skip


def report_costs(before: Cost, watched: Cost, after: Cost, ops: int) -> None:
    busy, system, waited = after.since(watched)
    name, other = "server, of one core", f"another program had the core {waited:.0%} of the time"
    print(f"{name:<44} {busy:7.0%}, {system:.0%} in the system's calls; {other}")
    print(f"{'server, resident':<44} {before.resident:7.0f} MB, {watched.resident:.0f} with all connected, "
          f"{after.resident:.0f} at the end, {after.peak:.0f} at most")  # fmt: skip
    print(f"{'grown during the run':<44} {(after.resident - watched.resident) * 1e6 / ops:7.0f} bytes per op")
    print(f"{'socket buffers of the machine':<44} {before.buffers:7.0f} MB before, {after.buffers:.0f} at the end")


def check(viewers: Sequence[Viewer], last: int, ops: int, loaded: bytes) -> list[str]:
    """Count ops that were lost, duplicated or out of order."""
    faults = [fault for viewer in viewers for fault in viewer.faults[:1]]
    faults += [f"a viewer ended at entry {viewer.seq} of {last}" for viewer in viewers if viewer.seq != last]
    for viewer in viewers:
        if viewer.whole and [row.index * 8 + row.rank for row in viewer.rows()] != list(range(ops)):
            faults.append("a viewer's ops are not the run's")
    run = json.loads(zlib.decompress(loaded))
    if [row.index * 8 + row.rank for row in named("ops", run["ops"])] != list(range(len(run["ops"]))):
        faults.append("the run as loaded has gaps")
    return faults


def drive(served: Server, given: argparse.Namespace) -> int:
    served.settle()
    before = served.cost()
    crowd = Crowd()
    at = time.monotonic()
    steady = connect(crowd, served.url, given.viewers)
    connected = time.monotonic() - at
    stalled = [Viewer(served.url, receive_buffer=4096) for _ in range(given.stalled)]
    leaving = [add(crowd, Viewer(served.url)) for _ in range(RETURNING)]
    run = served.start_run()
    rows = "ops,bytes,messages" if given.details else "ops"
    for viewer in [*steady, *stalled, *leaving]:
        viewer.watch(run, rows=rows)
    crowd.read(LEAD_S, lambda: all(viewer.joined for viewer in steady))
    watched, mine = served.cost(), time.process_time()
    crowd.read(given.seconds * 0.4 + LEAD_S / 2)
    for viewer in leaving:
        crowd.leave(viewer)
    crowd.read(1.0)
    back = come_back(crowd, served.url, run, leaving)
    crowd.read(given.seconds * 0.3)
    late = [add(crowd, Viewer(served.url)) for _ in range(LATE)]
    for viewer in late:
        viewer.watch(run)
    crowd.read(2.0)
    with ThreadPoolExecutor(OPENING) as pool:
        loading = [pool.submit(served.load, run) for _ in range(OPENING)]
        crowd.read(given.seconds, lambda: all(viewer.over for viewer in [*steady, *back, *late]))
        after, mine = served.cost(), time.process_time() - mine
        loads = [each.result() for each in loading]
    at = time.monotonic()
    for viewer in stalled:
        crowd.add(viewer)
    crowd.read(20.0, lambda: all(viewer.over for viewer in stalled))
    freed = time.monotonic() - at

    print(f"connections by process: {served.connections()}")
    print(f"{given.viewers} viewers, {given.stalled} more that do not read; {given.rate:,} ops per second for "
          f"{given.seconds:g} s; connected within {connected:.1f} s\n")  # fmt: skip
    report(steady, given)
    report_joins("late joiners: connect to whole", late)
    report_joins("returning viewers: connect to whole", back)
    report_loads(loads)
    print(f"{'stalled viewers, once they read: to whole':<44} {freed * 1000:7.0f} ms")
    ops = round(given.rate * given.seconds)
    report_costs(before, watched, after, ops)
    print(f"{'this process, of one core':<44} {mine / (after.at - watched.at):7.0%}")
    faults = check([*steady, *stalled, *back, *late], steady[0].seq, ops, loads[-1][1])
    if crowd.hung_up:
        faults.append(f"the server hung up on {crowd.hung_up} viewers")
    print("\n" + ("\n".join(faults[:10]) or "Nothing lost, nothing twice: every viewer's entries follow one another."))
    return 1 if faults else 0


def report(steady: Sequence[Viewer], given: argparse.Namespace) -> None:
    """Print the latency of all ops at all viewers."""
    size, period = round(given.rate * LINE_S), 1_000_000_000 // given.rate
    entry = steady[0].arrivals[0][1]
    entries = range(entry, entry + round(given.seconds / LINE_S))
    spread = latencies(steady, entries, steady[0].begin(), size, period)
    total = spread.sum(axis=0)
    worst = max(quantile(mine, 0.99, period) for mine in spread)
    p50, p99, p999 = (quantile(total, part, period) for part in (0.5, 0.99, 0.999))
    print(f"{'an op from its end to a viewer, p50':<44} {p50:7.1f} ms")
    print(f"{'  p99':<44} {p99:7.1f} ms, of the worst viewer {worst:.1f}{verdict(p99, LATE_MS)}")
    print(f"{'  p99.9':<44} {p999:7.1f} ms")
    late = np.array([row.recv_wait for row in steady[0].rows()]) / 1e6
    name = "  of it, the runner late with its line"
    print(f"{name:<44} {np.median(late):7.1f} ms, p99 {np.percentile(late, 99):.1f}")
    messages = sum(len(viewer.arrivals) for viewer in steady)
    moved = sum(viewer.bytes for viewer in steady) / 1e6
    print(f"{'messages':<44} {messages / given.seconds:7.0f} per second, {moved / given.seconds:.0f} MB per second")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--viewers", type=int, default=500)
    options.add_argument("--stalled", type=int, default=20)
    options.add_argument("--rate", type=int, default=10_000, help="ops per second; divides by 20")
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--processes", type=int, default=1, help="that serve the page")
    options.add_argument("--details", action="store_true", help="all ask for bytes and messages too")
    given = options.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    cores = sorted(os.sched_getaffinity(0))
    own, others = cores[0], cores[1:] or cores
    if given.processes == 1:
        os.sched_setaffinity(0, set(others))
    runner = [
        sys.executable, str(Path(__file__).with_name("crowd") / "steady.py"), "--rate", str(given.rate),
        "--seconds", str(given.seconds), "--lead", str(LEAD_S), "--cores", ",".join(map(str, others)),
        *(["--details"] if given.details else []),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        one = given.processes == 1
        with server(Path(folder), own, runner) if one else servers(Path(folder), given.processes, runner) as served:
            return drive(served, given)


if __name__ == "__main__":
    sys.exit(main())
