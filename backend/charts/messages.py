"""Messages and bytes against the chunks per device: the communication that a smaller bubble costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import plotly.graph_objects as go

from backend.charts.chart import (
    BUBBLE,
    HOVER,
    SCHEDULE,
    Chart,
    ChartSeries,
    Row,
    axis,
    joined_lines,
    layout,
    percent,
    ring,
)
from backend.charts.theme import TEXT, Appearance
from backend.charts.theme_tokens import tokens
from backend.compute.parallel_map import in_processes
from backend.errors import RequestError, message
from backend.schedule.analysis.pareto import SEARCHED
from backend.schedule.analysis.sweep import Load, over_v
from backend.schedule.families.registry import FAMILIES
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.models import Model

PLACEMENTS = {  # of stages on devices: name, symbol, dash, colour
    "looped": (message("charts.loops", "chunks in loops"), "circle", "solid", "g-interleaved"),
    "v": (message("charts.v_shape", "chunks in a V"), "triangle-down", "dash", "g-v"),
    "bidirectional": (message("charts.two_directions", "two directions"), "bowtie", "dot", "g-bidirectional"),
}
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
BESIDE = 66  # px for the second scale
NARROW = 480  # px of a figure without room for words beside its points


@dataclass(frozen=True)
class FamilyLoad:
    """A family at one number of chunks, with its messages."""

    family: str
    title: str
    load: Load


def messages(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None = None) -> Chart:
    """Draw the figure; bytes are those of the model: 2 b s h of a message, in bfloat16."""
    model = (setting or Setting.read({"p": 1})).model
    each = 2.0 * model.micro_batch * model.sequence * model.hidden
    loads = _loads(plans, appearance.only)
    rows = [_row(one, each, plans) for one in loads]
    most = max(one.load.messages for one in loads)
    scale, unit = _unit(most * 1.1 * each)
    figure = go.Figure(layout=_layout(appearance, most * 1.1, each / scale, unit, [one.load.spec.v for one in loads]))
    for kind, style in PLACEMENTS.items():
        ours = [at for at, one in enumerate(loads) if FAMILIES[one.family].placement == kind]
        if ours:
            figure.add_traces(_line(appearance, style, ours, loads, rows))
    named = _named(plans[0], loads)
    figure.add_traces([_right(), *_rings(plans, loads, appearance)])
    for note in _bubbles(appearance, named, loads) if appearance.width > NARROW else ():
        figure.add_annotation(note)
    columns = (
        (SCHEDULE, ""),
        ("v", message("charts.chunks_per_device", "chunks per device")),
        (message("charts.messages", "messages"), message("charts.in_a_step", "in a step")),
        (unit, message("charts.sent_in_a_step", "sent in a step")),
        (BUBBLE, message("charts.share_of_step", "% of the step")),
    )
    scaled = [replace(row, cells=(*row.cells[:3], round(row.cells[3] / scale, 6), row.cells[4])) for row in rows]
    title = FAMILIES[named].title if appearance.width > NARROW else None
    return Chart(figure, _notes(model, each, title), columns, scaled)


def _loads(plans: Sequence[ChartSeries], only: int) -> list[FamilyLoad]:
    """Return every family with every v that it takes; of searched families only the one on the screen."""
    plan, shown = plans[0], [each.spec for each in plans]
    families = {spec.family for spec in shown}
    loads = []
    for name, family in FAMILIES.items():
        if (name in SEARCHED and name != plan.spec.family) or (only and name not in families):
            continue
        found = over_v(plan.spec, name, in_processes, plan.preset, shown)
        loads += [FamilyLoad(name, family.title, load) for load in found]
    if not loads:
        why = message("charts.none_small_enough", "no family of this size is small enough to be counted here")
        raise RequestError("m", plan.spec.m, why, nearest=64)
    return loads


def _named(plan: ChartSeries, loads: Sequence[FamilyLoad]) -> str:
    """Return the family whose bubbles are written out: the one on the screen where it has a choice of v."""
    counts = {one.family: sum(other.family == one.family for other in loads) for one in loads}
    name = plan.spec.family
    return name if counts.get(name, 0) > 1 else max(counts, key=lambda name: counts[name])


def _row(one: FamilyLoad, each: float, plans: Sequence[ChartSeries]) -> Row:
    load = one.load
    share = load.figures.global_bubble.of_total
    scale, unit = _unit(load.messages * each)
    lines = (
        one.title,
        f"v {load.spec.v}",
        message(
            "charts.messages_and_bytes",
            "{messages} messages, {size} {unit}",
            messages=f"{load.messages:,}", size=f"{load.messages * each / scale:.4g}", unit=unit,
        ),
        message("charts.bubble_is", "bubble {share}", share=percent(share)),
    )  # fmt: skip
    mark = "".join(plan.id.upper() for plan in plans if _same(plan, one))
    cells = (one.title, load.spec.v, load.messages, load.messages * each, round(100 * share, 4))
    return Row(cells, lines, load.spec.to_json(), mark)


def _same(plan: ChartSeries, one: FamilyLoad) -> bool:
    return plan.spec == one.load.spec


def _line(
    appearance: Appearance, style: tuple[str, ...], ours: list[int], loads: Sequence[FamilyLoad], rows: list[Row]
) -> list[go.Scatter]:
    """Draw a line through the counts of a placement and, on it, a point for every family at this number of chunks."""
    name, symbol, dash, token = style
    colour = tokens(appearance.theme)[token]
    counts = sorted({(loads[at].load.spec.v, loads[at].load.messages) for at in ours})
    here = {key: [at for at in ours if (loads[at].load.spec.v, loads[at].load.messages) == key] for key in counts}
    hovers = {
        at: joined_lines((*rows[at].lines, *_also([loads[o].title for o in same if o != at])))
        for same in here.values()
        for at in same
    }
    line = go.Scatter(
        x=[v for v, _ in counts], y=[count for _, count in counts], mode="lines", hoverinfo="skip", showlegend=False,
        line={"color": colour, "width": 2, "dash": dash},
    )  # fmt: skip
    dots = go.Scatter(
        x=[loads[at].load.spec.v for at in ours], y=[loads[at].load.messages for at in ours], mode="markers", name=name,
        customdata=ours, hovertext=[hovers[at] for at in ours], hovertemplate=HOVER,
        marker={"symbol": symbol, "size": 9, "color": colour},
    )  # fmt: skip
    return [line, dots]


def _also(titles: Sequence[str]) -> tuple[str, ...]:
    return (message("charts.also_here", "also here: {names}", names=list(titles[:4])),) if titles else ()


def _right() -> go.Scatter:
    """Return an empty trace: the second scale is drawn only if a trace is on it."""
    return go.Scatter(x=[None], y=[None], yaxis="y2", hoverinfo="skip", showlegend=False)


def _rings(plans: Sequence[ChartSeries], loads: Sequence[FamilyLoad], appearance: Appearance) -> list[go.Scatter]:
    spots: dict[tuple[int, int], str] = {}
    for plan in plans:
        for one in loads:
            if _same(plan, one):
                key = one.load.spec.v, one.load.messages
                spots[key] = spots.get(key, "") + plan.id.upper()
    return [ring(appearance, v, count, text, 18, showlegend=False) for (v, count), text in spots.items()]


def _layout(appearance: Appearance, most: float, each: float, unit: str, vs: Sequence[int]) -> dict[str, Any]:
    x = axis(message("charts.v_axis", "v, chunks per device"), dtick=1, range=[0.6, max(vs) + 0.8], showgrid=False)
    y = axis(
        message("charts.messages_axis", "messages in a step"),
        range=[0, most],
        tickformat=",d",
        nticks=max(3, appearance.height // 60),
    )
    beside = axis(
        message("charts.bytes_axis", "{unit} sent in a step", unit=unit),
        range=[0, most * each],
        overlaying="y",
        side="right",
        tickmode="auto",
        showgrid=False,
    )
    names = [style[0] for style in PLACEMENTS.values()]
    return layout(appearance, x, y, names, right=BESIDE, yaxis2=beside | {"nticks": max(3, appearance.height // 60)})


def _unit(size: float) -> tuple[float, str]:
    """Return (bytes per unit, unit) in which ``size`` bytes are readable: powers of 1000."""
    at = 0
    while size >= 1000.0 ** (at + 1) and at + 1 < len(UNITS):
        at += 1
    return 1000.0**at, UNITS[at]


def _notes(model: Model, each: float, title: str | None) -> tuple[str, ...]:
    scale, unit = _unit(each)
    if title is None:
        more = message("charts.more_chunks", "More chunks per device multiply the messages and shorten the bubble.")
    else:
        more = message(
            "charts.more_chunks_beside",
            "More chunks per device multiply the messages and shorten the bubble, written beside {family}.",
            family=title,
        )
    return (
        more,
        message(
            "charts.one_message",
            "A message is one micro-batch's activation, or its gradient, between two ranks: 2 b s h bytes.",
        ),
        message(
            "charts.bytes_of",
            "Bytes are those of {model}: {size} {unit} a message (b {b}, s {s}, h {h}).",
            model=model.title, size=f"{each / scale:.4g}", unit=unit,
            b=model.micro_batch, s=model.sequence, h=model.hidden,
        ),
    )  # fmt: skip


def _bubbles(appearance: Appearance, family: str, loads: Sequence[FamilyLoad]) -> list[dict[str, Any]]:
    """Write the bubble below each point of a family, at the first in words."""
    font = {"color": tokens(appearance.theme)["ink-3"], "size": TEXT - 1}
    ours = [one.load for one in loads if one.family == family]
    shares = [percent(load.figures.global_bubble.of_total) for load in ours]
    texts = [message("charts.bubble_is", "bubble {share}", share=shares[0]), *shares[1:]]
    return [
        {
            "text": text, "x": load.spec.v, "y": load.messages,
            "xanchor": "left" if at < len(ours) - 1 else "center", "xshift": 9 if at < len(ours) - 1 else 0,
            "yshift": -13, "showarrow": False, "font": font,
        }
        for at, (text, load) in enumerate(zip(texts, ours, strict=True))
    ]  # fmt: skip
