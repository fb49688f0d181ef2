"""Lessons for the routes: the list, a lesson's page, its data, and whether an answer is right."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.errors import RequestError, message, with_codes
from backend.jobs.class_size import Need
from backend.jobs.encoding import Encoded, encode_json
from backend.lessons.export import answer_key
from backend.lessons.format.directives import MAKERS, OPTIONS
from backend.lessons.format.markdown import PICTURES
from backend.lessons.format.parse import lesson_of
from backend.lessons.lesson import Broken, Lesson, Question
from backend.lessons.page import Assets, picture, render
from backend.lessons.page_sources import html_of
from backend.lessons.questions.grade import grade, shown_answer
from backend.lessons.shelf import GALLERY, scenes_or_lesson, shelf_of

HTML = "text/html"
MOST_TRIES = 100
MOST_PICTURES = 24  # of a file that is checked


@dataclass(frozen=True)
class Handout:
    """What a lesson's page has for a lecturer: its own address for paper, speaker's notes, the answers at its end."""

    address: str
    notes: bool = False
    key: bool = False


def list_page(own: Path | None, language: str, notes: bool, assets: Assets) -> Encoded:
    """Return the page with all lessons; files with mistakes, with these, are for who reads the notes as well."""
    entries = [entry for entry in shelf_of(own).entries(language) if notes or isinstance(entry, Lesson)]
    return _html("learn/list.html", language, entries=entries, notes=notes, assets=assets)


def lesson_page(own: Path | None, slug: str, language: str, handout: Handout, assets: Assets) -> Encoded:
    """Return a lesson's page. Raises RequestError where there is no such lesson."""
    shelf = shelf_of(own)
    lesson = shelf.lesson(slug, language)
    before, after = shelf.neighbours(slug, language)
    return _html(
        "learn/lesson.html", language, lesson=lesson, before=before, after=after, assets=assets, **vars(handout)
    )


def teach_page(own: Path | None, language: str, students: int, limits: list[Need], assets: Assets) -> Encoded:
    """Return the page for lecturers."""
    lessons = [entry for entry in shelf_of(own).entries(language) if isinstance(entry, Lesson)]
    return _html(
        "learn/teach.html", language, gallery=scenes_or_lesson(own, GALLERY.name, language), lessons=lessons,
        students=students, needs=limits, assets=assets,
        directives={name: OPTIONS.get(name, ()) for name in MAKERS},
    )  # fmt: skip


def presenter_page(own: Path | None, deck: str, language: str, assets: Assets) -> Encoded:
    """Return the presenter's window of a lesson or the gallery. Raises RequestError where there is no such lesson."""
    lesson = scenes_or_lesson(own, deck, language)
    first = next((scene.query for step in lesson.steps for scene in step.scenes), "?")
    audience = f"/{first}&" if deck == GALLERY.name else f"/learn/{lesson.slug}?"
    return _html(
        "learn/presenter.html", language, lesson=lesson, audience=f"{audience}present=1&lang={language}", assets=assets
    )


def checked(name: str, text: str, language: str, own: Path | None = None) -> dict[str, Any]:
    """Return what is wrong in a lesson's file, by line, or else what it has: steps, questions, pictures of its scenes.

    Its own pictures are those of the folder ``own``. Keeps nothing.
    """
    pictures = None if own is None else own / PICTURES
    found = lesson_of(text.encode("utf-8", "surrogatepass"), name, language, pictures)
    if isinstance(found, Broken):
        return {"problems": with_codes([{"line": each.line, "cause": each.cause} for each in found.problems])}
    scenes = [scene for step in found.steps for scene in step.scenes]
    return {
        "problems": [],
        **_entry(found),
        "scenes": [
            {"query": scene.query, "caption": scene.caption, "picture": picture(scene.query, scene.caption)}
            for scene in scenes[:MOST_PICTURES]
        ],
    }


def lesson_list(own: Path | None, language: str) -> Encoded:
    """Return the list as JSON; a file with mistakes has ``problems``."""
    return encode_json({"lessons": [_entry(entry) for entry in shelf_of(own).entries(language)]})


def lesson_data(own: Path | None, slug: str, language: str) -> Encoded:
    """Return a lesson as JSON, without the answers of its questions. Raises RequestError."""
    lesson = scenes_or_lesson(own, slug, language)
    return encode_json(
        _entry(lesson)
        | {
            "language": lesson.language,
            "parts": [
                {
                    "anchor": step.anchor,
                    "title": step.title,
                    "scenes": [
                        {"query": scene.query, "caption": scene.caption, "play": scene.play} for scene in step.scenes
                    ],
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


def key(own: Path | None, slug: str, language: str) -> Encoded:
    """Return a lesson's answer key, with which its page grades while the server does not answer."""
    return encode_json({"sealed": answer_key(shelf_of(own).lesson(slug, language), language)})


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
