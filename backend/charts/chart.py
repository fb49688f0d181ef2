"""The shape of every chart except the frontier: a figure, how to read it, and the same numbers as a table.

Each point of the figure belongs to a row of the table: it carries the row's index as customdata and the row's text as
its hover text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from backend.charts.axes import LEFT, RIGHT, ROW
from backend.charts.theme import CLEAR, TEXT, Appearance, template
from backend.charts.theme_tokens import tokens
from backend.errors import Message, message
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.spec import Spec

HOVER = "%{hovertext}<extra></extra>"
LETTER = 6.6  # px of an average letter of a legend
FOOT = 46  # px under the plot: ticks of one line, and the axis's name
LEAST_STEP = 24  # px that a size needs for its name
SWATCH = 44  # px of a legend's swatch and the room around it
LEGEND = {
    "orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top",
    "entrywidthmode": "pixels", "bgcolor": CLEAR,
}  # fmt: skip
COST_UNIT = message("charts.cost_unit", "unit of the costs")
COST_TIME = message("charts.cost_time", "time, in the unit of the costs")
M_AXIS = message("charts.m_axis", "m, micro-batches in a step")
SCHEDULE = message("charts.schedule", "schedule")
RANK = message("charts.rank", "rank")
MICRO_BATCHES = message("charts.micro_batches", "micro-batches")
BUBBLE = message("charts.bubble", "bubble")


@dataclass(frozen=True)
class ChartSeries:
    """A schedule on the page, named ``id`` (a to d) by the timeline; its costs follow from the ``preset``, if any."""

    id: str
    spec: Spec
    title: str
    preset: Preset | None = None

    @property
    def name(self) -> Message:
        """Return the name where several are drawn: "A ZB-H1"."""
        return message("charts.plan_name", "{id} {title}", id=self.id.upper(), title=self.title)


@dataclass(frozen=True)
class Row:
    """A row of the table and a point of the figure.

    ``lines`` are the lines of its hover box, ``change`` the fields of the spec on the screen that a click sets (None:
    no click), ``mark`` the plans at this point, such as "A".
    """

    cells: tuple[Any, ...]
    lines: tuple[str, ...]
    change: dict[str, Any] | None = None
    mark: str = ""

    @property
    def hover(self) -> str:
        """Return the text in plotly's box."""
        return joined_lines(self.lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON."""
        return {"cells": self.cells, "lines": self.lines, "change": self.change, "mark": self.mark}


@dataclass(frozen=True)
class Chart:
    """``notes`` are sentences on how to read the figure and what it omits, ``columns`` (name, unit or meaning)."""

    figure: go.Figure
    notes: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: Sequence[Row]

    def as_dict(self) -> dict[str, Any]:
        """Return the chart as JSON."""
        return {
            "notes": self.notes,
            "columns": self.columns,
            "rows": [row.as_dict() for row in self.rows],
            "figure": self.figure.to_dict(),
        }


def points(rows: Sequence[Row], at: Sequence[Any]) -> dict[str, Any]:
    """Return the part of a trace that ties its points to rows, whose indices are in ``at``, of a map line by line."""

    def hover(place: Any) -> Any:
        return rows[place].hover if isinstance(place, int) else [hover(each) for each in place]

    return {"customdata": list(at), "hovertext": hover(at), "hovertemplate": HOVER}


def ring(appearance: Appearance, x: float, y: float, text: str, size: int, **more: Any) -> go.Scatter:
    """Draw a ring around a point, with a text above it."""
    ink = tokens(appearance.theme)["ink"]
    return go.Scatter(
        x=[x], y=[y], mode="markers+text", hoverinfo="skip", text=[text], textposition="top center",
        marker={"symbol": "circle-open", "size": size, "color": ink, "line": {"width": 2}},
        textfont={"color": ink, "size": TEXT}, cliponaxis=False, **more,
    )  # fmt: skip


def dotted_line(appearance: Appearance, x: float) -> dict[str, Any]:
    """Return the shape of a vertical line through the plot, under everything else."""
    line = {"color": tokens(appearance.theme)["ink-3"], "width": 1, "dash": "dot"}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": line, "layer": "below"}


def colour_bar(appearance: Appearance, **more: Any) -> dict[str, Any]:
    """Return the scale beside a heat map."""
    font = {"color": tokens(appearance.theme)["ink-3"], "size": TEXT - 1}
    return {"thickness": 10, "outlinewidth": 0, "x": 1.01, "xpad": 6, "ypad": 0, "len": 1, "tickfont": font} | more


def joined_names(names: Sequence[str], most: int) -> str:
    """Join names, at least one and as many as ``most`` letters hold, and count the others."""
    kept = list(names[:1])
    while len(kept) < len(names) and len(", ".join(names[: len(kept) + 1])) <= most:
        kept = list(names[: len(kept) + 1])
    more = len(names) - len(kept)
    return ", ".join(kept) + (f" +{more}" if more else "")


def joined_lines(lines: Sequence[str]) -> str:
    """Join the lines of a hover box."""
    *before, text = lines
    for line in reversed(before):
        text = message("charts.lines", "{line}<br>{rest}", line=line, rest=text)
    return text


def limit_label(limit: float) -> str:
    """Return the label of a memory limit."""
    return message("charts.limit_is", "limit {limit}", limit=f"{limit:g}")


def layout(
    appearance: Appearance, x: dict[str, Any], y: dict[str, Any], names: Sequence[str] = (), **more: Any
) -> dict[str, Any]:
    """Return a layout with a legend of ``names`` above the plot; ``right``, ``left``: px beside it if not the usual."""
    right, left = more.pop("right", RIGHT), more.pop("left", LEFT)
    entry = max((LETTER * len(name) for name in names), default=0.0) + SWATCH
    a_row = max(1, int((appearance.width - left - right) // entry))
    top = 12 + ROW * -(-len(names) // a_row)
    legend = LEGEND | {"entrywidth": entry - SWATCH + 4, "traceorder": "normal", "font": {"size": TEXT}}
    return (
        plain_layout(appearance, x, y, left, right, top, FOOT) | {"showlegend": len(names) > 0, "legend": legend} | more
    )


def plain_layout(
    appearance: Appearance, x: dict[str, Any], y: dict[str, Any], left: int, right: int, top: int, bottom: int
) -> dict[str, Any]:
    """Return a layout with these px around the plot, without a legend."""
    return {
        "template": template(appearance.theme), "width": appearance.width, "height": appearance.height,
        "hovermode": "closest", "hoverdistance": 24, "xaxis": x, "yaxis": y,
        "margin": {"l": left, "r": right, "t": top, "b": bottom, "autoexpand": False},
    }  # fmt: skip


def size_axis(title: str, names: Sequence[str], px: float) -> dict[str, Any]:
    """Return an axis of sizes in equal steps; every other one is labelled where ``px`` has no room for all."""
    every = 1 if px / len(names) >= LEAST_STEP else 2
    ticks = {"tickvals": list(range(0, len(names), every)), "ticktext": list(names[::every]), "tickangle": 0}
    return axis(title, **ticks, range=[-0.5, len(names) - 0.5], showgrid=False)


def axis(title: str, **more: Any) -> dict[str, Any]:
    """Return an axis with its name and unit."""
    return {"title": {"text": title, "standoff": 6}} | more


def percent(share: float) -> str:
    """Format a share with one decimal, as the page does."""
    return f"{100 * share:.1f} %"


def short(value: float) -> str:
    """Format a number with at most four digits, whole ones from 1000 on in full."""
    return f"{value:,.0f}" if abs(value) >= 1000 and float(value).is_integer() else f"{value:.4g}"


def spread_apart(at: Sequence[float], room: float, low: float, high: float) -> list[float]:
    """Return heights of labels, each as near to ``at`` as possible with ``room`` between them, within the plot."""
    order = sorted(range(len(at)), key=lambda each: at[each])
    placed: list[float] = []
    for turn, each in enumerate(order):
        placed.append(max(at[each], low if turn == 0 else placed[-1] + room))
    limit = high
    for turn in range(len(placed) - 1, -1, -1):
        placed[turn] = min(placed[turn], limit)
        limit = placed[turn] - room
    heights = [0.0] * len(at)
    for turn, each in enumerate(order):
        heights[each] = placed[turn]
    return heights
