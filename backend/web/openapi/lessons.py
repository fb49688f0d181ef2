"""The operations of lessons: pages, data, and the check of an answer."""

from __future__ import annotations

from backend.jobs.class_size import MOST, USUAL
from backend.jobs.encoding import JSON
from backend.jobs.lessons import HTML, MOST_TRIES
from backend.lessons.lesson import LANGUAGES
from backend.web.openapi.operation import Answer, Operation, Parameter, answer
from backend.web.openapi.schema import COUNT, Fields, array, choice, maybe, nullable, record, ref, text, whole
from backend.web.routes.lessons import LONGEST_ANSWER, LONGEST_NAME, MOST_QUESTIONS

TAG = "lessons"
LANGUAGE = choice(LANGUAGES, LANGUAGES[0])
LANG = Parameter("lang", LANGUAGE, "else the language that Accept-Language prefers")
NOTES = Parameter("notes", choice(("0", "1"), "0"), "for the speaker: notes, and the mistakes of files")
SLUG = {"slug": text("^[^/]+$")}
ENTRY: Fields = {"slug": str, "number": COUNT, "file": str}
FACTS: Fields = {"title": str, "minutes": COUNT, "summary": str, "steps": COUNT, "questions": COUNT}
PROBLEM = record(file=str, line=COUNT, cause=ref("Text"))
LISTED = record(**ENTRY, **{key: maybe(each) for key, each in FACTS.items()}, problems=maybe(array(PROBLEM)))
SCENE = record(query=str, caption=str, play=bool)
PART = record(anchor=str, title=str, scenes=array(SCENE), questions=array(COUNT))
LESSON = record(**ENTRY, **FACTS, language=choice(LANGUAGES), parts=array(PART))
GRADED = record(
    right=bool,
    reason=str,
    explanation=maybe(str),
    place=maybe(nullable(str)),
    answer=maybe(str),
    option=maybe(nullable(COUNT)),
    spot=maybe(nullable(str)),
)
CHECKED = record(
    problems=array(record(line=COUNT, cause=ref("Text"))),
    **{key: maybe(each) for key, each in {**ENTRY, **FACTS}.items()},
    scenes=maybe(array(record(query=str, caption=str, picture=str))),
)
NO_LESSON = {404: Answer("There is no such lesson.", {HTML: {}, JSON: ref("Error")})}
NO_PICTURE = {404: Answer("There is no such picture.", {HTML: {}, JSON: ref("Error")})}
ANSWERS = "a number, the index of an option, ops in order, sizes such as m=28, or an op or a wait such as 2@7.5"

OPERATIONS: dict[str, Operation] = {
    "lessons.show_list": Operation(TAG, answer("The page.", kind=HTML), (LANG, NOTES), refusals=(304,), strict=False),
    "lessons.show_lesson": Operation(
        TAG,
        answer("The page.", kind=HTML) | NO_LESSON,
        (LANG, NOTES, Parameter("key", choice(("0", "1"), "0"))),
        path=SLUG,
        refusals=(304,),
        strict=False,
    ),
    "lessons.show_picture": Operation(
        TAG,
        answer("The picture.", kind="image/png") | NO_PICTURE,
        path={"name": text("^[^/]+$")},
        refusals=(304,),
        strict=False,
    ),
    "lessons.show_teach": Operation(
        TAG,
        answer("The page.", kind=HTML),
        (LANG, Parameter("class", whole(1, MOST, USUAL), "students behind one address, else the default")),
        refusals=(304,),
        strict=False,
    ),
    "lessons.show_presenter": Operation(
        TAG,
        answer("The page.", kind=HTML) | NO_LESSON,
        (LANG, Parameter("deck", text(), "the slug of a lesson, else the gallery")),
        refusals=(304,),
        strict=False,
    ),
    "lessons.check_file": Operation(
        TAG,
        answer("The mistakes, or what the file has.", CHECKED),
        body=record(name=text(most=LONGEST_NAME), text=str, lang=maybe(LANGUAGE)),
        refusals=(429, 503),
        more="`scenes` have the pictures of the first ones as SVG.",
    ),
    "lessons.list_lessons": Operation(
        TAG, answer("The lessons.", record(lessons=array(LISTED))), (LANG,), refusals=(304,), strict=False
    ),
    "lessons.describe_lesson": Operation(
        TAG, answer("The lesson.", LESSON), (LANG,), path=SLUG, refusals=(304, 404), strict=False
    ),
    "lessons.show_key": Operation(
        TAG, answer("The key.", record(sealed=str)), (LANG,), path=SLUG, refusals=(304, 404), strict=False
    ),
    "lessons.grade_answer": Operation(
        TAG,
        answer("The verdict.", GRADED),
        (
            Parameter("question", whole(1, MOST_QUESTIONS, 1)),
            Parameter("answer", text(most=LONGEST_ANSWER), ANSWERS),
            Parameter("try", whole(1, MOST_TRIES, 1), "how many answers this is; from 2 on with the explanation"),
            Parameter("lang", LANGUAGE),
        ),
        path=SLUG,
        refusals=(304, 404),
    ),
}
