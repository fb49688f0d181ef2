"""One search: its request, its best order so far, and its end.

A worker process of its own searches; a thread waits for what it reports, and readers take the last state.
"""

from __future__ import annotations

import logging
import secrets
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from backend.compute import errors, fork_client, frames
from backend.compute.live_searches import search_work
from backend.compute.worker import Job
from backend.errors import RequestError, message
from backend.schedule.search.certificate import meets
from backend.schedule.spec import Spec

logger = logging.getLogger(__name__)
NICENESS = 10  # a search keeps a processor busy for as long as it may
MEMORY_MB = 1024
BIRTH_S = 60.0  # for the worker to be there
LOOK_S = 0.05  # between two looks at whether the search is to stop
LATE_S = 3.0  # after its time or after it was told to stop, for a worker to end
OVER = frozenset({"finished", "stopped", "failed"})


@dataclass(frozen=True)
class SearchState:
    """``status`` queued, running, finished, stopped or failed; ``spec`` reproduces the best order so far, whose
    ``span`` is compared with ``lower_bound``; ``body`` is that order encoded for the page; ``better`` counts the
    improvements."""

    status: str
    spec: Spec
    better: int = 0
    span: float = 0.0
    lower_bound: float = 0.0
    bound: str = ""
    evaluations: int = 0
    seconds: float = 0.0
    body: bytes = b""
    error: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the order, as JSON."""
        optimal = self.better > 0 and meets(self.span, self.lower_bound)
        gap = 0.0 if optimal or self.lower_bound <= 0.0 else self.span / self.lower_bound - 1.0
        plain = ("status", "better", "span", "lower_bound", "bound", "evaluations", "seconds", "error")
        shape = {name: getattr(self, name) for name in plain}
        return shape | {"spec": self.spec.to_json(), "gap": gap, "optimal": bool(optimal)}


@dataclass(eq=False)
class SearchJob:
    """A search of ``seconds`` for ``spec``, a legal one of a searched family.

    ``changed`` and ``keep``, with the spec that was found and has its rows, are called from the thread.
    """

    spec: Spec
    seconds: float
    changed: Callable[[], None]
    keep: Callable[[Spec], None]
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    stopping: bool = False

    def __post_init__(self) -> None:
        self.state = SearchState("queued", self.spec)

    @property
    def over(self) -> bool:
        """Return whether the search has ended."""
        return self.state.status in OVER

    def stop(self) -> None:
        """End soon, with the best order so far."""
        self.stopping = True
        if self.state.status == "queued":
            self.state = replace(self.state, status="stopped")

    def run(self) -> None:
        """Run the search in a worker process and wait for it in the calling thread. Never raises."""
        if self.stopping:
            return
        self.state = replace(self.state, status="running")
        try:
            best = self._wait(self._start())
            status = "stopped" if self.stopping else "finished"
            if best is None:
                self.state = replace(self.state, status=status)
            else:
                spec = best.spec.with_(found=None)
                self.state = replace(self.state, status=status, spec=spec, body=best.body, evaluations=best.evaluations)
                self.keep(best.spec)
        except RequestError as error:
            self.state = replace(self.state, status="failed", error=error.as_dict())
        except Exception:
            logger.exception("search %s", self.id)
            why = message(
                "web.search_failed",
                "Something went wrong in the server, not in your request; its log has it under search {id}.",
                id=self.id,
            )
            self.state = replace(self.state, status="failed", error=RequestError(None, None, why).as_dict())
        self.changed()

    def _start(self) -> tuple[socket.socket, int]:
        """Return the socket to a worker that has begun to search, and its process id."""
        sock = fork_client.fork(NICENESS)
        sock.settimeout(BIRTH_S)
        hello, _ = frames.receive(sock)
        sock.settimeout(None)
        frames.send(sock, frames.pack(Job(search_work.search, (self.spec, self.seconds), MEMORY_MB)))
        return sock, hello.pid

    def _wait(self, worker: tuple[socket.socket, int]) -> search_work.Best | None:
        """Take over the worker's progress until it has ended; end it where it does not stop in time. Return None where
        the best order is then the one that it reported last.
        """
        sock, pid = worker
        told, end = False, time.monotonic() + self.seconds + LATE_S
        try:
            with sock:
                while True:
                    if self.stopping and not told:
                        frames.send(sock, frames.pack(None))
                        told, end = True, time.monotonic() + LATE_S
                    if time.monotonic() > end and self.state.better:
                        return None
                    if time.monotonic() > end:
                        raise errors.too_long(self.seconds)
                    if not select.select([sock], [], [], LOOK_S)[0]:
                        continue
                    reply, _ = frames.receive(sock)
                    if reply.outcome != "progress":
                        best: search_work.Best = reply.result()
                        return best
                    self._update(reply.value)
        except EOFError:
            raise errors.died() from None
        finally:
            fork_client.kill(pid)

    def _update(self, better: search_work.Better) -> None:
        """Take over the search's progress."""
        found = vars(better)
        if better.spec is None:
            found = {name: value for name, value in found.items() if name not in ("spec", "body")}
        self.state = replace(self.state, **found, better=self.state.better + (better.spec is not None))
        self.changed()
