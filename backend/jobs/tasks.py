"""Answers about the workbench's tasks that worker processes compute: par and named schedules take up to a second."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from backend.jobs.encoding import Encoded, encode_json
from backend.schedule.order.order_codec import unpack
from backend.schedule.partial_order.position import text_rows
from backend.tasks.reference import reference
from backend.tasks.store import Entry
from backend.tasks.task import Task, ideas, task_of, tasks


def list_tasks() -> Encoded:
    """Return every task without what has to be computed, in order, and the ideas that group them."""
    shape = []
    for task in tasks().values():
        sizes = {key: value for key, value in task.position.to_json().items() if key != "rows"}
        shape.append(_head(task) | {"position": sizes})
    return encode_json({"ideas": [asdict(idea) for idea in ideas()], "tasks": shape})


def show_task(slug: str) -> Encoded:
    """Return a task with its start, its goals, par, the named schedules and the bound. Raises RequestError."""
    task = task_of(slug)
    known = list(tasks())
    at = known.index(slug)
    found = reference(task)
    shape = {
        "text": dict(task.text),
        "position": task.position.to_json(),
        "fixed": task.fixed,
        "goals": [goal.as_dict() for goal in found.goals],
        "par": found.par_as_dict(),
        "bound": found.bound_as_dict(),
        "named": [each.as_dict() for each in found.named],
        "previous": known[at - 1] if at else None,
        "next": known[at + 1] if at + 1 < len(known) else None,
    }
    return encode_json(_head(task) | shape)


def entry_as_dict(entry: Entry) -> dict[str, Any]:
    """Return an entry as JSON, with its order packed and as rows."""
    order = unpack(entry.packed)
    return {
        "id": entry.id,
        "score": entry.score.as_dict(),
        "name": entry.name,
        "count": entry.submitted,
        "created": entry.created,
        "order": entry.packed,
        "rows": text_rows([order.row(rank) for rank in range(order.p)]),
    }


def _head(task: Task) -> dict[str, Any]:
    return {
        "slug": task.slug,
        "number": task.number,
        "idea": task.idea,
        "level": task.level,
        "title": dict(task.title),
        "kinds": task.kinds,
        "goals": list(task.goals),
    }
