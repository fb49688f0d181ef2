"""The appearance of every chart: the choices of the reader, and the page's colours and font.

The background is clear, so that the page's own shows through.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from backend.charts.theme_tokens import font, tokens

TEXT = 12  # px
CLEAR = "rgba(0,0,0,0)"


@dataclass(frozen=True)
class Appearance:
    """Theme, size in px, the chart's variant (for most: the quantity that goes up), and whether a chart of all families
    has only those on the screen.
    """

    theme: str
    width: int
    height: int
    y: str
    only: int = 0


def template(theme: str) -> go.layout.Template:
    """Return axes, text and hover boxes for every chart of a theme."""
    token = tokens(theme)
    axis: dict[str, Any] = {
        "color": token["ink-2"], "gridcolor": token["plot-grid"], "linecolor": token["line"], "zeroline": False,
        "ticks": "", "fixedrange": True, "title": {"font": {"color": token["ink-2"], "size": TEXT}},
        "tickfont": {"color": token["ink-3"], "size": TEXT - 1},
    }  # fmt: skip
    layout = {
        "paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR, "xaxis": axis, "yaxis": axis, "dragmode": False,
        "font": {"family": font(), "size": TEXT, "color": token["ink-2"]},
        "hoverlabel": {
            "bgcolor": token["raised"], "bordercolor": token["line"], "align": "left",
            "font": {"family": font(), "size": TEXT, "color": token["ink"]},
        },
        "legend": {"font": {"color": token["ink-2"], "size": TEXT}, "itemclick": False, "itemdoubleclick": False},
    }  # fmt: skip
    return go.layout.Template(layout=layout)
