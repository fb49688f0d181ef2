"""Breadth-first pipeline: all forwards chunk by chunk, then all backwards (Lamy-Poirier 2023, arXiv 2211.05953).

As torch's ScheduleLoopedBFS orders it: the backwards from the last chunk to the first, and in each from the last
micro-batch to the first.
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family
from backend.schedule.families.table import Table
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law

ENOUGH = (
    "m >= p or v == 1",
    message(
        "schedule.unless_chunks_overlap",
        "fewer micro-batches than devices: a chunk's first forward waits for the last of the chunk before",
    ),
)

INTERLEAVED_BFS = Family(
    name="interleaved-bfs",
    title="Looped breadth-first",
    year=2023,
    source=message(
        "schedule.interleaved_bfs_source", "Lamy-Poirier, Breadth-First Pipeline Parallelism, arXiv 2211.05953"
    ),
    used_by=message("schedule.interleaved_bfs_used_by", "torch's ScheduleLoopedBFS"),
    group="interleaved",
    summary=message(
        "schedule.interleaved_bfs_summary",
        "GPipe with v chunks per device: the interleaved bubble, one long phase for each chunk's "
        "messages and gradients, and every activation held.",
    ),
    backward="full",
    complexity=message("schedule.complexity_two_loops_over_chunks", "two loops over the chunks"),
    placement="looped",
    table=Table(
        group="m",
        rows=[
            ("m*v", "F"),  # chunk by chunk, every micro-batch
            ("m*v", "B"),  # the chunks in reverse
        ],
        last_first="1",
    ),
    v=(1, 2, 64),
    laws=(
        Law(
            "bubble",
            "(p-1)*(f+b)/v",
            message("schedule.law_interleaved_bfs_bubble", "arXiv 2211.05953, section 3"),
            (UNIFORM, NO_HOPS, ENOUGH),
        ),
        Law(
            "peak",
            "m*v",
            message("schedule.law_forwards_before_backwards", "every forward comes before every backward"),
        ),
    ),
)
