"""A cache of encoded answers in Redis behind each process' own: what one process has computed, none computes again."""

from __future__ import annotations

import time
from collections.abc import Hashable
from functools import cache
from hashlib import blake2b
from typing import Any

from backend.config import PROJECT
from backend.jobs.encoding import Encoded
from backend.web.http.cache import Cache
from backend.web.shared.connection import UNAVAILABLE
from backend.web.shared.connection import key as redis_key

KEPT_S = 3600
LARGEST = 1_000_000  # bytes of an answer; a larger one is kept by its process only
PAUSE_S = 2.0  # without a question after a failure


class AnswerCache(Cache):
    """A cache of at most `limit` bytes in this process, and of answers for an hour in Redis."""

    def __init__(self, limit: int, client: Any) -> None:
        super().__init__(limit)
        self._client = client
        self._asked_again = 0.0  # not before this time, by time.monotonic

    def get(self, key: Hashable) -> Encoded | None:
        answer = super().get(key)
        if answer is not None or time.monotonic() < self._asked_again:
            return answer
        try:
            found = self._client.get(_name_of(key))
        except UNAVAILABLE:
            self._asked_again = time.monotonic() + PAUSE_S
            return None
        if found is None:
            return None
        mimetype, deflated = found.split(b"\n", 1)
        answer = Encoded.of(deflated, mimetype.decode())
        super().put(key, answer)
        return answer

    def put(self, key: Hashable, answer: Encoded) -> None:
        """Store an answer here and in Redis."""
        super().put(key, answer)
        if len(answer.deflated) > LARGEST or time.monotonic() < self._asked_again:
            return
        try:
            self._client.set(_name_of(key), answer.mimetype.encode() + b"\n" + answer.deflated, ex=KEPT_S)
        except UNAVAILABLE:
            self._asked_again = time.monotonic() + PAUSE_S


def _name_of(answer: Hashable) -> str:
    """Return the key of an answer. Keys are values that differ in their text: names, numbers, queries and specs."""
    return redis_key("answer", _sources(), blake2b(repr(answer).encode(), digest_size=16).hexdigest())


@cache
def _sources() -> str:
    """Return a digest of the program: other sources may answer otherwise."""
    digest = blake2b(digest_size=8)
    for path in sorted((PROJECT / "backend").rglob("*.py")):
        digest.update(f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}".encode())
    return digest.hexdigest()
