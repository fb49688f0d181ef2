"""Directives: ``:::{name} argument``, options as ``:name: value``, a text, and after ``---`` an explanation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from backend.address.chart_query import chart_query_of, query_of_view
from backend.charts.catalogue import KINDS
from backend.errors import RequestError
from backend.lessons.format.markdown import Text
from backend.lessons.lesson import Block, Figure, Link, Note, Option, Question, Recap, Scene, Source
from backend.lessons.page_sources import papers
from backend.lessons.questions.answers import COMPUTED, row_part, shuffled
from backend.lessons.questions.goals import check, goals_of, sizes_of, solved_view
from backend.lessons.questions.grade import number_text
from backend.lessons.questions.spots import spots_of
from backend.lessons.task_link import task_link
from backend.lessons.values import LessonError, compute, mistake
from backend.lessons.views import view_of

HEAD = re.compile(r"\{([a-z-]{1,20})\}[ \t]*(.*)")
OPTION_LINE = re.compile(r":([a-z]{1,20}):[ \t]*(.*)")
CHOICE = re.compile(r"- \[([ x])\] (.*)")
TOLERANCE = 0.01  # of the answer, where a file names none
MOST_OPTIONS = 8
SWEEPS = ("bubble-m", "messages")  # charts of all families, which can be left with those of their view
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+){0,11}")


@dataclass(frozen=True)
class Directive:
    """A directive as it is written. ``line`` is that of its head, ``body_line`` of the text after the options."""

    name: str
    argument: str
    options: Mapping[str, str]
    body: str
    line: int
    body_line: int

    def parts(self) -> tuple[str, str, int]:
        """Return (text before ``---``, text after it, line of the latter)."""
        lines = self.body.split("\n")
        for at, line in enumerate(lines):
            if line.strip() == "---":
                return "\n".join(lines[:at]), "\n".join(lines[at + 1 :]), self.body_line + at + 1
        return self.body, "", self.body_line


def read(info: str, content: str, line: int) -> Directive:
    """Read a directive's head and its options. Raises LessonError."""
    head = HEAD.fullmatch(info.strip())
    if head is None:
        raise mistake(
            "lessons.no_directive", "a directive begins with a name in braces, such as {example}", example=":::{scene}"
        )
    if head[1] not in MAKERS:
        raise mistake(
            "lessons.unknown_directive",
            "there is no directive {given}; there are {names}",
            given=head[1],
            names=list(MAKERS),
        )
    options: dict[str, str] = {}
    lines = content.rstrip("\n").split("\n")
    at = 0
    while at < len(lines) and (found := OPTION_LINE.fullmatch(lines[at].strip())):
        known = OPTIONS.get(head[1], ())
        if found[1] not in known:
            raise mistake(
                "lessons.unknown_option",
                "{directive} has no option {given}; it has {names}",
                line=line + at + 1,
                directive=head[1],
                given=found[1],
                names=list(known) or "none",
            )
        options[found[1]] = found[2].strip()
        at += 1
    return Directive(head[1], head[2].strip(), options, "\n".join(lines[at:]), line, line + at + 1)


def block_of(directive: Directive, text: Text, number: int) -> Block:
    """Make the block of a directive; ``number`` is that of the next question. Raises LessonError."""
    return MAKERS[directive.name](directive, text, number)


def _scene(it: Directive, text: Text, number: int) -> Block:
    plans = view_of(it.argument, text.budget)
    if it.name == "compare" and len(plans) < 2:
        raise mistake("lessons.compare_needs_two", "compare takes two schedules: the second has keys such as b.family")
    kind = "compare" if len(plans) > 1 else "scene"
    return Scene(it.argument, *_caption(it, text), play="play" in it.options, kind=kind)


def _caption(it: Directive, text: Text) -> tuple[str, str]:
    """Return the caption as HTML and as plain text. Raises LessonError for none."""
    if not it.body.strip():
        raise mistake(
            "lessons.no_caption", "{directive} needs a caption, which is its alternative text too", directive=it.name
        )
    return text.html(it.body, it.body_line), text.plain(it.body, it.body_line)


def _figure(it: Directive, text: Text, number: int) -> Block:
    chart, _, query = it.argument.partition(" ")
    if chart not in KINDS and chart != "pareto":
        raise mistake(
            "lessons.no_such_chart",
            "there is no chart {given}; there are {names}",
            given=chart[:40],
            names=[*KINDS, "pareto"],
        )
    query = query.strip()
    view_of(query, text.budget)
    if chart in KINDS:
        try:
            chart_query_of(query_of_view(query.removeprefix("?").encode()), KINDS[chart])
        except RequestError as error:
            raise LessonError(error.message) from None
    if "only" in it.options and chart not in SWEEPS:
        raise mistake("lessons.only_of_curves", "only is an option of {names}", names=list(SWEEPS))
    return Figure(chart, query, *_caption(it, text), only="only" in it.options)


def _question(it: Directive, text: Text, number: int) -> tuple[str, str, str]:
    """Return a question's text, hint and explanation as HTML. Raises LessonError for one that is missing."""
    asked, explained, line = it.parts()
    if not explained.strip():
        raise mistake("lessons.no_explanation", "a question needs an explanation, after a line with ---")
    if not _without_options(asked).strip():
        raise mistake("lessons.no_question", "the question itself is missing")
    if not it.options.get("answer"):
        raise mistake("lessons.no_answer", "a question needs :answer:")
    hint = text.html(it.options["hint"], it.line) if it.options.get("hint") else ""
    return text.html(_without_options(asked), it.body_line), hint, text.html(explained, line)


def _without_options(asked: str) -> str:
    lines = asked.split("\n")
    kept, inside = [], False
    for line in lines:
        inside = bool(CHOICE.match(line)) or (inside and line.startswith("  "))
        kept.append("" if inside else line)
    return "\n".join(kept)


def _predict(it: Directive, text: Text, number: int) -> Block:
    asked, hint, explanation = _question(it, text, number)
    value = compute(it.options["answer"], text.budget)
    unit = it.options.get("unit", "")
    tolerance = TOLERANCE * abs(value.number)
    if "tolerance" in it.options:
        try:
            tolerance = float(it.options["tolerance"])
        except ValueError:
            tolerance = -1.0
        if not 0 <= tolerance < 1e12:
            raise mistake("lessons.bad_tolerance", "tolerance must be a number of 0 or more")
    return Question(
        "predict", number, it.line, asked, hint, explanation, value.query,
        answer=value.number, shown=number_text(value.number, unit), unit=unit, tolerance=tolerance, others=value.others,
    )  # fmt: skip


def _choose(it: Directive, text: Text, number: int) -> Block:
    asked, hint, explanation = _question(it, text, number)
    written = _options(it)
    if not 2 <= len(written) <= MOST_OPTIONS:
        raise mistake(
            "lessons.option_count",
            "choose has 2 to {most} options, each on a line that begins with {mark}",
            most=MOST_OPTIONS,
            mark="- [ ]",
        )
    answer, place = it.options["answer"], ""
    name, _, rest = answer.partition(" ")
    if name in COMPUTED:
        found = COMPUTED[name](rest, text.budget)
        labels = [label.strip().strip("`") for label, _, _ in written]
        if labels.count(found.op) != 1:
            raise mistake(
                "lessons.answer_not_among",
                "the answer is {op}, which {count} of the options name",
                op=found.op,
                count=labels.count(found.op),
            )
        right, place = labels.index(found.op), found.query
    elif answer.isdigit() and len(answer) < 3 and 1 <= int(answer) <= len(written):
        right = int(answer) - 1
    else:
        raise mistake(
            "lessons.bad_choice",
            "answer is the number of an option from 1 to {most}, or begins with {names}",
            most=len(written),
            names=list(COMPUTED),
        )
    options = tuple(Option(_inline(text, label, line), _inline(text, reason, line)) for label, reason, line in written)
    return Question("choose", number, it.line, asked, hint, explanation, place, options=options, right=right)


def _options(it: Directive) -> list[tuple[str, str, int]]:
    """Return (label, reason, line) of each option; a line that is indented goes on the one before."""
    asked = it.parts()[0]
    found: list[tuple[str, int]] = []
    for at, line in enumerate(asked.split("\n")):
        choice = CHOICE.fullmatch(line.rstrip())
        if choice:
            found.append((choice[2], it.body_line + at))
        elif found and line.startswith("  ") and line.strip():
            found[-1] = (f"{found[-1][0]} {line.strip()}", found[-1][1])
    split = [(option.partition("::"), line) for option, line in found]
    return [(label.strip(), reason.strip(), line) for (label, _, reason), line in split]


def _inline(text: Text, source: str, line: int) -> str:
    """Render one paragraph without its element."""
    html = text.html(source, line)
    return html.removeprefix("<p>").removesuffix("</p>") if html.count("<p>") == 1 else html


def _order(it: Directive, text: Text, number: int) -> Block:
    question = _question(it, text, number)
    ops, query = row_part(it.options["answer"], text.budget)
    return Question("order", number, it.line, *question, query, ops=ops, shuffled=shuffled(ops))


def _reach(it: Directive, text: Text, number: int) -> Block:
    asked = _question(it, text, number)
    view = _view(it, text)
    goals, sizes = goals_of(it.options.get("goal", ""), text.budget), sizes_of(it.options["answer"])
    check(view, sizes, goals)
    place = solved_view(view, sizes)
    return Question("reach", number, it.line, *asked, place, view=view, goals=goals, sizes=sizes)


def _find(it: Directive, text: Text, number: int) -> Block:
    asked = _question(it, text, number)
    view = _view(it, text)
    spots = spots_of(view, it.options["answer"], text.budget)
    place = f"{view}&sel={spots[0].op}" if spots[0].op else view
    return Question("find", number, it.line, *asked, place, view=view, spots=spots)


def _view(it: Directive, text: Text) -> str:
    """Return the view that a question begins with. Raises LessonError unless it has one schedule."""
    if len(view_of(it.argument, text.budget)) > 1:
        raise mistake("lessons.one_schedule", "{directive} shows one schedule", directive=it.name)
    return it.argument


def _recap(it: Directive, text: Text, number: int) -> Block:
    return Recap(text.html(it.body, it.body_line))


def _build(it: Directive, text: Text, number: int) -> Block:
    if not SLUG.fullmatch(it.argument):
        raise mistake("lessons.bad_task", "build names a task, such as {example}", example="finish-1f1b")
    return Link("build", f"/build?task={it.argument}", text.html(it.body, it.body_line), task_link(it.argument))


def _run(it: Directive, text: Text, number: int) -> Block:
    view_of(it.argument, text.budget)
    return Link("run", f"/{it.argument}&tab=run", text.html(it.body, it.body_line))


def _note(it: Directive, text: Text, number: int) -> Block:
    return Note(text.html(it.body, it.body_line))


def _source(it: Directive, text: Text, number: int) -> Block:
    if not it.argument:
        raise mistake(
            "lessons.no_source", "source names a paper: one of {names}, or its title and DOI", names=list(papers())
        )
    paper = papers().get(it.argument)
    section = text.html(it.body, it.body_line)
    return Source(paper.citation, paper.href, section) if paper else Source(it.argument, "", section)


ASKED = ("answer", "hint")
OPTIONS = {
    "scene": ("play",),
    "compare": ("play",),
    "figure": ("only",),
    "predict": (*ASKED, "unit", "tolerance"),
    "choose": ASKED,
    "order": ASKED,
    "reach": (*ASKED, "goal"),
    "find": ASKED,
}
MAKERS: dict[str, Callable[[Directive, Text, int], Block]] = {
    "scene": _scene,
    "compare": _scene,
    "figure": _figure,
    "predict": _predict,
    "choose": _choose,
    "order": _order,
    "reach": _reach,
    "find": _find,
    "build": _build,
    "run": _run,
    "note": _note,
    "source": _source,
    "recap": _recap,
}
