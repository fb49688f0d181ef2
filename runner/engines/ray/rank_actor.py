"""The actor of one rank: a worker process as in the local engine, a board on its host, and a stream of reports.

The rank runs in a separate process, so that Ray does not disturb its times, and a broken one is replaced as quickly
as on one host. Runs in a process of a Ray worker; knows neither placement nor the main process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np
import numpy.typing as npt

from runner.engines.base import RankLost, RankReply
from runner.engines.ray.clocks import ANSWER_S, ClockClient, ClockServer, same_clock
from runner.engines.ray.host_process import ActorEngine, HostProcess
from runner.messages import BOARD, Command, RankError, Reply, Setup, StartStep, Verify, results_file
from runner.telemetry import clock
from runner.telemetry.op_board import Board, Counts, RankState, Rows

Bytes = npt.NDArray[np.uint8]
PERIOD_S = 0.05  # between two reports
BEAT_S = 0.25  # between two reports where nothing happens
TRIES = 20  # clock readings of another host, to measure the latency to it
NO_COUNTS, BEFORE_START = Counts(0, 0, 0), RankState(0, 0, -1)
NO_ROWS = Rows(*(np.empty((0, 5), np.int64) for _ in Rows._fields))


@dataclass(frozen=True, slots=True)
class ActorAddress:
    """The address of an actor: where its clock can be read, the id of that clock, and the port of its store, if any."""

    address: str
    port: int
    clock: str
    store: int


@dataclass(frozen=True, slots=True)
class RankReport:
    """The new events and rows of a rank.

    Its process and the state of that process, board rows from `since` on, replies, and the cause of the process's end
    if it ended. `generation` counts the processes that the rank has had; `job` is the board's.
    """

    generation: int
    job: str
    pid: int
    stopped: bool = False
    state: RankState = BEFORE_START
    since: Counts = NO_COUNTS
    rows: Rows = NO_ROWS
    replies: tuple[tuple[int, Reply], ...] = ()
    lost: str = ""


class RankActor:
    """Runs one rank as long as the actor lives."""

    def __init__(self) -> None:
        self.engine = ActorEngine(session_folder(), os.getppid())
        self.engine.boot()
        self.clock_file = f"{self.engine.scratch.name}/clock"
        clock.common.share(self.clock_file)
        self.lock = threading.Lock()
        self.generation, self.rank, self.job, self.folder, self.dead = 0, 0, "", "", False
        self.board: Board | None = None
        self.reported = NO_COUNTS
        self.errors: list[tuple[int, Reply]] = []
        self.store: HostProcess | None = None

    def begin(self, address: str, secret: bytes, meeting: bool) -> ActorAddress:
        """Get ready for commands; the actor with `meeting` also opens the store in which ranks find each other."""
        self.clock_server = ClockServer(address, secret)
        self.engine.resize(1)
        return ActorAddress(address, self.clock_server.port, same_clock(), self._open_store(address) if meeting else 0)

    def _open_store(self, address: str) -> int:
        """Open the store in a separate process, forked where torch is loaded; return its port."""
        self.pipe, theirs = self.engine.context.Pipe()
        self.store = self.engine.server.fork(__name__, keep_store.__name__, theirs, address)
        theirs.close()
        port: int = self.pipe.recv()
        return port

    def renew(self, generation: int) -> None:
        """End the rank, whatever it is doing, and start another."""
        with self.lock:
            self.engine.clear()
            self.generation, self.job, self.board, self.dead = generation, "", None, False
            try:
                self.engine.resize(1)
            except OSError:
                os._exit(1)  # without a process there is no rank: all of them have to be placed again

    def leave(self) -> None:
        """Clean up before the actor ends."""
        with self.lock:
            self.dead = True
            self.engine.close()

    def command(self, rank: int, command: Command) -> None:
        """Send a command to the rank's process."""
        with self.lock:
            try:
                if isinstance(command, Setup):
                    command = self._with_local_board(rank, command)
                elif isinstance(command, StartStep):
                    self.reported = NO_COUNTS
                self._pass_on(rank, command)
            except Exception as error:  # a disk that is full
                self.errors.append((rank, RankError("exception", f"{type(error).__name__}: {error}")))

    def _pass_on(self, rank: int, command: Command) -> None:
        try:
            self.engine.workers[0].pipe.send((rank, command))
        except (OSError, IndexError):  # its sentinel reports that it is dead
            return

    def _with_local_board(self, rank: int, setup: Setup) -> Setup:
        """Create a folder and a board on this host, in place of the main process's."""
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = tempfile.mkdtemp(dir=self.engine.scratch.name)
        self.job, self.rank, self.reported = setup.folder, rank, NO_COUNTS
        program, ranks = setup.program, setup.group.ranks
        counts = (len(program.steps), len(program.copies), len(program.receives()))
        of_this_rank = [[count if one == rank else 0 for one in range(ranks)] for count in counts]
        self.board = Board(f"{self.folder}/{BOARD}", *of_this_rank)
        return replace(setup, folder=self.folder, rows=self.board.first_rows(rank), clock_file=self.clock_file)

    def serve(self) -> Iterator[RankReport]:
        """Yield reports as long as the actor lives: rows every PERIOD_S, replies at once, an empty one every BEAT_S."""
        sent, last = 0, BEFORE_START
        while True:
            if self.store is not None and not self.store.is_alive():
                os._exit(1)  # without it no rank finds another: all of them have to be placed again
            with self.lock:
                generation, waitables = self.generation, [] if self.dead else self.engine.waitables()
            try:
                happened = wait(waitables, PERIOD_S)
            except (OSError, ValueError):  # replaced meanwhile
                continue
            with self.lock:
                report = self._report(happened if generation == self.generation else [])  # handles are used again
            new = report.replies or report.lost or any(map(len, report.rows)) or report.state != last
            if new or clock.now() - sent > BEAT_S * 1e9:
                sent, last = clock.now(), report.state
                yield report

    def _report(self, happened: list[Any]) -> RankReport:
        """Report the changes of the rank's process and its board since the last report."""
        replies, lost, self.errors = self.errors, "", []
        for event in self.engine.events(happened):
            if isinstance(event, RankReply):
                replies.append((event.rank, event.reply))
            elif isinstance(event, RankLost):
                lost, self.dead = event.cause, True
        board, rank = self.board, self.rank
        if not self.engine.workers:  # the actor is about to end
            return RankReport(self.generation, "", 0)
        pid, stopped = self.engine.workers[0].pid, bool(self.engine.halted(0))
        if board is None:
            return RankReport(self.generation, "", pid, stopped, replies=tuple(replies), lost=lost)
        counts = board.counts(rank)
        since = Counts(*(min(old, new) if new >= old else 0 for old, new in zip(self.reported, counts, strict=True)))
        read = (board.rows, board.copy_rows, board.message_rows)
        rows = Rows(*(np.array(rows(rank, *part)) for rows, *part in zip(read, since, counts, strict=True)))
        self.reported = counts
        return RankReport(
            self.generation,
            self.job,
            pid,
            stopped,
            state=board.state(rank),
            since=since,
            rows=rows,
            replies=tuple(replies),
            lost=lost,
        )

    def results(self) -> Bytes | None:
        """Return the file of results of this rank, as bytes (n,)."""
        path = results_file(self.folder, self.rank)
        return np.fromfile(path, np.uint8) if os.path.exists(path) else None

    def verify(self, command: Verify, *results: Bytes | None) -> None:
        """Verify, as rank 0, all ranks' results, which were sent from their hosts."""
        try:
            for rank, content in enumerate(results):
                if rank != self.rank and content is not None:
                    content.tofile(results_file(self.folder, rank))
        except OSError as error:
            with self.lock:
                self.errors.append((self.rank, RankError("exception", str(error))))
        self.command(self.rank, replace(command, folder=self.folder))

    def probe(self, actors: list[tuple[str, int]], secret: bytes) -> list[int]:
        """Measure the latency to other actors, one way, in ns."""
        found = []
        for address, port in actors:
            client = ClockClient(address, port, secret)
            try:
                found.append(max(0, min(each.delay for each in client.read(TRIES)) // 2))
            except (OSError, EOFError, ValueError):
                found.append(int(ANSWER_S * 1e9))
            finally:
                client.close()
        return found


def keep_store(pipe: Connection[Any, Any], address: str) -> None:
    """Keep the store in which ranks find each other until the other end of the pipe closes."""
    from torch._C._distributed_c10d import TCPStore

    store = TCPStore(address, 0, None, True, wait_for_workers=False)
    pipe.send(store.port)
    with suppress(EOFError, OSError):
        pipe.recv()


def session_folder() -> str:
    """Return Ray's folder of this session of the cluster, which is deleted with it."""
    from ray._private.worker import _global_node

    return str(_global_node.get_session_dir_path())
