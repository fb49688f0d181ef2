"""GPipe: all forwards, then all backwards (Huang et al. 2019, arXiv 1811.06965)."""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family, Row, backwards_from_the_last, phases
from backend.schedule.laws.law import NO_HOPS, NO_SHARD_HOPS, UNIFORM, Law
from backend.schedule.options.vocabulary import SPREAD
from backend.schedule.order.ops import B, F
from backend.schedule.order.order import Order
from backend.schedule.spec import Spec


def rows(spec: Spec) -> list[Row]:
    """Build each rank's row, equal on all ranks: F of every micro-batch, then B of every micro-batch."""
    row = phases(
        (spec.m, [F]),
        (spec.m, [B]),
    )
    return [row] * spec.p


def last_in_first_out(spec: Spec, order: Order) -> Order:
    """Return the order with the backwards from the last micro-batch to the first, as in the paper's figure, if the
    spec asks for it; torch runs them from the first.
    """
    return backwards_from_the_last(spec, order) if spec.lifo else order


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
    rows=rows,
    legal=lambda spec: None,
    fields=("lifo",),
    numbered=lambda spec: spec.lifo,
    finish=last_in_first_out,
    vocabulary=SPREAD,
    laws=(
        Law(
            "bubble",
            "global",
            "(p-1)*(f+b+2*c)",
            (UNIFORM, NO_SHARD_HOPS),
            message("schedule.law_gpipe_bubble", "GPipe section 2.3, with a hop's latency added"),
            shards=True,
        ),
        Law(
            "share",
            "global",
            "(p-1)/(m+p-1)",
            (UNIFORM, NO_HOPS),
            message("schedule.law_gpipe_share", "GPipe section 2.3: K partitions are our p devices, M is our m"),
        ),
        Law(
            "makespan",
            "global",
            "sum_f + (m-1)*max_f + sum_b + (m-1)*max_b",
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
            message("schedule.law_gpipe_makespan", "flow-shop: fill, then the slowest stage"),
        ),
        Law(
            "peak",
            "global",
            "m",
            (),
            message("schedule.law_forwards_before_backwards", "every forward comes before every backward"),
            shards=True,
        ),
    ),
)
