"""Classes in both databases: members, questions and answers; pages and processes that come in each other's way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gevent
import pytest
from gevent.event import Event

from backend.classes.classroom import Classroom
from backend.classes.rooms import HEARD_S
from backend.database.address import Location
from backend.database.database import DatabaseError
from backend.errors import RequestError
from tests.web.sockets.classes.together import CHOICE, Line, Process, rows_of

EMPTY = {"classes": 0, "class_members": 0, "class_questions": 0, "class_answers": 0}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start processes of one server on one SQLite file."""
    started: list[Process] = []

    def make(*args: Any, **limits: int) -> Process:
        started.append(Process(tmp_path / "a.sqlite3", *args, **limits))
        return started[-1]

    yield make
    for each in started:
        each.rooms.stop()


def refused(work: Callable[[], object]) -> str:
    """The code of the error with which something is refused."""
    with pytest.raises(RequestError) as error:
        work()
    return error.value.code


def tally(process: Process, room: Classroom) -> list[list[Any]]:
    process.rooms._catch_up()
    return room.tally["counts"] if room.tally else []


def test_a_class_is_joined_asked_answered_exported_and_deleted_with_every_row(location: Location):
    process = Process(location)
    classes = process.classes
    room, key = classes.open("client", "  Pipelines  2 ", 3)
    assert (room.settings["title"], room.expires - time.time() > 3 * 3600 - 60) == ("Pipelines 2", True)
    assert classes.find(f"{room.code[:3]}-{room.code[3:].lower()}") is room
    ada, secret = classes.join(room, "Ada")
    other, _ = classes.join(room, None)
    assert classes.member(room, secret) is ada
    assert (classes.member(room, key), classes.leads(room, secret), classes.leads(room, key)) == (None, False, True)
    stored = process.rooms.database.execute("SELECT leader, secret FROM classes, class_members")
    assert not {key, secret} & {text for row in stored for text in row}, "secrets are stored as digests"
    classes.rename(room, other, "Zoë")
    assert classes.ask(room, CHOICE) == 1
    process.answer(room, 1, "0")
    process.answer(room, 1, "1")  # changed
    process.answer(room, 1, "1")  # sent again after a reconnect
    process.answer(room, 2, "0")
    assert tally(process, room) == [["0", 1], ["1", 1]]
    assert [each.items for each in room.members.values()] == [{"q1": "done"}, {"q1": "wrong"}]
    classes.reveal(room, {"note": "Because."})
    revealed = room.state(leads=False)["question"]["revealed"]
    assert revealed == {
        "right": "1", "source": "leader", "note": "Because.", "tally": [["0", 1], ["1", 1]], "answered": 2
    }  # fmt: skip
    assert refused(lambda: process.answer(room, 1, "0")) == "classes.too_late"
    assert classes.ask_again(room) == 2
    assert refused(lambda: process.answer(room, 1, "0")) == "classes.too_late", "of the round before"
    process.answer(room, 1, "0", round_=2)
    classes.reveal(room, {"right": "0", "source": "run"})
    assert room.members[1].items == {"q1": "done"}, "marked by what the leader says is right now"
    questions, answers = classes.export(room)
    assert questions[1]["text"] == CHOICE["text"]
    assert [(each.round, each.member, each.value, each.verdict) for each in answers] == [
        (1, 1, "1", False), (1, 2, "0", True), (2, 1, "0", True),
    ]  # fmt: skip
    assert [each.round for each in classes.answers_of(room, ada)] == [1, 2]
    assert classes.ask(room, CHOICE | {"text": "And now?"}) == 2
    assert tally(process, room) == []
    classes.remove(room, 1)
    assert refused(lambda: classes.remove(room, 1)) == "classes.no_member"
    assert rows_of(process) == {"classes": 1, "class_members": 1, "class_questions": 2, "class_answers": 1}
    assert classes.join(room, "Eve")[0].number == 3, "no number is given twice"
    classes.end_question(room)
    assert refused(lambda: classes.close(room)) == "classes.no_question"
    classes.delete(room)
    assert rows_of(process) == EMPTY
    assert refused(lambda: classes.find(room.code)) == "classes.unknown"
    assert room.over
    process.rooms.stop()


def test_a_class_goes_on_after_the_server_was_killed(location: Location):
    process = Process(location)
    room, key = process.classes.open("client", "Pipelines")
    member, secret = process.classes.join(room, "Ada")
    process.classes.ask(room, CHOICE)
    process.answer(room, 1, "0")
    process.classes.change(room, {"paused": True, "pace": [2, 3]})
    process.classes.show(room, {"page": "/build", "query": "?p=8"})
    process.classes.work(room, member, {"view": {"page": "/", "query": "?p=4"}, "item": "build/x", "state": "stuck"})
    process.rooms._save()
    scene, state = room.scene, room.state(leads=True)
    process.kill()

    again = Process(location)
    found = again.classes.of_browser("client", room.code, "", secret)
    assert found is not room
    assert again.classes.leads(found, key)
    assert found.scene == scene
    assert found.state(leads=True) == state
    assert again.classes.member(found, secret).row() == {
        "number": 1, "name": "Ada", "view": {"page": "/", "query": "?p=4"},
        "items": {"q1": "wrong", "build/x": "stuck"},
    }  # fmt: skip
    assert tally(again, found) == [["0", 1]]
    again.answer(found, 1, "1")
    assert tally(again, found) == [["1", 1]]
    again.classes.show(found, {"page": "/"})
    assert found.scene["seq"] > scene["seq"], "pages take no scene for an older one"
    again.rooms.stop()


def test_expired_classes_are_refused_and_deleted_also_those_of_a_server_that_was_away(location: Location):
    process = Process(location)
    room, _ = process.classes.open("client")
    process.classes.join(room, "Ada")
    process.classes.ask(room, CHOICE)
    process.answer(room, 1, "1")
    process.rooms.database.execute("UPDATE classes SET expires = 5")
    room.expires = 5.0
    assert refused(lambda: process.classes.find(room.code)) == "classes.unknown"
    assert process.classes.limits.most == 5
    for _ in range(5):
        process.classes.open("client")  # one that is over takes no place
    assert refused(lambda: process.classes.open("client")) == "classes.full"
    process.rooms._beat()
    assert room.over, "its pages are told"
    process.kill()
    again = Process(location)
    assert refused(lambda: again.classes.find(room.code)) == "classes.unknown"
    assert rows_of(again)["class_answers"] == 1
    again.rooms._expire()
    assert rows_of(again) == EMPTY | {"classes": 5}
    again.rooms.stop()


def test_a_process_whose_class_another_has_deleted_for_its_age_ends_it_too(start):
    first, second = start(Line()), start(Line())
    room, _ = first.classes.open("client")
    there = second.classes.find(room.code)
    first.rooms.database.execute("UPDATE classes SET expires = 5")
    first.rooms._expire()
    assert room.over
    there.expires = 5.0
    second.rooms._beat()
    assert there.over
    assert (len(first.rooms), len(second.rooms)) == (0, 0)
    assert second.changed[-1] == room.code


def test_a_full_or_locked_class_takes_nobody_however_many_come_at_once(start):
    first, second = start(members=7), start(members=7)
    room, _ = first.classes.open("client")
    there = second.classes.find(room.code)  # hears nothing of the other
    comers = [gevent.spawn(refused_or_in, each, at) for each, at in ((first, room), (second, there)) for _ in range(20)]
    gevent.joinall(comers)
    said = [each.value for each in comers]
    assert (said.count("in"), said.count("classes.full_class")) == (7, 33)
    first.classes.remove(room, 3)
    first.classes.change(room, {"locked": True})
    assert refused_or_in(second, there) == "classes.locked"


def refused_or_in(process: Process, room: Classroom) -> str:
    try:
        process.classes.join(room, None)
    except RequestError as error:
        return error.code
    return "in"


def test_what_two_pages_of_a_leader_change_at_the_same_moment_is_all_kept(start):
    first, second = start(), start()
    room, _ = first.classes.open("client")
    there = second.classes.find(room.code)
    at_once = [
        gevent.spawn(first.classes.change, room, {"paused": True}),
        gevent.spawn(first.classes.change, room, {"follow": True}),
        gevent.spawn(second.classes.change, there, {"pace": [1, 2]}),
        gevent.spawn(second.classes.ask, there, CHOICE),
        gevent.spawn(first.classes.ask, room, CHOICE),
    ]
    gevent.joinall(at_once, raise_error=True)
    assert {each.value for each in at_once[3:]} == {1, 2}
    first.rooms.read_again()
    first.rooms._catch_up()
    kept = room.settings
    assert (kept["paused"], kept["follow"], kept["pace"], kept["asked"], kept["changes"]) == (True, True, [1, 2], 2, 5)


def test_an_answer_that_is_on_its_way_when_its_member_is_removed_or_the_question_closed_is_refused(start):
    process, other = start(), start()
    room, _ = process.classes.open("client")
    process.classes.join(room, "Ada")
    process.classes.join(room, "Eve")
    process.classes.ask(room, CHOICE)
    asked = process.classes.asked(room, 1, 1)
    there = other.classes.find(room.code)  # what it does the first process does not hear
    other.classes.remove(there, 1)
    assert refused(lambda: process.classes.answer(room, 1, asked, "0")) == "classes.no_member"
    other.classes.close(there)
    assert refused(lambda: process.classes.answer(room, 2, asked, "0")) == "classes.too_late"
    other.classes.delete(there)
    assert refused(lambda: process.classes.answer(room, 2, asked, "0")) == "classes.unknown"
    assert refused(lambda: process.classes.join(room, None)) == "classes.unknown"
    assert refused(lambda: process.classes.ask(room, CHOICE)) == "classes.unknown"
    process.classes.rename(room, room.members[2], "X")
    process.classes.work(room, room.members[2], {"item": "build/x", "state": "done"})
    process.rooms._save()
    assert rows_of(process) == EMPTY


def test_processes_see_each_others_scenes_members_work_answers_and_presence(start):
    line = Line()
    first, second = start(line), start(line)
    room, key = first.classes.open("client", "T")
    member, secret = first.classes.join(room, "Ada")
    there = second.classes.of_browser("client", room.code, key, "")
    assert second.classes.member(there, secret).name == "Ada"
    second.classes.join(there, "Eve")
    first.classes.rename(room, room.members[2], "Eva")
    second.classes.ask(there, CHOICE)
    first.answer(room, 1, "1")
    second.answer(there, 2, "1")
    for process in (first, second, first):
        process.rooms._catch_up()
    assert room.tally == there.tally == {"question": 1, "round": 1, "answered": 2, "counts": [["1", 2]]}
    first.classes.show(room, {"page": "/learn/bubble", "place": "step-2"})
    assert there.scene == room.scene
    first.classes.work(room, member, {"view": {"page": "/", "query": "?p=2"}})
    first.rooms.here(room, frozenset({1}))
    second.rooms.here(there, frozenset({2}))
    first.rooms._catch_up()
    for each in (room, there):
        assert [(row["name"], row["here"], row["items"]) for row in each.room(0)["members"]] == [
            ("Ada", True, {"q1": "done"}), ("Eva", True, {"q1": "done"}),
        ]  # fmt: skip
    assert there.members[1].view == {"page": "/", "query": "?p=2"}
    assert {room.code} == set(second.changed)
    there.here = {name: (heard - 2 * HEARD_S, numbers) for name, (heard, numbers) in there.here.items()}
    second.rooms._beat()  # of itself it knows; the first process has said nothing for long
    assert there.present() == {2}
    first.classes.remove(room, 2)
    assert sorted(there.members) == [1]
    second.classes.delete(there)
    assert room.over
    assert len(first.rooms) == len(second.rooms) == 0


def test_a_process_that_was_cut_off_reads_again_what_it_has_missed_and_keeps_its_own(start):
    line = Line()
    first, second = start(line), start(line)
    room, _ = first.classes.open("client")
    gone, stays = (first.classes.join(room, name)[0] for name in ("Ada", "Eve"))
    there = second.classes.find(room.code)
    line.cut = True
    first.classes.remove(room, gone.number)
    _, secret = first.classes.join(room, "Zoë")
    first.classes.ask(room, CHOICE)
    first.answer(room, 3, "0")
    first.classes.show(room, {"page": "/build"})
    second.classes.work(there, there.members[stays.number], {"item": "build/x", "state": "done"})
    assert second.classes.of_browser("client", room.code, "", secret) is there
    assert second.classes.member(there, secret).name == "Zoë", "a member's browser may be at any process"
    line.cut = False
    first.rooms._beat()  # says that the others have missed something, and shows the scene once more
    assert there.scene == room.scene
    second.rooms._catch_up()
    assert sorted(there.members) == [2, 3]
    assert there.question == room.question
    assert there.tally["counts"] == [["0", 1]]
    assert there.members[2].items == {"build/x": "done"}, "which is not written yet"
    line.posts.clear()
    first.rooms._beat()
    assert line.posts == [], "once is enough"


def test_a_process_that_reads_a_class_before_its_work_is_written_hears_of_that_work_all_the_same(start):
    line = Line()
    first, second, third = (start(line) for _ in range(3))
    room, _ = first.classes.open("client")
    done, stuck = (first.classes.join(room, name)[0].number for name in ("Ada", "Eve"))
    again = second.classes.find(room.code)
    for number, state in ((done, "done"), (stuck, "stuck")):
        first.classes.work(room, room.members[number], {"item": "build/x", "state": state})
    first.rooms._catch_up()
    second.rooms.read_again()
    second.rooms._catch_up()
    late = third.classes.find(room.code)
    first.rooms._save()
    second.classes.work(again, again.members[stuck], {"item": "build/x", "state": "working"})
    first.rooms._beat()
    second.rooms._catch_up()
    for each in (room, again, late):
        assert [each.members[number].items for number in (done, stuck)] == [{"build/x": "done"}, {"build/x": "working"}]


def test_of_scenes_that_processes_write_while_they_are_cut_off_the_newest_stays(start):
    line = Line()
    first, second = start(line), start(line)
    room, _ = first.classes.open("client")
    there = second.classes.find(room.code)
    line.cut = True
    for process, own, page in ((first, room, "/"), (second, there, "/build")):
        process.classes.show(own, {"page": page})
    for process in (second, first):
        process.rooms._save()
        process.rooms._beat()
    line.cut = False
    for process in (first, second, first):
        process.rooms._beat()
        process.rooms._catch_up()
    assert room.scene["page"] == there.scene["page"] == "/build"


def test_a_process_that_was_cut_off_hears_of_answers_and_of_the_end_once_it_can_be_reached(start):
    line = Line()
    first, second = start(line), start(line)
    room, _ = first.classes.open("client")
    first.classes.join(room, "Ada")
    first.classes.ask(room, CHOICE)
    there = second.classes.find(room.code)
    line.cut = True
    first.answer(room, 1, "0")
    first.rooms._catch_up()  # tells nobody
    line.cut = False
    first.rooms._beat()
    second.rooms._catch_up()
    assert there.tally["counts"] == [["0", 1]]
    line.cut = True
    first.classes.delete(room)
    line.cut = False
    assert not there.over
    first.rooms._beat()
    assert there.over
    line.posts.clear()
    first.rooms._beat()
    assert line.posts == [], "once is enough"


def test_what_others_tell_while_a_class_is_read_is_not_missed_and_a_whole_class_shares_one_reading(start):
    line = Line()
    first, second = start(line), start(line)
    room, _ = first.classes.open("client")
    held, reads = Event(), []

    def on_disk(work: Callable[[], Any]) -> Any:
        found = work()
        reads.append(work)
        if len(reads) == 1:
            held.wait()
        return found

    second.on_disk = on_disk
    pages = [gevent.spawn(second.classes.find, room.code) for _ in range(300)]
    gevent.sleep(0)
    first.classes.join(room, "Ada")
    held.set()
    gevent.joinall(pages, raise_error=True)
    assert len({id(each.value) for each in pages}) == 1
    assert list(pages[0].value.members) == [1]
    assert len(reads) == 2


def test_a_class_that_changes_while_it_is_read_again_is_read_once_more(start):
    process = start()
    room, _ = process.classes.open("client")
    plain = process.on_disk

    def join_after(work: Callable[[], Any]) -> Any:
        found = plain(work)
        process.on_disk = plain
        process.classes.join(room, "Ada")
        return found

    process.rooms.read_again()
    process.on_disk = join_after
    process.rooms._catch_up()
    assert list(room.members) == [1]
    process.rooms._catch_up()
    assert list(room.members) == [1]
    assert not process.rooms._stale


def test_work_is_written_and_told_once_however_often_it_is_reported_and_after_the_disk_failed(start):
    line = Line()
    process = start(line)
    room, _ = process.classes.open("client")
    member, _ = process.classes.join(room, None)
    line.posts.clear()
    times = []
    plain, process.on_disk = process.on_disk, lambda work: times.append(1) or plain(work)
    for number in range(1000):
        process.classes.work(room, member, {"item": f"learn/a/{number}", "state": "done"})
        process.classes.work(room, member, {"view": {"page": "/", "query": f"?p={number}"}})
    assert (times, line.posts) == ([], [])
    assert len(member.items) == 64
    process.classes.ask(room, CHOICE)
    process.answer(room, 1, "1")
    assert member.items["q1"] == "done", "whatever else a page has reported"

    def fail(_: Callable[[], Any]) -> Any:
        raise DatabaseError("its disk is full")

    process.on_disk = fail
    assert refused(process.rooms._save) == "classes.disk"
    assert refused(lambda: process.classes.join(room, None)) == "classes.disk"
    assert refused(lambda: process.classes.find("BBBBBB")) == "classes.disk"
    process.on_disk = plain
    process.rooms._save()
    (shown,) = process.rooms.database.execute("SELECT shown FROM class_members")[0]
    assert "?p=999" in shown
    line.posts.clear()
    process.rooms._catch_up()
    assert [list(each) for each in line.posts] == [["work"], ["answered"]]


def test_codes_are_not_found_by_trying_with_or_without_a_made_up_cookie(start):
    process = start(looked_up=3)
    room, key = process.classes.open("client")
    _, secret = process.classes.join(room, None)
    for _ in range(10):  # who leads or has joined is not counted
        assert process.classes.of_browser("class", room.code, key, "") is room
        assert process.classes.of_browser("class", room.code, "", secret) is room
    assert process.classes.look_up("thief", room.code) is room
    assert refused(lambda: process.classes.of_browser("thief", "BBBBBB", "made up", "")) == "classes.unknown"
    assert refused(lambda: process.classes.look_up("thief", "no code")) == "classes.bad_code"
    assert process.classes.of_browser("thief", room.code, "", "made up") is room
    for key_, secret_ in (("", ""), ("x", ""), ("", "x")):
        assert refused(lambda k=key_, s=secret_: process.classes.of_browser("thief", room.code, k, s)) == (
            "classes.too_often"
        )
    assert process.classes.look_up("somebody else", room.code) is room


def test_one_client_opens_a_limited_number_of_classes_and_asks_a_limited_number_of_questions(start, monkeypatch):
    process = start(opened=2)
    monkeypatch.setattr("backend.classes.classes.MOST_QUESTIONS", 2)
    monkeypatch.setattr("backend.classes.classes.MOST_ROUNDS", 1)
    room, _ = process.classes.open("client")
    for title, hours in (("x" * 81, 3), (7, 3), ("\ud800", 3), ("T", 0), ("T", 25), ("T", True), ("T", "3")):
        with pytest.raises(RequestError):
            process.classes.open("client", title, hours)
    process.classes.open("client")
    assert refused(lambda: process.classes.open("client")) == "classes.too_often"
    for _ in range(2):
        process.classes.ask(room, CHOICE)
    assert refused(lambda: process.classes.ask(room, CHOICE)) == "classes.asked_enough"
    assert refused(lambda: process.classes.ask_again(room)) == "classes.asked_enough"
    assert refused(lambda: process.classes.reveal(room, {"source": "oracle"})) == "classes.source"
    assert room.question["open"]


def test_a_member_has_one_computation_at_a_time_and_a_class_a_few(start):
    process = start()
    room, _ = process.classes.open("client")
    go, running = Event(), []

    def work(number: int) -> int:
        running.append(number)
        go.wait()
        return number

    pages = [gevent.spawn(process.classes.computed, room, each, lambda each=each: work(each)) for each in range(20)]
    gevent.sleep(0)
    assert refused(lambda: process.classes.computed(room, 3, lambda: 0)) == "classes.one_at_a_time"
    assert len(running) == 8
    go.set()
    gevent.joinall(pages, raise_error=True)
    assert [each.value for each in pages] == list(range(20))
    assert process.classes.computed(room, 3, lambda: 7) == 7
