"""The runs of a server as its routes use them: those in memory and in the database, wherever they are executed.

Code runs in gevent's loop, where nothing changes between two waits; the database has a thread of its own.
"""

from __future__ import annotations

import logging
import secrets
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from gevent.threadpool import ThreadPool

from backend.config import Config
from backend.errors import RequestError, message
from backend.runs.estimate import OpTimes
from backend.runs.options import PLAIN, Options
from backend.runs.run import Run
from backend.runs.runner_client import RunnerState
from backend.runs.store import Store, StoreError, UnreadableRunError

logger = logging.getLogger(__name__)
KEEP_SIZE = 60_000_000  # characters of the rows of ended runs in memory: about 400,000 ops


@dataclass(frozen=True)
class Counts:
    """How many runs wait, are damaged, and were deleted for their age or for the size of the database; and how many
    are in each status: those in progress now, those that ended since the server started.
    """

    waiting: int = 0
    unreadable: int = 0
    expired: int = 0
    by_status: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RunRequest:
    """A run that is asked for: ``order`` is wire.to_text of its order, ``seconds`` its estimated length.

    ``client`` has the share of the queue; ``owner``, the client unless given, may change the run later.
    """

    client: str
    spec: dict[str, Any]
    order: str
    options: Options = PLAIN
    owner: str | None = None
    seconds: float | None = None


class Runs(ABC):
    """The runs of a server. ``on_change(run)`` is called when a run's log has grown."""

    def __init__(self, config: Config, client: RunnerState, on_change: Callable[[Run], None]) -> None:
        self.config, self.client, self.on_change = config, client, on_change
        self.store, self.times = Store(config.database), OpTimes()
        self.store_error: str | None = None
        self.shared_error: str | None = None  # a sentence while what processes share cannot be used, "" while it can
        self.stopping = False
        self._runs: OrderedDict[str, Run] = OrderedDict()  # all that are in progress, and the latest of the others
        self._disk = ThreadPool(1)
        self._opened = False

    @abstractmethod
    def start(self) -> None:
        """Open the database, and execute runs or follow those that are executed elsewhere; return at once."""

    @abstractmethod
    def drain(self, seconds: float) -> None:
        """Take no more runs, end those that wait here, and let the present one go on for at most `seconds`."""

    @abstractmethod
    def stop(self) -> None:
        """Close the database and what executes or follows runs."""

    @abstractmethod
    def submit(self, asked: RunRequest) -> Run:
        """Put a run into the queue. Raises RequestError when it is full."""

    @abstractmethod
    def adopt(self, run: Run) -> None:
        """Store a run that is over already and that is not known here. Raises RequestError."""

    @abstractmethod
    def cancel(self, run_id: str) -> Run:
        """Cancel a run, queued or in progress. Raises RequestError when it is unknown or over."""

    @abstractmethod
    def rename(self, run_id: str, name: str) -> Run:
        """Set the name of a run; an empty one removes it."""

    @abstractmethod
    def remove(self, run_id: str) -> None:
        """Delete a run that is over, on disk too; also one that cannot be read.

        Raises RequestError when it is unknown or in progress, or cannot be deleted on disk, from where it would come
        back.
        """

    @abstractmethod
    def get(self, run_id: str, seq: int = 0) -> Run:
        """Return the run of this id, from memory or disk; its log has entry `seq` if any process has it.

        Raises RequestError when there is none or it cannot be read.
        """

    @abstractmethod
    def counts(self) -> Counts:
        """Count the runs."""

    @abstractmethod
    def _present(self) -> Iterable[dict[str, Any]]:
        """Return the summaries, with `owner`, of the runs that the database may lack."""

    def open(self) -> None:
        """Open the database once; without one, runs are in memory only."""
        if not self._opened:
            self._opened = True
            self._open()

    def _open(self) -> None:
        self._on_disk(self.store.open)

    def keep(self, run: Run) -> Run:
        """Store a run that is over already, such as an imported one, under a new id and with the time of now."""
        run.id = run.log.run_id = secrets.token_hex(5)
        run.created = time.time()
        self.adopt(run)
        return run

    def recent(self, limit: int, before: str | None) -> list[dict[str, Any]]:
        """Return summaries, with `owner`, of at most `limit` runs, newest first, older than the run `before`."""
        self.open()
        start = None if before is None else self.get(before)
        key = None if start is None else (start.created, start.id)
        rows = {row["id"]: row for row in self._on_disk(self.store.recent, limit, key) or []}
        for row in self._present():
            if key is None or (row["created"], row["id"]) < key:
                rows[row["id"]] = row
        return sorted(rows.values(), key=lambda row: (row["created"], row["id"]), reverse=True)[:limit]

    def check_store(self) -> str | None:
        """Return why nothing can be written to the database at present; None where it can."""
        self.open()
        self._on_disk(self.store.check)
        return self.store_error

    def _remember(self, run: Run) -> None:
        """Hold a run in memory; of those that are over the oldest are dropped, by their number and their size."""
        self._runs[run.id] = run
        size = 0
        for kept, old in enumerate([old for old in reversed(self._runs.values()) if old.over], start=1):
            size += old.log.size + len(old.order)
            if kept > self.config.keep or (size > KEEP_SIZE and kept > 1):
                del self._runs[old.id]

    def _stored(self, run_id: str) -> Run | None:
        """Return a run from the database, None where there is none. Raises RequestError if it cannot be read."""
        try:
            run: Run | None = self._on_disk(self.store.load, run_id)
        except UnreadableRunError:
            text = message("runs.unreadable", "This run was stored, but is damaged and cannot be read; delete it.")
            raise RequestError("id", run_id, text, kind="unknown") from None
        if run is None and self.store_error:
            raise disk_error()
        return run

    def _on_disk(self, call: Callable[..., Any], *args: Any) -> Any:
        """Call the store in its thread; a disk that fails is logged and noted in `store_error`, not fatal.

        Raises UnreadableRunError.
        """
        result, problem = self._disk.apply(_caught, (call, args))
        self.store_error = str(problem) if isinstance(problem, StoreError) else None
        if isinstance(problem, StoreError):
            logger.error("the database of runs: %s", problem)
        elif problem is not None:
            raise problem
        return result


def summary_of(run: Run) -> dict[str, Any]:
    """Return the summary of a run with its owner."""
    return run.summary() | {"owner": run.owner}


def unknown_run(run_id: str) -> RequestError:
    """Return the error of a request for a run that there is not."""
    return RequestError("id", run_id, message("runs.unknown", "There is no run with this id."), kind="unknown")


def disk_error() -> RequestError:
    """Return the error of a request that takes the database, while that cannot be read."""
    text = message("runs.not_loaded", "The server's disk cannot be read at present; try again.")
    return RequestError("store", None, text, kind="disk")


def _caught(call: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, StoreError | UnreadableRunError | None]:
    """Return (result, None) or (None, error): gevent prints the traceback of whatever a thread raises."""
    try:
        return call(*args), None
    except (StoreError, UnreadableRunError) as problem:
        return None, problem
