"""Encoded answers kept for the next who asks: the least recently used go first. Knows nothing of what it keeps."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from hashlib import blake2b

ENTRY_BYTES = 1500  # what a key and the two tables cost besides the bytes themselves


@dataclass(frozen=True, slots=True)
class Encoded:
    """An answer as it is sent: deflated bytes, their type, and a name for exactly these bytes."""

    deflated: bytes
    mimetype: str
    etag: str

    @classmethod
    def of(cls, deflated: bytes, mimetype: str) -> Encoded:
        return cls(deflated, mimetype, blake2b(deflated, digest_size=12).hexdigest())


class Cache:
    """At most `limit` bytes of encoded answers."""

    def __init__(self, limit: int) -> None:
        self.limit, self.bytes = limit, 0
        self._kept: OrderedDict[Hashable, Encoded] = OrderedDict()

    def get(self, key: Hashable) -> Encoded | None:
        """The answer kept under this key."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def kept(self, key: Hashable, make: Callable[[], Encoded]) -> Encoded:
        """The answer under this key, made and kept if it is not there."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def put(self, key: Hashable, answer: Encoded) -> None:
        """Keep an answer, dropping the least recently used to make room."""
        if key in self._kept:
            self.bytes -= ENTRY_BYTES + len(self._kept.pop(key).deflated)
        self._kept[key] = answer
        self.bytes += ENTRY_BYTES + len(answer.deflated)
        while self.bytes > self.limit:
            self.bytes -= ENTRY_BYTES + len(self._kept.popitem(last=False)[1].deflated)
