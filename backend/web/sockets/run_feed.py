"""Who watches which run, and what each viewer gets next.

A viewer is a cursor into the run's log. Replay and live are the same thing: whatever stands behind the cursor is sent
next, so nothing can fall between the two or come twice. A viewer who has not taken the last message yet gets nothing;
what has gathered meanwhile comes as one larger message, so no viewer makes the server keep more than that one.
Knows no sockets: a Transport tells who is free and sends.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Protocol

import gevent
from gevent.event import Event

from backend.runs.errors import RunError
from backend.runs.run import Run
from backend.runs.run_log import OPS, Part

logger = logging.getLogger(__name__)
MOST_ROWS = 8192  # in one message: about 400 kB
MOST_WATCHES = 8  # runs that one viewer may watch
RETRY_S = 0.02  # how soon to look again at viewers who were not free
ROUND_S = 0.003  # between two rounds: what comes meanwhile goes out as one message


class Transport(Protocol):
    """What the feed needs of the sockets."""

    def idle(self, viewer: str) -> bool:
        """Whether the viewer has taken all that was sent."""

    def send(self, viewers: list[str], part: Part) -> None:
        """Send one message to these viewers, without waiting. One who proves to have gone may be dropped meanwhile."""


Kinds = tuple[str, ...]  # of rows that a viewer is sent


class Feed:
    """The viewers of all runs."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._watched: dict[str, tuple[Run, dict[str, int]]] = {}  # run id -> run, {viewer: cursor}
        self._more: dict[tuple[str, str], Kinds] = {}  # (run id, viewer): who is sent more than ops, or other rows
        self._wake = Event()
        self._loop: Any = None

    def watch(self, viewer: str, run: Run, since: int, kinds: Sequence[str] = OPS) -> None:
        """Send the viewer everything after entry `since`, then what comes; of rows only these kinds."""
        if since > run.log.seq:
            message = f"This run has {run.log.seq} events so far; load it anew and ask from there."
            raise RunError("bad", "since", since, message, run.log.seq)
        others = sum(viewer in cursors for name, (_, cursors) in self._watched.items() if name != run.id)
        if others >= MOST_WATCHES:
            raise RunError("share", "run", run.id, f"One page can watch {MOST_WATCHES} runs.", MOST_WATCHES)
        _, cursors = self._watched.setdefault(run.id, (run, {}))
        cursors[viewer] = since
        self._more.pop((run.id, viewer), None)
        if tuple(kinds) != OPS:
            self._more[run.id, viewer] = tuple(kinds)
        self.notify(run)

    def unwatch(self, viewer: str, run_id: str) -> None:
        """Send the viewer no more of this run."""
        if run_id in self._watched:
            self._forget(viewer, run_id)
            self._sweep(run_id)

    def drop(self, viewer: str) -> None:
        """Forget a viewer who has gone."""
        for run_id in list(self._watched):
            self.unwatch(viewer, run_id)

    def viewers(self) -> int:
        """How many watch something."""
        return len(set().union(*(cursors for _, cursors in self._watched.values())))

    def notify(self, run: Run) -> None:
        """The run's log has grown."""
        if run.id in self._watched:
            if self._loop is None:
                self._loop = gevent.spawn(self._pump_for_ever)
            self._wake.set()

    def pump(self) -> float | None:
        """Send what can be sent now; gives after how many seconds to look again, None when nobody waits for more."""
        again: list[float] = []
        for run_id in list(self._watched):
            run, cursors = self._watched[run_id]
            behind: dict[tuple[int, Kinds], list[str]] = {}
            for viewer, cursor in cursors.items():
                if cursor < run.log.seq:
                    if self._transport.idle(viewer):
                        behind.setdefault((cursor, self._more.get((run_id, viewer), OPS)), []).append(viewer)
                    else:
                        again.append(RETRY_S)
            # Viewers at the same place, which in a class are nearly all, share one message.
            for (cursor, kinds), viewers in behind.items():
                parts = run.log.parts(cursor, MOST_ROWS, kinds)
                if parts[-1].seq < run.log.seq:
                    again.append(0.0)  # there is more for them than goes into one message
                for part in parts:
                    self._transport.send(viewers, part)
                    # Whoever proved to have gone was dropped on the way, and must not be put back.
                    cursors.update({viewer: part.seq for viewer in viewers if viewer in cursors})
            self._sweep(run_id)
        return min(again, default=None)

    def _pump_for_ever(self) -> None:
        again: float | None = None
        while True:
            self._wake.wait(again)
            self._wake.clear()
            again = self._pump_safely()
            gevent.sleep(ROUND_S)

    def _pump_safely(self) -> float | None:
        """Pump; an error costs this round, never the feed of everybody."""
        try:
            return self.pump()
        except Exception:
            logger.exception("the feed of runs")
            return RETRY_S

    def _forget(self, viewer: str, run_id: str) -> None:
        self._watched[run_id][1].pop(viewer, None)
        self._more.pop((run_id, viewer), None)

    def _sweep(self, run_id: str) -> None:
        """Let go of a run that is over and seen to its end, or that nobody watches."""
        if run_id not in self._watched:
            return
        run, cursors = self._watched[run_id]
        if run.over:
            for viewer in [viewer for viewer, cursor in cursors.items() if cursor >= run.log.seq]:
                self._forget(viewer, run_id)
        if not cursors:
            del self._watched[run_id]
