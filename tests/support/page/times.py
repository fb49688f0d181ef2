"""Orders as they are sent, with the times of their ops: the page must compute the same, bit for bit."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from backend.schedule.families.registry import order, read
from backend.schedule.order.wire import encode
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec


def specs() -> list[Spec]:
    """Return the specs of the fixture: each kind of placement, op and option."""
    costs = {"F": 18.522, "I": 18.086, "W": 9.337, "comm": 0.601}
    sizes = {"dualpipe": (4, 8, 1), "dualpipev": (2, 4, 2), "interleaved": (3, 6, 2)}
    names = ("gpipe", "1f1b", "interleaved", "zb-h1", "dualpipe", "dualpipev")
    plain = [
        read(dict(zip(("family", "p", "m", "v"), (name, *sizes.get(name, (3, 5, 1))), strict=True)) | {"costs": costs})
        for name in names
    ]
    placed = [
        {"family": "interleaved", "p": 2, "m": 6, "v": 2, "offload": "full", "costs": costs | {"O": 55.5}},
        {"family": "gis", "p": 3, "m": 6, "v": 2, "offload": "selective", "recompute": "selective", "costs": costs},
        {"family": "1f1b", "p": 3, "m": 6, "vocabulary": "parallel-1", "costs": costs},
        {"family": "zb-h1", "p": 3, "m": 6, "vocabulary": "parallel-2", "costs": costs | {"S": 0, "T": 20}},
    ]
    return [*plain, *map(read, ({"family": "gpipe", "p": 3, "m": 4, "lifo": True, "costs": costs}, *placed))]


def case(spec: Spec) -> dict[str, Any]:
    """Return one case as JSON: the encoded order and the ends of its ops and copies, both in base64."""
    built = order(spec)
    timeline = simulate(built, spec.timing, spec.v)
    ends = np.concatenate((timeline.end, timeline.copy_end)).astype("<f8")
    return {
        "name": f"{spec.family} p={spec.p} m={spec.m} v={spec.v} {spec.vocabulary} {spec.offload}",
        "wire": base64.b64encode(encode(built, spec.to_json())).decode(),
        "end": base64.b64encode(ends.tobytes()).decode(),
    }
