"""Lessons: their list, each as a page and as data, the check of an answer; and the page for lecturers.

Files are read again when they change, by a worker, because their figures are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flask import (
    Blueprint,
    Response,
    abort,
    jsonify,
    make_response,
    render_template,
    request,
    send_from_directory,
)

from backend import __version__
from backend.address.query import fields_of
from backend.errors import RequestError, message
from backend.jobs import class_size
from backend.jobs import lessons as answers
from backend.jobs.encoding import Encoded
from backend.jobs.strict_json import only
from backend.lessons.format.markdown import PICTURE_KINDS, PICTURES, is_picture
from backend.lessons.lesson import LANGUAGES
from backend.lessons.page import Assets
from backend.lessons.page_sources import tr
from backend.lessons.shelf import BROKEN, GALLERY, shelf_of
from backend.schedule.spec import choice, integer
from backend.web.http.bundle import charts_address, entry, plotly_address, preloads
from backend.web.http.computing import compute
from backend.web.http.request_body import read_object
from backend.web.services import send_cached, services

lessons = Blueprint("lessons", __name__)
MOST_QUESTIONS = 999
PICTURE_AGE = 300  # seconds for which browsers keep a picture
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"  # an SVG may be opened as a page
LONGEST_ANSWER = 400  # characters
LONGEST_NAME = 120  # characters
A_FILE = message("lessons.a_file", "a lesson's file")
NUMBERS = {"question": (1, MOST_QUESTIONS), "try": (1, answers.MOST_TRIES)}


@lessons.get("/learn")
def show_list() -> Response:
    """Return the page with all lessons; ``notes=1`` lists files with mistakes as well."""
    language, notes = _language(), _notes()
    return _send(
        ("list", language, notes), lambda: compute(answers.list_page, _own(), language, notes, _assets(), for_all=True)
    )


@lessons.get("/learn/<slug>")
def show_lesson(slug: str) -> Response:
    """Return a lesson; ``notes=1`` shows the speaker's notes, ``key=1`` the answers at its end."""
    language = _language()
    if _for_reader() and not shelf_of(_own()).has(slug):
        abort(404)  # a page for readers
    address = f"{request.host_url}learn/{quote(slug[:80])}?lang={language}"
    handout = answers.Handout(address, *(request.args.get(key) == "1" for key in ("notes", "key")))
    return _page(
        ("page", slug[:80], language, handout),
        lambda: compute(answers.lesson_page, _own(), slug[:80], language, handout, _assets(), for_all=True),
    )


@lessons.get("/learn/pictures/<name>")
def show_picture(name: str) -> Response:
    """Return a picture of a lecturer's lessons."""
    own, kind = _own(), PICTURE_KINDS.get(name.rpartition(".")[2])
    if own is None or kind is None or not is_picture(own / PICTURES / name):
        abort(404)
    answer = send_from_directory((own / PICTURES).absolute(), name, mimetype=kind, max_age=PICTURE_AGE)
    answer.headers["Content-Security-Policy"] = PICTURE_POLICY
    return answer


@lessons.get("/teach")
def show_teach() -> Response:
    """Return the page for lecturers; ``class`` is the number of students that its limits are computed for."""
    language, asked = _language(), request.args.get("class", "")
    whole = asked.isascii() and asked.isdigit() and len(asked) < 10
    students = min(class_size.MOST, max(1, int(asked))) if whole else class_size.USUAL
    limits = class_size.needs(services().config, students)
    return _send(
        ("teach", language, students, tuple(each.now for each in limits)),  # other processes may have other limits
        lambda: compute(answers.teach_page, _own(), language, students, limits, _assets()),
    )


@lessons.get("/teach/presenter")
def show_presenter() -> Response:
    """Return the presenter's window of a lesson, or of the gallery: notes, answers, next scene, clock."""
    language, deck = _language(), request.args.get("deck", GALLERY.name)[:80] or GALLERY.name
    return _page(
        ("presenter", deck, language), lambda: compute(answers.presenter_page, _own(), deck, language, _assets())
    )


@lessons.post("/api/lessons/check")
def check_file() -> Response:
    """Check a lesson's file, {"name": "20-mine.md", "text": its text}: every mistake by line, or else its steps and
    pictures. Stores nothing.
    """
    body = only(read_object(request), ("name", "text", "lang"), A_FILE)
    name, text = (body.get(key) for key in ("name", "text"))
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        why = message(
            "lessons.check_name", "name must be a file's name of at most {most} characters", most=LONGEST_NAME
        )
        raise RequestError("name", name, why, limit=LONGEST_NAME)
    if not isinstance(text, str):
        raise RequestError("text", text, message("lessons.check_text", "text must be the text of the file"))
    language = choice("lang", body.get("lang", LANGUAGES[0]), LANGUAGES)
    return jsonify(compute(answers.checked, name, text, language, _own()))


@lessons.get("/api/lessons")
def list_lessons() -> Response:
    """Return all lessons with their titles, minutes and numbers of questions; `problems` of files with mistakes."""
    language = _language()
    return _send(("json", language), lambda: compute(answers.lesson_list, _own(), language))


@lessons.get("/api/lessons/<slug>")
def describe_lesson(slug: str) -> Response:
    """Return a lesson's steps with their views, without the answers of its questions."""
    language = _language()
    return _send(("data", slug[:80], language), lambda: compute(answers.lesson_data, _own(), slug[:80], language))


@lessons.get("/api/lessons/<slug>/key")
def show_key(slug: str) -> Response:
    """Return a lesson's answers, in base64: its page grades with them while the server does not answer."""
    language = _language()
    return _send(("key", slug[:80], language), lambda: compute(answers.key, _own(), slug[:80], language))


@lessons.get("/api/lessons/<slug>/answers")
def grade_answer(slug: str) -> Response:
    """Grade an answer to a question. A wrong one gets its reason; a right one, and the second wrong one, the
    explanation.
    """
    data = fields_of(request.query_string, ("question", "answer", "try", "lang"), lambda key, text: text)
    number, tries = (_number(data, key) for key in NUMBERS)
    language = choice("lang", data.get("lang", LANGUAGES[0]), LANGUAGES)
    given = data.get("answer", "")
    if len(given) > LONGEST_ANSWER:
        why = message("lessons.answer_too_long", "an answer has at most {most} characters", most=LONGEST_ANSWER)
        raise RequestError("answer", given, why, limit=LONGEST_ANSWER)
    slug = slug[:80]
    return _send(
        ("answer", slug, language, number, given, min(tries, 2)),
        lambda: compute(answers.graded, _own(), slug, language, number, given, min(tries, 2)),
    )


def _notes() -> bool:
    return request.args.get("notes") == "1"


def _number(data: dict[str, str], key: str) -> int:
    text = data.get(key, "1")
    whole = text.isascii() and text.isdigit() and len(text) < 10
    return integer(key, int(text) if whole else text, *NUMBERS[key])


def _language() -> str:
    """Return the language of the address, else the one that the browser prefers."""
    given = request.args.get("lang", "")
    return given if given in LANGUAGES else request.accept_languages.best_match(LANGUAGES, LANGUAGES[0])


def _own() -> Path | None:
    return services().config.lessons


def _assets() -> Assets:
    chunks = tuple(preloads("learn"))
    return Assets(entry("js", "learn"), entry("css", "learn"), chunks, plotly_address(), charts_address(), __version__)


def _page(key: tuple[Any, ...], make: Callable[[], Encoded]) -> Response:
    """Send a page of a lesson; for readers, where there is none or its file has a mistake, a page that says so."""
    try:
        return _send(key, make)
    except RequestError as error:
        if error.kind != "unknown" or not _for_reader():
            raise
        if getattr(error.message, "code", "") != BROKEN:
            abort(404)
        why = tr(error.message, _language()) if _notes() else ""
        page = render_template("learn/no_lesson.html", why=why, style=entry("css", "main"))
        return make_response(page, 404, {"Vary": "Accept, Accept-Language"})


def _for_reader() -> bool:
    return "text/html" in request.headers.get("Accept", "")


def _send(key: tuple[Any, ...], make: Callable[[], Encoded]) -> Response:
    """Send an answer of the cache as long as no file of a lesson, and no script, has changed."""
    state = shelf_of(_own()).stamp()
    answer = send_cached(("lesson", *key, state, _assets()), make)
    answer.headers["Vary"] = "Accept, Accept-Encoding, Accept-Language"
    return answer
