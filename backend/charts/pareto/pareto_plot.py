"""Points of memory against throughput placed in their figure, with their labels, hover lines and reading."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from backend.charts.axes import Frame, legend_rows, widened
from backend.charts.chart import joined_names, percent
from backend.charts.pareto.pareto_axes import UNIT_HEIGHTS, axes_of, device_limit, in_units, unit_axes, unit_lines
from backend.charts.theme import Appearance
from backend.errors import Message, message
from backend.schedule.analysis.pareto import Point, dominated
from backend.schedule.families.registry import family_of
from backend.schedule.spec import Spec

NEAR = 5.0  # px; points nearer to each other share one label
LONGEST_NAME = 30  # letters
DEEPEST = 1.2  # depth of the plot below the slowest family, over the range of the families
LEAST_GAIN = 5e-4  # of the ideal, or micro-batches: smaller gains are not mentioned


@dataclass(frozen=True)
class ParetoPlot:
    """The points in their figure: ``better`` from ``dominated``, ``now`` the index of the one on the screen."""

    asked: Spec
    points: Sequence[Point]
    better: Sequence[int | None]
    now: int | None
    appearance: Appearance
    frame: Frame

    def xy(self, at: int) -> tuple[float, float]:
        """Return (memory in parts of p or GB, height)."""
        return coordinates(self.points[at], self.asked, self.appearance.y)

    def pixel(self, at: int) -> tuple[float, float]:
        """Return a point's pixel in the plot."""
        return self.frame.at(*self.xy(at))

    def shown(self, at: int) -> bool:
        """Return whether a point is inside the plot; a searched one may be too slow for it."""
        return 0.0 <= self.pixel(at)[1] <= self.frame.inner[1]

    def moved(self, at: int) -> bool:
        """Return whether a family was built at another p or m than asked for, and so does different work."""
        spec = self.points[at].spec
        return (spec.p, spec.m) != (self.asked.p, self.asked.m)

    @property
    def limit(self) -> float | None:
        """Return where the memory limit is on the axis; None for none."""
        return limit_of(self.asked, self.points, self.appearance)

    def group(self, at: int) -> str:
        """Return the group of a point's family."""
        return family_of(self.points[at].spec).group

    def families_of(self, group: str) -> list[int]:
        """Return the families' schedules of a group, without searched ones."""
        return [at for at, point in enumerate(self.points) if point.limit is None and self.group(at) == group]

    def searched(self, family: str) -> list[int]:
        """Return the searched schedules of a family."""
        return [at for at, point in enumerate(self.points) if point.limit is not None and point.spec.family == family]

    @property
    def frontier(self) -> list[int]:
        """Return the points of the asked p and m for which no better one exists."""
        return [at for at, better in enumerate(self.better) if better is None and not self.moved(at)]


def pareto_plot(asked: Spec, points: Sequence[Point], appearance: Appearance) -> ParetoPlot:
    """Place points in their figure."""
    now = next((at for at, point in enumerate(points) if point.limit is None and point.spec == asked), None)
    better = dominated(points, axes_of(appearance))
    return ParetoPlot(asked, points, better, now, appearance, _frame(asked, points, appearance))


def coordinates(point: Point, asked: Spec, y: str) -> tuple[float, float]:
    """Return (memory in parts of p, throughput or bubble in percent), or the axes of a variant in units."""
    figures = point.figures
    if y in UNIT_HEIGHTS and figures.units is not None:
        return unit_axes(figures.units, y)
    return figures.memory / asked.p, 100 * (figures.throughput if y == "throughput" else figures.span.of_total)


def _frame(asked: Spec, points: Sequence[Point], appearance: Appearance) -> Frame:
    """Fit all families; a searched schedule that is far slower stays below the plot."""
    x, y = zip(*(coordinates(point, asked, appearance.y) for point in points), strict=True)
    families = [coordinates(point, asked, appearance.y)[1] for point in points if point.limit is None]
    units = in_units(appearance)
    deep = DEEPEST * max(0.1 * max(families) if units else 10.0, max(families) - min(families))
    low, high = min(y), max(y)
    if appearance.y == "bubble":
        high = max(each for each in y if each <= max(families) + deep)
    else:
        low = min(each for each in y if each >= min(families) - deep)
    room = max(0.02 * high if units else 1.0, 0.07 * (high - low))
    drawn = [limit for limit in (limit_of(asked, points, appearance),) if limit is not None]
    groups = {family_of(point.spec).group for point in points if point.limit is None}
    searched = {point.spec.family for point in points if point.limit is not None}
    rows = legend_rows(len(groups) + len(searched) + 1, appearance.width)
    wide = widened([*x, *([] if units else [1.0]), *drawn], 1.15)
    return Frame(appearance.width, appearance.height, rows, wide, (low - room, high + room))


def limit_of(asked: Spec, points: Sequence[Point], appearance: Appearance) -> float | None:
    """Return where the memory limit is on the axis: the spec's in parts of p, or the device's in GB; None for none."""
    if in_units(appearance):
        return device_limit(points, appearance)
    return None if asked.memory is None else asked.memory / asked.p


def clusters(plot: ParetoPlot) -> dict[int, list[int]]:
    """Group points that overlap, by the first of each group."""
    groups: dict[int, list[int]] = {}
    for at in range(len(plot.points)):
        x, y = plot.pixel(at)
        for head in groups:
            other = plot.pixel(head)
            if abs(other[0] - x) < NEAR and abs(other[1] - y) < NEAR:
                groups[head].append(at)
                break
        else:
            groups[at] = [at]
    return groups


def front(plot: ParetoPlot, at: int) -> int:
    """Return the point that represents those at one place: a family before a searched one.

    The page's core/drawing/chart_points.ts does the same.
    """
    if plot.points[at].limit is None:
        return at
    x, y = plot.xy(at)
    families = (each for each, point in enumerate(plot.points) if point.limit is None)
    same = (each for each in families if math.dist(plot.xy(each), (x, y)) < 1e-9 * max(1.0, x, y))
    return next(same, at)


def joined(plot: ParetoPlot, families: Sequence[int]) -> str:
    """Join the names of families at one place, as many as a line holds; a star marks another p or m."""
    titles = [plot.points[at].title + ("*" if plot.moved(at) else "") for at in families]
    return joined_names(titles, LONGEST_NAME)


def hover_lines(plot: ParetoPlot, at: int, here: Sequence[int]) -> list[str]:
    """Return the lines of a point's hover box; ``here`` are others at its place."""
    point, better = plot.points[at], plot.better[at]
    figures, spec = point.figures, point.spec
    if plot.moved(at):
        rank = message("charts.not_ranked", "drawn at p {p}, m {m}: not ranked with the others", p=spec.p, m=spec.m)
    elif better is None:
        rank = message("charts.none_better", "none is better")
    else:
        rank = message("charts.is_better", "{other} is better", other=plot.points[better].label)
    name: str = point.label
    if at == plot.now:
        name = message("charts.on_the_screen", "{name}, on the screen", name=point.label)
    lines = [
        name,
        message(
            "charts.memory_is",
            "memory {memory} micro-batches, {parts} p",
            memory=f"{figures.memory:.4g}", parts=f"{figures.memory / plot.asked.p:.3g}",
        ),
        message("charts.throughput_is", "throughput {share}", share=percent(figures.throughput)),
        message(
            "charts.both_bubbles",
            "bubble {span} (span), {whole} (global)",
            span=percent(figures.span.of_total), whole=percent(figures.whole.of_total),
        ),
    ]  # fmt: skip
    if figures.units is not None:
        lines[1:1] = unit_lines(figures.units)
    if figures.weights > 1:
        lines.append(message("charts.weight_copies", "{copies} copies of the weights", copies=figures.weights))
    lines.append(rank)
    if here:
        names = [plot.points[other].label for other in here[:4]]
        lines.append(message("charts.also_here", "also here: {names}", names=names))
    return lines


def notes(plot: ParetoPlot) -> list[Message]:
    """Return sentences on how to read the figure and where the schedule on the screen is in it."""
    return [_how_to_read(plot), *_out_of_sight(plot), *_standing(plot)]


def _how_to_read(plot: ParetoPlot) -> Message:
    searched = any(point.limit is not None for point in plot.points)
    best = (
        message("charts.best_known", "the best known")
        if searched
        else message("charts.best_family", "the best of the families")
    )
    if plot.appearance.y != "bubble":
        return message(
            "charts.frontier_throughput",
            "Further left holds less, further up is faster; the line is {best} at each memory.",
            best=best,
        )
    return message(
        "charts.frontier_bubble",
        "Further left holds less, further down is less idle; the line is {best} at each memory.",
        best=best,
    )


def _out_of_sight(plot: ParetoPlot) -> list[Message]:
    below = sum(not plot.shown(at) for at in range(len(plot.points)))
    if below == 1:
        return [message("charts.one_slower", "1 slower point is in the table only.")]
    if below:
        return [message("charts.slower", "{count} slower points are in the table only.", count=below)]
    return []


def _standing(plot: ParetoPlot) -> list[Message]:
    """Compare the schedule on the screen with the frontier."""
    if plot.now is None:
        return []
    point, better = plot.points[plot.now], plot.better[plot.now]
    if better is None:
        return [message("charts.on_the_line", "{schedule}, ringed, is on it.", schedule=point.title)]
    if in_units(plot.appearance):
        return [_standing_in_units(plot, plot.now, better)]
    other, own = plot.points[better].figures, point.figures
    memory = message("charts.holds_no_more", "holds no more")
    if own.memory - other.memory > LEAST_GAIN:
        memory = message(
            "charts.holds_less",
            "holds {less} instead of {more} micro-batches",
            less=f"{other.memory:.4g}", more=f"{own.memory:.4g}",
        )  # fmt: skip
    speed = message("charts.as_fast", "is as fast")
    if other.throughput - own.throughput > LEAST_GAIN:
        speed = message(
            "charts.faster",
            "reaches {more} instead of {less}",
            more=percent(other.throughput), less=percent(own.throughput),
        )  # fmt: skip
    return [
        message(
            "charts.off_the_line",
            "{schedule}, ringed, is not on it: {other} {memory} and {speed}.",
            schedule=point.title, other=plot.points[better].label, memory=memory, speed=speed,
        )
    ]  # fmt: skip


def _standing_in_units(plot: ParetoPlot, now: int, better: int) -> Message:
    """Compare the schedule on the screen with a better one, in GB and percent or tokens."""
    (own, slow), (other, fast) = plot.xy(now), plot.xy(better)
    unit = "k tokens/s" if plot.appearance.y == "tokens" else "%"
    return message(
        "charts.off_the_line_in_units",
        "{schedule}, ringed, is not on it: {other} holds {less} instead of {more} GB and reaches {fast} instead of "
        "{slow} {unit}.",
        schedule=plot.points[now].title, other=plot.points[better].label, less=f"{other:.3g}", more=f"{own:.3g}",
        fast=f"{fast:.3g}", slow=f"{slow:.3g}", unit=unit,
    )  # fmt: skip
