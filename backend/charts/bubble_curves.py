"""The bubble of every family against the number of micro-batches, on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from backend.charts.bubble_map import DEFINITIONS, value_of
from backend.charts.chart import (
    BUBBLE,
    FOOT,
    LETTER,
    M_AXIS,
    MICRO_BATCHES,
    SCHEDULE,
    Chart,
    ChartSeries,
    Row,
    axis,
    dotted_line,
    joined_names,
    layout,
    percent,
    points,
    ring,
    spread_apart,
)
from backend.charts.pareto.pareto import SYMBOLS
from backend.charts.theme import TEXT, Appearance
from backend.charts.theme_tokens import mixed, rgb, tokens
from backend.compute.parallel_map import in_processes
from backend.errors import message
from backend.schedule import jit
from backend.schedule.analysis.nearest_spec import fit
from backend.schedule.analysis.pareto import SEARCHED
from backend.schedule.analysis.sweep import M_STOPS, Cell, over_m, stops
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.spec import Spec

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
VARIANTS = ("", "-open", "-dot", "-open-dot")  # of a group's marker
SHADE, MOST_SHADE = 0.3, 0.75  # of the ink in the colour, for each member of a group
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
    member: int
    """Its place among the curves of its group, which have one hue: each has a shade, a dash and a marker of its own."""


def bubble_m(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None = None) -> Chart:
    """Draw the figure; schedules on the screen are ringed, the first one's m is a line."""
    asked = plans[0].spec
    curves = _curves(plans, appearance.only)
    rows, place, here = _rows(curves, plans, appearance.y)
    names, width = _names(curves, appearance)
    figure = go.Figure(layout=_layout(curves, appearance, asked.m, width))
    for curve in curves:
        figure.add_trace(_line(curve, plans, appearance, points(rows, place[curve.family])))
    if not appearance.only:  # then every line is on the screen
        figure.add_traces([ring(appearance, each.spec.m, 100 * share, each.id.upper(), 16) for each, _, share in here])
    for note in names:
        figure.add_annotation(note)
    columns = ((SCHEDULE, ""), ("m", MICRO_BATCHES), (BUBBLE, "%"))
    notes = (
        message("charts.curves", "Further right are more micro-batches, further down is less idle."),
        DEFINITIONS[appearance.y],
        *(
            message(
                "charts.bubble_at_m",
                "{plan}: bubble {share} at m {m}.",
                plan=each.name, share=percent(value), m=each.spec.m,
            )
            for each, _, value in here
        ),
        message("charts.named_together", "Lines that end alike are named together."),
    )  # fmt: skip
    return Chart(figure, notes, columns, rows)


def _curves(plans: Sequence[ChartSeries], only: int) -> list[Curve]:
    """Return a curve for each family with one order, and for those on the screen as they are."""
    asked = plans[0].spec
    ms = stops(M_STOPS, asked.m)
    jit.compile_for(len(FAMILIES) * 3 * asked.p * asked.m)
    on_screen = {plan.spec.family: plan for plan in reversed(plans) if plan.spec.p == asked.p}
    specs: list[Spec] = []
    presets: list[Preset | None] = []
    for name, family in FAMILIES.items():
        if (only or name in SEARCHED) and name not in on_screen:
            continue
        free = asked if "memory" in family.fields else asked.with_(memory=None)
        plan = on_screen.get(name)
        preset = plans[0].preset if plan is None else plan.preset
        try:
            spec = fit(free.with_(m=max(64, asked.m)), name)[0].with_(group=None) if plan is None else plan.spec
            if plan is None and preset is not None:
                spec = preset.priced(spec)
        except SpecError:
            continue
        if spec.p != asked.p:
            continue
        specs.append(spec)
        presets.append(preset)
    sizes = [sorted({*ms, spec.m} if spec.family in on_screen else ms) for spec in specs]
    curves: list[Curve] = []
    for spec, cells in zip(specs, over_m(specs, sizes, in_processes, presets), strict=True):
        family = FAMILIES[spec.family]
        if cells:
            member = sum(each.group == family.group for each in curves)
            curves.append(Curve(spec.family, family.title, family.group, cells, member))
    return curves


def _rows(
    curves: Sequence[Curve], plans: Sequence[ChartSeries], y: str
) -> tuple[list[Row], dict[str, list[int]], list[tuple[ChartSeries, int, float]]]:
    """Return the rows, the indices of each family's, and (plan, row, bubble) of the schedules on the screen."""
    rows: list[Row] = []
    place: dict[str, list[int]] = {}
    here: list[tuple[ChartSeries, int, float]] = []
    for curve in curves:
        place[curve.family] = []
        for cell in curve.cells:
            assert cell.figures is not None
            assert cell.spec is not None
            share = value_of(cell.figures, y)
            marks = [plan for plan in plans if plan.spec == cell.spec]
            here += [(plan, len(rows), share) for plan in marks]
            place[curve.family].append(len(rows))
            point = message("charts.m_and_bubble", "m {m}, bubble {share}", m=cell.m, share=percent(share))
            mark = "".join(plan.id.upper() for plan in marks)
            rows.append(
                Row((curve.title, cell.m, round(100 * share, 4)), (curve.title, point), cell.spec.to_json(), mark)
            )
    return rows, place, sorted(here, key=lambda each: each[0].id)


def _colour(appearance: Appearance, curve: Curve) -> str:
    """Return the group's colour, nearer to the ink for each further member, so that names stay readable."""
    token = tokens(appearance.theme)
    group = token[f"g-{curve.group.replace(' ', '-').lower()}"]
    parts = mixed(rgb(group), rgb(token["ink"]), min(SHADE * curve.member, MOST_SHADE))
    return "#" + "".join(f"{round(part):02x}" for part in parts)


def _line(curve: Curve, plans: Sequence[ChartSeries], appearance: Appearance, rows: dict[str, Any]) -> go.Scatter:
    shown = any(plan.spec.family == curve.family for plan in plans)
    colour = _colour(appearance, curve)
    return go.Scatter(
        x=[cell.m for cell in curve.cells], y=_shares(curve, appearance), **rows,
        mode="lines+markers", name=curve.title,
        line={"color": colour, "width": 3 if shown else 1.5, "dash": DASHES[curve.member % len(DASHES)]},
        marker={"symbol": SYMBOLS[curve.group] + VARIANTS[curve.member % len(VARIANTS)],
                "size": 9 if shown else 7, "color": colour},
    )  # fmt: skip


def _shares(curve: Curve, appearance: Appearance) -> list[float]:
    return [100 * value_of(cell.figures, appearance.y) for cell in curve.cells if cell.figures is not None]


def _layout(curves: Sequence[Curve], appearance: Appearance, m: int, width: int) -> dict[str, Any]:
    ms = sorted({cell.m for curve in curves for cell in curve.cells})
    low, high = math.log10(ms[0]), math.log10(ms[-1])
    wide = appearance.width - 72 - width
    ticks = [each for each in ms if each & (each - 1) == 0 or each == m]
    room = max(1, int(len(ticks) * 30 / max(1, wide) + 0.999))
    x = axis(
        M_AXIS, type="log", range=[low - 0.05, high + 0.03], tickvals=ticks[::room],
        ticktext=[str(each) for each in ticks[::room]],
    )  # fmt: skip
    y = axis(
        _title(appearance), ticksuffix=" %", range=_heights(curves, appearance), nticks=max(3, appearance.height // 60)
    )
    return layout(appearance, x, y, right=width, shapes=[dotted_line(appearance, m)])


def _title(appearance: Appearance) -> str:
    if appearance.y.endswith("ideal"):
        return message("charts.bubble_of_work", "bubble, of work")
    return message("charts.bubble_of_time", "bubble, of time")


def _heights(curves: Sequence[Curve], appearance: Appearance) -> list[float]:
    """Return the range of the bubble; idle over work grows without bound at small m and is cut at twice the work."""
    most = max((each for curve in curves for each in _shares(curve, appearance)), default=1.0)
    return [-2.0, min(most, 200.0) * 1.06 + 1.0]


def _names(curves: Sequence[Curve], appearance: Appearance) -> tuple[list[dict[str, Any]], int]:
    """Return the lines' names at their right ends, and the px that they need."""
    ends: list[tuple[float, int, list[Curve]]] = []
    for curve in sorted(curves, key=lambda each: -_shares(each, appearance)[-1]):
        share, m = _shares(curve, appearance)[-1], curve.cells[-1].m
        if ends and abs(ends[-1][0] - share) < 100 * NEAR and ends[-1][1] == m:
            ends[-1][2].append(curve)
        else:
            ends.append((share, m, [curve]))
    texts = [_joined(each, FEW if appearance.width < NARROW else MOST_NAME) for _, _, each in ends]
    low, high = _heights(curves, appearance)
    tall = appearance.height - 12 - FOOT
    spots = spread_apart([(high - min(share, high)) / (high - low) * tall for share, _, _ in ends], LINE, 6, tall - 6)
    notes = []
    for text, spot, (_, _, members) in zip(texts, spots, ends, strict=True):
        notes.append(
            {
                "text": text, "x": 1, "xref": "paper", "xanchor": "left", "xshift": 6, "showarrow": False,
                "y": 1 - spot / tall, "yref": "paper", "yanchor": "middle",
                "font": {"color": _colour(appearance, members[0]), "size": TEXT - 1},
            }
        )  # fmt: skip
    return notes, int(max(map(len, texts), default=0) * LETTER * 0.95) + 12


def _joined(members: Sequence[Curve], most: int) -> str:
    titles = [each.title for each in members]
    if most == FEW and len(titles[0]) > FEW:
        titles[0] = titles[0][:FEW] + "…"
    return joined_names(titles, most)
