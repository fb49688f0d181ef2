"""The viewers of the cluster: each is sent its state at once and after every change.

Only the latest state is sent. A viewer whose last message is still being sent gets the next one when that is done, with
the state of that moment: messages never queue, however slow a viewer is.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any, Protocol

import gevent

from backend.errors import with_codes

logger = logging.getLogger(__name__)
RETRY_S = 0.1  # until viewers who were not free are tried again


class Transport(Protocol):
    """The interface of the sockets that the feed uses."""

    def idle(self, viewer: str) -> bool:
        """Return whether the network has taken all messages to the viewer."""

    def emit(self, viewers: list[str], event: str, text: str) -> None:
        """Send one event with this JSON to these viewers, without waiting."""


class ClusterFeed:
    """The viewers of one server's cluster; `now` returns its state."""

    def __init__(self, transport: Transport, now: Callable[[], dict[str, Any]]) -> None:
        self._transport, self._now = transport, now
        self._seen: dict[str, int] = {}  # viewer -> number of the change that it was sent last
        self._change = 1
        self._later: Any = None

    def watch(self, viewer: str) -> None:
        """Send the viewer the state now and after every change."""
        self._seen[viewer] = 0
        self._pump()

    def drop(self, viewer: str) -> None:
        """Stop sending to the viewer."""
        self._seen.pop(viewer, None)

    def notify(self) -> None:
        """Send the changed state to every viewer."""
        self._change += 1
        self._pump()

    def _pump(self) -> None:
        """Send to the viewers who are free; an error is logged, not raised in the caller."""
        try:
            self._send()
        except Exception:
            logger.exception("the feed of the cluster")

    def _send(self) -> None:
        behind = [viewer for viewer, seen in self._seen.items() if seen < self._change]
        free = [viewer for viewer in behind if self._transport.idle(viewer)]
        if free:
            self._seen.update(dict.fromkeys(free, self._change))
            self._transport.emit(free, "cluster", json.dumps(with_codes(self._now()), separators=(",", ":")))
        if len(free) < len(behind) and self._later is None:
            self._later = gevent.spawn_later(RETRY_S, self._again)

    def _again(self) -> None:
        self._later = None
        self._pump()
