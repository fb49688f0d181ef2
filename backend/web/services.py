"""What the routes and events of one app share. Each route takes what it needs from here; nothing is global."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import cast

from flask import current_app

from backend.config import Config
from backend.rate_limit import HourlyRate
from backend.runs.manager import Manager
from backend.searches.search_queue import Desk
from backend.short_links.short_links import Links
from backend.web.http.cache import Cache
from backend.web.sockets.cluster_feed import ClusterFeed
from backend.web.sockets.run_feed import Feed
from backend.web.sockets.run_snapshot import RunSnapshots

NAME = "bubbleline"


@dataclass(frozen=True)
class Services:
    """One app's parts."""

    config: Config
    cache: Cache
    feed: Feed
    cluster: ClusterFeed
    runs: Manager
    searches: Desk
    links: Links
    imports: HourlyRate
    snapshots: RunSnapshots = field(default_factory=RunSnapshots)
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)  # (route, status) -> how many
    started: float = field(default_factory=time.time)


def services() -> Services:
    """The parts of the app that handles the present request."""
    return cast(Services, current_app.extensions[NAME])
