"""The order of a building block in unit slots: the block repeated, and squeezed at both ends.

F, I and W take one slot each, a hop none. The steady state remains the block, slot for slot. In the warm-up and the
cool-down each op moves to the earliest free slot that its inputs and the peak allow: first with the W in their slots,
then in the cool-down once more with the W taken out and put back into the slots that are left.

Qi et al. 2024, Pipeline Parallelism with Controllable Memory, arXiv 2405.15362, section 4. The ops and the slots are
those of the authors' published generator, zbv_greedy.py of sail-sg/zero-bubble-pipeline-parallelism.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule import jit
from backend.schedule.order.order import Codes, from_rows
from backend.schedule.order.placement import place
from backend.schedule.search.building_block import Block
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.simulate import simulate

# (p, slots): which op is in each slot of each rank. F0, F1, I1, I0: the passes of a micro-batch, one after the other,
# the even ones down the ranks and the odd ones up; a W of either chunk; or none.
Grid = npt.NDArray[np.int64]
F0, F1, I1, I0, W, FREE = 0, 1, 2, 3, 4, -1
UNIT = Costs(2.0, 2.0, 2.0)  # of a device's whole share: an op of one of two chunks takes one slot


def unit_order(block: Block, m: int) -> Codes:
    """Return the codes (p, steps) of a block on the V repeated for ``m`` micro-batches."""
    grid = _repeated(block, m)
    _put_weights(grid)
    _squeeze(grid, m, True)
    grid = _timed(grid, m)
    grid[grid == W] = FREE
    _squeeze(grid, m, False)
    _put_weights(grid)
    grid = _timed(grid, m)
    grid[grid == W] = FREE
    _put_weights(grid)
    return _codes(grid, m)


def _repeated(block: Block, m: int) -> Grid:
    """Return the F and I of a block in their slots, with enough free slots behind them for every W."""
    due = block.due[:, (0, 1, 1, 0), (0, 0, 1, 1)].astype(np.int64)  # (p, passes)
    p, period = len(due), int(block.period)
    grid = np.full((p, int(due.max()) + period * m + 2 * m), FREE, np.int64)
    for k in range(m):
        grid[np.arange(p)[:, None], due + period * k] = np.arange(4)
    return grid


def _timed(grid: Grid, m: int) -> Grid:
    """Return the same ops in the same sequence, each in the first slot after its inputs."""
    p = len(grid)
    timeline = simulate(from_rows(place("v", p, 2), m, list(_codes(grid, m))), UNIT, 2)
    out = np.full_like(grid, FREE)
    for r in range(p):
        out[r, timeline.rank(r)[0].astype(np.int64)] = grid[r, grid[r] != FREE]
    return out


def _codes(grid: Grid, m: int) -> Codes:
    """Return the codes (p, steps) of the ops of each rank; of the W that are due, those of chunk 1 go first."""
    codes = np.zeros((len(grid), 6 * m), np.uint8)
    _encode(grid, codes)
    return codes


@jit.kernel("void(int64[:, ::1], uint8[:, ::1])")
def _encode(grid: Any, codes: Any) -> None:
    """Write the codes of the ops of each rank to ``codes``: kind * 2 + chunk."""
    for r in range(grid.shape[0]):
        at, due = 0, 0  # the next code; the W of chunk 1 that are due
        for x in range(grid.shape[1]):
            op = grid[r, x]
            if op == -1:
                continue
            if op == 4:
                codes[r, at] = 5 if due > 0 else 4
                due = max(0, due - 1)
            else:
                codes[r, at] = (0, 1, 3, 2)[op]
                due += op == 2
            at += 1


@jit.kernel("void(int64[:, ::1])")
def _put_weights(grid: Any) -> None:
    """Put each W into the first slot after its I that is free."""
    for r in range(grid.shape[0]):
        due = 0
        for x in range(grid.shape[1]):
            if grid[r, x] == 2 or grid[r, x] == 3:
                due += 1
            elif grid[r, x] == -1 and due > 0:
                grid[r, x] = 4
                due -= 1


@jit.inner("int64(int64[::1], int64[::1], int64[::1], int64, int64, int64, boolean)")
def over(row: Any, level: Any, due: Any, limit: int, begin: int, moved: int, kept: bool) -> int:
    """Count the chunks in flight, ``level``, and the W that are ``due``, in each slot from ``begin`` on, and return the
    last slot with more than ``limit``; -1 for none. Ends behind ``moved``, the last slot that changed, as soon as
    nothing differs from the last count. Unless the W are ``kept`` in their slots, each takes the next free one.
    """
    now, waiting, last = 0, 0, -1
    if begin > 0:
        now, waiting = level[begin - 1], due[begin - 1]
    for x in range(begin, row.shape[0]):
        op = row[x]
        if op == 0 or op == 1:
            now += 1
        elif op == 4:
            now -= 1
        elif not kept and op >= 2:
            waiting += 1
        elif not kept and waiting > 0:
            now, waiting = now - 1, waiting - 1
        if x > moved and level[x] == now and due[x] == waiting:
            return last
        level[x], due[x] = now, waiting
        if now > limit:
            last = x
    return last


@jit.inner("int64(int64[:, ::1], int64[:, :, ::1], int64[::1], int64, int64, int64)")
def ready(grid: Any, came: Any, made: Any, r: int, x: int, k: int) -> int:
    """Return the first slot after the inputs of the k-th op of its kind on rank ``r``, which is in slot ``x``.

    ``came`` (p, 4, m) has the slots of the passes; ``made`` (p,) counts the I so far.
    """
    op, slot = grid[r, x], -1
    if op == 4:
        slot, left = x - 1, made[r] - k
        while left > 0:
            left -= grid[r, slot] == 2 or grid[r, slot] == 3
            slot -= 1
        slot += 1
    else:
        before = r - 1 if op % 2 == 0 else r + 1
        if 0 <= before < grid.shape[0]:
            slot = came[before, op, k]
        if op > 0:
            slot = max(slot, came[r, op - 1, k])
    if k > 0:
        slot = max(slot, came[r, op, k - 1])
    return slot + 1


@jit.kernel("void(int64[:, ::1], int64, boolean)")
def _squeeze(grid: Any, m: int, kept: bool) -> None:
    """Move the ops of the warm-up and the cool-down forward, in the sequence of their slots, within the peak.

    The warm-up ends with the first I0 of rank 0, the cool-down begins after the last F0 of rank 0. Unless the W are
    ``kept`` in their slots, the grid has none, and only the cool-down is squeezed.
    """
    p, slots = grid.shape
    level, due = np.full((p, slots), -1, np.int64), np.full((p, slots), -1, np.int64)
    came, next_of, made = np.full((p, 5, 2 * m), -1, np.int64), np.zeros((p, 5), np.int64), np.zeros(p, np.int64)
    limit, phase = 0, 0
    for r in range(p):
        over(grid[r], level[r], due[r], slots, 0, slots, kept)
        limit = max(limit, level[r].max())
    for x in range(slots):
        for r in range(p):
            op = grid[r, x]
            if op == -1:
                continue
            k = next_of[r, op]
            to = x
            if phase == 0 and op == 3 and r == 0:
                phase = 1
            if phase == 1:
                phase += op == 0 and k == m - 1
            elif phase == 2 or kept:
                y = ready(grid, came, made, r, x, k)
                while to == x and y < x:
                    if grid[r, y] != -1:
                        y += 1
                        continue
                    grid[r, x], grid[r, y] = -1, op
                    beyond = over(grid[r], level[r], due[r], limit, y, x, kept)
                    if beyond < 0:
                        to = y
                    else:
                        grid[r, x], grid[r, y] = op, -1
                        over(grid[r], level[r], due[r], limit, y, x, kept)
                        y = beyond + 1  # in any slot before, it would be in flight there too
            came[r, op, k] = to
            next_of[r, op] += 1
            made[r] += op == 2 or op == 3
