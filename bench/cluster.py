"""Measure runs on a cluster: start-up time, latency of a hop, rate of events, and the resources that Ray itself uses.

    python bench/cluster.py [starts] [hops] [far] [events] [needs]

The hosts are namespaces on this machine (tests/support/cluster/hosts.py; root and iproute2 are needed), so they share
its cores and a wire costs next to nothing: latencies are those of the software, and more hosts add work but no cores.
Where the local engine does the same, its rows come first in the table.

1. From the command to "running": first run (actors start, the code is brought) and on the warm pool, median of 5.
2. One way between neighbours over the transport that carries messages, on one host and between two, as runs tell it.
3. The same with longer cables to the second of three hosts: what a run then says of the way and of that host's clock,
   whose truth is known here, and how near the plan with the measured hop comes to the run.
4. Ops reported per second in an unpaced run, start to finish, and the time from the last op to the verified end.
5. Memory and CPU time of Ray's own processes on an idle host, by host.
"""

from __future__ import annotations

import os
import secrets
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.chdir(ROOT)

from tests.support.cluster.hosts import AHEAD_S, NAMES, Hosts, can_make_hosts  # noqa: E402
from tests.support.runner.client import LAST, TINY, Event, RunnerProgram  # noqa: E402

CPUS = 16  # what a host claims, so that places never run out; the cores are those of this machine
REPEATS = 5
CABLES_MS = (0, 1, 5, 20)  # one way
IDLE_S = 10
Setting = tuple[str, Hosts | None, RunnerProgram]
# PSS counts shared pages once. Idle workers that Ray keeps ready are among these processes.
_NEEDS = """
import os, pathlib, sys, time
def sums():
    ticks = pss = count = 0
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit() and int(entry.name) not in (1, os.getpid()):
            try:
                fields = (entry / 'stat').read_text().rsplit(')', 1)[1].split()
                kib = [line.split()[1] for line in (entry / 'smaps_rollup').open() if line.startswith('Pss:')]
            except OSError:
                continue
            ticks, pss, count = ticks + int(fields[11]) + int(fields[12]), pss + sum(map(int, kib)), count + 1
    return ticks, pss, count
before = sums()
time.sleep(float(sys.argv[1]))
after = sums()
print((after[0] - before[0]) / os.sysconf('SC_CLK_TCK') / float(sys.argv[1]), after[1] / 1024, after[2])
"""


@contextmanager
def cluster(count: int) -> Iterator[tuple[Hosts, RunnerProgram]]:
    """Start a number of hosts with Ray, and the runner on the first."""
    with Hosts(NAMES[:count]) as hosts:
        hosts.give_token(secrets.token_hex(32))
        took = [hosts.ray(name, cpus=CPUS) for name in hosts.names]
        begin = time.perf_counter()
        options = ("--engine", "ray", "--address", hosts.address)
        runner = RunnerProgram("runner", *options, before=hosts.enter("head"))
        ready = time.perf_counter() - begin
        print(
            f"# {count} host(s): ray start took {', '.join(f'{each:.1f}' for each in took)} s, the runner {ready:.1f} s"
        )
        try:
            yield hosts, runner
        finally:
            runner.close()


def settings() -> Iterator[Setting]:
    """The local engine, then one, two and three hosts."""
    local = RunnerProgram()
    try:
        yield "local", None, local
    finally:
        local.close()
    for count in range(1, len(NAMES) + 1):
        with cluster(count) as (hosts, runner):
            yield f"{count} host" + "s" * (count > 1), hosts, runner


def run(runner: RunnerProgram, **fields: Any) -> tuple[float, list[Event]]:
    """One whole run: seconds from the command to "running", and its events."""
    begin = time.perf_counter()
    runner.start(model=TINY, **fields)
    events = runner.until("running", *LAST)
    started = time.perf_counter() - begin
    if events[-1]["event"] == "running":
        events += runner.until(*LAST)
    if events[-1]["event"] != "finished" or not events[-1]["verified"]:
        raise SystemExit(f"a run did not finish: {events[-1]}")
    return started, events


def spread(hosts: Hosts | None) -> dict[str, str]:
    """Spread the ranks evenly over all hosts, where there are several."""
    return {} if hosts is None else {"spread": "spread"}


def starts() -> None:
    print("engine     p   first s   warm ms")
    for name, hosts, runner in settings():
        for p in (2, 4, 8):
            fields = {"spec": {"family": "1f1b", "p": p, "m": 8}, "mode": "paced", "unit_ms": 1, **spread(hosts)}
            first, _ = run(runner, **fields)
            warm = statistics.median(run(runner, **fields)[0] for _ in range(REPEATS))
            print(f"{name:<8} {p:>3} {first:>9.2f} {warm * 1e3:>9.0f}", flush=True)


def hops() -> None:
    print("engine     link               latency us (lowest, median of runs)   uncertainty of clocks us")
    for count in range(1, len(NAMES) + 1):
        with cluster(count) as (hosts, runner):
            found: dict[tuple[str, ...], list[float]] = {}
            unsure: list[float] = []
            fields = {"spec": {"family": "1f1b", "p": max(2, count), "m": 8}, "mode": "paced", "unit_ms": 1}
            for _ in range(REPEATS):
                last = run(runner, **fields, **spread(hosts))[1][-1]
                unsure.append(max(clock["uncertainty_ns"] for clock in last["clocks"]) / 1e3)
                for link in last["links"]:
                    found.setdefault(tuple(link["hosts"]), []).append(link["latency_ns"] / 1e3)
            for pair, times in found.items():
                low, middle = min(times), statistics.median(times)
                link, doubt = " -> ".join(pair), statistics.median(unsure)
                print(f"{count} hosts    {link:<20} {low:>8.0f} {middle:>8.0f} {doubt:>30.0f}", flush=True)


def far() -> None:
    """Place ranks in the order of the hosts, so that the middle one is far from both others."""
    if not Path("/dev/net/tun").exists():
        print("no long cables, no figures: there is no /dev/net/tun here")
        return
    print("cable   hop      warm   clock known to, truly off   makespan, of the plan with that hop, without   (ms)")
    spec = {"family": "1f1b", "p": 3, "m": 8}
    fields: dict[str, Any] = {"mode": "paced", "unit_ms": 10, "spread": "spread", "hops": "measured"}
    with cluster(len(NAMES)) as (hosts, runner):
        plain = run(runner, spec=spec, **fields | {"hops": "given"})[1][-1]["predicted"]["makespan"]
        for cable in CABLES_MS:
            if cable:
                hosts.lengthen(NAMES[1], cable / 1e3)
            started, reported = run(runner, spec=spec, **fields)
            last, unit = reported[-1], fields["unit_ms"]
            clock = next(each for each in last["clocks"] if each["host"] == NAMES[1])
            off = abs(abs(clock["offset_ns"]) - AHEAD_S[NAMES[1]] * 1_000_000_000)
            known, whole = clock["uncertainty_ns"], last["measured"]["makespan"]
            with_hop, without = whole / last["predicted"]["makespan"], whole / plain
            print(
                f"{cable:>5} {last['hop_ms']:>5.2f} {started * 1e3:>9.0f} {known / 1e6:>16.3f} {off / 1e6:>11.3f}"
                f" {whole * unit:>10.1f} {with_hop:>22.4f} {without:>8.4f}",
                flush=True,
            )
            if cable:
                hosts.shorten(NAMES[1])


def events() -> None:
    print("engine     p    m     ops   seconds   ops/s   last op to verified end s")
    for name, hosts, runner in settings():
        for p, m in ((2, 64), (2, 512), (4, 256), (8, 128)):
            fields = {"spec": {"family": "1f1b", "p": p, "m": m}, "mode": "free", **spread(hosts)}
            run(runner, **fields)
            runner.start(model=TINY, **fields)
            runner.until("running")
            begin, ops = time.perf_counter(), 0
            end = begin
            while (event := runner.event())["event"] not in LAST:
                if event["event"] == "op_batch":
                    ops, end = ops + len(event["ops"]), time.perf_counter()
            after = time.perf_counter() - end
            rate = ops / (end - begin)
            print(f"{name:<8} {p:>3} {m:>4} {ops:>7} {end - begin:>9.2f} {rate:>7.0f} {after:>11.2f}", flush=True)


def needs() -> None:
    print("hosts   host        CPU of a core   PSS MiB   processes")
    with Hosts() as hosts:
        hosts.give_token(secrets.token_hex(32))
        for name in hosts.names:
            hosts.ray(name)
        time.sleep(IDLE_S)
        for name in hosts.names:
            busy, pss, count = map(float, hosts.check(name, sys.executable, "-c", _NEEDS, str(IDLE_S)).split())
            print(f"3       {name:<10} {busy:>14.1%} {pss:>9.0f} {count:>11.0f}")


SECTIONS = {"starts": starts, "hops": hops, "far": far, "events": events, "needs": needs}


def main() -> None:
    if missing := can_make_hosts():
        print(f"no hosts, no figures: {missing}")
        return
    for name in sys.argv[1:] or SECTIONS:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
