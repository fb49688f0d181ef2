"""DualPipe: two replicas of the model in opposite directions (DeepSeek-V3, arXiv 2412.19437, section 3.2.1).

Micro-batches 0..m/2-1 travel from rank 0 to rank p-1 (stream 0), the others from rank p-1 to rank 0 (stream 1). In the
steps below "0" is the direction that enters at the rank's own end of the pipeline, "1" the other. Parameters are held
twice; the two copies' gradients are summed after the step.
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family
from backend.schedule.families.rules import even, two_per_device
from backend.schedule.families.table import Table
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law

EIGHT_STEPS = [
    ("2*rest", "F0"),  # 1: nF0
    ("h + 1", "F0 F1"),  # 2: nF0F1
    ("rest", "I1 W F1"),  # 3: nB1W1F1, B split
    ("middle", "F0 B1 F1&B0"),  # 4: nF0B1F1B0, overlapped; the very first pair on the middle rank is not
    ("main - middle", "F0&B1 F1&B0"),
    ("rest", "B1 F1&B0"),  # 5: nB1F1B0
    ("split", "B1 B0"),  # 6: nB1B0, in the second half of it B split
    ("1 - h % 2", "B1 I0"),
    ("h - split + h % 2", "I1 I0"),
    ("rest", "W I0"),  # 7: nWB0
    ("h + 1", "W"),  # 8: nW
]


def eight_steps(half: str, h: str, n: str, mirrored: str) -> Table:
    """Build the table from formulas: ``half`` is the ranks from one end to the turn, ``h`` a rank's distance from its
    own end, ``n`` the micro-batches of each direction.

    Shared with DualPipeV, whose two chunks are the two directions of a pipeline folded in the middle.
    """
    return Table(
        rows=EIGHT_STEPS,
        let={
            "h": h,
            "rest": f"{half} - h - 1",
            "main": f"{n} - 2*{half} + h + 1",
            "middle": "rest == 0",
            "split": "floor((h+1)/2)",  # the pass of step 6 in which the backward starts to be split
        },
        mirrored=mirrored,
    )


SHORT_W = (
    "w <= f and w <= i",
    message("schedule.unless_short_w", "W takes longer than F or I and does not fit where it should fill"),
)
FULL_PAIR = (
    "fb_full == 1",
    message("schedule.unless_full_pair", "a pair that is faster than F + B leaves different idle time on each rank"),
)


def laws(share: str = "") -> tuple[Law, ...]:
    """Return the laws of DeepSeek's table; ``share`` is the divisor if a device's layers are split over chunks
    (DualPipeV).
    """
    return (
        Law(
            "bubble",
            f"(S/2-1)*(FB+b-3*w){share}",
            message("schedule.law_dualpipe_bubble", "DeepSeek's table: (PP/2-1)(F&B + B - 3W), B the full backward"),
            (
                UNIFORM,
                NO_HOPS,
                ("f == i", message("schedule.unless_equal_f_and_i", "F and I take different times")),
                SHORT_W,
                FULL_PAIR,
            ),
        ),
        Law(
            "bubble",
            f"(S/2-1)*(2*f+i-w){share}",
            message("schedule.law_dualpipe_bubble_long_f", "the same where F takes longer than I"),
            (
                UNIFORM,
                NO_HOPS,
                ("f >= i", message("schedule.unless_f_not_shorter_than_i", "F is shorter than I")),
                SHORT_W,
                FULL_PAIR,
            ),
        ),
        Law("peak", "S+1", message("schedule.law_dualpipe_peak", "DeepSeek's table: PP + 1, on every rank")),
    )


DUALPIPE = Family(
    name="dualpipe",
    title="DualPipe",
    year=2024,
    source=message(
        "schedule.dualpipe_source", "DeepSeek-AI, DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.2.1"
    ),
    used_by="DeepSeek-V3",
    group="bidirectional",
    summary=message(
        "schedule.dualpipe_summary",
        "Two replicas run in opposite directions; a forward and a backward overlap on each device.",
    ),
    backward="both",
    complexity=message("schedule.complexity_eight_steps", "eight steps"),
    placement="bidirectional",
    table=eight_steps("p/2", "min(r, p-1-r)", "m/2", mirrored="2*r >= p"),
    legal=(even("p"), two_per_device(), even("m")),
    fields=("FB",),
    ops="p*(m + 2*p - 1) + 2",
    laws=laws(),
)
