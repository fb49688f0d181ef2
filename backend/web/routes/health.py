"""Routes for operators: whether the server is alive, whether its parts can work, and metrics."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

from flask import Blueprint, Response, g, request
from prometheus_client import CONTENT_TYPE_LATEST
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from backend import __version__
from backend.database.database import DatabaseError
from backend.errors import RequestError
from backend.jobs.encoding import JSON
from backend.web.http.background import run_in_background
from backend.web.http.server import ROUTE
from backend.web.services import Services, services

health = Blueprint("health", __name__)
Family = CounterMetricFamily | GaugeMetricFamily


@health.before_app_request
def begin_request() -> None:
    """Note when the request began."""
    g.began = time.perf_counter()


@health.after_app_request
def count_request(response: Response) -> Response:
    """Count every answer of the app by route and status, and name its route for the log."""
    route = request.url_rule.rule if request.url_rule is not None else "none"
    began = g.get("began", time.perf_counter())
    services().metrics.answered(route, response.status_code, time.perf_counter() - began)
    request.environ[ROUTE] = route if request.url_rule is not None else None
    return response


@health.get("/healthz")
def healthz() -> Response:
    """Return that the server serves, and what the runner and the store were last known to do."""
    runs = services().runs
    counts = runs.counts()
    runner = {"state": runs.client.state, "why": runs.client.why or None, "devices": runs.client.devices}
    store = {"ok": runs.store_error is None, "why": runs.store_error, "unreadable": counts.unreadable}
    shape = {"ok": True, "version": __version__, "runner": runner, "store": store, "queue": counts.waiting}
    return Response(json.dumps(shape) + "\n", mimetype=JSON)


@health.get("/readyz")
def readyz() -> tuple[Response, int]:
    """Return whether each part can do its work, 503 where one cannot; the database is tried now."""
    runs = services().runs
    parts = {
        "server": "the server is stopping" if runs.stopping else None,
        "store": runs.check_store(),
        "links": _why_no_links(),
        **({} if runs.shared_error is None else {"redis": runs.shared_error or None}),
        "runner": runs.client.why if runs.client.state in ("down", "stopped") else None,
    }
    ready = not any(parts.values())
    shape = {"ready": ready} | {part: {"ok": not why, "why": why or None} for part, why in parts.items()}
    return Response(json.dumps(shape) + "\n", mimetype=JSON), 200 if ready else 503


@health.get("/metrics")
def metrics() -> Response:
    """Return the figures of the server, for Prometheus."""
    return Response(services().metrics.text(), content_type=CONTENT_TYPE_LATEST)


class PartFigures(Collector):
    """The figures of an app's parts, read when they are asked for."""

    def __init__(self, parts: Services) -> None:
        self._parts = parts

    def collect(self) -> Iterable[Family]:
        """Read the figures of now."""
        parts, runs = self._parts, self._parts.runs
        counts = runs.counts()
        by_status = GaugeMetricFamily(
            "bubbleline_runs", "Runs in progress, and ended since the start, by status.", labels=("status",)
        )
        for status, count in counts.by_status.items():
            by_status.add_metric((status,), count)
        yield by_status
        yield _gauge("queue_length", "Runs that wait.", counts.waiting)
        yield _gauge("searches", "Searches in progress or waiting.", len(parts.searches))
        yield _gauge("searches_waiting", "Searches that wait.", parts.searches.waiting)
        yield _gauge("sockets", "Open sockets of pages.", len(parts.client_sockets))
        yield _gauge("viewers", "Pages that watch a run.", parts.feed.viewers())
        yield _gauge("classes", "Classes in memory.", len(parts.classes.rooms))
        yield _gauge("class_viewers", "Pages in a class.", parts.class_feed.viewers())
        yield _gauge("connections", "Open connections.", len(parts.connections))
        yield _counter("connections_refused", "Connections refused because all were taken.", parts.connections.refused)
        yield _gauge("runner_ready", "Whether the runner is ready.", runs.client.state == "ready")
        yield _counter("runner_starts", "Runner processes started.", runs.client.starts)
        yield _gauge("store_unreadable_runs", "Damaged runs found so far.", counts.unreadable)
        yield _gauge("store_error", "Whether the database failed when it was last used.", runs.store_error is not None)
        yield _gauge("store_bytes", "Size of the database.", _size(parts))
        yield _counter("runs_expired", "Runs deleted for their age or for the size of the database.", counts.expired)
        yield _gauge("cache_bytes", "Encoded schedules in memory.", parts.cache.bytes)
        yield _gauge("stopping", "Whether the server is stopping.", runs.stopping)
        yield _gauge("uptime_seconds", "Seconds since the start.", round(time.time() - parts.started, 1))


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"bubbleline_{name}", text, value)


def _counter(name: str, text: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(f"bubbleline_{name}", text, value)


def _size(parts: Services) -> int:
    try:
        return run_in_background(parts.runs.store.database.size)
    except DatabaseError:
        return 0


def _why_no_links() -> str | None:
    """Return why no short link can be made at present; None where one can."""
    store = services().links.store

    def why() -> str | None:
        try:
            store.check()
        except RequestError as error:
            return str(error.message)
        return None

    return run_in_background(why)  # a locked file is waited for
