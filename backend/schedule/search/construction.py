"""The kernels that construct and squeeze an order (building_block.py).

A *row* is the ops F or I of a slot, numbered 2 * slot + kind. The loop of ``fill`` calls only functions that numba
inlines (jit.Inline), and none with many arrays: counting references to them would take as long as the work itself.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from backend.schedule import jit

CLOSE = 1e-9  # part of a span by which sums of float64 may differ
CLEAR = 1e-6  # part of a period by which the slots of two ops must differ, so that no rounding matters
ANY, NONE = -1, -2  # of the rows of F
NEVER = 2**30  # more than there are micro-batches
FLOATS, INTS = "float64[:, ::1]", "int64[:, ::1]"
QUEUE = "float64[::1], int64[::1], int64[::1]"


@jit.inner(f"Tuple(({QUEUE}))(int64)")
def _queue(p: int) -> Any:
    """Return a tournament of ``p`` ranks that all wake at 0: for each node when the first below it wakes, the same in
    bits, and which rank that is. Times are not negative, so their bits compare as they do, and faster.

    Nodes 2n and 2n + 1 are below node n, the leaves are the second half. The earliest wins, of equal ones the first;
    node 1 is the root.
    """
    leaves = 1
    while leaves < p:
        leaves *= 2
    wake, winner = np.full(2 * leaves, np.inf), np.arange(-leaves, leaves)
    wake[leaves : leaves + p] = 0.0
    for node in range(leaves - 1, 0, -1):
        winner[node], wake[node] = winner[2 * node], wake[2 * node]
    return wake, wake.view(np.int64), winner


@jit.kernel("void(int64[::1], float64[::1], float64[:, ::1], int64, int64[:, ::1], float64[:, ::1])")
def chains(feeds: Any, lag: Any, cost: Any, p: int, to: Any, way: Any) -> None:
    """Fill ``to`` and ``way`` for each row.

    ``to`` (rows, 3): the row that it feeds, or -1; the rank of that; and the rank of the last I of its micro-batches.
    ``way`` (rows, 4): the delay of its result; its cost; the least time from its end to the end of that last I's W; and
    the longest op on this way, itself included.
    """
    rows, width = to.shape[0], to.shape[0] // p
    fed, chain = np.zeros(rows, np.bool_), np.zeros(rows, np.int64)
    for q in range(rows):
        row = 3 * (q // 2) + q % 2
        to[q, 0], way[q, 0], way[q, 1] = -1, lag[row], cost[q // 2, q % 2]
        if feeds[row] >= 0:
            to[q, 0] = 2 * (feeds[row] // 3) + feeds[row] % 3
            fed[to[q, 0]] = True
    for entry in range(rows):
        if fed[entry]:
            continue
        chain[0], length = entry, 1
        while to[chain[length - 1], 0] >= 0:
            chain[length] = to[chain[length - 1], 0]
            length += 1
        last = chain[length - 1]
        rest, longest = cost[last // 2, 2], cost[last // 2, 2]
        for x in range(length - 1, -1, -1):
            q = chain[x]
            if x < length - 1:
                rest += way[q, 0] + way[chain[x + 1], 1]
            longest = max(longest, way[q, 1])
            to[q, 1], to[q, 2], way[q, 2], way[q, 3] = max(0, to[q, 0]) // width, last // width, rest, longest


@jit.inner(f"int64({INTS}, float64, {FLOATS}, {FLOATS}, {FLOATS})")
def _enter(to: Any, pace: Any, due: Any, came: Any, coming: Any) -> int:
    """Fill ``came`` (rows, n + 1), when each input arrives, and ``coming`` (rows, 2), when the next one of a row
    arrives and is due.

    At first only the inputs of rows that no op feeds arrive, one row in each stream, ``pace`` after one another.
    Returns the number of streams.
    """
    rows, streams = to.shape[0], 0
    fed = np.zeros(rows, np.bool_)
    for q in range(rows):
        if to[q, 0] >= 0:
            fed[to[q, 0]] = True
    came[:, :] = np.inf
    for q in range(rows):
        if not fed[q]:
            streams += 1
            for k in range(came.shape[1] - 1):
                came[q, k] = pace * k
        coming[q, 0], coming[q, 1] = came[q, 0], due[q // 2, q % 2]
    return streams


class FillInput(NamedTuple):
    """What ``fill`` constructs an order from: rows and slots as in building_block.py, times in the costs' unit."""

    due: Annotated[Any, "float64[:, ::1]"]  # (slots, 2), the slots of F and I in the block
    period: Annotated[float, "float64"]
    to: Annotated[Any, "int64[:, ::1]"]  # as in `chains`
    way: Annotated[Any, "float64[:, ::1]"]
    cost: Annotated[Any, "float64[:, ::1]"]  # (slots, 3)
    room: Annotated[Any, "float64[::1]"]  # the limit in chunks, and W's share of a chunk
    wait: Annotated[Any, "float64[::1]"]  # a Choice's waits: three of a device, and that between micro-batches
    most: Annotated[float, "float64"]  # the longest window of a device


class FillOutput(NamedTuple):
    """The order that ``fill`` constructs, and what was decided, by which ``as_before`` compares tries."""

    codes: Annotated[Any, "uint8[:, ::1]"]  # (p, steps)
    window: Annotated[Any, "float64[:, ::1]"]  # (p, 2), each device's first start and last end
    between: Annotated[Any, "float64[:, ::1]"]  # (3, 2), of each wait the longest time waited, the shortest not waited
    # (rows, 2 * chunks), by how many micro-batches a row was at least ahead of each of its rank that it ran before
    ahead: Annotated[Any, "int32[:, ::1]"]


@jit.inner(FillInput, "int64", "int64")
def _start(given: Any, p: int, n: int) -> Any:
    """Return the state before the first op: ``came`` and ``coming`` as in ``_enter``; ``turn`` (rows,), the next
    micro-batch of each; ``owed`` (p, chunks * n), the chunks of I's without their W; ``opened`` (p, streams),
    micro-batches in each stream's last chunk; ``spare`` (p,), how long each device may still be idle.
    """
    due, _, to, _, cost, _, wait, most = given
    rows, chunks = to.shape[0], cost.shape[0] // p
    came, coming, turn = np.empty((rows, n + 1)), np.empty((rows, 2)), np.zeros(rows, np.int64)
    streams = _enter(to, wait[3], due, came, coming)
    owed, opened = np.zeros((p, chunks * n), np.uint8), np.zeros((p, streams), np.int64)
    spare = np.full(p, most * (1.0 + CLOSE))
    for slot in range(cost.shape[0]):
        for kind in range(3):
            spare[slot // chunks] -= n * cost[slot, kind]
    return came, coming, turn, owed, opened, spare


@jit.Inline
def _last_chunk(turn: Any, opened: Any, r: int, base: int, width: int, n: int) -> int:
    """Return the only row of F for which a device's last room is reserved, or NONE, or ANY.

    If a stream with more F to come has no micro-batch in its last chunk here, only that chunk leads to an I and so to
    room. With one stream that is the rank's last chunk, with two each is its own last.
    """
    only, streams = ANY, opened.shape[1]
    for stream in range(streams):
        last = base + (width - 2 if streams == 1 else 2 * stream)
        if opened[r, stream] == 0 and turn[last] < n:
            only = last if only == ANY else NONE
    return only


@jit.Inline
def _wake_earlier(wake: Any, bits: Any, winner: Any, leaves: int, rank: int, moment: float) -> None:
    """Let a rank wake earlier: matches may be won until one is lost."""
    node = leaves + rank
    wake[node] = moment
    first = bits[node]
    while node > 1 and first < bits[node ^ 1] + 1 - (node & 1):
        node >>= 1
        bits[node], winner[node] = first, rank


@jit.Inline
def _wake_later(wake: Any, bits: Any, winner: Any, leaves: int, rank: int, moment: float) -> None:
    """Let the rank that has won wake later: all its matches are played again."""
    node, who = leaves + rank, rank
    wake[node] = moment
    first = bits[node]
    while node > 1:
        rival = bits[node ^ 1]
        if rival < first + (node & 1):
            first, who = rival, winner[node ^ 1]
        node >>= 1
        bits[node], winner[node] = first, who


@jit.kernel(FillInput, FillOutput)
def fill(given: Any, output: Any) -> int:
    """Let the device that is free first run the most overdue op that it can run, repeatedly; return how many ops ran:
    fewer than all in a deadlock, or once a device's window must become longer than ``most``.

    Of the ops whose input arrives within a wait the most overdue runs, or else a W, or the first that arrives.
    """
    (due, period, to, way, cost, room, wait, most), (codes, window, between, ahead) = given, output
    p, width, at = codes.shape[0], to.shape[0] // codes.shape[0], 0
    chunks, n = width // 2, codes.shape[1] // (width // 2 * 3)
    came, coming, turn, owed, opened, spare = _start(given, p, n)
    step, made, paid = np.zeros(p, np.int64), np.zeros(p, np.int64), np.zeros(p, np.int64)
    clock, level, streams = np.zeros(p), np.zeros(p), opened.shape[1]
    share, latest = room[1], most * (1.0 + CLOSE)
    window[:, 0], between[:, 0], between[:, 1], ahead[:, :] = np.inf, 0.0, np.inf, NEVER
    wake, bits, winner = _queue(p)
    leaves = len(wake) // 2
    while at < codes.size and wake[1] < np.inf:
        r, now = winner[1], wake[1]
        base, waiting = r * width, made[r] - paid[r]
        stage = 2 if turn[base] == n else 1
        until, left, only = now + wait[stage], room[0] - level[r] - 1.0 + 1e-9, ANY
        if left < 0.0:
            only = NONE
        elif left + share * waiting < 1.0 and wait[stage] < np.inf:
            only = _last_chunk(turn, opened, r, base, width, n)
        pick, pick_late, pick_due, begin, soon, ripe = 0, np.inf, np.inf, np.inf, np.inf, 0
        for q in range(base, base + width):
            arrival, when, late = coming[q, 0], coming[q, 1], 0.0
            if q & 1 == 0 and only != ANY and q != only:
                arrival = np.inf
            if arrival > until:
                late = arrival
                if arrival < soon:
                    soon = arrival
            else:
                ripe += 1
            if late < pick_late or (late == pick_late and when < pick_due):
                pick, pick_late, pick_due, begin = q, late, when, arrival
        if ripe > 1:  # something was decided by what is due
            for q in range(base, base + width):
                arrival = coming[q, 0]
                if q & 1 == 0 and only != ANY and q != only:
                    arrival = np.inf
                if arrival <= until and turn[q] - turn[pick] < ahead[pick, q - base]:
                    ahead[pick, q - base] = turn[q] - turn[pick]
        ready, begin = begin <= until and begin < np.inf, max(begin, now)
        weight, wakes = waiting > 0 and begin > now + wait[0], begin
        if ready and begin - now > between[stage, 0]:
            between[stage, 0] = begin - now
        if (ready or not weight) and soon - now < between[stage, 1]:
            between[stage, 1] = soon - now
        if weight:
            between[0, 1] = min(between[0, 1], begin - now)
        elif waiting > 0 and begin < np.inf:
            between[0, 0] = max(between[0, 0], begin - now)
        if weight:
            begin, kind, chunk = now, 2, np.int64(owed[r, paid[r]])
            wakes = now + cost[r * chunks + chunk, 2]
            paid[r] += 1
            level[r] -= share
        elif ready:
            kind, chunk, k = pick & 1, (pick - base) >> 1, turn[pick]
            wakes = begin + way[pick, 1]
            stream, last = (chunk, 1) if streams == 2 else (0, np.int64(chunk == chunks - 1))
            if kind == 0:
                level[r] += 1.0
                opened[r, stream] += last
            else:
                level[r] -= 1.0 - share
                opened[r, stream] -= last
                owed[r, made[r]] = chunk
                made[r] += 1
            fed, other, over = to[pick, 0], to[pick, 1], to[pick, 2]
            # the micro-batches that follow need the same time as this one, one after the other
            if wakes + way[pick, 2] + (n - 1 - k) * way[pick, 3] - window[over, 0] > latest:
                return at
            turn[pick] = k + 1
            coming[pick, 0] = came[pick, k + 1]
            coming[pick, 1] = due[pick >> 1, kind] + period * (k + 1) if k + 1 < n else np.inf
            if fed >= 0:
                arrival = wakes + way[pick, 0]
                came[fed, k] = arrival
                if turn[fed] == k:
                    coming[fed, 0] = arrival
                moment = max(clock[other], arrival)
                if other != r and moment < wake[leaves + other]:
                    _wake_earlier(wake, bits, winner, leaves, other, moment)
        if weight or ready:
            if step[r] == 0:
                window[r, 0] = begin
            else:
                spare[r] -= begin - clock[r]
                if spare[r] < 0.0:
                    return at
            codes[r, step[r]], clock[r] = kind * chunks + chunk, wakes
            step[r], at = step[r] + 1, at + 1
        _wake_later(wake, bits, winner, leaves, r, wakes)
    window[:, 1] = clock
    return at


@jit.kernel(
    f"boolean({FLOATS}, float64, float64[::1], boolean, float64, {FLOATS}, float64[:, :, ::1], int32[:, :, ::1])"
)
def as_before(
    due: Any, period: float, wait: Any, exact: bool, near: float, waits: Any, between: Any, ahead: Any
) -> bool:
    """Return whether a try lays what an earlier one has laid, because every device decides alike each time.

    Of each earlier one: ``waits`` (tries, 3), ``between`` and ``ahead`` as ``fill`` has filled them. Another wait makes
    no difference between the longest time that was waited and the shortest that was not; other slots make none if each
    row that ran before another is still due before it then. Neither must be closer than sums of float64 may round,
    ``near`` for times; slots that are ``exact`` do not round.
    """
    width = ahead.shape[2]
    for x in range(waits.shape[0]):
        alike, q = True, 0
        for each in range(3):
            own, longest, shortest = waits[x, each], between[x, each, 0], between[x, each, 1]
            if wait[each] > own:
                alike = alike and wait[each] < shortest - near and wait[each] < np.inf
            elif wait[each] < own:
                alike = alike and own < np.inf and (longest == 0.0 or longest + near < wait[each])
        while alike and q < ahead.shape[1]:
            first = q - q % width
            for other in range(first, first + width):
                if other != q and ahead[x, q, other - first] < NEVER:
                    late = due[q >> 1, q & 1] - due[other >> 1, other & 1] - period * ahead[x, q, other - first]
                    before = late < 0.0 or (late == 0.0 and q < other)
                    alike = alike and (late < -CLEAR * period or (exact and before))
            q += 1
        if alike:
            return True
    return False


@jit.kernel(
    "int64(int64[::1], float64[::1], float64[:, ::1], float64[::1], uint8[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def squeeze(feeds: Any, lag: Any, cost: Any, room: Any, codes: Any, start: Any, end: Any) -> int:
    """Move ops forward into idle time, from the last rank to the first; returns how many. No other op gets later, no F
    goes where the level would pass the limit. Changes ``codes``, ``start``, ``end`` (p, steps) in place."""
    p, width, moved = codes.shape[0], feeds.shape[0] // codes.shape[0], 0
    chunks, steps, m = width // 3, codes.shape[1], codes.shape[1] // width
    came, turn, level = np.zeros((p * width, m)), np.zeros(p * width, np.int64), np.zeros(steps + 1)
    gain, kinds, rows = np.empty(width), np.empty(width, np.int64), np.empty(width, np.int64)  # of each code
    for code in range(width):
        kinds[code], rows[code] = code // chunks, 3 * (code % chunks) + code // chunks
        gain[code] = 1.0 if code < chunks else room[1] - 1.0 if code < 2 * chunks else -room[1]
    spent = cost.reshape(p * width)
    for sweep in range(3):  # the first sweep only records arrival times
        turn[:] = 0
        for each in range(p):
            r = p - 1 - each
            for x in range(steps):
                code = codes[r, x]
                kind, row = kinds[code], r * width + rows[code]
                k, span, level[x + 1] = turn[row], spent[row], level[x] + gain[code]
                turn[row] += 1
                arrival, y, best, free = came[row, k], x, x, start[r, x]
                while sweep > 0 and span > 0.0 and y > 0 and codes[r, y - 1] != code:
                    y -= 1
                    if start[r, y] < arrival + span or (kind == 0 and level[y + 1] + 1.0 > room[0] + 1e-9):
                        break
                    early = max(arrival, end[r, y - 1]) if y > 0 else arrival
                    if early + span <= start[r, y] and (kind > 0 or level[y] + 1.0 <= room[0] + 1e-9):
                        best, free = y, early
                if best < x:
                    moved += 1
                    for z in range(x, best, -1):
                        codes[r, z], start[r, z], end[r, z] = codes[r, z - 1], start[r, z - 1], end[r, z - 1]
                    codes[r, best], start[r, best], end[r, best] = code, free, free + span
                    for z in range(best, x + 1):
                        level[z + 1] = level[z] + gain[codes[r, z]]
                if kind == 1:
                    came[row + 1, k] = free + span
                if feeds[row] >= 0:
                    came[feeds[row], k] = free + span + lag[row]
    return moved
