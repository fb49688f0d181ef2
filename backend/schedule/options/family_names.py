"""Other names of the families: titles, torch's classes, names of papers. Every place that reads a family accepts them.

Case, spaces, hyphens and underscores do not count: "ZB-V", "zb_v" and "ZBV" are one name. The page has the same table
(static/js/core/schedule/spec_tables.ts).
"""

from __future__ import annotations

import re

NAMES = (
    *("gpipe", "1f1b", "pipedream"),
    *("interleaved", "interleaved-bfs", "interleaved-zb"),
    *("zb-h1", "zb-h2", "zb-auto"),
    *("v-min", "v-half", "v-zb", "v-auto"),
    *("chimera", "dualpipe", "dualpipev", "chimera-auto"),
    *("gis", "gis-h"),
    "imported",
)
OTHERS = {
    "gpipe": ("AFAB", "ScheduleGPipe"),
    "1f1b": ("one-f-one-b", "DAPPLE", "PipeDream-Flush", "Schedule1F1B"),
    "interleaved": ("Interleaved 1F1B", "1F1B interleaved", "ScheduleInterleaved1F1B"),
    "interleaved-bfs": ("Looped breadth-first", "breadth-first", "Looped BFS", "ScheduleLoopedBFS"),
    "interleaved-zb": ("Interleaved zero bubble", "ScheduleInterleavedZeroBubble"),
    "zb-h1": ("Zero bubble H1",),
    "zb-h2": ("Zero bubble H2",),
    "v-zb": ("ZB-V", "ZBV zero bubble", "ScheduleZBVZeroBubble"),
    "dualpipev": ("DualPipe-V", "ScheduleDualPipeV"),
    "imported": ("Imported order",),
}
LONGEST = 60  # characters of a given name; longer ones are none of these


def squeezed(name: str) -> str:
    """Return a name in lower case without spaces, hyphens and underscores."""
    return re.sub("[ _-]", "", name.lower())


ALIASES: dict[str, str] = {squeezed(each): name for name in NAMES for each in (name, *OTHERS.get(name, ()))}
"""Family by squeezed name."""


def canonical(name: str) -> str:
    """Return the family's own name for any of its names; a name of no family is returned unchanged."""
    return ALIASES.get(squeezed(name), name) if len(name) <= LONGEST else name
