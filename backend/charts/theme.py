"""How every chart looks: the colours and the font of the page's own tokens, in light and in dark.

Knows the file of the tokens and no chart. The background is left clear, for the page's own to show through.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

THEMES = ("light", "dark")
ALL_THEMES = (*THEMES, *(f"{theme}-paper" for theme in THEMES))  # paper: kinds in the colours that papers print
TOKENS = Path(__file__).parents[2] / "static" / "css" / "tokens.css"
PAPER = TOKENS.with_name("looks.css")
COLOUR = re.compile(r"--([\w-]+): light-dark\((#\w+), (#\w+)\);")
FONT = re.compile(r"--font: ([^;]+);")
TEXT = 12  # px
CLEAR = "rgba(0,0,0,0)"


@lru_cache
def tokens(theme: str) -> dict[str, str]:
    """Each plain colour token of the page by its name without the dashes; "font" is the page's font; ``theme`` is one
    of ALL_THEMES."""
    text = TOKENS.read_text()
    base, _, paper = theme.partition("-")
    at = THEMES.index(base)
    font = FONT.search(text)
    assert font is not None
    found = COLOUR.findall(text) + (COLOUR.findall(PAPER.read_text()) if paper else [])
    return {name: pair[at] for name, *pair in found} | {"font": font[1]}


def template(theme: str) -> go.layout.Template:
    """Axes, text and hover boxes for every chart of a theme."""
    token = tokens(theme)
    axis: dict[str, Any] = {
        "color": token["ink-2"], "gridcolor": token["plot-grid"], "linecolor": token["line"], "zeroline": False,
        "ticks": "", "fixedrange": True, "title": {"font": {"color": token["ink-2"], "size": TEXT}},
        "tickfont": {"color": token["ink-3"], "size": TEXT - 1},
    }  # fmt: skip
    layout = {
        "paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR, "xaxis": axis, "yaxis": axis, "dragmode": False,
        "font": {"family": token["font"], "size": TEXT, "color": token["ink-2"]},
        "hoverlabel": {
            "bgcolor": token["raised"], "bordercolor": token["line"], "align": "left",
            "font": {"family": token["font"], "size": TEXT, "color": token["ink"]},
        },
        "legend": {"font": {"color": token["ink-2"], "size": TEXT}, "itemclick": False, "itemdoubleclick": False},
    }  # fmt: skip
    return go.layout.Template(layout=layout)
