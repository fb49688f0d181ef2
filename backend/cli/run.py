"""The command `run`: execute a schedule on the local engine, verify it, and print what was measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from backend.cli.options import fail, spec_data, spec_options
from backend.cli.report import as_shape, calibration_of, told_calibration, told_idle, write_trace
from backend.config import PROJECT, Config
from backend.runs.run_series import Rows, RunnerGoneError, Series
from backend.schedule.errors import OrderError, SpecError
from backend.schedule.families import registry
from backend.schedule.interop import torch_csv
from backend.schedule.order.order import Order
from backend.schedule.spec import number, optional

DTYPES = ("float32", "bfloat16")
OPTIONS = ("mode", "unit_ms", "steps", "dtype", "device", "spread", "arrange", "hops")


@click.command()
@spec_options(optional=True)
@click.option("--csv", "csv_file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
              help="run an order from a file in torch's CSV instead of a FAMILY")  # fmt: skip
@click.option("--mode", type=click.Choice(["auto", "paced", "free"]), default="auto", show_default=True,
              help="paced holds each op to its nominal time, free runs as fast as it can")  # fmt: skip
@click.option("--unit-ms", type=float, help="paced: milliseconds of one unit of the costs")
@click.option("--steps", type=int, help="training steps one after the other; ops and figures are the last one's")
@click.option("--dtype", type=click.Choice(DTYPES), help="type of activations, messages and arithmetic")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), help="auto: GPUs where every rank has its own")
@click.option("--spread", type=click.Choice(["pack", "spread"]), help="on a cluster: ranks on few hosts, or on many")
@click.option("--arrange", type=click.Choice(["given", "latency"]),
              help="on a cluster: ranks as hosts come, or neighbours where messages take least")  # fmt: skip
@click.option("--hops", type=click.Choice(["given", "measured"]),
              help="on a cluster, paced: the plan's communication time as in the costs, or as measured")  # fmt: skip
@click.option("--calibrate", "calibrating", is_flag=True,
              help="the costs that ops really had, and what they predict beside what was measured")  # fmt: skip
@click.option("--trace", type=click.Path(path_type=Path, dir_okay=False, writable=True),
              help="write the measured ops and messages as a Chrome trace")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="only the last line: everything, as JSON")
def run(csv_file: Path | None, calibrating: bool, trace: Path | None, as_json: bool, **given: Any) -> None:
    """Execute FAMILY with real tensors; its gradients are held against a single process.

    On this machine, or where BUBBLELINE_ENGINE=ray on the cluster at BUBBLELINE_RAY_ADDRESS (docs/cluster.md).
    """
    options = {key: given.pop(key) for key in OPTIONS}
    data, unit_ms = spec_data(given), options["unit_ms"]
    job = {key: value for key, value in options.items() if value is not None}
    try:
        optional(number, "unit_ms", unit_ms, 0.001, 60_000)
        order, job = _order(csv_file, data, job)
    except SpecError as error:
        fail(data, error, as_json)
    except (OrderError, UnicodeDecodeError) as error:
        raise click.ClickException(str(error)) from None
    quiet = as_json or not sys.stderr.isatty()
    try:
        with Series(Config.from_env().runner, str(PROJECT)) as series:
            last, rows = series.run(job, lambda message: None if quiet else _progress(message))
    except RunnerGoneError as error:
        raise click.ClickException(str(error)) from None
    if last["event"] != "finished":
        _failed(data, last, as_json)
    shape = as_shape(last, order, rows)
    lines = _told(shape)
    if calibrating:
        found = calibration_of(order, rows, registry.read(data).v if data.get("family") else order.chunks)
        shape["calibration"] = found.as_dict() | {"residual_ms": found.residual.round(6).tolist()}
        lines += [*told_idle(shape), *told_calibration(found)]
    if trace is not None:
        _write(trace, shape, order, rows, data.get("family") or str(csv_file))
    click.echo(json.dumps(shape) if as_json else "\n".join([*lines, json.dumps(shape)]))
    sys.exit(0 if shape["verified"] else 1)


def _order(csv_file: Path | None, data: dict[str, Any], job: dict[str, Any]) -> tuple[Order, dict[str, Any]]:
    """The order to run, checked, and the job that names it to the runner."""
    if csv_file is not None:
        if data.get("family"):
            raise SpecError("family", data["family"], "give a FAMILY or --csv FILE, not both")
        text = csv_file.read_text()
        order = torch_csv.read(text)
        return order, job | {"csv": text}
    if not data.get("family"):
        raise SpecError("family", None, "name a FAMILY such as 1f1b, or a file with --csv", nearest="1f1b")
    spec = registry.read(data)
    return registry.order(spec), job | {"spec": spec.to_json()}


def _progress(message: dict[str, Any]) -> None:
    if message["event"] == "running":
        click.echo(f"running {message['ops']} ops on {message['device']}, {message['mode']}", err=True)
    elif message["event"] == "warming":
        click.echo("starting the workers ...", err=True)
    elif message["event"] == "waiting" and message["message"]:
        click.echo(message["message"], err=True)


def _failed(data: dict[str, Any], last: dict[str, Any], as_json: bool) -> None:
    error = last.get("error", {"field": "run", "message": f"the run was {last['event']}"})
    if as_json:
        click.echo(json.dumps({"status": "failed", "spec": data, "error": error}))
    else:
        click.echo(f"Error: {error.get('field')}: {error.get('message')}", err=True)
    sys.exit(2 if last["event"] == "error" else 1)


def _write(path: Path, shape: dict[str, Any], order: Order, rows: Rows, name: str) -> None:
    """The trace's file; one that cannot be written fails the command, since the run is over."""
    title = f"{name} p={order.p} m={order.m}, measured on {shape['device']}, {shape['mode']}"
    try:
        write_trace(path, shape, order, rows, title)
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from None


def _number(value: float | None, form: str) -> str:
    return "not a number" if value is None else format(value, form)


def _worst(clocks: list[dict[str, Any]]) -> float:
    """The largest uncertainty, in us."""
    worst: int = max(each["uncertainty_ns"] for each in clocks)
    return worst / 1000


def _told(shape: dict[str, Any]) -> list[str]:
    """The verdict in a few lines."""
    verdict = "verified" if shape["verified"] else "NOT VERIFIED"
    loss, reference, error = (shape[key] for key in ("loss", "reference_loss", "max_grad_error"))
    lines = [
        f"{verdict}: loss {_number(loss, '.6f')}, single process {_number(reference, '.6f')}, "
        f"largest relative gradient error {_number(error, '.2e')}",
        f"on {shape['device']}, {shape['mode']}, {len(shape['ops'])} ops",
    ]
    if "hosts" in shape:
        lines.append(f"ranks on {' '.join(shape['hosts'])}; clocks agree within {_worst(shape['clocks']):.0f} us")
    lines += shape.get("notes", [])
    if "losses" in shape:
        lines.append(f"losses of the steps {' '.join(_number(each, '.4f') for each in shape['losses'])}")
    if "activations" in shape:
        held = shape["activations"]
        beside = held.get("peak_bytes_without_offload")
        more = f", with those in host memory {max(beside):,}" if beside else ""
        lines.append(f"activations held at most on a rank: {max(held['peak_bytes']):,} bytes{more}")
    if "weight_versions" in shape:
        lines.append(f"weight versions held {' '.join(map(str, shape['weight_versions']))}")
    for name in ("predicted", "measured"):
        shown = shape[name]
        bubble = shown["bubble"]["global"]["of_total"]
        lines.append(f"{name:<9} makespan {shown['makespan']:.2f}, bubble {bubble:.2%} of total (global window)")
    return lines
