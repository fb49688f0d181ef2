"""The routes of tasks: every task as it is described, entries checked again by the server, boards, access."""

from __future__ import annotations

import base64
import unicodedata
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import RequestError
from backend.schedule.families import registry
from backend.schedule.order.order import Order, micro_numbers
from backend.schedule.order.order_codec import pack
from backend.schedule.partial_order.legality import first_illegal
from backend.schedule.partial_order.position import text_rows
from backend.schedule.partial_order.score import score
from backend.schedule.simulation.check import check
from backend.schedule.simulation.simulate import simulate
from backend.tasks import task as task_module
from backend.tasks.award import award
from backend.tasks.grade import grade
from backend.tasks.names import LONGEST_NAME, name_of
from backend.tasks.reference import reference
from backend.tasks.task import TableError, read_task, tasks
from tests.conftest import MakeApp, error_of
from tests.support.page.workbench import walk
from tests.web.access.test_requests import holder

USED_BY_LESSONS = (
    *("finish-1f1b", "gpipe-from-nothing", "one-forward-one-backward", "interleave-two-chunks", "split-the-backward"),
    *("zb-h1-by-hand", "v-shape", "memory-two", "why-the-gap", "beat-1f1b", "uneven-costs", "hop-costs"),
)
PATH = "/api/tasks/one-forward-one-backward"


def par_rows(slug: str) -> list[str]:
    return text_rows(reference(tasks()[slug]).par.rows)


def submit(client: FlaskClient, slug: str, **body: Any):
    return client.post(f"/api/tasks/{slug}/entries", json=body)


def test_there_are_tasks_for_every_lesson_and_twenty_five_in_all():
    assert len(tasks()) >= 25
    assert set(USED_BY_LESSONS) <= set(tasks())
    texts = [text for task in tasks().values() for each in (task.title, task.text) for text in each.values()]
    assert len(set(texts)) == len(texts)
    assert all(any("\u4e00" <= each <= "\u9fff" for each in task.text["zh"]) for task in tasks().values())


@pytest.mark.parametrize("slug", list(tasks()))
def test_the_start_of_a_task_can_be_played_and_its_par_reached(slug: str):
    task = tasks()[slug]
    assert first_illegal(task.position) is None
    found = reference(task)
    graded = grade(task, None, par_rows(slug))
    assert graded.solved
    assert graded.score == found.score
    if found.bound is not None:
        assert found.score.makespan >= found.bound.value * (1 - 1e-9)
    within = [each.score.makespan for each in found.named if each.within]
    if found.source == "search" and within:
        assert found.score.makespan <= min(within)
    if "unrecognised" in task.goals:
        assert found.score.makespan < min(within)


@pytest.mark.parametrize("slug", list(tasks()))
def test_no_submission_gets_a_better_score_than_its_order_has(slug: str):
    task = tasks()[slug]
    found = reference(task)
    for seed in range(2):
        whole = walk(task.position, seed, 10_000, task.kinds)
        if not complete(whole.order()):
            continue  # a memory limit can end a careless order early
        graded = grade(task, None, text_rows(whole.rows))
        assert graded.score == score(whole) == grade(task, graded.packed, None).score
        assert graded.score.makespan == float(simulate(whole.order(), whole.timing, whole.v).end.max())
        assert found.bound is None or graded.score.makespan >= found.bound.value * (1 - 1e-9)
        assert task.position.memory is None or graded.score.peak <= task.position.memory + 1e-9


def complete(order: Order) -> bool:
    try:
        check(order)
    except ValueError:
        return False
    return True


def test_a_task_is_shown_with_its_start_par_named_schedules_and_bound(client: FlaskClient):
    answer = client.get("/api/tasks").get_json()
    listed = answer["tasks"]
    assert [each["slug"] for each in listed] == list(tasks())
    by_idea = [each["idea"] for each in listed]
    assert list(dict.fromkeys(by_idea)) == [each["slug"] for each in answer["ideas"]]
    assert by_idea == sorted(by_idea, key=[each["slug"] for each in answer["ideas"]].index)
    shown = client.get("/api/tasks/finish-1f1b").get_json()
    assert shown["position"]["rows"] == ["0F0 0F1 0F2 0B0", "1F0 1F1 1B0 1F2", "2F0 2B0 2F1 2B1"]
    assert shown["fixed"]
    assert shown["goals"] == [{"metric": "recognised", "as": ["1f1b", "pipedream"]}]
    assert (shown["par"]["source"], shown["par"]["name"], shown["par"]["score"]["makespan"]) == ("family", "1f1b", 18.0)
    assert shown["bound"]["makespan"] == 18.0  # proved optimal
    assert {each["family"]: each["within"] for each in shown["named"]}["zb-h1"] is False  # it splits its backwards
    assert (shown["previous"], shown["next"]) == (None, "gpipe-from-nothing")
    assert client.get("/api/tasks/nothing").status_code == 404
    assert client.get("/api/tasks/nothing/board").status_code == 404


def test_an_entry_is_graded_kept_and_shown_on_the_board(client: FlaskClient):
    rows = par_rows("one-forward-one-backward")
    made = submit(client, "one-forward-one-backward", rows=rows, name="  Ada   L. ")
    assert made.status_code == 201
    body = made.get_json()
    assert (body["new"], body["solved"], body["stars"], body["place"]) == (True, True, 3, 1)
    assert body["entry"]["name"] == "Ada L."
    assert body["entry"]["rows"] == rows
    assert [goal["met"] for goal in body["goals"]] == [True, True]
    again = submit(client, "one-forward-one-backward", order=body["entry"]["order"]).get_json()
    assert (again["new"], again["entry"]["count"], again["entry"]["id"]) == (False, 2, body["entry"]["id"])
    gpipe = registry.order(registry.read({"family": "gpipe", "p": 4, "m": 6}))
    worse = submit(client, "one-forward-one-backward", order=pack(gpipe)).get_json()
    assert (worse["solved"], worse["place"]) == (False, 2)
    board = client.get(f"{PATH}/board").get_json()
    assert (board["entries"], board["submissions"]) == (2, 3)
    assert [each["name"] for each in board["best"]] == ["Ada L.", None]
    assert [each["score"]["peak"] for each in board["front"]] == [4.0]
    assert sum(board["histograms"]["peak"]["counts"]) == 2


def test_stars_are_for_the_goals_the_time_of_par_and_a_time_that_no_order_beats():
    task = tasks()["hop-costs"]
    found = reference(task)
    assert found.bound is not None
    assert found.goals[0].as_dict() == {"metric": "makespan", "below": 34.0, "than": "1f1b"}
    shorter = [found.bound.value, found.score.makespan, found.score.makespan + 1]
    assert [found.stars(True, each) for each in shorter] == [3, 2, 1]
    assert found.stars(False, found.bound.value) == 0
    named = next(each.named.rows for each in found.named if each.named.name == "1f1b")
    assert not grade(task, None, text_rows(named)).solved  # as long as 1F1B is not shorter


@pytest.mark.parametrize(
    ("slug", "claim", "stars"),
    [
        ("finish-1f1b", "Built op by op: 1F1B, proved optimal", 3),
        ("one-forward-one-backward", "As short as GPipe, with less memory, proved optimal", 3),
        ("beat-1f1b", "1F1B beaten within its own memory, proved optimal", 3),
        ("hop-costs", "1F1B beaten", 2),
        ("memory-two", "A step of 30 with a peak memory of 2, proved optimal", 3),
    ],
)
def test_a_solution_says_what_it_has_achieved(slug: str, claim: str, stars: int):
    graded = grade(tasks()[slug], None, par_rows(slug))
    won = award(graded, executed=False)
    assert won is not None
    assert (won.sentence, won.stars) == (claim, stars)
    run = award(graded, executed=True)
    assert run is not None
    assert run.sentence == f"{claim}, executed"


def test_an_order_that_misses_a_goal_has_achieved_nothing():
    gpipe = registry.order(registry.read({"family": "gpipe", "p": 4, "m": 6}))
    assert award(grade(tasks()["one-forward-one-backward"], pack(gpipe), None), executed=False) is None


def test_one_order_written_in_two_ways_is_one_entry(client: FlaskClient):
    order = registry.order(registry.read({"family": "1f1b", "p": 4, "m": 6}))
    numbers = np.concatenate([micro_numbers(order, rank)[0] for rank in range(order.p)])
    stored = np.stack([numbers, np.full(len(order), -1)], 1)
    explicit = replace(order, micro=stored.astype(np.int32))
    ids = {
        submit(client, "one-forward-one-backward", order=pack(each)).get_json()["entry"]["id"]
        for each in (order, explicit)
    }
    assert len(ids) == 1


def packed(**spec: Any) -> str:
    return pack(registry.order(registry.read(spec)))


@pytest.mark.parametrize(
    ("slug", "body", "code"),
    [
        ("memory-two", {"order": packed(family="1f1b", p=3, m=6)}, "workbench.over_memory"),
        ("memory-two", {"order": packed(family="1f1b", p=3, m=5)}, "workbench.other_sizes"),
        ("memory-two", {"order": packed(family="1f1b", p=64, m=640)}, "workbench.other_sizes"),
        ("memory-two", {"order": packed(family="interleaved", p=3, m=6, v=2)}, "workbench.other_sizes"),
        ("memory-two", {"order": packed(family="v-min", p=3, m=6)}, "workbench.other_sizes"),
        ("one-forward-one-backward", {"order": packed(family="zb-h1", p=4, m=6)}, "workbench.other_kinds"),
        ("finish-1f1b", {"order": packed(family="gpipe", p=3, m=4)}, "workbench.not_from_the_start"),
        ("gpipe-from-nothing", {"rows": ["0F0", "1F0 1B0"]}, "schedule.op_missing"),
        ("gpipe-from-nothing", {"rows": ["0F0 0B0 0F1 0B1 0F2 0B2", "1F2 1B2 1F1 1B1 1F0 1B0"]}, "schedule.deadlock"),
        ("gpipe-from-nothing", {"rows": ["0F0 " * 10**4, ""]}, "workbench.row_too_long"),
        ("gpipe-from-nothing", {"rows": ["0F99999999", ""]}, None),
        ("gpipe-from-nothing", {"rows": ["1F0", "0F0"]}, "schedule.stage_on_wrong_rank"),
        ("gpipe-from-nothing", {"rows": ["(0F0;0B0)OVERLAP_F_B", ""]}, None),
        ("gpipe-from-nothing", {"rows": [[], {}]}, "workbench.a_row_a_rank"),
        ("gpipe-from-nothing", {"rows": []}, "workbench.a_row_a_rank"),
        ("gpipe-from-nothing", {"order": 7}, "workbench.order_is_packed"),
        ("gpipe-from-nothing", {"order": "l" + "A" * 7000}, "workbench.order_is_packed"),
        ("gpipe-from-nothing", {"order": "lAAAA"}, "schedule.packed_order_broken"),
        ("gpipe-from-nothing", {}, "workbench.order_or_rows"),
        ("gpipe-from-nothing", {"order": "l", "rows": ["", ""]}, "workbench.order_or_rows"),
        ("gpipe-from-nothing", {"rows": ["", ""], "rank": 1}, "schedule.unknown_key"),
    ],
)
def test_what_is_no_answer_to_the_task_is_refused_and_not_kept(
    client: FlaskClient, slug: str, body: dict[str, Any], code: str | None
):
    refused = submit(client, slug, **body)
    assert refused.status_code == 400
    assert code is None or error_of(refused)["code"] in (code, f"{code}_close")
    assert client.get(f"/api/tasks/{slug}/board").get_json()["entries"] == 0


def test_a_forged_score_is_not_read(client: FlaskClient):
    rows = par_rows("gpipe-from-nothing")
    made = submit(client, "gpipe-from-nothing", rows=rows, score={"makespan": 1}, makespan=0, peak=-5).get_json()
    assert made["entry"]["score"] == score(reference(tasks()["gpipe-from-nothing"]).par).as_dict()


def test_no_packed_text_harms_the_server(client: FlaskClient):
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = deflate.compress(b"\0" * 50_000_000) + deflate.flush()
    text = "l" + base64.urlsafe_b64encode(bomb).decode().rstrip("=")
    assert submit(client, "memory-two", order=text[:6000]).status_code == 400
    small = zlib.compressobj(9, zlib.DEFLATED, -15)
    many = small.compress(bytes([3, 6, 1, 32, 255, 255, 15]) + b"\0" * 3_000_000) + small.flush()
    text = "l" + base64.urlsafe_b64encode(many).decode().rstrip("=")
    assert len(text) < 6000
    assert submit(client, "memory-two", order=text).status_code == 400


@pytest.mark.parametrize(
    "name",
    ["x" * 25, "<b>x</b>", "a&lt;", "a\u202eb", "a\u200bb", "a\x00b", "a\nb", "\u2066x", "!!!", "   ",
     "e" + "\u0301" * 9, 7, ["a"], {"a": 1}, "\ud800", "\ue000x"],
)  # fmt: skip
def test_a_name_that_is_not_plain_text_is_refused(client: FlaskClient, name: Any):
    refused = submit(client, "gpipe-from-nothing", rows=par_rows("gpipe-from-nothing"), name=name)
    assert refused.status_code == 400
    assert error_of(refused)["field"] == "name"
    assert refused.text.isascii() or "\u202e" not in refused.text


@given(st.text(max_size=40))
def test_a_name_that_is_taken_shows_as_it_is_and_is_short(text: str):
    try:
        name = name_of(text)
    except RequestError:
        return
    if name is None:
        assert text == ""
        return
    assert 0 < len(name) <= LONGEST_NAME
    assert name == name_of(name)
    assert not any(unicodedata.category(each)[0] == "C" or each in "<>&" for each in name)


def test_names_in_every_script_are_taken():
    for name in ("Ada", "李雷", "Zoë", "Дарья", "محمد", "O'Neil 2", "यशोदा"):
        assert name_of(name) == name


@pytest.fixture
def public(make_app: MakeApp) -> Flask:
    return make_app(host="0.0.0.0", entries_per_hour=3)


def test_everybody_may_submit_and_only_administrators_delete(public: Flask):
    viewer, runner, admin = public.test_client(), holder(public), holder(public, admin=True)
    made = submit(viewer, "gpipe-from-nothing", rows=par_rows("gpipe-from-nothing"), name="rude")
    assert made.status_code == 201
    at = f"/api/tasks/gpipe-from-nothing/entries/{made.get_json()['entry']['id']}"
    for client in (viewer, runner):
        assert client.delete(at).status_code in (401, 403)
        assert client.delete(f"{at}/name").status_code in (401, 403)
    assert admin.delete(f"{at}/name").status_code == 204
    (left,) = viewer.get("/api/tasks/gpipe-from-nothing/board").get_json()["best"]
    assert left["name"] is None
    assert admin.delete(at).status_code == 204
    for missing in (at, f"{at}/name", f"{at}%00", "/api/tasks/gpipe-from-nothing/entries/'; DROP TABLE board_entries"):
        assert admin.delete(missing).status_code == 404
    assert viewer.get("/api/tasks/gpipe-from-nothing/board").get_json()["entries"] == 0


def test_a_flood_of_entries_is_refused_after_the_clients_share(public: Flask):
    client = public.test_client()
    answers = [submit(client, "gpipe-from-nothing", rows=["", ""]) for _ in range(6)]
    assert [each.status_code for each in answers] == [400] * 3 + [429] * 3  # wrong ones count: they cost time too
    assert int(answers[-1].headers["Retry-After"]) > 60


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"level": 9}, "level"),
        ({"kinds": "XY"}, "kinds"),
        ({"goals": ["fame"]}, "goals"),
        ({"par": 10**9}, "effort"),
        ({"title": {"en": "x"}}, "title"),
        ({"colour": "red"}, "unknown"),
        ({"p": 99}, "p must be"),
        ({"text": None}, "text"),
    ],
)
def test_a_wrong_table_names_the_task_and_the_reason(change: dict[str, Any], reason: str):
    both = {"en": "a", "zh": "b"}
    data = {"slug": "t", "level": 1, "title": both, "text": both, "kinds": "FB", "par": "1f1b", "goals": ["makespan"]}
    assert read_task(data, 1, "bubble").slug == "t"
    wrong = {key: value for key, value in (data | change).items() if value is not None}
    with pytest.raises(TableError, match=f"t: .*{reason}"):
        read_task(wrong, 1, "bubble")
    assert task_module.tasks()
