"""Kernels of the annealing: move a few ops, time the order again from there, and accept or reject the move.

An order is a string of op types for each rank. Micro-batches are alike and first in, first out, so only the types can
be chosen. A type is ``3 * chunk + kind``, and ``rank * width + type`` is its *row* in all tables, with ``width``
types per rank. Three tuples of arrays take the place of objects, which compiled code does not support:

    game   links (rows, 2): the row that a row's result goes to and the one that its input comes from, -1 for none;
           lag, cost (rows,); gain (width,) of memory; head, busy (p,): each rank's first start and sum of ops; where
           micro-batches differ, else empty: own (rows, m), the cost of each row's k-th op, spent (rows, m + 1), of all
           before it, taken (width, m), its memory, late (rows, m), its lag
    state  strings (p, steps); before (p, steps + 1, width): the count of each type before each position;
           level (p, steps + 1): the memory in use there; place (rows, m): the position of each row's k-th op;
           end (p, steps): when each op ends; came (rows, m): when each row's k-th input arrives
    trial  end and came of the changed order from ``at[0]`` (2, p) on; counts (3, rows), clocks (2, p): see ``rewind``;
           slack (p,): how long each rank may be idle; spare (width + steps,): a buffer of ``swap``

A move changes nothing before the end of the op in front of it, on any rank. ``rewind`` therefore goes back to that
time, and ``replay`` runs on from there; it stops as soon as one rank has been idle for longer than its slack. All
kernels are in one file, because numba's cache on disk compares only a kernel's own file: see jit.Inner.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backend.schedule import jit

GAME = (
    "Tuple((int64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[:, ::1],"
    " float64[:, ::1], float64[:, ::1], float64[:, ::1]))"
)
STATE = "Tuple((int32[:, ::1], int32[:, :, ::1], float64[:, ::1], int32[:, ::1], float64[:, ::1], float64[:, ::1]))"
TRIAL = (
    "Tuple((float64[:, ::1], float64[:, ::1], int64[:, ::1], int64[:, ::1], float64[:, ::1], float64[::1], int32[::1]))"
)

LONGEST = 4.0  # most ops that move together: under a tight limit a W and the F that it makes room for, or a whole cycle
TRIES = 30  # most moves tried for each that is timed: there may be no legal one
EPSILON = 1e-9


@jit.inner("float64(int64[::1])")
def draw(seed: Any) -> float:
    """Draw a number in (0, 1), the same compiled and interpreted.

    Source: L'Ecuyer, "Efficient and portable combined random number generators", 1988 (two generators combined).
    """
    seed[0] = (seed[0] * 40014) % 2147483563
    seed[1] = (seed[1] * 40692) % 2147483399
    z = seed[0] - seed[1]
    if z < 1:
        z += 2147483562
    return float(z / 2147483563.0)


@jit.inner(f"void({GAME}, {STATE}, int64, int64, int64)")
def note(game: Any, state: Any, r: int, low: int, high: int) -> None:
    """Count again on rank r from place ``low`` to ``high``."""
    gain, taken, (strings, before, level, place, _, _) = game[3], game[8], state
    width, sized = gain.shape[0], taken.shape[0] > 0
    for x in range(low, high + 1):
        u = strings[r, x]
        k = before[r, x, u]
        place[r * width + u, k] = x
        for t in range(width):
            before[r, x + 1, t] = before[r, x, t]
        before[r, x + 1, u] += 1
        level[r, x + 1] = level[r, x] + (taken[u, k] if sized else gain[u])


@jit.inner(f"void({GAME}, {STATE}, {TRIAL}, int64, int64, int64)")
def undo(game: Any, state: Any, trial: Any, r: int, low: int, n: int) -> None:
    """Put back the n ops that the last swap began to exchange."""
    strings, spare, width = state[0], trial[6], game[3].shape[0]
    for j in range(n):
        strings[r, low + j] = spare[width + j]


@jit.inner(f"boolean({GAME}, {STATE}, {TRIAL}, float64, int64, int64, int64, int64)")
def swap(game: Any, state: Any, trial: Any, room: float, r: int, low: int, a: int, b: int) -> bool:
    """Exchange, on rank r, the a ops from place ``low`` on with the b ops behind them.

    Leaves all as it is and returns False if nothing would change, if an I would come before its F or a W before its I,
    or if the memory would exceed the limit.
    """
    gain, taken, (strings, before, level, _, _, _), spare = game[3], game[8], state, trial[6]
    n, width, sized = a + b, gain.shape[0], taken.shape[0] > 0
    for j in range(n):
        spare[width + j] = strings[r, low + j]
    for t in range(width):
        spare[t] = before[r, low, t]
    held, other, legal = level[r, low], False, True
    for j in range(n):
        u = spare[width + (j + a) % n]
        other = other or u != spare[width + j]
        held += taken[u, spare[u]] if sized else gain[u]
        if held > room or (u % 3 > 0 and spare[u] >= spare[u - 1]):
            legal = False
            break
        spare[u] += 1
        strings[r, low + j] = u
    if legal and other:
        return True
    undo(game, state, trial, r, low, n)
    return False


@jit.inner(f"void({GAME}, {STATE}, {TRIAL}, int64, int64)")
def rewind(game: Any, state: Any, trial: Any, rank: int, low: int) -> None:
    """Set all ranks back to the end of the op in front of place ``low`` of a rank (0: to the start).

    Fills ``at`` (2, p): the place to go on from, and a copy that stays; ``counts`` (3, rows): ops done, inputs there,
    and a copy of them that stays; ``clocks`` (2, p): the time, and how long the rank has been idle since its start.
    """
    links, _, cost, _, head, _, own, spent, _, _ = game
    before, end, (_, _, at, counts, clocks, _, _) = state[1], state[4], trial
    p, steps = end.shape
    width, sized = links.shape[0] // p, own.shape[0] > 0
    since = end[rank, low - 1] if low > 0 else -1.0
    for r in range(p):
        x = 0
        if r == rank:
            x = low
        elif low > 0:
            above = steps
            while x < above:
                middle = (x + above) // 2
                if end[r, middle] >= since:
                    above = middle
                else:
                    x = middle + 1
        at[0, r] = at[1, r] = x
        clocks[0, r] = end[r, x - 1] if x > 0 else 0.0
        clocks[1, r] = clocks[0, r] - head[r]
        for u in range(width):
            row, n = r * width + u, before[r, x, u]
            counts[0, row] = n
            clocks[1, r] -= spent[row, n] if sized else n * cost[row]
            if links[row, 0] >= 0:
                counts[1, links[row, 0]] = counts[2, links[row, 0]] = n


@jit.inner(f"boolean({GAME}, {STATE}, {TRIAL})")
def replay(game: Any, state: Any, trial: Any) -> bool:
    """Run on from where ``rewind`` stopped; False if a rank is idle for longer than its ``slack``, or all wait."""
    links, lag, cost, _, _, _, own, _, _, late = game
    strings, came, (end, fresh, at, counts, clocks, slack, _) = state[0], state[5], trial
    p, steps = strings.shape
    width, left, sized = links.shape[0] // p, 0, own.shape[0] > 0
    for r in range(p):
        left += steps - at[0, r]
    moved, down = True, True
    while moved:
        moved = False
        for each in range(p):
            r = each if down else p - 1 - each
            x, now = at[0, r], clocks[0, r]
            while x < steps:
                row = r * width + strings[r, x]
                k, to = counts[0, row], links[row, 0]
                if links[row, 1] >= 0:
                    if k >= counts[1, row]:
                        break
                    arrival = came[row, k] if k < counts[2, row] else fresh[row, k]
                    if arrival > now:
                        clocks[1, r] += arrival - now
                        now = arrival
                        if clocks[1, r] > slack[r]:
                            return False
                now += own[row, k] if sized else cost[row]
                counts[0, row] = k + 1
                if to >= 0:
                    fresh[to, k] = now + (late[row, k] if sized else lag[row])
                    counts[1, to] = k + 1
                end[r, x] = now
                x += 1
            if x > at[0, r]:
                moved = True
                left -= x - at[0, r]
                at[0, r], clocks[0, r] = x, now
        down = not down
    return left == 0


@jit.inner(f"void({GAME}, {STATE}, {TRIAL})")
def keep(game: Any, state: Any, trial: Any) -> None:
    """Take the times of a trial that ran to its end."""
    links, end, came, (again, fresh, at, counts, _, _, _) = game[0], state[4], state[5], trial
    p, steps = end.shape
    for r in range(p):
        for x in range(at[1, r], steps):
            end[r, x] = again[r, x]
    for row in range(links.shape[0]):
        if links[row, 1] >= 0:
            for k in range(counts[2, row], came.shape[1]):
                came[row, k] = fresh[row, k]


@jit.inner(f"int64({GAME}, {STATE}, int64[:, ::1])")
def longest_path(game: Any, state: Any, path: Any) -> int:
    """Fill ``path`` with (rank, place) from the last op of the rank with the longest window back to a first op."""
    (links, _, cost, _, head, _, own, _, _, _), (strings, before, _, place, end, _) = game, state
    p, steps = strings.shape
    width, r, longest, n, sized = links.shape[0] // p, 0, -1.0, 0, own.shape[0] > 0
    for q in range(p):
        if end[q, steps - 1] - head[q] > longest:
            longest, r = end[q, steps - 1] - head[q], q
    x = steps - 1
    while x >= 0 and n < path.shape[0]:
        path[n, 0], path[n, 1] = r, x
        n += 1
        row = r * width + strings[r, x]
        source, k = links[row, 1], before[r, x, strings[r, x]]
        spent = own[row, k] if sized else cost[row]
        if source >= 0 and (x == 0 or end[r, x - 1] < end[r, x] - spent - EPSILON):
            r, x = source // width, place[source, k]
        else:
            x -= 1
    return n


@jit.inner(f"float64({GAME}, {STATE}, {TRIAL}, float64[::1])")
def longest_window(game: Any, state: Any, trial: Any, plan: Any) -> float:
    """Return the longest window of a trial that ran to its end.

    Writes what the walk minimizes to ``plan[1]``: the longest window and a small part of the mean.
    """
    head, end, again, at = game[4], state[4], trial[0], trial[2]
    p, steps = end.shape
    longest, total = 0.0, 0.0
    for r in range(p):
        window = (again[r, steps - 1] if at[1, r] < steps else end[r, steps - 1]) - head[r]
        longest = max(longest, window)
        total += window
    plan[1] = longest + plan[8] * total / p
    return longest


@jit.kernel(f"float64({GAME}, {STATE}, {TRIAL}, float64[::1])")
def load(game: Any, state: Any, trial: Any, plan: Any) -> float:
    """Time the strings from the start; their longest window, infinite if they come to a stop."""
    p, steps = state[0].shape
    state[1][:, 0, :] = 0
    state[2][:, 0] = 0.0
    for r in range(p):
        note(game, state, r, 0, steps - 1)
    rewind(game, state, trial, 0, 0)
    trial[5][:] = np.inf
    if not replay(game, state, trial):
        return np.inf
    longest = longest_window(game, state, trial, plan)
    keep(game, state, trial)
    return longest


@jit.kernel(f"int64({GAME}, {STATE}, {TRIAL}, int32[:, ::1], int64[:, ::1], int64[::1], float64[::1], int64)")
def walk(game: Any, state: Any, trial: Any, best: Any, path: Any, seed: Any, plan: Any, more: int) -> int:
    """Walk on until ``more`` moves are timed; returns the number timed.

    ``plan``: the span of ``best``; the walk's present value; the temperature and the factor by which a move cools it;
    the memory limit; the mean sum of ops; reach, part on the path, weight of the mean; the length of the path known.
    """
    busy, strings = game[5], state[0]
    p, steps = strings.shape
    timed, tries = 0, 0
    while timed < more and tries < TRIES * more:
        tries += 1
        if draw(seed) < plan[7]:
            if plan[9] == 0.0:
                plan[9] = longest_path(game, state, path)
            j = int(draw(seed) * plan[9])
            r, x = path[j, 0], path[j, 1]
        else:
            r, x = int(draw(seed) * p), int(draw(seed) * steps)
        a, b = 1 + int(LONGEST * draw(seed) ** 3), 1 + int(plan[6] * draw(seed) ** 3)
        if draw(seed) < 0.5:
            a, b, x = b, a, x - b
        if x < 1 or x + a + b > steps or not swap(game, state, trial, plan[4], r, x, a, b):
            continue
        timed += 1
        plan[2] *= plan[3]
        now = plan[1]
        limit = now - plan[2] * np.log(draw(seed))
        rewind(game, state, trial, r, x)
        trial[5][:] = limit - plan[8] * plan[5] - busy
        if replay(game, state, trial):
            longest = longest_window(game, state, trial, plan)
            if plan[1] <= limit:
                keep(game, state, trial)
                note(game, state, r, x, x + a + b - 1)
                plan[9] = 0.0
                if longest < plan[0] - EPSILON:
                    plan[0] = longest
                    best[:] = strings
                continue
            plan[1] = now
        undo(game, state, trial, r, x, a + b)
    return timed
