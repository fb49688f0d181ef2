"""Stages that are not trained: they have no weight gradients, and no gradients at all before the first trained one.

A stage before the first trained one does its forwards alone and keeps nothing for a backward. A later one passes the
gradient on: its backward is the input gradient alone, one op, in the place of its I or B, and frees its activations.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from backend.schedule.order.ops import B, I, W
from backend.schedule.order.order import Order, offsets_of


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
