"""The feed of runs to viewers, with viewers of any speed."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest

from backend.errors import RequestError
from backend.runs.run import Run
from backend.runs.run_log import Part
from backend.schedule.interop.measured_rows import KINDS
from backend.schedule.spec import Spec
from backend.web.sockets import run_feed as feed_module
from backend.web.sockets.run_feed import MOST_WATCHES, Feed


class Viewers:
    """A transport that keeps the messages it sends. Busy viewers have not taken their last message; those who do not
    take (all do unless `takes` is set) are busy from their first message on.
    """

    def __init__(self) -> None:
        self.got: dict[str, list[dict]] = {}
        self.busy: set[str] = set()
        self.takes: set[str] | None = None
        self.waiting: Counter[str] = Counter()  # messages sent and not taken
        self.on_send: dict[str, Callable[[], None]] = {}
        self.sends = 0

    def idle(self, viewer: str) -> bool:
        return viewer not in self.busy and not self.waiting[viewer]

    def send(self, viewers: list[str], part: Part) -> None:
        self.sends += 1
        for viewer in viewers:
            self.got.setdefault(viewer, []).append(json.loads(part.text))
            self.waiting[viewer] += self.takes is not None and viewer not in self.takes
            self.on_send.get(viewer, lambda: None)()

    def rows(self, viewer: str) -> list:
        """The ops that the viewer has, after a check that no number is missing or doubled."""
        messages = self.got[viewer]
        for before, after in pairwise(messages):
            assert after["first"] == before["seq"] + 1
        return [row for message in messages for row in message.get("ops", [])]


def a_run(name: str = "r") -> Run:
    return Run(name, Spec().to_json(), "auto", None, 0.0)


def grow(run: Run, ops: int = 2) -> None:
    at = run.log.ops
    run.apply({"event": "op_batch", "ops": [[0, at + k, 1, 2, 3, 0] for k in range(ops)]})


def ops_of(run: Run) -> list:
    """All ops of a run as viewers receive them."""
    return [list(row) for row in run.log.rows()]


@pytest.fixture
def viewers() -> Viewers:
    return Viewers()


@pytest.fixture
def feed(viewers: Viewers) -> Feed:
    made = Feed(viewers)
    made._loop = "the tests pump by hand"
    return made


def pump(feed: Feed) -> None:
    while feed.pump() is not None:
        pass


def test_viewers_who_join_at_any_time_from_any_entry_all_see_the_same_run(feed, viewers):
    dice = random.Random(7)
    run = a_run()
    joined = {}
    for step in range(300):
        grow(run, dice.randrange(4))
        if step % 10 == 0:
            since = dice.randrange(run.log.seq + 1)
            feed.watch(f"v{step}", run, since)
            joined[f"v{step}"] = since
        viewers.busy = {viewer for viewer in joined if dice.random() < 0.7}
        if dice.random() < 0.5:
            feed.pump()
    run.apply({"event": "finished"})
    viewers.busy = set()
    pump(feed)
    for viewer, since in joined.items():
        assert viewers.got[viewer][0]["first"] == since + 1
        assert viewers.got[viewer][-1]["event"] == "finished"
        later = list(run.log.entries())[since:-1]
        assert viewers.rows(viewer) == [row for entry in later for row in entry["ops"]]


def test_a_slow_viewer_gets_nothing_until_free_and_then_all_of_it_at_once(feed, viewers):
    run = a_run()
    feed.watch("slow", run, 0)
    feed.watch("fast", run, 0)
    viewers.busy = {"slow"}
    for _ in range(100):
        grow(run)
        feed.pump()
    assert (len(viewers.got["fast"]), "slow" in viewers.got) == (100, False)
    viewers.busy = set()
    pump(feed)
    assert len(viewers.got["slow"]) == 1
    assert viewers.rows("slow") == viewers.rows("fast")


def test_the_size_of_one_message_to_a_viewer_is_bounded(feed, viewers, monkeypatch):
    monkeypatch.setattr(feed_module, "MOST_ROWS", 10)
    run = a_run()
    for _ in range(50):
        grow(run, 4)
    feed.watch("late", run, 0)
    pump(feed)
    assert max(len(message["ops"]) for message in viewers.got["late"]) <= 10
    assert len(viewers.rows("late")) == 200


def test_viewers_who_request_bytes_and_messages_get_them_without_delaying_the_others(feed, viewers):
    run = a_run()
    feed.watch("curious", run, 0, KINDS)
    feed.watch("plain", run, 0)
    grow(run)
    run.apply({"event": "op_batch", "ops": [], "bytes": [[0, 0, 1, 2, 3]], "messages": [[0, 1, 0, 1, 0, 1, 2, 3, 4]]})
    feed.pump()
    feed.watch("curious", run, run.log.seq)  # no longer
    run.apply({"event": "op_batch", "ops": [], "bytes": [[0, 1, 1, 2, 3]]})
    feed.pump()
    assert viewers.rows("curious") == viewers.rows("plain") == ops_of(run)
    assert [message.get("bytes") for message in viewers.got["curious"]] == [[[0, 0, 1, 2, 3]], None]
    assert viewers.got["curious"][0]["messages"] == [[0, 1, 0, 1, 0, 1, 2, 3, 4]]
    assert all(set(message).isdisjoint({"bytes", "messages"}) for message in viewers.got["plain"])
    feed.drop("curious")
    assert (feed._kinds, viewers.got["plain"][-1]["seq"]) == ({}, run.log.seq)


def test_viewers_at_the_same_entry_share_one_message(feed, viewers):
    run = a_run()
    for k in range(500):
        feed.watch(f"v{k}", run, 0)
    grow(run)
    pump(feed)
    assert (viewers.sends, len(viewers.got)) == (1, 500)


def test_a_viewer_who_stops_reading_occupies_one_message_however_long_the_run(feed, viewers):
    run = a_run()
    for viewer in ("stalled", "reads"):
        feed.watch(viewer, run, 0)
    viewers.takes = {"reads"}
    for _ in range(1000):
        grow(run)
        feed.pump()
    assert (viewers.waiting["stalled"], len(viewers.got["stalled"]), len(viewers.got["reads"])) == (1, 1, 1000)
    viewers.takes.add("stalled")
    viewers.waiting["stalled"] = 0
    pump(feed)
    assert len(viewers.got["stalled"]) == 2
    assert viewers.rows("stalled") == viewers.rows("reads")


def test_a_late_viewer_catches_up_without_pauses_during_the_run(feed, viewers, monkeypatch):
    monkeypatch.setattr(feed_module, "MOST_ROWS", 10)
    run = a_run()
    for _ in range(50):
        grow(run, 4)
    feed.watch("late", run, 0)
    pauses = []
    while (pause := feed.pump()) is not None:
        pauses.append(pause)
        if len(pauses) % 5 == 0:
            grow(run, 4)
    assert set(pauses) == {0.0}
    assert [row[1] for row in viewers.rows("late")] == list(range(run.log.ops))


def test_a_viewer_who_reconnects_continues_without_gaps_or_duplicates(feed, viewers):
    run = a_run()
    feed.watch("first", run, 0)
    for step in range(60):
        grow(run)
        feed.pump()
        if step == 20:
            feed.drop("first")  # the connection is cut
        if step == 40:
            feed.watch("second", run, viewers.got["first"][-1]["seq"])
    pump(feed)
    viewers.got["both"] = viewers.got["first"] + viewers.got["second"]
    assert [row[1] for row in viewers.rows("both")] == list(range(120))


def test_a_viewer_found_disconnected_on_sending_is_dropped_and_the_others_miss_nothing(feed, viewers):
    run = a_run()
    for viewer in ("before", "gone", "behind"):
        feed.watch(viewer, run, 0)
    viewers.on_send = {"gone": lambda: feed.drop("gone")}
    for _ in range(5):
        grow(run)
        feed.pump()
    assert (feed.viewers(), len(viewers.got["gone"])) == (2, 1)
    assert viewers.rows("before") == viewers.rows("behind") == ops_of(run)


def test_the_last_viewer_of_a_run_may_be_disconnected(feed, viewers):
    run = a_run()
    feed.watch("gone", run, 0)
    viewers.on_send = {"gone": lambda: feed.drop("gone")}
    grow(run)
    pump(feed)
    assert feed.viewers() == 0


def test_a_viewer_ahead_of_the_run_receives_its_end(feed):
    run = a_run()
    grow(run)
    with pytest.raises(RequestError) as refused:
        feed.watch("v", run, 5)
    assert (refused.value.field, refused.value.value, refused.value.limit) == ("since", 5, 1)


def test_watching_again_starts_from_the_new_entry_and_counts_once(feed, viewers):
    run = a_run()
    grow(run)
    feed.watch("v", run, 0)
    feed.watch("v", run, 1)
    pump(feed)
    assert (feed.viewers(), viewers.got) == (1, {})


def test_a_viewer_who_leaves_gets_no_more_and_a_completely_sent_run_is_dropped(feed, viewers):
    run = a_run()
    for viewer in ("stays", "leaves", "vanishes"):
        feed.watch(viewer, run, 0)
    feed.unwatch("leaves", run.id)
    feed.unwatch("leaves", "unknown")
    feed.drop("vanishes")
    run.apply({"event": "finished"})
    pump(feed)
    assert set(viewers.got) == {"stays"}
    assert (feed.viewers(), feed._watched) == (0, {})


def test_one_page_can_watch_a_limited_number_of_runs(feed):
    for k in range(MOST_WATCHES):
        feed.watch("v", a_run(f"r{k}"), 0)
    feed.watch("v", a_run("r0"), 0)
    with pytest.raises(RequestError, match="can watch"):
        feed.watch("v", a_run("more"), 0)
