"""Retention: which ended runs are deleted, by their age and by the size of the database. Short links are kept.

Called in the store's thread: its calls block.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from backend.runs.store import Store

logger = logging.getLogger(__name__)
EVERY_S = 600.0  # between two looks at the database
AT_ONCE = 100  # runs deleted in one call: other calls use the database in between
DAY_S = 86_400.0
MEGABYTE = 1_000_000


class Retention:
    """Deletes the oldest ended runs; `clock` returns seconds since 1970."""

    def __init__(self, keep_days: int, store_mb: int, clock: Callable[[], float]) -> None:
        self.keep_days, self.store_mb = keep_days, store_mb
        self._clock = clock

    @property
    def limited(self) -> bool:
        """Return whether there is a limit."""
        return bool(self.keep_days or self.store_mb)

    def expire(self, store: Store, live: frozenset[str]) -> list[str]:
        """Delete some of the runs that are over the limits, but none of the runs `live`.

        Returns the ids, none where all is within the limits. Raises StoreError.
        """
        found: list[str] = []
        if self.keep_days:
            found = [run_id for run_id, _ in store.older(self._clock() - self.keep_days * DAY_S, AT_ONCE)]
        if not found and self.store_mb:
            excess = store.used() - self.store_mb * MEGABYTE
            for run_id, size in store.older(float("inf"), AT_ONCE) if excess > 0 else []:
                if excess > 0 and run_id not in live:
                    found.append(run_id)
                    excess -= size
        gone = [each for each in found if each not in live]
        if gone:
            store.remove(*gone)
            logger.info("%d runs were deleted by the limits of age and size", len(gone))
        return gone
