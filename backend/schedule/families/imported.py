"""Represent an imported order as a spec: the spec contains the packed order; p, m and v follow from it.

It is not one of the families that are compared, swept and searched: it cannot be built at another size, so it has no
law and no block, and fields that shape an order (group, memory, effort, ...) do not apply. Fields that affect times
and memory do: costs, layers, recomputation, the part that W needs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np

from backend.schedule.errors import OrderError, SpecError, message
from backend.schedule.families.family import Family
from backend.schedule.options.frozen import as_read, untrained
from backend.schedule.options.per_chunk import Modes
from backend.schedule.options.vocabulary import MODES
from backend.schedule.order import order_codec
from backend.schedule.order.copy_lanes import O
from backend.schedule.order.ops import PAIR, B, I, W
from backend.schedule.order.order import Order, code_table
from backend.schedule.simulation.check import check
from backend.schedule.spec import MOST_ORDER, Spec

NAME = "imported"
TITLE = message("schedule.imported_title", "Imported order")
_ELSEWHERE = message(
    "schedule.imported_elsewhere",
    "on the command line, check FILE.csv checks it, and run --csv FILE.csv runs it, whatever its length",
)
BACKWARDS: dict[tuple[bool, bool], Literal["full", "split", "both"]] = {
    (True, False): "full",
    (False, True): "split",
    (True, True): "both",
    (False, False): "full",
}


def spec_of(order: Order) -> Spec:
    """Return the spec of a legal order, with unit costs. Raises SpecError for one that is too long for a link."""
    spec = described(order)
    try:
        text = order_codec.pack(order)
    except OrderError as error:
        too_many = message(
            "schedule.imported_too_many_ops", "{problem}; {elsewhere}", problem=error.message, elsewhere=_ELSEWHERE
        )
        raise SpecError("order", len(order), too_many, limit=order_codec.MOST_OPS) from None
    if len(text) > MOST_ORDER:
        too_long = message(
            "schedule.imported_too_long",
            "packed, the order takes {length} characters, and a link holds {most}; {elsewhere}",
            length=f"{len(text):,}",
            most=f"{MOST_ORDER:,}",
            elsewhere=_ELSEWHERE,
        )
        raise SpecError("order", len(text), too_long, limit=MOST_ORDER)
    return spec.with_(order=text)


def described(order: Order) -> Spec:
    """Return what an order shows of its spec: sizes and options. The order itself, which may be long, is not in it."""
    copies = order.copies
    offload: Modes = "none"
    if copies is not None:
        out = set(copies.codes[copies.codes // order.chunks == O].tolist())
        offload = tuple("full" if chunk in out else "none" for chunk in range(order.chunks))
        if order.placement.streams == 2:  # its two chunks are one part of the model, and v is 1
            offload = "full" if len(out) == order.chunks else "selective"
    vocabulary = next(name for name, mode in MODES.items() if mode.barriers == order.barriers)
    return Spec(
        NAME,
        order.p,
        order.m,
        _v(order),
        forward_only=order.forward_only,
        frozen=tuple(sorted(order.untrained)) or None,
        vocabulary=vocabulary,
        offload=offload,
    )


def order(spec: Spec) -> Order:
    """Unpack the order of a spec. Raises SpecError if there is none, or it cannot run."""
    if spec.order is None:
        text = message(
            "schedule.imported_without_order",
            "an imported schedule has its order in the spec: import a file of torch's CSV or a trace",
        )
        raise SpecError("order", None, text)
    return _checked(spec.order)


@lru_cache(maxsize=16)
def _checked(text: str) -> Order:
    try:
        found = as_read(order_codec.unpack(text))
        check(found)
    except OrderError as error:
        problem = message(
            "schedule.imported_cannot_run", "the imported order cannot run: {problem}", problem=error.message
        )
        raise SpecError("order", text, problem) from None
    return found


def family(spec: Spec) -> Family:
    """Return the family that consists of this one order. Raises SpecError as ``order`` does."""
    return family_of_order(order(spec))


@lru_cache(maxsize=16)
def family_of_order(found: Order) -> Family:
    """Return the family that consists of this one order."""
    kinds = set(code_table(found.chunks)[np.unique(found.codes), 0].tolist())
    fields = (
        "order",
        *(("forward_only",) if found.forward_only else ()),
        *(("FB",) if PAIR in kinds else ("frozen",)),
        *(("offload",) if found.copies is not None else ()),
    )
    spread = tuple(name for name, mode in MODES.items() if mode.barriers) if found.barriers else ()
    v = _v(found)
    return Family(
        name=NAME,
        title=TITLE,
        year=0,
        source=message("schedule.imported_source", "a file: torch's CSV, or a trace"),
        used_by="",
        group="classic",
        summary=message("schedule.imported_summary", "An order from elsewhere, as the link has it."),
        backward=BACKWARDS[bool(kinds & {B, PAIR}), I in kinds],
        complexity=message("schedule.complexity_as_given", "as given"),
        placement=found.placement.kind,
        ranks=found.placement.ranks,
        laws=(),
        fields=fields,
        v=(v, v, v),
        ops=str(len(found) - (2 * found.p * found.m if found.barriers else 0)),
        vocabulary=spread,
    )


def _v(found: Order) -> int:
    return found.chunks // found.placement.streams


def validate(spec: Spec, found: Order) -> None:
    """Raise SpecError if the spec contradicts its order."""
    for name, real in (("p", found.p), ("m", found.m)):
        given = getattr(spec, name)
        if given != real:
            text = message(
                "schedule.imported_has_its_size",
                "the imported order has {name} = {size}, and no other size can be made of it",
                name=name,
                size=real,
            )
            raise SpecError(name, given, text, limit=real, nearest=real)
    if spec.forward_only != found.forward_only:
        text = message("schedule.imported_has_backwards", "the imported order has backwards")
        if found.forward_only:
            text = message("schedule.imported_is_forward_only", "the imported order has forwards only")
        raise SpecError("forward_only", spec.forward_only, text, nearest=found.forward_only)
    _validate_frozen(spec, found)
    if spec.barriers != found.barriers:
        nearest = next(name for name, mode in MODES.items() if mode.barriers == found.barriers)
        text = message(
            "schedule.imported_has_barriers",
            "the imported order has {barriers} barriers per micro-batch",
            barriers=found.barriers,
        )
        if not found.barriers:
            text = message("schedule.imported_has_no_barriers", "the imported order has neither S and T nor barriers")
        raise SpecError("vocabulary", spec.vocabulary, text, nearest=nearest)
    if (spec.offload != "none") != (found.copies is not None):
        text = message("schedule.imported_has_copies", "the imported order has copies to host memory")
        raise SpecError("offload", spec.offload, text, nearest="full")


def _validate_frozen(spec: Spec, found: Order) -> None:
    """Raise SpecError unless the stages before the first trained one are those without backwards, and a frozen stage
    has no weight gradients of its own.
    """
    kind, chunk, _ = code_table(found.chunks)[found.codes].T
    stage = found.placement.stage_of[np.repeat(np.arange(found.p), np.diff(found.offsets)), chunk]
    split = set(stage[kind == W].tolist())
    if untrained(spec.frozen) == found.untrained and split.isdisjoint(spec.frozen or ()):
        return
    nearest = sorted(found.untrained) or None
    text = message(
        "schedule.imported_is_frozen",
        "frozen stages have no weight gradients, and those before the first trained one no backwards: in the imported "
        "order the first {count} of them",
        count=len(found.untrained),
    )
    raise SpecError("frozen", None if spec.frozen is None else list(spec.frozen), text, nearest=nearest)
