"""Offload: k, both copies of a layer's activations over its compute, against hidden size and sequence length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from backend.charts.axes import LEFT
from backend.charts.chart import HOVER, Chart, ChartSeries, Row, colour_bar, layout, points, size_axis
from backend.charts.theme import TEXT, Appearance
from backend.charts.theme_tokens import tokens
from backend.errors import message
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.models import MODELS
from backend.schedule.hardware.ratios import GUIDE_BYTES, GUIDE_FLOPS, offload_ratio
from backend.schedule.spec import Spec

HIDDEN = (1024, 2048, 3072, 4096, 5120, 6144, 8192, 12288, 16384, 20480)
SEQUENCE = (1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
BAR = 74
WIDE, TALL = 38, 18


def offload(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None = None) -> Chart:
    """Draw the figure at the guide's rates, or, if ``appearance.y`` is machine, at those of the setting's machine."""
    flops, host, where = _rates(appearance, setting)
    ratios = offload_ratio(np.array(HIDDEN)[None, :], np.array(SEQUENCE)[:, None], flops, host)
    rows = [
        _row(hidden, sequence, float(ratios[y, x]), plans[0].spec)
        for y, sequence in enumerate(SEQUENCE)
        for x, hidden in enumerate(HIDDEN)
    ]
    place = [[y * len(HIDDEN) + x for x in range(len(HIDDEN))] for y in range(len(SEQUENCE))]
    narrow = (appearance.width - LEFT - BAR) / len(HIDDEN) < WIDE or (appearance.height - 70) / len(SEQUENCE) < TALL
    figure = go.Figure(layout=_layout(appearance))
    figure.add_trace(_map(appearance, ratios, place, rows, narrow))
    figure.add_trace(_edge(appearance, flops, host))
    figure.add_trace(_models(appearance))
    columns = (
        (message("charts.hidden", "hidden"), "h"),
        (message("charts.sequence", "sequence"), message("charts.s_tokens", "s, tokens")),
        ("k", message("charts.copies_over_compute", "copies over compute")),
    )
    return Chart(figure, _notes(where, flops, host), columns, rows)


def _rates(appearance: Appearance, setting: Setting | None) -> tuple[float, float, str]:
    """Return (FLOP/s reached, bytes/s to host memory, source of both)."""
    if appearance.y == "guide":
        return GUIDE_FLOPS, GUIDE_BYTES, message("charts.guide", "PipeOffload's guide")
    setting = setting or Setting.read({"p": 1})
    share = setting.machine.product_share if setting.efficiency is None else setting.efficiency
    return share * setting.machine.flops, setting.machine.host_bandwidth, setting.machine.title


def _row(hidden: int, sequence: int, k: float, spec: Spec) -> Row:
    size = message(
        "charts.hidden_and_sequence",
        "hidden {hidden}, sequence {sequence}",
        hidden=f"{hidden:,}", sequence=f"{sequence:,}",
    )  # fmt: skip
    change = None
    costs = spec.costs
    if not any(isinstance(each, tuple) for each in (costs.F, costs.I, costs.W)):
        work = sum(each for each in (costs.F, costs.I, costs.W) if not isinstance(each, tuple))
        change = {"costs": {"O": round(k * work / 2, 6)}}
    return Row((hidden, sequence, round(k, 4)), (size, f"k {k:.3g}", _meaning(k)), change)


def _meaning(k: float) -> str:
    if k <= 1.0:
        return message("charts.all_fit", "all activations fit beside compute")
    return message(
        "charts.part_fits",
        "about 1/k, {percent} %, of the activations fit beside compute",
        percent=f"{100 / k:.0f}",
    )


def _layout(appearance: Appearance) -> dict[str, Any]:
    def sizes(values: tuple[int, ...]) -> list[str]:
        return [f"{each // 1024}k" for each in values]

    x = size_axis(message("charts.h_axis", "h, hidden size (1k is 1024)"), sizes(HIDDEN), appearance.width - LEFT - BAR)
    y = size_axis(message("charts.s_axis", "s, sequence length in tokens"), sizes(SEQUENCE), appearance.height)
    return layout(appearance, x, y, right=BAR)


def _map(
    appearance: Appearance, ratios: npt.NDArray[np.float64], place: Any, rows: list[Row], narrow: bool
) -> go.Heatmap:
    """Draw k by its logarithm, so that twice and half are as far from 1."""
    token = tokens(appearance.theme)
    ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
    middle, edge = token["surface"], np.abs(np.log2(ratios)).max()
    return go.Heatmap(
        z=np.log2(ratios).tolist(), **points(rows, place), xgap=1, ygap=1, zmin=-edge, zmax=edge,
        colorscale=[[0, token["accent"]], [0.5, middle], [1, token["k-b"]]],
        text=None if narrow else [[f"{each:.2g}" for each in line] for line in ratios], textfont={"size": TEXT - 1},
        texttemplate=None if narrow else "%{text}",
        colorbar=colour_bar(
            appearance, title={"text": "k", "side": "top"},
            tickvals=np.log2(ticks).tolist(), ticktext=[f"{each:g}" for each in ticks],
        ),
    )  # fmt: skip


def _along(value: float | npt.NDArray[np.float64], stops: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Return the position of a size among evenly drawn stops, by its logarithm."""
    return np.interp(np.log2(value), np.log2(stops), np.arange(len(stops)))


def _edge(appearance: Appearance, flops: float, host: float) -> go.Scatter:
    """Draw the line k = 1: 6 h + s = 10/3 B_c/B_o."""
    hidden = np.geomspace(HIDDEN[0], HIDDEN[-1], 200)
    sequence = 10.0 / 3.0 * flops / host - 6.0 * hidden
    inside = (sequence >= SEQUENCE[0]) & (sequence <= SEQUENCE[-1])
    return go.Scatter(
        x=_along(hidden[inside], HIDDEN).tolist(), y=_along(sequence[inside], SEQUENCE).tolist(), mode="lines",
        hoverinfo="skip", showlegend=False, name="k = 1", line={"color": tokens(appearance.theme)["ink"], "width": 2.5},
    )  # fmt: skip


def _models(appearance: Appearance) -> go.Scatter:
    """Draw known models at their hidden size and sequence; models at one place share a marker."""
    ink = tokens(appearance.theme)["ink"]
    spots: dict[tuple[int, int], list[str]] = {}
    for model in MODELS.values():
        if model.name != "custom" and HIDDEN[0] <= model.hidden <= HIDDEN[-1]:
            spots.setdefault((model.hidden, model.sequence), []).append(model.title)
    return go.Scatter(
        x=[float(_along(float(hidden), HIDDEN)) for hidden, _ in spots], mode="markers", showlegend=False,
        y=[float(_along(float(sequence), SEQUENCE)) + 0.32 for _, sequence in spots],
        hovertext=[message("charts.names", "{names}", names=titles) for titles in spots.values()],
        hovertemplate=HOVER, name=message("charts.models", "models"),
        marker={"symbol": "diamond-open", "size": 8, "color": ink, "line": {"width": 1.6}},
    )  # fmt: skip


def _notes(source: str, flops: float, host: float) -> tuple[str, ...]:
    return (
        message("charts.k_is", "k is the time to copy a layer's activations out and back, over its compute."),
        message(
            "charts.below_one",
            "Beyond the line, where k is below 1, copies hide behind compute and offload is nearly free.",
        ),
        message(
            "charts.rates",
            "Rates of {source}: {flops} TFLOP/s reached, {host} GB/s to host memory.",
            source=source, flops=f"{flops / 1e12:.4g}", host=f"{host / 1e9:.4g}",
        ),
        message("charts.diamonds", "Diamonds are known models; a click sets the time of a copy."),
    )  # fmt: skip
