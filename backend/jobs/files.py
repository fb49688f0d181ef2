"""Files for other programs: an order in torch's CSV or a trace, a run's rows, a view's orders for one HTML file."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from backend.address.link_state import entries_of, plans_of
from backend.address.preset import split_preset
from backend.address.query import KEYS, fields_of, nested, query_of, value_of
from backend.compute.searched_orders import SearchedOrders
from backend.errors import RequestError, message
from backend.jobs.encoding import BINARY, Encoded
from backend.jobs.order_time import IMPORTED_MS, WORKER_MS, order_ms
from backend.jobs.previews import texts
from backend.runs import estimate, run_files
from backend.runs.options import Options, refuse_ranks, refuse_steps
from backend.runs.run import Run
from backend.runs.run_order import order_of
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.registry import family_of, op_count, read
from backend.schedule.interop.configurations.frameworks import FRAMEWORKS
from backend.schedule.interop.configurations.write import CONFIGURED, configuration
from backend.schedule.interop.export import FORMATS, file_name, render
from backend.schedule.order import wire
from backend.schedule.spec import Spec, choice

LARGEST = 64_000_000  # characters of a file, which is made in memory; the command line writes larger ones
ROW_US = 8.0  # of a row of a run, for reading and writing it
MOST_MS = 5000.0  # of building the orders of one HTML file


@dataclass(frozen=True)
class File:
    """A file to send: its bytes, its media type and its name."""

    body: bytes
    mimetype: str
    name: str


def exported(query: bytes, found: Iterable[Spec], largest: int = LARGEST) -> File:
    """Return the file of the spec in a query, of at most about ``largest`` characters; ``format`` names its format.

    ``found`` are searched specs with their rows, here and below.
    """
    data = fields_of(query, (*KEYS, "format"), lambda key, text: text if key == "format" else value_of(key, text))
    form = choice("format", data.pop("format", "json"), FORMATS)
    spec = SearchedOrders(found).known(read(nested(data)))
    most = largest // FORMATS[form][2]
    if op_count(spec) > most:
        nearest = max(1, spec.m * most // op_count(spec))
        why = message(
            "web.file_too_large",
            "a file of this format holds {most} ops here; the command line writes larger ones",
            most=f"{most:,}",
        )
        raise RequestError("m", spec.m, why, limit=nearest, nearest=nearest)
    text = render(spec, registry.order(spec), form)
    return File(text.encode(), FORMATS[form][1], file_name(spec, form))


def configurations(query: bytes) -> list[dict[str, Any]]:
    """Return what makes each training framework train so: its configuration with notes, or why it does not and what is
    nearest. The query is that of a spec and of its model and machine.
    """
    rest, preset = split_preset(query)
    spec = read(nested(fields_of(rest, KEYS, value_of)))
    found: list[dict[str, Any]] = []
    for name in CONFIGURED:
        shape: dict[str, Any] = {"name": name, "title": FRAMEWORKS[name].title}
        try:
            made = configuration(name, spec, preset)
            found.append(shape | {"text": made.text, "notes": list(made.notes), "error": None})
        except SpecError as error:
            found.append(shape | {"text": None, "notes": [], "error": error.as_dict()})
    return found


@dataclass(frozen=True)
class RequestedRun:
    """A run that is asked for: its spec, packed order, where it will execute, what there is to do, and the query of
    its page."""

    spec: Spec
    order: str
    setting: estimate.Setting
    work: estimate.Work
    query: str


def requested_run(
    data: Any, chosen: Options, choices: list[dict[str, Any]], devices: list[dict[str, Any]], found: Iterable[Spec]
) -> RequestedRun:
    """Build the order of a run that is asked for with the spec ``data``, and count its work; ``choices`` and
    ``devices`` are the runner's.
    """
    spec = SearchedOrders(found).known(registry.read(data))
    refuse_ranks(spec.p, choices)
    refuse_steps(chosen.steps, spec.forward_only, registry.family_of(spec).asynchronous)
    setting = estimate.setting_of(spec.p, chosen, choices, devices)
    order = registry.order(spec)
    work = estimate.Work.of(order, spec, setting.mode)
    return RequestedRun(spec, wire.to_text(order), setting, work, query_of(spec))


def run_ms(run: Run) -> float:
    """Estimate the milliseconds of work on a run's rows and order, in a worker, which receives both."""
    return (WORKER_MS if run.order else IMPORTED_MS) + run.log.ops * ROW_US / 1000


def order_of_run(run: Run) -> Encoded:
    """Return the order of a run in the wire format, with the run's spec."""
    return Encoded.of(wire.compress(wire.encode(order_of(run), run.spec)), BINARY)


def file_of_run(run: Run, form: str) -> bytes:
    """Return a run that is over as a file."""
    return run_files.render(run, order_of(run), form).encode()


def calibrated_run(run: Run) -> dict[str, Any]:
    """Return the schedule of a run with the measured costs of its ops."""
    return run_files.calibrated(run, order_of(run))


@dataclass(frozen=True)
class View:
    """A view for one HTML file: specs, orders and families as JSON, its texts, theme, and the name of its file."""

    data: dict[str, Any]
    texts: tuple[str, str] | None
    theme: str
    in_ms: bool
    name: str


def standalone(query: bytes, found: Iterable[Spec]) -> View:
    """Return the view in a query for one HTML file. Raises RequestError for one that is too large."""
    plans = list(map(SearchedOrders(found).known, plans_of(query)))
    if sum(order_ms(spec) for spec in plans) > MOST_MS:
        why = message("web.view_too_large", "this is too large for one file; choose fewer micro-batches or devices")
        raise RequestError("m", plans[0].m, why)
    names = "-".join(re.sub(r"[^a-z0-9-]", "", spec.family) for spec in plans)
    entries = entries_of(query)
    name = f"bubbleline-{names}-p{plans[0].p}-m{plans[0].m}.html"
    return View(view_data(plans), texts(query, with_bubble=True), entries.get("theme", ""), "m.model" in entries, name)


def view_data(plans: Sequence[Spec]) -> dict[str, Any]:
    """Return specs with their orders, packed, and the families, as the script of an HTML file reads them."""
    families = registry.FAMILIES | {spec.family: family_of(spec) for spec in plans}
    bodies = [wire.compress(wire.encode(registry.order(spec), spec.to_json())) for spec in plans]
    return {
        "specs": [spec.to_json() for spec in plans],
        "orders": [b64encode(body).decode() for body in bodies],
        "families": [family.as_dict() | {"laws": []} for family in families.values()],
        "defaults": Spec().to_json(),
    }
