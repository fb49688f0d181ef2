"""What every chart but the frontier is: a figure, how to read it, and the same numbers as a table.

A row of the table and a point of the figure are one: points carry their row's position as customdata, and what
hovering one tells is the row's own text. Knows no particular chart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from backend.charts.appearance import Look
from backend.charts.axes import LEFT, RIGHT, ROW
from backend.charts.theme import CLEAR, TEXT, template
from backend.schedule.spec import Spec

TOLD = "%{hovertext}<extra></extra>"
LETTER = 6.6  # px of an average letter of a legend
FOOT = 46  # px under the plot: ticks of one line, and the axis's name
LEAST_STEP = 24  # px that a size needs for its name
SWATCH = 44  # px of a legend's swatch and the room around it


@dataclass(frozen=True)
class Plan:
    """A schedule on the page: ``id`` a to d, as the timeline has it."""

    id: str
    spec: Spec
    title: str

    @property
    def name(self) -> str:
        """As it is named where several are drawn."""
        return f"{self.id.upper()} {self.title}"


@dataclass(frozen=True)
class Row:
    """Cells of the table; ``told`` what the point tells, line by line; ``put`` what a click on it changes in the spec
    on the screen (None: nothing); ``mark`` the plans that stand there, such as "A"."""

    cells: tuple[Any, ...]
    told: tuple[str, ...]
    put: dict[str, Any] | None = None
    mark: str = ""

    @property
    def hover(self) -> str:
        """The text in plotly's box."""
        return "<br>".join(self.told)


@dataclass(frozen=True)
class Chart:
    """``columns`` are (name, unit or what it is); ``notes`` what is left out and why."""

    figure: go.Figure
    reads: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: Sequence[Row]
    notes: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        rows = [{"cells": row.cells, "told": row.told, "put": row.put, "mark": row.mark} for row in self.rows]
        return {
            "reads": self.reads,
            "columns": self.columns,
            "rows": rows,
            "notes": self.notes,
            "figure": self.figure.to_dict(),
        }


def layout(look: Look, x: dict[str, Any], y: dict[str, Any], names: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """A layout with a legend of ``names`` above the plot; ``right``, ``left``: px beside it where more is needed."""
    right, left = more.pop("right", RIGHT), more.pop("left", LEFT)
    entry = max((LETTER * len(name) for name in names), default=0.0) + SWATCH
    a_row = max(1, int((look.width - left - right) // entry))
    top = 12 + ROW * -(-len(names) // a_row)
    return {
        "template": template(look.theme), "width": look.width, "height": look.height, "hovermode": "closest",
        "hoverdistance": 24, "showlegend": len(names) > 0, "xaxis": x, "yaxis": y,
        "margin": {"l": left, "r": right, "t": top, "b": FOOT, "autoexpand": False},
        "legend": {
            "orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top",
            "entrywidth": entry - SWATCH + 4, "entrywidthmode": "pixels", "bgcolor": CLEAR, "traceorder": "normal",
            "font": {"size": TEXT},
        },
    } | more  # fmt: skip


def size_axis(title: str, names: Sequence[str], px: float) -> dict[str, Any]:
    """An axis of sizes that stand in equal steps; every other one is named where all have no room in so many px."""
    every = 1 if px / len(names) >= LEAST_STEP else 2
    ticks = {"tickvals": list(range(0, len(names), every)), "ticktext": list(names[::every]), "tickangle": 0}
    return axis(title, **ticks, range=[-0.5, len(names) - 0.5], showgrid=False)


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with its name and unit."""
    return {"title": {"text": title, "standoff": 6}} | more


def percent(share: float) -> str:
    """One decimal, as the page writes it."""
    return f"{100 * share:.1f} %"


def short(value: float) -> str:
    """At most four digits, no exponent for what people count."""
    return f"{value:,.0f}" if abs(value) >= 1000 and float(value).is_integer() else f"{value:.4g}"


def spread_apart(at: Sequence[float], room: float, low: float, high: float) -> list[float]:
    """Heights of labels as near to where they belong as they can be with ``room`` between them, within the plot."""
    order = sorted(range(len(at)), key=lambda each: at[each])
    placed: list[float] = []
    for turn, each in enumerate(order):
        placed.append(max(at[each], low if turn == 0 else placed[-1] + room))
    limit = high
    for turn in range(len(placed) - 1, -1, -1):
        placed[turn] = min(placed[turn], limit)
        limit = placed[turn] - room
    found = [0.0] * len(at)
    for turn, each in enumerate(order):
        found[each] = placed[turn]
    return found
