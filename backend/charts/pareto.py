"""Activation memory against throughput as a figure: every family a named point, the best at each memory a line.

Draws a scene (pareto_scene.py). Knows not how points are got, nor who shows the figure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from backend.charts.appearance import Look
from backend.charts.axes import ENTRY, LEFT, RIGHT, ticks
from backend.charts.label_placement import RIM, Box, Tag, place, width_of
from backend.charts.pareto_scene import Scene, clusters, front, joined, reads, scene_of, told
from backend.charts.theme import CLEAR, TEXT, template
from backend.schedule.analysis.pareto import SEARCHED, Point
from backend.schedule.spec import Spec
from backend.theme_tokens import tokens

SYMBOLS = {
    "classic": "circle", "interleaved": "square", "zero bubble": "diamond", "V": "triangle-down",
    "bidirectional": "bowtie", "memory": "pentagon",
}  # fmt: skip
FOUND = {"zb-auto": "found, 1 chunk", "v-auto": "found, V"}
PARTS = {1 / 3: "⅓", 0.25: "¼", 0.5: "½", 0.75: "¾", 1.5: "1½", 1.0: ""}
TITLES = {"throughput": "throughput, of what no bubble gives", "bubble": "bubble, of the longest window (span)"}
BIG, SMALL = 10, 8  # px of a marker
FAINT = 0.45
TICK_ROOM = 44  # px
MEMORY = "activation memory: 1F1B's is p; in micro-batches below"
BRIEFLY = "activation memory"
LOW, NARROW = 260, 360  # px of a plot in which a long title finds no room
CLUSTER = dict[int, list[int]]


def figure(asked: Spec, points: Sequence[Point], look: Look) -> tuple[go.Figure, str]:
    """The figure, and in a few sentences how to read it. Each dot carries its point's position as customdata."""
    scene = scene_of(asked, points, look)
    together = clusters(scene)
    drawn = go.Figure(layout=_layout(scene) | {"annotations": [*_limit(scene), *_names(scene, together)]})
    drawn.add_traces([_best(scene), *_groups(scene, together), *_found(scene, together), *_ring(scene)])
    return drawn, reads(scene)


def _layout(scene: Scene) -> dict[str, Any]:
    frame, p = scene.frame, scene.asked.p
    wide, high = frame.inner
    at = ticks(*frame.x, wide, TICK_ROOM)
    title = TITLES[scene.look.y]
    return {
        "template": template(scene.look.theme), "width": frame.width, "height": frame.height,
        "hovermode": "closest", "hoverdistance": 24,
        "margin": {"l": LEFT, "r": RIGHT, "t": frame.top, "b": frame.height - frame.top - high, "autoexpand": False},
        "xaxis": {
            "type": "log", "range": [math.log10(each) for each in frame.x], "tickvals": at,
            "ticktext": [f"{_part(each)}<br>{each * p:.3g}" for each in at],
            "title": {"text": MEMORY if wide > NARROW else BRIEFLY, "standoff": 6},
        },
        "yaxis": {
            "range": list(frame.y), "ticksuffix": " %", "nticks": max(3, high // 40),
            "title": {"text": title if high > LOW else title.split(",")[0], "standoff": 6},
        },
        "legend": {
            "orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yref": "container", "yanchor": "top",
            "entrywidth": ENTRY - 34, "entrywidthmode": "pixels", "bgcolor": CLEAR,
        },
    }  # fmt: skip


def _part(part: float) -> str:
    """A multiple of p as the papers write it: ½p, p, 2p."""
    return f"{PARTS.get(part, f'{part:g}')}p"


def _best(scene: Scene) -> go.Scatter:
    """The best at each memory, as stairs: with more memory the same schedule is still to be had."""
    line = sorted(scene.xy(at) for at in scene.frontier)
    line.append((scene.frame.x[1], line[-1][1]))
    x, y = zip(*line, strict=True)
    stroke = {"color": tokens(scene.look.theme)["accent"], "width": 2, "shape": "hv"}
    return go.Scatter(x=x, y=y, mode="lines", name="best", hoverinfo="skip", line=stroke)


def _groups(scene: Scene, together: CLUSTER) -> list[go.Scatter]:
    """Every family's own schedule, a trace for each group. Those of another p or m are hollow."""
    traces = []
    for group, symbol in SYMBOLS.items():
        ours = scene.own(group)
        if ours:
            colour = _colour(scene, group)
            fill = [CLEAR if scene.moved(at) else colour for at in ours]
            marker = {"symbol": symbol, "size": BIG, "color": fill, "line": {"color": colour, "width": 1.5}}
            traces.append(_dots(scene, ours, together, group, marker).update(zorder=1))
    return traces


def _found(scene: Scene, together: CLUSTER) -> list[go.Scatter]:
    """What was sought; faint where something else is better."""
    traces = []
    for family in SEARCHED:
        ours = scene.sought(family)
        if ours:
            marker = {
                "symbol": f"{SYMBOLS[scene.group(ours[0])]}-open", "size": SMALL, "line": {"width": 2},
                "color": tokens(scene.look.theme)["accent"],
                "opacity": [1.0 if scene.better[at] is None else FAINT for at in ours],
            }  # fmt: skip
            traces.append(_dots(scene, ours, together, FOUND[family], marker))
    return traces


def _dots(scene: Scene, ours: list[int], together: CLUSTER, name: str, marker: dict[str, Any]) -> go.Scatter:
    x, y = zip(*(scene.xy(at) for at in ours), strict=True)
    here = {at: cluster for cluster in together.values() for at in cluster}
    fronts = [front(scene, at) for at in ours]
    said = ["<br>".join(told(scene, at, [other for other in here[at] if other != at])) for at in fronts]
    return go.Scatter(
        x=x, y=y, mode="markers", name=name, marker=marker, customdata=ours, text=said,
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def _ring(scene: Scene) -> list[go.Scatter]:
    """A ring around the schedule on the screen."""
    if scene.now is None:
        return []
    x, y = scene.xy(scene.now)
    ring = {"symbol": "circle-open", "size": 2 * BIG, "color": tokens(scene.look.theme)["ink"], "line": {"width": 2}}
    return [
        go.Scatter(x=[x], y=[y], mode="markers", name="A", marker=ring, hoverinfo="skip", showlegend=False, zorder=2)
    ]


def _names(scene: Scene, together: CLUSTER) -> list[dict[str, Any]]:
    """A name for every place where a family stands, where there is room; hovering names them all."""
    own = {head: [at for at in cluster if scene.points[at].limit is None] for head, cluster in together.items()}
    heads = [head for head, families in own.items() if families]
    tags = [Tag(*scene.pixel(head), joined(scene, own[head]), _rim(scene, own[head])) for head in heads]
    marks = [scene.pixel(at) for at in range(len(scene.points)) if scene.shown(at)]
    token = tokens(scene.look.theme)
    notes = []
    for head, tag, spot in zip(heads, tags, place(tags, marks, _obstacles(scene), *scene.frame.inner), strict=True):
        if spot is None:
            continue
        x, y = scene.xy(head)
        notes.append(
            {
                "x": math.log10(x), "y": y, "ax": spot[0], "ay": spot[1], "xanchor": "center", "yanchor": "middle",
                "text": tag.text, "borderpad": 0, "font": _written(scene, head, scene.now in own[head]),
                "showarrow": True, "arrowhead": 0, "arrowwidth": 1, "arrowcolor": token["ink-3"], "standoff": 7,
            }
        )  # fmt: skip
    return notes


def _rim(scene: Scene, families: list[int]) -> float:
    return RIM + BIG / 2 if scene.now in families else RIM


def _written(scene: Scene, head: int, strong: bool) -> dict[str, Any]:
    """How a name is written; the one on the screen is bold (as a weight: markup in a text would need inline styles)."""
    if strong:
        return {"color": tokens(scene.look.theme)["ink"], "size": TEXT, "weight": 700}
    return {"color": _colour(scene, scene.group(head)), "size": TEXT}


def _obstacles(scene: Scene) -> list[Box]:
    """What names had better keep off: the line in pieces, the memory limit and its words."""
    line = sorted(scene.pixel(at) for at in scene.frontier)
    boxes = []
    for (x0, y0), (x1, y1) in pairwise(line):
        boxes += [Box((x0 + x1) / 2, y0, x1 - x0, 2.0), Box(x1, (y0 + y1) / 2, 2.0, abs(y1 - y0))]
    if scene.asked.memory is not None:
        x, high = _limit_at(scene), scene.frame.inner[1]
        boxes += [Box(x, high / 2, 2.0, high), Box(x, high - 8.0, 2 * width_of("limit 99"), 16.0)]
    return boxes


def _limit(scene: Scene) -> list[dict[str, Any]]:
    """The memory limit that is set, named at its line's foot."""
    if scene.asked.memory is None:
        return []
    token = tokens(scene.look.theme)
    x = math.log10(scene.asked.memory / scene.asked.p)
    side = "right" if _limit_at(scene) > scene.frame.inner[0] * 0.8 else "left"
    low, high = scene.frame.y
    return [
        {
            "x": x, "y": low, "ax": x, "ay": high, "axref": "x", "ayref": "y", "showarrow": True, "arrowhead": 0,
            "arrowwidth": 1.5, "arrowcolor": token["plot-cap"], "text": "",
        },
        {
            "x": x, "y": 0, "yref": "paper", "xanchor": side, "yanchor": "bottom", "showarrow": False, "borderpad": 3,
            "text": f"limit {scene.asked.memory:g}", "font": {"color": token["bad"], "size": TEXT},
        },
    ]  # fmt: skip


def _limit_at(scene: Scene) -> float:
    assert scene.asked.memory is not None
    return scene.frame.at(scene.asked.memory / scene.asked.p, 0.0)[0]


def _colour(scene: Scene, group: str) -> str:
    return tokens(scene.look.theme)[f"g-{group.replace(' ', '-').lower()}"]
