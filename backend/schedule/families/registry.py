"""The registry of all families by name. ``order(spec)`` builds every order."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from backend.schedule.errors import SpecError, message
from backend.schedule.families import apply_options, imported
from backend.schedule.families.bidirectional.chimera import CHIMERA
from backend.schedule.families.bidirectional.chimera_auto import CHIMERA_AUTO
from backend.schedule.families.bidirectional.dualpipe import DUALPIPE
from backend.schedule.families.bidirectional.dualpipev import DUALPIPEV
from backend.schedule.families.classic.gpipe import GPIPE
from backend.schedule.families.classic.one_f_one_b import ONE_F_ONE_B
from backend.schedule.families.classic.pipedream import PIPEDREAM
from backend.schedule.families.family import Family
from backend.schedule.families.grouped.gis import GIS, GIS_H
from backend.schedule.families.interleaved.interleaved import INTERLEAVED
from backend.schedule.families.interleaved.interleaved_bfs import INTERLEAVED_BFS
from backend.schedule.families.interleaved.interleaved_zb import INTERLEAVED_ZB
from backend.schedule.families.v_shape.v_auto import V_AUTO
from backend.schedule.families.v_shape.v_half import V_HALF
from backend.schedule.families.v_shape.v_min import V_MIN
from backend.schedule.families.v_shape.v_zb import V_ZB
from backend.schedule.families.zero_bubble.zb_auto import ZB_AUTO
from backend.schedule.families.zero_bubble.zb_h1 import ZB_H1
from backend.schedule.families.zero_bubble.zb_h2 import ZB_H2
from backend.schedule.options.entry import searched_entry
from backend.schedule.options.sizes import SEARCHED, entry_order
from backend.schedule.order.order import Order
from backend.schedule.simulation.costs import SizedCosts
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import LIMITS, Spec

__all__ = [
    "FAMILIES",
    "Family",
    "describe",
    "family_of",
    "op_count",
    "order",
    "read",
    "read_of_file",
    "validate",
    "validate_of_file",
]

FAMILIES: dict[str, Family] = {
    each.name: apply_options.with_options(each)
    for each in (
        *(GPIPE, ONE_F_ONE_B, PIPEDREAM),
        *(INTERLEAVED, INTERLEAVED_BFS, INTERLEAVED_ZB),
        *(ZB_H1, ZB_H2, ZB_AUTO),
        *(V_MIN, V_HALF, V_ZB, V_AUTO),
        *(CHIMERA, DUALPIPE, DUALPIPEV, CHIMERA_AUTO),
        *(GIS, GIS_H),
    )
}


def read(data: Mapping[str, Any], entry: bool = True) -> Spec:
    """Read a legal spec from JSON. Raises SpecError with the nearest legal value. Unless ``entry``, an order of entry
    that is to be searched stays so.
    """
    spec = Spec.from_json(data, {family.name: family.v[1] for family in FAMILIES.values()})
    return validate(spec) if entry else _validated(spec)


def read_of_file(data: Mapping[str, Any], found: Order) -> Spec:
    """Read the spec of a checked order from a file: sizes and options that are not given are the order's. The order is
    no part of the spec where a placement is a known one, and may be of any length. Raises SpecError.
    """
    if data.get("order") is not None:
        text = message("schedule.order_is_the_files", "the order is that of the file; leave it out")
        raise SpecError("order", data["order"], text)
    # of a placement of its own the spec has the order too, which says how many stages there are
    whole = imported.spec_of(found) if found.placement.kind == "custom" else imported.described(found)
    own = {name: value for name, value in whole.to_json().items() if name != "costs"}
    return validate_of_file(Spec.from_json({**own, **data, "family": imported.NAME}), found)


def validate_of_file(spec: Spec, found: Order) -> Spec:
    """Return a spec that goes with the checked order of a file. Raises SpecError for one that does not."""
    _validate(spec, imported.family_of_order(found))
    imported.validate(spec, found)
    return with_entry(spec, found)


def family_of(spec: Spec) -> Family:
    """Return the family of a spec. Raises SpecError for an unknown name, with the closest one."""
    if spec.family == imported.NAME:
        return imported.family(spec)
    try:
        return FAMILIES[spec.family]
    except KeyError:
        close = difflib.get_close_matches(spec.family[:40], FAMILIES, 1, 0.3)
        text = message(
            "schedule.no_such_family", "there is no family of that name; there are {names}", names=list(FAMILIES)
        )
        raise SpecError("family", spec.family, text, nearest=close[0] if close else "1f1b") from None


def validate(spec: Spec) -> Spec:
    """Return the spec as strict JSON reads it, with the order of entry that a search finds where one is asked for.
    Raises SpecError unless its family can be built with its sizes, options and costs.
    """
    return with_entry(_validated(spec))


def _validated(spec: Spec) -> Spec:
    spec = spec.checked()
    family = family_of(spec)
    _validate(spec, family)
    if spec.family == imported.NAME:
        imported.validate(spec, imported.order(spec))
    else:
        family.validate(spec)
    return spec


def with_entry(spec: Spec, found: Order | None = None) -> Spec:
    """Return a spec whose order of entry is no longer to be searched, in its own order or in one that is given."""
    return _with_entry(spec, found) if spec.injection == SEARCHED else spec


@lru_cache(maxsize=64)
def _with_entry(spec: Spec, found: Order | None) -> Spec:
    """Return a spec with the order of entry that a search finds. Messages that are placed by the times do not count:
    with any entry they are placed for it.
    """
    plain = spec.with_(injection="given")
    if spec.receives == "placed":
        plain = plain.with_(streams="none", receives="torch", costs=replace(plain.costs, wire=0.0))
    costs = plain.timing
    assert isinstance(costs, SizedCosts), "an order of entry comes with sizes"
    if found is not None or family_of(spec).problem is None:
        return spec.with_(injection=searched_entry(found or order(plain), costs, spec.v))
    plain = plain.with_(effort=None, found=None)  # the order of ops is searched too: compare what is constructed
    words = (entry_order(costs.sizes, word) for word in ("mountain", "given"))
    built = [plain.with_(injection=each) for each in (searched_entry(order(plain), costs, spec.v), *words)]
    best = min(built, key=lambda each: float(simulate(order(each), each.timing, each.v).end.max()))
    return spec.with_(injection=best.injection)


def _validate(spec: Spec, family: Family) -> None:
    """Raise SpecError for a v that the family does not take, too many ops, or options that do not go with it."""
    least, _, most = family.v
    if not least <= spec.v <= most:
        nearest = least if spec.v < least else most
        text = message(
            "schedule.family_takes_v_from",
            "{family} takes v from {least} to {most}",
            family=family.title,
            least=least,
            most=most,
        )
        if least == most:
            text = message(
                "schedule.family_takes_v_exactly", "{family} takes v exactly {v}", family=family.title, v=least
            )
        raise SpecError("v", spec.v, text, limit=nearest, nearest=nearest)
    _validate_size(spec, family)
    apply_options.validate(spec, family)


def op_count(spec: Spec) -> int:
    """Count the ops in the order of a legal spec, without building it. Raises SpecError for an unknown family."""
    return family_of(spec).op_count(spec)


def _validate_size(spec: Spec, family: Family) -> None:
    """Raise SpecError for more ops than one order may have, with the most micro-batches that fit."""
    count = family.op_count(spec)
    if count <= LIMITS["placed_ops"] or count <= (most := family.most_ops(spec)):
        return
    fixed = family.op_count(spec.with_(m=0))  # the count is linear in m
    nearest = max(1, (most - fixed) * spec.m // (count - fixed))
    text = message(
        "schedule.too_many_ops",
        "p, m and v make {ops} ops, over the limit of {most}; m = {nearest} is the most here",
        ops=f"{count:,}",
        most=f"{most:,}",
        nearest=nearest,
    )
    raise SpecError("m", spec.m, text, limit=nearest, nearest=nearest)


def order(spec: Spec) -> Order:
    """Build the order of a spec. Raises SpecError for an illegal one."""
    spec = validate(spec)
    if spec.family == imported.NAME:
        return apply_options.on_streams(spec, imported.order(spec))
    return apply_options.order(spec, FAMILIES[spec.family])


def describe() -> list[dict[str, Any]]:
    """Return every family as JSON, in the order of the picker."""
    return [family.as_dict() for family in FAMILIES.values()]
