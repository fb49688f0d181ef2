"""Axes in pixels: the size of a plot, the numbers at its ticks, the pixel of a point.

Labels are placed by pixel, so a figure's size and ranges are fixed before it is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LEFT, RIGHT, BOTTOM = 60, 12, 58  # px around the plot
ENTRY = 130  # px of a legend's entry
ROW = 20  # px of a legend's row


@dataclass(frozen=True)
class Frame:
    """A figure of ``width`` x ``height`` px whose legend has ``rows``; x is drawn by its logarithm."""

    width: int
    height: int
    rows: int
    x: tuple[float, float]
    y: tuple[float, float]

    @property
    def top(self) -> int:
        """Return the px above the plot."""
        return 10 + self.rows * ROW

    @property
    def inner(self) -> tuple[int, int]:
        """Return width and height of the plot itself, in px."""
        return self.width - LEFT - RIGHT, self.height - self.top - BOTTOM

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixel of a point, from the plot's upper left corner."""
        wide, high = self.inner
        low, top = (math.log10(each) for each in self.x)
        return (math.log10(x) - low) / (top - low) * wide, (self.y[1] - y) / (self.y[1] - self.y[0]) * high


def legend_rows(entries: int, width: int) -> int:
    """Return the number of rows of a legend."""
    return math.ceil(entries / max(1, (width - LEFT - RIGHT) // ENTRY))


def widened(values: Sequence[float], factor: float) -> tuple[float, float]:
    """Return the range of the values, with a factor of room on both sides."""
    return min(values) / factor, max(values) * factor


def ticks(low: float, high: float, width: float, least: float) -> list[float]:
    """Return halves, wholes and powers of two between two ratios, ``least`` px or more apart on a logarithmic axis."""
    fine = [1 / 3, 1.5, 3, 0.75, 6, 12, 24, 48]
    coarse = [2.0**k for k in range(-10, 17)]
    coarse.sort(key=lambda each: abs(math.log2(each)))
    return _apart((*coarse, *fine), low, high, width, least)


def round_ticks(low: float, high: float, width: float, least: float) -> list[float]:
    """Return round numbers between two values, ``least`` px or more apart on a logarithmic axis."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ranked = ((1.0,), (2.0, 5.0), (3.0, 7.0), (1.5, 4.0, 6.0, 8.0))
    numbers = [digit * 10.0**power for digits in ranked for digit in digits for power in powers]
    return _apart(numbers, low, high, width, least)


def _apart(values: Iterable[float], low: float, high: float, width: float, least: float) -> list[float]:
    """Return those between two values that are ``least`` px or more from all before them, in ascending order."""
    kept: list[float] = []
    px = width / math.log(high / low)
    for each in values:
        if low <= each <= high and all(abs(math.log(each / other)) * px >= least for other in kept):
            kept.append(each)
    return sorted(kept)
