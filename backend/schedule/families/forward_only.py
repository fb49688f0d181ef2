"""Forward-only schedules (inference, evaluation): which families have one, its order, and its laws.

Every stage does one F per micro-batch, in the order in which its family does them; nothing is kept for a backward. As
there is none, options that act on the backward (recomputation, offload, a sharded output layer) do not apply.
"""

from __future__ import annotations

from dataclasses import replace

from backend.schedule.errors import Message, SpecError, message
from backend.schedule.families.family import Family
from backend.schedule.laws.law import NO_HOPS, UNIFORM, Law
from backend.schedule.order.order import Order, from_rows
from backend.schedule.spec import Spec

FIELD = "forward_only"
Condition = tuple[str, str]


_ON_BACKWARDS = {  # options that act on the backward: (what leaves them out, why they are refused)
    "lifo": (
        False,
        message(
            "schedule.forward_only_has_no_backwards",
            "a forward-only schedule has no backwards to reverse; leave it out",
        ),
    ),
    "recompute": (
        "none",
        message(
            "schedule.forward_only_recomputes_nothing",
            "a forward-only schedule keeps no activations, so there is nothing to recompute",
        ),
    ),
    "offload": (
        "none",
        message(
            "schedule.forward_only_offloads_nothing",
            "a forward-only schedule keeps no activations, so there is nothing to offload",
        ),
    ),
    "vocabulary": (
        "plain",
        message(
            "schedule.forward_only_output_layer",
            "a forward-only schedule has its output layer on the last stage (vocabulary plain): the other places are "
            "chosen for the backward",
        ),
    ),
}


def takes(family: Family) -> bool:
    """Return whether the forwards of a family are a schedule of their own: not those that overlap with backwards, nor
    those that are constructed to start when backwards have freed memory.
    """
    overlaps = family.placement == "bidirectional" or "FB" in family.fields
    return family.table is not None and not family.asynchronous and not overlaps


def with_forward_only(family: Family) -> Family:
    """Return the family with the field, and with its forward-only laws after its own, where it has such a schedule."""
    if not takes(family):
        return family
    return replace(family, fields=(*family.fields, FIELD), laws=(*family.laws, *_laws(family)))


def validate(spec: Spec, family: Family) -> None:
    """Raise SpecError unless a forward-only spec goes with its family and has no option that acts on the backward."""
    if FIELD not in family.fields and spec.order is None:  # an imported order has its own say
        raise SpecError(FIELD, True, _why_not(family), nearest=False)
    for name, (default, why) in _ON_BACKWARDS.items():
        if getattr(spec, name) != default:
            raise SpecError(name, getattr(spec, name), why, nearest=default)


def _why_not(family: Family) -> Message:
    """Return the reason why a family has no forward-only schedule, with a way out."""
    if family.placement == "bidirectional" or "FB" in family.fields:
        return message(
            "schedule.forward_only_overlaps",
            "{family} exists to overlap forwards with backwards; without backwards use 1f1b, or v-zb for stages in a V",
            family=family.title,
        )
    if family.asynchronous:
        return message(
            "schedule.forward_only_updates",
            "{family} differs from 1F1B by its updates of the weights; without backwards use 1f1b",
            family=family.title,
        )
    if family.problem is not None:
        return message(
            "schedule.forward_only_search",
            "{family} searches places for backwards; without backwards use 1f1b",
            family=family.title,
        )
    return message(
        "schedule.forward_only_paced_by_backwards",
        "{family} orders its forwards by when backwards free memory, which wastes time without backwards; use v-zb, "
        "which has the same stages",
        family=family.title,
    )


def forwards(order: Order) -> Order:
    """Return the order of the forwards alone, for an order of single ops in which each slot takes its micro-batches
    first in, first out."""
    is_forward = order.codes < order.chunks
    rows = [order.codes[a:b][is_forward[a:b]] for a, b in zip(order.offsets[:-1], order.offsets[1:], strict=True)]
    return from_rows(order.placement, order.m, rows)


_SOURCE = message(
    "schedule.law_forward_only", "inference: the pipeline fills once, and the last micro-batch leaves it once"
)
_WAITS = message(
    "schedule.law_forward_only_waits",
    "a group of micro-batches comes back to the first device after p ops and p hops; if the group is done earlier, the "
    "device waits",
)
_NO_WAIT = message("schedule.unless_whole_groups", "some group has fewer than p micro-batches")
_PEAK = Law(
    "peak",
    "0",
    message(
        "schedule.law_forward_only_peak", "nothing is kept for a backward; an op's own working memory is not counted"
    ),
    forward=True,
)


def _laws(family: Family) -> tuple[Law, ...]:
    assert family.table is not None
    if family.placement == "v":
        return (*_of_v(), _PEAK)
    return (*(_of_one_chunk() if family.v[2] == 1 else _of_chunks(family.table.group)), _PEAK)


def _of_one_chunk() -> tuple[Law, ...]:
    """Return the laws of a line of stages: a flow shop in which every device takes the micro-batches in one order."""
    uneven = message(
        "schedule.law_forward_only_uneven", "one micro-batch passes every stage, and the others the slowest one"
    )
    return (
        Law("share", "(p-1)/(m+p-1)", _SOURCE, (UNIFORM, NO_HOPS), forward=True),
        _bubble("(p-1)*(f+c)", _SOURCE),
        Law("makespan", "sum_f + (m-1)*max_f + (p-1)*c", uneven, forward=True),
        Law("makespan", "f*(sum_x + (p-1)*max_x) + (p-1)*c", _SIZED, (UNIFORM,), forward=True, sized=True),
    )


_SIZED = message(
    "schedule.law_forward_only_sized", "every device does all micro-batches, and the largest passes the other devices"
)
_SEVERAL = ("p > 1 or c == 0", message("schedule.unless_several_devices", "one device has no hops"))
_GROUPS: dict[str, tuple[str, tuple[Condition, ...] | None, tuple[Condition, ...]]] = {
    "g": (
        "(v-1)*m/g*max(0, (p-g)*f/v + p*c)",
        (("v == 1 or (g >= p and (m % g == 0 or m % g >= p))", _NO_WAIT),),
        (("m % g == 0", message("schedule.unless_groups_divide", "the last group is smaller than the others")),),
    ),
    "m": ("(v-1)*max(0, (p-m)*f/v + p*c)", (("m >= p or v == 1", _NO_WAIT),), ()),
    "p": ("(v-1)*m*c", (), ()),
    "floor((p+1)/2)": ("(v-1)*m/floor((p+1)/2)*(floor(p/2)*f/v + p*c)", None, ()),
}
"""By the size of a table's groups of micro-batches: how long a device waits for groups to come back; without hops, when
it does not wait (None: it always does); and when the first is exact."""


def _of_chunks(group: str) -> tuple[Law, ...]:
    """Return the laws of looped chunks in groups of ``group`` micro-batches, a formula."""
    waits, unless_waits, alike = _GROUPS[group]
    bubble = _bubble(f"(p-1)*(f/v+c) + {waits}", _WAITS, *alike, _SEVERAL)
    if unless_waits is None:
        return (bubble,)
    share = Law("share", "(p-1)/(v*m+p-1)", _SOURCE, (UNIFORM, NO_HOPS, *unless_waits), forward=True)
    return share, _bubble("(p-1)*f/v", _SOURCE, NO_HOPS, *unless_waits), bubble


def _bubble(formula: str, source: str, *where: Condition) -> Law:
    return Law("bubble", formula, source, (UNIFORM, *where), forward=True)


def _of_v() -> tuple[Law, ...]:
    """Return the laws of two chunks in a V: the first device begins first and ends last, as with one chunk."""
    ends = message(
        "schedule.law_forward_only_v",
        "a V brings no shorter bubble: every micro-batch ends on the device where it began",
    )
    return (
        Law("share", "(p-1)/(m+p-1)", ends, (UNIFORM, NO_HOPS), forward=True),
        _bubble("(p-1)*f", ends, NO_HOPS),
    )
