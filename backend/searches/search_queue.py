"""The searches of all viewers: one per viewer, a bounded number at once, the others queued.

Sends each viewer the changes of its search, at a bounded rate, through ``send``.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gevent
from gevent.event import Event
from gevent.threadpool import ThreadPool

from backend.errors import RequestError, message
from backend.schedule.families.registry import family_of
from backend.schedule.spec import Spec
from backend.searches.search_job import SearchJob, SearchState

logger = logging.getLogger(__name__)
EVERY_S = 0.1  # between two messages of one search
AT_ONCE = 1  # searches that run at the same time: each keeps a core busy
MOST_WAITING = 32
MOST_RESULTS = 256  # of ended searches that are remembered
Send = Callable[[str, dict[str, Any]], None]  # (viewer, message)
Keep = Callable[[Spec, bytes], None]  # (spec, its encoded order)


class SearchQueue:
    """All searches of one server."""

    def __init__(self, send: Send, keep: Keep) -> None:
        self._send, self._keep = send, keep
        self._jobs: dict[str, SearchJob] = {}  # viewer -> its search
        self._sent: dict[str, tuple[str, int, int, float]] = {}  # viewer -> (status, better, position, seconds) sent
        self._results: OrderedDict[Spec, SearchState] = OrderedDict()  # of recent searches
        self._waiting: list[str] = []
        self._pool: ThreadPool | None = None
        self._changed = Event()

    def __len__(self) -> int:
        """Count the searches that wait or are in progress."""
        return len(self._jobs)

    @property
    def waiting(self) -> int:
        """Count the searches that wait."""
        return len(self._waiting)

    def start(self, viewer: str, spec: Spec, seconds: float) -> SearchJob:
        """Start a viewer's search in place of its previous one.

        Raises RequestError for a family that is not searched, and ("full") if too many searches wait.
        """
        family = family_of(spec)
        if family.problem is None:
            why = message(
                "web.not_a_searched_family",
                "{family} has one order; zb-auto and v-auto are sought",
                family=family.title,
            )
            raise RequestError("family", spec.family, why)
        self.drop(viewer)
        if len(self._waiting) >= MOST_WAITING:
            why = message("web.searches_full", "{most} searches wait already; try again soon", most=MOST_WAITING)
            raise RequestError("search", len(self._waiting), why, limit=MOST_WAITING, kind="full")
        if self._pool is None:
            self._pool = ThreadPool(AT_ONCE)
            # A thread may only touch the loop through a watcher of this kind.
            self._bell = gevent.get_hub().loop.async_()
            self._bell.start(self._changed.set)
            gevent.spawn(self._send_changes_forever)
        job = SearchJob(spec, seconds, self._bell.send)
        self._jobs[viewer] = job
        known = self._results.get(spec)
        if known is not None and (known.seconds >= seconds or known.as_dict()["optimal"]):
            job.state = replace(known, status="finished")  # a class that opens one link searches once
            self._changed.set()
            return job
        self._waiting.append(viewer)
        self._pool.spawn(self._work, viewer, job)
        self._changed.set()
        return job

    def stop(self, viewer: str) -> bool:
        """End a viewer's search with the best order so far; returns whether there was one."""
        job = self._jobs.get(viewer)
        if job is None or job.over:
            return False
        job.stop()
        self._changed.set()
        return True

    def drop(self, viewer: str) -> None:
        """Forget a viewer and stop its search."""
        job = self._jobs.pop(viewer, None)
        if job is not None:
            job.stop()
        self._sent.pop(viewer, None)
        if viewer in self._waiting:
            self._waiting.remove(viewer)

    def send_changes(self) -> None:
        """Send each viewer the state of its search if it changed since the last message."""
        for viewer, job in list(self._jobs.items()):
            state = job.state
            position = self._waiting.index(viewer) if viewer in self._waiting else 0
            before = self._sent.get(viewer)
            now = (state.status, state.better, position, state.seconds)
            if before == now:
                continue
            update = {"id": job.id, "position": position, **state.as_dict()}
            if before is None or before[1] != state.better or job.over:
                update["order"] = state.body or None
            self._sent[viewer] = now
            if job.over and state.body:
                self._remember(job.spec, state)
            self._send(viewer, update)
            if job.over:
                del self._jobs[viewer], self._sent[viewer]

    def _work(self, viewer: str, job: SearchJob) -> None:
        if viewer in self._waiting and self._jobs.get(viewer) is job:
            self._waiting.remove(viewer)
        job.run()

    def _send_changes_forever(self) -> None:
        while True:
            self._changed.wait()
            self._changed.clear()
            try:
                self.send_changes()
            except Exception:
                logger.exception("changes of searches")
            gevent.sleep(EVERY_S)

    def _remember(self, spec: Spec, state: SearchState) -> None:
        self._keep(state.spec, state.body)
        before = self._results.get(spec)
        if before is None or state.seconds > before.seconds:
            self._results[spec] = state
            self._results.move_to_end(spec)
        if len(self._results) > MOST_RESULTS:
            self._results.popitem(last=False)
