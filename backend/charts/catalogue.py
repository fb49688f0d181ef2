"""Every chart by name, with its variants and what it is drawn from: one plan or all, a model, a machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.charts.appearance import Look
from backend.charts.chart import Chart, Plan
from backend.schedule.hardware.cost_model import Setting

Draw = Callable[[Sequence[Plan], Look, Setting | None], Chart]
BUBBLES = ("span", "global", "span-ideal", "global-ideal")


@dataclass(frozen=True)
class Kind:
    """``heights`` are the variants, the first one by itself; ``draw`` imports plotly when it is first called."""

    heights: tuple[str, ...]
    draw: Draw


def _bubble(plans: Sequence[Plan], look: Look, setting: Setting | None) -> Chart:
    from backend.charts.bubble_map import bubble

    return bubble(plans[0], look)


def _bubble_m(plans: Sequence[Plan], look: Look, setting: Setting | None) -> Chart:
    from backend.charts.bubble_curves import bubble_m

    return bubble_m(plans, look)


def _split(plans: Sequence[Plan], look: Look, setting: Setting | None) -> Chart:
    from backend.charts.time_split import split

    return split(plans, look)


def _memory(plans: Sequence[Plan], look: Look, setting: Setting | None) -> Chart:
    from backend.charts.memory import memory

    return memory(plans, look)


def _messages(plans: Sequence[Plan], look: Look, setting: Setting | None) -> Chart:
    from backend.charts.messages import messages

    return messages(plans, look, (setting or Setting.read({"p": 1})).model)


def _offload(plans: Sequence[Plan], look: Look, setting: Setting | None) -> Chart:
    from backend.charts.offload import offload

    return offload(plans[0], look, setting)


def _vocabulary(plans: Sequence[Plan], look: Look, setting: Setting | None) -> Chart:
    from backend.charts.vocabulary import vocabulary

    return vocabulary(plans[0], look, None if setting is None else setting.model)


KINDS = {
    "bubble": Kind(BUBBLES, _bubble),
    "bubble-m": Kind(BUBBLES, _bubble_m),
    "split": Kind(("time",), _split),
    "memory": Kind(("held",), _memory),
    "messages": Kind(("count",), _messages),
    "offload": Kind(("guide", "machine"), _offload),
    "vocabulary": Kind(("ratio",), _vocabulary),
}
