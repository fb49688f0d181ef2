"""A cache of encoded answers, bounded in bytes; the least recently used are dropped first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from backend.jobs.encoding import Encoded

ENTRY_BYTES = 1500  # what a key and the two tables cost besides the bytes themselves


class Cache:
    """Encoded answers by key, at most `limit` bytes of them."""

    def __init__(self, limit: int) -> None:
        self.limit, self.bytes = limit, 0
        self._answers: OrderedDict[Hashable, Encoded] = OrderedDict()

    def get(self, key: Hashable) -> Encoded | None:
        """Return the answer under this key, None if there is none."""
        answer = self._answers.get(key)
        if answer is not None:
            self._answers.move_to_end(key)
        return answer

    def get_or_make(self, key: Hashable, make: Callable[[], Encoded]) -> Encoded:
        """Return the answer under this key; make and store it if there is none."""
        answer = self.get(key)
        if answer is None:
            answer = make()
            self.put(key, answer)
        return answer

    def put(self, key: Hashable, answer: Encoded) -> None:
        """Store an answer; drop the least recently used ones to make room."""
        if key in self._answers:
            self.bytes -= ENTRY_BYTES + len(self._answers.pop(key).deflated)
        self._answers[key] = answer
        self.bytes += ENTRY_BYTES + len(answer.deflated)
        while self.bytes > self.limit:
            self.bytes -= ENTRY_BYTES + len(self._answers.popitem(last=False)[1].deflated)
