"""The command `import`: an order or a measured timeline from another program's files, with its figures.

Exit codes: 0 a whole schedule, 1 less (the output says what is missing), 2 an option that does not fit.
"""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from pathlib import Path
from typing import Any

import click
import numpy as np

from backend.errors import RequestError, message
from backend.jobs.imports import view_of
from backend.runs.imported_run import spec_of
from backend.schedule.errors import SpecError
from backend.schedule.families import imported
from backend.schedule.families.registry import FAMILIES
from backend.schedule.interop import torch_csv
from backend.schedule.interop.configurations.read import is_configuration
from backend.schedule.interop.csv_table import text_of
from backend.schedule.interop.traces import chrome
from backend.schedule.interop.traces.chrome import Measured
from backend.schedule.interop.traces.events import UNITS
from backend.schedule.interop.traces.names import reader
from backend.schedule.order.ops import Pair
from backend.schedule.order.order import Order
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate

GZIP = b"\x1f\x8b"


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--format", "form", type=click.Choice(["auto", "torch-csv", "chrome-trace", "configuration"]),
              default="auto", show_default=True,
              help="auto: JSON is a Chrome trace, a framework's flags its configuration, else torch's CSV")  # fmt: skip
@click.option("--names", metavar="PATTERN", help="how a trace names its ops, where not as 2F0, PP:2F0 or Forward 0: "
              "a regular expression with the groups (?P<kind>...) (forward, backward, dgrad, wgrad ...) and, where the "
              "names have them, (?P<stage>...) and (?P<micro>...)")  # fmt: skip
@click.option("--unit", type=click.Choice(tuple(UNITS)), default="us", show_default=True,
              help="unit of a trace's times; the format's displayTimeUnit does not change it")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="everything, as one line of JSON")
def import_files(files: tuple[Path, ...], form: str, names: str | None, unit: str, as_json: bool) -> None:
    """Read an order in torch's CSV, a Chrome trace (one combined, or one FILE a rank from torch's profiler), or the
    configuration of a training: Megatron-LM's flags, Megatron Bridge's overrides, torchtitan's arguments.
    """
    try:
        reader(names)
    except SpecError as error:
        raise click.BadParameter(str(error.message), param_hint="--names") from None
    try:
        texts = [_text(path) for path in files]
        if form == "auto":
            plain = "configuration" if is_configuration(texts[0]) else "torch-csv"
            form = "chrome-trace" if texts[0].lstrip("\ufeff \t\r\n")[:1] in ("{", "[") else plain
        if form != "chrome-trace" and len(texts) > 1:
            raise click.UsageError("an order or a configuration is one file for all ranks")
        if form == "configuration":
            _refuse_without_effect(names, unit)
            spec, query, notes = view_of(texts[0])
            shape = {"format": form, "complete": True, "missing": None, "spec": spec.to_json(), "query": query}
            shape |= {"notes": notes}
        elif form == "torch-csv":
            _refuse_without_effect(names, unit)
            found = torch_csv.read_file(texts[0])
            shape = {"format": form, "complete": True, "missing": None, "dialect": found.dialect}
            shape |= {"title": found.title, "notes": list(found.notes)} | _planned(found.order)
        else:
            shape = _trace(texts, names, unit)
    except RequestError as error:
        shape = {"format": form, "complete": False, "missing": error.message}
    shape = {"files": [path.name for path in files]} | shape
    click.echo(json.dumps(shape) if as_json else "\n".join(_summary(shape)))
    sys.exit(0 if shape["complete"] else 1)


def _refuse_without_effect(names: str | None, unit: str) -> None:
    """Raise UsageError for options of traces with another file."""
    if names is not None or unit != "us":
        raise click.UsageError("--names and --unit are for traces: this file has neither names of events nor times")


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        text = text_of(gzip.decompress(data) if data.startswith(GZIP) else data)
    except (RequestError, OSError, EOFError, zlib.error) as error:
        why = message(
            "web.file_is_not_text", "{file} cannot be read as text: {reason}", file=path.name, reason=str(error)[:120]
        )
        raise RequestError("file", path.name, why) from None
    if not text.strip():
        raise RequestError("file", path.name, message("web.file_is_empty", "the file is empty"))
    return text


def _trace(texts: list[str], names: str | None, unit: str) -> dict[str, Any]:
    found = chrome.load(*texts, names=names, unit=unit)
    shape: dict[str, Any] = {
        "format": "chrome-trace",
        "complete": found.timeline is not None,
        "missing": found.missing,
        "source": found.source,
        "step": found.step,
        "steps": found.steps,
        "ignored": found.ignored,
        "notes": list(found.notes),
        "lanes": [
            {"rank": lane.rank, "ops": [
                {"op": op.text(), "start": start, "end": end}
                for op, start, end in zip(lane.ops, lane.start.tolist(), lane.end.tolist(), strict=True)
            ]}
            for lane in found.lanes
        ],
        "mean_ms": _means(found),
    }  # fmt: skip
    if found.timeline is None:
        return shape
    shape["measured"] = figures(found.timeline).as_dict()
    shape["without_waits"] = figures(found.computing).as_dict() if found.computing else None
    spec = spec_of(found)
    shape["family"] = None if spec.family == imported.NAME else spec.family
    means = figures(simulate(found.timeline.order, spec.timing, spec.v)).as_dict()
    return shape | _planned(found.timeline.order) | {"at_measured_costs": means}


def _planned(order: Order) -> dict[str, Any]:
    """Return the order, and its figures where F, I and W each cost a device one unit."""
    place = order.placement
    return {
        "p": order.p,
        "m": order.m,
        "chunks": place.chunks,
        "placement": place.kind,
        "order": order.text(),
        "planned": figures(simulate(order, Costs(), place.chunks // place.streams)).as_dict(),
        "peak_in_flight": peaks(order)[0].tolist(),
    }


def _means(found: Measured) -> dict[str, float]:
    """Return the mean time of each kind of op in ms, without waits where they are known."""
    spent: dict[str, list[float]] = {}
    starts = found.computing.start if found.computing else np.concatenate([lane.start for lane in found.lanes])
    ends = np.concatenate([lane.end for lane in found.lanes])
    ops = [op for lane in found.lanes for op in lane.ops]
    for op, time in zip(ops, (ends - starts).tolist(), strict=True):
        spent.setdefault("FB" if isinstance(op, Pair) else str(op.kind), []).append(time)
    return {kind: sum(times) / len(times) for kind, times in spent.items()}


def _summary(shape: dict[str, Any]) -> list[str]:
    """Describe the result in a few lines."""
    name = ", ".join(shape["files"])
    if "lanes" not in shape and not shape["complete"]:
        return [f"{name}: {shape['missing']}"]
    lines = [f"{name}: {_found(shape)}"]
    if "query" in shape:
        lines.append(f"page: /?{shape['query']}")
    elif shape["complete"]:
        ops, peak = sum(len(row.split()) for row in shape["order"]), max(shape["peak_in_flight"])
        lines.append(
            f"a whole schedule: {ops} ops, p {shape['p']}, m {shape['m']}, chunks per rank {shape['chunks']}, "
            f"{shape['placement']}, peak in flight {peak}"
        )
        if shape.get("family"):
            lines.append(f"the order is that of {FAMILIES[shape['family']].title}")
    else:
        lines += [_lane_line(lane) for lane in shape["lanes"]]
        lines.append(f"not a whole schedule: {shape['missing']}")
    if shape.get("mean_ms"):
        lines.append("mean " + ", ".join(f"{kind} {time:.3f} ms" for kind, time in shape["mean_ms"].items()))
    for key, title, unit in (
        ("measured", "measured", " ms"),
        ("without_waits", "without waits inside ops", " ms"),
        ("at_measured_costs", "the order at the mean costs of each stage", " ms"),
        ("planned", "the order at unit costs", ""),
    ):
        if shape.get(key):
            lines.append(_figures(title, shape[key], unit))
    return lines + [f"note: {note}" for note in shape.get("notes", ())]


def _found(shape: dict[str, Any]) -> str:
    if shape["format"] == "torch-csv":
        return f"an order in {shape.get('title', 'torch CSV')}"
    if shape["format"] == "configuration":
        spec = shape["spec"]
        return f"a training with {FAMILIES[spec['family']].title}, p {spec['p']}, m {spec['m']}, v {spec['v']}"
    names = "torch profiler's ranges" if shape["source"] == "torch profiler" else "op texts"
    steps = f", step {shape['step']} of {shape['steps']}" if shape["steps"] > 1 else ""
    ranks = len(shape["lanes"])
    return f"a Chrome trace with {names} of {ranks} rank{'s' * (ranks != 1)}{steps}; {shape['ignored']} other events"


def _lane_line(lane: dict[str, Any]) -> str:
    ops = lane["ops"]
    return f"rank {lane['rank']}: {len(ops)} ops from {ops[0]['start']:.3f} to {ops[-1]['end']:.3f} ms"


def _figures(title: str, shown: dict[str, Any], unit: str) -> str:
    whole, span = (shown["bubble"][window]["of_total"] for window in ("global", "span"))
    return f"{title}: makespan {shown['makespan']:.4g}{unit}, bubble {whole:.2%} of total (global), {span:.2%} (span)"
