"""Read what plans are asked for, strictly: by commands and over HTTP alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.schedule.analysis.layouts import MOST_BATCH, MOST_DEVICES, Layout, layouts
from backend.schedule.analysis.plans import Allowed, Asked
from backend.schedule.errors import SpecError, message
from backend.schedule.families.registry import FAMILIES, family_of
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.step_units import GB
from backend.schedule.interop.configurations.frameworks import FRAMEWORKS
from backend.schedule.options.family_names import canonical
from backend.schedule.spec import LIMITS, Spec, boolean, choice, integer, number, reject_unknown

KEYS = ("p", "m", "gpus", "batch", "gb", "families", "framework", "recompute", "offload")
GIGABYTES = (1e-3, 1e6)  # of a device, from and to
SIZES: dict[str, tuple[int, int]] = {
    "p": (1, LIMITS["p"]), "m": (1, LIMITS["m"]), "gpus": (1, MOST_DEVICES), "batch": (1, MOST_BATCH),
}  # fmt: skip


def read(data: Mapping[str, Any], preset: Preset | None) -> Asked:
    """Read a question of ``KEYS``: ``p`` and ``m``, or ``gpus`` and ``batch`` for the layouts of so many devices and
    sequences a step; the memory of a device in GB; families (names between commas) and the framework that plans are
    limited to, and whether they may have recomputation and offload. Raises SpecError for the key that is wrong.
    """
    reject_unknown(data, KEYS, message("analysis.a_plan", "a plan"))
    sizes = {key: integer(key, data[key], *bounds) for key, bounds in SIZES.items() if key in data}
    limit = GB * number("gb", data["gb"], *GIGABYTES) if "gb" in data else None
    framework = None
    if "framework" in data:
        framework = FRAMEWORKS[choice("framework", data["framework"], FRAMEWORKS)]
    names = _families(data["families"]) if "families" in data else None
    options = (boolean(key, data.get(key, True)) for key in ("recompute", "offload"))
    if preset is None:
        text = message(
            "analysis.plan_needs_a_model", "a plan is for a model on a machine; name a model such as llama3-70b"
        )
        raise SpecError("model", None, text, nearest="llama3-70b")
    return Asked(_layouts(sizes, preset, limit), limit, Allowed(names, framework, *options))


def _layouts(sizes: Mapping[str, int], preset: Preset, limit: float | None) -> tuple[Layout, ...]:
    if "gpus" not in sizes and "batch" not in sizes:
        return (Layout(sizes.get("p", Spec.p), sizes.get("m", Spec.m), preset),)
    if len(sizes.keys() & {"gpus", "batch"}) == 1:
        given, other = ("gpus", "batch") if "gpus" in sizes else ("batch", "gpus")
        text = message("analysis.gpus_with_batch", "{given} goes with {other}", given=given, other=other)
        raise SpecError(other, None, text)
    if "m" in sizes:
        text = message("analysis.m_follows", "m follows from batch, replicas and micro-batch; leave it out")
        raise SpecError("m", sizes["m"], text)
    return tuple(layouts(sizes["gpus"], sizes["batch"], preset, limit, sizes.get("p")))


def _families(text: Any) -> tuple[str, ...]:
    names = tuple(canonical(name.strip()) for name in str(text).split(","))
    for name in names:
        try:
            family = family_of(Spec(name))
        except SpecError as error:
            raise SpecError("families", name, error.message, nearest=error.nearest) from None
        if family.asynchronous or family.name not in FAMILIES:
            why = message("analysis.not_planned", "{family} is not planned: its steps are others", family=family.title)
            raise SpecError("families", name, why, nearest="1f1b")
    return names
