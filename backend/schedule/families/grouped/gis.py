"""GIS: grouped interleaved 1F1B with a short warm-up, 1F1B's memory with less bubble (Wan et al. 2025, PipeOffload).

Micro-batches in groups of g = p; each I is followed by its W. GIS-H halves the group and, nearly, the memory.
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family
from backend.schedule.families.rules import whole_groups
from backend.schedule.families.table import Table
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law


def grouped(group: str) -> Table:
    """Build the table of one group size, a formula."""
    return Table(
        group=group,
        let={"warmup": f"min(m*v, (v-1)*{group} + p-1-r)"},  # for its own chunks, and one forward for each later rank
        rows=[
            ("warmup", "F"),
            ("m*v - warmup", "F I W"),  # steady
            ("warmup", "I W"),  # cool-down
        ],
    )


HALF = "floor((p+1)/2)"  # of the devices
SOURCE = message(
    "schedule.gis_source", "Wan et al., PipeOffload: Improving Scalability of Pipeline Parallelism, arXiv 2503.01328"
)
USED_BY = message("schedule.gis_used_by", "Sea AI Lab's PipeOffload")

GIS = Family(
    name="gis",
    title="GIS",
    year=2025,
    source=SOURCE,
    used_by=USED_BY,
    group="memory",
    summary=message(
        "schedule.gis_summary",
        "Interleaved 1F1B with W right after I and the shortest warm-up: 1F1B's memory, less bubble.",
    ),
    backward="split",
    complexity=message("schedule.complexity_three_phases_over_chunk_sequence", "three phases over a chunk sequence"),
    placement="looped",
    table=grouped("p"),
    legal=(whole_groups("p"),),
    v=(1, 2, 64),
    fields=("offload",),
    laws=(
        Law(
            "bubble",
            "(p-1)*(f+i)/v",
            message("schedule.law_gis_bubble", "one F down and one I up the ranks of one chunk"),
            (UNIFORM, NO_HOPS),
        ),
        Law("peak", "p*v", message("schedule.law_gis_peak", "warm-up and one more")),
    ),
)

GIS_H = Family(
    name="gis-h",
    title="GIS-H",
    year=2025,
    source=SOURCE,
    used_by=USED_BY,
    group="memory",
    summary=message(
        "schedule.gis_h_summary", "GIS in half groups: toward half of 1F1B's memory as v grows, for a longer bubble."
    ),
    backward="split",
    complexity=message("schedule.complexity_three_phases_over_chunk_sequence", "three phases over a chunk sequence"),
    placement="looped",
    table=grouped(HALF),
    legal=(whole_groups(HALF),),
    v=(1, 2, 64),
    fields=("offload",),
    laws=(
        Law(
            "bubble",
            "(2*(p-1) + floor(p/2)*(v-1))*f/v",
            message("schedule.law_gis_h_bubble", "2(p-1) + (p-g)(v-1) chunk times with g = ceil(p/2)"),
            (
                UNIFORM,
                NO_HOPS,
                ("f == i and i == w", message("schedule.unless_equal_ops", "F, I and W take different times")),
            ),
        ),
        Law("peak", "min(m*v, floor((p+1)/2)*(v-1) + p)", message("schedule.law_gis_peak", "warm-up and one more")),
    ),
)
