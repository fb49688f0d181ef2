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
from backend.errors import RequestError

T = TypeVar("T")
Work = Callable[[Transaction], Any]
Result = tuple[Any, Exception | None]


class GroupCommit:
    """Writes of one process to a database; `on_disk` calls what waits for the disk, in another thread."""

    def __init__(self, database: Database, on_disk: Callable[[Callable[[], Any]], Any]) -> None:
        self._database, self._on_disk = database, on_disk
        self._waiting: list[tuple[Work, AsyncResult]] = []
        self._writer: Any = None

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Do `work` in a transaction and return its result when it is committed. Raises DatabaseError and what `work`
        raises. A RequestError must come before `work` has written anything; after any other error `work` is done once
        more, alone, as the works of others in its transaction are.
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
                works = [work for work, _ in batch]
                for (_, result), (value, problem) in zip(batch, self._results(works), strict=True):
                    if problem is None:
                        result.set(value)
                    else:
                        result.set_exception(problem)
        finally:
            self._writer = None

    def _results(self, works: list[Work]) -> list[Result]:
        try:
            done: list[Result] = self._on_disk(partial(self._commit, works))
            return done
        except Exception as error:  # nothing is written
            if len(works) == 1 or isinstance(error, DatabaseError):
                return [(None, error)] * len(works)
        return [self._results([work])[0] for work in works]  # a defect in one must not cost the others their answers

    def _commit(self, works: list[Work]) -> list[Result]:
        results: list[Result] = []
        with self._database.transaction() as transaction:
            for work in works:
                try:
                    results.append((work(transaction), None))
                except RequestError as problem:
                    results.append((None, problem))
        return results
