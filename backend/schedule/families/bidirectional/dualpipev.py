"""DualPipeV: DualPipe cut in half, its two directions folded into a V (Sea AI Lab 2025, "Cut-in-half").

Rank r holds stages r and 2p-1-r: chunk 0 is DualPipe's direction 0, chunk 1 its direction 1, and every rank behaves as
one of the first half of a DualPipe over 2p devices. Parameters are held once.
"""

from __future__ import annotations

from backend.schedule.errors import SpecError, message
from backend.schedule.families.bidirectional.dualpipe import eight_steps, laws
from backend.schedule.families.family import Family, Row
from backend.schedule.spec import Spec


def rows(spec: Spec) -> list[Row]:
    """Build the eight steps of DualPipe with H = p, h = r and m micro-batches in each chunk."""
    p = spec.p
    return [eight_steps(p, r, spec.m, near=0, unpaired_start=r == p - 1) for r in range(p)]


def legal(spec: Spec) -> None:
    """Raise SpecError unless m >= 2p and each device holds two chunks."""
    p, m = spec.p, spec.m
    if spec.v != 2:
        raise SpecError(
            "v",
            spec.v,
            message("schedule.dualpipev_has_two_chunks", "DualPipeV has exactly two chunks per device"),
            limit=2,
            nearest=2,
        )
    if m < 2 * p:
        raise SpecError(
            "m",
            m,
            message(
                "schedule.dualpipev_needs_more_micro_batches",
                "DualPipeV needs at least 2p = {least} micro-batches",
                least=2 * p,
            ),
            limit=2 * p,
            nearest=2 * p,
        )


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
    rows=rows,
    legal=legal,
    fields=("FB",),
    ops=lambda spec: spec.p * (2 * spec.m + 4 * spec.p - 1) + 1,
    v=(2, 2, 2),
    laws=laws("/v"),
)
