"""Compare families at one setting, one row each: simulated figures, costs, and the papers' claims.

nearest_spec.py finds the nearest legal spec of a family, claims.py explains why a claim differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from backend.schedule.analysis.claims import PIPEOFFLOAD, SOURCE, claim_of
from backend.schedule.analysis.map_each import Map, one_by_one, time_in_ops
from backend.schedule.analysis.nearest_spec import fit, validate_sizes
from backend.schedule.errors import Message, SpecError, message
from backend.schedule.families.registry import FAMILIES, family_of, order
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.order.order import Order
from backend.schedule.simulation.memory import peak_memory, peaks
from backend.schedule.simulation.message_flow import message_count
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec, with_length

TECHNIQUES = {
    "gpipe": message("analysis.technique_gpipe", "all forwards, then all backwards"),
    "1f1b": message("analysis.technique_1f1b", "a backward as soon as it can run"),
    "pipedream": message("analysis.technique_pipedream", "1F1B without a flush, weights stashed"),
    "interleaved": message("analysis.technique_interleaved", "v chunks per device"),
    "interleaved-bfs": message("analysis.technique_interleaved_bfs", "v chunks per device, one after the other"),
    "interleaved-zb": message("analysis.technique_interleaved_zb", "v chunks per device, backward split"),
    "zb-h1": message("analysis.technique_zb_h1", "backward split, W delayed into the cool-down"),
    "zb-h2": message("analysis.technique_zb_h2", "backward split, twice the warm-up"),
    "zb-auto": message("analysis.technique_zb_auto", "backward split, order searched under a memory limit"),
    "v-min": message("analysis.technique_v_min", "building block on a V, least memory"),
    "v-half": message("analysis.technique_v_half", "building block on a V, half the memory"),
    "v-zb": message("analysis.technique_v_zb", "backward split on a V, chunks in turn"),
    "v-auto": message("analysis.technique_v_auto", "V, order searched under a memory limit"),
    "gis": message("analysis.technique_gis", "v chunks per device, short warm-up"),
    "gis-h": message("analysis.technique_gis_h", "v chunks per device, half groups"),
    "chimera": message("analysis.technique_chimera", "two directions, merged slot by slot"),
    "dualpipe": message("analysis.technique_dualpipe", "two directions, forward and backward overlapped"),
    "dualpipev": message("analysis.technique_dualpipev", "DualPipe folded into a V"),
    "chimera-auto": message("analysis.technique_chimera_auto", "two directions, order searched under a memory limit"),
}


def compare(
    asked: Spec,
    names: Sequence[str] | None = None,
    v: int | None = None,
    preset: Preset | None = None,
    map_each: Map = one_by_one,
) -> dict[str, Any]:
    """Return ``{"rows", "notes"}`` for the named families (None: all) at the asked p, m, costs and w_share.

    ``v`` applies to the families with a choice of chunks; None uses each family's natural number. The asked family, v
    and the fields that only some families take are not binding. Raises SpecError for an unknown family, a family
    named twice, lists of costs that fit no cut of the model, and for more ops than one answer may have.

    With a ``preset`` each family has the costs of its own stages, unless costs are given as well, and its row has
    ``units``: the step in seconds, tokens, FLOP utilisation and bytes.
    """
    asked = asked.checked()
    _validate_names(names or ())
    _validate_lists(asked)
    if asked.order is not None:
        text = message("analysis.order_is_not_compared", "an imported order is one schedule; families are compared")
        raise SpecError("order", asked.order, text)
    fitted: dict[str, tuple[Spec, Message | None]] = {}
    notes = []
    for name in names or FAMILIES:
        try:
            spec, adjusted = fit(asked, name, v)
            fitted[name] = (priced(spec, asked, preset), adjusted)
        except SpecError as error:
            if name == list(names or FAMILIES)[-1] and not fitted:
                raise  # the setting itself is wrong
            notes.append(_left_out(name, error))
    validate_sizes(asked, [spec for spec, _ in fitted.values()])
    found = map_each(lambda each: _row(*each, preset), list(fitted.values()), lambda each: time_in_ops(each[0]))
    rows = [row for row in found if not isinstance(row, SpecError)]
    refused = {name: row for name, row in zip(fitted, found, strict=True) if isinstance(row, SpecError)}
    if not rows:
        raise next(reversed(refused.values()))
    notes += [_left_out(name, error) for name, error in refused.items()]
    return {"rows": rows, "notes": _notes(rows) + notes}


def _left_out(name: str, error: SpecError) -> Message:
    return message(
        "analysis.family_left_out",
        "{family} is left out: {reason}.",
        family=FAMILIES[name].title,
        reason=error.message,
    )


def priced(spec: Spec, asked: Spec, preset: Preset | None) -> Spec:
    """Return a family's spec with the costs of a preset, where ``asked`` gives none. Raises SpecError."""
    return spec if preset is None or asked.costs != Spec().costs else preset.priced(spec)


def _validate_names(names: Sequence[str]) -> None:
    for at, name in enumerate(names):
        family_of(Spec(family=name))
        if name in names[:at]:
            raise SpecError(
                "families", name, message("analysis.named_more_than_once", "{name} is named more than once", name=name)
            )


def _validate_lists(asked: Spec) -> None:
    """Raise SpecError unless lists have one entry per stage of some cut of the model over p devices."""
    for name in ("F", "I", "W"):
        cost = getattr(asked.costs, name)
        if isinstance(cost, tuple) and len(cost) % asked.p:
            stages = asked.p * max(1, round(len(cost) / asked.p))
            text = message(
                "analysis.list_fits_no_stages",
                "{name} as a list has one entry per stage: p = {p} of them or a multiple, not {given}",
                name=name,
                p=asked.p,
                given=len(cost),
            )
            raise SpecError(name, len(cost), text, limit=stages, nearest=with_length(cost, stages))


def _row(spec: Spec, adjusted: Message | None, preset: Preset | None) -> dict[str, Any] | SpecError:
    """Return the row of a family, or why its order cannot run, which shows only once it is built."""
    family = FAMILIES[spec.family]
    try:
        built = order(spec)
    except SpecError as error:
        return error
    timeline = simulate(built, spec.timing, spec.v)
    in_flight, _ = peaks(built)
    memory = peak_memory(timeline, spec.w_share, spec.v, spec.kept, spec.weights or 0.0)
    messages, shown = message_count(built), figures(timeline)
    units = None if preset is None else preset.units(spec, timeline)
    about = {key: getattr(family, key) for key in ("title", "year", "used_by", "backward", "complexity")}
    return (
        {"family": family.name, **about, "technique": TECHNIQUES.get(family.name, family.summary)}
        | {"spec": spec.to_json(), "adjusted": adjusted}
        | shown.as_dict()
        | {
            "messages": messages,
            # Every message carries one micro-batch's activation (or its gradient) at a stage boundary, however thin
            # the stages are: v chunks multiply the bytes as they multiply the messages.
            "bytes_per_message_units": float(messages),
            "peak_in_flight": int(in_flight.max()),
            "peak_memory": {"ranks": memory.tolist(), "max": float(memory.max())},
            "parameters": parameters(built, spec),
            "claim": claim_of(spec, shown.span_bubble.of_total, float(memory.max())),
            "units": None if units is None else units.as_dict(),
        }
    )


def parameters(built: Order, spec: Spec) -> dict[str, Any]:
    """Return how many copies of its share of the weights each device holds, and why."""
    copies = np.full(built.p, built.placement.streams)
    why = message("analysis.one_copy_of_weights", "one copy of the device's own layers")
    if built.placement.streams > 1:
        why = message(
            "analysis.two_copies_of_weights",
            "two copies: each device holds a stage of both replicas, one for each direction",
        )
    elif family_of(spec).asynchronous:
        copies = peaks(built)[0]
        why = message(
            "analysis.stashed_weights",
            "a version for every micro-batch in flight, which keeps the weights it began with: p - s on stage s",
        )
    return {"ranks": copies.tolist(), "max": int(copies.max()), "why": why}


def _notes(rows: Sequence[dict[str, Any]]) -> list[Message]:
    by_name = {row["family"]: row for row in rows}
    notes = []
    if "gpipe" in by_name and "1f1b" in by_name and not by_name["1f1b"]["spec"]["forward_only"]:
        notes.append(_same_bubble(by_name["gpipe"], by_name["1f1b"]))
    notes.append(
        message(
            "analysis.windows",
            "Global counts from the first start to the last end, span the longest device's own window; "
            "of total is idle over all time, of ideal idle over work.",
        )
    )
    notes += [
        message(
            "analysis.fill_and_drain_once",
            "{family} is drawn over {m} updates of its weights: fill and drain come once.",
            family=row["title"],
            m=row["spec"]["m"],
        )
        for row in rows
        if FAMILIES[row["family"]].asynchronous
    ]
    claims = [row["claim"] for row in rows if row["claim"] is not None]
    if any("bubble" in claim for claim in claims):
        notes.append(
            message(
                "analysis.claims_are",
                "Claims are {source}. R here is 1F1B's simulated span rate of total, M is p micro-batches.",
                source=SOURCE,
            )
        )
    if any("bubble" not in claim for claim in claims):
        notes.append(PIPEOFFLOAD)
    return notes


def _same_bubble(gpipe: dict[str, Any], flush: dict[str, Any]) -> Message:
    """Return the note against a common error (that 1F1B shortens the bubble), with the figures of both rows."""
    held = message(
        "analysis.memory_of_both",
        "{gpipe} and {flush} micro-batches' activations",
        gpipe=f"{gpipe['peak_memory']['max']:g}",
        flush=f"{flush['peak_memory']['max']:g}",
    )
    theirs, ours = gpipe["makespan"], flush["makespan"]
    if abs(theirs - ours) <= 1e-9 * max(theirs, ours):
        return message(
            "analysis.same_bubble",
            "GPipe and 1F1B have the same bubble: 1F1B saves memory ({held}), not time.",
            held=held,
        )
    costs = gpipe["spec"]["costs"]
    uneven = any(isinstance(costs[key], list) and len(set(costs[key])) > 1 for key in "FIW")
    reason = message("analysis.because_of_hops", "1F1B's steady exchange of F and B waits for hops")
    if uneven:
        reason = message("analysis.because_stages_differ", "stages differ in cost")
    return message(
        "analysis.other_bubble",
        "For equal stages and no hops GPipe and 1F1B have the same bubble; 1F1B saves memory ({held}), not time. "
        "Here they differ ({theirs} and {ours}) because {reason}.",
        held=held,
        theirs=f"{theirs:g}",
        ours=f"{ours:g}",
        reason=reason,
    )
