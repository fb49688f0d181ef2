"""Measure whole runs of the runner program: start-up time, agreement with the plan, recovery time after a fault.

    python bench/runs.py [starts] [calibrated] [failures]

1. How soon a run starts on a warm pool: from the command to "running"; and the paced makespan over the simulated one,
   p = 8, m = 16, 20 ms per time unit, and over what the simulator makes of the costs that the ops had.
2. Unpaced makespan at the costs that the ops had (their medians, simulated again) beside the measured one, p = 2, and
   the same with each op's own time, where only messages and wake-ups are at their medians. They are to agree where
   every rank has a core of its own; Linux reports for how long a rank was ready and had none. On a machine that does
   other work too, `chrt -r 5 python bench/runs.py calibrated` as root occupies the cores except for 50 ms per second,
   which Linux reserves for the others: the medians are meaningful, not the extremes.
3. How soon the pool is healthy after a fault: from the run's start to its end, which names the fault, and from there to
   the first ops of the next run.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.chdir(ROOT)

from tests.support.runner import faults  # noqa: E402
from tests.support.runner.client import LAST, TINY, RunnerProgram  # noqa: E402

CALIBRATED, ALONE = 7, 0.005
SHAPES = {
    "tiny": {"hidden": 32, "heads": 2, "sequence": 16, "batch": 2, "vocabulary": 64},
    "small": {"hidden": 128, "heads": 4, "sequence": 64, "batch": 4, "vocabulary": 512},
    "medium": {"hidden": 256, "heads": 4, "sequence": 128, "batch": 4, "vocabulary": 512},
}
FAULTS = (
    ("worker killed", "KILL_FORWARD"),
    ("worker stopped", "STOP"),
    ("message that never comes", "DROP"),
    ("out of memory", "MEMORY"),
    ("loss that is not a number", "NAN"),
)


def starts_and_makespan() -> None:
    runner = RunnerProgram()
    spec = {"family": "1f1b", "p": 8, "m": 16}
    starts = []
    try:
        for number in range(4):
            begin = time.perf_counter()
            runner.start(spec=spec, mode="paced", unit_ms=20 if number else 1)
            runner.until("running")
            starts.append(time.perf_counter() - begin)
            last = runner.until(*LAST)[-1]
            if number:
                ratio = last["measured"]["makespan"] / last["predicted"]["makespan"]
                late = last["largest_residual"]["ns"] / 1e6
                found = 1 + last["calibrated"]["error"]
                print(
                    f"paced p=8 m=16 20 ms: makespan {ratio:.4f} of the simulated, at measured costs "
                    f"{found:.4f} of the measured; latest op end {late:+.1f} ms"
                )
    finally:
        runner.close()
    first, *others = (f"{start * 1e3:.0f}" for start in starts)
    print(f"start of a run, 8 ranks: {first} ms on a grown pool, then {', '.join(others)} ms")


def calibrated() -> None:
    runner = RunnerProgram()
    try:
        for name, shape in SHAPES.items():
            for micros in (8, 32):
                errors, replayed, without = [], [], []
                for _ in range(CALIBRATED):
                    spec = {"family": "1f1b", "p": 2, "m": micros}
                    last = runner.run(spec=spec, mode="free", model=shape)[-1]
                    makespan = last["measured"]["makespan"] * last["unit_ms"]
                    errors.append(last["calibrated"]["error"])
                    replayed.append(last["calibrated"]["replayed"]["error"])
                    without.append(max(last["starved"]) / 1e6 / makespan)
                own = [error for error, share in zip(errors, without, strict=True) if share < ALONE]
                kept = f"{statistics.median(own):+.1%}" if own else "none"
                print(
                    f"unpaced p=2 m={micros} {name}, {makespan:.0f} ms: makespan at measured costs off by "
                    f"{_spread(errors)}, with each op's own time {_spread(replayed)}; {len(own)} of "
                    f"{CALIBRATED} runs had their cores for all but {ALONE:.1%}, median error there {kept}"
                )
    finally:
        runner.close()


def _spread(shares: list[float]) -> str:
    return f"{statistics.median(shares):+.1%} ({min(shares):+.1%} to {max(shares):+.1%})"


def failures() -> None:
    """Measure from the fault to the end of its run, and on to the first op of the next run on the new pool."""
    runner = RunnerProgram("tests.support.runner.altered_runner")
    run = {"spec": {"family": "1f1b", "p": 3, "m": 24}, "mode": "paced", "unit_ms": 4, "model": TINY}
    try:
        for name, seed in FAULTS:
            runner.run(**run)
            runner.start(**run, seed=getattr(faults, seed))
            runner.until("running")
            begin = time.perf_counter()
            last = runner.until(*LAST)[-1]
            ended = time.perf_counter()
            runner.start(**run)
            runner.until("op_batch")
            print(
                f"{name}: {last['event']} {ended - begin:.2f} s after the run's start, 0.1 s of it before the fault; "
                f"first ops of the next run reported {time.perf_counter() - ended:.2f} s later"
            )
            runner.until(*LAST)
    finally:
        runner.close()


SECTIONS = {"starts": starts_and_makespan, "calibrated": calibrated, "failures": failures}


def main() -> None:
    for name in sys.argv[1:] or SECTIONS:
        SECTIONS[name]()


if __name__ == "__main__":
    main()
