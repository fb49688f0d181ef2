"""The commands `run-sweep` (several schedules one after the other on the same workers) and `devices`."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from backend.cli.options import failing, runner, spec_data, spec_options
from backend.cli.report import calibration_of, failure_text, unfinished
from backend.runs.options import CHOICES
from backend.runs.run_series import Series
from backend.schedule.families import registry
from backend.schedule.interop.ascii import memory_lines
from backend.schedule.order import wire
from backend.schedule.result import memory_of
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

MEASURED = (
    *("verified", "max_grad_error", "device", "mode", "unit_ms"),
    *("predicted", "measured", "slowest", "over_plan", "too_busy"),
)
COLUMNS = ("family", "predicted", "measured", "calibrated", "bubble", "measured bubble", "gradients")


@click.command("run-sweep")
@spec_options(several=True)
@click.option("--mode", type=click.Choice(CHOICES["mode"]), help="as of run")
@click.option("--unit-ms", type=float, help="paced: milliseconds of one unit of the costs")
@click.option("--dtype", type=click.Choice(CHOICES["dtype"]), help="type of activations and arithmetic")
@click.option("--json", "as_json", is_flag=True, help="one line of JSON per schedule")
def run_sweep(family: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Execute several schedules on the same workers and compare the predicted figures with the measured ones.

    Makespans are in units of the costs; "calibrated" is the error of the simulation at the measured costs of the ops.
    Exit codes: 0 all finished and verified, 1 one did not, 2 one is illegal (then none is run).
    """
    options = {key: given.pop(key) for key in ("mode", "unit_ms", "dtype")}
    job = {key: value for key, value in options.items() if value is not None}
    specs = []
    for name in family:
        data = {"family": name}
        with failing(data, as_json):
            data |= spec_data(given)
            specs.append(registry.read(data))
    rows = []
    with runner() as series:
        for spec in specs:
            rows.append(_row(series, spec, job))
            click.echo(json.dumps(rows[-1]) if as_json else _line(rows[-1], head=len(rows) == 1))
    sys.exit(0 if all(row.get("verified") for row in rows) else 1)


def _row(series: Series, spec: Spec, job: dict[str, Any]) -> dict[str, Any]:
    """Run one schedule and return its figures in units of its costs."""
    order = registry.order(spec)
    last, rows = series.run(job | {"spec": spec.to_json(), "order": wire.to_text(order)})
    if last["event"] != "finished":
        return {"spec": spec.to_json(), "status": last["event"]} | unfinished(last)
    calibration = calibration_of(order, rows, spec)
    found = {key: last[key] for key in MEASURED if key in last}
    memory = memory_of(spec, simulate(order, spec.timing, spec.v))
    more = {"calibrated": calibration.as_dict(), "notes": last.get("notes", []), "peak_memory": memory}
    return {"spec": spec.to_json(), "status": "finished"} | found | more


def _line(row: dict[str, Any], head: bool) -> str:
    """Format a row of the table, the first with its head."""
    family = row["spec"]["family"]
    if row["status"] != "finished":
        why = row["error"]["message"] if "error" in row else failure_text(row["failure"])
        return f"{family:<18} {why}"
    predicted, measured, calibrated = row["predicted"], row["measured"], row["calibrated"]
    cells = (
        f"{predicted['makespan']:.2f}",
        f"{measured['makespan']:.2f}",
        f"{calibrated['error']:+.2%}",
        f"{predicted['bubble']['global']['of_total']:.2%}",
        f"{measured['bubble']['global']['of_total']:.2%}",
        "verified" if row["verified"] else "NOT VERIFIED",
    )
    lines = [f"{COLUMNS[0]:<18} " + " ".join(f"{name:>15}" for name in COLUMNS[1:])] if head else []
    lines.append(f"{family:<18} " + " ".join(f"{cell:>15}" for cell in cells))
    limit = row["spec"]["memory"]
    return "\n".join(lines if limit is None else [*lines, *memory_lines(row["peak_memory"], limit)])


@click.command()
@click.option("--json", "as_json", is_flag=True, help="as the runner reports it")
def devices(as_json: bool) -> None:
    """List the devices, and the mode of a run by its number of ranks."""
    with runner() as series:
        report = series.ask({"cmd": "devices"}, ("devices",), lambda _: None)
    if as_json:
        click.echo(json.dumps({key: report[key] for key in ("devices", "choices")}))
        return
    for device in report["devices"]:
        click.echo(_device(device))
    for choice in report["choices"]:
        ranks = f"{choice['from']} to {choice['to']}" if choice["to"] > choice["from"] else f"{choice['to']}"
        word = "rank" if ranks == "1" else "ranks"
        click.echo(f"{ranks} {word}: {choice['mode']} on {choice['device']} ({choice['why']})")


def _device(device: dict[str, Any]) -> str:
    memory = "" if device["memory"] is None else f", {device['memory'] / 2**30:.1f} GiB"
    if device["kind"] == "cpu":
        cores = device["cores"]
        return f"cpu: {device['name']}, {cores} core{'' if cores == 1 else 's'}{memory}"
    capability = f", capability {device['capability']}" if device["capability"] else ""
    return f"cuda:{device['index']}: {device['name']}{memory}{capability}"
