"""One search: what was asked, what is known so far, and how it ended. Its work runs in a thread; whoever reads a job
reads the last whole state. Knows no viewers and no sockets."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from backend.runs.errors import failure
from backend.schedule.errors import SpecError
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
class State:
    """``status`` queued, running, finished, stopped or failed; ``spec`` what gives the best order so far again, whose
    ``span`` is held against ``lower_bound``; ``body`` that order as the page reads it; ``better`` counts them."""

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
        """All but the order, as JSON."""
        optimal = self.better > 0 and meets(self.span, self.lower_bound)
        gap = 0.0 if optimal or self.lower_bound <= 0.0 else self.span / self.lower_bound - 1.0
        plain = ("status", "better", "span", "lower_bound", "bound", "evaluations", "seconds", "error")
        shape = {name: getattr(self, name) for name in plain}
        return shape | {"spec": self.spec.to_json(), "gap": gap, "optimal": bool(optimal)}


@dataclass(eq=False)
class Job:
    """A search for ``spec``, a legal one of a sought family, for ``seconds``. ``changed`` is called from the thread."""

    spec: Spec
    seconds: float
    changed: Callable[[], None]
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    told_to_stop: bool = False

    def __post_init__(self) -> None:
        self.state = State("queued", self.spec)

    @property
    def over(self) -> bool:
        return self.state.status in OVER

    def stop(self) -> None:
        """End soon, with what there is."""
        self.told_to_stop = True
        if self.state.status == "queued":
            self.state = replace(self.state, status="stopped")

    def run(self) -> None:
        """Search; for a thread. Never raises."""
        if self.told_to_stop:
            return
        self.state = replace(self.state, status="running")
        try:
            family = registry.family_of(self.spec)
            sought, order, found = search_order(self.spec, family, self.seconds, self._tell, lambda: self.told_to_stop)
            status, body = "stopped" if self.told_to_stop else "finished", wire.encode(order, sought.to_json())
            self.state = replace(self.state, status=status, spec=sought, body=body, evaluations=found.evaluations)
        except SpecError as error:
            self.state = replace(self.state, status="failed", error=error.as_dict())
        except Exception:
            logger.exception("search %s", self.id)
            said = f"Something went wrong in the server, not in your request; its log has it under search {self.id}."
            self.state = replace(self.state, status="failed", error=failure(None, None, said))
        self.changed()

    def _tell(self, progress: Progress) -> None:
        """Take over what the search knows."""
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
