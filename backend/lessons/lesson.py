"""What a lesson consists of: steps, each with blocks of prose, views, questions and links.

HTML in these records is made by markdown.py, which escapes everything that a file contains.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backend.lessons.questions.goals import Goal
from backend.lessons.questions.spots import Spot
from backend.lessons.task_link import TaskLink

LANGUAGES = ("en", "zh")
KINDS = ("predict", "choose", "order", "reach", "find")
ON_TIMELINE = ("reach", "find")  # kinds that are answered on the timeline


@dataclass(frozen=True)
class Problem:
    """What is wrong in a file: where, and why. ``file`` is relative to the folder of lessons."""

    file: str
    line: int
    cause: str  # a Message where it comes from bubbleline itself

    def text(self) -> str:
        """Return it as compilers write it: file, line, cause."""
        return f"{self.file}:{self.line}: {self.cause}"


@dataclass(frozen=True)
class Prose:
    """Paragraphs, lists, tables and formulas."""

    html: str
    kind: str = "prose"


@dataclass(frozen=True)
class Scene:
    """A view of the timeline, as a query with its "?"; ``kind`` is compare if it has several schedules.

    ``play``: the playhead sweeps once when a reader reaches the scene. ``caption`` is the alternative text of the
    picture, ``html`` the same caption with its formatting.
    """

    query: str
    html: str
    caption: str
    play: bool = False
    kind: str = "scene"


@dataclass(frozen=True)
class Figure:
    """A chart of the Charts tab: its name and its query, with its "?"; ``only`` its own schedules, without the others
    that the tab adds.
    """

    chart: str
    query: str
    html: str
    caption: str
    only: bool = False
    kind: str = "figure"


@dataclass(frozen=True)
class Option:
    """An option of a choice; ``reason`` tells a reader who chose it why it is right or wrong, if the file has one."""

    html: str
    reason: str


@dataclass(frozen=True)
class Question:
    """A question; ``kind`` is one of KINDS, ``number`` counts from 1 in the lesson. ``place`` is where the answer is on
    the timeline: a view's query, with its "?", which may select an op; "" if it is nowhere.

    predict: ``answer`` in the unit of the engine (a share for "%"), ``shown`` as readers read it, ``tolerance`` in the
    same unit, ``others`` values that wrong answers are recognized by, with their names. choose: ``options`` and
    ``right``, the index of the right one. order: ``ops`` in their right order and ``shuffled``, as shown at first.
    reach and find are answered on the timeline, which begins with ``view``: with sliders, until all ``goals`` are met,
    as ``sizes`` meet them; or by a choice of one of the ``spots``.
    """

    kind: str
    number: int
    line: int
    html: str
    hint: str
    explanation: str
    place: str = ""
    answer: float = 0.0
    shown: str = ""
    unit: str = ""
    tolerance: float = 0.0
    others: tuple[tuple[str, float], ...] = ()
    options: tuple[Option, ...] = ()
    right: int = -1
    ops: tuple[str, ...] = ()
    shuffled: tuple[str, ...] = ()
    view: str = ""
    goals: tuple[Goal, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    spots: tuple[Spot, ...] = ()


@dataclass(frozen=True)
class Link:
    """A way out of the lesson: ``kind`` is build (a ``task`` of the workbench) or run (a view with the Run tab)."""

    kind: str
    href: str
    html: str
    task: TaskLink | None = None


@dataclass(frozen=True)
class Note:
    """A speaker's note."""

    html: str
    kind: str = "note"


@dataclass(frozen=True)
class Source:
    """A paper: its citation, the address of its DOI ("" if it has none), and the section."""

    citation: str
    href: str
    html: str
    kind: str = "source"


@dataclass(frozen=True)
class Recap:
    """What a reader knows at the end of the lesson."""

    html: str
    kind: str = "recap"


Block = Prose | Scene | Figure | Question | Link | Note | Source | Recap


@dataclass(frozen=True)
class Step:
    """A part of a lesson under one heading; the first has the lesson's title and no heading of its own."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]

    @property
    def slides(self) -> list[Scene | Figure | Question]:
        """Return what presenting shows one by one, in order."""
        return [block for block in self.blocks if isinstance(block, Scene | Figure | Question)]

    @property
    def notes(self) -> list[Note]:
        """Return the speaker's notes."""
        return [block for block in self.blocks if isinstance(block, Note)]

    @property
    def scenes(self) -> list[Scene]:
        """Return the step's views, in order."""
        return [block for block in self.blocks if isinstance(block, Scene)]


@dataclass(frozen=True)
class Lesson:
    """A lesson in one language; ``number`` orders the list."""

    slug: str
    number: int
    language: str
    file: str
    title: str
    minutes: int  # to read it and to answer its questions
    summary: str
    picture: str  # the view that the list shows of it
    steps: tuple[Step, ...] = field(default=())

    @property
    def questions(self) -> list[Question]:
        """Return all questions, in order."""
        return [block for step in self.steps for block in step.blocks if isinstance(block, Question)]

    @property
    def recap(self) -> Recap | None:
        """Return what a reader knows at the end."""
        return next((block for step in self.steps for block in step.blocks if isinstance(block, Recap)), None)


WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")
TAG = re.compile(r"<[^>]*>")
WORDS_A_MINUTE, SIGNS_A_MINUTE = 180, 320  # of a text that is studied: words, Chinese characters
ANSWER_MINUTES = {"predict": 0.7, "choose": 0.5, "order": 1.2, "reach": 1.0, "find": 0.7}
VIEW_MINUTES = 0.25  # of a scene or chart


def minutes_of(steps: Sequence[Step]) -> int:
    """Estimate the minutes that a reader needs for the texts, the views and the questions of a lesson."""
    minutes = 0.0
    for block in (block for step in steps for block in step.blocks if not isinstance(block, Note | Source)):
        texts = [block.html]
        if isinstance(block, Question):
            texts += [block.explanation, *(option.html for option in block.options)]
            minutes += ANSWER_MINUTES[block.kind]
        minutes += VIEW_MINUTES * isinstance(block, Scene | Figure)
        words = [word for text in texts for word in WORD.findall(TAG.sub(" ", text))]
        signs = sum(word >= "\u3400" for word in words)
        minutes += signs / SIGNS_A_MINUTE + (len(words) - signs) / WORDS_A_MINUTE
    return max(1, round(minutes))


@dataclass(frozen=True)
class Broken:
    """A file that is no lesson yet: the list shows it with its problems, and every other lesson as usual."""

    slug: str
    number: int
    language: str
    file: str
    problems: tuple[Problem, ...]
