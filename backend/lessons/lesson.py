"""What a lesson consists of: steps, each with blocks of prose, views, questions and links.

HTML in these records is made by markdown.py, which escapes everything that a file contains.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from backend.lessons.task_link import TaskLink

LANGUAGES = ("en", "zh")


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
    """A chart of the Charts tab: its name and its query, with its "?"."""

    chart: str
    query: str
    html: str
    caption: str
    kind: str = "figure"


@dataclass(frozen=True)
class Option:
    """An option of a choice; ``reason`` tells a reader who chose it why it is right or wrong, if the file has one."""

    html: str
    reason: str


@dataclass(frozen=True)
class Question:
    """A question; ``kind`` is predict, choose or order, ``number`` counts from 1 in the lesson. ``place`` is where the
    answer is on the timeline: a view's query, with its "?", which may select an op; "" if it is nowhere.

    predict: ``answer`` in the unit of the engine (a share for "%"), ``shown`` as readers read it, ``tolerance`` in the
    same unit, ``others`` values that wrong answers are recognized by, with their names. choose: ``options`` and
    ``right``, the index of the right one. order: ``ops`` in their right order and ``shuffled``, as shown at first.
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


Block = Prose | Scene | Figure | Question | Link | Note | Source


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
    minutes: int
    summary: str
    steps: tuple[Step, ...] = field(default=())

    @property
    def questions(self) -> list[Question]:
        """Return all questions, in order."""
        return [block for step in self.steps for block in step.blocks if isinstance(block, Question)]


@dataclass(frozen=True)
class Broken:
    """A file that is no lesson yet: the list shows it with its problems, and every other lesson as usual."""

    slug: str
    number: int
    language: str
    file: str
    problems: tuple[Problem, ...]
