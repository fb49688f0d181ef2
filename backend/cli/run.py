"""The command `run`: execute a schedule on the local engine, verify it, and print what was measured."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import click

from backend.cli.options import (
    failing,
    preset_data,
    preset_options,
    reported,
    runner,
    spec_data,
    spec_options,
)  # fmt: skip
from backend.cli.report import (
    as_shape,
    calibration_lines,
    calibration_of,
    failure_text,
    idle_lines,
    result_line,
    unfinished,
    write_trace,
)
from backend.errors import RequestError, message
from backend.runs.estimate import OpTimes, Work, estimate, setting_of
from backend.runs.options import CHOICES, Options
from backend.runs.run_series import Rows
from backend.schedule.errors import OrderError
from backend.schedule.families import registry
from backend.schedule.hardware.preset_costs import Preset, asked_spec, priced
from backend.schedule.interop import torch_csv
from backend.schedule.interop.ascii import memory_lines
from backend.schedule.interop.csv_table import text_of
from backend.schedule.order import wire
from backend.schedule.order.order import Order
from backend.schedule.result import memory_of
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec, number, optional

LONG_S = 120.0  # from which on the expected length of a run is printed
OPTIONS = ("unit_ms", "steps", *CHOICES)


@click.command()
@spec_options(optional=True)
@preset_options
@click.option("--csv", "csv_file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
              help="run an order from a file in torch's CSV instead of a FAMILY")  # fmt: skip
@click.option("--mode", type=click.Choice(CHOICES["mode"]), default="auto", show_default=True,
              help="paced holds each op to its planned time, free runs as fast as it can")  # fmt: skip
@click.option("--unit-ms", type=float, help="paced: milliseconds of one unit of the costs")
@click.option("--steps", type=int, help="training steps in sequence; ops and figures are of the last one")
@click.option("--dtype", type=click.Choice(CHOICES["dtype"]), help="type of activations, messages and arithmetic")
@click.option("--device", type=click.Choice(CHOICES["device"]), help="auto: GPUs where every rank has its own")
@click.option("--spread", type=click.Choice(CHOICES["spread"]), help="on a cluster: ranks on few hosts, or on many")
@click.option("--arrange", type=click.Choice(CHOICES["arrange"]),
              help="on a cluster: ranks as hosts come, or neighbours where messages take least")  # fmt: skip
@click.option("--hops", type=click.Choice(CHOICES["hops"]),
              help="on a cluster, paced: the plan's communication time as in the costs, or as measured")  # fmt: skip
@click.option("--calibrate", "calibrating", is_flag=True,
              help="the measured costs of the ops, and the figures that they predict")  # fmt: skip
@click.option("--trace", type=click.Path(path_type=Path, dir_okay=False, writable=True),
              help="write the measured ops and messages as a Chrome trace")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="only the last line: the whole result as JSON")
def run(csv_file: Path | None, calibrating: bool, trace: Path | None, as_json: bool, **given: Any) -> None:
    """Execute FAMILY with real tensors; its gradients, or outputs, are compared with those of a single process.

    On this machine, or where BUBBLELINE_ENGINE=ray on the cluster at BUBBLELINE_RAY_ADDRESS (docs/cluster.md).
    """
    options = {key: given.pop(key) for key in OPTIONS}
    data: dict[str, Any] = {}
    unit_ms = options["unit_ms"]
    job = {key: value for key, value in options.items() if value is not None}
    with failing(data, as_json), reported(OrderError):
        preset = preset_data(given)
        data |= spec_data(given)
        optional(number, "unit_ms", unit_ms, 0.001, 60_000)
        spec, order = _order(csv_file, data, preset)
    job |= {"spec": spec.to_json(), "order": wire.to_text(order)}
    quiet = as_json or not sys.stderr.isatty()
    if not quiet:
        _announce_long(spec, order, options)
    with runner() as series:
        last, rows = series.run(job, lambda message: None if quiet else _progress(message))
    if last["event"] != "finished":
        _exit_unfinished(data, last, as_json)
    memory = memory_of(spec, simulate(order, spec.timing, spec.v))
    shape = as_shape(last, order, rows) | {"peak_memory": memory}
    lines = _verdict_lines(shape, order.forward_only) + memory_lines(memory, spec.memory)
    if calibrating:
        calibration = calibration_of(order, rows, spec)
        shape["calibration"] = calibration.as_dict() | {"residual_ms": calibration.residual.round(6).tolist()}
        lines += [*idle_lines(shape), *calibration_lines(calibration)]
    click.echo(json.dumps(shape) if as_json else "\n".join([*lines, json.dumps(shape)]))
    if trace is not None:
        _write(trace, shape, order, rows, data.get("family") or str(csv_file))
    sys.exit(0 if shape["verified"] else 1)


def _order(csv_file: Path | None, data: dict[str, Any], preset: Preset | None) -> tuple[Spec, Order]:
    """Return the spec and the order to run. Raises OrderError, RequestError."""
    if csv_file is not None:
        if data.get("family"):
            why = message("runs.family_or_csv", "give a FAMILY or --csv FILE, not both")
            raise RequestError("family", data["family"], why)
        order = torch_csv.read(text_of(csv_file.read_bytes()))
        return priced(registry.read_of_file(data, order), preset, data, order), order
    if not data.get("family"):
        why = message("runs.family_missing", "name a FAMILY such as 1f1b, or a file with --csv")
        raise RequestError("family", None, why, nearest="1f1b")
    spec = asked_spec(data, preset)
    return spec, registry.order(spec)


def _announce_long(spec: Spec, order: Order, options: Mapping[str, Any]) -> None:
    """Print how long a run is expected to take, if that is long."""
    chosen = Options(**{key: value for key, value in options.items() if value is not None})
    setting = setting_of(order.p, chosen, (), ())
    found = estimate(Work.of(order, spec, setting.mode), order.p, chosen, setting, OpTimes())
    if found.seconds > LONG_S:
        click.echo(f"expected to take about {found.seconds / 60:,.0f} min", err=True)


def _progress(event: dict[str, Any]) -> None:
    if event["event"] == "running":
        pace = "" if event["unit_ms"] is None else f", one unit is {event['unit_ms']:g} ms"
        click.echo(f"running {event['ops']} ops on {event['device']}, {event['mode']}{pace}", err=True)
    elif event["event"] == "warming":
        click.echo("starting the workers ...", err=True)
    elif event["event"] == "waiting" and event["message"]:
        click.echo(event["message"], err=True)
    elif event["event"] == "progress" and event["phase"] == "running" and event["steps"] > 1:
        click.echo(f"step {event['step']} of {event['steps']}", err=True)
    elif event["event"] == "progress" and event["phase"] == "verifying":
        click.echo(f"reference: step {event['step']} of {event['steps']}", err=True)


def _exit_unfinished(data: dict[str, Any], last: dict[str, Any], as_json: bool) -> NoReturn:
    """Print why the run has not finished, and exit: 2 for a refused job, 1 for a failed or cancelled run."""
    ending = unfinished(last)
    if as_json:
        click.echo(json.dumps({"status": "failed", "spec": data} | ending))
    elif "error" in ending:
        click.echo(f"Error: {ending['error'].get('field')}: {ending['error'].get('message')}", err=True)
    else:
        click.echo(f"Error: {failure_text(ending['failure'])}", err=True)
    sys.exit(2 if "error" in ending else 1)


def _write(path: Path, shape: dict[str, Any], order: Order, rows: Rows, name: str) -> None:
    """Write the trace's file. Raises ClickException if it cannot be written."""
    title = f"{name} p={order.p} m={order.m}, measured on {shape['device']}, {shape['mode']}"
    try:
        write_trace(path, shape, order, rows, title)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from None


def _number(value: float | None, form: str) -> str:
    return "not a number" if value is None else format(value, form)


def _verdict_lines(shape: dict[str, Any], forward_only: bool) -> list[str]:
    """Return the verdict and the figures in a few lines."""
    loss, reference, error = (shape[key] for key in ("loss", "reference_loss", "max_grad_error"))
    compared = "error of an output" if forward_only else "gradient error"
    lines = [
        result_line(shape),
        *shape.get("notes", []),
        f"loss {_number(loss, '.6f')}, single process {_number(reference, '.6f')}, "
        f"largest relative {compared} {_number(error, '.2e')}",
        f"on {shape['device']}, {shape['mode']}, {len(shape['ops'])} ops, one unit is {shape['unit_ms']:.4g} ms",
    ]
    if "hosts" in shape:
        within_us = max(each["uncertainty_ns"] for each in shape["clocks"]) / 1000
        lines.append(f"ranks on {' '.join(shape['hosts'])}; clocks agree within {within_us:.0f} us")
    if "losses" in shape:
        lines.append(f"losses of the steps {' '.join(_number(each, '.4f') for each in shape['losses'])}")
    if "activations" in shape:
        peaks = shape["activations"]
        without = peaks.get("peak_bytes_without_offload")
        more = f", with those in host memory {max(without):,}" if without else ""
        lines.append(f"peak activations of a rank: {max(peaks['peak_bytes']):,} bytes{more}")
    if "weight_versions" in shape:
        lines.append(f"weight versions {' '.join(map(str, shape['weight_versions']))}")
    for name in ("predicted", "measured"):
        shown = shape[name]
        bubble = shown["bubble"]["global"]["of_total"]
        lines.append(f"{name:<9} makespan {shown['makespan']:.2f}, bubble {bubble:.2%} of total (global window)")
    return lines
