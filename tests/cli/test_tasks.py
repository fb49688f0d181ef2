"""`python app.py tasks`: lists and checks tasks, and deletes entries of boards."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from app import cli
from backend.cli.tasks import problems
from backend.jobs.tasks import show_task
from backend.schedule.partial_order.position import Position
from backend.schedule.partial_order.score import Score
from backend.tasks.histogram import bins_of
from backend.tasks.store import BoardStore, Entry
from backend.tasks.task import tasks
from tests.support.node import answers, needs_node

KEY = "ab" * 12


def test_every_task_is_right_and_listed():
    checked = CliRunner().invoke(cli, ["tasks", "check"])
    assert (checked.exit_code, checked.output) == (
        0,
        f"{len(tasks())} tasks: every start can be played, its hints lead to every goal\n",
    )
    listed = CliRunner().invoke(cli, ["tasks", "list"]).output
    assert all(slug in listed for slug in tasks())
    assert "par 18 (1f1b), peak 3, bound 18" in listed


@needs_node
def test_the_pages_hints_lead_to_the_goals_of_every_task_also_after_wrong_moves():
    shown = [json.loads(zlib.decompress(show_task(slug).deflated)) for slug in tasks()]
    missed = dict(zip(tasks(), answers("follow_hints", shown), strict=True))
    assert {slug: why for slug, why in missed.items() if why} == {}


def test_a_wrong_task_is_named_with_what_is_wrong():
    task = tasks()["gpipe-from-nothing"]
    cramped = replace(task, position=replace(task.position, memory=1.0))
    assert any("its hints end after 2 ops" in problem for problem in problems(cramped))
    assert any("its hints lead to no answer" in problem for problem in problems(cramped))
    wrong = Position.from_json(task.position.to_json() | {"rows": ["0B0", ""]})
    assert any("its start cannot be played" in problem for problem in problems(replace(task, position=wrong)))
    assert any("its hints miss the goal" in each for each in problems(replace(task, goals=("unrecognised",))))


def test_an_entry_or_its_name_is_deleted_from_the_servers_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, position = tmp_path / "runs.sqlite3", tasks()["memory-two"].position
    monkeypatch.setenv("BUBBLELINE_DATABASE", str(path))
    store, found = BoardStore(path, 10), Score(30.0, 0.4, 2.0, 24, 13)
    store.submit("memory-two", Entry(KEY, "lAB", "rude", found, 1, 0.0), bins_of(position, found))

    def forget(*arguments: str) -> int:
        return CliRunner().invoke(cli, ["tasks", "forget", *arguments]).exit_code

    assert forget("memory-two", KEY, "--name") == 0
    assert store.board("memory-two", 5).best[0].name is None
    assert forget("memory-two", KEY) == 0
    assert store.board("memory-two", 5).kept == 0
    assert forget("memory-two", KEY) == 1
    assert forget("no-such-task", KEY) == 1
    store.close()
