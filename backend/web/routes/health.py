"""Routes for operators: health as JSON, and metrics in Prometheus' text format."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

from flask import Blueprint, Response, request

from backend import __version__
from backend.web.http.encoding import JSON
from backend.web.services import Services, services

health = Blueprint("health", __name__)


@health.after_app_request
def count_request(response: Response) -> Response:
    """Count every answer of the app by route and status."""
    route = request.url_rule.rule if request.url_rule is not None else "none"
    services().requests[route, response.status_code] += 1
    return response


@health.get("/healthz")
def healthz() -> Response:
    """Return whether the server serves, and the state of its parts."""
    runs = services().runs
    runner = {"state": runs.client.state, "why": runs.client.why or None, "devices": runs.client.devices}
    store = {"ok": runs.store_error is None, "why": runs.store_error, "unreadable": len(runs.store.unreadable)}
    shape = {"ok": True, "version": __version__, "runner": runner, "store": store, "queue": len(runs.queue)}
    return Response(json.dumps(shape) + "\n", mimetype=JSON)


@health.get("/readyz")
def readyz() -> tuple[Response, int]:
    """Return whether each part can do its work, 503 where one cannot; the database is tried now."""
    runs = services().runs
    parts = {
        "store": runs.check_store(),
        "runner": runs.client.why if runs.client.state in ("down", "stopped") else None,
    }
    ready = not any(parts.values())
    shape = {"ready": ready} | {part: {"ok": not why, "why": why or None} for part, why in parts.items()}
    return Response(json.dumps(shape) + "\n", mimetype=JSON), 200 if ready else 503


@health.get("/metrics")
def metrics() -> Response:
    """Return the same as numbers, for Prometheus."""
    lines = [line for name, kind, text, samples in _metrics(services()) for line in _lines(name, kind, text, samples)]
    return Response("\n".join(lines) + "\n", content_type="text/plain; version=0.0.4; charset=utf-8")


def _metrics(parts: Services) -> Iterable[tuple[str, str, str, Mapping[str, Any]]]:
    runs = parts.runs
    requests = {f'{{route="{route}",status="{status}"}}': n for (route, status), n in parts.requests.copy().items()}
    by_status = {f'{{status="{status}"}}': n for status, n in runs.by_status().items()}
    yield "bubbleline_requests_total", "counter", "Requests answered.", requests
    yield "bubbleline_runs", "gauge", "Runs under way, and over since the start, by status.", by_status
    yield "bubbleline_queue_length", "gauge", "Runs that wait.", {"": len(runs.queue)}
    yield "bubbleline_viewers", "gauge", "Pages that watch a run.", {"": parts.feed.viewers()}
    yield "bubbleline_runner_ready", "gauge", "Whether the runner is ready.", {"": int(runs.client.state == "ready")}
    yield "bubbleline_runner_starts_total", "counter", "Runner processes started.", {"": runs.client.starts}
    yield "bubbleline_store_unreadable_runs", "gauge", "Damaged runs found so far.", {"": len(runs.store.unreadable)}
    yield "bubbleline_cache_bytes", "gauge", "Encoded schedules in memory.", {"": parts.cache.bytes}
    yield "bubbleline_uptime_seconds", "gauge", "Seconds since the start.", {"": round(time.time() - parts.started, 1)}


def _lines(name: str, kind: str, text: str, samples: Mapping[str, Any]) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"] + [f"{name}{at} {n}" for at, n in samples.items()]
