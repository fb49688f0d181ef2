"""The operations of lessons: pages, data, and the check of an answer."""

from __future__ import annotations

from typing import Any

from backend.jobs.encoding import JSON
from backend.jobs.lessons import MOST_TRIES
from backend.lessons.lesson import LANGUAGES
from backend.web.openapi.operation import Answer, Operation, Parameter, json_answer
from backend.web.openapi.schema import COUNT, TEXT, TRUTH, array, choice, nullable, record, ref, text, whole
from backend.web.routes.lessons import LONGEST_ANSWER, MOST_QUESTIONS

HTML = "text/html"
LANG = Parameter("lang", choice(LANGUAGES, LANGUAGES[0]), "else the language that Accept-Language prefers")
SLUG: dict[str, Any] = {"slug": {"type": "string", "pattern": "^[^/]+$"}}
ENTRY = {"slug": TEXT, "number": COUNT, "file": TEXT}
FACTS = {"title": TEXT, "minutes": COUNT, "summary": TEXT, "steps": COUNT, "questions": COUNT}
PROBLEM = record({"file": TEXT, "line": COUNT, "cause": ref("Text")})
PART = record(
    {
        "anchor": TEXT,
        "title": TEXT,
        "scenes": array(record({"query": TEXT, "caption": TEXT})),
        "questions": array(COUNT),
    }
)
GRADED = record(
    {"right": TRUTH, "reason": TEXT},
    {"explanation": TEXT, "place": nullable(TEXT), "answer": TEXT, "option": nullable(COUNT)},
)

OPERATIONS: dict[str, Operation] = {
    "lessons.show_list": Operation(
        "lessons", {200: Answer("The page.", {HTML: {}})}, (LANG,), refusals=(304,), strict=False
    ),
    "lessons.show_lesson": Operation(
        "lessons",
        {
            200: Answer("The page.", {HTML: {}}),
            404: Answer("There is no such lesson.", {HTML: {}, JSON: ref("Error")}),
        },
        (LANG, Parameter("notes", choice(("0", "1"), "0"))),
        path=SLUG,
        refusals=(304,),
        strict=False,
    ),
    "lessons.list_lessons": Operation(
        "lessons",
        json_answer("The lessons.", record({"lessons": array(record(ENTRY, FACTS | {"problems": array(PROBLEM)}))})),
        (LANG,),
        refusals=(304,),
        strict=False,
    ),
    "lessons.describe_lesson": Operation(
        "lessons",
        json_answer("The lesson.", record(ENTRY | FACTS | {"language": choice(LANGUAGES), "parts": array(PART)})),
        (LANG,),
        path=SLUG,
        refusals=(304, 404),
        strict=False,
    ),
    "lessons.grade_answer": Operation(
        "lessons",
        json_answer("The verdict.", GRADED),
        (
            Parameter("question", whole(1, MOST_QUESTIONS, 1)),
            Parameter("answer", text(most=LONGEST_ANSWER), "a number, the index of an option, or ops in order"),
            Parameter("try", whole(1, MOST_TRIES, 1), "how many answers this is; from 2 on with the explanation"),
            Parameter("lang", choice(LANGUAGES, LANGUAGES[0])),
        ),
        path=SLUG,
        refusals=(304, 404),
    ),
}
