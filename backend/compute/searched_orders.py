"""The orders that recent searches have found, so that nothing is searched twice.

Each is the spec that builds it, with its rows. The process that serves the page keeps them, and sends them along with
the jobs of workers, which have not searched them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable

from backend.schedule.spec import Spec

MOST_KEPT = 128
MOST_SENT_OPS = 65_536  # of one order that goes along with a job


class SearchedOrders:
    """The orders of recent searches; ``count`` of all that were ever added."""

    def __init__(self, found: Iterable[Spec] = ()) -> None:
        self.count = 0
        self._found: OrderedDict[Spec, Spec] = OrderedDict()  # by the same spec without rows
        self._longest: OrderedDict[Spec, Spec] = OrderedDict()  # by the spec without effort
        for spec in found:
            self.add(spec)

    def add(self, spec: Spec) -> None:
        """Keep a spec with its rows."""
        self.count += 1
        self._found[spec] = spec
        plain = spec.with_(effort=None)
        before = self._longest.pop(plain, spec)
        self._longest[plain] = max(before, spec, key=lambda each: each.effort or 0)
        for kept in (self._found, self._longest):
            if len(kept) > MOST_KEPT:
                kept.popitem(last=False)

    def known(self, spec: Spec) -> Spec:
        """Return the spec with its rows if they were found, else the spec itself."""
        return self._found.get(spec, spec)

    def longest(self, spec: Spec) -> Spec:
        """Return the spec of the longest search that was asked for what this spec asks, else the spec itself."""
        return self._longest.get(spec.with_(effort=None), spec)

    def to_send(self, efforts: Collection[int] | None = None) -> tuple[Spec, ...]:
        """Return the specs that go along with a job: those with one of these efforts, or all.

        Efforts are long numbers, so those in a query leave few.
        """
        return tuple(
            spec
            for spec in self._found.values()
            if (efforts is None or spec.effort in efforts) and sum(map(len, spec.found or ())) <= MOST_SENT_OPS
        )
