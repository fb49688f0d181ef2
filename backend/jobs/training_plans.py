"""Training plans: the fastest steps of a model on a machine within a device's memory, for the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend.address.preset import split_preset
from backend.address.query import fields_of, number_of
from backend.compute.parallel_map import in_processes
from backend.jobs.encoding import Encoded, encode_json
from backend.schedule.analysis.plans import TrainingSetup, best_of_each, frontier, needs_a_model, plans_within
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.step_units import GB
from backend.schedule.spec import LIMITS, Spec, integer, number

PLAN_KEYS = ("p", "m", "gb", "seconds")
GIGABYTES = (1e-3, 1e6)  # of a device, from and to
SECONDS = (0.1, 20.0, 10.0)  # of the construction: from, to, default; a worker's job may take 30 s (config.py)


@dataclass(frozen=True)
class PlanQuery:
    """Sizes, the model on its machine, a device's memory in bytes (None: the machine's), seconds for the answer."""

    asked: Spec
    preset: Preset
    limit: float | None
    seconds: float


def plan_query_of(query: bytes) -> PlanQuery:
    """Read the query of a plan. Raises RequestError naming the key that is wrong."""
    rest, preset = split_preset(query)
    data = fields_of(rest, PLAN_KEYS, number_of)
    p, m = (integer(key, data.get(key, getattr(Spec, key)), 1, LIMITS[key]) for key in ("p", "m"))
    limit = GB * number("gb", data["gb"], *GIGABYTES) if "gb" in data else None
    seconds = number("seconds", data.get("seconds", SECONDS[2]), *SECONDS[:2])
    if preset is None:
        raise needs_a_model()
    return PlanQuery(Spec(p=p, m=m), preset, limit, seconds)


def training_plans(query: bytes) -> tuple[Encoded, bool]:
    """Return the best plan of each family and number of chunks and those of the frontier, in the order of ``plans``,
    and whether all settings were built.
    """
    asked = plan_query_of(query)
    found, left_out = plans_within(asked.seconds, asked.asked, asked.preset, asked.limit, in_processes)
    best, front = set(map(id, best_of_each(found))), set(map(id, frontier(found)))
    shape = {
        "p": asked.asked.p,
        "m": asked.asked.m,
        "limit": found[0].units.memory.limit,
        "tried": len(found),
        "left_out": left_out,
        "plans": [
            _described(plan) | {"best": id(plan) in best, "frontier": id(plan) in front}
            for plan in found
            if id(plan) in best or id(plan) in front
        ],
    }
    return encode_json(shape), left_out == 0


def _described(plan: TrainingSetup) -> dict[str, Any]:
    return {"spec": plan.spec.to_json(), "units": plan.units.as_dict()}
