"""The runs as a web process sees them: commands go to the process that manages them, logs come from Redis, and runs
that are over from the database.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

import gevent

from backend.config import Config
from backend.errors import RequestError, from_codes, message
from backend.runs.estimate import OpTimes
from backend.runs.run import Run
from backend.runs.runner_client import RunnerState
from backend.runs.runs import Counts, RunRequest, Runs, disk_error, unknown_run
from backend.runs.store import STOPPED
from backend.web.shared.commands import Commands, no_manager
from backend.web.shared.connection import UNAVAILABLE, connect, shown
from backend.web.shared.publisher import STATE, STATE_FIELD, STATE_S
from backend.web.shared.run_log_stream import read_further, read_run, run_of

logger = logging.getLogger(__name__)
WAIT_MS = 1000  # for which one call waits in Redis
CATCH_UP_S = 2.0  # for which a page that comes from another process waits for what it has seen there
PAUSE_S = 0.3  # after a failure
GAP_S = 0.02  # after an entry that is not the next one, for which Redis does not wait
ENDED_S = 2.0  # after which a run that its manager no longer has, and that has no further entry, is looked up


@dataclass
class ManagerState:
    """What the managing process has last published; `heard` is when, by time.monotonic, at first that of the start."""

    heard: float = field(default_factory=time.monotonic)
    counts: Counts = field(default_factory=Counts)
    live: dict[str, dict[str, Any]] = field(default_factory=dict)  # summaries, with `owner`, by id

    @property
    def present(self) -> bool:
        """Return whether there is a managing process."""
        return time.monotonic() < self.heard + STATE_S


class RemoteRuns(Runs):
    """The runs of a server of several processes, in one of those that serve pages.

    `on_cluster()` is called when the state of the runner's cluster has changed.
    """

    def __init__(
        self,
        config: Config,
        on_change: Callable[[Run], None] = lambda run: None,
        on_cluster: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config, RunnerState("starting"), on_change)
        self.on_cluster = on_cluster
        self.shared_error = ""
        self.state = ManagerState()
        self._commands, self._redis = Commands(config.redis), connect(config.redis)
        self._followed: dict[str, Any] = {}  # greenlet by run
        self._reader: Any = None

    def counts(self) -> Counts:
        return self.state.counts

    def _present(self) -> Iterable[dict[str, Any]]:
        return map(dict, self.state.live.values())

    def start(self) -> None:
        self.open()
        self._reader = self._reader or gevent.spawn(self._read_state_forever)

    def drain(self, seconds: float) -> None:
        self.stopping = True
        gevent.sleep(seconds)  # runs go on without this process, and their viewers with it until its second signal

    def stop(self) -> None:
        self.stopping = True
        gevent.killall([each for each in (self._reader, *self._followed.values()) if each is not None])
        self._commands.stop()
        self._on_disk(self.store.close)
        self._disk.kill()

    def submit(self, asked: RunRequest) -> Run:
        made = self._command("submit", **asdict(asked))
        run = run_of(made["head"])
        for text in made["entries"]:
            run.follow(text)
        return self._follow(run)

    def adopt(self, run: Run) -> None:
        self.open()
        assert run.over
        self._on_disk(self.store.save, run)
        if self.store_error:
            raise disk_error()
        self._remember(run)

    def cancel(self, run_id: str) -> Run:
        run = self.get(run_id)
        status = self._command("cancel", run_id=run_id)["status"]
        with gevent.Timeout(PAUSE_S, False):  # for the entry that says so
            while run.status != status:
                gevent.sleep(0.01)
        return run

    def rename(self, run_id: str, name: str) -> Run:
        renamed = self._command("rename", run_id=run_id, name=name)["name"]
        if run_id in self.state.live:
            self.state.live[run_id]["name"] = renamed
        run = self.get(run_id)
        run.name = renamed
        return run

    def remove(self, run_id: str) -> None:
        self._command("remove", run_id=run_id)
        self._runs.pop(run_id, None)

    def get(self, run_id: str, seq: int = 0) -> Run:
        self.open()
        known = self._runs.get(run_id)
        if known is not None and (not known.over or self._still_there(known)):
            with gevent.Timeout(CATCH_UP_S, False):  # another process, which showed it, is a moment ahead
                while known.log.seq < seq and not known.over:
                    gevent.sleep(0.01)
            return self._named(known)
        run = self._streamed(run_id)
        if run is None or run.over:
            run = self._stored(run_id) or run
        if run is None:
            raise unknown_run(run_id)
        return self._named(self._runs.get(run_id) or self._follow(run))  # another request may have loaded it meanwhile

    def _named(self, run: Run) -> Run:
        """Give a run in progress its present name, which is not in its log: another process may have changed it."""
        run.name = self.state.live.get(run.id, {}).get("name", run.name)
        return run

    def _command(self, command: str, **arguments: Any) -> dict[str, Any]:
        if not self.state.present:
            raise no_manager()
        return self._commands.call(command, **arguments)

    def _follow(self, run: Run) -> Run:
        """Hold a run in memory, and keep it up to date until it is over."""
        if run.id in self._followed:
            return self._runs[run.id]
        self._remember(run)
        if not run.over:
            self._followed[run.id] = gevent.spawn(self._follow_to_end, run)
        return run

    def _follow_to_end(self, run: Run) -> None:
        managed = time.monotonic()  # the last time that an entry could be expected
        while not run.over:
            try:
                read = read_further(self._redis, run, WAIT_MS)
            except UNAVAILABLE:
                managed = time.monotonic()
                gevent.sleep(PAUSE_S)
                continue
            except (ValueError, KeyError, TypeError):
                logger.exception("the log of run %s", run.id)
                break
            if read:
                self.on_change(run)
            if read or not self.state.present or run.id in self.state.live:
                managed = time.monotonic()
            elif time.monotonic() > managed + ENDED_S:
                managed = time.monotonic()
                with suppress(RequestError):  # the database cannot be read: look again
                    self._end_without_log(run)
            if not read:
                gevent.sleep(GAP_S)
        del self._followed[run.id]

    def _end_without_log(self, run: Run) -> None:
        """End a run whose manager has ended and whose further log is lost, as the database has ended it.

        Raises RequestError where the database cannot be read.
        """
        stored = self._stored(run.id)
        if stored is None or not stored.over:
            run.fail(STOPPED)
        else:
            # The stored log goes on where this one ends, or is shorter: its end alone where the manager was killed.
            for text in stored.log.texts(min(run.log.seq, stored.log.seq - 1)):
                run.follow(text)
            run.facts |= stored.facts
        self.on_change(run)

    def _streamed(self, run_id: str) -> Run | None:
        try:
            return read_run(self._redis, run_id)
        except UNAVAILABLE:
            return None
        except (ValueError, KeyError, TypeError):
            logger.exception("the log of run %s", run_id)
            return None

    def _still_there(self, run: Run) -> bool:
        """Return whether a run that is over is still stored, and take its present name: another process may have
        changed either.
        """
        name = self._on_disk(self.store.name_of, run.id)
        if name is not None:
            run.name = name
        elif not self.store_error and run.id not in self.state.live:
            del self._runs[run.id]
            return False
        return True

    def _read_state_forever(self) -> None:
        while True:
            try:
                self._read_states()
            except UNAVAILABLE as error:
                said = bool(self.shared_error)
                self.shared_error = message(
                    "runs.redis_unusable",
                    "Redis at {address} cannot be used: {error}",
                    address=shown(self.config.redis),
                    error=str(error),
                )
                if not said:
                    logger.warning("%s", self.shared_error)
                self._forget_manager()
            except Exception:
                logger.exception("the state of the process that manages the runs")
            gevent.sleep(PAUSE_S)

    def _read_states(self) -> None:
        """Read the present state and each that follows, until Redis fails."""
        last, found = b"0-0", self._redis.xrevrange(STATE, count=1)
        while True:
            self.shared_error = ""
            for entry_id, fields in found:
                last = entry_id
                self._take_state(from_codes(json.loads(fields[STATE_FIELD])))
            if not self.state.present:
                self._forget_manager()
            read = self._redis.xread({STATE: last}, block=WAIT_MS)
            found = read[0][1] if read else []

    def _take_state(self, state: dict[str, Any]) -> None:
        before = self.client.engine, self.client.cluster
        for name, value in state["runner"].items():
            setattr(self.client, name, value)
        self.times = OpTimes.of(state["times"])
        live = {run["id"]: run for run in state["live"]}
        self.state = ManagerState(time.monotonic(), Counts(**state["counts"]), live)
        if (self.client.engine, self.client.cluster) != before:
            self.on_cluster()

    def _forget_manager(self) -> None:
        if not self.state.present and self.client.state != "down":
            self.client.state, self.client.devices, self.client.choices = "down", [], []
            self.client.why = no_manager().message
