"""GPipe: all forwards, then all backwards (Huang et al. 2019, arXiv 1811.06965)."""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family
from backend.schedule.families.table import Table
from backend.schedule.laws.law import NO_HOPS, NO_SHARD_HOPS, UNIFORM, Law
from backend.schedule.options.vocabulary import SPREAD

GPIPE = Family(
    name="gpipe",
    title="GPipe",
    year=2019,
    source=message("schedule.gpipe_source", "Huang et al., GPipe, arXiv 1811.06965"),
    used_by=message("schedule.gpipe_used_by", "teaching; torch's ScheduleGPipe"),
    group="classic",
    summary=message(
        "schedule.gpipe_summary",
        "All forwards, then all backwards: simplest, and every micro-batch's activations are held at once.",
    ),
    backward="full",
    complexity=message("schedule.complexity_two_loops", "two loops"),
    placement="looped",
    table=Table(
        rows=[
            ("m", "F"),
            ("m", "B"),
        ],
        last_first="lifo",  # as in the paper's figure; torch runs the backwards from the first micro-batch
    ),
    fields=("lifo",),
    vocabulary=SPREAD,
    laws=(
        Law(
            "bubble",
            "(p-1)*(f+b+2*c)",
            message("schedule.law_gpipe_bubble", "GPipe section 2.3, with a hop's latency added"),
            (UNIFORM, NO_SHARD_HOPS),
            shards=True,
        ),
        Law(
            "share",
            "(p-1)/(m+p-1)",
            message("schedule.law_gpipe_share", "GPipe section 2.3: K partitions are our p devices, M is our m"),
            (UNIFORM, NO_HOPS),
        ),
        Law(
            "makespan",
            "sum_f + (m-1)*max_f + sum_b + (m-1)*max_b",
            message("schedule.law_gpipe_makespan", "flow-shop: fill, then the slowest stage"),
            (
                NO_HOPS,
                (
                    "lifo == 0 or uniform == 1",
                    message(
                        "schedule.unless_first_in_first_out",
                        "backwards from last to first start at once on a slow last stage",
                    ),
                ),
            ),
        ),
        Law(
            "peak",
            "m",
            message("schedule.law_forwards_before_backwards", "every forward comes before every backward"),
            shards=True,
        ),
    ),
)
