"""A runner program that executes nothing and sends ops at a steady rate, like the real one: some rows every 50 ms.

Op k of a run ends k + 1 periods after the run's first moment, whenever it is sent: a line that goes out late counts as
late where it arrives. A line always holds the same number of ops, so that an entry's ops follow from its number.
Times count from the run's first moment, as the real runner's do; `t0_unix_ns` says when that was, here on the
monotonic clock. A row's last number is how late its line was written. Bytes and messages follow after the last op, as
in the real runner for very many ops, or, with `--details`, are sent together with their ops.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

LINE_S = 0.05  # as often as the real runner looks at its board
RANKS = 8
LATER = 1000  # ops whose details make a line, where they come behind the last op
VERDICT: dict[str, Any] = {"verified": True, "max_grad_error": 0.0}
FIGURES: dict[str, Any] = {"makespan": 1.0, "longest_stage": 1.0, "bubble": {}}


def say(event: str, **fields: object) -> None:
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def details(ops: range, period: int) -> dict[str, list[list[int]]]:
    """The details of these ops: bytes of each, and one message per op."""
    sizes = [[k % RANKS, k // RANKS, 8256, 8256, 10**6 + 8192 * (k % 5)] for k in ops]
    messages = [
        [k % RANKS, (k + 1) % RANKS, k % 2, k % RANKS, k // RANKS, (k - 4) * period, (k - 5) * period,
         (k - 3) * period, 8256] for k in ops
    ]  # fmt: skip
    return {"bytes": sizes, "messages": messages}


def emit(run: str, rate: int, seconds: float, lead: float, live: bool) -> None:
    """Emit one run: `lead` seconds of silence, then `rate` ops per second; with `live`, their details too."""
    say("warming", id=run)
    begin = time.monotonic_ns() + round(lead * 1e9)
    say("running", id=run, mode="free", device="none", overlapped=True, unit_ms=1.0, clock_ns=50, t0_unix_ns=begin)
    period = 1_000_000_000 // rate
    size = round(rate * LINE_S)
    for line in range(round(seconds / LINE_S)):
        due = begin + (line + 1) * size * period
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        late = time.monotonic_ns() - due
        new = range(line * size, (line + 1) * size)
        ops = [[k % RANKS, k // RANKS, (k - 4) * period, (k - 3) * period, (k + 1) * period, late] for k in new]
        say("op_batch", id=run, ops=ops, **(details(new, period) if live else {}))
    if not live:
        for at in range(0, round(seconds / LINE_S) * size, LATER):
            say("op_batch", id=run, ops=[], **details(range(at, at + LATER), period))
    say("verified", id=run, loss=0.5, reference_loss=0.5, worst="w", **VERDICT)
    say("finished", id=run, predicted=FIGURES, measured=FIGURES, **VERDICT)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rate", type=int, required=True)
    options.add_argument("--seconds", type=float, required=True)
    options.add_argument("--lead", type=float, required=True)
    options.add_argument("--cores", required=True, help="that it may use: not the server's, whose child it is")
    options.add_argument("--details", action="store_true", help="bytes and messages beside their ops")
    given = options.parse_args()
    os.sched_setaffinity(0, {int(core) for core in given.cores.split(",")})
    say("ready", version=1, devices=[{"kind": "cpu", "cores": 2, "name": "none"}])
    for line in sys.stdin:
        message = json.loads(line)
        if message["cmd"] == "run":
            emit(message["id"], given.rate, given.seconds, given.lead, given.details)
        elif message["cmd"] == "shutdown":
            return


if __name__ == "__main__":
    main()
