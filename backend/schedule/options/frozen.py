"""Stages that are not trained: they have no weight gradients, and no gradients at all before the first trained one.

A stage before the first trained one does its forwards alone and keeps nothing for a backward. A later one passes the
gradient on: its backward is the input gradient alone, one op, in the place of its I or B, and frees its activations.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from backend.schedule.errors import Message, message
from backend.schedule.order.ops import PAIR, B, F, I, W
from backend.schedule.order.order import Order, code_table, offsets_of


def untrained(frozen: tuple[int, ...] | None) -> frozenset[int]:
    """Return the stages before the first trained one."""
    return frozenset(stage for at, stage in enumerate(frozen or ()) if stage == at)


def without(order: Order, frozen: tuple[int, ...]) -> Order:
    """Return the order without the ops that frozen stages do not need."""
    chunks, alone = order.chunks, untrained(frozen)
    kind, chunk = np.divmod(order.codes.astype(np.int64), chunks)
    rank = np.repeat(np.arange(order.p), np.diff(order.offsets))
    stage = order.placement.stage_of[rank, chunk]
    fixed = np.isin(stage, frozen)
    gone = (fixed & (kind == W)) | (np.isin(stage, list(alone)) & ((kind == I) | (kind == B)))
    codes = np.where(fixed & (kind == I), B * chunks + chunk, order.codes).astype(np.uint8)[~gone]
    lengths = np.bincount(rank[~gone], minlength=order.p).tolist()
    micro = None if order.micro is None else order.micro[~gone]
    return replace(order, codes=codes, offsets=offsets_of(lengths), micro=micro, untrained=alone)


def as_read(order: Order) -> Order:
    """Return an order from elsewhere with the stages that it does not train: the first ones, if no micro-batch has a
    backward in them. One of pairs, or of forwards alone, has none of these.
    """
    kind, chunk, _ = code_table(order.chunks)[order.codes].T
    if (kind == PAIR).any():
        return order
    stage = order.placement.stage_of[np.repeat(np.arange(order.p), np.diff(order.offsets)), chunk]
    forwards, trained = stage[kind == F], stage[np.isin(kind, (I, W, B))]
    first = int(trained.min()) if len(trained) else 0
    alone = frozenset(range(first))
    return replace(order, untrained=alone) if alone <= set(forwards.tolist()) else order


def notes_on(order: Order) -> tuple[Message, ...]:
    """Return what is to be said of an order that ``as_read`` has changed."""
    if not order.untrained:
        return ()
    text = message(
        "schedule.read_as_frozen",
        "no stage before stage {first} has a backward, so they are read as stages that are not trained (frozen "
        "{first}); if they are trained, their backwards are missing",
        first=len(order.untrained),
    )
    return (text,)
