"""How large the output layer of known models is beside one of their transformer layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from backend.charts.appearance import Look
from backend.charts.chart import TOLD, Chart, Plan, Row, axis, layout, percent
from backend.charts.theme import TEXT
from backend.schedule.hardware.models import Model
from backend.schedule.hardware.ratios import OutputLayer, output_layers
from backend.schedule.spec import Spec
from backend.theme_tokens import tokens

NAMES = ("compute (FLOP)", "parameters")


def vocabulary(plan: Plan, look: Look, model: Model | None) -> Chart:
    """The figure; ``model`` is the one that the page's costs come from, drawn in bold. A click puts a model's output
    layer on the timeline."""
    layers = output_layers(model)
    rows = [_row(each, plan.spec, model) for each in layers]
    titles = [each.model.title for each in layers]
    figure = go.Figure(layout=_layout(look, layers))
    for name, values, colour, pattern in (
        (NAMES[0], [each.compute for each in layers], "k-f", ""),
        (NAMES[1], [each.parameters for each in layers], "k-t", "/"),
    ):
        ink = tokens(look.theme)[colour]
        figure.add_trace(
            go.Bar(
                x=values,
                y=titles,
                orientation="h",
                name=name,
                customdata=list(range(len(rows))),
                hovertemplate=TOLD,
                hovertext=[row.hover for row in rows],
                text=[f"{each:.2f}" for each in values],
                textposition="outside",
                textfont={"size": TEXT - 2},
                cliponaxis=False,
                textangle=0,
                marker={
                    "color": ink if not pattern else tokens(look.theme)["surface"],
                    "line": {"width": 1, "color": ink},
                    "pattern": {"shape": pattern, "fgcolor": ink, "size": 5, "solidity": 0.35},
                },
            )
        )
    columns = (
        ("model", ""), ("compute", "output layer over a transformer layer, FLOP"),
        ("parameters", "output layer over a transformer layer"), ("of the model", "% of its FLOP"),
        ("layers", ""), ("vocabulary", "tokens"), ("hidden", ""),
    )  # fmt: skip
    return Chart(figure, _reads(layers), columns, list(rows))


def _row(each: OutputLayer, spec: Spec, model: Model | None) -> Row:
    here = model is not None and each.model.name == model.name
    told = (
        each.model.title,
        f"compute {each.compute:.2f} of a layer's, parameters {each.parameters:.2f}",
        f"{percent(each.share)} of the model's FLOP",
        f"vocabulary {each.model.vocabulary:,}, hidden {each.model.hidden:,}, {each.model.layers} layers",
    )
    cells = (
        each.model.title, round(each.compute, 3), round(each.parameters, 3), round(100 * each.share, 2),
        each.model.layers, each.model.vocabulary, each.model.hidden,
    )  # fmt: skip
    return Row(cells, told, _put(each, spec), "m" if here else "")


def _put(each: OutputLayer, spec: Spec) -> dict[str, Any] | None:
    """S and T of a device's shard that are to the page's F as the model's are: one product with S, two with T."""
    if isinstance(spec.costs.F, tuple):
        return None
    return {"costs": {"S": round(each.forward * spec.costs.F, 6), "T": round(2 * each.forward * spec.costs.F, 6)}}


def _layout(look: Look, layers: Sequence[OutputLayer]) -> dict[str, Any]:
    most = max(max(each.compute, each.parameters) for each in layers)
    x = axis("output layer, in transformer layers", range=[0, most * 1.1], nticks=max(4, look.width // 110))
    y: dict[str, Any] = {
        "showgrid": False,
        "tickfont": {"size": TEXT - 1},
        "automargin": False,
        "autorange": "reversed",
    }
    laid = layout(look, x, y, NAMES, left=132, barmode="group", bargap=0.25, bargroupgap=0.06)
    line = {"color": tokens(look.theme)["ink-3"], "width": 1, "dash": "dot"}
    laid["shapes"] = [
        {"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "line": line, "layer": "below"}
    ]
    return laid


def _reads(layers: Sequence[OutputLayer]) -> tuple[str, ...]:
    top = layers[0]
    return (
        "At 1, the dotted line, the output layer is as heavy as one transformer layer.",
        f"In {top.model.title} it computes as much as {top.compute:.1f} layers, {percent(top.share)} of the model.",
        "A click gives S and T of that model's size, so that the timeline shows the last stage's load.",
    )
