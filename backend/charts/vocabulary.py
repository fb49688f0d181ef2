"""The output layer of known models, measured in their transformer layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from backend.charts.chart import Chart, ChartSeries, Row, axis, dotted_line, layout, percent, points
from backend.charts.theme import TEXT, Appearance
from backend.charts.theme_tokens import tokens
from backend.errors import message
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.models import Model
from backend.schedule.hardware.ratios import OutputLayer, output_layers
from backend.schedule.spec import Spec

COMPUTE, PARAMETERS = message("charts.compute_flop", "compute (FLOP)"), message("charts.parameters", "parameters")


def vocabulary(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None = None) -> Chart:
    """Draw the figure; the model that is the source of the page's costs is in bold. A click sets S and T to a model's
    output layer."""
    model = None if setting is None else setting.model
    layers = output_layers(model)
    rows = [_row(each, plans[0].spec, model) for each in layers]
    titles = [str(each.model.title) for each in layers]
    figure = go.Figure(layout=_layout(appearance, layers))
    token = tokens(appearance.theme)
    for name, values, ink, inside, pattern in (
        (COMPUTE, [each.compute for each in layers], token["k-f"], token["k-f"], ""),
        (PARAMETERS, [each.parameters for each in layers], token["k-t"], token["surface"], "/"),
    ):
        hatch = {"shape": pattern, "fgcolor": ink, "size": 5, "solidity": 0.35}
        bars = go.Bar(
            x=values, y=titles, orientation="h", name=name, **points(rows, range(len(rows))),
            text=[f"{each:.2f}" for each in values], textposition="outside", textfont={"size": TEXT - 2},
            cliponaxis=False, textangle=0,
            marker={"color": inside, "line": {"width": 1, "color": ink}, "pattern": hatch},
        )  # fmt: skip
        figure.add_trace(bars)
    columns = (
        (message("charts.model", "model"), ""),
        (
            message("charts.compute", "compute"),
            message("charts.flop_over_layer", "output layer over a transformer layer, FLOP"),
        ),
        (PARAMETERS, message("charts.over_layer", "output layer over a transformer layer")),
        (
            message("charts.printed", "printed"),
            message("charts.printed_in_table", "parameters, in the vocabulary-parallelism authors' table"),
        ),
        (message("charts.of_the_model", "of the model"), message("charts.percent_of_flop", "% of its FLOP")),
        (message("charts.layers", "layers"), ""),
        (message("charts.vocabulary", "vocabulary"), message("charts.tokens", "tokens")),
        (message("charts.hidden", "hidden"), ""),
    )
    return Chart(figure, _notes(layers), columns, list(rows))


def _row(each: OutputLayer, spec: Spec, model: Model | None) -> Row:
    here = model is not None and each.model.name == model.name
    lines = (
        each.model.title,
        message(
            "charts.compute_and_parameters",
            "compute {compute} of a layer's, parameters {parameters}",
            compute=f"{each.compute:.2f}", parameters=f"{each.parameters:.2f}",
        ),
        message("charts.share_of_flop", "{share} of the model's FLOP", share=percent(each.share)),
        message(
            "charts.model_sizes",
            "vocabulary {vocabulary}, hidden {hidden}, {layers} layers",
            vocabulary=f"{each.model.vocabulary:,}", hidden=f"{each.model.hidden:,}", layers=each.model.layers,
        ),
    )  # fmt: skip
    cells = (
        each.model.title, round(each.compute, 3), round(each.parameters, 3),
        each.printed.ratio if each.printed else "–", round(100 * each.share, 2),
        each.model.layers, each.model.vocabulary, each.model.hidden,
    )  # fmt: skip
    return Row(cells, lines, _change(each, spec), "m" if here else "")


def _change(each: OutputLayer, spec: Spec) -> dict[str, Any] | None:
    """Return S and T of a device's shard in the model's ratio to the page's F: one product with S, two with T."""
    if isinstance(spec.costs.F, tuple):
        return None
    return {"costs": {"S": round(each.forward * spec.costs.F, 6), "T": round(2 * each.forward * spec.costs.F, 6)}}


def _layout(appearance: Appearance, layers: Sequence[OutputLayer]) -> dict[str, Any]:
    most = max(max(each.compute, each.parameters) for each in layers)
    x = axis(
        message("charts.output_layer_axis", "output layer, in transformer layers"),
        range=[0, most * 1.1],
        nticks=max(4, appearance.width // 110),
    )
    y = {"showgrid": False, "tickfont": {"size": TEXT - 1}, "automargin": False, "autorange": "reversed"}
    return layout(
        appearance, x, y, (COMPUTE, PARAMETERS), left=132, barmode="group", bargap=0.25, bargroupgap=0.06,
        shapes=[dotted_line(appearance, 1)],
    )  # fmt: skip


def _notes(layers: Sequence[OutputLayer]) -> tuple[str, ...]:
    top = layers[0]
    return (
        message(
            "charts.at_one", "At 1, the dotted line, the output layer is as heavy as one transformer layer."
        ),
        message(
            "charts.heaviest_output",
            "In {model} it computes as much as {layers} layers, {share} of the model.",
            model=top.model.title, layers=f"{top.compute:.1f}", share=percent(top.share),
        ),
        message(
            "charts.click_gives_s_and_t",
            "A click gives S and T of that model's size, so that the timeline shows the last stage's load.",
        ),
    )  # fmt: skip
