"""The shared parts of one app. Each route takes what it needs from here; nothing is global."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import cast

from flask import current_app

from backend.config import Config
from backend.rate_limit import HourlyRate
from backend.runs.manager import Manager
from backend.searches.search_queue import SearchQueue
from backend.short_links.short_links import ShortLinks
from backend.web.http.cache import Cache
from backend.web.sockets.cluster_feed import ClusterFeed
from backend.web.sockets.run_feed import Feed
from backend.web.sockets.run_snapshot import RunSnapshots
from backend.web.work.large_bodies import LargeBodies

NAME = "bubbleline"


@dataclass(frozen=True)
class Services:
    """The parts of one app."""

    config: Config
    cache: Cache
    feed: Feed
    cluster: ClusterFeed
    runs: Manager
    searches: SearchQueue
    links: ShortLinks
    imports: HourlyRate
    bodies: LargeBodies = field(default_factory=LargeBodies)
    snapshots: RunSnapshots = field(default_factory=RunSnapshots)
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)  # (route, status) -> answers
    started: float = field(default_factory=time.time)


def services() -> Services:
    """Return the parts of the app that handles the current request."""
    return cast(Services, current_app.extensions[NAME])
