"""The command `class-demo`: a server with a class full of simulated students, to be led by whoever has started it."""

from __future__ import annotations

import math
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import cast

import click

from backend.cli.crowd.line import PATIENCE_S, Crowd
from backend.cli.crowd.pages import RefusedError, join_class, open_class
from backend.cli.crowd.students import Habits, Student
from backend.config import PACKAGE, PROJECT, program, variable

NAMES = ("Ada", "Alan", "Barbara", "Claude", "Donald", "Edsger", "Emmy", "Frances", "Grace", "Hedy", "Joan", "John",
         "Kathleen", "Leslie", "Margaret", "Niklaus", "Radia", "Shafi", "Sophie", "Tim")  # fmt: skip
UNNAMED, ROAMING = 9, 12  # one of so many gives no name, or roams
KEPT = ("runner", "engine", "ray_address", "lessons")  # settings that the server takes over
SPARE_FILES = 128
STOP_S = 15.0


@dataclass(frozen=True)
class Server:
    """The server of the demonstration."""

    process: subprocess.Popen[str]
    url: str


@click.command("class-demo")
@click.option("--students", type=click.IntRange(1, 5000), default=300, show_default=True, help="simulated students")
@click.option("--seconds", type=click.FloatRange(min=0), help="end by itself after so long; else at Ctrl-C")
@click.option("--within", type=click.FloatRange(min=0), default=15.0, show_default=True,
              help="seconds within which they answer a question")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="port to listen on; any free one unless given")
def class_demo(students: int, seconds: float | None, within: float, port: int) -> None:
    """Show a full class: a server of its own, a class, and simulated students who follow you.

    Open the leader's link that it prints. The students follow what you show, answer what you ask, report their work,
    and a few look around where they may. At the end it prints how many entered and answered, and how fast your scenes
    reached them. Nothing is kept.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_files(students), resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    crowd = Crowd(closed=lambda line: cast(Student, line).come_back())
    joined: list[Student] = []
    ended = False
    try:
        with _server(students, port) as own:
            _join(crowd, own, students, within, joined)
            crowd.read(
                math.inf if seconds is None else seconds,
                lambda: own.process.poll() is not None or all(student.over for student in joined),
            )
            ended = own.process.poll() is not None
    except KeyboardInterrupt:
        click.echo("")
    except (RefusedError, OSError) as error:
        raise click.ClickException(str(error)) from None
    if ended:
        click.echo("The server has ended.", err=True)
    for line in figures(joined, students):
        click.echo(line)
    sys.exit(1 if ended or len(joined) < students else 0)


def _join(crowd: Crowd, own: Server, students: int, within: float, joined: list[Student]) -> None:
    """Open a class and have students enter it."""
    opened = open_class(own.url, "A class to try")
    click.echo(f"Leader:   {opened.lead}\nStudents: {opened.join}")
    random = Random(1)
    cookies = join_class(opened, [_name(k, random) for k in range(students)])
    for k, cookie in enumerate(cookies):
        joined.append(Student(crowd, opened, cookie, Habits(Random(k), within, k % ROAMING == 1)))
    if not crowd.read(PATIENCE_S, lambda: all(student.inside for student in joined)):
        raise RefusedError(next((each for student in joined for each in student.faults), "not all students got in"))
    click.echo(f"{students} simulated students are in the class. Open the leader's link; Ctrl-C ends it.")


def _name(k: int, random: Random) -> str:
    return "" if k % UNNAMED == UNNAMED - 1 else f"{random.choice(NAMES)} {k + 1}"


def figures(students: Sequence[Student], expected: int) -> Iterator[str]:
    """Yield what is to be printed at the end."""
    yield f"{'students who entered':<40} {sum(student.entered > 0 for student in students)} of {expected}"
    answered: dict[tuple[int, int], list[float]] = {}
    for student in students:
        for asked, took in student.took.items():
            answered.setdefault(asked, []).append(took)
    for (number, round_), times in sorted(answered.items()):
        name = f"question {number}{f', round {round_}' if round_ > 1 else ''}: answered"
        yield f"{name:<40} {len(times)}, kept after {_quantile(times, 0.5):.0f} ms, p99 {_quantile(times, 0.99):.0f}"
    late = [[(came - sent) / 1e6 for came, sent in student.seen()] for student in students]
    every = [each for mine in late for each in mine]
    if every:
        worst = max(_quantile(mine, 0.99) for mine in late if mine)
        yield (f"{'a scene from the server to a student':<40} p50 {_quantile(every, 0.5):.1f} ms, "
               f"p99 {_quantile(every, 0.99):.1f}, of the worst student {worst:.1f}")  # fmt: skip
        yield f"{'scenes that a student was sent':<40} {_quantile([len(mine) for mine in late], 0.5):.0f}"
    again = sum(student.entered - 1 for student in students if student.entered)
    if again:
        yield f"{'connections that were lost and came back':<40} {again}"
    for fault, count in Counter(fault for student in students for fault in student.faults).most_common(5):
        yield f"{count} times: {fault}"


def _quantile(values: Sequence[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


@contextmanager
def _server(students: int, port: int) -> Iterator[Server]:
    """Start a server, and stop it at the end; its data are in a temporary folder."""
    with (
        tempfile.TemporaryDirectory(prefix="bubbleline-class-") as folder,
        _started(Path(folder), students, port) as own,
    ):
        yield own


@contextmanager
def _started(folder: Path, students: int, port: int) -> Iterator[Server]:
    settings = {
        "database": folder / "bubbleline.sqlite3", "data_folder": folder, "class_members": students + 1000,
        "sockets": students + 1000, "connections": students + 2000, "client_rate": max(400, 2 * students),
    }  # fmt: skip
    kept = [variable(name) for name in KEPT]
    environ = {name: text for name, text in os.environ.items() if name in kept or not name.startswith(variable(""))}
    process = subprocess.Popen(
        program(f"{PACKAGE}app", "serve", "--port", str(port)), cwd=PROJECT, text=True, stdout=subprocess.PIPE,
        env=environ | {variable(name): str(value) for name, value in settings.items()},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        found = re.search(r"http://[^\s/]+", process.stdout.readline())
        if found is None:
            raise RefusedError("the server did not start")
        yield Server(process, found[0])
    finally:
        process.terminate()
        try:
            process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _files(students: int) -> int:
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = students + SPARE_FILES
    return limit if limit < 0 or limit >= wanted else wanted if most < 0 else min(most, wanted)
