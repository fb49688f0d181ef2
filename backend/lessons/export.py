"""A lesson as one HTML file: it opens from a disk, sends no request, and its own policy forbids any.

Its views are the component <bubble-line>, whose script is inlined once; a view that the component cannot make (a
searched family, an option) is a picture. Answers are in the file, encoded, and the file's own script grades them.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from markupsafe import Markup

from backend import __version__
from backend.address.chart_query import chart_query_of, query_of_view
from backend.charts.catalogue import KINDS
from backend.lessons.format.markdown import PICTURE_KINDS, PICTURES
from backend.lessons.lesson import Figure, Lesson, Question
from backend.lessons.page import render
from backend.lessons.page_sources import template_of, tr
from backend.lessons.questions.goals import QUANTITIES
from backend.lessons.questions.grade import REASONS, shown_answer
from backend.lessons.values import Budget, LessonError, mistake
from backend.lessons.views import view_of
from backend.schedule.spec import Spec

PLAIN = Spec()
SHOWN_PICTURE = re.compile(rf'src="/learn/{PICTURES}/([\w.-]+)"')
COSTS = {"f": "F", "i": "I", "w": "W", "comm": "comm"}
LIVE = (
    *("gpipe", "1f1b", "pipedream", "interleaved", "interleaved-bfs", "interleaved-zb", "zb-h1", "zb-h2"),
    *("v-min", "v-half", "v-zb", "dualpipe", "dualpipev", "gis", "gis-h"),
)
"""The families that the component makes itself."""
UNSAID: dict[str, Any] = {
    "unit": "", "tolerance": 0.0, "place": None, "view": None, "right": -1,
    "others": [], "reasons": [], "ops": [], "goals": [], "sizes": [], "spots": [],
}  # fmt: skip
"""What a file leaves out of a question; grade.ts has the same."""
SIZES = ("family", "p", "m", "v", "group", "lifo", "costs")  # the fields of a spec that it knows


def lesson_file(
    lesson: Lesson, language: str, script: str, style: str, pictures: Path | None = None, **shown: Any
) -> str:
    """Return the file of a lesson; ``script`` and ``style`` are those of the bundle, ``pictures`` is the folder
    of a lecturer's pictures, ``picture`` what shows a view in place of its picture.
    """
    page = render(
        "learn/file.html", language, lesson=lesson, version=__version__, sealed=answer_key(lesson, language),
        live=elements, table=lambda block: chart_table(block, language),
        **inlined(script, style), **shown,
    )  # fmt: skip
    return page if pictures is None else SHOWN_PICTURE.sub(lambda found: _inlined_picture(pictures, found[1]), page)


def answer_key(lesson: Lesson, language: str) -> str:
    """Return what a page without a server grades the answers with, in base64: not to be read by accident."""
    whole = [sealed(question, language) for question in lesson.questions]
    questions = [{key: value for key, value in each.items() if UNSAID.get(key, key) != value} for each in whole]
    answers = {"questions": questions, "reasons": reasons_in(language)}
    return b64encode(json.dumps(answers, separators=(",", ":"), ensure_ascii=False).encode()).decode()


def _inlined_picture(folder: Path, name: str) -> str:
    kind = PICTURE_KINDS[name.rpartition(".")[2]]
    return f'src="data:{kind};base64,{b64encode((folder / name).read_bytes()).decode()}"'


def reasons_in(language: str) -> dict[str, str]:
    """Return the templates of reasons by their codes, and what a list has between its parts."""
    reasons = {code: template_of(text, language) for code, text in REASONS.items()}
    return reasons | {"between": "、" if language == "zh" else ", "}


def elements(query: str) -> list[dict[str, str]] | None:
    """Return the attributes of a <bubble-line> for each schedule of a view; None where it cannot make one of them."""
    plans = view_of(query, Budget())
    made = [_attributes(spec) for spec in plans]
    return [each for each in made if each is not None] if all(made) else None


def _attributes(spec: Spec) -> dict[str, str] | None:
    others = {key for key, value in spec.to_json().items() if key not in SIZES and value != PLAIN.to_json()[key]}
    costs, plain = spec.to_json()["costs"], PLAIN.to_json()["costs"]
    odd = [key for key, value in costs.items() if key not in COSTS.values() and value != plain[key]]
    if spec.family not in LIVE or others or odd or any(isinstance(value, list) for value in costs.values()):
        return None
    found = {"family": spec.family, "p": str(spec.p), "m": str(spec.m)}
    found |= {"v": str(spec.v)} if spec.v > 1 else {}
    found |= {"group": str(spec.group)} if spec.group is not None else {}
    found |= {"lifo": ""} if spec.lifo else {}
    return found | {name: f"{costs[key]:g}" for name, key in COSTS.items() if costs[key] != plain[key]}


def chart_table(block: Figure, language: str) -> dict[str, Any] | None:
    """Return a chart's columns and rows, in a language; None for the frontier, which takes a search."""
    if block.chart not in KINDS:
        return None
    kind = KINDS[block.chart]
    asked = chart_query_of(query_of_view(block.query.removeprefix("?").encode()), kind)
    chart = kind.draw(asked.plans, replace(asked.appearance, only=int(block.only)), asked.setting)
    return {
        "notes": [tr(text, language) for text in chart.notes],
        "columns": [tr(name, language) for name, _ in chart.columns],
        "rows": [[_cell(cell, language) for cell in row.cells] for row in chart.rows],
    }


def _cell(cell: Any, language: str) -> str:
    if isinstance(cell, str):
        return tr(cell, language)
    return f"{cell:.4g}" if isinstance(cell, float) else "" if cell is None else str(cell)


def sealed(question: Question, language: str) -> dict[str, Any]:
    """Return what a script needs to grade an answer (static/js/app/learn/grade.ts); ``place`` is for a file's
    component, ``view`` for the page.
    """
    place = _place(question)
    return {
        "number": question.number, "kind": question.kind, "answer": question.answer, "unit": question.unit,
        "tolerance": question.tolerance, "others": [[tr(name, language), value] for name, value in question.others],
        "reasons": [option.reason for option in question.options], "right": question.right,
        "ops": list(question.ops), "explanation": question.explanation, "place": place, "view": question.place or None,
        "shown": shown_answer(question),
        "goals": [
            asdict(goal) | {"name": tr(QUANTITIES[goal.quantity], language), "percent": goal.quantity == "bubble"}
            for goal in question.goals
        ],
        "sizes": list(question.sizes), "spots": [asdict(spot) for spot in question.spots],
    }  # fmt: skip


def _place(question: Question) -> dict[str, str] | None:
    try:
        found = elements(question.place) if question.place else None
    except LessonError:
        return None
    return found[0] if found else None


def built(path: Path) -> str:
    """Return a file of the bundle. Raises LessonError where it is missing."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        raise mistake("lessons.no_bundle", "the bundle of the page is missing; make it with: make setup") from None


def inlined(script: str, style: str) -> dict[str, str]:
    """Return what a template takes to hold a script and a style that its own policy allows by their digests."""
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    shas = [f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}" for text in (script, style)]
    return {"script": Markup(script), "style": Markup(style), "script_hash": shas[0], "style_hash": shas[1]}
