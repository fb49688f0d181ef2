"""Measure a class: one server on one core, and this second process with its leader and its students over loopback.

    python bench/classroom.py [--students 300] [--stalled 20] [--seconds 30] [--rate 20]
    python bench/classroom.py --students 1000 --processes 2
    python bench/classroom.py --browsers

With `--processes` the server is that many processes around a Redis, on all cores, which they share with this one.

The leader drags a slider: its page sends `rate` states a second. Every student is a WebSocket that has joined over
HTTP; a third of them drag their own too, and report what they look at once a second. Some do not read until it is over.
For every scene that a student is sent: the time from the leader's sending to its arrival, this process's own delays
included. Then all answer a question within 2 s, some twice, and some lose their connection before it is acknowledged
and answer again. Other programs lengthen everything; how long the server waited for its core is printed.
Exit code 1 where a student does not end at the last scene, or an answer is not counted once, 0 otherwise, however slow.
Needs Linux (affinity, /proc).
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import os
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from backend.cli.crowd.line import Crowd
from backend.cli.crowd.pages import Opened, Page, join_class, open_class, request
from bench.crowd.watched import Cost, Server, server, servers

LATE_MS = 150.0
STALLED_MB = 0.1  # of the server's memory for each student that does not read
ANSWER_S, REPORT_S = 2.0, 1.0
TWICE, RETURNING = 10, 10  # one of so many answers twice; as many lose their connection before the acknowledgement
SEGMENT, RECEIVE = 1400, 4096  # bytes: of a real network, where a student does not read
PATIENCE_S = 30.0
COSTS = "1,1.05,1.1,1.2,0.95,1,1.15,1.3,1,1.05,1.1,1.2,0.95,1,1.15,1.3,1,1.05,1.1,1.2,0.95,1,1.15,1.3"


@dataclass
class Answering:
    """What the students have answered, and in how many ms each was acknowledged; by their place among the students."""

    begun: int = 0
    expected: dict[int, str] = field(default_factory=dict)
    sent: dict[int, int] = field(default_factory=dict)
    took: dict[int, float] = field(default_factory=dict)
    last: int = 0
    faults: list[str] = field(default_factory=list)


def query(k: int, sent: int) -> str:
    """The query of a page of which a slider moves, of 100 to 300 characters."""
    costs = COSTS[: 20 + 7 * (k % 20)].rstrip(",.")
    return (
        f"?sent={sent}&family=interleaved-zb&p=8&m=32&v=2&at={k * 0.37:.2f}&F={costs}&W=0.9&comm={k % 9 / 100}&tab=view"
    )


class Leader:
    """The leader's page, which sends scenes at a steady pace."""

    def __init__(self, crowd: Crowd, opened: Opened) -> None:
        self.page = Page(opened, opened.cookie, "leader")
        self.sent = 0  # scenes
        self.last = 0  # when the last one was sent
        self.late: list[float] = []  # ms
        self._crowd = crowd
        crowd.add(self.page)
        self.page.enter()

    def drag(self, rate: float, seconds: float) -> None:
        """Send scenes from now on."""
        begun = time.monotonic()
        for k in range(round(rate * seconds)):
            self._crowd.later(k / rate, partial(self._show, begun + k / rate))

    def _show(self, due: float) -> None:
        self.late.append((time.monotonic() - due) * 1000)
        self.last = time.monotonic_ns()
        scene = {"page": "/", "query": query(self.sent, self.last), "place": ""}
        self.page.emit("class_scene", {"code": self.page.code, "scene": scene})
        self.sent += 1


def report_views(crowd: Crowd, students: Sequence[Page], seconds: float) -> None:
    """Have students report what they look at, once a second, none at the same time."""
    for k, student in enumerate(students):
        for turn in range(int(seconds / REPORT_S)):
            view = {"page": "/", "query": query(turn + k, 0)}
            crowd.later((turn + k / len(students)) * REPORT_S, partial(student.lead, "class_work", view=view))


def answer_all(crowd: Crowd, leader: Leader, students: Sequence[Page]) -> Answering:
    """Ask a question and have all answer it; returns when all are acknowledged, or the patience is over."""
    asked: list[Any] = []
    question = {"kind": "predict", "text": "How much of the step is idle?", "unit": "%", "right": 27, "tolerance": 3}
    leader.page.emit("class_ask", {"code": leader.page.code, "question": question}, asked.append)
    crowd.read(PATIENCE_S, lambda: bool(asked) and all(_question(each) for each in students))
    done, random = Answering(begun=time.monotonic_ns()), Random(1)
    for k, student in enumerate(students):
        at = random.random() * ANSWER_S
        done.expected[k] = str(random.randrange(5, 60))
        if k % TWICE == 1:  # another answer just before: the last one counts
            crowd.later(at, partial(_answer, done, k, student, str(random.randrange(60, 90))))
        crowd.later(at, partial(_answer, done, k, student, done.expected[k]))
        if k % TWICE == 2:  # the same once more
            crowd.later(at + 0.01, partial(_answer, done, k, student, done.expected[k]))
        if k % RETURNING == 3:
            crowd.later(at, partial(_come_back, crowd, done, k, student))
    crowd.read(ANSWER_S + PATIENCE_S, lambda: len(done.took) == len(students))
    return done


def _question(student: Page) -> bool:
    return bool(student.state.get("question"))


def _answer(done: Answering, k: int, student: Page, value: str) -> None:
    done.sent[k] = time.monotonic_ns()
    asked = student.state["question"]
    payload = {"code": student.code, "question": asked["number"], "round": asked["round"], "answer": value}
    student.emit("class_answer", payload, partial(_acknowledged, done, k))


def _acknowledged(done: Answering, k: int, answer: dict[str, Any]) -> None:
    if "error" in answer:
        done.faults.append(f"an answer was refused: {answer['error']}")
        return
    done.last = time.monotonic_ns()
    done.took[k] = (done.last - done.sent[k]) / 1e6


def _come_back(crowd: Crowd, done: Answering, k: int, student: Page) -> None:
    """Cut the connection just after the answer, come back, and answer again, as a page does without acknowledgement."""
    crowd.leave(student)
    student.open_again()
    crowd.add(student)
    student.enter()
    _answer(done, k, student, done.expected[k])


def check_answers(leader: Leader, opened: Opened, done: Answering) -> list[str]:
    """Compare tally and file with the answers."""
    count = len(done.expected)
    faults = [*done.faults[:3]]
    if len(done.took) < count:
        faults.append(f"{count - len(done.took)} answers were not acknowledged")
    tally = leader.page.room.get("tally") or {"answered": 0, "counts": []}
    values = list(done.expected.values())
    if tally["answered"] != count or dict(tally["counts"]) != {each: values.count(each) for each in values}:
        faults.append(f"the tally has {tally['answered']} answers of {count}, or other ones")
    text, _ = request(opened.url, "GET", f"/api/classes/{opened.code}/answers.csv", cookie=opened.cookie)
    rows = list(csv.DictReader(io.StringIO(text.decode("utf-8-sig"))))
    if len(rows) != count or {int(row["name"].split()[1]): row["answer"] for row in rows} != done.expected:
        faults.append(f"the file has {len(rows)} answers of {count}, or other ones")
    return faults


def verdict(value: float, most: float) -> str:
    return "" if value <= most else f"  over {most:.0f}"


def latencies(page: Page) -> np.ndarray:
    """The ms from the sending of each scene to its arrival."""
    times = np.array(page.arrivals, np.int64).reshape(-1, 2)
    return (times[:, 0] - times[:, 1]) / 1e6


def report_scenes(leader: Leader, students: Sequence[Page], seconds: float) -> list[str]:
    """Print how late and how many scenes arrived; return the students that have not the last one."""
    each = [latencies(student) for student in students]
    found = np.concatenate(each)
    p50, p99 = np.percentile(found, (50, 99)) if len(found) else (np.inf, np.inf)
    worst = max(float(np.percentile(mine, 99)) if len(mine) else np.inf for mine in each)
    print(f"{'a scene from the leader to a student, p50':<44} {p50:7.1f} ms")
    print(f"{'  p99':<44} {p99:7.1f} ms, of the worst student {worst:.1f}{verdict(p99, LATE_MS)}")
    late = f"p99 {np.percentile(leader.late, 99):.1f}"
    print(f"{'  the leader late with a scene (not counted)':<44} {np.median(leader.late):7.1f} ms, {late}")
    counts = sorted(len(mine) for mine in each)
    print(f"{'scenes that a student was sent':<44} {np.median(counts):7.0f} of {leader.sent}, fewest {counts[0]}")
    print(f"{'messages to students':<44} {len(found) / seconds:7.0f} per second")
    return [
        f"a student ended before the last scene: {student.scene}" for student in students if not _last(student, leader)
    ]


def _last(student: Page, leader: Leader) -> bool:
    return bool(student.arrivals) and student.arrivals[-1] == leader.last


def report_answers(done: Answering) -> None:
    took = np.array(list(done.took.values()) or [np.inf])
    p50, p99 = np.percentile(took, (50, 99))
    count, all_ms = len(done.took), (done.last - done.begun) / 1e6
    print(f"{f'{count} answers within {ANSWER_S:g} s, acknowledged, p50':<44} {p50:7.1f} ms, p99 {p99:.1f}, slowest "
          f"{took.max():.1f}; all after {all_ms:.0f}")  # fmt: skip


def report_costs(costs: dict[str, Cost], stalled: int) -> None:
    dragged = costs["dragged"]
    busy, system, waited = dragged.since(costs["entered"])
    other = f"another program had the core {waited:.0%} of the time"
    print(
        f"{'server while the leader drags, of one core':<44} {busy:7.0%}, {system:.0%} in the system's calls; {other}"
    )
    busy, _, waited = costs["answered"].since(costs["read at last"])
    print(f"{'server while all answer':<44} {busy:7.0%}, other programs {waited:.0%}")
    steps = ", ".join(f"{cost.resident:.0f} {name}" for name, cost in costs.items())
    print(f"{'server, resident, MB':<44} {steps}")
    grown = dragged.resident - costs["entered"].resident
    bound = STALLED_MB * stalled + 8  # the rest: what a server keeps for scenes, views and messages once
    print(f"{'  grown while some do not read':<44} {grown:7.1f} MB, "
          f"{'bounded' if grown <= bound else f'over {bound:.0f}'}")  # fmt: skip
    print(
        f"{'socket buffers of the machine':<44} {costs['idle'].buffers:7.0f} MB before, {dragged.buffers:.0f} at most"
    )


def enter(crowd: Crowd, students: Sequence[Page]) -> float:
    """Have students enter; returns the seconds until all are in."""
    begun = time.monotonic()
    for student in students:
        crowd.add(student)
        student.enter()
    crowd.read(PATIENCE_S, lambda: all(student.inside for student in students))
    return time.monotonic() - begun


def drive(served: Server, given: argparse.Namespace) -> int:
    served.settle()
    costs = {"idle": served.cost()}
    crowd, opened = Crowd(), open_class(served.url, "A class to measure")
    begun = time.monotonic()
    cookies = join_class(opened, [f"Student {k}" for k in range(given.students + given.stalled)])
    joined = time.monotonic() - begun
    students = [Page(opened, cookie) for cookie in cookies[: given.students]]
    entered = enter(crowd, students)
    stalled = [Page(opened, each, receive_buffer=RECEIVE, segment=SEGMENT) for each in cookies[given.students :]]
    for student in stalled:
        student.enter()
    leader = Leader(crowd, opened)
    crowd.read(2.0)
    print(f"connections by process: {served.connections()}")
    print(f"{given.students} students, {given.stalled} more that do not read; joined within {joined:.1f} s, all in the "
          f"class after {entered:.1f} s more; {given.rate:g} scenes a second for {given.seconds:g} s\n")  # fmt: skip
    costs["entered"] = served.cost()
    mine = time.process_time()
    leader.drag(given.rate, given.seconds)
    report_views(crowd, students[: given.students // 3], given.seconds)
    crowd.read(given.seconds)
    costs["dragged"], mine = served.cost(), time.process_time() - mine
    crowd.read(PATIENCE_S, lambda: all(_last(student, leader) for student in students))
    faults = report_scenes(leader, students, given.seconds)
    freed = let_read(crowd, stalled, leader, faults)  # soon: the server closes pages that answer no ping
    costs["read at last"] = served.cost()
    done = answer_all(crowd, leader, students)
    costs["answered"] = served.cost()
    crowd.read(2.0)
    report_answers(done)
    faults += follow_in_browsers(crowd, opened) if given.browsers else []
    report_costs(costs, given.stalled)
    print(f"{'stalled students, once they read: newest scene':<44} {freed:4.0f} ms")
    print(f"{'this process, of one core':<44} {mine / (costs['dragged'].at - costs['entered'].at):7.0%}")
    faults += check_answers(leader, opened, done)
    faults += [fault for page in [leader.page, *students, *stalled] for fault in page.faults[:1]]
    if crowd.hung_up:
        faults.append(f"the server hung up on {crowd.hung_up} pages")
    print("\n" + ("\n".join(faults[:10]) or "Everybody has the last scene, and every answer counts once."))
    return 1 if faults else 0


def follow_in_browsers(crowd: Crowd, opened: Opened) -> list[str]:
    """Have a leader and two students in Chromium beside all others, and print how soon they show the same."""
    from bench.browser.in_class import STUDENTS, follow  # needs Playwright

    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(follow, opened)
        crowd.read(math.inf, following.done)
        took, faults = following.result()
    name = f"{STUDENTS} students in Chromium show the leader's view"
    if took:
        print(
            f"{name:<44} {np.median(took):5.0f} ms after the slider was let go, slowest of {len(took)} {max(took):.0f}"
        )
    return faults


def let_read(crowd: Crowd, stalled: Sequence[Page], leader: Leader, faults: list[str]) -> float:
    """Have the stalled students read; returns the ms until they have the newest scene."""
    begun = time.monotonic()
    for student in stalled:
        crowd.add(student)
    if not crowd.read(PATIENCE_S, lambda: all(_last(student, leader) for student in stalled)):
        faults.append("a student that did not read has not got the newest scene")
    seen = sorted(len(student.arrivals) // 2 for student in stalled)
    if seen:
        print(f"{'scenes that a stalled student was sent':<44} {seen[len(seen) // 2]:7.0f} of {leader.sent}")
    return (time.monotonic() - begun) * 1000


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--students", type=int, default=300)
    options.add_argument("--stalled", type=int, default=20)
    options.add_argument("--rate", type=float, default=20.0, help="scenes a second")
    options.add_argument("--seconds", type=float, default=30.0, help="under 40: then who does not read counts as gone")
    options.add_argument("--processes", type=int, default=1, help="that serve the page")
    options.add_argument("--browsers", action="store_true", help="a leader and two students in Chromium too")
    given = options.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    cores = sorted(os.sched_getaffinity(0))
    own, others = cores[0], cores[1:] or cores
    one = given.processes == 1
    if one:
        os.sched_setaffinity(0, set(others))
    runner = [
        sys.executable, str(Path(__file__).with_name("crowd") / "steady.py"), "--rate", "1000",
        "--seconds", "1", "--lead", "0", "--cores", ",".join(map(str, others)),
    ]  # fmt: skip
    # The defaults are for a class of 300 behind one address; all of these students are behind one.
    limits = {"BUBBLELINE_CLIENT_RATE": str(max(400, 2 * given.students))}
    with (
        tempfile.TemporaryDirectory() as folder,
        server(Path(folder), own, runner, **limits)
        if one
        else servers(Path(folder), given.processes, runner, **limits) as served,
    ):
        return drive(served, given)


if __name__ == "__main__":
    sys.exit(main())
