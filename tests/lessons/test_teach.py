"""The page for lecturers: its scenes, the check of a file, and what a class needs of the limits."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient

from backend.config import Config
from backend.jobs.class_size import needs
from backend.lessons.format.directives import MAKERS
from backend.lessons.lesson import LANGUAGES, Note, Scene, Step
from backend.lessons.shelf import scenes_or_lesson
from backend.web.services import NAME, Services
from tests.conftest import error_of
from tests.lessons.support import HEAD


def test_every_scene_of_the_gallery_has_a_note_and_the_same_view_in_both_languages():
    english, chinese = (scenes_or_lesson(None, "gallery", language) for language in LANGUAGES)
    assert len(english.steps) > 10
    for lesson in (english, chinese):
        for step in lesson.steps[1:]:
            assert [type(block) for block in step.blocks] == [Scene, Note], step.anchor
    assert [views(step) for step in english.steps] == [views(step) for step in chinese.steps]


def views(step: Step) -> tuple[str, list[tuple[str, list[str]]]]:
    """The anchor of a step, its views, and the shares that their captions name."""
    return step.anchor, [(scene.query, re.findall(r"[\d.]+\s%", scene.caption)) for scene in step.scenes]


def test_every_scene_has_a_picture_and_ways_to_open_present_and_save_it(client: FlaskClient):
    page = unescape(client.get("/teach?lang=en").text)
    scenes = scenes_or_lesson(None, "gallery", "en").steps[1:]
    assert page.count('class="pic"') == len(scenes)
    for step in scenes:
        query = step.scenes[0].query
        for address in (f"/{query}", f"/{query}&present=1&lang=en", f"/api/standalone{query}"):
            assert f'href="{address}"' in page, address
    listed = client.get("/api/lessons?lang=en").get_json()["lessons"]
    assert re.findall(r'/learn/([\w-]+)\?lang=en"', page) == [each["slug"] for each in listed]
    assert "讲授流水线并行" in client.get("/teach?lang=zh").text


def test_the_page_names_every_directive_of_a_lesson(client: FlaskClient):
    page = client.get("/teach").text
    assert not [name for name in MAKERS if f":::{{{name}}}" not in page]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_of_a_file_is_one_without_a_mistake(client: FlaskClient, language: str):
    example = unescape(client.get(f"/teach?lang={language}").text.partition("<code>---")[2].partition("</code>")[0])
    checked = client.post("/api/lessons/check", json={"name": "20-our-cluster.md", "text": f"---{example}"}).get_json()
    assert (checked["problems"], checked["questions"]) == ([], 1)


def test_what_a_class_needs_is_computed_from_the_settings_and_its_size(app: Flask, client: FlaskClient):
    few = {each.variable: each for each in needs(Config(), 1)}
    many = {each.variable: each for each in needs(Config(), 300)}
    assert all(each.enough for each in few.values())
    links = many["BUBBLELINE_LINKS_PER_HOUR"]
    assert (links.now, links.enough) == (Config().links_per_hour, False)
    assert all(each.enough for each in needs(replace(Config(), links_per_hour=links.needed), 300)[6:7])
    assert f"BUBBLELINE_LINKS_PER_HOUR={links.needed}" in client.get("/teach?class=300").text
    assert "BUBBLELINE_" not in client.get("/teach?class=1").text.partition('id="limits"')[2]
    parts: Services = app.extensions[NAME]  # as if started again, with the cache that Redis keeps
    app.extensions[NAME] = replace(parts, config=replace(parts.config, links_per_hour=links.needed))
    assert "BUBBLELINE_LINKS_PER_HOUR=" not in client.get("/teach?class=300").text
    for odd in ("-1", "many", "9" * 30):
        assert 'value="60"' in client.get(f"/teach?class={odd}").text


def test_a_file_is_checked_by_line_and_nothing_of_it_is_kept(client: FlaskClient):
    wrong = client.post("/api/lessons/check", json={"name": "30-mine.md", "text": HEAD + ":::{scen}\n:::\n"})
    assert [(each["line"], each["cause"]["code"]) for each in wrong.get_json()["problems"]] == [
        (6, "lessons.unknown_directive")
    ]
    text = HEAD + ":::{scene} ?family=gpipe&p=2&m=2\nA caption.\n:::\n"
    right = client.post("/api/lessons/check", json={"name": "30-mine.md", "text": text}).get_json()
    assert (right["problems"], right["slug"], right["steps"]) == ([], "mine", 1)
    assert right["scenes"][0]["picture"].startswith("<svg")
    assert client.get("/learn/mine").status_code == 404


@pytest.mark.parametrize(
    ("body", "field", "status"),
    [
        ({"text": "x"}, "name", 400),
        ({"name": "x" * 200, "text": "x"}, "name", 400),
        ({"name": "20-x.md"}, "text", 400),
        ({"name": "20-x.md", "text": 5}, "text", 400),
        ({"name": "20-x.md", "text": "x", "lang": "fr"}, "lang", 400),
        ({"name": "20-x.md", "text": "x", "folder": "/etc"}, "folder", 400),
        ({"name": "20-x.md", "text": "x" * 400_000}, "body", 413),
    ],
)
def test_a_wrong_check_is_refused_with_its_field(client: FlaskClient, body: object, field: str, status: int):
    answer = client.post("/api/lessons/check", json=body)
    assert (answer.status_code, error_of(answer)["field"]) == (status, field)


def test_a_file_too_large_or_deep_or_of_odd_characters_is_a_mistake_and_no_error(client: FlaskClient):
    for text in ("x" * 140_000, ">" * 3000, "\ud800", "\x00" * 50, "---\n- &a [*a]\n---\n"):
        answer = client.post("/api/lessons/check", json={"name": "20-x.md", "text": text})
        assert answer.status_code == 200
        assert answer.get_json()["problems"], text[:20]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_presenters_window_numbers_the_same_blocks_as_the_page_and_has_their_answers(
    client: FlaskClient, language: str
):
    for slug in (each["slug"] for each in client.get("/api/lessons").get_json()["lessons"]):
        page = client.get(f"/learn/{slug}?lang={language}").text
        window = client.get(f"/teach/presenter?deck={slug}&lang={language}").text
        shown = re.findall(r'class="(scene|chart|question)"', page)
        assert re.findall(r'class="slide" data-at="(\d+)"', window) == [str(at) for at in range(len(shown))], slug
        assert window.count('class="slide-answer"') == shown.count("question")
    assert "Ask before you show it" in client.get("/teach/presenter?lang=en").text


def test_the_presenters_window_of_no_lesson_says_so(client: FlaskClient):
    assert error_of(client.get("/teach/presenter?deck=nothing"))["field"] == "slug"
    assert client.get("/teach/presenter?deck=nothing", headers={"Accept": "text/html"}).status_code == 404
