"""Lessons as HTML: the list, and a lesson. Readable without a script, and printed as a handout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from backend.config import PROJECT
from backend.lessons.lesson import Broken, Lesson
from backend.lessons.page_sources import tr
from backend.lessons.picture import picture

TEMPLATES = PROJECT / "templates"


@dataclass(frozen=True)
class Assets:
    """Addresses of what a page loads."""

    script: str
    style: str
    chunks: tuple[str, ...]
    plotly: str
    charts: str
    version: str


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the templates' environment; every text is escaped unless it is HTML of markdown.py."""
    made = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.globals["picture"] = lambda query, caption: Markup(picture(query, caption))
    made.filters["as_html"] = Markup
    return made


def render(name: str, language: str, **values: Any) -> str:
    """Render a template in a language; ``text(english, chinese)`` is its way to say something."""
    zh = language == "zh"

    def text(english: str, chinese: str) -> str:
        return chinese if zh else english

    values |= {"zh": zh, "language": language, "text": text, "tr": lambda message: tr(message, language)}
    return environment().get_template(name).render(**values, title_of=title_of)


def title_of(lesson: Lesson | Broken) -> str:
    """Return what the list shows for a file."""
    return lesson.title if isinstance(lesson, Lesson) else lesson.file
