"""Useful against wasted time, a stacked bar for every rank of every schedule on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.charts.appearance import Look
from backend.charts.chart import TOLD, Chart, Plan, Row, axis, layout, percent, short
from backend.charts.theme import TEXT
from backend.schedule.families.registry import order
from backend.schedule.simulation.idle_breakdown import USEFUL, WASTED, IdleBreakdown, idle_breakdown
from backend.theme_tokens import tokens

NAMES = {
    "F": "F forward", "I": "I input gradient", "B": "B full backward", "W": "W weight gradient",
    "F and B": "F and B overlapped", "S": "S output layer", "T": "T its gradients",
    "hop": "message in flight", "copy": "copy in flight", "wait": "waits for others",
    "fill": "fill", "drain": "drain",
}  # fmt: skip
COLOURS = {"F": "k-f", "I": "k-i", "B": "k-b", "W": "k-w", "F and B": "k-b", "S": "k-s", "T": "k-t", "hop": "k-c"}
PATTERNS = {"F and B": "/", "hop": "x", "copy": "+", "wait": "\\", "fill": ".", "drain": "-"}
MOST_BARS = 96
SHOWN = 1e-12


def split(plans: Sequence[Plan], look: Look) -> Chart:
    """The figure; where there are more ranks than bars, each bar is the mean of neighbours."""
    most = max(1, MOST_BARS // len(plans))
    spent = [idle_breakdown(order(plan.spec), plan.spec.timing, plan.spec.v) for plan in plans]
    bars = [_bars(plan, each, most) for plan, each in zip(plans, spent, strict=True)]
    used = [name for name in (*USEFUL, *WASTED) if any(parts[name] > SHOWN for one in bars for _, parts in one)]
    rows, place = _rows(plans, spent, bars, used)
    many = len(plans) > 1
    x: list[Any] = [
        [plan.name for plan, one in zip(plans, bars, strict=True) for _ in one],
        [b for o in bars for b, _ in o],
    ]
    figure = go.Figure(layout=_layout(look, [NAMES[name] for name in used], many))
    for name in used:
        heights = [parts[name] for one in bars for _, parts in one]
        figure.add_trace(
            _trace(look, name, x if many else x[1], heights, [place[name, at] for at in range(len(heights))], rows)
        )
    whole = any(plan.spec.p > most for plan in plans)
    notes = (f"More than {most} ranks: each bar is the mean of neighbouring ranks.",) if whole else ()
    columns = (
        ("schedule", ""),
        ("rank", ""),
        ("part", ""),
        ("time", "unit of the costs"),
        ("share", "% of the makespan"),
    )
    return Chart(figure, _reads(plans, spent), columns, rows, notes)


def _bars(plan: Plan, spent: IdleBreakdown, most: int) -> list[tuple[str, dict[str, float]]]:
    """(ranks, time by part) of each bar."""
    ranks = np.array_split(np.arange(plan.spec.p), min(plan.spec.p, most))
    return [
        (
            str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}",
            {name: float(times[group].mean()) for name, times in spent.parts.items()},
        )
        for group in ranks
    ]


def _rows(
    plans: Sequence[Plan],
    spent: Sequence[IdleBreakdown],
    bars: Sequence[list[tuple[str, dict[str, float]]]],
    used: list[str],
) -> tuple[list[Row], dict[tuple[str, int], int]]:
    """A row for each part of each bar, and where the row of (part, bar) is."""
    rows: list[Row] = []
    place: dict[tuple[str, int], int] = {}
    bar = 0
    for plan, whole, one in zip(plans, spent, bars, strict=True):
        for rank, parts in one:
            for name in used:
                share = parts[name] / whole.makespan if whole.makespan > 0.0 else 0.0
                told = (
                    f"{plan.name}, rank {rank}",
                    NAMES[name],
                    f"time {short(parts[name])}, {percent(share)} of the makespan",
                )
                place[name, bar] = len(rows)
                rows.append(Row((plan.name, rank, NAMES[name], round(parts[name], 6), round(100 * share, 4)), told))
            bar += 1
    return rows, place


def _layout(look: Look, names: list[str], many: bool) -> dict[str, Any]:
    x = axis("rank", type="multicategory" if many else "category", showgrid=False, tickfont={"size": TEXT - 1})
    if many:
        x |= {"showdividers": True, "dividercolor": tokens(look.theme)["line"], "dividerwidth": 1}
    y = axis("time, in the unit of the costs", rangemode="tozero")
    return layout(look, x, y, names, barmode="stack", bargap=0.12, uniformtext={"minsize": 9, "mode": "hide"})


def _trace(look: Look, name: str, x: Any, heights: list[float], at: list[int], rows: list[Row]) -> go.Bar:
    token = tokens(look.theme)
    useful = name in USEFUL
    colour = token[COLOURS.get(name, "plot-hatch")]
    marker: dict[str, Any] = {"color": colour, "line": {"width": 0}}
    if name in PATTERNS:
        ground = token["k-f"] if name == "F and B" else token["plot-row"]
        ink = token["plot-held"] if not useful and name != "hop" else colour
        marker = {
            "color": ground, "line": {"width": 0},
            "pattern": {"shape": PATTERNS[name], "fgcolor": ink, "bgcolor": ground, "size": 7, "solidity": 0.28},
        }  # fmt: skip
    letter = name if useful and name != "F and B" else ""
    return go.Bar(
        x=x, y=heights, name=NAMES[name], marker=marker, customdata=at, hovertext=[rows[each].hover for each in at],
        hovertemplate=TOLD, text=[letter] * len(at), textposition="inside", insidetextanchor="middle", textangle=0,
        textfont={"size": TEXT - 1},
    )  # fmt: skip


def _reads(plans: Sequence[Plan], spent: Sequence[IdleBreakdown]) -> tuple[str, ...]:
    parts = [
        "Each bar is a rank's time from the first start to the last end: solid is work, hatched is idle.",
        "Fill is before a rank's first op, drain after its last; in between it waits for messages or other ranks.",
    ]
    for plan, each in zip(plans, spent, strict=True):
        useful = float(sum(each.parts[name].mean() for name in USEFUL))
        if each.makespan > 0.0:
            parts.append(f"{plan.name}: {percent(useful / each.makespan)} of the ranks' time is work.")
    return tuple(parts)
