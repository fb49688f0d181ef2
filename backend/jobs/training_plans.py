"""Training plans: the fastest steps of a model on machines within a device's memory, for the page."""

from __future__ import annotations

from typing import Any

from backend.address.preset import split_preset
from backend.address.query import fields_of, number_of, one_or_zero
from backend.compute.parallel_map import in_processes
from backend.jobs.encoding import Encoded, encode_json
from backend.schedule.analysis import plan_question
from backend.schedule.analysis.plans import best_of_each, frontier, plans_within, standings
from backend.schedule.analysis.would_fit import remedies
from backend.schedule.spec import number

SECONDS = (0.1, 20.0, 10.0)  # of the construction: from, to, default; a worker's job may take 30 s (config.py)
WORDS = ("families", "framework")
YES_NO = ("recompute", "offload")


def training_plans(query: bytes) -> tuple[Encoded, bool]:
    """Return the best plan of each family and number of chunks, or of each layout, and those of the frontier, in the
    order of ``plans``, and whether all settings were built. Raises RequestError naming the key that is wrong.
    """
    rest, preset = split_preset(query)
    data = fields_of(rest, (*plan_question.KEYS, "seconds"), _value_of)
    seconds = number("seconds", data.pop("seconds", SECONDS[2]), *SECONDS[:2])
    asked = plan_question.read(data, preset)
    found, tried, left_out = plans_within(seconds, asked, in_processes)
    best, front = set(map(id, best_of_each(found))), set(map(id, frontier(found)))
    shown = [plan for plan in found if id(plan) in best or id(plan) in front]
    others = [] if found[0].fits else remedies(found[0], asked, data.get("gpus"), data.get("batch"))
    shape = {
        "limit": found[0].units.memory.limit,
        "tried": tried,
        "left_out": left_out,
        "would_fit": [each.as_dict() for each in others],
        "plans": [
            plan.as_dict()
            | {
                "place": place and place[0],
                "tied": place is not None and place[1],
                "best": id(plan) in best,
                "frontier": id(plan) in front,
            }
            for plan, place in zip(shown, standings(shown), strict=True)
        ],
    }
    return encode_json(shape), left_out == 0


def _value_of(key: str, text: str) -> Any:
    if key in WORDS:
        return text
    if key in YES_NO:
        return one_or_zero(key, text)
    return number_of(key, text)
