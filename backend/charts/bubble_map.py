"""The bubble over (p, m) as a heat map: one family at every size, and the sizes at which it cannot be built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go

from backend.charts.axes import LEFT
from backend.charts.chart import (
    BUBBLE,
    M_AXIS,
    MICRO_BATCHES,
    Chart,
    ChartSeries,
    Row,
    colour_bar,
    layout,
    percent,
    points,
    size_axis,
)
from backend.charts.theme import TEXT, Appearance
from backend.charts.theme_tokens import mixed, needs_white, rgb, tokens
from backend.compute.parallel_map import in_processes
from backend.errors import message
from backend.schedule.analysis.sweep import Cell, grid
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.simulation.metrics import Figures

DEFINITIONS = {
    "global": message("charts.global", "The bubble is the idle share from the first start to the last end."),
    "span": message("charts.span", "The bubble is the idle share of the busiest device's own window."),
    "span-ideal": message(
        "charts.span_ideal", "The bubble is the idle over busy time in the busiest device's own window."
    ),
    "global-ideal": message(
        "charts.global_ideal", "The bubble is the idle over busy time from the first start to the last end."
    ),
}
WIDE, TALL = 36, 17  # px of a cell that has room for its number
BAR = 74  # px for the scale beside the plot


def bubble(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None = None) -> Chart:
    """Draw the figure for the family on the screen; a click sets its p and m."""
    plan = plans[0]
    ps, ms, cells = grid(plan.spec, in_processes, plan.preset)
    flat = [each for line in cells for each in line]
    rows = [_row(each, plan, appearance.y) for each in flat]
    place = [[line * len(ms) + at for at in range(len(ms))] for line in range(len(ps))]
    shares = [
        [None if each.figures is None else 100 * value_of(each.figures, appearance.y) for each in line]
        for line in cells
    ]
    figure = go.Figure(layout=_layout(appearance, ps, ms))
    narrow = (appearance.width - LEFT - BAR) / len(ms) < WIDE or (appearance.height - 70) / len(ps) < TALL
    figure.add_trace(_legal(appearance, shares, place, rows))
    figure.add_traces(_illegal(appearance, cells, place, rows))
    if not narrow:
        figure.add_trace(_labels(appearance, shares))
    at = ms.index(plan.spec.m), ps.index(plan.spec.p)
    figure.add_shape(
        type="rect", x0=at[0] - 0.5, x1=at[0] + 0.5, y0=at[1] - 0.5, y1=at[1] + 0.5,
        line={"color": tokens(appearance.theme)["ink"], "width": 3},
    )  # fmt: skip
    columns: tuple[tuple[str, str], ...] = (
        ("p", message("charts.devices", "devices")),
        ("m", MICRO_BATCHES),
        (BUBBLE, "%"),
        (message("charts.why_not", "why not"), ""),
    )
    if all(cell.figures is not None for cell in flat):
        columns, rows = columns[:-1], [replace(row, cells=row.cells[:-1]) for row in rows]
    return Chart(figure, _notes(plan, cells, at, appearance), columns, rows)


def value_of(figures: Figures, y: str) -> float:
    """Return the bubble by one of the four definitions."""
    bubble = figures.span_bubble if y.startswith("span") else figures.global_bubble
    return bubble.of_ideal if y.endswith("ideal") else bubble.of_total


def _row(cell: Cell, plan: ChartSeries, y: str) -> Row:
    size = f"p {cell.p}, m {cell.m}"
    here = (cell.p, cell.m) == (plan.spec.p, plan.spec.m)
    if cell.figures is None:
        why = cell.problem or ""
        change = None if cell.spec is None else {"p": cell.p, "m": cell.m}
        verdict = (
            message("charts.too_large", "too large to draw here")
            if cell.legal
            else message("charts.not_legal", "not legal")
        )
        return Row((cell.p, cell.m, None, why), (size, verdict, why), change, "A" if here else "")
    share = value_of(cell.figures, y)
    lines = (
        size,
        message("charts.bubble_is", "bubble {share}", share=percent(share)),
        message("charts.step_time", "step time {time}", time=f"{cell.figures.makespan:.4g}"),
    )
    return Row((cell.p, cell.m, round(100 * share, 4), ""), lines, {"p": cell.p, "m": cell.m}, "A" if here else "")


def _layout(appearance: Appearance, ps: list[int], ms: list[int]) -> dict[str, Any]:
    wide, high = appearance.width - LEFT - BAR, appearance.height - 70
    x = size_axis(M_AXIS, [str(each) for each in ms], wide)
    return layout(
        appearance,
        x,
        size_axis(message("charts.p_axis", "p, devices"), [str(each) for each in ps], 2 * high),
        right=BAR,
    )


def _legal(appearance: Appearance, shares: list[list[float | None]], place: Any, rows: list[Row]) -> go.Heatmap:
    token = tokens(appearance.theme)
    return go.Heatmap(
        z=shares, **points(rows, place), hoverongaps=False, xgap=1, ygap=1, zmin=0, zmax=_most(shares),
        colorscale=[[0, token["accent-soft"]], [1, token["accent"]]], colorbar=colour_bar(appearance, ticksuffix=" %"),
    )  # fmt: skip


def _most(shares: list[list[float | None]]) -> float:
    """Return the bubble at the end of the scale, in percent."""
    return max((each for line in shares for each in line if each is not None), default=1.0) or 1.0


def _labels(appearance: Appearance, shares: list[list[float | None]]) -> go.Scatter:
    """Draw the values over the cells, white on those that are dark enough for it and black on the others."""
    token, most = tokens(appearance.theme), _most(shares)
    spots = [(x, y, each) for y, line in enumerate(shares) for x, each in enumerate(line) if each is not None]
    low, high = rgb(token["accent-soft"]), rgb(token["accent"])
    grounds = [mixed(low, high, share / most) for _, _, share in spots]
    inks = ["#ffffff" if needs_white(ground) else "#000000" for ground in grounds]
    return go.Scatter(
        x=[x for x, _, _ in spots], y=[y for _, y, _ in spots], text=[f"{share:.0f}" for _, _, share in spots],
        mode="text", textfont={"size": TEXT - 1, "color": inks}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip


def _illegal(appearance: Appearance, cells: list[list[Cell]], place: Any, rows: list[Row]) -> list[Any]:
    """Draw sizes without a figure: crossed out where the family cannot be built, dotted where it is only too large."""
    token = tokens(appearance.theme)
    missing = [[0.0 if each.figures is None else None for each in line] for line in cells]
    flat = go.Heatmap(
        z=missing, **points(rows, place), hoverongaps=False, xgap=1, ygap=1, showscale=False, zmin=0, zmax=1,
        colorscale=[[0, token["sunk"]], [1, token["sunk"]]],
    )  # fmt: skip
    marks = []
    for legal, symbol in ((False, "x-thin"), (True, "circle")):
        spots = [
            (x, y)
            for y, line in enumerate(cells)
            for x, each in enumerate(line)
            if each.figures is None and each.legal is legal
        ]
        line = {"width": 0 if legal else 1.2, "color": token["ink-3"]}
        marker = {"symbol": symbol, "size": 3 if legal else 6, "color": token["ink-3"], "line": line}
        x, y = [x for x, _ in spots], [y for _, y in spots]
        marks.append(go.Scatter(x=x, y=y, mode="markers", marker=marker, hoverinfo="skip", showlegend=False))
    return [flat, *marks]


def _notes(plan: ChartSeries, cells: list[list[Cell]], at: tuple[int, int], appearance: Appearance) -> tuple[str, ...]:
    here = cells[at[1]][at[0]]
    light = appearance.theme.startswith("light")
    sentences = [
        message(
            "charts.squares_darker",
            "Each square is {family} for one number of devices and micro-batches; the darker, the larger the bubble.",
            family=plan.title,
        )
        if light
        else message(
            "charts.squares_brighter",
            "Each square is {family} for one number of devices and micro-batches; the brighter, the larger the bubble.",
            family=plan.title,
        ),
        DEFINITIONS[appearance.y],
    ]
    if here.figures is not None:
        share = percent(value_of(here.figures, appearance.y))
        sentences.append(
            message(
                "charts.framed",
                "The framed one is on the screen: p {p}, m {m}, bubble {share}.",
                p=here.p, m=here.m, share=share,
            )
        )  # fmt: skip
    if any(each.figures is None and not each.legal for line in cells for each in line):
        sentences.append(
            message("charts.crossed_out", "Crossed out: the family cannot be built there; hover says why.")
        )
    if any(each.figures is None and each.legal for line in cells for each in line):
        sentences.append(message("charts.dotted", "Dotted: too large to work out here; click to see it."))
    return tuple(sentences)
