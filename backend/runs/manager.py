"""The runs that this process executes: queues them, executes one at a time on the runner, and stores the results."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any

import gevent
from gevent.event import Event as Signal
from gevent.pool import Group
from gevent.queue import Empty, SimpleQueue

from backend.access.limits.fair_queue import FairQueue, NoPlaceError
from backend.config import PROJECT, Config
from backend.errors import RequestError, message
from backend.runs.cluster_state import LOCAL
from backend.runs.errors import RunFailure
from backend.runs.run import OVER, Run
from backend.runs.run_log import Event
from backend.runs.runner_client import RunnerClient
from backend.runs.runs import Counts, RunRequest, Runs, summary_of, unknown_run
from backend.runs.store import STOPPED, Retention

logger = logging.getLogger(__name__)
UNKEPT = message(
    "runs.not_stored", "The server could not write this run to its disk: it is lost when the server stops."
)
UNKNOWN_S = 60.0  # a run whose length was not estimated
RETRY_S = (5, 600)  # bounds of the advice when to try again where the queue is full
NOT_BEGUN = RunFailure(
    "server", message("runs.not_begun", "The server stopped before this run had begun; start it again.")
)
EXPIRE_S = 600.0  # between two looks for runs to delete
REOPEN_S = 10.0  # between two attempts to use a database that could not be used at the start
SAVE_S = 5.0  # for a stopping server to write the runs that have just ended
ACCEPT_S = 2.0  # that the answer to an accepted run waits for a database that hangs
CANCEL_S = 5.0  # from a cancellation until a runner that does not answer it is killed


class Manager(Runs):
    """The queue, the runner, the runs in memory, and the database.

    `on_cluster()` is called when the state of the runner's cluster has changed, `on_kept(run)` when the database has
    the end of a run.
    """

    client: RunnerClient

    def __init__(
        self,
        config: Config,
        on_change: Callable[[Run], None] = lambda run: None,
        on_cluster: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.time,
        on_kept: Callable[[Run], None] = lambda run: None,
    ) -> None:
        client = RunnerClient(config.runner, str(PROJECT), self._on_event, self._on_death, on_cluster)
        client.engine = config.engine if config.engine != LOCAL else ""  # a command of its own may have another
        super().__init__(config, client, on_change)
        self.on_kept = on_kept
        self.queue = FairQueue(config.queue, config.queue_per_client)
        self._current: Run | None = None
        self._begun = 0.0  # of the current run, by time.monotonic
        self._events: SimpleQueue[Event] = SimpleQueue()  # of the current run
        self._wake, self._ended = Signal(), Signal()
        self._worker: Any = None
        self._saves = Group()  # that the disk has not taken yet
        self._removing: set[str] = set()  # runs that the disk is about to delete
        self._retention = Retention(config.keep_days, config.store_mb, clock)
        self._cleaner: Any = None
        self._closer: Any = None
        self._expired = 0  # runs deleted for their age or for the size of the database
        self._ends = dict.fromkeys(sorted(OVER), 0)  # of runs, by status

    def start(self) -> None:
        """Open the database, start the runner and execute the queue; return before the runner is ready."""
        self.open()
        self.client.start()
        self._worker = self._worker or gevent.spawn(self._work)
        if self._retention.limited:
            self._cleaner = self._cleaner or gevent.spawn(self._expire_forever)

    def _open(self) -> None:
        now = time.time()  # runs that are submitted during the waits below are later
        # In one call: a request that comes during it must not find a run that is about to be closed.
        if not self._close_left_over(now, self.store.open):
            self._closer = gevent.spawn(self._close_left_over_later, now)

    def drain(self, seconds: float) -> None:
        """Take no more runs, end those that wait, and let the present one go on for at most `seconds`."""
        self.stopping = True
        for run_id in list(self.queue):
            self.queue.remove(run_id)
            self._end(self._runs[run_id], {"event": "failed", "failure": NOT_BEGUN.as_dict()})
        run = self._current
        if run is None or not seconds:
            return
        run.announce_stop(f"{seconds:g}")
        self.on_change(run)
        with gevent.Timeout(seconds, False):
            while not run.over:
                self._ended.wait()

    def stop(self) -> None:
        """End the runner; runs in progress end as failed, on disk too."""
        self.stopping = True
        gevent.killall([each for each in (self._worker, self._cleaner, self._closer) if each is not None])
        self.client.stop()
        for run in self.live():
            self._end(run, {"event": "failed", "failure": STOPPED.as_dict()})
        self._saves.join(timeout=SAVE_S)
        self._on_disk(self.store.close)
        self._disk.kill()

    def submit(self, asked: RunRequest) -> Run:
        self.open()
        if self.stopping:
            text = message("runs.server_restarting", "The server is stopping; try again.")
            raise RequestError("queue", None, text, kind="full")
        options, owner = asked.options, asked.client if asked.owner is None else asked.owner
        run = Run(
            secrets.token_hex(5), asked.spec, options.mode, options.unit_ms, time.time(), owner, asked.order,
            options.chosen(),
        )  # fmt: skip
        if asked.seconds is not None:
            run.facts["estimate_s"] = round(asked.seconds, 1)
        try:
            self.queue.put(asked.client, run.id, UNKNOWN_S if asked.seconds is None else asked.seconds)
        except NoPlaceError as error:
            raise self._no_place(error) from None
        self._remember(run)
        self._renumber()
        self._wake.set()
        self._save(run).join(ACCEPT_S)  # before the answer: a run that was accepted is there after a crash
        return run

    def adopt(self, run: Run) -> None:
        self.open()
        assert run.over
        self._remember(run)
        self._keep(run)  # before the answer, which has a link to it

    def cancel(self, run_id: str) -> Run:
        run = self.get(run_id)
        if run.over:
            text = message("runs.already_over", "This run is over already ({status}).", status=run.status)
            raise RequestError("id", run_id, text, kind="over")
        if self.queue.remove(run_id):
            self._end(run, {"event": "cancelled"})
            self._renumber()
        else:
            gevent.spawn_later(CANCEL_S, self._kill_if_not_cancelled, run)
            self.client.send({"cmd": "cancel", "id": run_id})
        return run

    def rename(self, run_id: str, name: str) -> Run:
        run = self.get(run_id)
        run.name = name
        self._keep(run)
        return run

    def remove(self, run_id: str) -> None:
        try:
            over = self.get(run_id).over
        except RequestError:
            over = run_id in self.store.unreadable
            if not over:
                raise
        if not over:
            text = message("runs.in_progress", "This run is in progress; cancel it first.")
            raise RequestError("id", run_id, text, kind="over")
        self._removing.add(run_id)
        try:
            self._on_disk(self.store.remove, run_id)
        finally:
            self._removing.discard(run_id)
        if self.store_error:
            text = message(
                "runs.not_deleted", "The server's disk cannot be written at present, so nothing was deleted; try again."
            )
            raise RequestError("store", None, text, kind="disk")
        self.store.unreadable.discard(run_id)
        self._runs.pop(run_id, None)

    def get(self, run_id: str, seq: int = 0) -> Run:
        self.open()
        run = self._runs.get(run_id) or self._stored(run_id)
        if run is None:
            raise unknown_run(run_id)
        known = self._runs.get(run_id)  # another request may have loaded it during the wait for the disk
        if known is None:
            self._remember(run)
        return known or run

    def expire(self) -> None:
        """Delete the runs that are too old, or too many for the database; never one in progress."""
        live = frozenset(run.id for run in self.live())
        while gone := self._on_disk(self._retention.expire, self.store, live):
            self._expired += len(gone)
            self.store.unreadable.difference_update(gone)
            for run_id in gone:
                self._runs.pop(run_id, None)

    def live(self) -> list[Run]:
        """Return the runs that are not over."""
        return [run for run in self._runs.values() if not run.over]

    def counts(self) -> Counts:
        by_status = dict(self._ends)
        for run in self.live():
            by_status[run.status] = by_status.get(run.status, 0) + 1
        return Counts(len(self.queue), len(self.store.unreadable), self._expired, by_status)

    def _present(self) -> Iterable[dict[str, Any]]:
        return map(summary_of, self._runs.values())

    def _no_place(self, error: NoPlaceError) -> RequestError:
        """Return the error of a run for which there is no place, with the time until the next run begins."""
        full = message("runs.queue_full", "{waiting} runs are waiting already; try again soon", waiting=error.waiting)
        share = message(
            "runs.queue_share",
            "{waiting} of your runs are waiting already; cancel one or try again soon",
            waiting=error.waiting,
        )
        rest = 0.0
        if self._current is not None:
            rest = self._current.facts.get("estimate_s", UNKNOWN_S) - (time.monotonic() - self._begun)
        seconds = min(max(round(rest), RETRY_S[0]), RETRY_S[1])
        return error.refusal("queue", full, share, seconds)

    def _close_left_over(self, before: float, first: Callable[[], None] = lambda: None) -> bool:
        """Do `first`, mark the runs failed that a server left unfinished before this time, and return whether the
        database could.
        """

        def close() -> int:
            first()
            return self.store.close_left_over(before)

        left = self._on_disk(close)
        if left:
            logger.warning("%d runs were in progress when the server last stopped; they are marked failed", left)
        return left is not None

    def _close_left_over_later(self, before: float) -> None:
        """Try again until the database, which may start later than this server, can be used."""
        while True:
            gevent.sleep(REOPEN_S)
            if self._close_left_over(before):
                for run in self.live():
                    if run.created < before:  # read before it was closed
                        del self._runs[run.id]
                return

    def _work(self) -> None:
        """Execute the runs of the queue, one at a time, until the server stops."""
        while True:
            self._wake.wait()
            if not len(self.queue):
                self._wake.clear()
                continue
            why = self.client.wait_ready()
            run_id = self.queue.pop()  # only now: while the runner starts, runs are queued and can be cancelled
            if run_id is None:
                continue
            run = self._runs[run_id]
            self._renumber()
            self._begun = time.monotonic()
            if why is None:
                self._execute(run)
            else:
                self._fail(run, why)
            self.queue.done(run_id, time.monotonic() - self._begun)

    def _expire_forever(self) -> None:
        while True:
            self.expire()
            gevent.sleep(EXPIRE_S)

    def _execute(self, run: Run) -> None:
        """Send one run to the runner and apply its events until the run is over."""
        self._current, self._events = run, SimpleQueue()
        again = True  # once: a runner that had ended before it received the run is not the run's fault
        silence_s = self.config.silence_s
        heard = running = time.monotonic()
        self._send(run)
        while not run.over:
            try:
                # A run that waits for resources has no events until there are some: its runner does not hang.
                left = heard + silence_s - time.monotonic()
                event = self._events.get(timeout=None if run.waiting else max(0.0, left))
                if event["event"] != "progress" or run.gets_on(event):
                    heard = time.monotonic()
                if event["event"] == "running":  # in which an op may be planned to take longer than the usual patience
                    running, silence_s = heard, max(silence_s, float(event.get("stall_s", 0.0)))
                if event["event"] == "died" and run.status == "queued" and again:
                    again = False
                    self.client.wait_ready()
                    self._events = SimpleQueue()  # without further events of the runner that ended
                    if not run.over:  # it may have been cancelled meanwhile
                        self._send(run)
                else:
                    self._take(run, event)
            except Empty:
                text = message(
                    "runs.runner_silent",
                    "The runner has sent nothing for {seconds} s; it is being restarted.",
                    seconds=f"{silence_s:g}",
                )
                self._abandon(run, text)
            except (ValueError, TypeError, KeyError) as error:
                logger.error("run %s: %s", run.id, error)
                text = message(
                    "runs.runner_illegible", "The runner sent something that cannot be read; it is being restarted."
                )
                self._abandon(run, text)
        self.times.learn(run, time.monotonic() - running)
        self._current = None

    def _send(self, run: Run) -> None:
        job = {"cmd": "run", "id": run.id, "spec": run.spec, "order": run.order, "mode": run.asked_mode}
        if not self.client.send(job | {"unit_ms": run.unit_ms} | run.options):
            stopped = message("runs.runner_stopped", "The runner stopped just before this run; try again.")
            self._on_death(self.client.why or stopped)

    def _take(self, run: Run, event: Event) -> None:
        """Apply an event of the runner, or the end of its process, to the current run."""
        if event["event"] == "died":
            event = {"event": "failed", "failure": RunFailure("runner", event["why"]).as_dict()}
        elif event["event"] == "error":  # the runner refused the job itself
            event = {"event": "failed", "failure": RunFailure.of_error("refused", event["error"]).as_dict()}
        if event["event"] in OVER:
            self._end(run, event)
        else:
            run.apply(event)
            self.on_change(run)

    def _abandon(self, run: Run, why: str) -> None:
        self.client.kill()
        self._fail(run, why)

    def _fail(self, run: Run, why: str) -> None:
        """End the run because of the runner's process; ``why`` is a sentence."""
        self._end(run, {"event": "failed", "failure": RunFailure("runner", why).as_dict()})

    def _kill_if_not_cancelled(self, run: Run) -> None:
        """Kill a runner that has not cancelled the run in time."""
        if not run.over and run is self._current:
            self._end(run, {"event": "cancelled"})
            self._events.put({"event": "cancelled"})
            self.client.kill()

    def _end(self, run: Run, event: Event) -> None:
        if run.over:
            return
        run.apply(event)
        self._ends[run.status] += 1
        self.on_change(run)
        self._save(run)
        self._ended.set()
        self._ended.clear()

    def _on_event(self, event: Event) -> None:
        if self._current is not None and event.get("id") == self._current.id and event["event"] != "died":
            self._events.put(event)

    def _on_death(self, why: str) -> None:
        if self._current is not None:
            self._events.put({"event": "died", "why": why})

    def _renumber(self) -> None:
        for position, run_id in enumerate(self.queue, start=1):
            if self._runs[run_id].move(position):
                self.on_change(self._runs[run_id])

    def _save(self, run: Run) -> gevent.Greenlet:
        return self._saves.spawn(self._keep, run)

    def _keep(self, run: Run) -> None:
        """Write the run to disk; one that cannot be written has a sentence in `unkept` and stays in memory."""
        if run.id in self._removing:  # it would come back
            return
        self._on_disk(self.store.save, run)
        run.unkept = UNKEPT if self.store_error else None
        if run.over and not self.store_error:
            self.on_kept(run)
