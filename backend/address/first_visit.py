"""Whether an address asks for a view, or only for the page: the first screen. The page's own rule is first_visit.ts."""

from __future__ import annotations

from collections.abc import Iterable

from backend.address.link_state import OTHERS
from backend.address.preset import PREFIX
from backend.address.query import KEYS

VIEW_KEYS = (
    *("t0", "t1", "at", "sel", "tab", "families", "mem", "chart", "crit", "micro", "lane", "story", "planned", "late"),
    *("area", "marks", "pin", "gb", "plan"),
)
"""Keys of a view besides its schedules; theme, colours and language are the reader's."""
NAMED = {"z", "run", *VIEW_KEYS, *KEYS}
PREFIXES = (*OTHERS, PREFIX)


def is_first_visit(keys: Iterable[str]) -> bool:
    """Return whether no key names a schedule or a part of a view; those of other sites (utm_source) do not count."""
    return not any(key in NAMED or key.startswith(PREFIXES) for key in keys)
