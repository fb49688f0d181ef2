"""Writes that come at the same time share a transaction: 300 students answer at once, and a disk takes milliseconds
for each commit. Whoever writes waits until its own write is on the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import gevent
from gevent.event import AsyncResult

from backend.database.database import Database, DatabaseError, Transaction

T = TypeVar("T")
Work = Callable[[Transaction], Any]


class GroupCommit:
    """Writes of one process to a database; `on_disk` calls what waits for the disk, in another thread."""

    def __init__(self, database: Database, on_disk: Callable[[Callable[[], Any]], Any]) -> None:
        self._database, self._on_disk = database, on_disk
        self._waiting: list[tuple[Work, AsyncResult]] = []
        self._writer: Any = None

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Do `work` in a transaction and return its result when it is committed. Raises what `work` raises, which must
        come before it has written anything, and DatabaseError.
        """
        result = AsyncResult()
        self._waiting.append((work, result))
        if self._writer is None:
            self._writer = gevent.spawn(self._write_all)
        done: T = result.get()
        return done

    def _write_all(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                try:
                    results = self._on_disk(partial(self._commit, [work for work, _ in batch]))
                except Exception as error:  # of the database: nothing of the batch is written
                    for _, result in batch:
                        result.set_exception(error)
                    continue
                for (_, result), (value, problem) in zip(batch, results, strict=True):
                    if problem is None:
                        result.set(value)
                    else:
                        result.set_exception(problem)
        finally:
            self._writer = None

    def _commit(self, batch: list[Work]) -> list[tuple[Any, Exception | None]]:
        results: list[tuple[Any, Exception | None]] = []
        with self._database.transaction() as transaction:
            for work in batch:
                try:
                    results.append((work(transaction), None))
                except DatabaseError:
                    raise
                except Exception as problem:
                    results.append((None, problem))
        return results
