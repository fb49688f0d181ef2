"""The bubble of every family against the number of micro-batches, which is drawn by its logarithm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from backend.charts.appearance import Look
from backend.charts.bubble_map import KINDS, value_of
from backend.charts.chart import FOOT, LETTER, TOLD, Chart, Plan, Row, axis, layout, percent, spread_apart
from backend.charts.pareto import SYMBOLS
from backend.charts.theme import TEXT
from backend.schedule import jit
from backend.schedule.analysis.nearest_spec import fit
from backend.schedule.analysis.pareto import SEARCHED
from backend.schedule.analysis.sweep import M_STOPS, Cell, over_m, stops
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES
from backend.theme_tokens import tokens

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
LINE = 15  # px that a name needs
MOST_NAME = 22  # letters
NARROW, FEW = 520, 10  # px of a figure whose names are shorter, and their letters
NEAR = 5e-4  # of the whole: lines that end so near each other share a name


@dataclass(frozen=True)
class Curve:
    """A family's bubbles, by the m at which it can be built."""

    family: str
    title: str
    group: str
    cells: list[Cell]


def bubble_m(plans: Sequence[Plan], look: Look) -> Chart:
    """The figure; schedules on the screen are ringed, the first one's m is a line."""
    asked = plans[0].spec
    curves = _curves(plans)
    rows, place, here = _rows(curves, plans, look.y)
    names, width = _names(curves, look)
    figure = go.Figure(layout=_layout(curves, look, asked.m, width))
    members: dict[str, int] = {}
    for curve in curves:
        dash = DASHES[members.setdefault(curve.group, 0) % len(DASHES)]
        members[curve.group] += 1
        figure.add_trace(
            _line(curve, plans, look, dash, [rows[at].hover for at in place[curve.family]], place[curve.family])
        )
    figure.add_traces(_rings(here, look))
    for note in names:
        figure.add_annotation(note)
    columns = (("schedule", ""), ("m", "micro-batches"), ("bubble", "%"))
    reads = (
        "Further right are more micro-batches, further down is less idle.",
        f"The bubble is the {KINDS[look.y]}.",
        *(f"{each.name}: bubble {percent(value)} at m {each.spec.m}." for each, _, value in here),
        "Lines that end alike are named together.",
    )
    return Chart(figure, reads, columns, rows)


def _curves(plans: Sequence[Plan]) -> list[Curve]:
    """A curve for each family that is not sought, and for those on the screen as they are."""
    asked = plans[0].spec
    ms = stops(M_STOPS, asked.m)
    jit.compile_for(len(FAMILIES) * 3 * asked.p * asked.m)
    own = {plan.spec.family: plan.spec for plan in reversed(plans) if plan.spec.p == asked.p}
    curves = []
    for name, family in FAMILIES.items():
        if name in SEARCHED and name not in own:
            continue
        free = asked if "memory" in family.fields else asked.with_(memory=None)
        try:
            spec = own.get(name) or fit(free.with_(m=max(64, asked.m)), name)[0]
        except SpecError:
            continue
        if spec.p != asked.p:
            continue
        found = over_m(
            spec.with_(group=None) if name not in own else spec, sorted({*ms, spec.m} if name in own else ms)
        )
        if found:
            curves.append(Curve(name, family.title, family.group, found))
    return curves


def _rows(
    curves: Sequence[Curve], plans: Sequence[Plan], y: str
) -> tuple[list[Row], dict[str, list[int]], list[tuple[Plan, int, float]]]:
    """The rows, where those of each family are, and (plan, row, bubble) of the schedules on the screen."""
    rows: list[Row] = []
    place: dict[str, list[int]] = {}
    here: list[tuple[Plan, int, float]] = []
    for curve in curves:
        place[curve.family] = []
        for cell in curve.cells:
            assert cell.figures is not None
            assert cell.spec is not None
            share = value_of(cell.figures, y)
            marks = [plan for plan in plans if plan.spec == cell.spec]
            here += [(plan, len(rows), share) for plan in marks]
            place[curve.family].append(len(rows))
            told = (curve.title, f"m {cell.m}, bubble {percent(share)}")
            mark = "".join(plan.id.upper() for plan in marks)
            rows.append(Row((curve.title, cell.m, round(100 * share, 4)), told, cell.spec.to_json(), mark))
    return rows, place, sorted(here, key=lambda each: each[0].id)


def _colour(look: Look, group: str) -> str:
    return tokens(look.theme)[f"g-{group.replace(' ', '-').lower()}"]


def _line(curve: Curve, plans: Sequence[Plan], look: Look, dash: str, told: list[str], at: list[int]) -> go.Scatter:
    shown = any(plan.spec.family == curve.family for plan in plans)
    colour = _colour(look, curve.group)
    return go.Scatter(
        x=[cell.m for cell in curve.cells], y=_shares(curve, look), mode="lines+markers", name=curve.title,
        customdata=at, hovertext=told, hovertemplate=TOLD,
        line={"color": colour, "width": 3 if shown else 1.5, "dash": dash},
        marker={"symbol": SYMBOLS[curve.group], "size": 7 if shown else 5, "color": colour},
    )  # fmt: skip


def _shares(curve: Curve, look: Look) -> list[float]:
    return [100 * value_of(cell.figures, look.y) for cell in curve.cells if cell.figures is not None]


def _rings(here: Sequence[tuple[Plan, int, float]], look: Look) -> list[go.Scatter]:
    ring = {"symbol": "circle-open", "size": 16, "color": tokens(look.theme)["ink"], "line": {"width": 2}}
    return [
        go.Scatter(
            x=[plan.spec.m], y=[100 * share], mode="markers+text", marker=ring, hoverinfo="skip",
            text=[plan.id.upper()],
            textposition="top center", textfont={"color": tokens(look.theme)["ink"], "size": TEXT}, cliponaxis=False,
        )
        for plan, _, share in here
    ]  # fmt: skip


def _layout(curves: Sequence[Curve], look: Look, m: int, width: int) -> dict[str, Any]:
    ms = sorted({cell.m for curve in curves for cell in curve.cells})
    low, high = math.log10(ms[0]), math.log10(ms[-1])
    wide = look.width - 72 - width
    ticks = [each for each in ms if each & (each - 1) == 0 or each == m]
    room = max(1, int(len(ticks) * 30 / max(1, wide) + 0.999))
    x = axis(
        "m, micro-batches in a step", type="log", range=[low - 0.05, high + 0.03], tickvals=ticks[::room],
        ticktext=[str(each) for each in ticks[::room]],
    )  # fmt: skip
    y = axis(_title(look), ticksuffix=" %", range=_heights(curves, look), nticks=max(3, look.height // 60))
    line = {"color": tokens(look.theme)["ink-3"], "width": 1, "dash": "dot"}
    return layout(look, x, y, right=width) | {
        "shapes": [
            {"type": "line", "x0": m, "x1": m, "y0": 0, "y1": 1, "yref": "paper", "line": line, "layer": "below"}
        ]
    }


def _title(look: Look) -> str:
    return "bubble, of work" if look.y.endswith("ideal") else "bubble, of time"


def _heights(curves: Sequence[Curve], look: Look) -> list[float]:
    """From none to the worst; idle over work grows without bound at small m, so that goes up to twice the work."""
    most = max((each for curve in curves for each in _shares(curve, look)), default=1.0)
    return [-2.0, min(most, 200.0) * 1.06 + 1.0]


def _names(curves: Sequence[Curve], look: Look) -> tuple[list[dict[str, Any]], int]:
    """The lines' names at their right ends, and the px that they need."""
    ends: list[tuple[float, int, list[Curve]]] = []
    for curve in sorted(curves, key=lambda each: -_shares(each, look)[-1]):
        share, m = _shares(curve, look)[-1], curve.cells[-1].m
        if ends and abs(ends[-1][0] - share) < 100 * NEAR and ends[-1][1] == m:
            ends[-1][2].append(curve)
        else:
            ends.append((share, m, [curve]))
    texts = [_joined(each, FEW if look.width < NARROW else MOST_NAME) for _, _, each in ends]
    low, high = _heights(curves, look)
    tall = look.height - 12 - FOOT
    spots = spread_apart([(high - min(share, high)) / (high - low) * tall for share, _, _ in ends], LINE, 6, tall - 6)
    notes = []
    for text, spot, (_, _, members) in zip(texts, spots, ends, strict=True):
        notes.append(
            {
                "text": text, "x": 1, "xref": "paper", "xanchor": "left", "xshift": 6, "showarrow": False,
                "y": 1 - spot / tall, "yref": "paper", "yanchor": "middle",
                "font": {"color": _colour(look, members[0].group), "size": TEXT - 1},
            }
        )  # fmt: skip
    return notes, int(max(map(len, texts), default=0) * LETTER * 0.95) + 12


def _joined(members: Sequence[Curve], most: int) -> str:
    titles = [each.title for each in members]
    kept = titles[:1]
    while len(kept) < len(titles) and len(", ".join(titles[: len(kept) + 1])) <= most:
        kept = titles[: len(kept) + 1]
    more = len(titles) - len(kept)
    if most == FEW and len(kept[0]) > FEW:
        kept[0] = kept[0][:FEW] + "…"
    return ", ".join(kept) + (f" +{more}" if more else "")
