"""What the process that manages the runs publishes in Redis: the log of each run, and its own state.

The state is one JSON object that vanishes STATE_S after the last time that it was written: a reader that finds none
knows that no process manages the runs.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable
from typing import Any

import gevent
from gevent.event import Event as Signal

from backend.errors import with_codes
from backend.runs.run import Run
from backend.web.shared.connection import UNAVAILABLE, connect, key
from backend.web.shared.run_log_stream import Writer, read_run, stream_of

logger = logging.getLogger(__name__)
STATE, STATE_FIELD = key("state"), b"state"  # a stream of one entry, so that readers can wait for the next
LIVE = key("live")  # the ids of runs whose end may not be in the database yet
MARK = key("mark")  # a value that this process has written: without it, Redis has lost what it had
STATE_S = 6
ALIVE_S = 2.0  # between two states without a change
ROUND_S = 0.02  # in which changes become one call
STATE_ROUND_S = 0.2  # between two looks for a changed state


class Publisher:
    """Publishes the runs passed to it; `state` returns the state, JSON but for its messages."""

    def __init__(self, url: str, state: Callable[[], dict[str, Any]]) -> None:
        self._client, self._state = connect(url), state
        self._writers: dict[str, Writer] = {}  # by run, of those that are not over or not written to their end
        self._changed: set[str] = set()
        self._wake = Signal()
        self._mark = secrets.token_hex(8)
        self._text, self._written = "", 0.0  # the last state, and when it was written

    def change(self, run: Run) -> None:
        """Publish what the run's log has gained, soon."""
        if run.id not in self._writers:
            self._writers[run.id] = Writer(self._client, run)
        self._changed.add(run.id)
        self._wake.set()

    def publish_now(self, run: Run) -> None:
        """Publish a run before anything else; where Redis is away, later."""
        self.change(run)
        try:
            self._write(self._writers[run.id])
        except UNAVAILABLE as error:
            logger.warning("Redis: %s", error)

    def remove(self, run_id: str) -> None:
        """Forget a run that was deleted. Raises what Redis raises."""
        self._writers.pop(run_id, None)
        self._changed.discard(run_id)
        self._client.delete(stream_of(run_id))

    def left_over(self) -> list[Run]:
        """Return the runs that a process that ended has not brought to their end, as far as it has published them.

        Raises what Redis raises.
        """
        found = []
        for run_id in self._client.smembers(LIVE):
            run = read_run(self._client, run_id.decode())
            if run is None:
                self._client.srem(LIVE, run_id)
            else:
                found.append(run)
        return found

    def last_state(self) -> dict[str, Any]:
        """Return the state that was published last, {} where there is none any more. Raises what Redis raises."""
        found = self._client.xrevrange(STATE, count=1)
        state: dict[str, Any] = json.loads(found[0][1][STATE_FIELD]) if found else {}
        return state

    def publish_forever(self) -> None:
        """Publish until the greenlet is killed; while Redis is away, what it lacks waits in the logs."""
        while True:
            self._wake.wait(STATE_ROUND_S)
            self._wake.clear()
            try:
                self.publish()
            except UNAVAILABLE as error:
                logger.warning("Redis: %s", error)
                gevent.sleep(STATE_ROUND_S)
            except Exception:
                logger.exception("publishing runs")
                gevent.sleep(STATE_ROUND_S)
            gevent.sleep(ROUND_S)

    def publish(self) -> None:
        """Write what has changed. Raises what Redis raises."""
        self._publish_state()
        for run_id in list(self._changed):
            self._changed.discard(run_id)
            try:
                if run_id in self._writers:
                    self._write(self._writers[run_id])
            except UNAVAILABLE:
                self._changed.add(run_id)
                raise

    def _write(self, writer: Writer) -> None:
        run = writer.run
        if writer.sent is None:
            self._client.sadd(LIVE, run.id)
        writer.write()
        if run.over and writer.sent == run.log.seq:
            self._writers.pop(run.id, None)

    def kept(self, run_id: str) -> None:
        """Note that the database has the end of a run."""
        try:
            self._client.srem(LIVE, run_id)
        except UNAVAILABLE as error:  # its end is then stored once more by the next manager
            logger.warning("Redis: %s", error)

    def _publish_state(self) -> None:
        text, now = json.dumps(with_codes(self._state())), time.monotonic()
        if text == self._text and now < self._written + ALIVE_S:
            return
        calls = self._client.pipeline()
        calls.get(MARK)
        calls.set(MARK, self._mark)
        calls.xadd(STATE, {STATE_FIELD: text}, maxlen=1, approximate=False)
        calls.expire(STATE, STATE_S)
        mark = calls.execute()[0]
        self._text, self._written = text, now
        if mark != self._mark.encode():  # Redis is new, or has come back empty
            for run_id, writer in self._writers.items():
                writer.begin_again()
                self._changed.add(run_id)
