"""What the processes of a server tell each other of their classes, through one channel of Redis for each class.

A message is for the moment; what lasts is in the database, which is read again after the connection was lost.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable
from typing import Any

import gevent

from backend.web.shared.connection import UNAVAILABLE, close, connect, key

logger = logging.getLogger(__name__)
WAIT_S = 5.0  # for which one call waits in Redis
PAUSE_S = 0.3  # after a failure, until it listens again
AWAY_S = 2.0  # after a failure, until it tells something again


class ClassChannel:
    """The channel of one process. `take` is called with what others tell, `lost` whenever it begins to hear: of what
    was told before nothing is known.
    """

    def __init__(self, url: str, take: Callable[[str, dict[str, Any]], None], lost: Callable[[], None]) -> None:
        self._client, self._reading = connect(url), connect(url)
        self._take, self._lost = take, lost
        self._process = secrets.token_hex(8)
        self._reader: Any = None
        self._away = False
        self._tried_again = 0.0  # not before this time

    def post(self, code: str, told: dict[str, Any]) -> bool:
        """Tell the other processes; return whether they could be reached. After a failure nothing is tried for a
        moment: students must not wait for a network that is down.
        """
        self.listen()
        if time.monotonic() < self._tried_again:
            return False
        try:
            self._client.publish(key("class", code), json.dumps({"process": self._process, "told": told}))
        except UNAVAILABLE as error:
            if not self._away:
                logger.warning("other processes hear nothing of classes, Redis: %s", error)
            self._away, self._tried_again = True, time.monotonic() + AWAY_S
            return False
        self._away = False
        return True

    def listen(self) -> None:
        """Begin to hear what others tell."""
        self._reader = self._reader or gevent.spawn(self._read_forever)

    def stop(self) -> None:
        """Hear nothing more."""
        if self._reader is not None:
            self._reader.kill()
        for client in (self._client, self._reading):
            close(client)

    def _read_forever(self) -> None:
        failing = False
        while True:
            try:
                with self._reading.pubsub() as heard:
                    heard.psubscribe(key("class", "*"))
                    while True:
                        found = heard.get_message(timeout=WAIT_S)
                        if found is None:
                            continue
                        if found["type"] == "psubscribe":  # now, or again: redis-py connects again by itself
                            failing = False
                            self._lost()
                        else:
                            self._hear(found)
            except UNAVAILABLE as error:
                if not failing:
                    logger.warning("nothing is heard from other processes of classes, Redis: %s", error)
                failing = True
            except Exception:
                logger.exception("what other processes tell of classes")
            gevent.sleep(PAUSE_S)

    def _hear(self, found: dict[str, Any]) -> None:
        told = json.loads(found["data"])
        if told["process"] != self._process:
            self._take(found["channel"].decode().rpartition(":")[2], told["told"])
