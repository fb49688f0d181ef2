"""Short links on disk: one row per link, in a table of the runs' database.

A link never changes and is never deleted: a link on a slide still opens in ten years. All calls block: a program with
an event loop calls them from a thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from backend.address.short_links.codes import LONGEST_NAME, new_code
from backend.database.address import Location
from backend.database.connect import database_at
from backend.database.database import DatabaseError, Transaction
from backend.errors import Message, RequestError, message

MOST_TRIES = 1000
CANNOT_READ = message("links.cannot_read", "Short links cannot be read at present")
CANNOT_KEEP = message("links.cannot_keep", "Short links cannot be kept at present")


@dataclass(frozen=True)
class Link:
    """``code`` follows /s/ in the address: a random code, or a chosen name (``named``)."""

    code: str
    query: str
    named: bool


class LinkStore:
    """The links of one server; every method raises RequestError (kind "disk") when the disk fails."""

    def __init__(self, location: Location, most: int, code: Callable[[], str] = new_code) -> None:
        self.most = most
        self.database = database_at(location)
        self._code = code

    def find(self, code: str) -> Link | None:
        """Return the link of this code or name."""
        with _errors(CANNOT_READ):
            return _find(self.database, code)

    def known(self, query: str, name: str | None) -> Link | None:
        """Return the existing link of a query, under this name or, without a name, under a code."""
        with _errors(CANNOT_READ):
            return _known(self.database, query, name)

    def make(self, query: str, name: str | None) -> Link:
        """Make a link, or return the existing one. Raises RequestError if the name is another view's ("taken") or the
        store is full ("full").
        """
        with _errors(CANNOT_KEEP), self.database.transaction() as transaction:
            # Again, now that no other process makes one: it may have made this one a moment ago.
            return _known(transaction, query, name) or self._insert(transaction, query, name)

    def check(self) -> None:
        """Raise RequestError where nothing could be written."""
        with _errors(CANNOT_KEEP):
            self.database.check()

    def close(self) -> None:
        """Close the database; safe to call twice."""
        self.database.close()

    def _insert(self, transaction: Transaction, query: str, name: str | None) -> Link:
        count = transaction.execute("SELECT COUNT(*) FROM links")[0][0]
        if count >= self.most:
            why = message(
                "links.full",
                "this server keeps {most} short links and has them all; the long link works as ever",
                most=self.most,
            )
            raise RequestError("links", count, why, limit=self.most, kind="full")
        if name is not None and _find(transaction, name):
            nearest = _free_like(transaction, name)
            why = message("links.taken", "{name} is the name of another view", name=name)
            raise RequestError("name", name, why, nearest=nearest, kind="taken")
        code = name if name is not None else next(c for c in iter(self._code, None) if not _find(transaction, c))
        row = {"code": code, "query": query, "named": int(name is not None), "created": time.time()}
        transaction.execute(
            "INSERT INTO links (code, query, named, created) VALUES (:code, :query, :named, :created)", row
        )
        return Link(code, query, name is not None)


def _find(transaction: Transaction, code: str) -> Link | None:
    found = transaction.execute("SELECT code, query, named FROM links WHERE code = :code", {"code": code})
    return Link(found[0][0], found[0][1], bool(found[0][2])) if found else None


def _known(transaction: Transaction, query: str, name: str | None) -> Link | None:
    if name is not None:
        link = _find(transaction, name)
        return link if link and link.query == query else None
    found = transaction.execute("SELECT code FROM links WHERE query = :query AND named = 0", {"query": query})
    return Link(found[0][0], query, False) if found else None


def _free_like(transaction: Transaction, name: str) -> str | None:
    """Return the first free name like this one: gpipe-lesson -> gpipe-lesson-2."""
    for number in range(2, MOST_TRIES):
        tail = f"-{number}"
        free = name[: LONGEST_NAME - len(tail)].rstrip("-") + tail
        if not _find(transaction, free):
            return free
    return None


@contextmanager
def _errors(what: Message) -> Iterator[None]:
    """Turn a DatabaseError into a RequestError; `what` says what cannot be done."""
    try:
        yield
    except DatabaseError as error:
        text = message("links.disk", "{what}: {why}. The long link works as ever.", what=what, why=error.why)
        raise RequestError("store", None, text, kind="disk") from error
