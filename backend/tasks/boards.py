"""The boards of a server: keeps graded orders, limits how often a client submits, and shows a task's board."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from backend.access.limits.rate_limit import HourlyRate
from backend.database.address import Location
from backend.errors import RequestError, message
from backend.tasks import histogram
from backend.tasks.grade import ID_LENGTH, Graded
from backend.tasks.names import name_of
from backend.tasks.store import Board, BoardStore, Entry, Submitted
from backend.tasks.task import task_of

BEST = 20  # entries that a board shows
ID = re.compile(f"[0-9a-f]{{{ID_LENGTH}}}", re.ASCII)


class Boards:
    """The boards of one server; `on_disk` does work that waits for the disk, where that must not be waited for."""

    def __init__(
        self,
        location: Location,
        most: int,
        rate: HourlyRate,
        on_disk: Callable[[Callable[[], Any]], Any] = lambda work: work(),
    ) -> None:
        self.store, self.rate = BoardStore(location, most), rate
        self._on_disk = on_disk

    def admit(self, client: str) -> None:
        """Count a submission. Raises RequestError (kind "share") where the client has sent too many within an hour."""
        minutes, most = self.rate.take(client), self.rate.most
        if minutes is None:
            return
        why = message(
            "boards.too_many_an_hour",
            "{most} entries an hour are enough; try again in {minutes} min",
            most=most,
            minutes=minutes,
        )
        raise RequestError("entries", most, why, limit=most, kind="share", retry_after=60 * minutes)

    def submit(self, graded: Graded, name: str | None) -> Submitted:
        """Keep a graded order under a name that `name_of` returned. Raises RequestError."""
        bins = histogram.bins_of(task_of(graded.task).position, graded.score)
        entry = Entry(graded.id, graded.packed, name_of(name), graded.score, 1, time.time())
        kept: Submitted = self._on_disk(lambda: self.store.submit(graded.task, entry, bins))
        return kept

    def board(self, slug: str) -> Board:
        """Return a task's board. Raises RequestError."""
        task = task_of(slug)
        found: Board = self._on_disk(lambda: self.store.board(task.slug, BEST))
        return found

    def delete(self, slug: str, key: str) -> None:
        """Delete an entry. Raises RequestError if there is none, or it cannot be deleted."""
        position = task_of(slug).position
        bins_of = partial(histogram.bins_of, position)
        _need(_is_id(key) and self._on_disk(lambda: self.store.delete(slug, key, bins_of)), key)

    def unname(self, slug: str, key: str) -> None:
        """Remove the name of an entry. Raises RequestError if there is none, or it cannot be changed."""
        task = task_of(slug)
        _need(_is_id(key) and self._on_disk(lambda: self.store.unname(task.slug, key)), key)


def _is_id(key: str) -> bool:
    return ID.fullmatch(key) is not None


def _need(there: bool, key: str) -> None:
    """Raise RequestError where an entry is not there."""
    if not there:
        text = message("boards.no_such_entry", "the leaderboard has no such entry")
        raise RequestError("entry", key[:80], text, kind="unknown")
