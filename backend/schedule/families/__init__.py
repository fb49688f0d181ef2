"""The registry: every family of schedules by name. ``order(spec)`` is where all orders come from."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from ..errors import SpecError
from ..order import Order
from ..spec import Spec
from . import imported, options
from .dualpipe import DUALPIPE
from .dualpipev import DUALPIPEV
from .family import Family
from .gis import GIS, GIS_H
from .gpipe import GPIPE
from .interleaved import INTERLEAVED
from .interleaved_bfs import INTERLEAVED_BFS
from .interleaved_zb import INTERLEAVED_ZB
from .one_f_one_b import ONE_F_ONE_B
from .pipedream import PIPEDREAM
from .v_auto import V_AUTO
from .v_half import V_HALF
from .v_min import V_MIN
from .v_zb import V_ZB
from .zb_auto import ZB_AUTO
from .zb_h1 import ZB_H1
from .zb_h2 import ZB_H2

__all__ = ["FAMILIES", "Family", "describe", "family_of", "judge", "order", "read"]

FAMILIES: dict[str, Family] = {
    each.name: options.with_laws(each)
    for each in (
        *(GPIPE, ONE_F_ONE_B, PIPEDREAM),
        *(INTERLEAVED, INTERLEAVED_BFS, INTERLEAVED_ZB),
        *(ZB_H1, ZB_H2, ZB_AUTO),
        *(V_MIN, V_HALF, V_ZB, V_AUTO),
        *(DUALPIPE, DUALPIPEV),
        *(GIS, GIS_H),
    )
}


def read(data: Mapping[str, Any]) -> Spec:
    """A legal spec from JSON. Raises SpecError with the nearest legal value."""
    spec = Spec.from_json(data, {family.name: family.v[1] for family in FAMILIES.values()})
    judge(spec)
    return spec


def family_of(spec: Spec) -> Family:
    """The family of a spec. Raises SpecError for a name that is none, with the closest one."""
    if spec.family == imported.NAME:
        return imported.family(spec)
    try:
        return FAMILIES[spec.family]
    except KeyError:
        close = difflib.get_close_matches(spec.family[:40], FAMILIES, 1, 0.3)
        message = f"there is no family of that name; there are {', '.join(FAMILIES)}"
        raise SpecError("family", spec.family, message, nearest=close[0] if close else "1f1b") from None


def judge(spec: Spec) -> None:
    """Raise SpecError unless the spec's family can be built with its sizes, options and costs."""
    family = family_of(spec)
    least, _, most = family.v
    if not least <= spec.v <= most:
        nearest = least if spec.v < least else most
        wording = f"exactly {least}" if least == most else f"from {least} to {most}"
        raise SpecError("v", spec.v, f"{family.title} takes v {wording}", limit=nearest, nearest=nearest)
    options.judge(spec, family)
    family.legal(spec)


def order(spec: Spec) -> Order:
    """The order of a spec. Raises SpecError for an illegal one."""
    judge(spec)
    return imported.order(spec) if spec.family == imported.NAME else options.order(spec, FAMILIES[spec.family])


def describe() -> list[dict[str, Any]]:
    """Every family as JSON, in the order of the picker."""
    return [family.as_dict() for family in FAMILIES.values()]
