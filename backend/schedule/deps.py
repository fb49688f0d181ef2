"""The one dependency rule, and the tables that the simulator and the checker read.

    F  of a stage needs the F of the stage before it (the first stage's needs nothing);
    I and B (the gradients) need the gradient of the stage after it and their own F (the last stage's: its own F only);
    W  needs its own I.

A value made on another rank arrives one hop later. A pair needs what its halves need, and gives what they give.
Knows nothing of times or of where in an order an op stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .ops import PAIR, B, F, I, W
from .order import MAX_PAIR_CHUNKS, decode
from .placement import Placement

Ints = npt.NDArray[np.int64]
Table = npt.NDArray[np.int32]

FORWARD, GRADIENT = 0, 1  # the two results of a slot that anything waits for


def result_row(slot: Ints, result: int) -> Ints:
    """Numbers of the slots' results, FORWARD or GRADIENT, among all results."""
    return 2 * slot + result


def awaited(placement: Placement, kind: int) -> Ints:
    """(slots,) the rule above, for what an op of each slot waits for beyond its own slot: the row of one result, or -1.

    That an I or B comes after its own F, and a W after its own I, is a matter of order on one rank (check.py); only
    the last stage's gradient names its own F here, because nothing else starts it.
    """
    slot, before, after = np.arange(placement.p * placement.chunks), placement.before, placement.after
    if kind == W:
        return np.full_like(slot, -1)
    if kind == F:
        return np.where(before < 0, -1, result_row(before, FORWARD))
    return np.where(after < 0, result_row(slot, FORWARD), result_row(after, GRADIENT))


def given(placement: Placement, kind: int) -> Ints:
    """(slots,) the row of the result that an op of each slot makes; -1 for W, which nothing waits for."""
    slot = np.arange(placement.p * placement.chunks)
    if kind == W:
        return np.full_like(slot, -1)
    return result_row(slot, FORWARD if kind == F else GRADIENT)


@dataclass(frozen=True, eq=False)
class Rules:
    """``need``, ``give`` (p, codes, 2): the rows each half of an op awaits and makes, -1 for none;
    ``hops`` (p, codes, 2): 1 where the awaited value comes from another rank, else 0."""

    need: Table
    give: Table
    hops: Table


@lru_cache(maxsize=64)
def rules(placement: Placement) -> Rules:
    """The dependency rule written out for every rank and op code of a placement."""
    p, chunks = placement.p, placement.chunks
    codes = code_count(chunks)
    need, give = np.full((p, codes, 2), -1, np.int32), np.full((p, codes, 2), -1, np.int32)
    needs = {kind: awaited(placement, kind).reshape(p, chunks) for kind in (F, I, W, B)}
    gives = {kind: given(placement, kind).reshape(p, chunks) for kind in (F, I, W, B)}
    for code in range(codes):
        kind, a, b = decode(code, chunks)
        halves = ((F, a), (B, b)) if kind == PAIR else ((kind, a),)
        for half, (half_kind, chunk) in enumerate(halves):
            need[:, code, half] = needs[half_kind][:, chunk]
            give[:, code, half] = gives[half_kind][:, chunk]
    owner = need // 2 // chunks
    own = np.arange(p)[:, None, None]
    return Rules(need, give, ((need >= 0) & (owner != own)).astype(np.int32))


def code_count(chunks: int) -> int:
    """How many op codes there are: pairs too, as long as they fit a byte."""
    return 4 * chunks + (chunks * chunks if chunks <= MAX_PAIR_CHUNKS else 0)
