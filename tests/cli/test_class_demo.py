"""`python app.py class-demo`: simulated students who enter a class, follow, answer and report, until it is over."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

from backend.classes.questions import read_answer, read_question
from backend.cli.crowd.class_demo import figures
from backend.cli.crowd.line import Crowd
from backend.cli.crowd.pages import Opened, Page, RefusedError, request
from backend.cli.crowd.students import plausible
from backend.config import PROJECT
from backend.tasks.grade import grade
from backend.tasks.task import task_of
from tests.support import PATIENCE_S
from tests.support.servers.server import FAKE_RUNNER

STUDENTS = 5
QUESTIONS: list[dict[str, Any]] = [
    {"kind": "predict", "text": "How much is idle?", "unit": "%"},
    {"kind": "choose", "text": "Which is it?", "options": ["GPipe", "1F1B"]},
    {"kind": "order", "text": "In which order?", "ops": ["0F0", "0F1", "0B0", "0B1"]},
    {"kind": "find", "text": "Where does it wait?", "query": "?p=2&m=4"},
    {"kind": "build", "task": "finish-1f1b"},
]


@contextmanager
def demo(*words: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """The command as a process of its own; it is ended where it has not."""
    command = [sys.executable, "app.py", "class-demo", "--students", str(STUDENTS), "--within", "0.1", *words]
    environ = os.environ | {"BUBBLELINE_RUNNER": " ".join(FAKE_RUNNER)} | settings
    process = subprocess.Popen(command, cwd=PROJECT, env=environ, text=True, stdout=-1, stderr=-1)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=PATIENCE_S)


def led(process: subprocess.Popen[str]) -> Page:
    """The leader's page of a demonstration that has said where it is, once all students are in."""
    assert process.stdout is not None
    link = re.fullmatch(r"Leader: +(http://[^/]+)(/class/(\w+)/lead\?key=\S+)\n", process.stdout.readline())
    assert link
    join = process.stdout.readline().split()[1]
    assert join == f"{link[1]}/class/{link[3]}"
    assert f"{STUDENTS} simulated students are in" in process.stdout.readline()
    _, cookie = request(link[1], "GET", link[2])
    return Page(Opened(link[1], link[3], join, link[1] + link[2], cookie), cookie, "leader")


def test_a_lecturer_has_a_class_that_follows_and_answers_and_the_end_has_its_figures():
    with demo() as process:
        leader, crowd, members = led(process), Crowd(), dict[int, Any]()

        def wait(until: Any) -> None:
            def look() -> bool:
                members.update({each["number"]: each for each in leader.room.get("members", ())})
                return bool(until())

            assert crowd.read(PATIENCE_S, look), leader.faults

        crowd.add(leader)
        leader.enter()
        wait(lambda: len(members) == STUDENTS and all(each["here"] for each in members.values()))
        scene = {"page": "/build", "query": "?task=finish-1f1b", "place": ""}
        leader.lead("class_set", follow=True)
        leader.lead("class_scene", scene=scene)
        shown = {"page": "/build", "query": "?task=finish-1f1b"}
        wait(lambda: [each["view"] for each in members.values()] == [shown] * STUDENTS)
        for number, question in enumerate(QUESTIONS, start=1):
            leader.lead("class_ask", question=question)
            wait(lambda number=number: (tally := leader.room.get("tally"))
                 and (tally["question"], tally["answered"]) == (number, STUDENTS))  # fmt: skip
        assert not leader.faults
        with pytest.raises(RefusedError, match="GET /api/classes/BBBBBB: 404"):
            request(leader.url, "GET", "/api/classes/BBBBBB")
        leader.socket.close()
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
        assert re.search(rf"students who entered +{STUDENTS} of {STUDENTS}\n", printed)
        for number in range(1, len(QUESTIONS) + 1):
            assert re.search(rf"question {number}: answered +{STUDENTS}, kept after \d+ ms", printed)
        assert re.search(r"a scene from the server to a student +p50 [\d.]+ ms, p99", printed)
        assert re.search(r"scenes that a student was sent +1\n", printed)
        assert "times:" not in printed
        with pytest.raises(OSError, match="refused"):
            request(leader.url, "GET", "/")


def test_it_ends_by_itself_and_says_where_the_server_cannot_start():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with demo("--seconds", "0", "--port", str(port)) as process:
        printed, _ = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, printed.count("\n")) == (0, 4)
        assert f"//127.0.0.1:{port}/class/" in printed
    with demo(BUBBLELINE_ENGINE="none") as process:
        assert process.stderr is not None
        assert "the server did not start" in process.stderr.read()
        assert process.wait(timeout=PATIENCE_S) == 1


@pytest.mark.parametrize("question", QUESTIONS, ids=[each["kind"] for each in QUESTIONS])
def test_the_answers_of_simulated_students_are_answers(question: dict[str, Any]):
    asked = read_question(question) | {"number": 1}
    random = Random(7)
    for answer in [plausible(asked, random) for _ in range(40)]:
        if question["kind"] == "build":
            assert grade(task_of(question["task"]), answer, None).score.makespan > 0
        else:
            assert read_answer(asked, answer)


def test_the_figures_of_nobody_are_few():
    assert list(figures([], 3)) == [f"{'students who entered':<40} 0 of 3"]
