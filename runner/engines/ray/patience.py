"""Time for the start of a Ray node on a busy machine: Ray gives it 30 s, a number in its code that nothing sets."""

from __future__ import annotations

import time
from typing import Any

from ray._private import node

SLOWER = 10  # times


class _Clock:
    """The clock by which Ray ends its own waits for its processes, on which time passes more slowly."""

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def monotonic(self) -> float:
        return time.monotonic() / SLOWER


def be_patient() -> None:
    """Let the start of a node in this process take ``SLOWER`` times as long as Ray gives it."""
    node.time = _Clock()
