"""What a chart of memory against throughput shows: where each point falls, what stands on what, and the words for it.

Knows points (schedule/pareto.py) and pixels; draws nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from backend.charts.appearance import Look
from backend.charts.axes import Frame, legend_rows, widened
from backend.schedule.analysis.pareto import Point, dominated
from backend.schedule.families.registry import family_of
from backend.schedule.spec import Spec

HEIGHTS = ("throughput", "bubble")
NEAR = 5.0  # px; points that stand nearer share one name
LONGEST_NAME = 30  # letters
DEEPEST = 1.2  # how far below the slowest family the picture goes, as a part of what the families span
LEAST_GAIN = 5e-4  # of the ideal, or micro-batches: less is not worth a word


@dataclass(frozen=True)
class Scene:
    """The points as they stand in the figure: ``better`` as ``dominated`` gives it, ``now`` the one on the screen,
    ``clusters`` the points that stand on one another, under the first of them."""

    asked: Spec
    points: Sequence[Point]
    better: Sequence[int | None]
    now: int | None
    look: Look
    frame: Frame

    def xy(self, at: int) -> tuple[float, float]:
        """Memory in parts of p, and the height."""
        return place_of(self.points[at], self.asked, self.look.y)

    def pixel(self, at: int) -> tuple[float, float]:
        """Where a point falls in the plot."""
        return self.frame.at(*self.xy(at))

    def shown(self, at: int) -> bool:
        """Whether a point is in the picture; one that was sought may be too slow for it."""
        return 0.0 <= self.pixel(at)[1] <= self.frame.inner[1]

    def moved(self, at: int) -> bool:
        """Whether a family could not be built for the p and m asked for: its work is then another."""
        spec = self.points[at].spec
        return (spec.p, spec.m) != (self.asked.p, self.asked.m)

    def group(self, at: int) -> str:
        """The group of a point's family."""
        return family_of(self.points[at].spec).group

    def own(self, group: str) -> list[int]:
        """The families' own schedules of a group."""
        return [at for at, point in enumerate(self.points) if point.limit is None and self.group(at) == group]

    def sought(self, family: str) -> list[int]:
        """What a search found for a placement."""
        return [at for at, point in enumerate(self.points) if point.limit is not None and point.spec.family == family]

    @property
    def frontier(self) -> list[int]:
        """Points that none is better than, of the p and m asked for."""
        return [at for at, better in enumerate(self.better) if better is None and not self.moved(at)]


def scene_of(asked: Spec, points: Sequence[Point], look: Look) -> Scene:
    """The points in their figure."""
    now = next((at for at, point in enumerate(points) if point.limit is None and point.spec == asked), None)
    return Scene(asked, points, dominated(points), now, look, _frame(asked, points, look))


def place_of(point: Point, asked: Spec, y: str) -> tuple[float, float]:
    """Memory in parts of p, and the throughput or the bubble in percent."""
    shown = point.figures
    return shown.memory / asked.p, 100 * (shown.throughput if y == "throughput" else shown.span.of_total)


def _frame(asked: Spec, points: Sequence[Point], look: Look) -> Frame:
    """Room for all families; what was sought and is far slower stays below the picture."""
    x, y = zip(*(place_of(point, asked, look.y) for point in points), strict=True)
    families = [place_of(point, asked, look.y)[1] for point in points if point.limit is None]
    deep = DEEPEST * max(10.0, max(families) - min(families))
    low, high = min(y), max(y)
    if look.y == "throughput":
        low = min(each for each in y if each >= min(families) - deep)
    else:
        high = max(each for each in y if each <= max(families) + deep)
    room = max(1.0, 0.07 * (high - low))
    limit = () if asked.memory is None else (asked.memory / asked.p,)
    groups = {family_of(point.spec).group for point in points if point.limit is None}
    found = {point.spec.family for point in points if point.limit is not None}
    rows = legend_rows(len(groups) + len(found) + 1, look.width)
    return Frame(look.width, look.height, rows, widened([*x, 1.0, *limit], 1.15), (low - room, high + room))


def clusters(scene: Scene) -> dict[int, list[int]]:
    """Points that stand on one another, under the first of them."""
    found: dict[int, list[int]] = {}
    for at in range(len(scene.points)):
        x, y = scene.pixel(at)
        for head in found:
            other = scene.pixel(head)
            if abs(other[0] - x) < NEAR and abs(other[1] - y) < NEAR:
                found[head].append(at)
                break
        else:
            found[at] = [at]
    return found


def front(scene: Scene, at: int) -> int:
    """Of the points that stand on one another the one that answers: a family before what was found (as the page has
    it, core/drawing/chart_points.js)."""
    if scene.points[at].limit is None:
        return at
    x, y = scene.xy(at)
    families = (each for each, point in enumerate(scene.points) if point.limit is None)
    same = (each for each in families if math.dist(scene.xy(each), (x, y)) < 1e-9 * max(1.0, x, y))
    return next(same, at)


def joined(scene: Scene, families: Sequence[int]) -> str:
    """The names of families that stand together, as many as a line holds; a star for another p or m."""
    titles = [scene.points[at].title + ("*" if scene.moved(at) else "") for at in families]
    kept = titles[:1]
    while len(kept) < len(titles) and len(", ".join(titles[: len(kept) + 1])) <= LONGEST_NAME:
        kept = titles[: len(kept) + 1]
    more = len(titles) - len(kept)
    return ", ".join(kept) + (f" +{more}" if more else "")


def told(scene: Scene, at: int, here: Sequence[int]) -> list[str]:
    """What hovering a point tells, line by line; ``here`` are others at its place."""
    point, better = scene.points[at], scene.better[at]
    shown, spec = point.figures, point.spec
    rank = "none is better" if better is None else f"{scene.points[better].label} is better"
    if scene.moved(at):
        rank = f"drawn at p {spec.p}, m {spec.m}: not ranked with the others"
    return [
        point.label + (", on the screen" if at == scene.now else ""),
        f"memory {shown.memory:.4g} micro-batches, {shown.memory / scene.asked.p:.3g} p",
        f"throughput {_share(shown.throughput)}",
        f"bubble {_share(shown.span.of_total)} (span), {_share(shown.whole.of_total)} (global)",
        *([f"{shown.weights} copies of the weights"] if shown.weights > 1 else []),
        rank,
        *([f"also here: {', '.join(scene.points[other].label for other in here[:4])}"] if here else []),
    ]


def reads(scene: Scene) -> str:
    """How to read the figure, and what it says of the schedule on the screen."""
    up = "further up is faster" if scene.look.y == "throughput" else "further down is less idle"
    sought = any(point.limit is not None for point in scene.points)
    best = "the best known" if sought else "the best of the families"
    text = f"Further left holds less, {up}; the line is {best} at each memory."
    below = sum(not scene.shown(at) for at in range(len(scene.points)))
    if below:
        text += f" {below} slower {'point is' if below == 1 else 'points are'} in the table only."
    return f"{text} {_standing(scene)}".strip()


def _standing(scene: Scene) -> str:
    """The schedule on the screen against the line."""
    if scene.now is None:
        return ""
    point, better = scene.points[scene.now], scene.better[scene.now]
    if better is None:
        return f"{point.title}, ringed, is on it."
    other, own = scene.points[better].figures, point.figures
    less, faster = own.memory - other.memory > LEAST_GAIN, other.throughput - own.throughput > LEAST_GAIN
    holds = f"holds {other.memory:.4g} instead of {own.memory:.4g} micro-batches" if less else "holds no more"
    speed = f"reaches {_share(other.throughput)} instead of {_share(own.throughput)}" if faster else "is as fast"
    return f"{point.title}, ringed, is not on it: {scene.points[better].label} {holds} and {speed}."


def _share(part: float) -> str:
    return f"{part * 100:.1f} %"
