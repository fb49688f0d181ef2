"""Measure the charts and tables that take longest: the largest legal asks of each, in one process and in several.

    .venv/bin/python bench/charts.py [--repeat 3]

For each ask the least seconds over some repeats, taken in turns: one schedule after the other (one process), and as the
server does it, and their ratio. The drawing (plotly, JSON) is in both. The answers must be equal.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from backend.compute import parallel_map
from backend.jobs import analyses
from backend.jobs.encoding import Encoded
from backend.schedule import jit
from backend.schedule.analysis import pareto
from backend.schedule.families.v_shape import repeated_block

ASKS = (  # (chart, query): those with the most work within the limits of chart_query.py and compare.py
    ("bubble", "family=v-auto&p=1024&m=85&comm=0.3"),
    ("bubble", "family=v-auto&p=64&m=256&F=1.1&I=0.9&W=0.7&comm=0.13"),
    ("bubble", "family=zb-auto&p=1024&m=170&comm=0.3"),
    ("bubble", "family=interleaved&p=64&m=256&v=2&offload=full"),
    ("bubble-m", "family=1f1b&p=1024&m=128&comm=0.3"),
    ("bubble-m", "family=1f1b&p=64&m=2730&comm=0.3"),
    ("pareto", "family=1f1b&p=341&m=96&comm=0.3"),
    ("pareto", "family=1f1b&p=64&m=32&comm=0.3"),
    ("pareto", "family=1f1b&p=8&m=256&F=1.1&I=0.9&W=0.7&comm=0.13"),
    ("messages", "family=interleaved&p=32&m=256&v=16"),
    ("compare", "p=341&m=79&comm=0.3"),
    ("split", "family=v-min&p=1024&m=80&comm=0.3"),
    ("memory", "family=v-min&p=1024&m=80&comm=0.3"),
)


def answer(chart: str, query: str) -> Encoded:
    """Return the answer of the server, without what it remembers of earlier ones."""
    pareto.measured.cache_clear()
    analyses._frontier.cache_clear()
    repeated_block.constructed.cache_clear()
    if chart == "pareto":
        return analyses.frontier(query.encode(), ())
    return analyses.comparison(query.encode()) if chart == "compare" else analyses.chart(chart, query.encode(), ())


def seconds(work: Callable[[], Encoded]) -> tuple[float, Encoded]:
    """Return the time of the work, and its result."""
    begun = time.perf_counter()
    made = work()
    return time.perf_counter() - begun, made


def measure(chart: str, query: str, repeat: int) -> None:
    """Print the line of one ask."""
    most = parallel_map.MOST_PROCESSES
    alone, side_by_side = [], []
    for _ in range(repeat):
        try:
            parallel_map.MOST_PROCESSES = 1
            spent, plain = seconds(lambda: answer(chart, query))
            alone.append(spent)
        finally:
            parallel_map.MOST_PROCESSES = most
        spent, now = seconds(lambda: answer(chart, query))
        side_by_side.append(spent)
        assert now.deflated == plain.deflated, "the answers differ"
    one, many = min(alone), min(side_by_side)
    print(f"{chart:9} {query:54} {one:6.2f} s  {many:6.2f} s  {one / many:5.2f}", flush=True)


def main() -> None:
    """Measure every ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the shortest counts")
    repeat = parser.parse_args().repeat
    jit.compile_all()
    answer("bubble", "family=1f1b")  # imports plotly
    print(f"{parallel_map.cores()} cores, at most {parallel_map.MOST_PROCESSES} processes")
    print(f"{'':64} {'one':>8}  {'now':>8}  ratio")
    for chart, query in ASKS:
        measure(chart, query, repeat)


if __name__ == "__main__":
    main()
