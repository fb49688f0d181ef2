"""Any set of families at one setting, a row each: simulated figures, what they cost, and what papers claim.

Knows how to put families side by side; what is legal is theirs to say (nearest_spec.py), why a claim differs is claims.py's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from backend.schedule.analysis.claims import CLAIMS, SOURCE, claim_of
from backend.schedule.analysis.nearest_spec import fit, judge_sizes
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES, family_of, order
from backend.schedule.order.order import Order
from backend.schedule.simulation.memory import peak_memory, peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

TECHNIQUES = {
    "gpipe": "all forwards, then all backwards",
    "1f1b": "a backward as soon as it can run",
    "pipedream": "1F1B without a flush, weights stashed",
    "interleaved": "v chunks per device",
    "interleaved-bfs": "v chunks per device, one after the other",
    "interleaved-zb": "v chunks per device, backward split",
    "zb-h1": "backward split, W delayed into the cool-down",
    "zb-h2": "backward split, twice the warm-up",
    "zb-auto": "backward split, order searched under a memory limit",
    "v-min": "building block on a V, least memory",
    "v-half": "building block on a V, half the memory",
    "v-zb": "backward split on a V, chunks in turn",
    "v-auto": "V, order searched under a memory limit",
    "gis": "v chunks per device, short warm-up",
    "gis-h": "v chunks per device, half groups",
    "dualpipe": "two directions, forward and backward overlapped",
    "dualpipev": "DualPipe folded into a V",
}


def compare(asked: Spec, names: Sequence[str] | None = None, v: int | None = None) -> dict[str, Any]:
    """``{"rows", "notes"}`` for the families named (None: all) at the asked p, m, costs and w_share.

    ``v`` goes to the families that leave a choice of chunks; None gives each what is natural for it. The asked
    family, v and the fields that only some families take are not binding. Raises SpecError for a name that is no
    family, one named twice, lists of costs that fit no cut of the model, and for more ops than one answer may have.
    """
    _judge_names(names or ())
    _judge_lists(asked)
    fitted: dict[str, tuple[Spec, str | None]] = {}
    notes = []
    for name in names or FAMILIES:
        try:
            fitted[name] = fit(asked, name, v)
        except SpecError as error:
            if name == list(names or FAMILIES)[-1] and not fitted:
                raise  # it is the setting that is wrong
            notes.append(f"{FAMILIES[name].title} is left out: {error.message}.")
    judge_sizes(asked, [spec for spec, _ in fitted.values()])
    rows = [_row(spec, adjusted) for spec, adjusted in fitted.values()]
    return {"rows": rows, "notes": _notes(rows) + notes}


def _judge_names(names: Sequence[str]) -> None:
    for at, name in enumerate(names):
        family_of(Spec(family=name))
        if name in names[:at]:
            raise SpecError("families", name, f"{name} is named more than once")


def _judge_lists(asked: Spec) -> None:
    """Lists are one entry a stage of some cut of the model over p devices."""
    for name in ("F", "I", "W"):
        cost = getattr(asked.costs, name)
        if isinstance(cost, tuple) and len(cost) % asked.p:
            nearest = asked.p * max(1, round(len(cost) / asked.p))
            message = f"{name} as a list has one entry a stage: p = {asked.p} of them or a multiple, not {len(cost)}"
            raise SpecError(name, len(cost), message, limit=nearest, nearest=nearest)


def _row(spec: Spec, adjusted: str | None) -> dict[str, Any]:
    family = FAMILIES[spec.family]
    built = order(spec)
    timeline = simulate(built, spec.timing, spec.v)
    in_flight, _ = peaks(built)
    memory = peak_memory(timeline, spec.w_share, spec.v, spec.kept, spec.weights or 0.0)
    messages = message_count(built)
    about = {key: getattr(family, key) for key in ("title", "year", "used_by", "backward", "complexity")}
    return (
        {"family": family.name, **about, "technique": TECHNIQUES.get(family.name, family.summary)}
        | {"spec": spec.to_json(), "adjusted": adjusted}
        | figures(timeline).as_dict()
        | {
            "messages": messages,
            # Every message carries one micro-batch's activation (or its gradient) at a stage boundary, however thin
            # the stages are: v chunks multiply the bytes as they multiply the messages.
            "bytes_per_message_units": float(messages),
            "peak_in_flight": int(in_flight.max()),
            "peak_memory": {"ranks": memory.tolist(), "max": float(memory.max())},
            "parameters": parameters(built, spec),
            "claim": claim_of(spec),
        }
    )


def message_count(built: Order) -> int:
    """Values sent between different ranks in a step: each boundary between ranks, forward and backward."""
    place = built.placement
    slot = np.arange(place.p * place.chunks)
    crosses = (place.before >= 0) & (place.before // place.chunks != slot // place.chunks)
    return 2 * int(crosses.sum()) * built.n


def parameters(built: Order, spec: Spec) -> dict[str, Any]:
    """Copies of its own share of the weights that each device holds, and why."""
    copies = np.full(built.p, built.placement.streams)
    why = "one copy of the device's own layers"
    if built.placement.streams > 1:
        why = "two copies: each device holds a stage of both replicas, one a direction"
    elif FAMILIES[spec.family].asynchronous:
        copies = peaks(built)[0]
        why = "a version for every micro-batch in flight, which keeps the weights it began with: p - s on stage s"
    return {"ranks": copies.tolist(), "max": int(copies.max()), "why": why}


def _notes(rows: Sequence[dict[str, Any]]) -> list[str]:
    by_name = {row["family"]: row for row in rows}
    notes = []
    if "gpipe" in by_name and "1f1b" in by_name:
        notes.append(_same_bubble(by_name["gpipe"], by_name["1f1b"]))
    notes.append(
        "Global counts from the first start to the last end, span the longest device's own window; "
        "of total is idle over all time, of ideal idle over work."
    )
    notes += [
        f"{row['title']} is drawn over {row['spec']['m']} updates of its weights: fill and drain come once."
        for row in rows
        if FAMILIES[row["family"]].asynchronous
    ]
    if any(row["family"] in CLAIMS for row in rows):
        notes.append(f"Claims are {SOURCE}. R here is 1F1B's simulated span rate of total, M is p micro-batches.")
    return notes


def _same_bubble(gpipe: dict[str, Any], flush: dict[str, Any]) -> str:
    """The textbooks' error, where people meet it; said of the figures at hand."""
    held = f"{gpipe['peak_memory']['max']:g} and {flush['peak_memory']['max']:g} micro-batches' activations"
    theirs, ours = gpipe["makespan"], flush["makespan"]
    if abs(theirs - ours) <= 1e-9 * max(theirs, ours):
        return f"GPipe and 1F1B have the same bubble: 1F1B saves memory ({held}), not time."
    costs = gpipe["spec"]["costs"]
    uneven = any(isinstance(costs[key], list) and len(set(costs[key])) > 1 for key in "FIW")
    reason = "stages differ in cost" if uneven else "1F1B's steady exchange of F and B waits for hops"
    return (
        "For equal stages and no hops GPipe and 1F1B have the same bubble; 1F1B saves memory "
        f"({held}), not time. Here they differ ({theirs:g} and {ours:g}) because {reason}."
    )
