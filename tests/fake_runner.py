"""A runner that measures nothing: speaks the runner's protocol, and fails in every way that a runner can.

What a job does follows from its number of micro-batches (see FAILURES); any other m finishes well: m batches of
`--rows` ops, `--pause` seconds apart, each op's end being the machine's monotonic clock when it was sent.
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

FAILURES = {101: "die", 102: "hang", 103: "refuse", 104: "bad op", 105: "fail", 106: "deaf", 107: "noise", 108: "warm"}
DEVICES = [{"kind": "cpu", "cores": 2, "name": "fake"}]
CHOICES = [
    {"from": 1, "to": 2, "device": "cpu", "mode": "free"},
    {"from": 3, "to": 64, "device": "cpu", "mode": "paced"},
]
FIGURES = {"makespan": 3.0, "longest_stage": 3.0, "bubble": {}}


def say(event: str, **fields: object) -> None:
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


class FakeRunner:
    def __init__(self, pause: float, rows: int) -> None:
        self.pause, self.rows = pause, rows
        self.jobs: queue.Queue = queue.Queue()
        self.cancelled: set[str] = set()

    def read(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if message["cmd"] == "cancel":
                self.cancelled.add(message["id"])
            elif message["cmd"] == "run":
                self.jobs.put(message)
            elif message["cmd"] == "shutdown":
                break
        os._exit(0)

    def serve(self) -> None:
        while True:
            job = self.jobs.get()
            getattr(self, "do_" + FAILURES.get(job["spec"]["m"], "well").replace(" ", "_"))(job["id"], job["spec"])

    def begin(self, run: str) -> None:
        say("warming", id=run)
        say("running", id=run, mode="paced", device="fake", overlapped=True, unit_ms=1.0, clock_ns=50, ops=0)

    def batch(self, run: str, index: int) -> None:
        now = time.monotonic_ns()
        first = index * self.rows
        ops = [[0, first + k, now, now, now, 0] for k in range(self.rows)]
        sizes = [[0, first + k, 8, 16, 1024 * k] for k in range(self.rows)]
        say("op_batch", id=run, ops=ops, bytes=sizes, messages=[[0, 1, 0, 1, index, now, now, now, 16]])

    def do_well(self, run: str, spec: dict) -> None:
        self.begin(run)
        for index in range(spec["m"]):
            if run in self.cancelled:
                say("cancelled", id=run)
                return
            self.batch(run, index)
            time.sleep(self.pause)
        verdict = {"verified": True, "max_grad_error": 1e-7}
        say("verified", id=run, loss=0.5, reference_loss=0.5, worst="w", **verdict)
        say("finished", id=run, status="finished", device="fake", mode="paced", predicted=FIGURES, measured=FIGURES,
            largest_residual={"rank": 0, "op": "0F0", "ns": 7}, **verdict)  # fmt: skip

    def do_die(self, run: str, spec: dict) -> None:
        self.begin(run)
        self.batch(run, 0)
        os._exit(3)

    def do_hang(self, run: str, spec: dict) -> None:
        self.begin(run)
        time.sleep(3600)

    def do_refuse(self, run: str, spec: dict) -> None:
        say("error", id=run, error={"field": "p", "value": spec["p"], "message": "too few devices"})

    def do_bad_op(self, run: str, spec: dict) -> None:
        self.begin(run)
        say("op_batch", id=run, ops=[[0, 1, "soon"]])
        time.sleep(3600)

    def do_fail(self, run: str, spec: dict) -> None:
        self.begin(run)
        say("failed", id=run, error={"field": "rank", "value": 1, "message": "rank 1 ran out of memory"})

    def do_deaf(self, run: str, spec: dict) -> None:
        self.begin(run)
        for index in range(10_000):
            self.batch(run, index)
            time.sleep(0.02)

    def do_warm(self, run: str, spec: dict) -> None:
        say("warming", id=run)
        while run not in self.cancelled:
            time.sleep(0.005)
        say("cancelled", id=run)

    def do_noise(self, run: str, spec: dict) -> None:
        sys.stdout.write('a library says hello\n[1, 2]\n{"event": "op_batch", "id": "other", "ops": []}\n')
        self.do_well(run, {"m": 2})


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--pause", type=float, default=0.002)
    options.add_argument("--rows", type=int, default=3)
    options.add_argument("--start", type=float, default=0.0, help="seconds until it is ready")
    options.add_argument("--never", action="store_true", help="end before it is ready")
    options.add_argument("--worker", action="store_true", help="start a process that holds our output open")
    given = options.parse_args()
    if given.never:
        sys.exit(7)
    if given.worker:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    fake = FakeRunner(given.pause, given.rows)
    time.sleep(given.start)
    say("ready", version=1, devices=DEVICES, choices=CHOICES)
    threading.Thread(target=fake.read, daemon=True).start()
    fake.serve()


if __name__ == "__main__":
    main()
