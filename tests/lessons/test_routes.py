"""Lessons over HTTP: pages, data, and answers that are not in any page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from backend.config import Config
from backend.lessons.page import code_of
from tests.conftest import error_of
from tests.lessons.support import HEAD, SAMPLES


@pytest.fixture
def config(config: Config) -> Config:
    return replace(config, lessons=SAMPLES)


def test_the_list_and_a_lesson_are_readable_without_a_script(client: FlaskClient):
    listed = client.get("/learn").text
    assert 'href="/learn/bubble?lang=en"' in listed
    assert "GPipe and its bubble" in listed
    page = client.get("/learn/bubble?lang=en")
    assert page.mimetype == "text/html"
    assert '<section class="step" id="fill"' in page.text
    assert page.text.count('<svg class="pic"') == 3
    assert 'rel="next" href="/learn/' in page.text
    assert "<style" not in page.text, "the policy forbids it"
    assert not re.search(r"\son\w+=", page.text)


def test_the_language_is_that_of_the_address_or_of_the_browser(client: FlaskClient):
    assert "学习流水线并行" in client.get("/learn?lang=zh").text
    assert "学习流水线并行" in client.get("/learn", headers={"Accept-Language": "zh-CN,zh;q=0.9"}).text
    assert "Learn pipeline" in client.get("/learn?lang=xx").text
    assert "填充与排空" in client.get("/learn/bubble?lang=zh").text


def test_notes_are_the_presenters(client: FlaskClient):
    assert "Ask the room" not in client.get("/learn/bubble").text
    assert "Ask the room" in client.get("/learn/bubble?notes=1").text


def test_a_page_does_not_have_the_answers(client: FlaskClient):
    for address in ("/learn/bubble?notes=1", "/api/lessons/bubble", "/api/lessons"):
        text = client.get(address).text
        assert "A device works for 8 forwards" not in text, "an explanation"
        assert "Forwards go the other way" not in text, "a reason"
        assert "27.27" not in text


def test_a_picture_of_a_lesson_is_sent_and_nothing_else_of_its_folder(client: FlaskClient):
    shown = re.search(r"<img [^>]*>", client.get("/learn/order").text)
    assert shown is not None
    assert 'src="/learn/pictures/box.png"' in shown[0]
    assert 'alt="A blue box"' in shown[0]
    picture = client.get("/learn/pictures/box.png")
    assert (picture.status_code, picture.mimetype) == (200, "image/png")
    assert "sandbox" in picture.headers["Content-Security-Policy"]
    for name in ("none.png", "..%2fen%2f01-bubble.md", "box.txt"):
        assert client.get(f"/learn/pictures/{name}").status_code == 404


def test_the_end_of_a_lesson_has_what_one_knows_and_the_next_lesson(client: FlaskClient):
    end = client.get("/learn/order?lang=en").text.partition('id="lesson-end"')[2]
    assert "What you now know" in end
    assert "<li>Fewer grey slots.</li>" in end
    assert re.search(r'rel="next" href="/learn/[a-z0-9-]+\?lang=en"', end)
    assert end.count('href="#question-') == 4


def test_the_list_has_a_picture_of_each_lesson(client: FlaskClient):
    page = client.get("/learn").text
    assert page.count('<svg class="pic-small"') == page.count("data-slug=") >= 14
    assert "Begin with lesson 1: " in page


def test_the_key_is_on_a_page_of_its_own_and_only_where_it_is_asked_for(client: FlaskClient):
    assert "answer-key" not in client.get("/learn/bubble").text
    text, _, key = client.get("/learn/bubble?key=1").text.partition('class="answer-key"')
    assert "A device works for 8 forwards" not in text
    answers = ["27.3\u00a0%", "2. <code>1B0</code>", "16\u00a0micro-batches", "0F0 0F1 0F2 0B0 0B1 0B2"]
    assert [key.find(answer) for answer in answers] == sorted(key.find(answer) for answer in answers)
    assert min(key.find(answer) for answer in answers) >= 0
    assert "A device works for 8 forwards" in key


def test_the_handout_has_the_address_of_its_lesson_as_text_and_as_a_code(client: FlaskClient):
    page = client.get("/learn/bubble?lang=zh&key=1", base_url="http://localhost:8000").text
    address = "http://localhost:8000/learn/bubble?lang=zh"
    assert f"<figcaption>{address}</figcaption>" in page
    assert code_of(address) in page
    assert code_of(address) != code_of(address.replace("zh", "en"))
    assert 'aria-hidden="true"><svg' in page


def ask(client: FlaskClient, question: int, answer: str, tries: int = 1, lang: str = "en") -> dict:
    query = {"question": str(question), "answer": answer, "try": str(tries), "lang": lang}
    return client.get("/api/lessons/bubble/answers", query_string=query).get_json()


def test_a_wrong_answer_gets_its_reason_then_the_explanation_and_its_place(client: FlaskClient):
    first = ask(client, 1, "37.5")
    assert first.keys() == {"right", "reason", "counted"}
    assert first["reason"].startswith("37.5\u00a0% is the idle time relative to the work")
    second = ask(client, 1, "20", 2)
    assert (second["right"], second["answer"], second["place"]) == (False, "27.3\u00a0%", "?family=gpipe&p=4&m=8")
    assert "A device works for 8 forwards" in second["explanation"]
    assert ask(client, 1, "27.3")["right"]
    assert ask(client, 2, "1")["place"].endswith("&sel=1B0&at=12")
    assert ask(client, 2, "0", 2)["option"] == 1
    assert ask(client, 1, "20", lang="zh")["reason"] == "20 偏低。"


@pytest.mark.parametrize(
    ("address", "field", "status"),
    [
        ("/api/lessons/none", "slug", 404),
        ("/api/lessons/none/answers?question=1&answer=1", "slug", 404),
        ("/api/lessons/bubble/answers?question=99&answer=1", "question", 400),
        ("/api/lessons/bubble/answers?question=x&answer=1", "question", 400),
        ("/api/lessons/bubble/answers?question=1&try=0", "try", 400),
        ("/api/lessons/bubble/answers?question=1&other=1", "other", 400),
        ("/api/lessons/bubble/answers?question=1&lang=fr", "lang", 400),
        (f"/api/lessons/bubble/answers?question=1&answer={'9' * 500}", "answer", 400),
        ("/api/lessons/%2e%2e%2fconfig", "slug", 404),
    ],
)
def test_a_wrong_request_is_refused_with_its_field(client: FlaskClient, address: str, field: str, status: int):
    answer = client.get(address)
    assert answer.status_code == status
    if "%2f" not in address:
        assert error_of(answer)["field"] == field


def test_a_page_that_there_is_not_says_so(client: FlaskClient):
    assert error_of(client.get("/learn/nothing"))["field"] == "slug"
    page = client.get("/learn/<script>alert(1)", headers={"Accept": "text/html"})
    assert (page.status_code, page.mimetype) == (404, "text/html")
    assert "There is no page at this address" in page.text
    assert "<script>alert" not in page.text


def test_a_lecturers_mistake_is_listed_and_mended_without_a_restart(client: FlaskClient, app, tmp_path: Path):
    services = app.extensions["bubbleline"]
    object.__setattr__(services, "config", replace(services.config, lessons=tmp_path))
    (tmp_path / "en").mkdir()
    file = tmp_path / "en" / "30-mine.md"
    file.write_text(HEAD + ":::{scen} <script>\n:::\n")
    assert "30-mine.md" not in client.get("/learn").text, "mistakes are the lecturer's"
    page = client.get("/learn?notes=1").text
    assert "en/30-mine.md:6</code> there is no directive scen" in page
    assert "/learn/" in page, "the others are there"
    assert client.get("/learn/mine").status_code == 404
    read = {"Accept": "text/html"}
    assert "This lesson has a mistake" in client.get("/learn/mine", headers=read).text
    assert "line 6: there is no directive scen" in client.get("/learn/mine?notes=1", headers=read).text
    entry = client.get("/api/lessons").get_json()["lessons"][-1]
    assert (entry["slug"], entry["problems"][-1]["line"]) == ("mine", 6)
    file.write_text(HEAD + ":::{scene} ?family=gpipe&p=2&m=2\nA caption.\n:::\n")
    assert client.get("/learn/mine").status_code == 200
