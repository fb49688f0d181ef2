"""Placement of point labels: no label covers another label, a point or the edge.

Works in pixels of the plot, x to the right and y down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

LETTER = 6.4  # px of an average letter at 12 px, with some to spare
LINE = 16  # px that a line of text needs
REACH = (4.0, 12.0, 24.0, 38.0, 54.0)  # px between a point's rim and its name, the nearest first
WAYS = 16  # directions tried at each distance
RIM = 7.0  # px of a point
LINE_COST = 14.0  # px of reach that not covering a line is worth


@dataclass(frozen=True)
class Box:
    """A rectangle around its middle."""

    x: float
    y: float
    w: float
    h: float

    def meets(self, other: Box) -> bool:
        """Return whether two rectangles have a pixel in common."""
        return abs(self.x - other.x) * 2 < self.w + other.w and abs(self.y - other.y) * 2 < self.h + other.h

    def within(self, width: float, height: float) -> bool:
        """Return whether the box is inside a plot of this size."""
        sideways = self.w / 2 <= self.x <= width - self.w / 2
        return sideways and self.h / 2 <= self.y <= height - self.h / 2


@dataclass(frozen=True)
class PointLabel:
    """The label of a point, whose marker has radius ``rim``."""

    x: float
    y: float
    text: str
    rim: float = RIM


def width_of(text: str) -> float:
    """Estimate the width of a text, in px."""
    return len(text) * LETTER


def place(
    labels: Sequence[PointLabel],
    marks: Sequence[tuple[float, float]],
    lines: Sequence[Box],
    width: float,
    height: float,
) -> list[tuple[float, float] | None]:
    """Return the centre of each label relative to its point; None where there is no room.

    ``marks`` are points that no label may cover, ``lines`` are shapes to avoid if possible. Labels in crowded places
    are placed first: they have the least choice.
    """
    rims = [Box(x, y, 2 * RIM, 2 * RIM) for x, y in marks]
    rims += [Box(label.x, label.y, 2 * label.rim, 2 * label.rim) for label in labels]
    taken: list[Box] = []
    places: list[tuple[float, float] | None] = [None] * len(labels)
    for at in sorted(range(len(labels)), key=lambda each: (-_crowd(labels[each], marks), each)):
        label = labels[at]
        tries = [box for box in _around(label) if box.within(width, height)]
        free = [box for box in tries if not any(box.meets(other) for other in (*rims, *taken))]
        if free:
            best = min(free, key=lambda box: _cost(label, box, lines))
            taken.append(best)
            places[at] = best.x - label.x, best.y - label.y
    return places


def _crowd(label: PointLabel, marks: Sequence[tuple[float, float]]) -> int:
    return sum(abs(x - label.x) < 80 and abs(y - label.y) < 40 for x, y in marks)


def _around(label: PointLabel) -> list[Box]:
    """Return the candidate places of a label: around its point in all directions, near ones first."""
    w, h = width_of(label.text), float(LINE)
    boxes = []
    for reach, way in product(REACH, range(WAYS)):
        angle = 2 * math.pi * way / WAYS
        right, down = math.cos(angle), math.sin(angle)
        # The box slides around the point: flush with it on the sides, centred on it above and below.
        x = label.x + right * (label.rim + reach) + max(-1.0, min(1.0, 1.6 * right)) * w / 2
        y = label.y + down * (label.rim + reach) + down * h / 2
        boxes.append(Box(x, y, w, h))
    return boxes


def _cost(label: PointLabel, box: Box, lines: Sequence[Box]) -> float:
    gap = math.hypot(max(0.0, abs(box.x - label.x) - box.w / 2), max(0.0, abs(box.y - label.y) - box.h / 2))
    lean = 0.0 if box.x >= label.x else 1.0  # to the right, as one reads, where all else is alike
    return gap + lean + LINE_COST * sum(box.meets(line) for line in lines)
