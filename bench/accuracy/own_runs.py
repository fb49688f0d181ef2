"""Run every family with real tensors and messages, and compare the step's length with what is predicted for it.

    .venv/bin/python bench/accuracy/own_runs.py [RUNS]

Two processes, one a core, and two directions on as many; unpaced, small tensors. Printed for each family: the simulated
step at the median costs of the run's own ops, and with each op's own time, against the measured one: median, 95th
percentile and worst of RUNS (default 7) runs, and runs that failed or did not verify. What the median costs leave out
is how an op's time varies, messages' times and wake-ups beyond their medians, and the operating system.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from backend.schedule.families.registry import FAMILIES
from tests.support.runner.client import RunnerProgram

SHAPE = {"hidden": 128, "heads": 4, "sequence": 64, "batch": 4, "vocabulary": 512}
P, M = 2, 8


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    runner = RunnerProgram()
    every: dict[str, list[float]] = {"at median costs": [], "with own times": []}
    failed = 0
    heads = ["at median costs: median, p95, worst", "with own times: the same"]
    print(f"{'family':22} {'step ms':>8}   {'   '.join(f'{head:>38}' for head in heads)}   failed")
    try:
        for family in FAMILIES.values():
            spec = {"family": family.name, "p": P, "m": M, "v": family.v[1]}
            if family.problem is not None:
                spec["effort"] = 1
            found: dict[str, list[float]] = {name: [] for name in every}
            steps, wrong = [], 0
            for _ in range(runs):
                last = runner.run(spec=spec, mode="free", model=SHAPE)[-1]
                if last["event"] != "finished" or not last["verified"]:
                    wrong += 1
                    continue
                steps.append(last["measured"]["makespan"] * last["unit_ms"])
                found["at median costs"].append(last["calibrated"]["error"])
                found["with own times"].append(last["calibrated"]["replayed"]["error"])
            failed += wrong
            for name, errors in found.items():
                every[name] += errors
            columns = "   ".join(f"{_spread(errors):>38}" for errors in found.values())
            step = f"{statistics.median(steps):8.1f}" if steps else "       -"
            print(f"{family.title:22} {step}   {columns}   {wrong}", flush=True)
    finally:
        runner.close()
    columns = "   ".join(f"{_spread(errors):>38}" for errors in every.values())
    print(f"{'all':22} {'':8}   {columns}   {failed}")


def _spread(errors: list[float]) -> str:
    if not errors:
        return "none"
    sizes = sorted(abs(each) for each in errors)
    p95 = sizes[min(len(sizes) - 1, round(0.95 * (len(sizes) - 1)))]
    return f"{statistics.median(errors):+7.1%} {p95:7.1%} {max(errors, key=abs):+7.1%}"


if __name__ == "__main__":
    main()
