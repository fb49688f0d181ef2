"""Computations of requests: by a worker process, on behalf of the client that asked, as long as it is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flask import current_app, request

from backend import jobs
from backend.compute import fork_client
from backend.compute.errors import TooLargeError, TooLongError
from backend.compute.pool import Pool
from backend.errors import message
from backend.web.http.clients import client_of, departure
from backend.web.http.errors import ApiError

T = TypeVar("T")
POOL = "bubbleline.compute"  # in the app's extensions
INLINE_MS = 3.0  # work of less is done on the event loop: a worker would need one for the way there and back
QUICK_MS = 200.0  # work of less need not wait behind longer work
QUICK_WORK = ("files", "previews", "schedules", "tasks")  # modules of backend/jobs/ with such work; none loads plotly


ALL = ""  # in the place of a client: its turn does not come after the client's own longer work


def compute(work: Callable[..., T], *args: Any, ms: float | None = None, for_all: bool = False) -> T:
    """Do work that takes about ``ms`` on this machine, as a worker's job if that is long or not known. ``for_all``: the
    result is kept for all clients, and does not wait behind this one's other work.

    ``work`` is a function of a module that imports neither Flask nor gevent. Raises what it raises, and RequestError
    for a full queue or an exceeded limit.
    """
    if ms is not None and ms < INLINE_MS:
        return work(*args)
    quick = ms is not None and ms < QUICK_MS
    client = ALL if for_all else client_of(request)
    result = _pool().run(client, work, *args, quick=quick, left=departure(request))
    assert result is not None
    return result


def compute_soon(work: Callable[..., T], *args: Any, ms: float | None, seconds: float) -> T | None:
    """Do work as `compute` does, always in a worker; return None if the result is not there in time."""
    quick, left = ms is not None and ms < QUICK_MS, departure(request)
    return _pool().run(client_of(request), work, *args, quick=quick, left=left, patience=seconds)


def compute_body(work: Callable[..., T], *args: Any, body: bytearray, memory_mb: int) -> T:
    """Do work on a large body, which becomes the last argument. Raises ApiError (413) if it takes more memory or
    more time than a computation may.
    """
    left = departure(request)
    try:
        result = _pool().run(client_of(request), work, *args, body=body, memory_mb=memory_mb, left=left)
    except TooLargeError as error:
        why = message("http.body_takes_memory", "Reading the body takes more than {mb} MB of memory.", mb=error.limit)
        raise ApiError(413, "body", None, why, error.limit) from None
    except TooLongError as error:
        why = message(
            "http.body_takes_long",
            "Reading the body takes more than {seconds} s, the limit of this server: give a smaller file, or a simpler "
            "pattern of names. The command line has no limit.",
            seconds=f"{error.limit:g}",
        )
        raise ApiError(413, "body", None, why, error.limit) from None
    assert result is not None
    return result


def load_quick_work() -> None:
    """Have workers know the modules of quick work when they start: on a slow machine importing them takes longer than a
    quick job may, and each would end among the long ones.
    """
    fork_client.preload(*(f"{jobs.__name__}.{name}" for name in QUICK_WORK))


def _pool() -> Pool:
    pool: Pool = current_app.extensions[POOL]
    return pool
