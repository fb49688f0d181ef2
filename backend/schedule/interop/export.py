"""Write a schedule as a file for another program, in any of the formats."""

from __future__ import annotations

import json

from backend.schedule.families import registry
from backend.schedule.interop import torch_csv
from backend.schedule.interop.traces import chrome_export
from backend.schedule.order.order import Order
from backend.schedule.result import describe
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

FORMATS = {  # format -> (file name extension, media type, approximate characters per op)
    "torch-csv": ("csv", "text/csv", 7),
    "chrome-trace": ("trace.json", "application/json", 335),
    "json": ("json", "application/json", 25),
}
PICTURES = ("svg", "png", "html")  # the formats that backend/jobs/pictures.py draws


def render(spec: Spec, order: Order, form: str) -> str:
    """Return the text of a spec's order in one of FORMATS. Raises SpecError if the format cannot represent it."""
    if form == "torch-csv":
        return torch_csv.dump(order)
    timeline = simulate(order, spec.timing, spec.v)
    if form == "chrome-trace":
        title = f"{registry.family_of(spec).title} p={spec.p} m={spec.m} v={spec.v}"
        return json.dumps(chrome_export.trace(timeline, title)) + "\n"
    return json.dumps(describe(spec, order, timeline, times=True)) + "\n"


def file_name(spec: Spec, form: str) -> str:
    """Return the file's name: family and sizes, so that several files in one folder differ."""
    chunks = f"-v{spec.v}" if spec.v > 1 else ""
    return f"{spec.family}-p{spec.p}-m{spec.m}{chunks}.{FORMATS[form][0]}"
