"""One order under change: the kernels that time an order again after a few ops have moved.

An order is a string of op types for each rank: micro-batches are alike and first in, first out, so types are all there
is to choose. A type is ``3 * chunk + kind``, and ``rank * width + type`` its *row* in all tables; ``width`` types a
rank. Three tuples of arrays stand for objects, because compiled code knows none:

    game   links (rows, 2): the row that a row's result goes to and the one that its input comes from, -1 for none;
           lag, cost (rows,); gain (width,) of memory; head, busy (p,): each rank's first start and sum of ops
    state  strings (p, steps); before (p, steps + 1, width): how many of each type stand before each place;
           level (p, steps + 1): the memory held there; place (rows, m): where each row's k-th op stands;
           end (p, steps): when each op ends; came (rows, m): when each row's k-th input arrives
    trial  end and came of the changed order from ``at[0]`` (2, p) on; counts (3, rows), clocks (2, p): see ``rewind``;
           slack (p,): how long each rank may be idle; spare (width + steps,): what a swap puts aside

After a move nothing changes before the end of the op in front of it, on any rank; so ``rewind`` goes back to there and
``replay`` goes on from there, and gives up as soon as one rank has been idle for longer than it may.
Knows no search: anneal.py decides what moves.
"""

from __future__ import annotations

from typing import Any

from .inner import inner

GAME = "Tuple((int64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[::1]))"
STATE = "Tuple((int32[:, ::1], int32[:, :, ::1], float64[:, ::1], int32[:, ::1], float64[:, ::1], float64[:, ::1]))"
TRIAL = (
    "Tuple((float64[:, ::1], float64[:, ::1], int64[:, ::1], int64[:, ::1], float64[:, ::1], float64[::1], int32[::1]))"
)


@inner("float64(int64[::1])")
def draw(seed: Any) -> float:
    """A number in (0, 1): L'Ecuyer's two combined congruential generators, alike compiled and interpreted."""
    seed[0] = (seed[0] * 40014) % 2147483563
    seed[1] = (seed[1] * 40692) % 2147483399
    z = seed[0] - seed[1]
    if z < 1:
        z += 2147483562
    return float(z / 2147483563.0)


@inner(f"void({GAME}, {STATE}, int64, int64, int64)")
def note(game: Any, state: Any, r: int, low: int, high: int) -> None:
    """Count again on rank r from place ``low`` to ``high``."""
    gain, (strings, before, level, place, _, _) = game[3], state
    width = gain.shape[0]
    for x in range(low, high + 1):
        u = strings[r, x]
        place[r * width + u, before[r, x, u]] = x
        for t in range(width):
            before[r, x + 1, t] = before[r, x, t]
        before[r, x + 1, u] += 1
        level[r, x + 1] = level[r, x] + gain[u]


@inner(f"void({GAME}, {STATE}, {TRIAL}, int64, int64, int64)")
def undo(game: Any, state: Any, trial: Any, r: int, low: int, n: int) -> None:
    """Put back the n ops that the last swap began to exchange."""
    strings, spare, width = state[0], trial[6], game[3].shape[0]
    for j in range(n):
        strings[r, low + j] = spare[width + j]


@inner(f"boolean({GAME}, {STATE}, {TRIAL}, float64, int64, int64, int64, int64)")
def swap(game: Any, state: Any, trial: Any, room: float, r: int, low: int, a: int, b: int) -> bool:
    """On rank r exchange the a ops from place ``low`` on with the b ops behind them; leave all as it is, and return
    False, if nothing would change, an I would come before its F or a W before its I, or the memory pass the limit."""
    gain, (strings, before, level, _, _, _), spare = game[3], state, trial[6]
    n, width = a + b, gain.shape[0]
    for j in range(n):
        spare[width + j] = strings[r, low + j]
    for t in range(width):
        spare[t] = before[r, low, t]
    held, other, legal = level[r, low], False, True
    for j in range(n):
        u = spare[width + (j + a) % n]
        other = other or u != spare[width + j]
        held += gain[u]
        if held > room or (u % 3 > 0 and spare[u] >= spare[u - 1]):
            legal = False
            break
        spare[u] += 1
        strings[r, low + j] = u
    if legal and other:
        return True
    undo(game, state, trial, r, low, n)
    return False


@inner(f"void({GAME}, {STATE}, {TRIAL}, int64, int64)")
def rewind(game: Any, state: Any, trial: Any, rank: int, low: int) -> None:
    """Set all ranks back to the end of the op in front of place ``low`` of a rank (0: to the start).

    Fills ``at`` (2, p): the place to go on from, and a copy that stays; ``counts`` (3, rows): ops done, inputs there,
    and a copy of them that stays; ``clocks`` (2, p): the time, and how long the rank has been idle since its start.
    """
    links, _, cost, _, head, _ = game
    before, end, (_, _, at, counts, clocks, _, _) = state[1], state[4], trial
    p, steps = end.shape
    width = links.shape[0] // p
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
            clocks[1, r] -= n * cost[row]
            if links[row, 0] >= 0:
                counts[1, links[row, 0]] = counts[2, links[row, 0]] = n


@inner(f"boolean({GAME}, {STATE}, {TRIAL})")
def replay(game: Any, state: Any, trial: Any) -> bool:
    """Run on from where ``rewind`` stopped; False if a rank is idle for longer than its ``slack``, or all wait."""
    links, lag, cost, _, _, _ = game
    strings, came, (end, fresh, at, counts, clocks, slack, _) = state[0], state[5], trial
    p, steps = strings.shape
    width, left = links.shape[0] // p, 0
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
                now += cost[row]
                counts[0, row] = k + 1
                if to >= 0:
                    fresh[to, k] = now + lag[row]
                    counts[1, to] = k + 1
                end[r, x] = now
                x += 1
            if x > at[0, r]:
                moved = True
                left -= x - at[0, r]
                at[0, r], clocks[0, r] = x, now
        down = not down
    return left == 0


@inner(f"void({GAME}, {STATE}, {TRIAL})")
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
