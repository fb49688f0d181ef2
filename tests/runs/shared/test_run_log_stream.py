"""The logs of runs in a real Redis: what a reader has is always a beginning of what the writer has, without a gap."""

from __future__ import annotations

import math
from dataclasses import replace

import gevent
import pytest
import redis
from gevent.event import Event
from hypothesis import given
from hypothesis import strategies as st

from backend.access.limits.shared_rate import SharedHourlyRate, SharedPace
from backend.config import Config
from backend.errors import message
from backend.jobs.encoding import Encoded
from backend.runs.errors import RunFailure
from backend.runs.run import Run
from backend.schedule.interop.measured_rows import KINDS
from backend.web.shared import remote_runs, run_manager
from backend.web.shared.answer_cache import AnswerCache
from backend.web.shared.connection import connect
from backend.web.shared.lease import LEASE, Lease
from backend.web.shared.publisher import LIVE
from backend.web.shared.remote_runs import RemoteRuns
from backend.web.shared.run_log_stream import Writer, read_further, read_run, stream_of
from backend.web.shared.run_manager import RunManager, _wait_for
from tests.support import PATIENCE_S, until

ROWS = [[0, index, index, index + 1, index + 2, 0] for index in range(9)]
FAILURE = RunFailure("worker", message("runs.runner_stopped", "The runner stopped just before this run; try again."), 1)
EVENTS = st.lists(
    st.one_of(
        st.builds(lambda n: {"event": "op_batch", "ops": ROWS[:n]}, st.integers(0, 9)),
        st.builds(
            lambda n: {"event": "progress", "phase": "running", "step": n, "steps": 9, "done": n}, st.integers(0, 9)
        ),
        st.just({"event": "warming"}),
        st.just({"event": "waiting", "message": "for a GPU"}),
        st.just({"event": "running", "mode": "free", "device": "cpu", "unit_ms": 1.0}),
    ),
    max_size=8,
)
ENDS = st.sampled_from(
    [{"event": "cancelled"}, {"event": "failed", "failure": FAILURE.as_dict()}, {"event": "finished", "verified": True}]
)


def a_run(run_id: str = "a1b2c3") -> Run:
    return Run(
        run_id, {"family": "gpipe"}, "auto", None, 1000.0, "me", "order", {"steps": 1}, facts={"estimate_s": 2.0}
    )


def same(run: Run, other: Run) -> bool:
    """Whether two processes would show the same of a run."""
    rows = all(run.log.rows(kind) == other.log.rows(kind) for kind in KINDS)
    return rows and run.summary() == other.summary() and run.log.texts(0) == other.log.texts(0)


@pytest.fixture
def address(redis_server) -> str:
    """A database that the servers around this Redis do not use: they would take the lease, too."""
    return redis_server.url.replace("/0", "/1")


@pytest.fixture
def client(address: str):
    """A client of an empty database."""
    made = connect(address)
    made.flushdb()
    return made


@given(EVENTS, ENDS)
def test_a_copy_of_a_run_has_the_same_state_and_log_after_every_entry(events, end):
    run, copy = a_run(), a_run()
    run.move(2)
    for event in (*events, end):
        run.apply(event)
        for text in run.log.texts(copy.log.seq):
            copy.follow(text)
        assert same(run, copy)


def test_a_reader_that_joins_at_any_time_has_the_run_and_gets_every_further_entry_once(client):
    run = a_run()
    writer = Writer(client, run)
    for index in range(200):
        run.apply({"event": "op_batch", "ops": ROWS[: index % 9 + 1]})
        if index % 7 == 0:
            writer.write()
        if index == 100:
            late = read_run(client, run.id)
    assert late is not None
    assert 0 < late.log.seq < 101
    run.apply({"event": "cancelled"})
    writer.write()
    while not late.over:
        assert read_further(client, late, 1000) > 0
    assert same(run, late)
    assert same(run, read_run(client, run.id))
    assert read_further(client, late, 1) == 0


def test_a_reader_waits_for_the_next_entry_without_holding_up_others(client):
    run = a_run()
    writer = Writer(client, run)
    writer.write()
    copy = read_run(client, run.id)
    reading = gevent.spawn(read_further, client, copy, 5000)
    gevent.sleep(0.05)
    run.apply({"event": "warming"})
    writer.write()
    assert reading.get(timeout=PATIENCE_S) == 1
    assert copy.status == "warming"


def test_a_writer_whose_redis_comes_back_empty_writes_the_whole_log_again_and_readers_miss_nothing(client):
    run = a_run()
    writer = Writer(client, run)
    run.apply({"event": "op_batch", "ops": ROWS})
    writer.write()
    ahead = read_run(client, run.id)
    client.flushdb()
    run.apply({"event": "op_batch", "ops": ROWS})
    with pytest.raises(redis.RedisError):
        writer.write()  # the stream must not begin in the middle
    assert client.exists(stream_of(run.id)) == 0
    writer.write()
    assert read_further(client, ahead, 1000) == 1
    assert same(run, ahead)
    assert same(run, read_run(client, run.id))


def test_a_writer_whose_redis_comes_back_as_it_was_a_while_ago_leaves_no_gap(client):
    run = a_run()
    writer = Writer(client, run)
    run.apply({"event": "op_batch", "ops": ROWS})
    writer.write()
    earlier, ahead = client.dump(stream_of(run.id)), read_run(client, run.id)
    for _ in range(2):
        run.apply({"event": "op_batch", "ops": ROWS})
        writer.write()
    client.restore(stream_of(run.id), 0, earlier, replace=True)
    run.apply({"event": "op_batch", "ops": ROWS})
    with pytest.raises(redis.RedisError):
        writer.write()
    writer.write()
    while ahead.log.seq < run.log.seq:
        assert read_further(client, ahead, 1000) > 0
    assert same(run, ahead)
    assert same(run, read_run(client, run.id))


@pytest.mark.parametrize("killed", [False, True])
def test_a_run_whose_further_log_is_lost_ends_as_the_database_has_it(
    client, address: str, config: Config, killed: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(remote_runs, "ENDED_S", 0.0)
    run = a_run()
    run.apply({"event": "op_batch", "ops": ROWS})
    Writer(client, run).write()
    if killed:  # the database has the run as it was asked for
        stored = a_run()
        stored.fail(FAILURE)
    else:
        stored = run
        run.apply({"event": "op_batch", "ops": ROWS})
        run.apply({"event": "finished", "verified": True})
    runs = RemoteRuns(replace(config, redis=address))
    try:
        runs.open()
        runs.store.save(stored)
        runs.state.heard = math.inf
        seen = runs.get(run.id)
        until(lambda: seen.over, sleep=gevent.sleep)
    finally:
        runs.stop()
    assert seen.log.rows() == run.log.rows()
    assert seen.summary()["failure"] == stored.summary()["failure"]
    assert killed or same(seen, run)


def test_the_next_manager_keeps_the_end_of_a_run_that_redis_as_it_was_earlier_lacks(
    client, address: str, config: Config
):
    run = a_run()
    run.apply({"event": "op_batch", "ops": ROWS})
    Writer(client, run).write()
    client.sadd(LIVE, run.id)
    run.apply({"event": "op_batch", "ops": ROWS})
    run.apply({"event": "finished", "verified": True})
    following = RunManager(replace(config, redis=address))
    try:
        following.manager.store.open()
        following.manager.store.save(run)
        following.start()
        assert same(run, following.manager.store.load(run.id))
        assert following.publisher.left_over() == []
        following.publisher.publish()
        assert same(run, read_run(client, run.id))
    finally:
        following.stop()


def test_the_name_of_a_run_in_progress_is_seen_by_all_processes_and_stays_when_its_manager_dies(
    client, address: str, config: Config
):
    run = a_run()
    run.apply({"event": "op_batch", "ops": ROWS})
    writer = Writer(client, run)
    writer.write()
    client.sadd(LIVE, run.id)
    runs, following = RemoteRuns(replace(config, redis=address)), RunManager(replace(config, redis=address))
    try:
        runs.open()
        for run.name in ("lecture", "seminar"):
            runs.state.live = {run.id: run.summary()}
            assert runs.get(run.id).name == run.name
        runs.store.save(run)
        for _ in range(2):  # the database has less of it than Redis
            run.apply({"event": "op_batch", "ops": ROWS})
        writer.write()
        following.start()
        assert following.manager.store.load(run.id).name == "seminar"
    finally:
        following.stop()
        runs.stop()


def test_a_writer_that_repeats_itself_adds_nothing_twice(client):
    run = a_run()
    run.apply({"event": "op_batch", "ops": ROWS})
    for _ in range(3):
        Writer(client, run).write()
    assert client.xlen(stream_of(run.id)) == 1 + run.log.seq


def test_one_process_at_a_time_holds_the_lease(client):
    first, second = Lease(client, "first"), Lease(client, "second")
    assert first.take()
    assert not second.take()
    second.release()
    assert first.take()
    client.delete(LEASE)  # Redis came back empty
    assert first.take()
    first.release()
    assert second.take()
    assert not first.take()


def test_a_stopping_process_holds_the_lease_while_its_run_goes_on(client, address: str, config: Config, monkeypatch):
    drained = []

    class Draining:
        """A manager whose run ends when the lease, which it has lost, is held again."""

        def __init__(self, _: Config) -> None:
            self.manager = self

        def drain(self, seconds: float) -> None:
            client.delete(LEASE)
            until(lambda: client.get(LEASE) == b"first", sleep=gevent.sleep)
            drained.append(seconds)

        def start(self) -> None: ...

        stop = start

    monkeypatch.setattr(run_manager, "RunManager", Draining)
    monkeypatch.setattr(run_manager, "RENEW_S", 0.01)
    monkeypatch.setattr(gevent, "signal_handler", lambda *_: None)
    stopping = replace(config, redis=address, stop_s=60)
    assert run_manager.manage(stopping, "first", lambda stop: stop.set()) == 0
    assert drained == [60]
    assert client.get(LEASE) is None


def test_the_holder_keeps_the_lease_where_redis_comes_back_empty_and_another_takes_it_once_the_holder_is_gone(client):
    holder, waiting = Lease(client, "holder"), Lease(client, "waiting")
    assert _wait_for(holder, Config(), Event()), "nobody has held it"
    turns = iter([client.flushdb, holder.take, client.flushdb, holder.take, holder.release])

    class Turns(Event):
        def wait(self, timeout: float | None = None) -> bool:  # type: ignore[override]
            next(turns, lambda: True)()
            return False

    assert _wait_for(waiting, Config(), Turns())
    assert next(turns, None) is None, "not before the holder is gone"
    assert not holder.take()


def test_a_pace_is_kept_by_all_processes_together_and_by_each_alone_without_redis(client):
    paces = [SharedPace(client, "test", 3, 60.0) for _ in range(2)]
    assert [paces[number % 2].take("me") for number in range(3)] == [None, None, None]
    assert [pace.take("me") for pace in paces] == [20, 20]
    assert paces[1].take("you") is None
    alone = SharedPace(connect("redis://127.0.0.1:1/0"), "test", 1, 60.0)
    assert [alone.take("me"), alone.take("me")] == [None, 60]


def test_actions_of_an_hour_are_counted_by_all_processes_together(client):
    rates = [SharedHourlyRate(client, "test", 2) for _ in range(2)]
    assert [rates[number % 2].take("me") for number in range(3)] == [None, None, 60]
    assert rates[1].take("you") is None


def test_an_answer_that_one_process_has_computed_is_found_by_another(client):
    first, second = AnswerCache(10_000, client), AnswerCache(10_000, client)
    answer = Encoded.of(b"\x00deflated\n", "application/json")
    first.put(("schedule", 1), answer)
    assert second.get(("schedule", 1)) == answer
    assert second.get(("schedule", 2)) is None
    client.flushdb()
    assert second.get(("schedule", 1)) == answer  # its own by now
    alone = AnswerCache(10_000, connect("redis://127.0.0.1:1/0"))
    alone.put("key", answer)
    assert alone.get("key") == answer
