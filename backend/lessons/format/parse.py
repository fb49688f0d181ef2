"""Read a lesson's file: its head, its steps and their directives. Everything wrong in it is found at once, by line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from markdown_it.token import Token

from backend.errors import Message, message
from backend.lessons.format.directives import block_of, read
from backend.lessons.format.markdown import Text
from backend.lessons.lesson import Block, Broken, Lesson, Problem, Prose, Question, Step, minutes_of
from backend.lessons.values import Budget, LessonError, mistake
from backend.lessons.views import view_of

MOST_BYTES = 128 * 1024
MOST_HEAD = 2000  # characters
LONGEST_PARAGRAPH = 6000  # characters of lines without an empty one between
MOST_BLOCKS = 400
MOST_PROBLEMS = 50
NAME = re.compile(r"(\d{1,3})-([a-z0-9]+(?:-[a-z0-9]+)*)\.md")
ANCHOR = re.compile(r"\s*\{#([^}]*)\}\s*$")
ANCHOR_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


def _text_of(most: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and 0 < len(value.strip()) <= most


FIELDS: dict[str, tuple[Callable[[Any], bool], Message]] = {
    "title": (_text_of(120), message("lessons.wanted_title", "a text of at most 120 characters")),
    "minutes": (
        lambda value: value is None or (type(value) is int and 1 <= value <= 120),
        message("lessons.wanted_minutes", "a whole number from 1 to 120"),
    ),
    "picture": (
        lambda value: value is None or isinstance(value, str),
        message("lessons.wanted_picture", "a view, such as ?family=gpipe&p=4"),
    ),
    "summary": (_text_of(300), message("lessons.wanted_summary", "a sentence of at most 300 characters")),
}
"""Each field of a head: whether a value is legal, and what is. Without minutes they are estimated."""
PAGE_IDS = frozenset(
    (
        *("lesson", "lesson-steps", "lesson-view", "lesson-figures", "lesson-next", "lesson-back", "lesson-list"),
        *("lesson-caption", "lesson-print", "lesson-sliders", "lesson-open", "lesson-words", "lesson-answers"),
        *("lesson-reset", "lesson-end", "lesson-score", "lesson-on", "title-end"),
        *("area", "at", "banner", "card", "embed-foot", "find", "find-status", "find-text", "followed", "legend"),
        *("legend-row", "minimap", "narration", "narration-bar", "narration-more", "narration-panel", "plot"),
        *("plot-said", "schedule-table", "scrub", "speed", "stage", "strips", "tell", "tools", "transport", "theme"),
        *("appearance", "start", "top", "main"),
    )
)
"""Ids of the lesson's page, which no step can have."""


class SafeHead(yaml.SafeLoader):  # type: ignore[misc]  # has no types
    """Reads a file's head: plain values only. An alias, with which a short head grows to gigabytes, is refused."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse aliases."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not allowed", problem_mark=self.peek_event().start_mark)
        return super().compose_node(parent, index)


def place_of(file: str) -> tuple[int, str]:
    """Return (place in the list, name in addresses) of a lesson's file, "en/02-gpipe.md"."""
    name = NAME.fullmatch(PurePosixPath(file).name)
    return (int(name[1]), name[2]) if name else (999, PurePosixPath(file).stem)


def lesson_of(source: bytes, file: str, language: str, pictures: Path | None = None) -> Lesson | Broken:
    """Read a lesson, or find what is wrong in its file; never raises. ``file`` is its path, "en/02-gpipe.md",
    ``pictures`` the folder of the pictures that it may show.
    """
    number, slug = place_of(file)
    found = _File(file)
    if NAME.fullmatch(PurePosixPath(file).name) is None:
        found.report(
            1, message("lessons.file_name", "a lesson's file is named like 02-gpipe.md: a number and small letters")
        )
    lesson = None
    try:
        lesson = _Reader(found, pictures).read(_decoded(source), slug, number, language)
    except LessonError as error:
        found.report(error.line or 1, error.cause)
    except RecursionError:
        found.report(1, message("lessons.too_deep", "this file is nested too deeply"))
    if lesson is None or found.problems:
        return Broken(slug, number, language, file, tuple(sorted(found.problems, key=lambda each: each.line)))
    return lesson


def _decoded(source: bytes) -> str:
    if len(source) > MOST_BYTES:
        raise mistake("lessons.file_too_large", "a lesson has at most {most} kilobytes", most=MOST_BYTES // 1024)
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        raise mistake("lessons.not_utf8", "this file is not UTF-8 text", line=line) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    length = 0
    for number, written in enumerate(text.split("\n"), start=1):
        length = length + len(written) + 1 if written.strip() else 0
        if length > LONGEST_PARAGRAPH:  # some texts take time with the square of their length
            raise mistake(
                "lessons.paragraph_too_long",
                "a paragraph has at most {most} characters",
                line=number,
                most=LONGEST_PARAGRAPH,
            )
    return text


class _File:
    """What is wrong in one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def report(self, line: int, cause: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(self.file, line, cause))


class _Reader:
    """Reads one file from its first line to its last."""

    def __init__(self, found: _File, pictures: Path | None) -> None:
        self.found = found
        self.text = Text(Budget(), found.report, pictures)
        self.steps: list[Step] = []
        self.blocks: list[Block] = []
        self.loose: list[Token] = []  # tokens of prose that are not rendered yet
        self.anchor, self.title, self.line = "start", "", 1
        self.questions = self.count = 0

    def read(self, source: str, slug: str, number: int, language: str) -> Lesson:
        tokens = self.text.parse(source, 1)
        head = self._head(tokens[0] if tokens and tokens[0].type == "front_matter" else None)
        self.title, lines = head["title"], source.split("\n")
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type == "heading_open" and token.level == 0:
                at = self._heading(tokens, at)
            elif token.type == "colon_fence":
                self._directive(token, lines)
                at += 1
            else:
                if token.type.startswith("math_block"):
                    self.text._check_formula(token, (token.map or [0])[0] + 1)
                if token.type != "front_matter":
                    self.loose.append(token)
                at += 1
        self._end_step()
        if not self.found.problems and not any(step.scenes for step in self.steps):
            self.found.report(1, message("lessons.no_scene", "a lesson has at least one scene"))
        minutes = head["minutes"] or minutes_of(self.steps)
        scenes = [scene.query for step in self.steps for scene in step.scenes]
        picture = self._picture(head["picture"]) or next(iter(scenes), "")
        return Lesson(
            slug, number, language, self.found.file, head["title"], minutes, head["summary"], picture, tuple(self.steps)
        )

    def _picture(self, query: str | None) -> str:
        try:
            if query:
                view_of(query, self.text.budget)
        except LessonError as error:
            self.found.report(2, error.cause)
            return ""
        return query or ""

    def _head(self, token: Token | None) -> dict[str, Any]:
        """Return the head's fields; a missing one is reported and replaced."""
        stand_in = {"title": "?", "minutes": 1, "summary": "?", "picture": None}
        if token is None:
            self.found.report(
                1, message("lessons.no_head", "a lesson begins with --- and {fields}", fields=list(FIELDS))
            )
            return stand_in
        try:
            if len(token.content) > MOST_HEAD:
                raise yaml.YAMLError(f"more than {MOST_HEAD} characters")
            data = yaml.load(token.content, SafeHead)  # a loader of plain values
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            cause = getattr(error, "problem", None) or str(error)
            self.found.report(
                2 + (mark.line if mark else 0),
                message("lessons.bad_head", "the head cannot be read: {cause}", cause=str(cause)[:120]),
            )
            return stand_in
        return stand_in | self._fields(data if isinstance(data, dict) else {})

    def _fields(self, data: dict[Any, Any]) -> dict[str, Any]:
        """Return the legal ones of the head's fields; the others are reported."""
        for key in (key for key in data if key not in FIELDS):
            why = message(
                "lessons.unknown_field", "the head has no {given}; it has {names}",
                given=str(key)[:40], names=list(FIELDS),
            )  # fmt: skip
            self.found.report(2, why)
        good: dict[str, Any] = {}
        for key, (legal, wanted) in FIELDS.items():
            value = data.get(key)
            if legal(value):
                good[key] = value.strip() if isinstance(value, str) else value
            else:
                why = message("lessons.bad_field", "the head needs {field}: {wanted}", field=key, wanted=wanted)
                self.found.report(2, why)
        return good

    def _heading(self, tokens: list[Token], at: int) -> int:
        """Begin a step at a heading of level 2; leave others in the prose. Returns the index of what follows."""
        opened, inline = tokens[at], tokens[at + 1]
        line = (opened.map or [0])[0] + 1
        end = at + 3  # open, inline, close
        if opened.tag == "h1":
            self.found.report(line, message("lessons.no_h1", "the title is in the head; steps begin with ##"))
        if opened.tag != "h2":
            self.loose += tokens[at:end]
            return end
        self._end_step()
        source = inline.content
        named = ANCHOR.search(source)
        anchor = named[1] if named else f"step-{len(self.steps)}"
        used = {step.anchor for step in self.steps}
        if not ANCHOR_NAME.fullmatch(anchor) or anchor in PAGE_IDS:
            why = message(
                "lessons.bad_anchor",
                "{given} cannot name a step; take small letters, such as {example}",
                given=anchor[:40],
                example="{#fill}",
            )
            self.found.report(line, why)
        elif anchor in used:
            self.found.report(line, message("lessons.anchor_twice", "{given} names two steps", given=anchor))
        self.anchor, self.line = anchor, line
        self.title = self.text.plain(ANCHOR.sub("", source), line)
        return end

    def _directive(self, token: Token, lines: list[str]) -> None:
        self._end_prose()
        first, end = token.map or [0, 0]
        inner = next((at for at in range(first + 1, end) if lines[at].startswith(f"{token.markup}{{")), None)
        self.count += 1
        try:
            if self.count > MOST_BLOCKS:
                raise mistake("lessons.too_many_blocks", "a lesson has at most {most} directives", most=MOST_BLOCKS)
            if inner is not None:
                raise mistake(
                    "lessons.not_closed_before",
                    "this directive is not closed by a line with {mark} before the next one, in line {line_of_next}",
                    mark=token.markup,
                    line_of_next=inner + 1,
                )
            if set(lines[end - 1].strip()) != {":"} or end - first < 2:
                raise mistake("lessons.not_closed", "this directive is not closed by a line with :::")
            block = block_of(read(token.info, token.content, first + 1), self.text, self.questions + 1)
        except LessonError as error:
            self.found.report(error.line or first + 1, error.cause)
        else:
            self.questions += isinstance(block, Question)
            self.blocks.append(block)

    def _end_prose(self) -> None:
        html = self.text.html_of(self.loose).strip() if self.loose else ""
        if html:
            self.blocks.append(Prose(html))
        self.loose = []

    def _end_step(self) -> None:
        self._end_prose()
        if self.steps or self.blocks or self.anchor != "start":
            self.steps.append(Step(self.anchor, self.title, tuple(self.blocks)))
        elif not self.steps:
            self.steps.append(Step("start", self.title, ()))
        self.blocks = []
