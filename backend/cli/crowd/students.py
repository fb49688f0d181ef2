"""Simulated students: they follow or roam, report how far they are, and answer questions as a class might."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any
from urllib.parse import parse_qs

from backend.cli.crowd.line import Crowd
from backend.cli.crowd.pages import Opened, Page
from backend.errors import RequestError
from backend.schedule.errors import OrderError
from backend.schedule.order.order_codec import pack
from backend.schedule.partial_order.recognition import named_orders
from backend.tasks.grade import grade
from backend.tasks.reference import reference
from backend.tasks.task import task_of, tasks

REST_S = 1.0  # until a page reports what it shows
WORK_S, ROAM_S, BACK_S = (10.0, 45.0), (4.0, 15.0), (0.5, 3.0)  # between two of a student: least and most
FAMILIES = ("gpipe", "1f1b", "interleaved", "zb-h1", "v-half")
STATES = ("working", "working", "stuck", "wrong", "done")
SEES_A_WAIT = 0.7  # the share of those who look for a place on the timeline and take a wait
SHARES = (0.42, 0.27, 0.17, 0.14)  # of a class that choose the most popular answer, the next, ...


def plausible(question: dict[str, Any], random: Random) -> str:
    """Return an answer that a student might give."""
    return ANSWERS[question["kind"]](question, random)


def _predict(question: dict[str, Any], random: Random) -> str:
    centre = 27.0 if question["unit"] == "%" else 20.0
    value = max(0.0, random.gauss(centre, centre / 4))
    return str(round(value)) if random.random() < 0.7 else f"{value:.1f}"


def _choose(question: dict[str, Any], random: Random) -> str:
    options = list(range(len(question["options"])))
    Random(question["number"]).shuffle(options)
    weights = [SHARES[min(k, len(SHARES) - 1)] for k in range(len(options))]
    return str(random.choices(options, weights)[0])


def _order(question: dict[str, Any], random: Random) -> str:
    """Forwards first, by rank and micro-batch, with some neighbours exchanged."""
    ops = sorted(question["ops"], key=lambda op: ("F" not in op, op))
    for _ in range(random.choice((0, 0, 1, 1, 2, 4))):
        k = random.randrange(len(ops) - 1)
        ops[k : k + 2] = ops[k + 1], ops[k]
    return " ".join(ops)


def _find(question: dict[str, Any], random: Random) -> str:
    asked = parse_qs(question["query"].removeprefix("?"))
    p, m = (_number(asked.get(key), usual) for key, usual in (("p", 4), ("m", 8)))
    if (
        random.random() < SEES_A_WAIT
    ):  # of the last rank, of the first one, of one between: before or after its forwards
        waits = ((p - 1, (p - 1) / 2), (0, p + 1.5), (p // 2, p / 4))
        rank, time = random.choices(waits, SHARES[: len(waits)])[0]
        return f"{rank}@{time + random.choice((-0.25, 0, 0.25)):g}"
    return f"{random.randrange(p)}{random.choice('FB')}{random.randrange(m)}"


def _number(given: list[str] | None, usual: int) -> int:
    text = given[0] if given else ""
    return max(1, min(int(text), 64)) if text.isascii() and text.isdigit() else usual


def _build(question: dict[str, Any], random: Random) -> str:
    return random.choice(_built(question["task"]))


@cache
def _built(slug: str) -> tuple[str, ...]:
    """Return packed orders that a task takes: that of its par, and those of families."""
    task = task_of(slug)
    orders = [pack(reference(task).par.order())]
    for named in named_orders(task.position):
        packed = pack(task.position.with_rows(named.rows).order())
        try:
            grade(task, packed, None)
        except (RequestError, OrderError):  # one that is over its memory limit, or has other ops
            continue
        orders.append(packed)
    return tuple(orders)


ANSWERS: dict[str, Callable[[dict[str, Any], Random], str]] = {
    "predict": _predict,
    "choose": _choose,
    "order": _order,
    "find": _find,
    "build": _build,
}


@dataclass
class Habits:
    """How a student behaves: within which time it answers, and whether it looks around where it may."""

    random: Random
    within: float  # s
    roams: bool
    items: list[str] = field(default_factory=list)  # that it has worked at


class Student(Page):
    """A student. `took` has the ms until the answer to each (question, round) was acknowledged."""

    def __init__(self, crowd: Crowd, opened: Opened, cookie: str, habits: Habits) -> None:
        self.took: dict[tuple[int, int], float] = {}
        self._crowd, self._habits = crowd, habits
        self._asked: set[tuple[int, int]] = set()
        self._changed = 0.0  # when what it shows has changed
        self._reporting = False  # it waits until what it shows rests
        super().__init__(opened, cookie)
        crowd.add(self)
        self.enter()
        self._later(WORK_S, self._work)
        self._later(ROAM_S, self._roam)

    def told(self, changed: frozenset[str]) -> None:
        """Look at the question, and follow the scene."""
        question = self.state.get("question")
        if "state" in changed and question and question["open"]:
            asked = question["number"], question["round"]
            if asked not in self._asked:
                self._asked.add(asked)
                seconds = self._habits.within * self._habits.random.betavariate(2, 3)
                self._crowd.later(seconds, lambda: self._answer(asked))
        if "scene" in changed and not self._on_its_own():
            self._changed = time.monotonic()
            if not self._reporting:
                self._reporting = True
                self._crowd.later(REST_S, self._report)

    def come_back(self) -> None:
        """Connect again a little later, and try until it works."""
        self.inside = False
        if not self.over:
            self._later(BACK_S, self._connect_again)

    def _connect_again(self) -> None:
        try:
            self.open_again()
        except OSError:
            self.come_back()
            return
        self._crowd.add(self)
        self.enter()

    def _answer(self, asked: tuple[int, int]) -> None:
        question = self.state.get("question")
        if question is None or not question["open"] or (question["number"], question["round"]) != asked:
            return
        if not self.inside:
            self._later(BACK_S, lambda: self._answer(asked))
            return
        begun = time.monotonic()

        def answered(answer: dict[str, Any]) -> None:
            if "error" not in answer:
                self.took[asked] = (time.monotonic() - begun) * 1000
            elif answer["error"].get("field") != "question":  # else it was closed meanwhile
                self.faults.append(f"an answer was refused: {answer['error']}")

        value = plausible(question, self._habits.random)
        payload = {"code": self.code, "question": asked[0], "round": asked[1], "answer": value}
        self.emit("class_answer", payload, answered)

    def _report(self) -> None:
        """Report the scene once it rests, as the page does."""
        rest = self._changed + REST_S - time.monotonic()
        if rest > 0:
            self._crowd.later(rest, self._report)
            return
        self._reporting = False
        self._send(view={"page": self.scene[0], "query": self.scene[1]})

    def _work(self) -> None:
        """Report the state of an item: of one that it works at, or of a new one."""
        random, items = self._habits.random, self._habits.items
        if not items or random.random() < 0.4:
            items.append(
                random.choice([f"build/{slug}" for slug in list(tasks())[:6]] + ["learn/1f1b/1", "learn/1f1b/2"])
            )
        self._send(item=items[-1], state=random.choice(STATES))
        self._later(WORK_S, self._work)

    def _roam(self) -> None:
        if self._on_its_own():
            random = self._habits.random
            query = f"?family={random.choice(FAMILIES)}&p=4&m={random.choice((4, 8, 12, 16))}&at={random.randrange(30)}"
            self._send(view={"page": "/", "query": query})
        self._later(ROAM_S, self._roam)

    def _on_its_own(self) -> bool:
        return self._habits.roams and not self.state.get("follow")

    def _send(self, **payload: Any) -> None:
        if self.inside and not self.over and (payload.get("view") or {"page": "/"})["page"]:
            self.lead("class_work", **payload)

    def _later(self, between: tuple[float, float], task: Callable[[], None]) -> None:
        self._crowd.later(self._habits.random.uniform(*between), task)
