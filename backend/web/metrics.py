"""Figures of the server in Prometheus' format: requests and their latency, the event loop's lag, the process.

Each app has a registry of its own: tests make many apps in one process. The figures of the app's parts, such as queues,
are read from them when they are asked for, see routes/health.py.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterable
from typing import Any

import gevent
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

EVERY_S = 0.25  # between two measurements of the loop's lag
SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
PAGE_BYTES = resource.getpagesize()

disable_created_metrics()  # type: ignore[no-untyped-call]  # an unused second series for each counter


class Metrics:
    """The figures of one app."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ("route", "status")
        self.requests = Counter("bubbleline_requests", "Requests answered.", labels, registry=self.registry)
        self.seconds = Histogram(
            "bubbleline_request_seconds", "Seconds from a request to its answer.", labels,
            buckets=SECONDS, registry=self.registry,
        )  # fmt: skip
        self.lag = Histogram(
            "bubbleline_loop_lag_seconds", "Seconds by which the event loop woke too late.", buckets=SECONDS,
            registry=self.registry,
        )  # fmt: skip
        self.registry.register(ProcessFigures())
        self._watch: Any = None

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(route, status).inc()
        self.seconds.labels(route, status).observe(seconds)

    def watch_loop(self, clock: Callable[[], float]) -> None:
        """Measure the lag of the loop from now on; `clock` counts seconds."""
        self._watch = self._watch or gevent.spawn(self._measure_lag, clock)

    def text(self) -> bytes:
        """Return all figures."""
        return generate_latest(self.registry)

    def _measure_lag(self, clock: Callable[[], float]) -> None:
        while True:
            begun = clock()
            gevent.sleep(EVERY_S)
            self.lag.observe(max(0.0, clock() - begun - EVERY_S))


class ProcessFigures(Collector):
    """Memory and open files of this process. prometheus-client's own collector opens five files each time."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Read the figures of now; on systems without /proc there are none."""
        try:
            with open("/proc/self/statm") as file:
                resident = int(file.read().split()[1]) * PAGE_BYTES
            files = len(os.listdir("/proc/self/fd"))
        except OSError:
            return
        yield GaugeMetricFamily("bubbleline_memory_bytes", "Memory of the server, without its runner.", resident)
        yield GaugeMetricFamily("bubbleline_open_files", "Open files and connections of the server.", files)
