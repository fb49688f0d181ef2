"""A family's building block with its arithmetic, as the page tells it: lifespan / period is memory; or why it has none.

Qi et al. 2024, Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, section 3.1. Counts slots, in which F,
I and W each take one; knows no costs and no number of micro-batches, on which a steady state does not depend.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backend.schedule.errors import SpecError
from backend.schedule.families import imported
from backend.schedule.families.registry import FAMILIES, Family, family_of
from backend.schedule.search.building_block import Block
from backend.schedule.spec import Spec

EXACT = "At equal F, I and W this is the order's steady state, slot for slot."
NAMED = 4  # ranks in a sentence
LAID = "The order is laid from this block at the costs set: in its sequence as far as that pays, within its peak."


def steady(spec: Spec) -> dict[str, Any]:
    """The block of a spec's family on its devices, each device's lifespan / period, and the most chunks in flight.

    Raises SpecError for a family that has no block, with the nearest one that has.
    """
    if spec.family == imported.NAME:
        message = "an imported order stands as it is; whether something in it repeats, nobody says"
        raise SpecError("family", spec.family, message, nearest=Spec.family)
    family = family_of(spec)
    if family.block is None:
        raise SpecError("family", spec.family, _why_none(family), nearest=_nearest(family))
    block = family.block(spec)
    peaks = block.peaks()
    return {
        "family": family.name,
        "p": spec.p,
        "chunks": block.due.shape[1],
        "placement": family.placement,
        "backward": family.backward,
        "block": block.as_dict(),
        "memory": (block.lifespan() / block.period).tolist(),
        "peaks": peaks.tolist(),
        "peak": int(peaks.max()),
        "sentence": _sentence(block),
        "note": LAID if family.shaped_by_costs else EXACT,
    }


def _sentence(block: Block) -> str:
    lifespan, chunks = block.lifespan(), block.due.shape[1]
    longest_on, peak, period = np.flatnonzero(lifespan == lifespan.max()).tolist(), block.peak(), _number(block.period)
    if len(lifespan) == 1:
        who = "The one device keeps"
    elif len(longest_on) == len(lifespan):
        who = "Every rank keeps"
    elif len(longest_on) == 1:
        who = f"Rank {longest_on[0]} keeps"
    elif len(longest_on) <= NAMED:
        who = f"Ranks {', '.join(map(str, longest_on[:-1]))} and {longest_on[-1]} keep"
    else:
        who = f"Rank {longest_on[0]} and {len(longest_on) - 1} others keep"
    how = "for" if len(longest_on) == len(lifespan) else "longest,"
    slots, mean = _number(lifespan.max()), lifespan.max() / block.period
    each = "" if chunks == 1 else ", all chunks together"
    worth = (
        ""
        if chunks == 1
        else f", the worth of {_number(peak / chunks)} {_form(peak / chunks, 'micro-batch', 'micro-batches')}"
    )
    return (
        f"Every {period} slots the next micro-batch follows. {who} a micro-batch's activations {how} "
        f"{slots} slots{each}: {slots} / {period} = {_number(mean)} {_form(mean, 'chunk', 'chunks')} in flight "
        f"on average, {peak} at the peak{worth}."
    )


def _number(x: float) -> str:
    return f"{x:.2f}".rstrip("0").rstrip(".")


def _form(x: float, one: str, more: str) -> str:
    return one if x == 1.0 else more


def _why_none(family: Family) -> str:
    if family.shaped_by_costs:
        return f"{family.title} has no block: it seeks its order anew for the costs and the memory limit that are set"
    if family.group == "bidirectional":
        what = "the forward of one micro-batch and the backward of another"
        return f"{family.title} has no block of one micro-batch: what it repeats are overlapped pairs, each {what}"
    if "group" in family.fields or family.group == "memory":
        how = "they follow each other closely within a group and then wait for the next"
        return f"{family.title} has no block: micro-batches take turns in groups, so {how}, at no constant pace"
    why = "all forwards run before the first backward, so nothing repeats and memory grows with m without end"
    return f"{family.title} has no block: {why}"


def _nearest(family: Family) -> str:
    """One with a block, of the same group if there is one, else of the same placement."""
    having = [each for each in FAMILIES.values() if each.block is not None]
    alike = sorted(having, key=lambda each: (each.group != family.group, each.placement != family.placement))
    return alike[0].name
