"""A runner for tests that executes nothing: it writes the protocol's events, and fails in every way that a runner can.

The number of micro-batches selects what a job does (FAILURES); with any other m it finishes: m batches of `--rows` ops,
`--pause` seconds apart, the end of each op being the machine's monotonic clock at sending, and ends once the file
`--until` is there. With `--cluster` its engine is ray: three hosts, ranks placed on them, links and clocks.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

FAILURES = {101: "die", 102: "hang", 103: "refuse", 104: "bad op", 105: "fail", 106: "deaf", 107: "noise", 108: "warm",
            109: "wait", 110: "lose host", 111: "get on", 112: "stall",
            113: "go on"}  # fmt: skip
DEVICES = [{"kind": "cpu", "cores": 2, "name": "fake"}]
CHOICES = [
    {"from": 1, "to": 2, "device": "cpu", "mode": "free"},
    {"from": 3, "to": 64, "device": "cpu", "mode": "paced"},
]
FIELDS = {
    "ops": ["rank", "index", "ready", "start", "end", "recv_wait"],
    "copies": ["rank", "index", "ready", "start", "end", "bytes"],
    "bytes": ["rank", "index", "received", "sent", "live"],
    "messages": ["source", "target", "gradient", "stage", "micro", "posted", "asked", "taken", "bytes"],
}
SHARES = {"of_total": 0.25, "of_ideal": 0.333}
FIGURES = {"makespan": 3.0, "longest_stage": 3.0, "bubble": {"global": SHARES, "span": SHARES}}


def write_event(event: str, **fields: object) -> None:
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


ROOM = {"head": (0, 0), "worker-1": (4, 0), "worker-2": (4, 2)}  # host -> its cores, its GPUs


class FakeCluster:
    """Three hosts: one that takes no ranks, and two with room for some."""

    def __init__(self) -> None:
        self.ranks: list[str] = []  # the host of each, of the present or last run
        self.busy = False
        self.dead: set[str] = set()
        self.waiting = ""

    def place(self, p: int, spread: str) -> None:
        names = ["worker-1", "worker-2"]
        self.ranks = [names[rank % 2 if spread == "spread" else min(1, 2 * rank // max(2, p))] for rank in range(p)]
        self.busy = True

    def host(self, index: int, name: str) -> dict:
        cores, gpus = ROOM[name]
        mine = [rank for rank, host in enumerate(self.ranks) if host == name]
        free = cores - (len(mine) if self.busy else 0)
        memory = {"total": 16 * 2**30, "free": (16 - 2 * (cores - free)) * 2**30}
        return {"name": name, "address": f"10.77.0.{index}", "alive": name not in self.dead,
                "why": "its health check failed" if name in self.dead else "", "head": index == 1,
                "cpus": {"total": cores, "free": max(0, free)}, "gpus": {"total": gpus, "free": gpus},
                "memory": memory, "ranks": mine}  # fmt: skip

    def links(self) -> list[dict]:
        pairs = zip(self.ranks, self.ranks[1:], strict=False)
        far = [one != other for one, other in pairs]
        return [{"from": rank, "to": rank + 1, "hosts": self.ranks[rank : rank + 2],
                 "latency_ns": 182_000 if apart else 38_500, "uncertainty_ns": 9_000 if apart else 1_400}
                for rank, apart in enumerate(far)]  # fmt: skip

    def clocks(self) -> list[dict]:
        return [{"host": host, "offset_ns": 7_400_000 * at, "drift_ppm": 1.5 * at, "uncertainty_ns": 21_000 + 400 * at}
                for at, host in enumerate(sorted(set(self.ranks)))]  # fmt: skip

    def now(self) -> dict:
        hosts = [self.host(index, name) for index, name in enumerate(ROOM, start=1)]
        return {"address": "10.77.0.1:6379", "state": "up", "why": "", "hosts": hosts, "links": self.links(),
                "waiting": self.waiting}  # fmt: skip


class FakeRunner:
    def __init__(self, pause: float, rows: int, until: Path | None, cluster: FakeCluster | None = None) -> None:
        self.pause, self.rows, self.until, self.cluster = pause, rows, until, cluster
        self.jobs: queue.Queue = queue.Queue()
        self.cancelled: set[str] = set()

    def read(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if message["cmd"] == "cancel":
                self.cancelled.add(message["id"])
            elif message["cmd"] == "run":
                self.jobs.put(message)
            elif message["cmd"] == "devices":
                write_event("devices", **self.machine())
            elif message["cmd"] == "shutdown":
                break
        os._exit(0)

    def serve(self) -> None:
        while True:
            job = self.jobs.get()
            assert isinstance(job["order"], str), "a run command has its order"
            if self.cluster is not None:
                self.cluster.place(job["spec"]["p"], job.get("spread", "pack"))
            getattr(self, "do_" + FAILURES.get(job["spec"]["m"], "well").replace(" ", "_"))(job["id"], job["spec"])
            if self.cluster is not None:
                self.cluster.busy, self.cluster.waiting = False, ""
                self.write_cluster()

    def machine(self) -> dict:
        """The fields of `ready` and `devices`."""
        if self.cluster is None:
            return {"devices": DEVICES, "choices": CHOICES}
        now = self.cluster.now()
        devices = [DEVICES[0] | {"host": host["name"]} for host in now["hosts"] if host["alive"]]
        return {"engine": "ray", "devices": devices, "choices": CHOICES, "cluster": now}

    def write_cluster(self) -> None:
        if self.cluster is not None:
            write_event("cluster", **self.cluster.now())

    def where(self, *keys: str) -> dict:
        """The hosts, clocks and links of a run on a cluster."""
        cluster = self.cluster
        if cluster is None:
            return {}
        known = {"hosts": cluster.ranks, "clocks": cluster.clocks(), "links": cluster.links()}
        return {key: known[key] for key in keys}

    def begin(self, run: str) -> None:
        write_event("warming", id=run)
        self.write_cluster()
        about = {"mode": "paced", "device": "fake", "overlapped": True, "unit_ms": 1.0, "clock_ns": 50, "ops": 0,
                 "fields": FIELDS}  # fmt: skip
        write_event("running", id=run, **about, **self.where("hosts", "clocks"))

    def batch(self, run: str, index: int) -> None:
        now = time.monotonic_ns()
        first = index * self.rows
        ops = [[0, first + k, now, now, now, 0] for k in range(self.rows)]
        sizes = [[0, first + k, 8, 16, 1024 * k] for k in range(self.rows)]
        write_event("op_batch", id=run, ops=ops, bytes=sizes, messages=[[0, 1, 0, 1, index, now, now, now, 16]])

    def do_well(self, run: str, spec: dict) -> None:
        self.begin(run)
        index = 0
        while index < spec["m"] or not (self.until is None or self.until.exists()):
            if run in self.cancelled:
                write_event("cancelled", id=run)
                return
            if index < spec["m"]:
                self.batch(run, index)
            index += 1
            time.sleep(self.pause)
        verdict = {"verified": True, "max_grad_error": 1e-7}
        write_event("verified", id=run, loss=0.5, reference_loss=0.5, worst="w", **verdict)
        figures = {"predicted": FIGURES, "measured": FIGURES, "largest_residual": {"rank": 0, "op": "0F0", "ns": 7}}
        where = self.where("hosts", "clocks", "links")
        write_event("finished", id=run, status="finished", device="fake", mode="paced", **figures, **verdict, **where)

    def do_die(self, run: str, spec: dict) -> None:
        self.begin(run)
        self.batch(run, 0)
        os._exit(3)

    def do_hang(self, run: str, spec: dict) -> None:
        self.begin(run)
        time.sleep(3600)

    def do_refuse(self, run: str, spec: dict) -> None:
        error = {"code": "runner.too_few", "params": {}, "field": "p", "value": spec["p"], "message": "too few devices"}
        write_event("error", id=run, error=error)

    def do_bad_op(self, run: str, spec: dict) -> None:
        self.begin(run)
        write_event("op_batch", id=run, ops=[[0, 1, "soon"]])
        time.sleep(3600)

    def do_fail(self, run: str, spec: dict) -> None:
        self.begin(run)
        message = {"code": "runner.out_of_memory", "params": {"rank": 1}, "message": "rank 1 ran out of memory"}
        write_event("failed", id=run, failure={"kind": "out_of_memory", "rank": 1, "op": "1F0"} | message)

    def do_deaf(self, run: str, spec: dict) -> None:
        self.begin(run)
        for index in range(10_000):
            self.batch(run, index)
            time.sleep(0.02)

    def do_warm(self, run: str, spec: dict) -> None:
        write_event("warming", id=run)
        self.until_cancelled(run)

    def until_cancelled(self, run: str) -> None:
        while run not in self.cancelled:
            time.sleep(0.005)
        write_event("cancelled", id=run)

    def do_wait(self, run: str, spec: dict) -> None:
        """Wait for resources that never come."""
        found = "2 of 4 ranks have a place; a core is wanted for each of the others"
        write_event("waiting", id=run, message=found)
        if self.cluster is not None:
            self.cluster.waiting = found
        self.write_cluster()
        self.until_cancelled(run)

    def do_get_on(self, run: str, spec: dict) -> None:
        """Send 24 reports of progress and nothing else, of which only the steps after the first are seen by viewers."""
        self.begin(run)
        for done in range(1, 25):
            step = 1 + done // 10
            write_event("progress", id=run, phase="running", step=step, steps=3, done=done, of=30)
            time.sleep(0.05)
        self.batch(run, 0)
        write_event("verified", id=run, verified=True)
        write_event("finished", id=run, status="finished", verified=True, mode="paced", device="fake")

    def do_go_on(self, run: str, spec: dict) -> None:
        """Send ops until it is cancelled."""
        self.do_well(run, {"m": sys.maxsize})

    def do_stall(self, run: str, spec: dict) -> None:
        """Send the same progress again and again."""
        self.begin(run)
        while run not in self.cancelled:
            write_event("progress", id=run, phase="running", step=2, steps=3, done=7, of=30)
            time.sleep(0.05)
        write_event("cancelled", id=run)

    def do_lose_host(self, run: str, spec: dict) -> None:
        """Lose a host while a run is on it."""
        assert self.cluster is not None
        self.begin(run)
        self.batch(run, 0)
        self.cluster.dead.add("worker-2")
        self.write_cluster()
        text = "host worker-2 (10.77.0.3) was lost, and with it rank 1"
        message = {"code": "runner.host_lost", "params": {"host": "worker-2"}, "message": text}
        write_event("failed", id=run, failure={"kind": "host_lost", "rank": 1, "op": None} | message)

    def do_noise(self, run: str, spec: dict) -> None:
        sys.stdout.write('a library says hello\n[1, 2]\n{"event": "op_batch", "id": "other", "ops": []}\n')
        self.do_well(run, {"m": 2})


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--pause", type=float, default=0.002)
    options.add_argument("--rows", type=int, default=3)
    options.add_argument("--until", type=Path, help="a file; no run ends well before it is there")
    options.add_argument("--start", type=float, default=0.0, help="seconds until it is ready")
    options.add_argument("--never", action="store_true", help="end before it is ready")
    options.add_argument("--missing", action="store_true", help="be without torch")
    options.add_argument("--cluster", action="store_true", help="have hosts, as a runner with ray has them")
    options.add_argument("--worker", action="store_true", help="start a process that holds our output open")
    given = options.parse_args()
    if given.missing:
        write_event("missing", why="torch is not installed")
        sys.exit(4)
    if given.never:
        if given.cluster:
            write_event(
                "cluster", address="10.77.0.1:6379", state="lost", why="no Ray cluster answers at 10.77.0.1:6379"
            )
        sys.exit(7)
    if given.worker:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    fake = FakeRunner(given.pause, given.rows, given.until, FakeCluster() if given.cluster else None)
    time.sleep(given.start)
    write_event("ready", version=1, **fake.machine())
    threading.Thread(target=fake.read, daemon=True).start()
    fake.serve()


if __name__ == "__main__":
    main()
