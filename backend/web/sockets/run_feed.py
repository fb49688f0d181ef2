"""The viewers of runs, and the entries that each receives next.

A viewer is a cursor into the run's log: the entries after the cursor are sent next, old or new, so that no entry is
lost or sent twice. A viewer whose last message is still being sent receives no other; the entries that accumulate
meanwhile are sent as one larger message. The server therefore never queues more than one message per viewer.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Protocol

import gevent
from gevent.event import Event

from backend.errors import RequestError, message
from backend.runs.run import Run
from backend.runs.run_log import Part
from backend.schedule.interop.measured_rows import TIMES

logger = logging.getLogger(__name__)
MOST_ROWS = 8192  # in one message: about 400 kB
MOST_WATCHES = 8  # runs that one viewer may watch
RETRY_S = 0.02  # until viewers who were not free are tried again
ROUND_S = 0.003  # between two rounds: entries of that time are sent as one message


class Transport(Protocol):
    """The interface of the sockets that the feed uses."""

    def idle(self, viewer: str) -> bool:
        """Return whether the network has taken all messages to the viewer."""

    def send(self, viewers: list[str], part: Part) -> None:
        """Send one message to these viewers, without waiting. A viewer found to be disconnected may be dropped."""


Kinds = tuple[str, ...]  # of rows


class Feed:
    """The viewers of all runs."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._watched: dict[str, tuple[Run, dict[str, int]]] = {}  # run id -> run, {viewer: cursor}
        self._kinds: dict[tuple[str, str], Kinds] = {}  # (run id, viewer): which rows, where they are not TIMES
        self._wake = Event()
        self._loop: Any = None

    def watch(self, viewer: str, run: Run, since: int, kinds: Sequence[str] = TIMES) -> None:
        """Send the viewer the entries after `since` and every further one, with rows of these kinds.

        Raises RequestError where the viewer watches too many runs, or `since` is beyond the log.
        """
        if since > run.log.seq:
            why = message(
                "runs.since_too_large",
                "This run has {count} events so far; load it again and watch from there.",
                count=run.log.seq,
            )
            raise RequestError("since", since, why, limit=run.log.seq, kind="bad")
        others = sum(viewer in cursors for name, (_, cursors) in self._watched.items() if name != run.id)
        if others >= MOST_WATCHES:
            why = message("runs.watch_share", "One page can watch {most} runs.", most=MOST_WATCHES)
            raise RequestError("run", run.id, why, limit=MOST_WATCHES, kind="share")
        _, cursors = self._watched.setdefault(run.id, (run, {}))
        cursors[viewer] = since
        self._kinds.pop((run.id, viewer), None)
        if tuple(kinds) != TIMES:
            self._kinds[run.id, viewer] = tuple(kinds)
        self.notify(run)

    def unwatch(self, viewer: str, run_id: str) -> None:
        """Stop sending this run to the viewer."""
        if run_id in self._watched:
            self._remove(viewer, run_id)
            self._drop_finished(run_id)

    def drop(self, viewer: str) -> None:
        """Remove a viewer who has disconnected."""
        for run_id in list(self._watched):
            self.unwatch(viewer, run_id)

    def viewers(self) -> int:
        """Count the viewers of all runs."""
        return len(set().union(*(cursors for _, cursors in self._watched.values())))

    def notify(self, run: Run) -> None:
        """Send the new entries of the run's log soon."""
        if run.id in self._watched:
            if self._loop is None:
                self._loop = gevent.spawn(self._pump_loop)
            self._wake.set()

    def pump(self) -> float | None:
        """Send what can be sent now. Returns the seconds until the next try, None when no viewer is behind."""
        again: list[float] = []
        for run_id in list(self._watched):
            run, cursors = self._watched[run_id]
            behind: dict[tuple[int, Kinds], list[str]] = {}
            for viewer, cursor in cursors.items():
                if cursor < run.log.seq:
                    if self._transport.idle(viewer):
                        behind.setdefault((cursor, self._kinds.get((run_id, viewer), TIMES)), []).append(viewer)
                    else:
                        again.append(RETRY_S)
            # Viewers with the same cursor, in a class nearly all, share one message.
            for (cursor, kinds), viewers in behind.items():
                parts = run.log.parts(cursor, MOST_ROWS, kinds)
                if parts[-1].seq < run.log.seq:
                    again.append(0.0)  # there is more for them than goes into one message
                for part in parts:
                    self._transport.send(viewers, part)
                    # A viewer who was dropped during the sending must not be added again.
                    cursors.update({viewer: part.seq for viewer in viewers if viewer in cursors})
            self._drop_finished(run_id)
        return min(again, default=None)

    def _pump_loop(self) -> None:
        again: float | None = None
        while True:
            self._wake.wait(again)
            self._wake.clear()
            again = self._pump_safely()
            gevent.sleep(ROUND_S)

    def _pump_safely(self) -> float | None:
        """Call `pump`; log an error, so that the next round goes on."""
        try:
            return self.pump()
        except Exception:
            logger.exception("the feed of runs")
            return RETRY_S

    def _remove(self, viewer: str, run_id: str) -> None:
        self._watched[run_id][1].pop(viewer, None)
        self._kinds.pop((run_id, viewer), None)

    def _drop_finished(self, run_id: str) -> None:
        """Drop the viewers who have a finished run to its end, and a run without viewers."""
        if run_id not in self._watched:
            return
        run, cursors = self._watched[run_id]
        if run.over:
            for viewer in [viewer for viewer, cursor in cursors.items() if cursor >= run.log.seq]:
                self._remove(viewer, run_id)
        if not cursors:
            del self._watched[run_id]
