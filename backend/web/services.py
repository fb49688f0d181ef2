"""The shared parts of one app. Each route takes what it needs from here; nothing is global."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import cast

from flask import Response, current_app, request

from backend.access.limits.places import Places
from backend.access.limits.rate_limit import HourlyRate
from backend.address.short_links.short_links import ShortLinks
from backend.classes.classes import Classes
from backend.compute.live_searches.search_queue import SearchQueue
from backend.config import Config
from backend.jobs.encoding import Encoded
from backend.runs.runs import Runs
from backend.tasks.boards import Boards
from backend.web.classes.feed import ClassFeed
from backend.web.http.cache import Cache
from backend.web.http.responses import send
from backend.web.http.server import Connections
from backend.web.metrics import Metrics
from backend.web.sockets.client_sockets import ClientSockets
from backend.web.sockets.cluster_feed import ClusterFeed
from backend.web.sockets.run_feed import Feed
from backend.web.sockets.run_snapshot import RunSnapshots

NAME = "bubbleline"
MOST_BODIES = 8


@dataclass(frozen=True)
class Services:
    """The parts of one app."""

    config: Config
    cache: Cache
    feed: Feed
    cluster: ClusterFeed
    runs: Runs
    searches: SearchQueue
    links: ShortLinks
    boards: Boards
    classes: Classes
    class_feed: ClassFeed
    imports: HourlyRate
    connections: Connections
    client_sockets: ClientSockets  # of pages
    bodies: Places = field(default_factory=lambda: Places(MOST_BODIES))  # large ones that are in memory
    snapshots: RunSnapshots = field(default_factory=RunSnapshots)
    metrics: Metrics = field(default_factory=Metrics)
    started: float = field(default_factory=time.time)


def send_cached(key: Hashable, make: Callable[[], Encoded]) -> Response:
    """Send the answer under this key of the cache; make and keep it if there is none."""
    return send(request, services().cache.get_or_make(key, make))


def services() -> Services:
    """Return the parts of the app that handles the current request."""
    return cast(Services, current_app.extensions[NAME])
