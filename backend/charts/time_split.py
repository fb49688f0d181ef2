"""Useful and wasted time, a stacked bar for every rank of every schedule on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from backend.charts.chart import (
    COST_TIME,
    COST_UNIT,
    RANK,
    SCHEDULE,
    Chart,
    ChartSeries,
    Row,
    axis,
    layout,
    percent,
    points,
    short,
)
from backend.charts.theme import TEXT, Appearance
from backend.charts.theme_tokens import tokens
from backend.errors import message
from backend.schedule.families.registry import order
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.simulation.idle_breakdown import USEFUL, WASTED, IdleBreakdown, idle_breakdown

NAMES = {
    "F": message("charts.part_f", "F forward"),
    "I": message("charts.part_i", "I input gradient"),
    "B": message("charts.part_b", "B full backward"),
    "W": message("charts.part_w", "W weight gradient"),
    "F and B": message("charts.part_pair", "F and B overlapped"),
    "S": message("charts.part_s", "S output layer"),
    "T": message("charts.part_t", "T its gradients"),
    "hop": message("charts.part_hop", "message in flight"),
    "line": message("charts.part_line", "head of line"),
    "copy": message("charts.part_copy", "copy in flight"),
    "wait": message("charts.part_wait", "waits for others"),
    "fill": message("charts.part_fill", "fill"),
    "drain": message("charts.part_drain", "drain"),
}
COLOURS = {"F": "k-f", "I": "k-i", "B": "k-b", "W": "k-w", "F and B": "k-b", "S": "k-s", "T": "k-t", "hop": "k-c"}
PATTERNS = {"F and B": "/", "hop": "x", "line": "|", "copy": "+", "wait": "\\", "fill": ".", "drain": "-"}
MOST_BARS = 96
SHOWN = 1e-12


def split(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None = None) -> Chart:
    """Draw the figure; where there are more ranks than bars, each bar is the mean of neighbours."""
    most = max(1, MOST_BARS // len(plans))
    spent = [idle_breakdown(order(plan.spec), plan.spec.timing, plan.spec.v) for plan in plans]
    bars = [_bars(plan, each, most) for plan, each in zip(plans, spent, strict=True)]
    used = [name for name in (*USEFUL, *WASTED) if any(parts[name] > SHOWN for one in bars for _, parts in one)]
    rows, place = _rows(plans, spent, bars, used)
    many = len(plans) > 1
    x: list[Any] = [
        [str(plan.name) for plan, one in zip(plans, bars, strict=True) for _ in one],
        [b for o in bars for b, _ in o],
    ]
    figure = go.Figure(layout=_layout(appearance, [NAMES[name] for name in used], many))
    for name in used:
        heights = [parts[name] for one in bars for _, parts in one]
        at = [place[name, bar] for bar in range(len(heights))]
        figure.add_trace(_trace(appearance, name, x if many else x[1], heights, points(rows, at)))
    whole = any(plan.spec.p > most for plan in plans)
    mean = message("charts.mean_bars", "More than {most} ranks: each bar is the mean of neighbouring ranks.", most=most)
    columns = (
        (SCHEDULE, ""),
        (RANK, ""),
        (message("charts.part", "part"), ""),
        (message("charts.time", "time"), COST_UNIT),
        (message("charts.share", "share"), message("charts.of_step", "% of the step")),
    )
    return Chart(figure, (*_notes(plans, spent), *((mean,) if whole else ())), columns, rows)


def _bars(plan: ChartSeries, spent: IdleBreakdown, most: int) -> list[tuple[str, dict[str, float]]]:
    """Return (ranks, time by part) of each bar."""
    ranks = np.array_split(np.arange(plan.spec.p), min(plan.spec.p, most))
    return [
        (
            str(group[0]) if len(group) == 1 else f"{group[0]}-{group[-1]}",
            {name: float(times[group].mean()) for name, times in spent.parts.items()},
        )
        for group in ranks
    ]


def _rows(
    plans: Sequence[ChartSeries],
    spent: Sequence[IdleBreakdown],
    bars: Sequence[list[tuple[str, dict[str, float]]]],
    used: list[str],
) -> tuple[list[Row], dict[tuple[str, int], int]]:
    """Return a row for each part of each bar, and the row's index by (part, bar)."""
    rows: list[Row] = []
    place: dict[tuple[str, int], int] = {}
    bar = 0
    for plan, whole, one in zip(plans, spent, bars, strict=True):
        for rank, parts in one:
            for name in used:
                share = parts[name] / whole.makespan if whole.makespan > 0.0 else 0.0
                lines = (
                    message("charts.plan_and_rank", "{plan}, rank {rank}", plan=plan.name, rank=rank),
                    NAMES[name],
                    message(
                        "charts.time_and_share",
                        "time {time}, {share} of the step",
                        time=short(parts[name]), share=percent(share),
                    ),
                )  # fmt: skip
                place[name, bar] = len(rows)
                rows.append(Row((plan.name, rank, NAMES[name], round(parts[name], 6), round(100 * share, 4)), lines))
            bar += 1
    return rows, place


def _layout(appearance: Appearance, names: list[str], many: bool) -> dict[str, Any]:
    x = axis(RANK, type="multicategory" if many else "category", showgrid=False, tickfont={"size": TEXT - 1})
    if many:
        x |= {"showdividers": True, "dividercolor": tokens(appearance.theme)["line"], "dividerwidth": 1}
    y = axis(COST_TIME, rangemode="tozero")
    return layout(appearance, x, y, names, barmode="stack", bargap=0.12, uniformtext={"minsize": 9, "mode": "hide"})


def _trace(appearance: Appearance, name: str, x: Any, heights: list[float], rows: dict[str, Any]) -> go.Bar:
    token = tokens(appearance.theme)
    useful = name in USEFUL
    colour = token[COLOURS.get(name, "plot-idle")]
    marker: dict[str, Any] = {"color": colour, "line": {"width": 0}}
    if name in PATTERNS:
        background = token["k-f"] if name == "F and B" else token["plot-row"]
        ink = token["plot-held"] if not useful and name != "hop" else colour
        marker = {
            "color": background, "line": {"width": 0},
            "pattern": {"shape": PATTERNS[name], "fgcolor": ink, "bgcolor": background, "size": 7, "solidity": 0.28},
        }  # fmt: skip
    letter = name if useful and name != "F and B" else ""
    return go.Bar(
        x=x, y=heights, name=NAMES[name], marker=marker, **rows, text=[letter] * len(heights),
        textposition="inside", insidetextanchor="middle", textangle=0, textfont={"size": TEXT - 1},
    )  # fmt: skip


def _notes(plans: Sequence[ChartSeries], spent: Sequence[IdleBreakdown]) -> tuple[str, ...]:
    sentences = [
        message(
            "charts.bars",
            "Each bar is a rank's time from the first start to the last end: solid is work, hatched is idle.",
        ),
        message(
            "charts.fill_and_drain",
            "Fill is before a rank's first op, drain after its last; in between it waits for messages or other ranks.",
        ),
    ]
    for plan, each in zip(plans, spent, strict=True):
        useful = float(sum(each.parts[name].mean() for name in USEFUL))
        if each.makespan > 0.0:
            share = percent(useful / each.makespan)
            sentences.append(
                message("charts.work_share", "{plan}: {share} of the ranks' time is work.", plan=plan.name, share=share)
            )
    return tuple(sentences)
