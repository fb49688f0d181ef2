"""Activations that each rank holds over time, as steps, with the limit; a plot for every schedule on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from backend.charts.appearance import Look
from backend.charts.chart import TOLD, Chart, Plan, Row, axis, layout, short
from backend.charts.theme import TEXT
from backend.schedule.families.registry import order
from backend.schedule.simulation.memory import curve
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.theme_tokens import rgb, tokens

Floats = npt.NDArray[np.float64]
MOST_RANKS = 8  # lines in a plot
MOST_STEPS = 400  # of a line; beyond, each is the most within its part of the time
DASHES = ("solid", "dash", "dot", "dashdot")
GAP = 0.1  # of the height, between two plots


def memory(plans: Sequence[Plan], look: Look) -> Chart:
    """The figure; its rows are the ranks with the most that each holds, and when."""
    timed = [simulate(order(plan.spec), plan.spec.timing, plan.spec.v) for plan in plans]
    levels = [_levels(plan, each) for plan, each in zip(plans, timed, strict=True)]
    rows: list[Row] = []
    figure = go.Figure(layout=_layout(plans, look, max(float(each.end.max()) for each in timed)))
    notes: list[str] = []
    for at, (plan, timeline, ranks) in enumerate(zip(plans, timed, levels, strict=True)):
        drawn = _drawn([float(held.max()) for _, held in ranks])
        for rank, (when, held) in enumerate(ranks):
            row = _row(plan, rank, when, held)
            if rank in drawn:
                figure.add_trace(_line(look, at, rank, plan.spec.p, when, held, row, len(rows)))
            rows.append(row)
        if len(drawn) < plan.spec.p:
            notes.append(
                f"{plan.name}: {len(drawn)} of {plan.spec.p} ranks are drawn, the fullest too; the table has all."
            )
        figure.add_traces(_extra(plan, timeline, look, at, ranks))
        for note in _names(look, at, ranks):
            figure.add_annotation(note)
    columns = (
        ("schedule", ""), ("rank", ""), ("most held", "micro-batches' activations on a device"),
        ("first held at", "unit of the costs"), ("limit", "as most held"),
    )  # fmt: skip
    return Chart(figure, _reads(plans, levels), columns, rows, tuple(notes))


def _levels(plan: Plan, timeline: Timeline) -> list[tuple[Floats, Floats]]:
    """Times and levels of every rank."""
    spec = plan.spec
    return [curve(timeline, rank, spec.w_share, spec.v, spec.kept, spec.weights or 0.0) for rank in range(spec.p)]


def _drawn(peaks: Sequence[float]) -> set[int]:
    """The ranks that are drawn: the fullest, and others evenly."""
    if len(peaks) <= MOST_RANKS:
        return set(range(len(peaks)))
    even = np.linspace(0, len(peaks) - 1, MOST_RANKS - 1).round().astype(int).tolist()
    return {*even, int(np.argmax(peaks))}


def _row(plan: Plan, rank: int, when: Floats, held: Floats) -> Row:
    top = int(held.argmax())
    limit = plan.spec.memory
    told = [
        f"{plan.name}, rank {rank}",
        f"holds at most {short(float(held[top]))} micro-batches, first at {short(float(when[top]))}",
    ]
    if limit is not None:
        told.append(f"limit {limit:g}")
    cells = (plan.name, rank, round(float(held[top]), 6), round(float(when[top]), 6), limit)
    return Row(cells, tuple(told))


def thinned(when: Floats, held: Floats) -> tuple[Floats, Floats]:
    """At most so many steps, none of which hides the most that is held in its time."""
    if len(when) <= MOST_STEPS:
        return when, held
    parts = np.linspace(0, len(when), MOST_STEPS + 1).astype(int)[:-1]
    return when[parts], np.maximum.reduceat(held, parts)


def _line(look: Look, at: int, rank: int, p: int, when: Floats, held: Floats, row: Row, place: int) -> go.Scatter:
    when, held = thinned(when, held)
    x = [0.0, *when.tolist()]
    return go.Scatter(
        x=x, y=[0.0, *held.round(6).tolist()], mode="lines", name=f"rank {rank}", showlegend=False,
        customdata=[place] * len(x), hovertext=[row.hover] * len(x), hovertemplate=TOLD,
        xaxis="x", yaxis=_axis("y", at),
        line={"shape": "hv", "width": 1.6, "color": _shade(look, rank, p), "dash": DASHES[rank % len(DASHES)]},
    )  # fmt: skip


def _shade(look: Look, rank: int, p: int) -> str:
    """From the accent at rank 0 to the quiet ink at the last: ranks in a row have neighbouring shades."""
    token = tokens(look.theme)
    part = rank / max(1, p - 1)
    one, other = (rgb(token[name]) for name in ("accent", "warn"))
    mixed = [round(a + (b - a) * part) for a, b in zip(one, other, strict=True)]
    return f"rgb({mixed[0]},{mixed[1]},{mixed[2]})"


def _names(look: Look, at: int, ranks: Sequence[tuple[Floats, Floats]]) -> list[dict[str, Any]]:
    """The first and the last rank named where they first hold most."""
    notes = []
    for rank in sorted({0, len(ranks) - 1}):
        when, held = ranks[rank]
        top = int(held.argmax())
        notes.append(
            {
                "text": f"rank {rank}", "x": float(when[top]), "y": float(held[top]), "yref": _axis("y", at),
                "showarrow": False,
                "xanchor": "left" if rank else "right", "xshift": 4 if rank else -4, "yshift": 6,
                "font": {"color": _shade(look, rank, len(ranks)), "size": TEXT - 1},
            }
        )  # fmt: skip
    return notes


def _axis(letter: str, at: int) -> str:
    return letter if at == 0 else f"{letter}{at + 1}"


def _extra(
    plan: Plan, timeline: Timeline, look: Look, at: int, ranks: Sequence[tuple[Floats, Floats]]
) -> list[go.Scatter]:
    """The limit, and for copies what the fullest rank would hold without them."""
    token = tokens(look.theme)
    end, traces = float(timeline.end.max()), []
    if plan.spec.memory is not None:
        traces.append(
            go.Scatter(
                x=[0.0, end],
                y=[plan.spec.memory] * 2,
                mode="lines+text",
                name="limit",
                text=["", f"limit {plan.spec.memory:g}"],
                textposition="top left",
                textfont={"color": token["bad"], "size": TEXT - 1},
                hoverinfo="skip",
                showlegend=False,
                yaxis=_axis("y", at),
                line={"color": token["plot-cap"], "width": 1.5, "dash": "longdash"},
            )
        )
    if timeline.order.copies is not None:
        rank = int(np.argmax([held.max() for _, held in ranks]))
        bare = Timeline(replace(timeline.order, copies=None), timeline.start, timeline.end)
        spec = plan.spec
        when, held = thinned(*curve(bare, rank, spec.w_share, spec.v, spec.kept, spec.weights or 0.0))
        traces.append(
            go.Scatter(
                x=when.tolist(),
                y=held.tolist(),
                mode="lines",
                name="without copies",
                hoverinfo="skip",
                showlegend=False,
                yaxis=_axis("y", at),
                line={"shape": "hv", "color": token["ink-3"], "width": 1.2, "dash": "dot"},
            )
        )
    return traces


def _layout(plans: Sequence[Plan], look: Look, end: float) -> dict[str, Any]:
    count = len(plans)
    tall = (1.0 - GAP * (count - 1)) / count
    time = axis("time, in the unit of the costs", range=[0, end * 1.01], anchor=_axis("y", count - 1))
    y = axis("micro-batches held", rangemode="tozero", nticks=max(4, 8 // count), domain=[1 - tall, 1.0])
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
    laid = layout(look, time, y, annotations=notes, **more)
    laid["margin"]["t"] = 24
    return laid


def _reads(plans: Sequence[Plan], levels: Sequence[Sequence[tuple[Floats, Floats]]]) -> tuple[str, ...]:
    parts = ["Each line is a rank: up where a forward keeps its activations, down where a backward gives them back."]
    if any(plan.spec.memory is not None for plan in plans):
        parts.append("The dashed red line is the limit.")
    if any(plan.spec.offload != "none" for plan in plans):
        parts.append("Dotted: what the fullest rank would hold if nothing were copied to host memory.")
    for plan, ranks in zip(plans, levels, strict=True):
        peaks = [float(held.max()) for _, held in ranks]
        fullest = int(np.argmax(peaks))
        parts.append(
            f"{plan.name}: rank {fullest} holds most, {short(peaks[fullest])}; the least is {short(min(peaks))}."
        )
    return tuple(parts)
