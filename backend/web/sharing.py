"""What a process has for itself, or shares with others through Redis where the settings name one.

Without it nothing of Redis is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.access.limits.rate_limit import HOUR, HourlyRate, Pace
from backend.classes.classes import Classes, Limits
from backend.config import Config
from backend.runs.manager import Manager
from backend.runs.run import Run
from backend.runs.runs import Runs
from backend.web.http.cache import Cache

MINUTE_S = 60.0
MEGABYTE = 1_000_000


class Sharing:
    """Makes the parts of an app that processes may share."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._client: Any = None
        if config.redis:
            from backend.web.shared.connection import connect

            self._client = connect(config.redis)

    def runs(self, on_change: Callable[[Run], None], on_cluster: Callable[[], None]) -> Runs:
        """Return the runs: managed here, or by the process for it."""
        if self._client is None:
            return Manager(self._config, on_change, on_cluster)
        from backend.web.shared.remote_runs import RemoteRuns

        return RemoteRuns(self._config, on_change, on_cluster)

    def classes(self, on_change: Callable[[str], None], on_disk: Callable[[Callable[[], Any]], Any]) -> Classes:
        """Return the classes, of which the processes tell each other."""
        config = self._config
        limits = Limits(
            config.classes, config.class_members, self.hourly("classes", config.classes_per_hour),
            self._pace("lookups", config.class_lookups_per_hour, HOUR),
        )  # fmt: skip
        made = Classes(config.database, limits, on_disk, on_change)
        if self._client is not None:
            from backend.web.shared.class_channel import ClassChannel

            made.rooms.channel = ClassChannel(config.redis, made.rooms.take, made.rooms.read_again)
        return made

    def cache(self) -> Cache:
        """Return the cache of encoded answers."""
        limit = self._config.cache_mb * MEGABYTE
        if self._client is None:
            return Cache(limit)
        from backend.web.shared.answer_cache import AnswerCache

        return AnswerCache(limit, self._client)

    def pace(self) -> Pace:
        """Return the pace of a client's requests."""
        return self._pace("requests", self._config.requests_per_minute, MINUTE_S)

    def _pace(self, name: str, most: int, period_s: float) -> Pace:
        if self._client is None:
            return Pace(most, period_s)
        from backend.access.limits.shared_rate import SharedPace
        from backend.web.shared.connection import key

        return SharedPace(self._client, key("limit", name), most, period_s)

    def hourly(self, name: str, most: int) -> HourlyRate:
        """Return a number of actions an hour."""
        if self._client is None:
            return HourlyRate(most)
        from backend.access.limits.shared_rate import SharedHourlyRate
        from backend.web.shared.connection import key

        return SharedHourlyRate(self._client, key("limit", name), most)
