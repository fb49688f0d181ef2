"""Times of events on a GPU's stream, in the host's clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from runner.telemetry.clock import now

TRIES = 5  # to relate both clocks


class Event(Protocol):
    """The part of torch.cuda.Event that is used."""

    def record(self) -> None:
        """Record the event on the current stream: it happens when all work so far is done."""

    def wait(self) -> None:
        """Have the current stream wait for the event."""

    def query(self) -> bool:
        """Return whether the event has happened."""

    def synchronize(self) -> None:
        """Wait for the event."""

    def elapsed_time(self, other: Any) -> float:
        """Return the milliseconds until another event."""


class EventClock:
    """Marks on the current stream, and their times by the host's clock."""

    def __init__(self, create: Callable[[], Event]) -> None:
        self.create = create

    def relate(self) -> None:
        """Relate the GPU's clock to the host's, once a step; the quickest of several tries counts."""
        tries = []
        for _ in range(TRIES):
            before, event = now(), self.mark()
            event.synchronize()
            after = now()
            tries.append((after - before, (before + after) // 2, event))
        _, self.at, self.base = min(tries, key=lambda one: one[0])

    def mark(self) -> Event:
        """Record an event on the current stream."""
        event = self.create()
        event.record()
        return event

    def time(self, event: Event) -> int:
        """Return the host's time, in ns, of an event that has happened."""
        return self.at + round(self.base.elapsed_time(event) * 1e6)
