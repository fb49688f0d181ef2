"""The commands `tasks list`, `check` and `forget`: the workbench's tasks, and entries of their boards."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from backend.access.limits.rate_limit import HourlyRate
from backend.cli.options import config, reported
from backend.errors import RequestError
from backend.schedule import jit
from backend.schedule.errors import OrderError
from backend.schedule.partial_order.legality import first_illegal
from backend.schedule.partial_order.position import text_rows
from backend.tasks.boards import Boards
from backend.tasks.grade import grade
from backend.tasks.hints import follow_hints
from backend.tasks.reference import reference
from backend.tasks.task import TableError, Task
from backend.tasks.task import tasks as all_tasks


@click.group()
def tasks() -> None:
    """The workbench's tasks, and entries of their boards."""


@tasks.command("list")
def list_tasks() -> None:
    """Print every task with its sizes, its par and the bound, all computed."""
    for task in _tasks():
        found, position = reference(task), task.position
        memory = "-" if position.memory is None else f"{position.memory:g}"
        bound = "-" if found.bound is None else f"{found.bound.value:g}"
        click.echo(
            f"{task.number:3}  {task.slug:34} level {task.level}  p {position.p} m {position.m} v {position.v} "
            f"{position.placement.kind:8} memory {memory:4} par {found.score.makespan:g} ({found.name or 'searched'}), "
            f"peak {found.score.peak:g}, bound {bound}"
        )


@tasks.command("check")
def check_tasks() -> None:
    """Play every task's start, follow its hints, and check whether they lead to the goals; leave with 1 if not."""
    bad = False
    for task in _tasks():
        for problem in problems(task):
            bad = True
            click.echo(f"{task.slug}: {problem}", err=True)
    click.echo(
        "a task is wrong"
        if bad
        else f"{len(all_tasks())} tasks: every start can be played, its hints lead to every goal"
    )
    sys.exit(1 if bad else 0)


def problems(task: Task) -> Iterator[str]:
    """Yield what is wrong with a task: a start that breaks a rule, a par that is no answer, hints that miss a goal."""
    wrong = first_illegal(task.position)
    if wrong is not None:
        yield f"its start cannot be played: {wrong.message}"
    found = reference(task)
    hinted, why = follow_hints(task, found.par)
    if why is not None:
        yield f"its hints end after {hinted.placed} ops: {why}"
    try:
        graded = grade(task, None, text_rows(hinted.rows))
    except (RequestError, OrderError) as error:
        yield f"its hints lead to no answer: {error.message}"
        return
    yield from (f"its hints miss the goal {goal}" for goal in graded.goals if not goal["met"])
    if found.bound is not None and found.score.makespan < found.bound.value * (1 - 1e-9):
        yield f"par is shorter than the bound {found.bound.value:g}"
    shortest = found.score.makespan * (1 - 1e-9)
    beaten = [each for each in found.named if each.within and each.score.makespan < shortest]
    if found.source == "search" and beaten:
        yield f"{beaten[0].named.name} keeps the limit and is shorter than the searched par"


@tasks.command("forget")
@click.argument("slug")
@click.argument("entry")
@click.option("--name", "only_name", is_flag=True, help="Remove the display name only; the entry stays.")
def forget(slug: str, entry: str, only_name: bool) -> None:
    """Delete ENTRY from the leaderboard of the task SLUG, in the server's database, also while the server runs."""
    settings = config()
    boards = Boards(settings.database, settings.board_entries, HourlyRate(0))
    try:
        if only_name:
            boards.unname(slug, entry)
        else:
            boards.delete(slug, entry)
    except RequestError as error:
        raise click.ClickException(str(error.message)) from None
    finally:
        boards.store.close()
    click.echo(f"{slug}: {'the name of ' if only_name else ''}{entry} is deleted")


def _tasks() -> list[Task]:
    """Return all tasks, ready to compute with. Raises ClickException for a wrong table."""
    jit.compile_all()
    with reported(TableError):
        return list(all_tasks().values())
