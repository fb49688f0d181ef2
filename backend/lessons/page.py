"""Lessons as HTML: the list, and a lesson. Readable without a script, and printed as a handout."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import segno
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from backend.charts.previews import svg
from backend.charts.previews.card import TimedPlan
from backend.config import PROJECT
from backend.lessons.lesson import Broken, Lesson
from backend.lessons.page_sources import tr
from backend.lessons.questions.grade import shown_answer
from backend.lessons.values import Budget, measured
from backend.lessons.views import view_of

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
    made.globals["code_of"] = lambda address: Markup(code_of(address))
    made.globals["stretched"] = lambda query, caption: Markup(
        picture(query, caption).replace("<svg ", '<svg preserveAspectRatio="none" ', 1)  # as tall as its place
    )
    made.globals["thumbnail"] = lambda query: Markup(thumbnail(query))
    made.globals["goals_json"] = lambda question: json.dumps([asdict(goal) for goal in question.goals])
    made.globals["ranks_of"] = lambda query: [spec.p for spec in view_of(query, Budget())]
    made.globals["answer_of"] = shown_answer
    made.filters["as_html"] = Markup
    return made


@lru_cache(maxsize=256)
def picture(query: str, caption: str) -> str:
    """Draw a view's schedules on one axis of time, for print, for readers without scripts and for files. ``caption`` is
    the alternative text. The colours are classes of the page's style sheet, so that they follow the theme.
    """
    found = [measured(spec, Budget()) for spec in view_of(query, Budget())]
    plans = [TimedPlan(each.spec, each.timeline, each.figures.global_bubble.of_total) for each in found]
    return svg.picture(plans, caption)


@lru_cache(maxsize=256)
def thumbnail(query: str) -> str:
    """Draw the last schedule of a view for the list of lessons."""
    found = measured(view_of(query, Budget())[-1], Budget())
    return svg.thumbnail(TimedPlan(found.spec, found.timeline, found.figures.global_bubble.of_total))


@lru_cache(maxsize=64)
def code_of(address: str) -> str:
    """Return an address as a QR code, an SVG element, for paper."""
    code = segno.make(address, error="m", micro=False)
    return code.svg_inline(scale=4, border=2, omitsize=True, svgclass="qr", lineclass=None)


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
