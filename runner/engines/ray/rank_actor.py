"""The actor of one rank: a worker process as the local engine has them, a board of its own on its host, and the stream
of what happens there.

The rank is in a process of its own, so that nothing of Ray disturbs its times, and a broken one is replaced as quickly
as on one host. Runs in a process of a Ray worker; knows neither placement nor the main process.
"""

from __future__ import annotations

import os
import shutil
import sys
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
from runner.engines.local import LocalEngine
from runner.engines.ray.clocks import ANSWER_S, ClockClient, ClockServer, same_clock
from runner.messages import BOARD, Command, RankError, Reply, Setup, StartStep, Verify, results_file
from runner.telemetry import clock
from runner.telemetry.op_board import Board

Ints = npt.NDArray[np.int64]
PERIOD_S = 0.05  # between two batches
BEAT_S = 0.25  # between two words where nothing happens
TRIES = 20  # questions to another host, to measure the way
NONE: Ints = np.empty((0, 5), np.int64)


@dataclass(frozen=True, slots=True)
class Arrival:
    """Who an actor is: where its clock can be asked, which clock that is, and the port of its store if it has one."""

    address: str
    port: int
    clock: str
    store: int


@dataclass(frozen=True, slots=True)
class Batch:
    """What is new on a rank: its process, the state of that, rows of ops, copies and messages from `since` on, replies,
    and how its process ended if it did. `life` counts the processes that the rank has had, `job` is the board's."""

    life: int
    job: str
    pid: int
    stopped: bool = False
    state: tuple[int, int, int] = (0, 0, -1)
    since: tuple[int, int, int] = (0, 0, 0)
    rows: tuple[Ints, Ints, Ints] = (NONE, NONE, NONE)
    replies: tuple[tuple[int, Reply], ...] = ()
    lost: str = ""


class RankActor:
    """A rank, as long as the actor lives."""

    def __init__(self) -> None:
        # A new process would import the program of this one again, which is Ray's, and with it all of Ray.
        main = sys.modules["__main__"]
        main.__spec__ = None
        vars(main).pop("__file__", None)
        self.engine = LocalEngine(session_folder())
        self.engine.boot()
        self.lead = f"{self.engine.scratch.name}/lead"
        clock.common.share(self.lead)
        self.lock = threading.Lock()
        self.life, self.rank, self.job, self.folder, self.dead = 0, 0, "", "", False
        self.board: Board | None = None
        self.reported = [0, 0, 0]
        self.troubles: list[tuple[int, Reply]] = []
        self.store: Any = None

    def begin(self, address: str, secret: bytes, meeting: bool) -> Arrival:
        """Be ready for commands, as one of all also with the store in which ranks find each other; says who this is."""
        self.echo = ClockServer(address, secret)
        self.engine.resize(1)
        return Arrival(address, self.echo.port, same_clock(), self._open_store(address) if meeting else 0)

    def _open_store(self, address: str) -> int:
        """In a process of its own, forked from where torch is loaded; its port."""
        self.pipe, theirs = self.engine.context.Pipe()
        self.store = self.engine.context.Process(target=keep_store, args=(theirs, address), daemon=True)
        self.store.start()
        theirs.close()
        port: int = self.pipe.recv()
        return port

    def renew(self, life: int) -> None:
        """End the rank, whatever it is doing, and start another."""
        with self.lock:
            self.engine.clear()
            self.life, self.job, self.board, self.dead = life, "", None, False
            self.engine.resize(1)

    def leave(self) -> None:
        """Leave nothing behind: the end is near."""
        with self.lock:
            self.dead = True
            self.engine.close()

    def tell(self, rank: int, command: Command) -> None:
        """What a local worker hears through its pipe."""
        with self.lock:
            try:
                if isinstance(command, Setup):
                    command = self._with_local_board(rank, command)
                elif isinstance(command, StartStep):
                    self.reported = [0, 0, 0]
                self._pass_on(rank, command)
            except Exception as error:  # a disk that is full
                self.troubles.append((rank, RankError(f"{type(error).__name__}: {error}")))

    def _pass_on(self, rank: int, command: Command) -> None:
        try:
            self.engine.workers[0].pipe.send((rank, command))
        except (OSError, IndexError):  # that it is dead, its sentinel tells
            return

    def _with_local_board(self, rank: int, setup: Setup) -> Setup:
        """A folder and a board on this host, in place of the main process's."""
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = tempfile.mkdtemp(dir=self.engine.scratch.name)
        self.job, self.rank, self.reported = setup.folder, rank, [0, 0, 0]
        program, ranks = setup.program, setup.group.ranks
        counts = (len(program.steps), len(program.copies), len(program.receives()))
        alone = [[count if one == rank else 0 for one in range(ranks)] for count in counts]
        self.board = Board(f"{self.folder}/{BOARD}", *alone)
        return replace(setup, folder=self.folder, rows=self.board.places(rank), lead=self.lead)

    def serve(self) -> Iterator[Batch]:
        """What happens, for ever: rows every so often, replies at once, a word now and then."""
        spoke, last = 0, (0, 0, -1)
        while True:
            if self.store is not None and not self.store.is_alive():
                os._exit(1)  # without it no rank finds another: all of them have to be placed anew
            with self.lock:
                life, waitables = self.life, [] if self.dead else self.engine.waitables()
            try:
                happened = wait(waitables, PERIOD_S)
            except (OSError, ValueError):  # replaced meanwhile
                continue
            with self.lock:
                batch = self._read(happened if life == self.life else [])  # numbers of handles are used again
            event = batch.replies or batch.lost or any(map(len, batch.rows)) or batch.state != last
            if event or clock.now() - spoke > BEAT_S * 1e9:
                spoke, last = clock.now(), batch.state
                yield batch

    def _read(self, happened: list[Any]) -> Batch:
        """The rank's process and its board since they were last looked at."""
        replies, lost, self.troubles = self.troubles, "", []
        for event in self.engine.events(happened):
            if isinstance(event, RankReply):
                replies.append((event.rank, event.reply))
            elif isinstance(event, RankLost):
                lost, self.dead = event.cause, True
        board, rank, since = self.board, self.rank, self.reported
        if not self.engine.workers:  # the end is near
            return Batch(self.life, "", 0)
        pid, stopped = self.engine.workers[0].pid, bool(self.engine.halted(0))
        if board is None:
            return Batch(self.life, "", pid, stopped, replies=tuple(replies), lost=lost)
        counts = [int(each[rank]) for each in (board.done(), board.copied(), board.received())]
        since = [min(pair) if pair[1] >= pair[0] else 0 for pair in zip(since, counts, strict=True)]
        read = (board.rows, board.copy_rows, board.message_rows)
        rows = tuple(np.array(rows(rank, *part)) for rows, *part in zip(read, since, counts, strict=True))
        self.reported = counts
        state, new, told = board.state(rank), tuple(since), tuple(replies)
        return Batch(self.life, self.job, pid, stopped, state, new, rows, told, lost)  # type: ignore[arg-type]

    def results(self) -> Ints | None:
        """What this rank is judged by."""
        path = results_file(self.folder, self.rank)
        return np.fromfile(path, np.uint8) if os.path.exists(path) else None

    def verify(self, command: Verify, *results: npt.NDArray[np.uint8] | None) -> None:
        """As rank 0, judge all ranks' results, which have come from their hosts."""
        try:
            for rank, held in enumerate(results):
                if rank != self.rank and held is not None:
                    held.tofile(results_file(self.folder, rank))
        except OSError as error:
            with self.lock:
                self.troubles.append((self.rank, RankError(str(error))))
        self.tell(self.rank, replace(command, folder=self.folder))

    def probe(self, places: list[tuple[str, int]], secret: bytes) -> list[int]:
        """How long a word takes to other actors, one way, in ns."""
        found = []
        for address, port in places:
            asker = ClockClient(address, port, secret)
            try:
                found.append(max(0, min(each.delay for each in asker.ask(TRIES)) // 2))
            except (OSError, EOFError, ValueError):
                found.append(int(ANSWER_S * 1e9))
            finally:
                asker.close()
        return found


def keep_store(pipe: Connection[Any, Any], address: str) -> None:
    """Where ranks find each other, for as long as the other end of the pipe is there."""
    from torch._C._distributed_c10d import TCPStore

    store = TCPStore(address, 0, None, True, wait_for_workers=False)
    pipe.send(store.port)
    with suppress(EOFError, OSError):
        pipe.recv()


def session_folder() -> str:
    """Where Ray keeps what belongs to this life of the cluster, and what goes with it."""
    from ray._private.worker import _global_node

    return str(_global_node.get_session_dir_path())
