"""The searches of all viewers: one per viewer, a bounded number at once, the others in a queue that is fair to clients.

Sends each viewer the changes of its search, at a bounded rate, through ``send``. Code runs in gevent's loop; a greenlet
for each search that may run at once takes the next job from the queue.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gevent
from gevent.event import Event
from gevent.threadpool import ThreadPool

from backend.access.limits.fair_queue import FairQueue, NoPlaceError
from backend.compute.live_searches.search_job import SearchJob, SearchState
from backend.compute.searched_orders import SearchedOrders
from backend.errors import RequestError, message
from backend.schedule.families.registry import family_of
from backend.schedule.spec import Spec

logger = logging.getLogger(__name__)
EVERY_S = 0.1  # between two messages of one search
MOST_WAITING = 32
MOST_PER_CLIENT = 16  # that wait: a class may share an address
RETRY_S = 10  # until it is worth trying again where the queue was full
MOST_RESULTS = 256  # of ended searches that are remembered
Send = Callable[[str, dict[str, Any]], None]  # (viewer, message)
Keep = Callable[[Spec, bytes], None]  # (spec, its encoded order)


class SearchQueue:
    """All searches of one server."""

    def __init__(self, send: Send, keep: Keep, at_once: int = 1) -> None:
        self._send, self._keep, self._at_once = send, keep, at_once
        self._jobs: dict[str, SearchJob] = {}  # viewer -> its search
        self._sent: dict[str, tuple[str, int, int, float]] = {}  # viewer -> (status, better, position, seconds) sent
        self.found = SearchedOrders()
        self._results: OrderedDict[Spec, SearchState] = OrderedDict()  # of recent searches
        self._queue = FairQueue(MOST_WAITING, MOST_PER_CLIENT)
        self._queued: dict[str, SearchJob] = {}  # id -> job that waits
        self._pool: ThreadPool | None = None
        self._changed = Event()  # a viewer may have to be sent something
        self._ready = Event()  # a greenlet without a job may find one

    def __len__(self) -> int:
        """Count the searches that wait or are in progress."""
        return len(self._jobs)

    @property
    def waiting(self) -> int:
        """Count the searches that wait."""
        return len(self._queue)

    def start(self, viewer: str, spec: Spec, seconds: float, client: str = "") -> SearchJob:
        """Start a viewer's search in place of its previous one; returns at once. ``client`` is who shares time with
        other clients.

        Raises RequestError for a family that is not searched, and ("full", "share") if too many searches wait.
        """
        family = family_of(spec)
        if family.problem is None:
            why = message(
                "web.not_a_searched_family",
                "{family} has one order; zb-auto, v-auto and chimera-auto are searched",
                family=family.title,
            )
            raise RequestError("family", spec.family, why)
        self.drop(viewer)
        if self._pool is None:
            self._begin()
        job = SearchJob(spec, seconds, self._bell.send, self.found.add)
        known = self._results.get(spec)
        if known is not None and (known.seconds >= seconds or known.as_dict()["optimal"]):
            job.state = replace(known, status="finished")  # a class that opens one link searches once
        else:
            self._put(client, job)
        self._jobs[viewer] = job
        self._changed.set()
        return job

    def position(self, job: SearchJob) -> int:
        """Return the number of searches that go before this one, those that run included; 0 if it begins now, or has
        begun.
        """
        return self._positions().get(job.id, 0)

    def _positions(self) -> dict[str, int]:
        """Return the position of each search that waits, by its id."""
        free = self._at_once - self._queue.serving
        return {name: max(0, number - free) for number, name in enumerate(self._queue, start=1)}

    def stop(self, viewer: str) -> bool:
        """End a viewer's search with the best order so far; returns whether there was one."""
        job = self._jobs.get(viewer)
        if job is None or job.over:
            return False
        self._end(job)
        return True

    def drop(self, viewer: str) -> None:
        """Forget a viewer and stop its search."""
        job = self._jobs.pop(viewer, None)
        if job is not None:
            self._end(job)
        self._sent.pop(viewer, None)

    def _end(self, job: SearchJob) -> None:
        job.stop()
        if self._queue.remove(job.id):
            del self._queued[job.id]
        self._changed.set()  # the others move up

    def send_changes(self) -> None:
        """Send each viewer the state of its search if it changed since the last message."""
        positions = self._positions()
        for viewer, job in list(self._jobs.items()):
            state, position = job.state, positions.get(job.id, 0)
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

    def _begin(self) -> None:
        """Start the greenlets, when the first search starts."""
        self._pool = ThreadPool(self._at_once)
        # A thread may only touch the loop through a watcher of this kind.
        self._bell = gevent.get_hub().loop.async_()
        self._bell.start(self._changed.set)
        gevent.spawn(self._send_changes_forever)
        for _ in range(self._at_once):
            gevent.spawn(self._run_searches, self._pool)

    def _put(self, client: str, job: SearchJob) -> None:
        """Queue a job. Raises RequestError."""
        try:
            self._queue.put(client, job.id, job.seconds)
        except NoPlaceError as error:
            full = message("web.searches_full", "{most} searches wait already; try again soon", most=error.limit)
            share = message(
                "web.searches_share",
                "{waiting} searches of your address wait already; try again soon",
                waiting=error.waiting,
            )
            raise error.refusal("search", full, share, RETRY_S) from None
        self._queued[job.id] = job
        self._ready.set()

    def _run_searches(self, pool: ThreadPool) -> None:
        """Run one search after the other. Threads are requested only here, because `spawn` blocks its caller until a
        thread of the pool is free.
        """
        while True:
            job_id = self._queue.pop()
            if job_id is None:
                self._ready.clear()
                self._ready.wait()
                continue
            began = time.monotonic()
            self._changed.set()
            try:
                pool.apply(self._queued.pop(job_id).run)
            except Exception:
                logger.exception("search %s", job_id)
            self._queue.done(job_id, time.monotonic() - began)
            self._ready.set()  # for the next search of the same client
            self._changed.set()

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
