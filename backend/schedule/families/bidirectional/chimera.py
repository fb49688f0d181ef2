"""Chimera: two pipelines in opposite directions, merged slot by slot (Li and Hoefler 2021, arXiv 2107.06925).

Stream 0 (the paper's down pipeline) passes rank d in stage d, stream 1 (the up pipeline) in stage p-1-d. A basic unit
is p micro-batches, half of them in each direction; where F and B take one slot each, the two directions never need a
rank in the same slot. More micro-batches are basic units one after the other (section 3.5, "direct concatenation"): the
next unit's forwards fill the idle slots at the end of the one before. Parameters are held twice; the two copies'
gradients are summed after the step.
"""

from __future__ import annotations

from backend.schedule.errors import message
from backend.schedule.families.family import Family
from backend.schedule.families.rules import Rule, Sentence, even
from backend.schedule.families.table import Table
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law

LAWS = (
    Law(
        "bubble",
        "(p-2)*(b + (m/p-1)*(b-f))",
        message(
            "schedule.law_chimera_bubble",
            "a basic unit leaves p-2 slots of B idle; between two units a longer B leaves the difference to F",
        ),
        (
            UNIFORM,
            NO_HOPS,
            ("b >= f", message("schedule.unless_b_not_shorter_than_f", "the backward is shorter than F")),
        ),
    ),
    Law("peak", "p", message("schedule.law_chimera_peak", "the two ranks in the middle; p/2 + 1 at the ends")),
)

CHIMERA = Family(
    name="chimera",
    title="Chimera",
    year=2021,
    source=message(
        "schedule.chimera_source",
        "Li and Hoefler, Chimera: Efficiently Training Large-Scale Neural Networks with Bidirectional Pipelines, "
        "arXiv 2107.06925",
    ),
    used_by=message("schedule.chimera_used_by", "the paper's implementation"),
    group="bidirectional",
    summary=message(
        "schedule.chimera_summary",
        "Two replicas run in opposite directions; the slots that one leaves idle are the other's.",
    ),
    backward="full",
    complexity=message("schedule.complexity_slots", "a slot for every op"),
    placement="bidirectional",
    table=Table(
        let={
            "unit": "floor(i / (p/2))",  # micro-batches of a direction enter two slots apart, units 2p slots apart
            "enter": "2*p*unit + 2*(i - p/2*unit)",
        },
        slots={
            "F0": "enter + r",  # p slots down to the last stage
            "F1": "enter + p-1-r",
            "B0": "enter + 2*p-1-r",  # and p back
            "B1": "enter + p + r",
        },
    ),
    legal=(
        even("p"),
        Rule(
            "m",
            "m % p == 0",
            Sentence(
                "schedule.chimera_needs_whole_units",
                "Chimera takes p micro-batches at a time, half of them in each direction; m = {nearest} is the nearest",
            ),
        ),
    ),
    laws=LAWS,
)
