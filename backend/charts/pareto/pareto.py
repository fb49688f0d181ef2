"""The figure of activation memory against throughput: a labelled point per family, a line through the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from backend.charts.axes import ENTRY, LEFT, RIGHT, round_ticks, ticks
from backend.charts.chart import LEGEND, axis, joined_lines, limit_label, plain_layout
from backend.charts.label_placement import RIM, Box, PointLabel, place, width_of
from backend.charts.pareto.pareto_axes import MEMORY_TITLES, TITLES, in_units
from backend.charts.pareto.pareto_plot import (
    ParetoPlot,
    clusters,
    front,
    hover_lines,
    joined,
    notes,
    pareto_plot,
)
from backend.charts.theme import CLEAR, TEXT, Appearance
from backend.charts.theme_tokens import tokens
from backend.errors import Message, message
from backend.schedule.analysis.pareto import SEARCHED as SEARCHED_FAMILIES
from backend.schedule.analysis.pareto import Point
from backend.schedule.spec import Spec

SYMBOLS = {
    "classic": "circle", "interleaved": "square", "zero bubble": "diamond", "V": "triangle-down",
    "bidirectional": "hexagram", "memory": "pentagon",
}  # fmt: skip
GROUPS = {
    "classic": message("charts.group_classic", "classic"),
    "interleaved": message("charts.group_interleaved", "interleaved"),
    "zero bubble": message("charts.group_zero_bubble", "zero bubble"),
    "V": message("charts.group_v", "V"),
    "bidirectional": message("charts.group_bidirectional", "bidirectional"),
    "memory": message("charts.group_memory", "memory"),
}
SEARCHED = {
    "zb-auto": message("charts.found_1_chunk", "found, 1 chunk"),
    "v-auto": message("charts.found_v", "found, V"),
    "chimera-auto": message("charts.found_two_directions", "found, two directions"),
}
# Multiples of p as papers write them: ½p, p, 2p.
PARTS = {1 / 3: "⅓", 0.25: "¼", 0.5: "½", 0.75: "¾", 1.5: "1½", 1.0: ""}
BIG, SMALL = 10, 8  # px of a marker
FAINT = 0.45
TICK_ROOM = 44  # px
MEMORY = message("charts.memory_axis", "activation memory: 1F1B's is p; in micro-batches below")
BRIEF_MEMORY = message("charts.memory_axis_brief", "activation memory")
LOW, NARROW = 260, 360  # px of a plot that has no room for a long title
CLUSTER = dict[int, list[int]]


def figure(asked: Spec, points: Sequence[Point], appearance: Appearance) -> tuple[go.Figure, list[Message]]:
    """Draw the figure; return it with a few sentences on how to read it. A dot's customdata is its point's index."""
    plot = pareto_plot(asked, points, appearance)
    together = clusters(plot)
    drawn = go.Figure(layout=_layout(plot) | {"annotations": [*_limit(plot), *_names(plot, together)]})
    drawn.add_traces([_best(plot), *_groups(plot, together), *_searched(plot, together), *_ring(plot)])
    return drawn, notes(plot)


def _layout(plot: ParetoPlot) -> dict[str, Any]:
    frame, p = plot.frame, plot.asked.p
    wide, high = frame.inner
    units = in_units(plot.appearance)
    at = round_ticks(*frame.x, wide, TICK_ROOM) if units else ticks(*frame.x, wide, TICK_ROOM)
    title, brief = TITLES[plot.appearance.y]
    memory, memory_brief = MEMORY_TITLES[plot.appearance.y] if units else (MEMORY, BRIEF_MEMORY)
    x = axis(
        memory if wide > NARROW else memory_brief,
        type="log", range=[math.log10(each) for each in frame.x], tickvals=at,
        ticktext=[f"{each:g}" if units else f"{PARTS.get(each, f'{each:g}')}p<br>{each * p:.3g}" for each in at],
    )  # fmt: skip
    suffix = "" if plot.appearance.y == "tokens" else " %"
    y = axis(title if high > LOW else brief, range=list(frame.y), nticks=max(3, high // 40), ticksuffix=suffix)
    layout = plain_layout(plot.appearance, x, y, LEFT, RIGHT, frame.top, frame.height - frame.top - high)
    return layout | {"legend": LEGEND | {"entrywidth": ENTRY - 34}}


def _best(plot: ParetoPlot) -> go.Scatter:
    """Draw the best at each memory, as steps: more memory still admits the same schedule."""
    line = sorted(plot.xy(at) for at in plot.frontier)
    line.append((plot.frame.x[1], line[-1][1]))
    x, y = zip(*line, strict=True)
    stroke = {"color": tokens(plot.appearance.theme)["accent"], "width": 2, "shape": "hv"}
    return go.Scatter(x=x, y=y, mode="lines", name=message("charts.best", "best"), hoverinfo="skip", line=stroke)


def _groups(plot: ParetoPlot, together: CLUSTER) -> list[go.Scatter]:
    """Draw the schedule of every family, a trace for each group. Those of another p or m are hollow."""
    traces = []
    for group, symbol in SYMBOLS.items():
        ours = plot.families_of(group)
        if ours:
            colour = _colour(plot, group)
            fill = [CLEAR if plot.moved(at) else colour for at in ours]
            marker = {"symbol": symbol, "size": BIG, "color": fill, "line": {"color": colour, "width": 1.5}}
            traces.append(_dots(plot, ours, together, GROUPS[group], marker).update(zorder=1))
    return traces


def _searched(plot: ParetoPlot, together: CLUSTER) -> list[go.Scatter]:
    """Draw the searched schedules; faint where another is better."""
    traces = []
    for family in SEARCHED_FAMILIES:
        ours = plot.searched(family)
        if ours:
            marker = {
                "symbol": f"{SYMBOLS[plot.group(ours[0])]}-open", "size": SMALL, "line": {"width": 2},
                "color": tokens(plot.appearance.theme)["accent"],
                "opacity": [1.0 if plot.better[at] is None else FAINT for at in ours],
            }  # fmt: skip
            traces.append(_dots(plot, ours, together, SEARCHED[family], marker))
    return traces


def _dots(plot: ParetoPlot, ours: list[int], together: CLUSTER, name: str, marker: dict[str, Any]) -> go.Scatter:
    x, y = zip(*(plot.xy(at) for at in ours), strict=True)
    here = {at: cluster for cluster in together.values() for at in cluster}
    fronts = [front(plot, at) for at in ours]
    hovers = [joined_lines(hover_lines(plot, at, [other for other in here[at] if other != at])) for at in fronts]
    return go.Scatter(
        x=x, y=y, mode="markers", name=name, marker=marker, customdata=ours, text=hovers,
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def _ring(plot: ParetoPlot) -> list[go.Scatter]:
    """Draw a ring around the schedule on the screen."""
    if plot.now is None:
        return []
    x, y = plot.xy(plot.now)
    ink = tokens(plot.appearance.theme)["ink"]
    marker = {"symbol": "circle-open", "size": 2 * BIG, "color": ink, "line": {"width": 2}}
    return [
        go.Scatter(x=[x], y=[y], mode="markers", name="A", marker=marker, hoverinfo="skip", showlegend=False, zorder=2)
    ]


def _names(plot: ParetoPlot, together: CLUSTER) -> list[dict[str, Any]]:
    """Label every place that has a family, if there is room; hovering names them all."""
    families = {head: [at for at in cluster if plot.points[at].limit is None] for head, cluster in together.items()}
    heads = [head for head, members in families.items() if members]
    labels = [PointLabel(*plot.pixel(head), joined(plot, families[head]), _rim(plot, families[head])) for head in heads]
    marks = [plot.pixel(at) for at in range(len(plot.points)) if plot.shown(at)]
    token = tokens(plot.appearance.theme)
    notes = []
    for head, label, spot in zip(heads, labels, place(labels, marks, _obstacles(plot), *plot.frame.inner), strict=True):
        if spot is None:
            continue
        x, y = plot.xy(head)
        notes.append(
            {
                "x": math.log10(x), "y": y, "ax": spot[0], "ay": spot[1], "xanchor": "center", "yanchor": "middle",
                "text": label.text, "borderpad": 0, "font": _label_font(plot, head, plot.now in families[head]),
                "showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": token["ink-3"], "standoff": 7,
            }
        )  # fmt: skip
    return notes


def _rim(plot: ParetoPlot, families: list[int]) -> float:
    return RIM + BIG / 2 if plot.now in families else RIM


def _label_font(plot: ParetoPlot, head: int, strong: bool) -> dict[str, Any]:
    """Return a label's font; the one on the screen is bold (as a weight: markup in a text would need inline styles)."""
    if strong:
        return {"color": tokens(plot.appearance.theme)["ink"], "size": TEXT, "weight": 700}
    return {"color": _colour(plot, plot.group(head)), "size": TEXT}


def _obstacles(plot: ParetoPlot) -> list[Box]:
    """Return shapes that labels should avoid: the line in pieces, the memory limit and its label."""
    line = sorted(plot.pixel(at) for at in plot.frontier)
    boxes = []
    for (x0, y0), (x1, y1) in pairwise(line):
        boxes += [Box((x0 + x1) / 2, y0, x1 - x0, 2.0), Box(x1, (y0 + y1) / 2, 2.0, abs(y1 - y0))]
    if plot.limit is not None:
        x, high = plot.frame.at(plot.limit, 0.0)[0], plot.frame.inner[1]
        boxes += [Box(x, high / 2, 2.0, high), Box(x, high - 8.0, 2 * width_of("limit 99"), 16.0)]
    return boxes


def _limit(plot: ParetoPlot) -> list[dict[str, Any]]:
    """Draw the memory limit, labelled at its line's foot."""
    if plot.limit is None:
        return []
    token = tokens(plot.appearance.theme)
    x = math.log10(plot.limit)
    label = limit_label(plot.asked.memory or 0.0)
    if in_units(plot.appearance):
        label = message("charts.device_limit", "limit {limit} GB", limit=f"{plot.limit:.4g}")
    side = "right" if plot.frame.at(plot.limit, 0.0)[0] > plot.frame.inner[0] * 0.8 else "left"
    low, high = plot.frame.y
    return [
        {
            "x": x, "y": low, "ax": x, "ay": high, "axref": "x", "ayref": "y", "showarrow": True, "arrowhead": 0,
            "arrowwidth": 1.5, "arrowcolor": token["plot-cap"], "text": "",
        },
        {
            "x": x, "y": 0, "yref": "paper", "xanchor": side, "yanchor": "bottom", "showarrow": False, "borderpad": 3,
            "text": label, "font": {"color": token["bad"], "size": TEXT},
        },
    ]  # fmt: skip


def _colour(plot: ParetoPlot, group: str) -> str:
    return tokens(plot.appearance.theme)[f"g-{group.replace(' ', '-').lower()}"]
