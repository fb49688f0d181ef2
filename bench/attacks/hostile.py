"""Measure what a hostile client does to a bystander: how long the bystander's requests take meanwhile.

    python bench/attacks/hostile.py [--seconds 5] [--only NAME]

A server with a runner that measures nothing, on loopback. The bystander asks for a schedule 25 times a second on one
connection, as a page does while a slider is dragged; every fourth needs a worker process. For each attack: its
requests' median, 99th percentile and worst in ms, how many failed, the memory of the server with its workers before,
at most and after, and what became of the attacker. Attacker and bystander share the machine with the server, each in a
process of its own, so the idle row is the measure of all others. `after` is a second after the attack; memory that
the server has then gone on using is more than before. What workers share with their parent counts for each of them
there; after the 10,000 odd requests a line has the memory with shared pages counted once, before and after. 1,000 of
the same requests come first: they load what such requests need.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import requests

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.attacks.attackers import ATTACKS, ODD, WARM_UP, Stop, Target
from tests.conftest import Server, launch
from tests.support.processes import children_of, resident_mb

EVERY_S = 0.04
BACK_WITHIN = 0.2  # of the memory before, after the odd requests
SHOWN = 10  # lines of errors in the log
IN_WORKER = 4  # every fourth request is for an order that a worker constructs


def attack_from_here(name: str, url: str, stop: Stop, ready: Connection[str, str]) -> None:
    """Run an attack until it is stopped and send what became of the attacker."""
    ready.send("ready")
    became = ""
    with suppress(OSError):
        became = ATTACKS[name](Target(url), stop)
    ready.send(became)


def watch(server: Server, seconds: float, going_on: Callable[[], bool] = lambda: False) -> tuple[list[float], int]:
    """Return the bystander's times in ms, and how many of its requests failed, as long as something goes on, and for
    these seconds at least.
    """
    times, failed = [], 0
    with requests.Session() as session:
        end = time.monotonic() + seconds
        m = 8
        while time.monotonic() < end or going_on():
            m = 8 + (m + 1) % 50
            family = "zb-auto" if m % IN_WORKER == 0 else "1f1b"
            begun = time.monotonic()
            try:
                url = f"{server.url}/api/schedule?family={family}&p=4&m={m}&w_share={begun % 1:.9f}"
                failed += session.get(url, timeout=60).status_code != 200
            except requests.RequestException:
                failed += 1
            times.append(1000 * (time.monotonic() - begun))
            time.sleep(EVERY_S)
    return times, failed


def processes_of(server: Server) -> list[int]:
    """Return the process ids of the server, its fork server and workers, and its runner, which is small here."""
    below = children_of(server.process.pid)
    return [server.process.pid, *below, *(pid for each in below for pid in children_of(each))]


def memory_mb(server: Server) -> float:
    """Return the memory of the server and its workers, in MB; pages that several share count for each."""
    return resident_mb(processes_of(server))


def memory_once_mb(server: Server) -> float:
    """Return the same with pages that several share counted once. Without those of files: other programs on the machine
    that come and go have a share in them.
    """
    total = 0
    for pid in processes_of(server):
        with suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as lines:
            total += sum(int(line.split()[1]) for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
    return total / 1024


class MemoryWatch(threading.Thread):
    """Looks at the server's memory ten times a second; `peak` is the most, in MB."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.server, self.over, self.peak = server, threading.Event(), 0.0

    def run(self) -> None:
        while not self.over.wait(0.1):
            self.peak = max(self.peak, memory_mb(self.server))


def measure(server: Server, name: str, seconds: float) -> tuple[list[float], int, str]:
    """Return the bystander's times and failures under an attack, and what became of the attacker."""
    context = multiprocessing.get_context("spawn")
    stop, (ours, theirs) = context.Event(), context.Pipe()
    process = context.Process(target=attack_from_here, args=(name, server.url, stop, theirs))
    process.start()
    ours.recv()
    time.sleep(0.3)
    times, failed = watch(server, seconds, lambda: name in (ODD, WARM_UP) and not ours.poll())
    stop.set()
    became = ours.recv() if ours.poll(90) else "the attacker did not end"
    process.join()
    return times, failed, became


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each attack")
    parser.add_argument("--only", choices=tuple(ATTACKS), action="append", help="this attack; may be repeated")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = launch(Path(folder), as_users_do=True, BUBBLELINE_WORKERS_AFTER_S="0.05")
        try:
            watch(server, 2.0)  # the first requests load what they need
            print(f"{'attack':28} {'p50':>7} {'p99':>7} {'worst':>7} ms  failed  {'MB':>5} {'most':>6} {'after':>6}")
            for name in _with_warm_up(options.only or list(ATTACKS)):
                memory, before, once = MemoryWatch(server), memory_mb(server), memory_once_mb(server)
                memory.start()
                times, failed, became = measure(server, name, options.seconds)
                time.sleep(1.0)
                memory.over.set()
                memory.join()
                p50, p99 = np.percentile(times, (50, 99))
                numbers = f"{p50:7.1f} {p99:7.1f} {max(times):7.1f}     {failed:5}"
                print(
                    f"{name:28} {numbers}  {before:6.0f} {memory.peak:6.0f} {memory_mb(server):6.0f}  {became}",
                    flush=True,
                )
                if name == ODD:
                    print(_growth(once, memory_once_mb(server)), flush=True)
        finally:
            server.stop()
        log = (Path(folder) / "server.log").read_text()
        errors, tracebacks = log.count(" ERROR "), log.count("Traceback")
        print(f"the server's log: {len(log)} characters, {errors} errors, {tracebacks} tracebacks")
        for line in [line for line in log.splitlines() if " ERROR " in line or "Traceback" in line][:SHOWN]:
            print(f"    {line[:200]}")


def _with_warm_up(names: list[str]) -> list[str]:
    """Put the warm-up before the odd requests, wherever they are."""
    return [each for name in names if name != WARM_UP for each in ((WARM_UP, ODD) if name == ODD else (name,))]


def _growth(before: float, after: float) -> str:
    """Return the line that says whether the memory is back."""
    ratio = after / before
    verdict = "within" if ratio <= 1 + BACK_WITHIN else "NOT within"
    counted = f"{before:.0f} MB before, {after:.0f} MB after, {ratio:.3f} times"
    return f"    shared pages counted once: {counted}: {verdict} {BACK_WITHIN:.0%}"


if __name__ == "__main__":
    main()
