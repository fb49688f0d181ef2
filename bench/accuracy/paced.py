"""Measure how close paced runs at the default unit are to their plans: the bubble, the step time, and late starts.

    python bench/accuracy/paced.py [runs]

Prints for each schedule the medians of `runs` runs (3 by default): the predicted and the measured bubble, by which
share the step was longer than planned, and the late starts summed over all ranks; and the largest deviation of the
bubble in any run. On a machine that does other work too, `chrt -r 5 python bench/accuracy/paced.py` as root takes the
cores for the runs.
"""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.chdir(ROOT)

from tests.support.runner.client import RunnerProgram  # noqa: E402

SPECS: tuple[dict[str, Any], ...] = (
    {"family": "1f1b", "p": 4, "m": 8},
    {"family": "zb-h1", "p": 4, "m": 8},
    {"family": "interleaved", "p": 4, "m": 8, "v": 2},
)


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    runner = RunnerProgram()
    print(
        "schedule                  unit   step  bubble predicted  measured  over plan  late starts  largest deviation"
    )
    try:
        for spec in SPECS:
            ends = [runner.run(spec=spec, mode="paced")[-1] for _ in range(runs)]
            assert all(end["verified"] for end in ends)
            predicted = _bubble(ends[0]["predicted"])
            bubble = statistics.median(_bubble(end["measured"]) for end in ends)
            worst = max(abs(_bubble(end["measured"]) - predicted) for end in ends)
            over = statistics.median(end["over_plan"] for end in ends)
            late = statistics.median(sum(end["idle"]["late_start"]) for end in ends)
            name = " ".join(f"{key} {value}" if key != "family" else str(value) for key, value in spec.items())
            unit, makespan = ends[0]["unit_ms"], ends[0]["predicted"]["makespan"]
            print(
                f"{name:<25} {unit:g} ms {makespan * unit / 1000:>4.2f} s  {predicted:>16.2%} "
                f"{bubble:>9.2%} {over:>+10.2%} {late / 1e6:>9.1f} ms {100 * worst:>11.2f} points"
            )
    finally:
        runner.close()


def _bubble(figures: dict[str, Any]) -> float:
    share: float = figures["bubble"]["global"]["of_total"]
    return share


if __name__ == "__main__":
    main()
