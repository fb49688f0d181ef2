"""All runs: takes requests, lets them wait their turn, drives the runner one run at a time, keeps what came of it.

Knows no HTTP and no sockets; `on_change(run)` tells whoever shows runs that a log has grown, `on_cluster()` that the
hosts behind the runner are others, or otherwise busy. Runs in gevent's loop, where nothing changes between two waits;
the database is reached through a thread of its own.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import gevent
from gevent.event import Event
from gevent.queue import Empty, SimpleQueue
from gevent.threadpool import ThreadPool

from backend.config import PROJECT, Config
from backend.runs.cluster_state import LOCAL
from backend.runs.errors import RunError
from backend.runs.fair_queue import FairQueue
from backend.runs.options import PLAIN, Options
from backend.runs.run import OVER, Run
from backend.runs.run_log import Message
from backend.runs.runner_client import Client
from backend.runs.store import STOPPED, Store, StoreError

logger = logging.getLogger(__name__)
KEEP_SIZE = 60_000_000  # characters of what runs that are over have measured, in memory: about 400,000 ops
UNKEPT = "The server's disk does not take this run: it is shown for now, and gone when the server stops."
CANCEL_S = 5.0  # what a runner may take to cancel before it is killed


class Manager:
    """The runs of one server."""

    def __init__(
        self,
        config: Config,
        on_change: Callable[[Run], None] = lambda run: None,
        on_cluster: Callable[[], None] = lambda: None,
    ) -> None:
        self.config, self.on_change = config, on_change
        self.client = Client(config.runner, str(PROJECT), self._on_event, self._on_death, on_cluster)
        self.client.engine = config.engine if config.engine != LOCAL else ""  # a command of its own may have another
        self.queue = FairQueue(config.queue, config.queue_per_client)
        self.store = Store(config.database)
        self.store_error: str | None = None
        self.counts = dict.fromkeys(sorted(OVER), 0)
        self._runs: OrderedDict[str, Run] = OrderedDict()  # all live runs and the latest of the others
        self._current: Run | None = None
        self._mail: SimpleQueue[Message] = SimpleQueue()
        self._wake = Event()
        self._disk = ThreadPool(1)
        self._worker: Any = None
        self._opened = False

    def start(self) -> None:
        """Open the database, start the runner and serve the queue; only the first takes (little) time."""
        self.open()
        self.client.start()
        self._worker = self._worker or gevent.spawn(self._work)

    def open(self) -> None:
        """Open the database once; without one, runs live in memory only."""
        if not self._opened:
            self._opened = True
            left = self._on_disk(self.store.open)
            if left:
                logger.warning("%d runs were under way when the server last stopped; they are marked failed", left)

    def stop(self) -> None:
        """End the runner; runs under way end as failed, on disk too."""
        if self._worker is not None:
            self._worker.kill()
        self.client.stop()
        for run in [run for run in self._runs.values() if not run.over]:
            run.apply({"event": "failed", "error": STOPPED})
            self._on_disk(self.store.save, run)
        self._on_disk(self.store.close)
        self._disk.kill()

    def submit(
        self, owner: str, spec: dict[str, Any], options: Options = PLAIN, given: dict[str, Any] | None = None
    ) -> Run:
        """Put a run into the line; RunError when there is no room. ``given`` the order as the runner reads one."""
        self.open()
        run = Run(
            secrets.token_hex(5), spec, options.mode, options.unit_ms, time.time(), owner, given or {}, options.chosen()
        )
        self.queue.put(owner, run.id)
        self._remember(run)
        self._renumber()
        self._save(run)
        self._wake.set()
        return run

    def keep(self, make: Callable[[str, float], Run]) -> Run:
        """Keep a run that is over already and was not driven from here; ``make`` gets its id and time."""
        self.open()
        run = make(secrets.token_hex(5), time.time())
        assert run.over
        self._remember(run)
        self._keep(run)  # at once: a link to it is given out
        return run

    def cancel(self, run_id: str) -> Run:
        """Cancel a run, waiting or under way; RunError when it is unknown or over."""
        run = self.get(run_id)
        if run.over:
            raise RunError("over", "id", run_id, f"This run is over already ({run.status}).")
        if self.queue.remove(run_id):
            self._end(run, {"event": "cancelled"})
            self._renumber()
        else:
            self.client.send({"cmd": "cancel", "id": run_id})
            gevent.spawn_later(CANCEL_S, self._insist, run)
        return run

    def rename(self, run_id: str, name: str) -> Run:
        """Call a run by this name from now on; an empty one takes its name away."""
        run = self.get(run_id)
        run.name = name
        self._keep(run)
        return run

    def remove(self, run_id: str) -> None:
        """Forget a run that is over, on disk too; RunError when it is unknown or under way."""
        run = self.get(run_id)
        if not run.over:
            raise RunError("over", "id", run_id, "This run is under way; cancel it first.")
        self._runs.pop(run_id, None)
        self._on_disk(self.store.remove, run_id)

    def get(self, run_id: str) -> Run:
        """The run of this id, from memory or disk; RunError when there is none."""
        self.open()
        run = self._runs.get(run_id) or self._on_disk(self.store.load, run_id)
        if run is None:
            raise RunError("unknown", "id", run_id, "There is no run with this id.")
        known = self._runs.get(run_id)  # another request may have loaded it during our wait
        if known is None:
            self._remember(run)
        return known or run

    def recent(self, limit: int, before: str | None) -> list[dict[str, Any]]:
        """Summaries of runs, newest first, from behind the run `before`."""
        self.open()
        start = None if before is None else self.get(before)
        key = None if start is None else (start.created, start.id)
        rows = {row["id"]: row for row in self._on_disk(self.store.recent, limit, key) or []}
        for run in self._runs.values():
            if key is None or (run.created, run.id) < key:
                rows[run.id] = run.summary()
        return sorted(rows.values(), key=lambda row: (row["created"], row["id"]), reverse=True)[:limit]

    def by_status(self) -> dict[str, int]:
        """How many runs are in each status: under way now, over since the server started."""
        counts = dict(self.counts)
        for run in self._runs.values():
            if not run.over:
                counts[run.status] = counts.get(run.status, 0) + 1
        return counts

    def _work(self) -> None:
        """Take runs from the line, one at a time, for ever."""
        while True:
            self._wake.wait()
            if not len(self.queue):
                self._wake.clear()
                continue
            why = self.client.wait_ready()
            name = self.queue.pop()  # only now: while the runner starts, runs wait and can be cancelled
            if name is None:
                continue
            run = self._runs[name]
            self._renumber()
            if why is None:
                self._drive(run)
            else:
                self._end(run, {"event": "failed", "error": {"field": "runner", "value": None, "message": why}})

    def _drive(self, run: Run) -> None:
        """Hand one run to the runner and take its events until it is over."""
        self._current, self._mail = run, SimpleQueue()
        again = True  # a runner that was dead already when it got the run is no fault of the run
        self._hand_over(run)
        while not run.over:
            try:
                # A run that waits for resources hears nothing until there are some: that is no sign of a hung runner.
                event = self._mail.get(timeout=None if run.waiting else self.config.silence_s)
                if event["event"] == "died" and run.status == "queued" and again:
                    again = False
                    self.client.wait_ready()
                    self._mail = SimpleQueue()  # whatever else the dead runner's end had to say
                    self._hand_over(run)
                else:
                    self._take(run, event)
            except Empty:
                self._abandon(run, f"The runner said nothing for {self.config.silence_s:g} s; it is being restarted.")
            except (ValueError, TypeError, KeyError) as error:
                logger.error("run %s: %s", run.id, error)
                self._abandon(run, "The runner sent something that cannot be read; it is being restarted.")
        self._current = None

    def _hand_over(self, run: Run) -> None:
        job = {"cmd": "run", "id": run.id, "spec": run.spec, "mode": run.asked_mode, "unit_ms": run.unit_ms}
        job |= run.options | run.given
        if not self.client.send(job):
            self._on_death(self.client.why or "The runner stopped just before this run; try again.")

    def _take(self, run: Run, event: Message) -> None:
        if event["event"] in ("error", "died"):  # "error": the runner refused the job itself
            event = {"event": "failed", "error": event["error"]}
        if event["event"] in OVER:
            self._end(run, event)
        else:
            run.apply(event)
            self.on_change(run)

    def _abandon(self, run: Run, message: str) -> None:
        self.client.kill()
        self._end(run, {"event": "failed", "error": {"field": "runner", "value": None, "message": message}})

    def _insist(self, run: Run) -> None:
        """Kill a runner that has not cancelled the run in time."""
        if not run.over and run is self._current:
            self._end(run, {"event": "cancelled"})
            self._mail.put({"event": "cancelled"})
            self.client.kill()

    def _end(self, run: Run, event: Message) -> None:
        if run.over:
            return
        run.apply(event)
        self.counts[run.status] += 1
        self.on_change(run)
        self._save(run)

    def _on_event(self, event: Message) -> None:
        if self._current is not None and event.get("id") == self._current.id and event["event"] != "died":
            self._mail.put(event)

    def _on_death(self, why: str) -> None:
        if self._current is not None:
            error = {"field": "runner", "value": None, "message": why}
            self._mail.put({"event": "died", "error": error})

    def _renumber(self) -> None:
        for position, name in enumerate(self.queue, start=1):
            if self._runs[name].move(position):
                self.on_change(self._runs[name])

    def _remember(self, run: Run) -> None:
        """Keep the run in memory; the oldest that are over make room, by number and by size."""
        self._runs[run.id] = run
        size = 0
        for kept, old in enumerate([old for old in reversed(self._runs.values()) if old.over], start=1):
            size += old.log.size
            if kept > self.config.keep or (size > KEEP_SIZE and kept > 1):
                del self._runs[old.id]

    def _save(self, run: Run) -> None:
        gevent.spawn(self._keep, run)

    def _keep(self, run: Run) -> None:
        """Write the run; one that the disk does not take says so, and lives in memory."""
        self._on_disk(self.store.save, run)
        run.unkept = UNKEPT if self.store_error else None

    def _on_disk(self, call: Callable[..., Any], *args: Any) -> Any:
        """Call the store in its thread; a disk that fails is reported and remembered, not fatal."""
        try:
            result = self._disk.apply(call, args)
        except StoreError as error:
            logger.error("the database of runs: %s", error)
            self.store_error = str(error)
            return None
        self.store_error = None
        return result
