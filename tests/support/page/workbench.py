"""Positions of the workbench with what the server says of each; the page must say the same.

Each case of the fixture has a name, a position, each rank's candidates with null or [code, English sentence] of the
reason why one may not come next, the families that the position is or begins as, and its score if it is complete.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from backend.schedule.errors import OrderError
from backend.schedule.order.ops import Op
from backend.schedule.partial_order.legality import Board
from backend.schedule.partial_order.position import Position
from backend.schedule.partial_order.recognition import named_orders, recognise
from backend.schedule.partial_order.score import score

UNEVEN = {"F": [1.0, 2.0, 1.5], "I": [1.0, 1.25, 1.0], "W": [0.5, 1.0, 0.75], "comm": 0.25}
SIZES: tuple[dict[str, Any], ...] = (
    {"p": 1, "m": 2},
    {"p": 2, "m": 3},
    {"p": 3, "m": 4, "memory": 2},
    {"p": 3, "m": 4, "costs": UNEVEN, "memory": 3},
    {"p": 4, "m": 5, "w_share": 0.5, "memory": 2.5, "costs": {"F": 1, "I": 1.2, "W": 0.8, "comm": 0.1}},
    {"p": 2, "m": 4, "v": 2},
    {"p": 3, "m": 6, "v": 2, "memory": 4},
    {"p": 2, "m": 4, "v": 3, "memory": 2},
    {"p": 2, "m": 4, "v": 2, "placement": "v", "memory": 1.5},
    {"p": 4, "m": 8, "v": 2, "placement": "v"},
    {"p": 2, "m": 4, "placement": "bidirectional"},
    {"p": 4, "m": 8, "placement": "bidirectional", "memory": 6},
    {"p": 3, "m": 4, "sizes": [0.5, 1.25, 2.0, 0.75], "costs": UNEVEN},
    {"p": 2, "m": 4, "v": 2, "placement": "v", "sizes": [1.0, 3.0, 0.5, 1.5]},
    {"p": 2, "m": 4, "placement": "bidirectional", "sizes": [1.0, 3.0, 0.5, 1.5]},
    {"p": 3, "m": 4, "recompute": "full", "recompute_at": "ahead", "costs": {"F": 1.0, "I": 1.0, "W": 1.0, "R": 1.5}},
)


def walk(position: Position, seed: int, steps: int, kinds: str = "FBIW") -> Position:
    """Place up to `steps` legal ops, chosen at random; fewer where none is legal any more."""
    rng, board = random.Random(seed), Board(position)
    rows = [list(row) for row in position.rows]
    for _ in range(steps):
        legal = [
            (rank, op)
            for rank, each in enumerate(board.legal())
            for op, why in each
            if why is None and op.kind in kinds
        ]
        if not legal:
            break
        rank, op = rng.choice(legal)
        board.place(rank, op)
        rows[rank].append(op)
    return position.with_rows(rows)


def careless(position: Position, seed: int, steps: int) -> Position:
    """Place ops at random, legal or not, as in free mode; each at most once."""
    rng, n, place = random.Random(seed), position.n, position.placement
    rows = [list(row) for row in position.rows]
    for _ in range(steps):
        rank, chunk, kind = rng.randrange(position.p), rng.randrange(place.chunks), rng.choice("FBIW")
        op = Op(kind, place.stage(rank, chunk), rng.randrange(n) + n * place.stream(rank, chunk), chunk)
        if op not in rows[rank]:
            rows[rank].append(op)
    return position.with_rows(rows)


def positions() -> Iterator[tuple[str, Position]]:
    """Yield every position of the fixture with its name."""
    for sizes in SIZES:
        empty = Position.from_json(sizes)
        name = " ".join(f"{key}={value}" for key, value in sizes.items() if key != "costs")
        yield f"{name} empty", empty
        for seed, steps in enumerate((3, 9, 27)):
            yield f"{name} after {steps} legal ops", walk(empty, seed, steps)
        yield f"{name} with full backwards as far as it goes", walk(empty, 7, 10_000, "FB")
        yield f"{name} with split backwards as far as it goes", walk(empty, 8, 10_000, "FIW")
        yield f"{name} careless", careless(empty, 5, 8)
        for named in named_orders(empty):
            yield f"{name} {named.name}", empty.with_rows(named.rows)
            cut = [row[: max(1, len(row) * (2 + rank) // 6)] for rank, row in enumerate(named.rows)]
            yield f"{name} begin of {named.name}", empty.with_rows(cut)


def case(name: str, position: Position) -> dict[str, Any]:
    """Return one case as JSON."""
    legal = [
        [[op.text(), None if why is None else [why.code, str(why)]] for op, why in rank]
        for rank in Board(position).legal()
    ]
    known = recognise(position)
    try:
        found = score(position).as_dict()
    except OrderError:
        found = None
    return {
        "name": name,
        "position": position.to_json(),
        "legal": legal,
        "recognised": {"exact": list(known.exact), "prefix": list(known.prefix)},
        "score": found,
    }
