"""The cluster behind the runner, as its last word about it was. Pure: knows no process and no page.

What the runner tells is held to its outer shape, so that a page always finds lists where it looks for lists; what a
host or a link says of itself is passed on as it came.
"""

from __future__ import annotations

from typing import Any

from backend.runs.run_log import Message

LOCAL = "local"  # the engine of a runner that says nothing of engines
SHAPE: dict[str, type] = {"address": str, "state": str, "why": str, "hosts": list, "links": list, "waiting": str}


def read(told: Message) -> Message:
    """A `cluster` event, or the part of `ready` that has the same; ValueError where it has not that shape."""
    found: Message = {}
    for key, kind in SHAPE.items():
        value = told.get(key, kind())
        if not isinstance(value, kind):
            raise ValueError(f"the runner sent a cluster whose {key} cannot be read")
        found[key] = value
    if not all(isinstance(each, dict) for each in (*found["hosts"], *found["links"])):
        raise ValueError("the runner sent a cluster whose hosts cannot be read")
    return found


def lost(cluster: Message, why: str) -> Message:
    """The same once nobody tells of it any more; one that was lost before keeps its own reason."""
    return cluster if cluster["state"] == "lost" else cluster | {"state": "lost", "why": why, "waiting": ""}


def answer(engine: str, cluster: Message | None) -> dict[str, Any]:
    """What a page is told: the engine, and where it has one, the cluster."""
    return {"engine": engine or LOCAL} | (cluster or {})


def members(cluster: Message | None) -> set[Any]:
    """The names of the hosts that are there: when these change, so does what there is to run on."""
    return {host.get("name") for host in cluster["hosts"] if host.get("alive")} if cluster else set()
