"""What may be asked and answered in a class: codes, questions, answers in one spelling, and what is right."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.classes.classroom import read_changes, read_scene, read_work
from backend.classes.codes import LENGTH, LETTERS, as_code, code_of, digest, new_code, new_secret
from backend.classes.questions import (
    LONGEST_TEXT,
    MOST_COUNTED,
    for_members,
    is_right,
    read_answer,
    read_question,
    read_right,
    tally_of,
)
from backend.errors import RequestError
from tests.support import cases

OPS = ["1F0", "0F0", "(0F7;7B3)"]
QUESTIONS = {
    "predict": {"text": "How long?", "unit": "%", "tolerance": 0.5},
    "choose": {"text": "Which?", "options": ["a", "b", "c"]},
    "order": {"text": "Order them", "ops": OPS},
    "find": {"text": "Where?", "query": "?family=gpipe"},
}
FIELDS = ("text", "options", "ops", "unit", "tolerance", "task", "query", "right")
ASKED = {kind: read_question({"kind": kind} | rest) for kind, rest in QUESTIONS.items()}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
ANSWERS = (
    JSON
    | st.floats(-1e10, 1e10)
    | st.from_regex(r"\A[0-9]{1,5}\Z")
    | st.from_regex(r"\A0?[0-9]{1,3}@[0-9]{1,9}(\.[0-9]{1,6})?\Z")
    | st.permutations(OPS).map(" ".join)
)


@given(st.sampled_from([*ASKED.values()]), ANSWERS)
def test_an_answer_is_refused_or_has_one_spelling_and_is_right_where_it_is_what_is_right(asked: Any, answer: Any):
    try:
        value = read_answer(asked, answer)
    except RequestError:
        return
    assert read_answer(asked, value) == value
    assert 0 < len(value) <= LONGEST_TEXT
    assert value.isascii()
    assert is_right(asked, value) is None
    assert is_right(asked | {"right": read_right(asked, value)}, value) is True


@cases(
    "kind, given_, value",
    [
        ("predict", "27,30 %", "27.3"), ("predict", 27.3, "27.3"), ("predict", "-3,5", "-3.5"),
        ("predict", "1e3", "1000"), ("predict", 1234567, "1234567"), ("predict", 10**400, None),
        ("predict", "1_0", None), ("predict", "nan", None),
        ("predict", float("inf"), None), ("predict", "٣", None), ("predict", True, None), ("predict", "", None),
        ("choose", "2", "2"), ("choose", 1, "1"), ("choose", "3", None), ("choose", "00009", None),
        ("choose", "-1", None), ("order", "0F0  (0F7;7B3) 1F0", "0F0 (0F7;7B3) 1F0"),
        ("order", "0F0 0F0 1F0", None), ("order", "0F0", None),
        ("find", "02@7.50", "2@7.5"), ("find", "1@123456789.654321", "1@123456789.654321"), ("find", "1F0", "1F0"),
        ("find", "<b>", None), ("find", "2@-1", None), ("find", ["1F0"], None),
    ],
)  # fmt: skip
def test_answers_have_the_spelling_of_their_kind(kind: str, given_: Any, value: str | None):
    if value is None:
        with pytest.raises(RequestError):
            read_answer(ASKED[kind], given_)
    else:
        assert read_answer(ASKED[kind], given_) == value


def test_a_number_is_right_within_the_tolerance_and_a_moment_within_the_wait():
    predict = ASKED["predict"] | {"right": read_right(ASKED["predict"], "27.3")}
    assert [is_right(predict, each) for each in ("27.8", "26.8", "27.81")] == [True, True, False]
    find = ASKED["find"] | {"right": read_right(ASKED["find"], "02@6-9.50")}
    assert find["right"] == "2@6-9.5"
    assert [is_right(find, each) for each in ("2@6", "2@9.5", "2@9.6", "1@7", "1F0")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    build = {"kind": "build"}
    assert [is_right(build, each) for each in ("0@12", "1@9", "3@8")] == [False, True, True]


@given(st.dictionaries(st.sampled_from(FIELDS), JSON), st.sampled_from([*QUESTIONS, "build", "x"]))
def test_any_question_is_refused_or_can_be_stored_and_sent(rest: dict[str, Any], kind: str):
    try:
        asked = read_question(QUESTIONS.get(kind, {}) | {"kind": kind} | rest)
    except RequestError:
        return
    json.dumps(asked, ensure_ascii=False).encode()
    shown = for_members(asked)
    assert shown is not None
    assert set(asked) - set(shown) == {"right"}


@pytest.mark.parametrize(
    "query", ["/evil.example", "//x", "javascript:x", "?a#b", "?a b", "?\n", "x", "?" + "a" * 8000, 7]
)
def test_a_view_that_pages_open_cannot_lead_elsewhere(query: object):
    with pytest.raises(RequestError) as refused:
        read_question(QUESTIONS["find"] | {"kind": "find", "query": query})
    assert refused.value.field == "query"
    for page in ("/", "/evil"):
        with pytest.raises(RequestError):
            read_scene({"page": page, "query": query})


def test_ops_of_an_order_are_sent_in_no_order_that_tells_the_right_one():
    asked = read_question({"kind": "order", "text": "Order", "ops": OPS, "right": " ".join(OPS)})
    assert asked["ops"] != list(OPS)
    assert sorted(asked["ops"]) == sorted(OPS)
    assert asked["right"] == " ".join(OPS)


@cases(
    "read, given_",
    [
        (read_scene, {"page": "/learn/../api"}), (read_scene, {"page": "/build", "place": "<b>"}), (read_scene, None),
        (read_scene, {"page": "/", "at": 1}), (read_changes, {"paused": 1}), (read_changes, {"pace": [2, 1]}),
        (read_changes, {"pace": [True, 2]}), (read_changes, {"pace": [1, 10**6]}), (read_work, {"item": "q1"}),
        (read_work, {"item": "build/x", "state": "solved"}), (read_work, {"view": {"page": "//x"}}),
    ],
)  # fmt: skip
def test_scenes_settings_and_work_that_pages_do_not_have_are_refused(read: Any, given_: Any):
    with pytest.raises(RequestError):
        read(given_)


def test_a_tally_counts_all_and_shows_the_most_frequent():
    counts = [(str(number), 1) for number in range(MOST_COUNTED + 5)] + [("x", 7)]
    tally = tally_of(counts, 3, 2)
    assert (tally["question"], tally["round"], tally["answered"]) == (3, 2, MOST_COUNTED + 12)
    assert tally["counts"][0] == ["x", 7]
    assert len(tally["counts"]) == MOST_COUNTED


@given(st.text(LETTERS, min_size=LENGTH, max_size=LENGTH), st.integers(0, LENGTH), st.sampled_from([" ", "-", "\t"]))
def test_a_code_is_read_however_it_is_typed(code: str, at: int, gap: str):
    assert code_of(f" {code[:at]}{gap}{code[at:].lower()} ") == code


@given(st.text(max_size=10) | st.none() | st.integers())
def test_what_cannot_be_a_code_is_refused(text: object):
    if as_code(text):
        return
    with pytest.raises(RequestError) as refused:
        code_of(text)
    assert refused.value.field == "code"


def test_codes_spell_nothing_and_secrets_are_not_what_is_stored():
    assert not set("AEIOUY01") & set(LETTERS)
    assert len({new_code() for _ in range(500)}) == 500
    secret = new_secret()
    assert len(secret) == 32
    assert digest(secret) != secret
    assert digest("\ud800") != digest("")  # a cookie can have anything
