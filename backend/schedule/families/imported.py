"""An order that came from elsewhere as a spec: the order itself stands in it, packed, and p, m and v follow from it.

Not one of the families that are compared, swept and searched over: it has no rule by which another size could be
built, so it has no law and no block, and what shapes an order (group, memory to seek in, effort, ...) does not apply.
What bears on times and memory does: costs, layers, recomputation, the part that W needs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np

from backend.schedule.errors import OrderError, SpecError
from backend.schedule.families.family import Family
from backend.schedule.options.vocabulary import MODES
from backend.schedule.order import order_codec
from backend.schedule.order.copy_lanes import O
from backend.schedule.order.ops import PAIR, B, I
from backend.schedule.order.order import Order, code_table
from backend.schedule.simulation.check import check
from backend.schedule.spec import MOST_ORDER, Spec

NAME = "imported"
TITLE = "Imported order"
BACKWARDS: dict[tuple[bool, bool], Literal["full", "split", "both"]] = {
    (True, False): "full",
    (False, True): "split",
    (True, True): "both",
    (False, False): "full",
}


def spec_of(order: Order) -> Spec:
    """The spec of a legal order, with unit costs. Raises SpecError for one that is too long to stand in a link."""
    try:
        text = order_codec.pack(order)
    except OrderError as error:
        raise SpecError("order", len(order), f"{error.message}; {_ELSEWHERE}", limit=order_codec.MOST_OPS) from None
    if len(text) > MOST_ORDER:
        message = f"packed, the order takes {len(text):,} characters, and a link holds {MOST_ORDER:,}; {_ELSEWHERE}"
        raise SpecError("order", len(text), message, limit=MOST_ORDER)
    copies = order.copies
    offload = "none"
    if copies is not None:
        out = set(copies.codes[copies.codes // order.chunks == O].tolist())
        offload = "full" if len(out) == order.chunks else "selective"
    vocabulary = next(name for name, mode in MODES.items() if mode.barriers == order.barriers)
    return Spec(NAME, order.p, order.m, _v(order), vocabulary=vocabulary, offload=offload, order=text)


_ELSEWHERE = "python app.py check FILE.csv judges it, and python app.py run --csv FILE.csv runs it, whatever its length"


def order(spec: Spec) -> Order:
    """The order of a spec. Raises SpecError for none, or one that cannot run."""
    if spec.order is None:
        message = "an imported schedule has its order in the spec: import a file of torch's CSV or a trace"
        raise SpecError("order", None, message)
    return _checked(spec.order)


@lru_cache(maxsize=16)
def _checked(text: str) -> Order:
    try:
        found = order_codec.unpack(text)
        check(found)
    except OrderError as error:
        raise SpecError("order", text, f"the imported order cannot run: {error.message}") from None
    return found


def family(spec: Spec) -> Family:
    """The family that this one order is of. Raises SpecError as ``order`` does."""
    return _family(order(spec))


@lru_cache(maxsize=16)
def _family(found: Order) -> Family:
    kinds = set(code_table(found.chunks)[np.unique(found.codes), 0].tolist())
    fields = ("order", *(("FB",) if PAIR in kinds else ()), *(("offload",) if found.copies is not None else ()))
    spread = tuple(name for name, mode in MODES.items() if mode.barriers) if found.barriers else ()
    v = _v(found)
    return Family(
        name=NAME,
        title=TITLE,
        year=0,
        source="a file: torch's CSV, or a trace",
        used_by="",
        group="classic",
        summary="An order from elsewhere, as it stands in the link.",
        backward=BACKWARDS[bool(kinds & {B, PAIR}), I in kinds],
        complexity="as given",
        placement=found.placement.kind,
        rows=lambda spec: [found.codes[a:b] for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)],
        legal=lambda spec: _agree(spec, found),
        laws=(),
        fields=fields,
        v=(v, v, v),
        chunks=lambda spec: found.chunks,
        vocabulary=spread,
    )


def _v(found: Order) -> int:
    return found.chunks // found.placement.streams


def _agree(spec: Spec, found: Order) -> None:
    """Raise SpecError where the spec says something else than its order."""
    for name, real in (("p", found.p), ("m", found.m)):
        given = getattr(spec, name)
        if given != real:
            message = f"the imported order has {name} = {real}, and no other size can be made of it"
            raise SpecError(name, given, message, limit=real, nearest=real)
    if spec.barriers != found.barriers:
        nearest = next(name for name, mode in MODES.items() if mode.barriers == found.barriers)
        has = f"{found.barriers} barriers a micro-batch" if found.barriers else "neither S and T nor barriers"
        raise SpecError("vocabulary", spec.vocabulary, f"the imported order has {has}", nearest=nearest)
    if (spec.offload != "none") != (found.copies is not None):
        raise SpecError("offload", spec.offload, "the imported order has copies to host memory", nearest="full")
