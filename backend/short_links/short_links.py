"""Makes short links and finds them again: what may be asked, how often, and what was asked before."""

from __future__ import annotations

from pathlib import Path

from backend.rate_limit import HourlyRate
from backend.short_links.codes import looked_up, name_of, query_of
from backend.short_links.errors import LinkError
from backend.short_links.store import Link, LinkStore


class Links:
    """The short links of one server."""

    def __init__(self, path: Path, most: int, per_hour: int) -> None:
        self.store = LinkStore(path, most)
        self.rate = HourlyRate(per_hour)

    def make(self, owner: str, query: object, name: object = None) -> Link:
        """The link of a view, new or as it was made before; LinkError says why there can be none."""
        asked, called = query_of(query), None if name is None or name == "" else name_of(name)
        known = self.store.known(asked, called)
        if known is not None:
            return known
        minutes, most = self.rate.take(owner), self.rate.most
        if minutes is not None:
            message = f"{most} new short links an hour are enough; try again in {minutes} min"
            raise LinkError("share", "links", most, message, limit=most)
        return self.store.make(asked, called)

    def find(self, text: str) -> Link | None:
        """The link that an address names."""
        code = looked_up(text)
        return None if code is None else self.store.find(code)
