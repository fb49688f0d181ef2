"""The short links of a server: checks what may be made, limits how often, and finds links again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.access.limits.rate_limit import HourlyRate
from backend.address.short_links.codes import name_of, normalized, query_of
from backend.address.short_links.store import Link, LinkStore
from backend.database.address import Location
from backend.errors import RequestError, message


class ShortLinks:
    """The short links of one server; `on_disk` does work that waits for the disk, where that must not be waited for."""

    def __init__(
        self,
        location: Location,
        most: int,
        rate: HourlyRate,
        on_disk: Callable[[Callable[[], Any]], Any] = lambda work: work(),
    ) -> None:
        self.store, self.rate = LinkStore(location, most), rate
        self._on_disk = on_disk

    def make(self, client: str, query: object, name: object = None) -> Link:
        """Return the link of a view, existing or new. Raises RequestError if there can be none."""
        text, wanted = query_of(query), None if name is None or name == "" else name_of(name)
        known: Link | None = self._on_disk(lambda: self.store.known(text, wanted))
        if known is not None:
            return known
        minutes, most = self.rate.take(client), self.rate.most
        if minutes is not None:
            why = message(
                "links.too_many_an_hour",
                "{most} new short links an hour are enough; try again in {minutes} min",
                most=most,
                minutes=minutes,
            )
            raise RequestError("links", most, why, limit=most, kind="share", retry_after=60 * minutes)
        link: Link = self._on_disk(lambda: self.store.make(text, wanted))
        return link

    def find(self, text: str) -> Link | None:
        """Return the link of a code or name, None if there is none."""
        code = normalized(text)
        link: Link | None = None if code is None else self._on_disk(lambda: self.store.find(code))
        return link
