"""Digests of the server's orders, which those of the page (static/js/core/families) must match byte by byte.

A case is a spec without its m, the list of m, and the digest of the orders for these m, one after the other. What one m
adds is either the codes, the ops of each rank, and the stored micro-batches of its order (int32, little-endian), or the
field, the nearest legal value and the English sentence of its refusal. Beside them: specs with random options and
costs, and whether the server takes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from random import Random
from typing import Any

import numpy as np

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.spec import Spec

P = range(1, 17)
M = (*range(1, 21), 24, 31, 32, 33, 40, 47, 48)
CHUNKED = ("interleaved", "interleaved-bfs", "interleaved-zb", "gis", "gis-h")
PLAIN = ("gpipe", "1f1b", "pipedream", "zb-h1", "zb-h2", "v-zb", "chimera", "dualpipe", "dualpipev")
SHAPED = ("v-min", "v-half")
SHAPED_P, SHAPED_M = (1, 2, 3, 4, 6, 7), (1, 2, 5, 12, 17)
COSTS: tuple[dict[str, Any], ...] = (
    {},
    {"I": 1.25, "W": 0.75, "comm": 0.25},
    {"F": 1.1, "I": 1.3, "W": 0.7, "comm": 0.05},
)
NATURAL = {family.name: family.v[1] for family in registry.FAMILIES.values()}  # numbers of chunks


def specs() -> Iterator[tuple[dict[str, Any], tuple[int, ...]]]:
    """Yield every spec of the grid, without m, and the m that it is built for."""
    for p in P:
        for family in PLAIN:
            yield {"family": family, "p": p}, M
        for family in CHUNKED:
            yield from (({"family": family, "p": p, "v": v}, M) for v in (1, 2, 3, 4))
        yield {"family": "gpipe", "p": p, "lifo": True}, M
        for family in ("interleaved", "interleaved-zb"):
            for group in sorted({max(1, p // 2 - 1), max(1, p - 2), p, p + 3}):
                yield {"family": family, "p": p, "v": 2, "group": group}, M
    for family in ("1f1b", "v-zb", "interleaved", "dualpipev"):
        yield from (({"family": family, "p": 4, "v": v}, (8,)) for v in (1, 2, 5, 64))
    for p in SHAPED_P:
        for family in SHAPED:
            yield from (({"family": family, "p": p, "costs": costs}, SHAPED_M) for costs in COSTS)
    yield {"family": "v-half", "p": 4, "recompute": "full"}, SHAPED_M
    for family in ("gpipe", "1f1b", "zb-h1", "zb-h2", "v-zb", *CHUNKED):
        yield from (({"family": family, "p": p, "forward_only": True}, M) for p in (1, 4, 7))


def part(data: dict[str, Any]) -> bytes:
    """Return what the order of a spec, or its refusal, adds to the digest."""
    spec = Spec.from_json(data, NATURAL)
    try:
        order = registry.order(spec)
    except SpecError as error:
        return f"{error.field} {error.nearest} {error.message}".encode()
    stored = b"" if order.micro is None else order.micro[:, 0].astype("<i4").tobytes()
    return order.codes.tobytes() + np.diff(order.offsets).astype("<i4").tobytes() + stored


def cases() -> Iterator[tuple[dict[str, Any], tuple[int, ...], str]]:
    """Yield each spec of the grid with its m and the digest of its orders."""
    for data, several in specs():
        digest = sha256()
        for m in several:
            digest.update(part(data | {"m": m}))
        yield data, several, digest.hexdigest()[:16]


def with_options() -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield specs of constructed families with some random fields, legal or not, and whether they are legal."""
    rng = Random(29)
    for name in (*PLAIN, *CHUNKED, *SHAPED) * 60:
        p, v = rng.choice((2, 3, 4)), rng.choice((*[NATURAL[name]] * 6, 1, 2, 15))
        stages = rng.choice((p * v, p * v, p, 3))
        choices: dict[str, tuple[Any, ...]] = {
            "group": (4, 8, 0, 2.5),
            "memory": (2.5, 0),
            "w_share": (0.5, 1.5),
            "lifo": (True,),
            "forward_only": (True,),
            "recompute": ("selective", "full", ["full"] * v, ["none", "full"], "most"),
            "layers": ([1] * stages, [0] * stages, [1.5] * stages),
            "vocabulary": ("redistribute", "parallel-1", "parallel-2", "interlaced", "other"),
            "offload": ("selective", "full", ["full"] * v, ["selective"] * v),
            "shared_link": (True,),
            "weights": (0.5, -1),
            "effort": (10,),
            "costs": (
                {"F": [1] * stages},
                {"F": [1] * stages, "I": [2] * stages},
                {"FB": 3},
                {"S": 1},
                {"comm": -1},
                {"W": 0},
            ),
        }
        fields = rng.sample(list(choices), rng.choice((1, 1, 1, 2, 3)))
        data = {"family": name, "p": p, "m": 8, "v": v} | {field: rng.choice(choices[field]) for field in fields}
        try:
            registry.validate(Spec.from_json(data, NATURAL))
        except SpecError:
            yield data, False
        else:
            yield data, True
