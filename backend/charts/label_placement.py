"""Where the name of each point stands, so that no name covers another name, a point or the edge.

Works in pixels of the plot, x to the right and y down. Knows no figure and no schedule.
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
        """Whether two rectangles have a pixel in common."""
        return abs(self.x - other.x) * 2 < self.w + other.w and abs(self.y - other.y) * 2 < self.h + other.h

    def within(self, width: float, height: float) -> bool:
        """Whether it lies inside a plot of this size."""
        sideways = self.w / 2 <= self.x <= width - self.w / 2
        return sideways and self.h / 2 <= self.y <= height - self.h / 2


@dataclass(frozen=True)
class Tag:
    """A point, as far as its mark reaches, and the name that it wants."""

    x: float
    y: float
    text: str
    rim: float = RIM


def width_of(text: str) -> float:
    """About how wide a text is."""
    return len(text) * LETTER


def place(
    tags: Sequence[Tag], marks: Sequence[tuple[float, float]], lines: Sequence[Box], width: float, height: float
) -> list[tuple[float, float] | None]:
    """For each tag the middle of its name, from its point; None where there is no room.

    ``marks`` are points that no name may cover, ``lines`` what names would rather not cover. Names in a crowd choose
    first, for they have the least choice.
    """
    rims = [Box(x, y, 2 * RIM, 2 * RIM) for x, y in marks]
    rims += [Box(tag.x, tag.y, 2 * tag.rim, 2 * tag.rim) for tag in tags]
    taken: list[Box] = []
    places: list[tuple[float, float] | None] = [None] * len(tags)
    for at in sorted(range(len(tags)), key=lambda each: (-_crowd(tags[each], marks), each)):
        tag = tags[at]
        tries = [box for box in _around(tag) if box.within(width, height)]
        free = [box for box in tries if not any(box.meets(other) for other in (*rims, *taken))]
        if free:
            best = min(free, key=lambda box: _cost(tag, box, lines))
            taken.append(best)
            places[at] = best.x - tag.x, best.y - tag.y
    return places


def _crowd(tag: Tag, marks: Sequence[tuple[float, float]]) -> int:
    return sum(abs(x - tag.x) < 80 and abs(y - tag.y) < 40 for x, y in marks)


def _around(tag: Tag) -> list[Box]:
    """The places that a name may take: beside its point in all directions, near ones first."""
    w, h = width_of(tag.text), float(LINE)
    boxes = []
    for reach, way in product(REACH, range(WAYS)):
        angle = 2 * math.pi * way / WAYS
        right, down = math.cos(angle), math.sin(angle)
        # The box slides around the point: flush with it on the sides, centred on it above and below.
        x = tag.x + right * (tag.rim + reach) + max(-1.0, min(1.0, 1.6 * right)) * w / 2
        y = tag.y + down * (tag.rim + reach) + down * h / 2
        boxes.append(Box(x, y, w, h))
    return boxes


def _cost(tag: Tag, box: Box, lines: Sequence[Box]) -> float:
    gap = math.hypot(max(0.0, abs(box.x - tag.x) - box.w / 2), max(0.0, abs(box.y - tag.y) - box.h / 2))
    lean = 0.0 if box.x >= tag.x else 1.0  # to the right, as one reads, where all else is alike
    return gap + lean + LINE_COST * sum(box.meets(line) for line in lines)
