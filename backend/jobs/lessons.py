"""Lessons for the routes: the list, a lesson's page, its data, and whether an answer is right."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

from backend.errors import RequestError, message
from backend.jobs.encoding import Encoded, encode_json
from backend.lessons.grade import grade, shown_answer
from backend.lessons.lesson import Broken, Lesson, Question
from backend.lessons.page import Assets, render
from backend.lessons.page_sources import html_of
from backend.lessons.shelf import shelf_of

HTML = "text/html"
MOST_TRIES = 100


def list_page(own: Path | None, language: str, notes: bool, assets: Assets) -> Encoded:
    """Return the page with all lessons; files with mistakes, with these, are for who reads the notes as well."""
    entries = [entry for entry in shelf_of(own).entries(language) if notes or isinstance(entry, Lesson)]
    return _html("learn.html", language, entries=entries, notes=notes, assets=assets)


def lesson_page(own: Path | None, slug: str, language: str, notes: bool, assets: Assets) -> Encoded:
    """Return a lesson's page. Raises RequestError where there is no such lesson."""
    shelf = shelf_of(own)
    lesson = shelf.lesson(slug, language)
    before, after = shelf.neighbours(slug, language)
    return _html("lesson.html", language, lesson=lesson, before=before, after=after, notes=notes, assets=assets)


def lesson_list(own: Path | None, language: str) -> Encoded:
    """Return the list as JSON; a file with mistakes has ``problems``."""
    return encode_json({"lessons": [_entry(entry) for entry in shelf_of(own).entries(language)]})


def lesson_data(own: Path | None, slug: str, language: str) -> Encoded:
    """Return a lesson as JSON, without the answers of its questions. Raises RequestError."""
    lesson = shelf_of(own).lesson(slug, language)
    return encode_json(
        _entry(lesson)
        | {
            "language": lesson.language,
            "parts": [
                {
                    "anchor": step.anchor,
                    "title": step.title,
                    "scenes": [{"query": scene.query, "caption": scene.caption} for scene in step.scenes],
                    "questions": [each.number for each in step.blocks if isinstance(each, Question)],
                }
                for step in lesson.steps
            ],
        }
    )


def graded(own: Path | None, slug: str, language: str, number: int, given: str, tries: int) -> Encoded:
    """Grade an answer. A wrong one gets its reason; from the second on, as a right one, also the explanation.

    Raises RequestError where there is no such question.
    """
    lesson = shelf_of(own).lesson(slug, language)
    question = next((each for each in lesson.questions if each.number == number), None)
    if question is None:
        most = len(lesson.questions)
        why = message("lessons.no_such_question", "this lesson has questions 1 to {most}", most=most)
        raise RequestError("question", number, why, limit=most, nearest=max(1, min(number, most)))
    verdict = grade(question, given)
    answer: dict[str, Any] = {
        "right": verdict.right,
        "reason": html_of(verdict.reason, language),
        "counted": verdict.counted,
    }
    if verdict.right or (tries >= 2 and verdict.counted):
        found_by_reader = verdict.right and question.kind == "reach"  # its own sizes stay on the timeline
        answer |= {"explanation": question.explanation, "place": None if found_by_reader else question.place or None}
        answer["answer"] = shown_answer(question)
        answer["spot"] = question.spots[0].text() if question.spots else None
        answer["option"] = question.right if question.kind == "choose" else None
    return encode_json(answer)


def _entry(entry: Lesson | Broken) -> dict[str, Any]:
    shape: dict[str, Any] = {"slug": entry.slug, "number": entry.number, "file": entry.file}
    if isinstance(entry, Broken):
        problems = [{"file": each.file, "line": each.line, "cause": each.cause} for each in entry.problems]
        return shape | {"problems": problems}
    return shape | {
        "title": entry.title,
        "minutes": entry.minutes,
        "summary": entry.summary,
        "steps": len(entry.steps),
        "questions": len(entry.questions),
    }


def _html(template: str, language: str, **values: Any) -> Encoded:
    return Encoded.of(zlib.compress(render(template, language, **values).encode(), 6), HTML)
