"""Who watches the cluster: each viewer is sent how it is now, and how it is whenever that has changed.

Only the last state counts. A viewer who has not taken the last message yet gets none until that is done, and then the
one that holds by then: nothing gathers, however slow a viewer is. Knows no sockets: a Transport tells who is free.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any, Protocol

import gevent

logger = logging.getLogger(__name__)
RETRY_S = 0.1  # how soon to look again at viewers who were not free


class Transport(Protocol):
    """What is needed of the sockets."""

    def idle(self, viewer: str) -> bool:
        """Whether the viewer has taken all that was sent."""

    def tell(self, viewers: list[str], event: str, text: str) -> None:
        """Send one event with this JSON to these viewers, without waiting."""


class ClusterFeed:
    """The viewers of one server's cluster; `now` gives what there is to say."""

    def __init__(self, transport: Transport, now: Callable[[], dict[str, Any]]) -> None:
        self._transport, self._now = transport, now
        self._seen: dict[str, int] = {}  # viewer -> the change that it was told last
        self._change = 1
        self._later: Any = None

    def watch(self, viewer: str) -> None:
        """Tell the viewer how the cluster is, and go on telling."""
        self._seen[viewer] = 0
        self._pump()

    def drop(self, viewer: str) -> None:
        """Tell the viewer no more."""
        self._seen.pop(viewer, None)

    def notify(self) -> None:
        """The cluster has changed."""
        self._change += 1
        self._pump()

    def _pump(self) -> None:
        """Tell who is free; an error costs this round, never whoever brought the news."""
        try:
            self._tell()
        except Exception:
            logger.exception("the feed of the cluster")

    def _tell(self) -> None:
        behind = [viewer for viewer, seen in self._seen.items() if seen < self._change]
        free = [viewer for viewer in behind if self._transport.idle(viewer)]
        if free:
            self._seen.update(dict.fromkeys(free, self._change))
            self._transport.tell(free, "cluster", json.dumps(self._now(), separators=(",", ":")))
        if len(free) < len(behind) and self._later is None:
            self._later = gevent.spawn_later(RETRY_S, self._again)

    def _again(self) -> None:
        self._later = None
        self._pump()
