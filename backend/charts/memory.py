"""Activations held by each rank over time, as steps, with the limit; a plot for every schedule on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from backend.charts.chart import (
    COST_TIME,
    COST_UNIT,
    HOVER,
    RANK,
    SCHEDULE,
    Chart,
    ChartSeries,
    Row,
    axis,
    layout,
    limit_label,
    short,
)
from backend.charts.theme import TEXT, Appearance
from backend.charts.theme_tokens import mixed, rgb, tokens
from backend.errors import message
from backend.schedule.families.registry import order
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.simulation.memory import curve
from backend.schedule.simulation.simulate import Timeline, simulate

Floats = npt.NDArray[np.float64]
MOST_RANKS = 8  # lines in a plot
MOST_STEPS = 400  # of a line; beyond, each is the most within its part of the time
DASHES = ("solid", "dash", "dot", "dashdot")
GAP = 0.1  # of the height, between two plots
NEAR_AXIS = 0.15  # of the time
LIMIT = message("charts.limit", "limit")


def memory(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None = None) -> Chart:
    """Draw the figure; its rows are the ranks with their peaks and the times of these."""
    timed = [simulate(order(plan.spec), plan.spec.timing, plan.spec.v) for plan in plans]
    levels = [_levels(plan, each) for plan, each in zip(plans, timed, strict=True)]
    rows: list[Row] = []
    figure = go.Figure(layout=_layout(plans, appearance, max(float(each.end.max()) for each in timed)))
    omitted: list[str] = []
    for at, (plan, timeline, ranks) in enumerate(zip(plans, timed, levels, strict=True)):
        drawn = _drawn([float(held.max()) for _, held in ranks])
        for rank, (when, held) in enumerate(ranks):
            row = _row(plan, rank, when, held)
            if rank in drawn:
                figure.add_trace(_line(appearance, at, rank, plan.spec.p, when, held, row, len(rows)))
            rows.append(row)
        if len(drawn) < plan.spec.p:
            omitted.append(
                message(
                    "charts.ranks_drawn",
                    "{plan}: {drawn} of {p} ranks are drawn, the fullest too; the table has all.",
                    plan=plan.name, drawn=len(drawn), p=plan.spec.p,
                )
            )  # fmt: skip
        figure.add_traces(_extra(plan, timeline, appearance, at, ranks))
        for note in _rank_labels(appearance, at, ranks):
            figure.add_annotation(note)
    columns = (
        (SCHEDULE, ""),
        (RANK, ""),
        (
            message("charts.most_held", "most held"),
            message("charts.activations_unit", "micro-batches' activations on a device"),
        ),
        (message("charts.first_held", "first held at"), COST_UNIT),
        (LIMIT, message("charts.as_most_held", "as most held")),
    )
    return Chart(figure, (*_notes(plans, levels), *omitted), columns, rows)


def _levels(plan: ChartSeries, timeline: Timeline) -> list[tuple[Floats, Floats]]:
    """Return times and levels of every rank; of one that keeps nothing (forward only, frozen stages) 0 from its
    start.
    """
    spec, nothing = plan.spec, (np.zeros(1), np.zeros(1))
    found = (curve(timeline, rank, spec.w_share, spec.v, spec.kept, spec.weights or 0.0) for rank in range(spec.p))
    return [(when, held) if len(when) else nothing for when, held in found]


def _drawn(peaks: Sequence[float]) -> set[int]:
    """Choose the ranks to draw: the fullest, and others evenly."""
    if len(peaks) <= MOST_RANKS:
        return set(range(len(peaks)))
    even = np.linspace(0, len(peaks) - 1, MOST_RANKS - 1).round().astype(int).tolist()
    return {*even, int(np.argmax(peaks))}


def _row(plan: ChartSeries, rank: int, when: Floats, held: Floats) -> Row:
    top = int(held.argmax())
    limit = plan.spec.memory
    lines: list[str] = [
        message("charts.plan_and_rank", "{plan}, rank {rank}", plan=plan.name, rank=rank),
        message(
            "charts.holds_at_most",
            "holds at most {most} micro-batches, first at {time}",
            most=short(float(held[top])), time=short(float(when[top])),
        ),
    ]  # fmt: skip
    if limit is not None:
        lines.append(limit_label(limit))
    cells = (plan.name, rank, round(float(held[top]), 6), round(float(when[top]), 6), limit)
    return Row(cells, tuple(lines))


def _rank_name(rank: int) -> str:
    return message("charts.rank_name", "rank {rank}", rank=rank)


def thinned(when: Floats, held: Floats) -> tuple[Floats, Floats]:
    """Reduce a curve to MOST_STEPS steps, each the maximum of its part of the time."""
    if len(when) <= MOST_STEPS:
        return when, held
    parts = np.linspace(0, len(when), MOST_STEPS + 1).astype(int)[:-1]
    return when[parts], np.maximum.reduceat(held, parts)


def _line(
    appearance: Appearance, at: int, rank: int, p: int, when: Floats, held: Floats, row: Row, place: int
) -> go.Scatter:
    when, held = thinned(when, held)
    x = [0.0, *when.tolist()]
    return go.Scatter(
        x=x, y=[0.0, *held.round(6).tolist()], mode="lines", name=_rank_name(rank), showlegend=False,
        customdata=[place] * len(x), hovertext=row.hover, hovertemplate=HOVER,
        xaxis="x", yaxis=_axis("y", at),
        line={"shape": "hv", "width": 1.6, "color": _shade(appearance, rank, p), "dash": DASHES[rank % len(DASHES)]},
    )  # fmt: skip


def _shade(appearance: Appearance, rank: int, p: int) -> str:
    """Return a rank's colour, from the accent at rank 0 to the warning colour at the last."""
    token = tokens(appearance.theme)
    parts = mixed(rgb(token["accent"]), rgb(token["warn"]), rank / max(1, p - 1))
    return f"rgb({','.join(str(round(part)) for part in parts)})"


def _rank_labels(appearance: Appearance, at: int, ranks: Sequence[tuple[Floats, Floats]]) -> list[dict[str, Any]]:
    """Label the first and the last rank at their peaks, to the right of a peak that is near the axis."""
    notes = []
    end = max(float(when[-1]) for when, _ in ranks)
    for rank in sorted({0, len(ranks) - 1}):
        when, held = ranks[rank]
        top = int(held.argmax())
        before = rank == 0 and float(when[top]) > NEAR_AXIS * end
        notes.append(
            {
                "text": _rank_name(rank), "x": float(when[top]), "y": float(held[top]), "yref": _axis("y", at),
                "showarrow": False,
                "xanchor": "right" if before else "left", "xshift": -4 if before else 4, "yshift": 8,
                "bgcolor": tokens(appearance.theme)["surface"], "borderpad": 0,
                "font": {"color": _shade(appearance, rank, len(ranks)), "size": TEXT - 1},
            }
        )  # fmt: skip
    return notes


def _axis(letter: str, at: int) -> str:
    return letter if at == 0 else f"{letter}{at + 1}"


def _extra(
    plan: ChartSeries, timeline: Timeline, appearance: Appearance, at: int, ranks: Sequence[tuple[Floats, Floats]]
) -> list[go.Scatter]:
    """Draw the limit, and with offload the level of the fullest rank without copies."""
    token = tokens(appearance.theme)
    end, traces = float(timeline.end.max()), []
    silent = {"hoverinfo": "skip", "showlegend": False, "yaxis": _axis("y", at)}
    if plan.spec.memory is not None:
        traces.append(
            go.Scatter(
                x=[0.0, end],
                y=[plan.spec.memory] * 2,
                mode="lines+text",
                name=LIMIT,
                text=["", limit_label(plan.spec.memory)],
                textposition="top left",
                textfont={"color": token["bad"], "size": TEXT - 1},
                **silent,
                line={"color": token["plot-cap"], "width": 1.5, "dash": "longdash"},
            )
        )
    if timeline.order.copies is not None:
        rank = int(np.argmax([held.max() for _, held in ranks]))
        kept = replace(timeline.order, copies=None)
        bare = Timeline(kept, timeline.start, timeline.end, sizes=timeline.sizes)
        spec = plan.spec
        when, held = thinned(*curve(bare, rank, spec.w_share, spec.v, spec.kept, spec.weights or 0.0))
        traces.append(
            go.Scatter(
                x=when.tolist(),
                y=held.tolist(),
                mode="lines",
                name=message("charts.without_copies", "without copies"),
                **silent,
                line={"shape": "hv", "color": token["ink-3"], "width": 1.2, "dash": "dot"},
            )
        )
    return traces


def _layout(plans: Sequence[ChartSeries], appearance: Appearance, end: float) -> dict[str, Any]:
    count = len(plans)
    tall = (1.0 - GAP * (count - 1)) / count
    time = axis(COST_TIME, range=[0, end * 1.01], anchor=_axis("y", count - 1))
    y = axis(
        message("charts.held", "micro-batches held"),
        rangemode="tozero",
        nticks=max(4, 8 // count),
        domain=[1 - tall, 1.0],
    )
    more: dict[str, Any] = {}
    notes = []
    for at, plan in enumerate(plans):
        top = 1.0 - at * (tall + GAP)
        if at:
            more[f"yaxis{at + 1}"] = y | {"domain": [max(0.0, top - tall), top], "matches": "y", "title": None}
        notes.append(
            {
                "text": plan.name, "x": 1, "xref": "paper", "xanchor": "right", "y": top, "yref": "paper",
                "yanchor": "bottom",
                "showarrow": False, "font": {"size": TEXT},
            }
        )  # fmt: skip
    laid = layout(appearance, time, y, annotations=notes, **more)
    laid["margin"]["t"] = 24
    return laid


def _notes(plans: Sequence[ChartSeries], levels: Sequence[Sequence[tuple[Floats, Floats]]]) -> tuple[str, ...]:
    sentences = [
        message(
            "charts.memory_lines",
            "Each line is a rank: up where a forward keeps its activations, down where a backward gives them back.",
        )
    ]
    if any(plan.spec.memory is not None for plan in plans):
        sentences.append(message("charts.limit_line", "The dashed red line is the limit."))
    if any(plan.spec.offload != "none" for plan in plans):
        sentences.append(
            message(
                "charts.without_offload",
                "Dotted: what the fullest rank would hold if nothing were copied to host memory.",
            )
        )
    for plan, ranks in zip(plans, levels, strict=True):
        peaks = [float(held.max()) for _, held in ranks]
        fullest = int(np.argmax(peaks))
        sentences.append(
            message(
                "charts.fullest_rank",
                "{plan}: rank {rank} holds most, {most}; the least is {least}.",
                plan=plan.name, rank=fullest, most=short(peaks[fullest]), least=short(min(peaks)),
            )
        )  # fmt: skip
    return tuple(sentences)
