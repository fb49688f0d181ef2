"""Every chart by name, with its variants and its drawing function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.charts.chart import Chart, ChartSeries
from backend.charts.theme import Appearance
from backend.schedule.hardware.cost_model import Setting

Draw = Callable[[Sequence[ChartSeries], Appearance, Setting | None], Chart]
BUBBLES = ("global", "span", "global-ideal", "span-ideal")


@dataclass(frozen=True)
class Kind:
    """A kind of chart with its variants ``heights``, the first the default; ``draw`` imports plotly when called."""

    heights: tuple[str, ...]
    draw: Draw


def _bubble(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None) -> Chart:
    from backend.charts.bubble_map import bubble

    return bubble(plans[0], appearance)


def _bubble_m(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None) -> Chart:
    from backend.charts.bubble_curves import bubble_m

    return bubble_m(plans, appearance)


def _split(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None) -> Chart:
    from backend.charts.time_split import split

    return split(plans, appearance)


def _memory(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None) -> Chart:
    from backend.charts.memory import memory

    return memory(plans, appearance)


def _messages(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None) -> Chart:
    from backend.charts.messages import messages

    return messages(plans, appearance, (setting or Setting.read({"p": 1})).model)


def _offload(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None) -> Chart:
    from backend.charts.offload import offload

    return offload(plans[0], appearance, setting)


def _vocabulary(plans: Sequence[ChartSeries], appearance: Appearance, setting: Setting | None) -> Chart:
    from backend.charts.vocabulary import vocabulary

    return vocabulary(plans[0], appearance, None if setting is None else setting.model)


KINDS = {
    "bubble": Kind(BUBBLES, _bubble),
    "bubble-m": Kind(BUBBLES, _bubble_m),
    "split": Kind(("time",), _split),
    "memory": Kind(("held",), _memory),
    "messages": Kind(("count",), _messages),
    "offload": Kind(("guide", "machine"), _offload),
    "vocabulary": Kind(("ratio",), _vocabulary),
}
