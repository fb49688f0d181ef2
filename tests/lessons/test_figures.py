"""The charts of the lessons: each shows the schedules of its view, as the page's chart of the same view does."""

from __future__ import annotations

from backend.address.chart_query import chart_query_of, query_of_view
from backend.address.link_state import plans_of
from backend.charts.catalogue import KINDS
from backend.lessons.lesson import Figure, Lesson
from backend.lessons.shelf import Shelf, read
from backend.schedule.families.registry import FAMILIES, family_of
from backend.schedule.spec import Spec
from tests.support.node import answers, needs_node

SIZES_AND_COSTS = "?family=1f1b&p=8&m=20&comm=0.2&v=1&b.family=dualpipe&c.family=interleaved&d.m=40"


def figures() -> list[tuple[str, str]]:
    """The charts of all lessons in both languages, with their queries, and one whose schedules differ in everything."""
    lessons = [lesson for file in Shelf().files() if isinstance(lesson := read(file), Lesson)]
    blocks = [block for lesson in lessons for step in lesson.steps for block in step.blocks]
    found = {(each.chart, each.query) for each in blocks if isinstance(each, Figure)}
    return [*sorted(found), ("memory", SIZES_AND_COSTS)]


def plans(query: str, chart: str) -> list[Spec]:
    asked = chart_query_of(query.removeprefix("?").encode(), KINDS[chart])
    assert asked.left_out == ()
    return [plan.spec for plan in asked.plans]


@needs_node
def test_a_figure_has_the_schedules_of_its_view_in_the_page_and_in_a_lessons_file():
    natural = {name: family_of(Spec(family=name)).v[1] for name in FAMILIES}
    case = {"defaults": Spec().to_json(), "natural": natural, "figures": figures()}
    for (chart, query), path in zip(figures(), answers("chart_paths", [case])[0], strict=True):
        if chart not in KINDS:
            continue
        shown = plans_of(query.removeprefix("?").encode())
        in_page = plans(path.partition("?")[2], chart)
        assert in_page == shown[: len(in_page)], query
        assert len(in_page) == len(shown) or chart == "bubble", query
        assert plans(query_of_view(query.removeprefix("?").encode()).decode(), chart) == shown, query


def test_the_figure_of_two_directions_compares_one_size():
    query = query_of_view(b"family=1f1b&p=8&m=20&b.family=dualpipe")
    assert [(spec.family, spec.p, spec.m) for spec in plans(query.decode(), "memory")] == [
        ("1f1b", 8, 20),
        ("dualpipe", 8, 20),
    ]
