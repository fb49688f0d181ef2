"""Every chart by name, with its variants and its drawing function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.charts.bubble_curves import bubble_m
from backend.charts.bubble_map import bubble
from backend.charts.chart import Chart, ChartSeries
from backend.charts.memory import memory
from backend.charts.messages import messages
from backend.charts.offload import offload
from backend.charts.theme import Appearance
from backend.charts.time_split import split
from backend.charts.vocabulary import vocabulary
from backend.schedule.hardware.cost_model import Setting

BUBBLES = ("global", "span", "global-ideal", "span-ideal")


@dataclass(frozen=True)
class Kind:
    """A kind of chart with its variants ``heights``, the first the default. Plotly is loaded by the first figure."""

    heights: tuple[str, ...]
    draw: Callable[[Sequence[ChartSeries], Appearance, Setting | None], Chart]


KINDS = {
    "bubble": Kind(BUBBLES, bubble),
    "bubble-m": Kind(BUBBLES, bubble_m),
    "split": Kind(("time",), split),
    "memory": Kind(("held",), memory),
    "messages": Kind(("count",), messages),
    "offload": Kind(("guide", "machine"), offload),
    "vocabulary": Kind(("ratio",), vocabulary),
}
