"""One search: its request, its best order so far, and its end. It runs in a thread; readers take its last state."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from backend.errors import RequestError, message
from backend.schedule.families import registry
from backend.schedule.families.searched import search_order
from backend.schedule.order import wire
from backend.schedule.order.order import Order, from_rows
from backend.schedule.search.certificate import meets
from backend.schedule.search.improve import Progress
from backend.schedule.spec import Spec

logger = logging.getLogger(__name__)
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
    """A search of ``seconds`` for ``spec``, a legal one of a searched family. ``changed`` is called from the thread."""

    spec: Spec
    seconds: float
    changed: Callable[[], None]
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
        """Run the search in the calling thread, which it blocks. Never raises."""
        if self.stopping:
            return
        self.state = replace(self.state, status="running")
        try:
            family = registry.family_of(self.spec)
            spec, order, found = search_order(self.spec, family, self.seconds, self._update, lambda: self.stopping)
            status, body = "stopped" if self.stopping else "finished", wire.encode(order, spec.to_json())
            self.state = replace(self.state, status=status, spec=spec, body=body, evaluations=found.evaluations)
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

    def _update(self, progress: Progress) -> None:
        """Take over the search's progress."""
        state = replace(
            self.state,
            span=float(progress.span),
            lower_bound=float(progress.bound.value),
            bound=progress.bound.name,
            evaluations=int(progress.evaluations),
            seconds=float(progress.seconds),
        )
        if progress.codes is not None:
            spec = self.spec.with_(effort=int(progress.evaluations))
            body = wire.encode(self._order(progress), spec.to_json())
            state = replace(state, spec=spec, body=body, better=state.better + 1)
        self.state = state
        self.changed()

    def _order(self, progress: Progress) -> Order:
        family = registry.family_of(self.spec)
        assert family.problem is not None
        assert progress.codes is not None
        task = family.problem(self.spec).task
        return from_rows(task.placement, task.m, list(progress.codes))
