"""Lessons of the tests."""

from __future__ import annotations

from pathlib import Path

from backend.lessons.format.parse import lesson_of
from backend.lessons.lesson import Broken, Lesson, Problem

SAMPLES = Path(__file__).parent / "samples"
HEAD = "---\ntitle: T\nminutes: 3\nsummary: S\n---\n"


def parsed(source: bytes) -> Lesson | Broken:
    """Read a file's content as en/01-x.md."""
    return lesson_of(source, "en/01-x.md", "en", SAMPLES / "pictures")


def lesson(text: str) -> Lesson:
    """Read a lesson without its head, which must have no mistake."""
    read = parsed((HEAD + text).encode())
    assert isinstance(read, Lesson), read
    return read


def broken(text: str) -> tuple[Problem, ...]:
    """Read a file that has mistakes."""
    read = parsed(text.encode())
    assert isinstance(read, Broken), read
    return read.problems
