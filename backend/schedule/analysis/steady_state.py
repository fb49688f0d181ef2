"""Describe the building block of a family with its arithmetic (lifespan / period is memory), or why it has none.

Qi et al. 2024, Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, section 3.1. Times are in slots, one
for each of F, I and W; a steady state does not depend on costs or on the number of micro-batches.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import Message, SpecError, message
from backend.schedule.families import imported
from backend.schedule.families.registry import FAMILIES, Family, family_of
from backend.schedule.search.building_block import Block
from backend.schedule.spec import Spec

EXACT = message("analysis.block_is_exact", "At equal F, I and W this is the order's steady state, slot for slot.")
NAMED = 4  # most ranks named in a sentence
LAID = message(
    "analysis.block_is_laid",
    "The order is laid from this block at the costs set: in its sequence as far as that pays, within its peak.",
)


def steady_state(spec: Spec) -> dict[str, Any]:
    """Return the block of a spec's family on its devices, each device's lifespan / period, and the most chunks in
    flight.

    Raises SpecError for a family that has no block, with the nearest one that has.
    """
    if spec.family == imported.NAME:
        text = message(
            "analysis.no_block_imported", "an imported order has no block: nothing is known of what repeats in it"
        )
        raise SpecError("family", spec.family, text, nearest=Spec.family)
    family = family_of(spec)
    if family.block is None:
        raise SpecError("family", spec.family, _why_none(family), nearest=_nearest(family))
    block = family.block.build(spec.p)
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


def _sentence(block: Block) -> Message:
    """Describe the arithmetic of the block: lifespan over period is the mean number of chunks in flight."""
    lifespan, chunks, peak = block.lifespan(), block.due.shape[1], block.peak()
    mean = lifespan.max() / block.period
    average = message("analysis.chunks_on_average", "{mean} chunks in flight on average", mean=_number(mean))
    if mean == 1.0:
        average = message("analysis.one_chunk_on_average", "1 chunk in flight on average")
    if chunks == 1:
        return message(
            "analysis.steady_state",
            "Every {period} slots the next micro-batch follows. {held}: {slots} / {period} = {average}, "
            "{peak} at the peak.",
            period=_number(block.period),
            held=_held(lifespan),
            slots=_number(lifespan.max()),
            average=average,
            peak=peak,
        )
    worth = message(
        "analysis.worth_of_micro_batches", "the worth of {count} micro-batches", count=_number(peak / chunks)
    )
    if peak == chunks:
        worth = message("analysis.worth_of_one_micro_batch", "the worth of 1 micro-batch")
    return message(
        "analysis.steady_state_of_chunks",
        "Every {period} slots the next micro-batch follows. {held}, all chunks together: {slots} / {period} = "
        "{average}, {peak} at the peak, {worth}.",
        period=_number(block.period),
        held=_held(lifespan),
        slots=_number(lifespan.max()),
        average=average,
        peak=peak,
        worth=worth,
    )


def _held(lifespan: npt.NDArray[np.float64]) -> Message:
    """Describe which ranks hold a micro-batch's activations longest, and for how many slots; ``lifespan`` (p,) in
    slots.
    """
    ranks, slots = np.flatnonzero(lifespan == lifespan.max()).tolist(), _number(lifespan.max())
    if len(lifespan) == 1:
        return message(
            "analysis.one_device_keeps",
            "The one device keeps a micro-batch's activations for {slots} slots",
            slots=slots,
        )
    if len(ranks) == len(lifespan):
        return message(
            "analysis.every_rank_keeps", "Every rank keeps a micro-batch's activations for {slots} slots", slots=slots
        )
    if len(ranks) == 1:
        return message(
            "analysis.one_rank_keeps",
            "Rank {rank} keeps a micro-batch's activations longest, {slots} slots",
            rank=ranks[0],
            slots=slots,
        )
    if len(ranks) <= NAMED:
        return message(
            "analysis.some_ranks_keep",
            "Ranks {ranks} and {last} keep a micro-batch's activations longest, {slots} slots",
            ranks=ranks[:-1],
            last=ranks[-1],
            slots=slots,
        )
    return message(
        "analysis.many_ranks_keep",
        "Rank {rank} and {others} others keep a micro-batch's activations longest, {slots} slots",
        rank=ranks[0],
        others=len(ranks) - 1,
        slots=slots,
    )


def _number(x: float) -> str:
    return f"{x:.2f}".rstrip("0").rstrip(".")


def _why_none(family: Family) -> Message:
    """Return the reason why a family has no block."""
    if family.shaped_by_costs:
        return message(
            "analysis.no_block_searched",
            "{family} has no block: it searches for its order anew for the costs and the memory limit that are set",
            family=family.title,
        )
    if "FB" in family.fields:
        return message(
            "analysis.no_block_of_pairs",
            "{family} has no block of one micro-batch: what it repeats are overlapped pairs, each the forward of one "
            "micro-batch and the backward of another",
            family=family.title,
        )
    if "group" in family.fields or family.group in ("memory", "bidirectional"):
        return message(
            "analysis.no_block_in_groups",
            "{family} has no block: micro-batches take turns in groups, so they follow each other closely within a "
            "group and then wait for the next, at no constant pace",
            family=family.title,
        )
    return message(
        "analysis.no_block_in_phases",
        "{family} has no block: all forwards run before the first backward, so nothing repeats and memory grows with "
        "m without end",
        family=family.title,
    )


def _nearest(family: Family) -> str:
    """Return a family with a block, of the same group if there is one, else of the same placement."""
    having = [each for each in FAMILIES.values() if each.block is not None]
    alike = sorted(having, key=lambda each: (each.group != family.group, each.placement != family.placement))
    return alike[0].name
