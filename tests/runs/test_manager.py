"""Runs with a runner process: queueing, cancelling, and every way in which a runner can fail."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import gevent
import pytest
from gevent.queue import Empty, SimpleQueue

from backend.config import Config
from backend.errors import RequestError
from backend.runs import manager as manager_module
from backend.runs import runner_client as client_module
from backend.runs.manager import Manager
from backend.runs.options import Options
from backend.runs.run import Run
from backend.runs.runner_client import RunnerClient
from backend.runs.runs import RunRequest
from backend.runs.store import Store
from backend.schedule.spec import Spec
from tests.conftest import FAKE_RUNNER, until
from tests.runs.stored import opened
from tests.support import PATIENCE_S
from tests.support.processes import children_of, gone, group_of

ORDER = "an order, which the fake runner does not read"


@pytest.fixture
def manage(config: Config) -> Iterator[Callable[..., Manager]]:
    """Make started managers that stop with the test."""
    made: list[Manager] = []

    def make(*options: str, **changes: Any) -> Manager:
        settings = {"runner": FAKE_RUNNER + options} | changes
        made.append(Manager(replace(config, **settings)))
        made[-1].start()
        return made[-1]

    yield make
    for manager in made:
        manager.stop()


def submit(manager: Manager, m: int = 3, owner: str = "a") -> Run:
    return manager.submit(RunRequest(owner, Spec(m=m).to_json(), ORDER))


def wait(condition: Callable[[], object], seconds: float = PATIENCE_S) -> None:
    until(condition, seconds, gevent.sleep)


def events(run: Run) -> list[str]:
    return [entry["event"] for entry in run.log.entries()]


def test_a_run_goes_from_queued_to_finished_with_all_its_ops(manage):
    run = submit(manage())
    wait(lambda: run.over)
    assert events(run) == ["queued", "warming", "running", "op_batch", "op_batch", "op_batch", "verified", "finished"]
    assert [row[1] for row in run.log.rows()] == list(range(9))
    assert run.facts["verified"] is True


def test_runs_wait_in_turn_with_positions_that_count_down(manage):
    manager = manage("--start", "0.3")
    runs = [submit(manager) for _ in range(3)]
    late = submit(manager, owner="b")
    assert [run.position for run in runs] == [1, 3, 4]
    assert late.position == 2
    wait(lambda: all(run.over for run in runs))
    assert [entry["position"] for entry in runs[-1].log.entries() if entry["event"] == "queued"] == [3, 4, 3, 2, 1]
    starts = [run.log.rows()[0][3] for run in (runs[0], late, runs[1], runs[2])]
    assert starts == sorted(starts)
    assert {run.status for run in (*runs, late)} == {"finished"}


def test_a_waiting_run_is_cancelled_at_once_and_the_others_move_up(manage):
    manager = manage("--start", "30")
    first, second, third = (submit(manager) for _ in range(3))
    manager.cancel(second.id)
    assert (second.status, second.position) == ("cancelled", None)
    assert (first.position, third.position) == (1, 2)


@pytest.mark.parametrize(("m", "last"), [(108, "warming"), (5000, "op_batch")])
def test_a_run_is_cancelled_while_it_warms_up_as_while_it_runs_and_the_next_one_works(manage, m, last):
    manager = manage("--pause", "0.02")
    run, following = submit(manager, m=m), submit(manager)
    wait(lambda: events(run)[-1] == last)
    manager.cancel(run.id)
    wait(lambda: following.over)
    assert (run.status, following.status, manager.client.starts) == ("cancelled", "finished", 1)
    wait(lambda: manager.store.load(run.id).status == "cancelled")  # a thread of its own writes it


def test_a_runner_that_ignores_the_cancel_is_replaced(manage, monkeypatch):
    monkeypatch.setattr(manager_module, "CANCEL_S", 0.1)
    manager = manage()
    run, following = submit(manager, m=106), submit(manager)
    wait(lambda: run.log.ops)
    manager.cancel(run.id)
    wait(lambda: following.over)
    assert (run.status, following.status, manager.client.starts) == ("cancelled", "finished", 2)
    assert manager.counts().by_status["cancelled"] == 1


def test_a_run_that_is_cancelled_while_its_runner_starts_again_is_not_sent_to_it(manage, monkeypatch):
    monkeypatch.setattr(manager_module, "CANCEL_S", 0.0)
    manager = manage()
    wait(lambda: manager.client.state == "ready")
    send, sent = manager.client.send, []

    def send_late(command: dict[str, Any]) -> bool:
        if command["cmd"] == "run":
            sent.append(command["id"])
        if len(sent) == 1 and command["cmd"] == "run":
            manager.client.kill()
            gevent.spawn(manager.cancel, command["id"])
        return send(command)

    monkeypatch.setattr(manager.client, "send", send_late)
    run, following = submit(manager), submit(manager)
    wait(lambda: following.over)
    assert (run.status, following.status) == ("cancelled", "finished")
    assert sent == [run.id, following.id]


def test_a_run_that_is_renamed_while_it_is_deleted_does_not_come_back(manage):
    manager = manage()
    run = submit(manager)
    wait(lambda: run.over)
    gevent.joinall([gevent.spawn(manager.remove, run.id), gevent.spawn(manager.rename, run.id, "again")])
    assert manager.store.load(run.id) is None
    with pytest.raises(RequestError):
        manager.get(run.id)


def test_a_command_for_the_runner_waits_until_a_long_one_before_it_is_written():
    client = RunnerClient((), "", lambda event: None, lambda why: None)
    written: list[bytes] = []

    class Pipe:
        def write(self, line: bytes) -> None:
            written.append(line[:-1])
            gevent.sleep(0)  # until the runner has read of it
            written.append(line[-1:])

        def flush(self) -> None:
            pass

    client.state, client._process = "ready", SimpleNamespace(stdin=Pipe())
    sending = [gevent.spawn(client.send, {"cmd": cmd}) for cmd in ("run", "cancel")]
    gevent.joinall(sending, raise_error=True)
    assert written == [b'{"cmd": "run"}', b"\n", b'{"cmd": "cancel"}', b"\n"]


@pytest.mark.parametrize("stage", ["finished", "cancelled"])
def test_a_run_that_is_over_cannot_be_cancelled(manage, stage):
    manager = manage("--start", "30" if stage == "cancelled" else "0")
    run = submit(manager)
    if stage == "cancelled":
        manager.cancel(run.id)
    wait(lambda: run.over)
    with pytest.raises(RequestError, match=f"over already .{stage}"):
        manager.cancel(run.id)


def test_a_runner_that_dies_fails_its_run_with_a_sentence_and_the_next_one_works(manage):
    manager = manage()
    run, following = submit(manager, m=101), submit(manager)
    wait(lambda: following.over)
    assert (run.status, following.status) == ("failed", "finished")
    assert run.facts["failure"]["message"].startswith("The runner ended with exit code 3 during this run.")
    assert len(run.log.rows()) == 3


def test_a_killed_runner_is_noticed_though_a_worker_holds_its_output_open(manage):
    manager = manage("--worker")
    run, following = submit(manager, m=106), submit(manager)
    wait(lambda: run.log.ops)
    old = manager.client._process.pid
    os.kill(old, signal.SIGKILL)
    wait(lambda: run.over)
    assert "SIGKILL" in run.facts["failure"]["message"]
    wait(lambda: following.over)
    assert following.status == "finished"
    assert gone(group_of(old))


def test_an_idle_runner_that_is_killed_is_replaced_before_the_next_run(manage):
    manager = manage()
    wait(lambda: manager.client.state == "ready")
    os.kill(manager.client._process.pid, signal.SIGKILL)
    run = submit(manager)  # handed to the dead runner, as its death is not known yet
    wait(lambda: run.over)
    assert (run.status, manager.client.starts) == ("finished", 2)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The events that managers have taken, in a time that goes on by a quarter of a second with each: silence is
    then a number of events, however fast the machine is."""
    events: list[dict[str, Any]] = []

    class Events(SimpleQueue):
        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            if timeout == 0:
                raise Empty
            events.append(super().get(block, PATIENCE_S))
            return events[-1]

    monkeypatch.setattr(manager_module, "SimpleQueue", Events)
    now = SimpleNamespace(monotonic=lambda: len(events) / 4, time=time.time)
    monkeypatch.setattr(manager_module, "time", now)
    return events


def test_a_run_that_reports_progress_only_is_not_taken_for_hung_and_viewers_see_its_steps(manage, taken):
    manager = manage(silence_s=0.6)
    listed: list[Any] = []  # the progress in the list of runs, after each event
    manager.on_change = lambda _: listed.append(manager.recent(1, None)[0].get("progress"))
    run = submit(manager, m=111)
    wait(lambda: run.over)
    assert run.status == "finished"
    assert sum(event["event"] == "progress" for event in taken) == 24
    assert [entry["progress"]["step"] for entry in run.log.entries() if entry["event"] == "progress"] == [1, 2, 3]
    assert {"phase": "running", "step": 2, "steps": 3} in listed
    assert "progress" not in run.summary()


def test_progress_that_repeats_itself_is_no_sign_of_life(manage, taken):
    manager = manage(silence_s=0.6)
    run, following = submit(manager, m=112), submit(manager)
    wait(lambda: following.over)
    assert "has sent nothing for 0.6 s" in run.facts["failure"]["message"]
    assert following.status == "finished"


def test_a_run_that_waits_for_resources_may_be_silent_without_limit(manage, monkeypatch):
    limits: list[float | None] = []  # of the waits for an event

    class Events(SimpleQueue):
        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            limits.append(timeout)
            return super().get(block, timeout)

    monkeypatch.setattr(manager_module, "SimpleQueue", Events)
    manager = manage()
    run = submit(manager, m=109)
    wait(lambda: run.waiting and limits[-1] is None)
    manager.cancel(run.id)
    wait(lambda: run.over)
    assert run.status == "cancelled"


def test_a_run_is_paid_for_with_the_time_that_it_took(manage):
    manager = manage("--pause", "0.02")
    first = submit(manager, m=20)  # estimated at a minute
    wait(lambda: first.over)
    second, third = submit(manager, m=500), submit(manager)
    other = submit(manager, owner="b")
    wait(lambda: second.log.ops)
    assert (other.position, third.position) == (1, 2)


SILENT = 102  # micro-batches: a run in which the fake runner goes silent


@pytest.mark.parametrize(
    ("m", "kind", "message"),
    [
        (SILENT, "runner", "has sent nothing for 1 s"),
        (103, "refused", "too few devices"),
        (104, "runner", "cannot be read"),
        (105, "out_of_memory", "ran out of memory"),
    ],
)
def test_every_fault_of_a_runner_fails_one_run_with_a_reason_and_no_other(manage, m, kind, message):
    manager = manage(silence_s=1.0 if m == SILENT else 60)
    run, following = submit(manager, m=m), submit(manager)
    wait(lambda: run.status != "queued")
    manager.config = replace(manager.config, silence_s=60)  # for the following run, on a machine that stalls
    wait(lambda: following.over)
    assert run.status == "failed"
    assert run.facts["failure"]["kind"] == kind
    assert message in run.facts["failure"]["message"]
    assert following.status == "finished"


def test_lines_that_are_not_events_and_events_of_other_runs_change_nothing(manage):
    run = submit(manage(), m=107)
    wait(lambda: run.over)
    assert (run.status, run.log.ops) == ("finished", 6)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("/nowhere/runner",), "does not start: No such file"),
        ((*FAKE_RUNNER, "--never"), "ended with exit code 7 before it was ready"),
        ((*FAKE_RUNNER, "--missing"), "torch is not installed"),
    ],
)
def test_a_runner_that_never_starts_fails_runs_with_a_reason_instead_of_keeping_them(manage, command, message):
    manager = manage(runner=command)
    run = submit(manager)
    wait(lambda: run.over)
    assert message in run.facts["failure"]["message"]


def test_a_runner_that_takes_too_long_to_get_ready_is_given_up(manage, monkeypatch):
    monkeypatch.setattr(client_module, "PATIENCE_S", 0.1)
    monkeypatch.setattr(client_module, "PAUSES_S", (0.0,))
    manager = manage("--start", "60")
    run = submit(manager)
    wait(lambda: run.over)
    assert "SIGKILL before it was ready" in run.facts["failure"]["message"]


def test_stopping_fails_what_is_under_way_and_leaves_no_process(manage, config):
    manager = manage("--worker")
    run, waiting = submit(manager, m=106), submit(manager)
    wait(lambda: run.log.ops)
    pid = manager.client._process.pid
    assert len(group_of(pid)) == 2
    told: list[str] = []
    manager.on_change = lambda changed: told.append(f"{changed.id} {changed.status}")
    manager.stop()
    assert set(told) == {f"{each.id} failed" for each in (run, waiting)}, "viewers hear of it"
    assert gone(group_of(pid))
    with opened(config.database) as store:
        assert store.close_left_over() == 0
        for each in (run, waiting):
            assert store.load(each.id).facts["failure"]["message"].startswith("The server stopped")
        assert store.load(run.id).log.ops > 0


def test_stopping_during_a_start_leaves_no_process(config):
    before = children_of(os.getpid())
    for pause in range(12):
        manager = Manager(replace(config, runner=(*FAKE_RUNNER, "--start", "60")))
        manager.start()
        gevent.sleep(pause / 2000)
        manager.stop()
        wait(lambda: children_of(os.getpid()) == before)


def test_a_disk_that_fails_is_reported_and_runs_continue_in_memory(manage, tmp_path):
    (tmp_path / "file").write_text("")
    manager = manage(database=tmp_path / "file" / "runs.sqlite3")
    assert "runs.sqlite3" in manager.store_error
    run = submit(manager)
    wait(lambda: run.over)
    assert (run.status, manager.get(run.id)) == ("finished", run)
    assert [row["id"] for row in manager.recent(10, None)] == [run.id]


def fill_disk(store: Store) -> None:
    """Allow no further page: SQLite then raises the same error as on a full disk."""
    connection = store.database.connection()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_disk_that_fills_up_during_a_run_is_reported_and_the_run_is_shown_to_its_end(manage, config):
    manager = manage("--rows", "400")
    run = submit(manager, m=40)
    assert run.summary()["unkept"] is None
    wait(lambda: run.log.ops)
    fill_disk(manager.store)
    wait(lambda: run.over and run.unkept)
    assert (run.status, run.log.ops) == ("finished", 16_000)
    assert "could not write this run" in run.summary()["unkept"]
    assert "full" in manager.store_error
    following = submit(manager, m=2)
    wait(lambda: following.over)
    assert following.status == "finished"
    manager.stop()
    with opened(config.database) as store:
        assert store.close_left_over() == 1  # the disk had only its request
        kept = store.load(run.id)
    assert (kept.status, kept.log.ops, kept.facts.get("verified")) == ("failed", 0, None)


def test_a_disk_with_room_again_stores_the_run_at_its_next_change(manage):
    manager = manage("--rows", "400")
    wait(lambda: manager.client.state == "ready")
    fill_disk(manager.store)
    run = submit(manager, m=40)
    wait(lambda: run.over and run.unkept)
    manager.store.database.connection().execute("PRAGMA max_page_count = 1000000")
    manager.rename(run.id, "kept after all")
    assert run.unkept is None
    kept = manager.store.load(run.id)
    assert (kept.name, kept.status, kept.log.ops) == ("kept after all", "finished", 16_000)


def test_memory_keeps_the_latest_runs_and_the_disk_the_others(manage):
    manager = manage(keep=2)
    runs = [submit(manager, m=1) for _ in range(4)]
    wait(lambda: all(run.over for run in runs))
    submit(manager, m=1)
    wait(lambda: runs[0].id not in manager._runs)
    assert manager.get(runs[0].id).as_dict() == runs[0].as_dict()
    assert [row["id"] for row in manager.recent(10, runs[3].id)] == [run.id for run in runs[2::-1]]


def test_a_runner_is_another_interpreter_that_gevent_has_not_touched(manage, tmp_path):
    probe = tmp_path / "probe.py"
    probe.write_text(
        "import json, sys\n"
        "print(json.dumps({'event': 'ready', 'devices': ['gevent' in sys.modules]}), flush=True)\n"
        "sys.stdin.read()\n"
    )
    manager = manage(runner=(sys.executable, str(probe)))
    wait(lambda: manager.client.state == "ready")
    assert manager.client.devices == [False]


def test_the_runner_gets_the_chosen_options_and_the_run_keeps_them(manage, monkeypatch):
    manager = manage()
    wait(lambda: manager.client.state == "ready")
    sent = []
    send = manager.client.send
    monkeypatch.setattr(manager.client, "send", lambda message: sent.append(message) or send(message))
    chosen = Options("paced", 2.0, "bfloat16", "cpu", 2, 9)
    run = manager.submit(RunRequest("a", Spec(m=2).to_json(), ORDER, chosen))
    wait(lambda: run.over)
    job = {"order": ORDER, "mode": "paced", "unit_ms": 2.0, "dtype": "bfloat16", "device": "cpu", "steps": 2, "seed": 9}
    assert [{key: message[key] for key in job} for message in sent] == [job]
    wait(lambda: manager.store.load(run.id) is not None and manager.store.load(run.id).over)
    assert manager.store.load(run.id).asked == {key: value for key, value in job.items() if key != "order"}
