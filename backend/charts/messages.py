"""Messages and bytes against the chunks per device: what the smaller bubble of more chunks costs in communication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from backend.charts.appearance import Look
from backend.charts.chart import TOLD, Chart, Plan, Row, axis, layout, percent
from backend.charts.theme import TEXT
from backend.schedule.analysis.pareto import SEARCHED
from backend.schedule.analysis.sweep import Load, over_v
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.models import Model
from backend.theme_tokens import tokens

PLACEMENTS = {  # how stages lie on the devices: the name, its symbol, dash and colour
    "looped": ("chunks in loops", "circle", "solid", "g-interleaved"),
    "v": ("chunks in a V", "triangle-down", "dash", "g-v"),
    "bidirectional": ("two directions", "bowtie", "dot", "g-bidirectional"),
}
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
BESIDE = 66  # px for the second scale
NARROW = 480  # px of a figure without room for words beside its points


@dataclass(frozen=True)
class Found:
    """A family with so many chunks, and what it sends."""

    family: str
    title: str
    load: Load


def messages(plans: Sequence[Plan], look: Look, model: Model) -> Chart:
    """The figure; bytes are those of ``model``: 2 b s h of a message, in bfloat16."""
    each = 2.0 * model.micro_batch * model.sequence * model.hidden
    found = _found(plans[0])
    rows = [_row(one, each, plans) for one in found]
    most = max(one.load.messages for one in found)
    scale, unit = _unit(most * 1.1 * each)
    figure = go.Figure(layout=_layout(look, most * 1.1, each / scale, unit, [one.load.spec.v for one in found]))
    for kind, style in PLACEMENTS.items():
        ours = [at for at, one in enumerate(found) if FAMILIES[one.family].placement == kind]
        if ours:
            figure.add_traces(_line(look, style, ours, found, rows))
    named = _named(plans[0], found)
    figure.add_traces([_right(), *_rings(plans, found, look)])
    for note in _bubbles(look, named, found) if look.width > NARROW else ():
        figure.add_annotation(note)
    columns = (
        ("schedule", ""),
        ("v", "chunks per device"),
        ("messages", "in a step"),
        (unit, "sent in a step"),
        ("bubble", "% (span, of total)"),
    )
    told = [
        Row((*row.cells[:3], round(row.cells[3] / scale, 6), row.cells[4]), row.told, row.put, row.mark) for row in rows
    ]
    return Chart(figure, _reads(model, each, FAMILIES[named].title if look.width > NARROW else None), columns, told)


def _found(plan: Plan) -> list[Found]:
    """Every family with every v that it takes; of families that are sought only the one on the screen."""
    found = []
    for name, family in FAMILIES.items():
        if name in SEARCHED and name != plan.spec.family:
            continue
        found += [Found(name, family.title, load) for load in over_v(plan.spec, name)]
    if not found:
        raise SpecError("m", plan.spec.m, "no family of this size is small enough to be counted here", nearest=64)
    return found


def _named(plan: Plan, found: Sequence[Found]) -> str:
    """The family whose bubbles are written out: the one on the screen where it has a choice of v."""
    counts = {one.family: sum(other.family == one.family for other in found) for one in found}
    own = plan.spec.family
    return own if counts.get(own, 0) > 1 else max(counts, key=lambda name: counts[name])


def _row(one: Found, each: float, plans: Sequence[Plan]) -> Row:
    load = one.load
    share = load.figures.span_bubble.of_total
    scale, unit = _unit(load.messages * each)
    told = (
        one.title,
        f"v {load.spec.v}",
        f"{load.messages:,} messages, {load.messages * each / scale:.4g} {unit}",
        f"bubble {percent(share)}",
    )
    mark = "".join(plan.id.upper() for plan in plans if _same(plan, one))
    cells = (one.title, load.spec.v, load.messages, load.messages * each, round(100 * share, 4))
    return Row(cells, told, load.spec.to_json(), mark)


def _same(plan: Plan, one: Found) -> bool:
    spec = one.load.spec
    return (plan.spec.family, plan.spec.p, plan.spec.m, plan.spec.v) == (one.family, spec.p, spec.m, spec.v)


def _line(
    look: Look, style: tuple[str, ...], ours: list[int], found: Sequence[Found], rows: list[Row]
) -> list[go.Scatter]:
    """A line through the counts of a placement and, on it, a point for every family that has this many chunks."""
    name, symbol, dash, token = style
    colour = tokens(look.theme)[token]
    counts = sorted({(found[at].load.spec.v, found[at].load.messages) for at in ours})
    here = {key: [at for at in ours if (found[at].load.spec.v, found[at].load.messages) == key] for key in counts}
    told = {
        at: rows[at].hover + _also([found[o].title for o in same if o != at]) for same in here.values() for at in same
    }
    line = go.Scatter(
        x=[v for v, _ in counts], y=[count for _, count in counts], mode="lines", hoverinfo="skip", showlegend=False,
        line={"color": colour, "width": 2, "dash": dash},
    )  # fmt: skip
    dots = go.Scatter(
        x=[found[at].load.spec.v for at in ours], y=[found[at].load.messages for at in ours], mode="markers", name=name,
        customdata=ours, hovertext=[told[at] for at in ours], hovertemplate=TOLD,
        marker={"symbol": symbol, "size": 9, "color": colour},
    )  # fmt: skip
    return [line, dots]


def _also(titles: Sequence[str]) -> str:
    return f"<br>also here: {', '.join(titles[:4])}" if titles else ""


def _right() -> go.Scatter:
    """The second scale is drawn only if something is on it."""
    return go.Scatter(x=[None], y=[None], yaxis="y2", hoverinfo="skip", showlegend=False)


def _rings(plans: Sequence[Plan], found: Sequence[Found], look: Look) -> list[go.Scatter]:
    ink = tokens(look.theme)["ink"]
    ring = {"symbol": "circle-open", "size": 18, "color": ink, "line": {"width": 2}}
    spots: dict[tuple[int, int], str] = {}
    for plan in plans:
        for one in found:
            if _same(plan, one):
                key = one.load.spec.v, one.load.messages
                spots[key] = spots.get(key, "") + plan.id.upper()
    return [
        go.Scatter(
            x=[v], y=[count], mode="markers+text", marker=ring, hoverinfo="skip", text=[text], showlegend=False,
            textposition="top center", textfont={"color": ink, "size": TEXT}, cliponaxis=False,
        )
        for (v, count), text in spots.items()
    ]  # fmt: skip


def _layout(look: Look, most: float, each: float, unit: str, vs: Sequence[int]) -> dict[str, Any]:
    x = axis("v, chunks per device", dtick=1, range=[0.6, max(vs) + 0.8], showgrid=False)
    y = axis("messages in a step", range=[0, most], tickformat=",d", nticks=max(3, look.height // 60))
    beside = axis(
        f"{unit} sent in a step", range=[0, most * each], overlaying="y", side="right", tickmode="auto", showgrid=False
    )
    names = [style[0] for style in PLACEMENTS.values()]
    return layout(look, x, y, names, right=BESIDE, yaxis2=beside | {"nticks": max(3, look.height // 60)})


def _unit(size: float) -> tuple[float, str]:
    """The unit in which so many bytes are read: powers of 1000."""
    at = 0
    while size >= 1000.0 ** (at + 1) and at + 1 < len(UNITS):
        at += 1
    return 1000.0**at, UNITS[at]


def _reads(model: Model, each: float, title: str | None) -> tuple[str, ...]:
    scale, unit = _unit(each)
    more = "More chunks per device multiply the messages and shorten the bubble."
    if title is not None:
        more = f"More chunks per device multiply the messages and shorten the bubble, written beside {title}."
    return (
        more,
        "A message is one micro-batch's activation, or its gradient, between two ranks: 2 b s h bytes.",
        f"Bytes are those of {model.title}: {each / scale:.4g} {unit} a message "
        f"(b {model.micro_batch}, s {model.sequence}, h {model.hidden}).",
    )


def _bubbles(look: Look, family: str, found: Sequence[Found]) -> list[dict[str, Any]]:
    """The bubble beside each point of a family."""
    font = {"color": tokens(look.theme)["ink-3"], "size": TEXT - 1}
    return [
        {
            "text": percent(one.load.figures.span_bubble.of_total), "x": one.load.spec.v, "y": one.load.messages,
            "xanchor": "left", "xshift": 9, "yshift": -11, "showarrow": False, "font": font,
        }
        for one in found
        if one.family == family
    ]  # fmt: skip
