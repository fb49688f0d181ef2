"""The tasks: read from the files in tables/, each with its start and goals; nothing in them is a result.

A table has an `[idea]`, what its tasks are about, with `slug`, `title` and `text`, and one `[[task]]` for each: `slug`,
`level` 1 to 5, `title` and `text` in each language; the keys of a position (sizes, costs, memory); `kinds`, the ops
that may be placed; `start`, empty or the first ops of a family, which must stay, or `rows` that may be changed; `par`,
a family or the effort of a search; and `goals`, each a metric that must be as good as par's, or less than a family's
("makespan < 1f1b"), or that the order is, or is not, a known one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from backend.errors import RequestError, message
from backend.schedule.partial_order.position import KEYS, Position
from backend.schedule.partial_order.recognition import named_orders
from backend.schedule.partial_order.score import METRICS

FOLDER = Path(__file__).parent / "tables"
LANGUAGES = ("en", "zh")
KINDS = ("FB", "FIW", "FBIW")
LEVELS = range(1, 6)
RECOGNISED, UNRECOGNISED = "recognised", "unrecognised"
GOALS = (*METRICS, RECOGNISED, UNRECOGNISED)
NEEDED = ("slug", "level", "title", "text", "kinds", "par", "goals")
MOST_EFFORT = 50_000


@dataclass(frozen=True)
class Idea:
    """What the tasks of a table are about."""

    slug: str
    title: Mapping[str, str]
    text: Mapping[str, str]


@dataclass(frozen=True)
class Task:
    """A task. ``position`` has the start; ``fixed``: its ops must stay. ``par`` is a family's name, or the effort of
    the search for it.
    """

    number: int
    slug: str
    idea: str
    level: int
    title: Mapping[str, str]
    text: Mapping[str, str]
    position: Position
    fixed: bool
    kinds: str
    par: str | int
    goals: tuple[str, ...]


class TableError(Exception):
    """A task of a table that is wrong, with its slug and the reason."""


@cache
def tasks() -> dict[str, Task]:
    """Return all tasks by their slug, in order. Raises TableError for a wrong one."""
    found: dict[str, Task] = {}
    for name, table in _tables():
        for data in table["task"]:
            task = read_task(data, len(found) + 1, table["idea"]["slug"])
            if task.slug in found:
                raise TableError(f"{name}: {task.slug} is there twice")
            found[task.slug] = task
    return found


@cache
def ideas() -> tuple[Idea, ...]:
    """Return what the tasks are about, in order. Raises TableError for a wrong one."""
    for name, table in _tables():
        idea = table["idea"]
        if set(idea) != {"slug", "title", "text"} or any(set(idea[key]) != set(LANGUAGES) for key in ("title", "text")):
            raise TableError(f"{name}: its idea has a slug, and title and text in {LANGUAGES}")
    return tuple(Idea(**table["idea"]) for _, table in _tables())


@cache
def _tables() -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return each table with its name, in order."""
    return tuple((path.name, tomllib.loads(path.read_text("utf-8"))) for path in sorted(FOLDER.glob("*.toml")))


def task_of(slug: str) -> Task:
    """Return a task. Raises RequestError for an unknown slug."""
    task = tasks().get(slug)
    if task is None:
        text = message("workbench.no_such_task", "there is no task of that name")
        raise RequestError("task", slug[:80], text, kind="unknown")
    return task


def read_task(data: Mapping[str, Any], number: int, idea: str) -> Task:
    """Read one entry of a table. Raises TableError."""
    slug = data.get("slug", "a task without a slug")
    try:
        missing = [key for key in NEEDED if key not in data]
        unknown = [key for key in data if key not in (*NEEDED, "start", *KEYS)]
        if missing or unknown:
            raise ValueError(f"lacks {missing}" if missing else f"has unknown keys {unknown}")
        for key in ("title", "text"):
            if set(data[key]) != set(LANGUAGES):
                raise ValueError(f"{key} is not in {LANGUAGES}")
        goals = {goal_of(goal)[0] for goal in data["goals"]}
        if data["kinds"] not in KINDS or data["level"] not in LEVELS or not goals <= set(GOALS):
            raise ValueError("kinds, level or goals are none of the known ones")
        if isinstance(data["par"], int) and not 0 < data["par"] <= MOST_EFFORT:
            raise ValueError(f"the effort of a search is from 1 to {MOST_EFFORT}")
        start = data.get("start", {})
        position = _started(Position.from_json({key: data[key] for key in KEYS if key in data}), start)
        fixed = "rows" not in start and position.placed > 0
        return Task(
            number, slug, idea, data["level"], data["title"], data["text"], position, fixed, data["kinds"],
            data["par"], tuple(data["goals"]),
        )  # fmt: skip
    except ValueError as error:
        raise TableError(f"{slug}: {error}") from error


def goal_of(text: str) -> tuple[str, str]:
    """Return the metric of a goal, and the family that it must be less than; "" for par."""
    metric, _, family = text.partition(" < ")
    return metric, family


def _started(position: Position, start: Mapping[str, Any]) -> Position:
    """Return the position with the rows of its start: the first `ops` of each rank of a family, or `rows`."""
    if "rows" in start:
        return Position.from_json(position.to_json() | {"rows": start["rows"]})
    if "family" not in start:
        return position
    rows = next(named.rows for named in named_orders(position) if named.name == start["family"])
    counts = start["ops"] if isinstance(start["ops"], list) else [start["ops"]] * position.p
    return position.with_rows([row[:count] for row, count in zip(rows, counts, strict=True)])
