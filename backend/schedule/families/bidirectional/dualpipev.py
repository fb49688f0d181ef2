"""DualPipeV: DualPipe cut in half, its two directions folded into a V (Sea AI Lab 2025, "Cut-in-half").

Rank r holds stages r and 2p-1-r: chunk 0 is DualPipe's direction 0, chunk 1 its direction 1, and every rank behaves as
one of the first half of a DualPipe over 2p devices. Parameters are held once.
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.bidirectional.dualpipe import eight_steps, laws
from backend.schedule.families.family import Family
from backend.schedule.families.rules import two_per_device

DUALPIPEV = Family(
    name="dualpipev",
    title="DualPipeV",
    year=2025,
    source=message(
        "schedule.dualpipev_source", "Sea AI Lab, DualPipe could be better without the Dual; deepseek-ai/DualPipe"
    ),
    used_by=message("schedule.dualpipev_used_by", "deepseek-ai/DualPipe; torch's ScheduleDualPipeV"),
    group="bidirectional",
    summary=message(
        "schedule.dualpipev_summary",
        "DualPipe cut in half and folded into a V: the same overlap with parameters held once.",
    ),
    backward="both",
    complexity=message("schedule.complexity_eight_steps", "eight steps"),
    placement="v",
    table=eight_steps("p", "r", "m", mirrored="0"),
    legal=(two_per_device(),),
    fields=("FB",),
    ops="p*(2*m + 4*p - 1) + 1",
    v=(2, 2, 2),
    laws=laws("/v"),
)
