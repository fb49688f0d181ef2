"""Orders from elsewhere: read them, and check them against limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from backend.schedule.errors import OrderError
from backend.schedule.families import registry
from backend.schedule.hardware.preset_costs import Preset, asked_spec, priced
from backend.schedule.interop import torch_csv
from backend.schedule.interop.configurations.read import is_configuration, read_configuration
from backend.schedule.interop.csv_table import text_of
from backend.schedule.interop.order_limits import SHAPING, Finding, findings, read_limits
from backend.schedule.spec import Spec
from bubbleline.schedules import Schedule
from bubbleline.settings import Costs, Options, preset_of, spec_data


def from_csv(
    source: str | Path,
    *,
    placement: str | None = None,
    costs: Costs | Mapping[str, Any] | None = None,
    model: str | Preset | None = None,
    **options: Unpack[Options],
) -> Schedule:
    """Read the schedule of a file in torch's CSV: a line per rank, a cell per op.

    Args:
        source: A path, or the text itself.
        placement: "looped" or "v"; by default stages are where the file has them.
        costs, model, **options: As of ``schedule``.

    Raises:
        OrderError: It is no order, or cannot run; with line and cell, ``rank`` and ``op``.
        SpecError: A value is illegal.
        OSError: The file cannot be read.

    Examples:
        >>> import bubbleline as bl
        >>> mine = bl.from_csv("0F0,0F1,0B0,0B1\\n1F0,1B0,1F1,1B1\\n", costs={"f": 1, "i": 1, "w": 1})
        >>> mine.p, mine.m, mine.step_time
        (2, 2, 9.0)
    """
    order = torch_csv.read(_text(source), placement)
    data, preset = spec_data(costs, options), preset_of(model)
    return Schedule(priced(registry.read_of_file(data, order), preset, data, order), preset, order)


def from_configuration(source: str | Path, *, machine: str | None = None) -> Schedule:
    """Read the schedule of a training from a framework's configuration: a command or a script with Megatron-LM's flags,
    Megatron Bridge's overrides or torchtitan's arguments.

    Args:
        source: A path, or the text itself.
        machine: On which it runs, which configurations do not say; by default "h100".

    Raises:
        SpecError: A flag is wrong, or they do not go together.
        OSError: The file cannot be read.

    Examples:
        >>> import bubbleline as bl
        >>> flags = "--pipeline-model-parallel-size 4 --num-layers 32 --num-virtual-stages-per-pipeline-rank 2"
        >>> bl.from_configuration(flags + " --micro-batch-size 1 --global-batch-size 16").spec.family
        'interleaved'
    """
    is_text = isinstance(source, str) and is_configuration(source)
    found = read_configuration(str(source) if is_text else text_of(Path(source).read_bytes()))
    if found.preset is None:
        return Schedule(registry.read(found.spec))
    preset = Preset.of(dict(found.preset) | ({} if machine is None else {"machine": machine}))
    return Schedule(asked_spec(found.spec, preset), preset)


def check(
    order: Schedule | str | Path | Sequence[str],
    *,
    max_bubble: float | str | None = None,
    max_gb: float | None = None,
    family: str | None = None,
    costs: Costs | Mapping[str, Any] | None = None,
    model: str | Preset | None = None,
    **options: Unpack[Options],
) -> tuple[Finding, ...]:
    """Check whether an order can run and keeps limits.

    Args:
        order: torch's CSV, a path or its text; or a line of ops for each rank, as in ``Schedule.order``; or a schedule.
        max_bubble: The largest idle share of the step: 0.12 or "12%".
        max_gb: The most memory of a device in GB; needs a model.
        family: The family whose order it must be.
        costs, model, **options: As of ``schedule``; a schedule has its own.

    Returns:
        What is wrong, nothing if all is well.

    Raises:
        SpecError: A limit or a value is illegal.
        OSError: The file cannot be read.

    Examples:
        >>> import bubbleline as bl
        >>> bl.check(["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"])
        ()
        >>> bl.check(["0F0 0B0", "1F0"])[0].message
        'line 2: rank 1 never does 1B0, the full backward of micro-batch 0 in stage 1'
        >>> for found in bl.check(bl.schedule("gpipe", p=2, m=3), max_bubble="20%", family="1f1b"):
        ...     print(found.check, "-", found.message)
        bubble - the bubble is 25.00% of the step, over the limit of 20%
        family - rank 0 does 0F2 as op 3, 1F1B does 0B0 there
    """
    if isinstance(order, Schedule) and (costs, model, options) != (None, None, {}):
        raise TypeError("a schedule has its own costs, model and options")
    given = order.model if isinstance(order, Schedule) else preset_of(model)
    limits = read_limits(max_bubble, max_gb, family, given)
    data = _own(order.spec) if isinstance(order, Schedule) else spec_data(costs, options)
    if not isinstance(order, Schedule):
        text = order if isinstance(order, str | Path) else "\n".join(",".join(row.split()) for row in order)
        kept = {name: value for name, value in data.items() if name not in SHAPING}
        try:
            found = torch_csv.read(_text(text))
        except OrderError as error:
            return (Finding("order", error.message, error.rank, error.op),)
        order = Schedule(priced(registry.read_of_file(kept, found), given, data, found), given, found)
    return tuple(findings(limits, order.spec, order._timeline, given, data))


def _own(spec: Spec) -> dict[str, Any]:
    """Return the fields with which another family's order is built like that of a spec."""
    plain = Spec().to_json()
    left_out = ("family", "p", "m", "v", "w_share", "order")
    return {key: value for key, value in spec.to_json().items() if value != plain[key] and key not in left_out}


def _text(source: str | Path) -> str:
    """Return the text of a file, or the text itself: a text is no name of a file, and empty or has a comma or several
    lines.
    """
    if isinstance(source, str) and (not source or "\n" in source or ("," in source and not Path(source).is_file())):
        return source
    return text_of(Path(source).read_bytes())
