"""What a reader chooses of a figure. Knows no chart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """Theme, size in px, and which of a chart's variants is drawn (for most: what goes up)."""

    theme: str
    width: int
    height: int
    y: str
