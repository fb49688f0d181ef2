"""The built-in lessons: both languages have the same steps, views, questions and answers; what every lesson contains;
and no answer is given before its question.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from backend.lessons.lesson import ON_TIMELINE, Figure, Lesson, Link, Question, Scene
from backend.lessons.shelf import OWN, Shelf, read
from backend.lessons.values import Budget, compute
from backend.lessons.views import view_of
from backend.schedule.spec import Spec
from tests.support.sources import report

DIRECTIVE = re.compile(r"^:::\{([a-z]+)\}[ \t]*(.*)\n((?:.*\n)*?):::$", re.MULTILINE)
OPTION = re.compile(r"^:([a-z]+):[ \t]*(.*)$", re.MULTILINE)
CHOICE = re.compile(r"^- \[ \] (.*?)(?: :: (.*))?$", re.MULTILINE)
HEADING = re.compile(r"^## .*\{#([a-z0-9-]+)\}$", re.MULTILINE)
VALUE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
OWN_WORDS = {"hint", "unit"}  # options that each language writes for itself
NAMES = sorted(path.name for path in (OWN / "en").glob("*.md"))
SEEN = {"bubble", "makespan"}  # quantities that the picture of a scene names: in its title, on its axis
RUNS = {"1f1b", "split-backward", "plan-and-measurement"}  # lessons at whose end a schedule is executed

SIZE = re.compile(r"\bm = \d|\b(?:one|two|three|four|eight|ten|\d+) micro-batch|m doubles|whole batch", re.IGNORECASE)
TO_MOVE = {
    "en": re.compile(r"\b(?:[Mm]ove|[Dd]rag) (?:the )?((?:\w+ slider|[a-z]\b(?: and [^:.,]+)?))"),
    "zh": re.compile(r"(?:拖动\s*|“)([^：，。“”\n]+)(?:：|”的滑块)"),
}
"""What a text tells a reader to move."""


@dataclass(frozen=True)
class Written:
    """A directive as its file has it."""

    name: str
    argument: str
    options: dict[str, str]
    body: str
    start: int
    explained: int
    """Where its explanation begins in the file; its end if it has none."""


@cache
def source(language: str, name: str) -> str:
    return (OWN / language / name).read_text()


@cache
def directives(language: str, name: str) -> tuple[Written, ...]:
    found = []
    for match in DIRECTIVE.finditer(source(language, name)):
        divider = match[3].find("\n---\n")
        explained = match.start(3) + divider if divider >= 0 else match.end()
        found.append(Written(match[1], match[2], dict(OPTION.findall(match[3])), match[3], match.start(), explained))
    return tuple(found)


def outline(language: str, name: str) -> list[tuple[object, ...]]:
    """Everything of a lesson that must not depend on the language, in its order: steps, directives and answers."""
    parts: list[tuple[int, tuple[object, ...]]] = [
        (match.start(), ("step", match[1])) for match in HEADING.finditer(source(language, name))
    ]
    for each in directives(language, name):
        options = {key: value for key, value in each.options.items() if key not in OWN_WORDS}
        percent = each.options.get("unit") == "%"
        choices = [label if label.startswith("`") else "" for label, _ in CHOICE.findall(each.body)]
        parts.append((each.start, (each.name, each.argument, options, percent, choices)))
    return [part for _, part in sorted(parts, key=lambda each: each[0])]


def values(text: str) -> list[str]:
    """The value expressions of a text, without differences in spaces and without their formats."""
    return [normal(found) for found in VALUE.findall(text)]


def normal(expression: str) -> str:
    return re.sub(r"\s*([:;])\s*", r"\1", " ".join(expression.partition("|")[0].split()))


@cache
def lessons() -> dict[str, dict[str, Lesson]]:
    """The lessons by language and file name, as the reader has them; each without a mistake."""
    found: dict[str, dict[str, Lesson]] = {"en": {}, "zh": {}}
    for file in Shelf().files():
        lesson = read(file)
        assert isinstance(lesson, Lesson), [problem.text() for problem in lesson.problems]
        found[file.language][Path(file.name).name] = lesson
    return found


def questions(lesson: Lesson) -> list[Question]:
    return [block for step in lesson.steps for block in step.blocks if isinstance(block, Question)]


def test_there_are_fifteen_lessons_without_a_mistake_in_both_languages():
    assert len(NAMES) == 15
    assert [sorted(found) for found in lessons().values()] == [NAMES, NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_steps_directives_and_answers(name: str):
    assert outline("zh", name) == outline("en", name)


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_computed_figures(name: str):
    assert Counter(values(source("zh", name))) == Counter(values(source("en", name)))


@pytest.mark.parametrize("name", NAMES)
def test_the_reader_computes_the_same_answers_in_both_languages(name: str):
    ours, theirs = (
        [
            (each.kind, each.answer, each.tolerance, each.right, each.ops, len(each.options))
            for each in questions(lesson)
        ]
        for lesson in (lessons()["en"][name], lessons()["zh"][name])
    )
    assert ours == theirs


@pytest.mark.parametrize("name", NAMES)
def test_every_step_has_a_picture(name: str):
    without = [
        step.anchor
        for step in lessons()["en"][name].steps
        if not any(isinstance(block, Scene | Figure) for block in step.blocks)
    ]
    assert not without, f"{name}: give these steps a scene, a comparison or a chart: {without}"


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_takes_a_quarter_of_an_hour_and_asks_five_questions_and_leads_to_a_task(name: str):
    lesson = lessons()["en"][name]
    assert 8 <= lesson.minutes <= 16
    assert abs(lesson.minutes - lessons()["zh"][name].minutes) <= 4, "an estimate for the same lesson"
    assert 5 <= len(lesson.steps) <= 8, "the introduction and four to seven steps"
    assert len(questions(lesson)) >= 5
    links = [block.kind for step in lesson.steps for block in step.blocks if isinstance(block, Link)]
    assert "build" in links
    assert ("run" in links) == (lesson.slug in RUNS)


@pytest.mark.parametrize("name", NAMES)
def test_two_questions_are_answered_on_the_timeline_and_the_end_says_what_one_knows(name: str):
    for found in lessons().values():
        kinds = [each.kind for each in questions(found[name])]
        assert sum(kind in ON_TIMELINE for kind in kinds) >= 2
        recap = found[name].recap
        assert recap is not None
        assert 3 <= recap.html.count("<li>") <= 4


def test_there_are_sixty_questions_of_every_kind():
    kinds = Counter(each.kind for lesson in lessons()["en"].values() for each in questions(lesson))
    assert kinds.total() >= 60
    assert kinds["predict"] >= 20
    assert kinds["choose"] >= 20
    assert kinds["order"] >= 5
    assert kinds["reach"] >= 12
    assert kinds["find"] >= 10
    computed = [
        each
        for name in NAMES
        for each in directives("en", name)
        if each.options.get("answer", "").startswith(("next ", "why-idle "))
    ]
    assert len(computed) >= 12


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_every_question_has_a_hint_and_every_option_a_reason(name: str, language: str):
    asked = [each for each in directives(language, name) if "answer" in each.options]
    assert all(each.options.get("hint") for each in asked)
    bare = [label for each in asked for label, reason in CHOICE.findall(each.body) if not reason]
    assert not bare, f"{language}/{name}: say why these are right or wrong: {bare}"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_no_figure_gives_an_answer_before_its_question(name: str, language: str):
    text, problems = source(language, name), []
    for each in directives(language, name):
        if each.name == "predict" and normal(each.options["answer"]) in values(text[: each.explained]):
            line = text.count("\n", 0, each.start) + 1
            problems.append(f"{language}/{name}:{line}: {each.options['answer']} is given earlier in the text")
    assert not problems, report(problems)


@pytest.mark.parametrize("name", NAMES)
def test_no_scene_shows_the_bubble_or_the_length_of_a_step_before_the_question_for_it(name: str):
    shown: set[Spec] = set()
    problems = []
    blocks = [block for step in lessons()["en"][name].steps for block in step.blocks]
    asked = {each.start: each.options["answer"] for each in directives("en", name) if each.name == "predict"}
    lines = {source("en", name).count("\n", 0, start) + 1: answer for start, answer in asked.items()}
    for block in blocks:
        if isinstance(block, Scene):
            shown.update(view_of(block.query, Budget()))
        elif isinstance(block, Question) and block.view:
            shown.update([*view_of(block.view, Budget()), *view_of(block.place, Budget())])
        elif isinstance(block, Question) and block.place and block.line in lines:
            quantity = lines[block.line].rpartition(":")[2].strip()
            if quantity in SEEN and shown.intersection(view_of(block.place, Budget())):
                problems.append(f"en/{name}:{block.line}: an earlier scene shows {lines[block.line]}")
    assert not problems, report(problems)


@pytest.mark.parametrize("name", NAMES)
def test_a_question_about_another_size_than_the_one_in_view_names_its_size(name: str):
    shown: list[tuple[int, int]] = []
    problems = []
    for step in lessons()["en"][name].steps:
        for block in step.blocks:
            view = block.query if isinstance(block, Scene) else block.view if isinstance(block, Question) else ""
            if view:
                shown = [(spec.p, spec.m) for spec in view_of(view, Budget())]
            elif isinstance(block, Question) and block.place:
                asked = view_of(block.place, Budget())[0]
                named = SIZE.search(re.sub(r"<[^>]+>", "", block.html))
                if (asked.p, asked.m) not in shown and not named:
                    problems.append(f"en/{name}:{block.line}: asks about p={asked.p} m={asked.m}, shown is {shown}")
    assert not problems, report(problems)


@pytest.mark.parametrize("name", NAMES)
def test_a_text_names_no_slider_that_a_lesson_lacks(name: str):
    found = [*TO_MOVE["en"].findall(source("en", name)), *TO_MOVE["zh"].findall(source("zh", name))]
    sizes = {part for text in found for part in re.split(r"\s*(?:,|and|和|、)\s*", text) if part}
    assert sizes <= {"p", "m", "v"}, f"{name}: lessons have sliders of p, m and v only: {sizes}"


@pytest.mark.parametrize("name", NAMES)
def test_a_question_with_sliders_moves_those_that_its_answer_names(name: str):
    for language in ("en", "zh"):
        for each in questions(lessons()[language][name]):
            asked = re.sub(r"<[^>]+>", "", each.html)
            named = {size for text in TO_MOVE[language].findall(asked) for size in text if size in "pmv"}
            assert not each.sizes or named <= set(each.sizes), f"{language}/{name}:{each.line}"


def test_a_figure_before_its_question_would_be_found():
    assert normal(" gpipe  p=4 m=8 : bubble | percent") == normal("gpipe p=4 m=8:bubble")
    assert values("with {{ ratio: a p=1 : peak ; b : peak | x }} of\n{{ gpipe p=4\nm=8 : bubble }}") == [
        "ratio:a p=1:peak;b:peak",
        "gpipe p=4 m=8:bubble",
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_one_option_alone_is_slower_and_holds_more_than_another_schedule_of_the_table(language: str):
    name = "12-choosing.md"
    rows = re.findall(
        r"^\| ([\w-]+)[^|]* \| \{\{(.*?)\}\} \|.*\| \{\{(.*?: peak) \}\} \|", source(language, name), re.M
    )
    held = {title: tuple(compute(each.strip(), Budget()).number for each in values) for title, *values in rows}
    asked = next(each for each in directives(language, name) if "- [ ] DualPipe" in each.body)
    options = [label for label, _ in CHOICE.findall(asked.body)]
    out = [
        number
        for number, label in enumerate(options, 1)
        if any(time < held[label][0] and peak < held[label][1] for time, peak in held.values())
    ]
    assert out == [int(asked.options["answer"])]
