"""The state of the cluster behind the runner, as the runner last reported it.

The outer shape of a report is checked, so that a page finds lists where it expects lists; the fields of each host and
link are passed on unchanged.
"""

from __future__ import annotations

from typing import Any

from backend.errors import message
from backend.runs.run_log import Event

LOCAL = "local"  # the engine of a runner that does not name its engine
SHAPE: dict[str, type] = {"address": str, "state": str, "why": str, "hosts": list, "links": list, "waiting": str}


def read(report: Event) -> Event:
    """Read a `cluster` event, or the part of `ready` of the same shape. Raises ValueError for another shape."""
    state: Event = {}
    for key, kind in SHAPE.items():
        value = report.get(key, kind())
        if not isinstance(value, kind):
            raise _illegible(key)
        state[key] = value
    if not all(isinstance(each, dict) for each in (*state["hosts"], *state["links"])):
        raise _illegible("hosts")
    return state


def _illegible(key: str) -> ValueError:
    return ValueError(message("runs.bad_cluster", "the runner sent a cluster whose {key} cannot be read", key=key))


def lost(cluster: Event, how: str) -> Event:
    """Return the state after the runner has ended; a cluster that was lost before keeps its own reason."""
    why = message("runs.cluster_runner_ended", "The runner {how}; a new one is being started.", how=how)
    return cluster if cluster["state"] == "lost" else cluster | {"state": "lost", "why": why, "waiting": ""}


def answer(engine: str, cluster: Event | None) -> dict[str, Any]:
    """Return what pages receive: the engine, and the state of its cluster if it has one."""
    return {"engine": engine or LOCAL} | (cluster or {})


def members(cluster: Event | None) -> set[Any]:
    """Return the names of the hosts that are alive: when these change, so do the devices."""
    return {host.get("name") for host in cluster["hosts"] if host.get("alive")} if cluster else set()
