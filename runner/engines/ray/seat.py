"""The actor of one rank: the same seat as in a local worker process, a board of its own on its host, and the stream of
what happens there.

Runs in a process of a Ray worker. Knows neither placement nor the main process; imports no Ray itself.
"""

from __future__ import annotations

import os
import queue
import shutil
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from runner import clock
from runner.board import Board
from runner.control import BOARD, Command, Go, Reply, Setup, Verify, results_file
from runner.engines.ray.clocks import ANSWER_S, Asker, Echo, same_clock

Ints = npt.NDArray[np.int64]
PERIOD_S = 0.05  # between two batches
BEAT_S = 0.25  # between two words where nothing happens
TRIES = 20  # questions to another host, to measure the way


@dataclass(frozen=True, slots=True)
class Arrival:
    """Who an actor is: its process, where its clock can be asked, and which clock that is."""

    pid: int
    address: str
    port: int
    clock: str


@dataclass(frozen=True, slots=True)
class Batch:
    """What is new on a rank: its state, rows of ops, copies and messages from `since` on, and replies. Empty where it
    only says that it is alive."""

    job: str
    state: tuple[int, int, int]
    since: tuple[int, int, int]
    rows: tuple[Ints, Ints, Ints]
    replies: tuple[tuple[int, Reply], ...]


class RankActor:
    """A rank, as long as its process lives."""

    def __init__(self) -> None:
        clock.sharpen_sleep()  # threads made from here on sleep as sharply
        from runner.exchange import Exchange  # torch comes with these

        self.exchange = Exchange()
        self.seats: dict[int, Any] = {}
        self.replies: queue.Queue[tuple[int, Reply]] = queue.Queue()
        self.lock = threading.Lock()
        self.folder, self.job, self.rank = "", "", 0
        self.board: Board | None = None
        self.reported = [0, 0, 0]

    def begin(self, address: str, secret: bytes) -> Arrival:
        """Be ready for commands; says who this is."""
        import torch  # noqa: F401

        import runner.process  # noqa: F401

        self.echo = Echo(address, secret)
        self.address = address
        return Arrival(os.getpid(), address, self.echo.port, same_clock())

    def open_store(self) -> int:
        """As rank 0, keep the store in which all ranks find each other; its port."""
        from torch._C._distributed_c10d import TCPStore

        self.store = TCPStore(self.address, 0, None, True, wait_for_workers=False)
        return self.store.port

    def tell(self, rank: int, command: Command) -> None:
        """What a local worker hears through its pipe."""
        from runner.process import Seat

        if rank not in self.seats:
            self.seats[rank] = Seat(rank, self.exchange, lambda number, reply: self.replies.put((number, reply)))
        if isinstance(command, Setup):
            command = self._settle(rank, command)
        elif isinstance(command, Go):
            with self.lock:
                self.reported = [0, 0, 0]
        self.seats[rank].commands.put(command)

    def _settle(self, rank: int, setup: Setup) -> Setup:
        """A folder and a board on this host, in place of the main process's."""
        with self.lock:
            if self.folder:
                shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = tempfile.mkdtemp(prefix="bubbleline-")
            self.job, self.rank, self.reported = setup.folder, rank, [0, 0, 0]
            program, ranks = setup.program, setup.group.ranks
            counts = (len(program.steps), len(program.copies), len(program.receives()))
            alone = [[count if one == rank else 0 for one in range(ranks)] for count in counts]
            self.board = Board(f"{self.folder}/{BOARD}", *alone)
            return replace(setup, folder=self.folder, rows=self.board.places(rank))

    def serve(self) -> Iterator[Batch]:
        """What happens, for ever: rows every so often, replies at once, a word now and then."""
        spoke, last = 0, (-1, -1, -1)
        while True:
            replies = []
            try:
                replies.append(self.replies.get(timeout=PERIOD_S))
                while True:
                    replies.append(self.replies.get_nowait())
            except queue.Empty:
                pass
            batch = self._read(tuple(replies))
            if replies or any(map(len, batch.rows)) or batch.state != last or clock.now() - spoke > BEAT_S * 1e9:
                spoke, last = clock.now(), batch.state
                yield batch

    def _read(self, replies: tuple[tuple[int, Reply], ...]) -> Batch:
        """The board since it was last read."""
        with self.lock:
            board, rank, since = self.board, self.rank, self.reported
            none = np.empty((0, 5), np.int64)
            if board is None:
                return Batch("", (0, 0, -1), (0, 0, 0), (none, none, none), replies)
            counts = [int(each[rank]) for each in (board.done(), board.copied(), board.taken())]
            since = [min(pair) if pair[1] >= pair[0] else 0 for pair in zip(since, counts, strict=True)]
            read = (board.rows, board.copy_rows, board.message_rows)
            rows = [np.array(rows(rank, *part)) for rows, *part in zip(read, since, counts, strict=True)]
            self.reported = counts
            return Batch(self.job, board.state(rank), tuple(since), tuple(rows), replies)  # type: ignore[arg-type]

    def results(self) -> Ints | None:
        """What this rank is judged by."""
        path = results_file(self.folder, self.rank)
        return np.fromfile(path, np.uint8) if os.path.exists(path) else None

    def verify(self, command: Verify, *results: npt.NDArray[np.uint8]) -> None:
        """As rank 0, judge all ranks' results, which have come from their hosts."""
        for rank, held in enumerate(results):
            if rank != self.rank:
                held.tofile(results_file(self.folder, rank))
        self.seats[self.rank].commands.put(replace(command, folder=self.folder))

    def probe(self, places: list[tuple[str, int]], secret: bytes) -> list[int]:
        """How long a word takes to other actors, one way, in ns."""
        found = []
        for address, port in places:
            asker = Asker(address, port, secret)
            try:
                found.append(max(0, min(each.delay for each in asker.ask(TRIES)) // 2))
            except (OSError, EOFError, ValueError):
                found.append(int(ANSWER_S * 1e9))
            finally:
                asker.close()
        return found
