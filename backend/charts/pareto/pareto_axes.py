"""The two axes of the frontier: activations in parts of p against throughput or bubble, or with a model and a machine
bytes against FLOP utilisation or tokens per second.
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.charts.theme import Appearance
from backend.errors import Message, message
from backend.schedule.analysis.pareto import Axes, Point, plain_axes
from backend.schedule.hardware.step_units import GB, StepUnits

UNIT_HEIGHTS = ("mfu", "mfu-activations", "tokens")
THOUSAND = 1e3
MFU = message("charts.mfu_axis", "model FLOP utilisation (MFU)"), message("charts.mfu", "MFU")
GIGABYTES = message("charts.gigabytes", "GB")
MEMORY = message("charts.gigabytes_axis", "memory of the fullest device, GB"), GIGABYTES
HELD = message("charts.activations_axis", "activations of the fullest device at their peak, GB"), GIGABYTES
TITLES = {  # (in full, in brief) of each variant's height
    "throughput": (
        message("charts.throughput_axis", "throughput, of what no bubble gives"),
        message("charts.throughput", "throughput"),
    ),
    "bubble": (
        message("charts.bubble_axis", "bubble, of the longest window (span)"),
        message("charts.bubble", "bubble"),
    ),
    "mfu": MFU,
    "mfu-activations": MFU,
    "tokens": (
        message("charts.tokens_axis", "thousand tokens per second"),
        message("charts.tokens_brief", "k tokens/s"),
    ),
}
MEMORY_TITLES = {"mfu": MEMORY, "mfu-activations": HELD, "tokens": MEMORY}  # (in full, in brief) of each one's width
MOST_LINES = 3  # times the largest memory drawn; a limit further off would squeeze the points


def in_units(appearance: Appearance) -> bool:
    """Return whether a variant is drawn in bytes and FLOP or tokens."""
    return appearance.y in UNIT_HEIGHTS


def drawable(points: Sequence[Point], appearance: Appearance) -> list[Point]:
    """Return the points that the variant can show: in units, those whose stages are not more than the layers."""
    return [point for point in points if not in_units(appearance) or point.figures.units is not None]


def unit_axes(units: StepUnits, y: str) -> tuple[float, float]:
    """Return (GB, percent or thousand tokens per second) of a step."""
    memory = max(units.memory.activations) if y == "mfu-activations" else units.memory.most
    return memory / GB, units.rate / THOUSAND if y == "tokens" else 100 * units.mfu


def axes_of(appearance: Appearance) -> Axes:
    """Return the axes by which points are compared; those of throughput and bubble are the same."""
    if not in_units(appearance):
        return plain_axes

    def axes(point: Point) -> tuple[float, float]:
        assert point.figures.units is not None
        return unit_axes(point.figures.units, appearance.y)

    return axes


def device_limit(points: Sequence[Point], appearance: Appearance) -> float | None:
    """Return the memory of a device in GB where the figure should have its line, else None."""
    if appearance.y not in ("mfu", "tokens"):
        return None
    found = [point.figures.units.memory for point in points if point.figures.units is not None]
    limit = found[0].limit
    return limit / GB if limit <= MOST_LINES * max(memory.most for memory in found) else None


def unit_lines(units: StepUnits) -> list[Message]:
    """Return lines of a point's hover box."""
    memory = units.memory
    values = {
        "most": f"{memory.most / GB:.4g}", "limit": f"{memory.limit / GB:.4g}", "rank": memory.rank,
        "held": f"{max(memory.activations) / GB:.4g}",
    }  # fmt: skip
    fits = message("charts.fits", "{most} of {limit} GB on device {rank}, {held} GB of activations", **values)
    if not memory.fits:
        fits = message(
            "charts.does_not_fit", "does not fit: {most} of {limit} GB on device {rank}, {held} GB of activations",
            **values,
        )  # fmt: skip
    return [
        message(
            "charts.mfu_and_tokens", "MFU {mfu}, {tokens} tokens/s",
            mfu=f"{100 * units.mfu:.1f} %", tokens=f"{units.rate:,.0f}",
        ),
        fits,
    ]  # fmt: skip
