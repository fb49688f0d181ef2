"""The process that manages the runs where several serve the page: the queue, the runner, and what is published.

One such process is at work at a time, whatever the number of machines; the others wait to replace it. It serves no
page: commands come from the web processes through Redis, and they read the logs of runs there.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

import gevent
from gevent.event import Event

from backend.config import Config
from backend.errors import RequestError
from backend.runs.estimate import OpTimes
from backend.runs.manager import Manager
from backend.runs.options import Options
from backend.runs.run import Run
from backend.runs.runner_client import RunnerState
from backend.runs.runs import RunRequest, summary_of
from backend.runs.store import STOPPED
from backend.web.shared.commands import CommandServer, Handler
from backend.web.shared.connection import UNAVAILABLE, connect, shown
from backend.web.shared.lease import RENEW_S, Lease
from backend.web.shared.publisher import Publisher
from backend.web.shared.run_log_stream import head_of

logger = logging.getLogger(__name__)
LAST_WORDS_S = 1.0  # for the ends of runs to reach Redis when the process stops
FREE_LOOKS = 2  # RENEW_S apart, at which a lease that another process has held must be free before it is taken
LOST = 3  # the exit code of a process that another one has replaced


class RunManager:
    """The manager of the runs, and its two connections with the web processes."""

    def __init__(self, config: Config) -> None:
        self.publisher = Publisher(config.redis, self.state)
        self.manager = Manager(config, self.publisher.change, on_kept=lambda run: self.publisher.kept(run.id))
        handlers: dict[str, Handler] = {  # each takes and returns what Runs' method of its name does, as JSON
            "submit": self.submit,
            "cancel": lambda run_id: {"status": self.manager.cancel(run_id).status},
            "rename": lambda run_id, name: {"name": self.manager.rename(run_id, name).name},
            "remove": self.remove,
        }
        self.commands = CommandServer(config.redis, handlers)
        self._greenlets: list[Any] = []

    def start(self) -> None:
        """Take over from the process before, and execute runs. Raises what Redis raises."""
        self.manager.times = OpTimes.of(self.publisher.last_state().get("times", []))
        for left in self.publisher.left_over():
            run = self._ended(left)
            if run is not None:
                self.publisher.change(run)
                self.manager.adopt(run)
        self.manager.start()
        self._greenlets = [gevent.spawn(self.publisher.publish_forever), gevent.spawn(self.commands.serve_forever)]

    def _ended(self, run: Run) -> Run | None:
        """Return a run of the process before at its end: as the database has it where that has more of its log than
        Redis, which may have come back as it was earlier. None where the database, which may have it, cannot be read.
        """
        try:
            stored = self.manager.get(run.id)
        except RequestError as error:
            if error.kind == "disk" and not run.over:
                return None  # its viewers are told when the database is back, and the next process looks again
        else:
            run.name = stored.name  # which may have been changed since the run was published
            if stored.over and stored.log.seq > run.log.seq:
                return stored
        run.fail(STOPPED)  # unless it is over: then only the database may lack its end
        return run

    def stop(self) -> None:
        """End the runs, and publish their ends."""
        self.manager.drain(0)
        self.manager.stop()
        with gevent.Timeout(LAST_WORDS_S, False):
            try:
                self.publisher.publish()
            except UNAVAILABLE as error:
                logger.warning("Redis: %s", error)
        gevent.killall(self._greenlets)

    def state(self) -> dict[str, Any]:
        """Return what the web processes show of this one."""
        manager, client = self.manager, self.manager.client
        runner = {each.name: getattr(client, each.name) for each in fields(RunnerState)}
        return {
            "runner": runner, "counts": asdict(manager.counts()), "times": manager.times.rows(),
            "live": list(map(summary_of, manager.live())),
        }  # fmt: skip

    def submit(self, options: dict[str, Any], **request: Any) -> dict[str, Any]:
        """Queue a run; see Runs.submit."""
        run = self.manager.submit(RunRequest(options=Options(**options), **request))
        self.publisher.publish_now(run)  # a page that has the answer may ask any process for the run
        return {"head": head_of(run), "entries": run.log.texts(0)}  # for a process that has none of it

    def remove(self, run_id: str) -> dict[str, Any]:
        """Delete a run; see Runs.remove."""
        self.manager.remove(run_id)
        self.publisher.remove(run_id)
        return {}


def manage(config: Config, name: str, on_parent: Callable[[Event], None]) -> int:
    """Manage the runs until SIGINT or SIGTERM, and return the exit code. Stands by while another process does.

    `name` is that of the lease; `on_parent` waits for the end of the process that started this one, and sets the event.
    """
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, stop.set)
    gevent.spawn(on_parent, stop)
    lease = Lease(connect(config.redis), name)
    if not _wait_for(lease, config, stop):
        return 0
    process = RunManager(config)
    try:
        process.start()
    except UNAVAILABLE as error:
        print(f"Redis at {shown(config.redis)} failed at the start: {error}", file=sys.stderr)
        return 1
    held = _hold(lease, stop)
    if held:
        stop.clear()
        draining = gevent.spawn(process.manager.drain, config.stop_s)
        draining.link(lambda _: stop.set())  # as a second signal does, which does not wait for the present run
        held = _hold(lease, stop)
        draining.kill()
    process.stop()
    try:
        lease.release()
    except UNAVAILABLE as error:
        logger.warning("Redis: %s", error)
    return 0 if held else LOST


def _hold(lease: Lease, stop: Event) -> bool:
    """Hold the lease until the event is set; return False where another process has taken it."""
    while not stop.wait(RENEW_S):
        if not _holds(lease):
            logger.error("another process manages the runs now; this one ends its own")
            return False
    return True


def _wait_for(lease: Lease, config: Config, stop: Event) -> bool:
    """Wait for the lease; returns False where the process is to stop instead.

    One that another process has held is taken only after it was free for some looks: where Redis has come back empty,
    its holder takes it again in between.
    """
    complained, free = False, FREE_LOOKS
    while True:
        try:
            free = free + 1 if lease.is_free() else 0
            if free > FREE_LOOKS and lease.take():
                return True
            complained = False
        except UNAVAILABLE as error:
            if not complained:
                logger.warning("Redis at %s cannot be used: %s", shown(config.redis), error)
            complained = True
        if stop.wait(RENEW_S):
            return False


def _holds(lease: Lease) -> bool:
    try:
        return lease.take()
    except UNAVAILABLE:
        return True  # no other process can take it either
