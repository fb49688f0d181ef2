"""Training plans: the fastest steps of a model on a machine within a device's memory, for the page."""

from __future__ import annotations

from backend.address.preset import split_preset
from backend.address.query import fields_of, number_of
from backend.compute.parallel_map import in_processes
from backend.jobs.encoding import Encoded, encode_json
from backend.schedule.analysis.plans import best_of_each, frontier, needs_a_model, plans_within
from backend.schedule.hardware.step_units import GB
from backend.schedule.spec import LIMITS, Spec, integer, number

PLAN_KEYS = ("p", "m", "gb", "seconds")
GIGABYTES = (1e-3, 1e6)  # of a device, from and to
SECONDS = (0.1, 20.0, 10.0)  # of the construction: from, to, default; a worker's job may take 30 s (config.py)


def training_plans(query: bytes) -> tuple[Encoded, bool]:
    """Return the best plan of each family and number of chunks and those of the frontier, in the order of ``plans``,
    and whether all settings were built. Raises RequestError naming the key that is wrong.
    """
    rest, preset = split_preset(query)
    data = fields_of(rest, PLAN_KEYS, number_of)
    p, m = (integer(key, data.get(key, getattr(Spec, key)), 1, LIMITS[key]) for key in ("p", "m"))
    limit = GB * number("gb", data["gb"], *GIGABYTES) if "gb" in data else None
    seconds = number("seconds", data.get("seconds", SECONDS[2]), *SECONDS[:2])
    if preset is None:
        raise needs_a_model()
    found, left_out = plans_within(seconds, Spec(p=p, m=m), preset, limit, in_processes)
    best, front = set(map(id, best_of_each(found))), set(map(id, frontier(found)))
    shape = {
        "p": p,
        "m": m,
        "limit": found[0].units.memory.limit,
        "tried": len(found),
        "left_out": left_out,
        "plans": [
            {
                "spec": plan.spec.to_json(),
                "units": plan.units.as_dict(),
                "best": id(plan) in best,
                "frontier": id(plan) in front,
            }
            for plan in found
            if id(plan) in best or id(plan) in front
        ],
    }
    return encode_json(shape), left_out == 0
