"""Who searches for what: one search a viewer, so many at once, the others in line. Tells each viewer what changed, at
most so often. Knows no sockets: `send` brings a message to a viewer."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gevent
from gevent.event import Event
from gevent.threadpool import ThreadPool

from backend.runs.errors import RunError
from backend.schedule.families.registry import family_of
from backend.schedule.spec import Spec
from backend.searches.search_job import Job, State

logger = logging.getLogger(__name__)
EVERY_S = 0.1  # between two messages of one search
AT_ONCE = 1  # searches that run at the same time: each keeps a core busy
MOST_WAITING = 32
MOST_FOUND = 256
Send = Callable[[str, dict[str, Any]], None]
Keep = Callable[[Spec, bytes], None]


class Desk:
    """All searches of one server."""

    def __init__(self, send: Send, keep: Keep) -> None:
        self._send, self._keep = send, keep
        self._jobs: dict[str, Job] = {}  # viewer -> its search
        self._told: dict[str, tuple[str, int, int, float]] = {}  # viewer -> what it knows
        self._found: OrderedDict[Spec, State] = OrderedDict()  # what searches of late came to
        self._waiting: list[str] = []
        self._pool: ThreadPool | None = None
        self._woken = Event()

    def start(self, viewer: str, spec: Spec, seconds: float) -> Job:
        """Search for a viewer, in place of what it asked for before. RunError when too many wait."""
        family = family_of(spec)
        if family.problem is None:
            message = f"{family.title} has one order; zb-auto and v-auto are sought"
            raise RunError("bad", "family", spec.family, message)
        self.drop(viewer)
        if len(self._waiting) >= MOST_WAITING:
            message = f"{MOST_WAITING} searches wait already; try again soon"
            raise RunError("full", "search", len(self._waiting), message, MOST_WAITING)
        if self._pool is None:
            self._pool = ThreadPool(AT_ONCE)
            # A thread may only touch the loop through a watcher of this kind.
            self._bell = gevent.get_hub().loop.async_()
            self._bell.start(self._woken.set)
            gevent.spawn(self._tell_for_ever)
        job = Job(spec, seconds, self._bell.send)
        self._jobs[viewer] = job
        found = self._found.get(spec)
        if found is not None and (found.seconds >= seconds or found.as_dict()["optimal"]):
            job.state = replace(found, status="finished")  # a class that opens one link searches once
            self._woken.set()
            return job
        self._waiting.append(viewer)
        self._pool.spawn(self._work, viewer, job)
        self._woken.set()
        return job

    def stop(self, viewer: str) -> bool:
        """End a viewer's search, with what it has; tells whether there was one."""
        job = self._jobs.get(viewer)
        if job is None or job.over:
            return False
        job.stop()
        self._woken.set()
        return True

    def drop(self, viewer: str) -> None:
        """Forget a viewer and what it searched for."""
        job = self._jobs.pop(viewer, None)
        if job is not None:
            job.stop()
        self._told.pop(viewer, None)
        if viewer in self._waiting:
            self._waiting.remove(viewer)

    def _work(self, viewer: str, job: Job) -> None:
        if viewer in self._waiting and self._jobs.get(viewer) is job:
            self._waiting.remove(viewer)
        job.run()

    def _tell_for_ever(self) -> None:
        while True:
            self._woken.wait()
            self._woken.clear()
            try:
                self.tell()
            except Exception:
                logger.exception("telling of searches")
            gevent.sleep(EVERY_S)

    def _remember(self, spec: Spec, state: State) -> None:
        self._keep(state.spec, state.body)
        before = self._found.get(spec)
        if before is None or state.seconds > before.seconds:
            self._found[spec] = state
            self._found.move_to_end(spec)
        if len(self._found) > MOST_FOUND:
            self._found.popitem(last=False)

    def tell(self) -> None:
        """Send each viewer what it does not know yet."""
        for viewer, job in list(self._jobs.items()):
            state = job.state
            place = self._waiting.index(viewer) if viewer in self._waiting else 0
            known = self._told.get(viewer)
            now = (state.status, state.better, place, state.seconds)
            if known == now:
                continue
            message = {"id": job.id, "position": place, **state.as_dict()}
            if known is None or known[1] != state.better or job.over:
                message["order"] = state.body or None
            self._told[viewer] = now
            if job.over and state.body:
                self._remember(job.spec, state)
            self._send(viewer, message)
            if job.over:
                del self._jobs[viewer], self._told[viewer]
