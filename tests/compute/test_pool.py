"""The pool of worker processes: limits of memory and time, fair turns, shared jobs, clients that leave."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import gevent
import pytest
from flask import Flask

from backend.compute import errors, fork_client, fork_server, frames
from backend.compute.errors import ClientLeftError, TooLargeError, WorkerError
from backend.compute.pool import Limits, Pool, QueuedJob
from backend.config import PROJECT
from backend.errors import RequestError
from backend.web.http.computing import QUICK_WORK
from tests.compute import jobs
from tests.conftest import until
from tests.support import PATIENCE_S
from tests.support.processes import alive, stat_of

Make = Callable[..., Pool]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Pool] = []

    def make_pool(**limits: float) -> Pool:
        made.append(Pool(Limits(**limits)))  # type: ignore[arg-type]
        return made[-1]

    yield make_pool
    for each in made:
        each.close()


@pytest.fixture
def own_fork_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the test's first worker start a fork server, in place of the one that earlier tests have started."""
    monkeypatch.setattr(fork_client, "_control", None)
    monkeypatch.setattr(fork_client, "_modules", ())
    yield
    fork_client._forget()


def wait(true: Callable[[], object]) -> None:
    until(true, sleep=gevent.sleep)


def test_a_job_is_done_by_another_process_and_its_result_returned(make: Make):
    pool = make()
    assert pool.run("a", jobs.add, 2, 3) == 5
    first = pool.run("a", jobs.pid)
    assert first != os.getpid()
    assert pool.run("a", jobs.pid, "again") == first  # processes are kept


def test_a_refusal_arrives_with_all_its_parts_and_no_megabytes(make: Make):
    with pytest.raises(RequestError) as refused:
        make().run("a", jobs.refuse)
    error = refused.value
    assert (error.field, error.code, error.params, error.limit, error.nearest) == ("m", "test.refused", {"m": 3}, 5, 4)
    assert len(error.value) == 80


@pytest.mark.parametrize("work", [jobs.fail, jobs.unpicklable])
def test_a_defect_is_reported_with_the_workers_traceback_and_the_pool_goes_on(make: Make, work: Callable[[], object]):
    pool = make(workers=1)
    with pytest.raises(WorkerError, match=r"ZeroDivisionError: a defect|Can't pickle"):
        pool.run("a", work)
    assert pool.run("a", jobs.add, 1, 1) == 2


def test_a_job_that_takes_too_much_memory_is_refused_and_its_process_replaced(make: Make):
    pool = make(workers=1, memory_mb=64)
    before = pool.run("a", jobs.pid)
    with pytest.raises(TooLargeError, match="more than 64 MB"):
        pool.run("a", jobs.allocate, 400)
    assert pool.run("a", jobs.pid, 2) != before
    assert pool.run("a", jobs.allocate, 32) == 32 * 2**20


def test_memory_that_a_job_has_freed_returns_to_the_system(make: Make):
    pool = make(workers=1)
    before = pool.run("a", jobs.leave_free_blocks, 24)
    assert pool.run("a", jobs.own_memory) < before + 8 * 2**20


def test_what_the_fork_server_has_loaded_is_not_copied_by_garbage_collection(make: Make):
    assert make().run("a", jobs.frozen) > 10_000


def test_a_body_is_read_within_the_memory_that_it_is_given(make: Make):
    pool = make(workers=1)
    assert pool.run("a", jobs.count_lists, body=bytearray(1000), memory_mb=16) == 1000
    assert pool.run("a", jobs.count_lists, body=bytearray(), memory_mb=16) == 0
    with pytest.raises(TooLargeError):
        pool.run("a", jobs.count_lists, body=bytearray(10**6), memory_mb=16)


def test_a_job_that_takes_too_long_is_refused_and_its_process_replaced(make: Make):
    pool = make(workers=1, seconds=0.2)

    def process() -> int:
        while True:  # a busy machine may take longer even for this
            with suppress(RequestError):
                return int(pool.run("a", jobs.pid))

    before = process()
    with pytest.raises(RequestError) as refused:
        pool.run("a", jobs.spin, 60)
    assert (refused.value.code, refused.value.kind) == ("compute.too_long", "full")
    assert refused.value.retry_after is None  # another try would take as long
    assert process() != before
    wait(lambda: not alive(before))


def test_a_process_that_is_killed_is_replaced_and_its_client_may_try_again(make: Make):
    pool = make(workers=1)
    with pytest.raises(RequestError) as refused:
        pool.run("a", jobs.die)
    assert (refused.value.code, refused.value.retry_after) == ("compute.worker_ended", 1)
    assert pool.run("a", jobs.add, 1, 1) == 2


def test_a_fork_server_that_is_killed_is_replaced(make: Make):
    pool = make(workers=1)
    worker = pool.run("a", jobs.pid)
    os.kill(stat_of(worker).parent, signal.SIGKILL)
    wait(lambda: not alive(worker))  # it has gone with its server
    assert pool.run("a", jobs.add, 1, 1) == 2


def test_a_quick_job_that_takes_long_is_moved_and_does_not_hold_up_the_next(make: Make, tmp_path: Path):
    pool = make(workers=1)
    pool.run("a", jobs.add, 0, 0, quick=True)
    slow = gevent.spawn(pool.run, "a", jobs.await_file, str(tmp_path / "end"), "slow", quick=True)
    gevent.sleep(0)
    assert pool.run("b", jobs.add, 1, 1, quick=True) == 2
    assert not slow.ready()
    (tmp_path / "end").touch()
    assert slow.get(timeout=PATIENCE_S) == "slow"


def test_a_quick_job_need_not_import_its_module_within_its_time(own_fork_server: None, make: Make):
    slow = "tests.compute.slow_to_import"
    fork_client.preload(slow)
    pool = make(workers=1)
    long = gevent.spawn(pool.run, "a", jobs.sleep, 60)
    wait(lambda: pool.long.busy)
    answer = gevent.spawn(pool.run, "a", jobs.loaded_after, [slow], [slow], quick=True)
    assert answer.get(timeout=PATIENCE_S) == [slow], "and it was not moved behind what takes a minute"
    gevent.kill(long)


def test_a_servers_workers_know_its_quick_work_when_they_start(own_fork_server: None, app: Flask, make: Make):
    work = [f"backend.jobs.{name}" for name in QUICK_WORK]
    assert make().run("a", jobs.loaded_after, (), [*work, "numba", "flask", "gevent", "plotly"]) == [*work, "numba"]


def test_clients_take_turns(make: Make):
    pool, ended = make(workers=1), list[str]()

    def ask(client: str, k: int) -> None:
        pool.run(client, jobs.sleep, 0.02, f"{client}{k}")
        ended.append(client)

    many = [gevent.spawn(ask, "many", k) for k in range(6)]
    gevent.sleep(0)
    few = [gevent.spawn(ask, "few", 0)]
    gevent.joinall([*many, *few], timeout=PATIENCE_S)
    assert ended.index("few") <= 2  # behind the one that ran and one more


def test_a_client_alone_never_has_all_the_processes(make: Make):
    pool = make(workers=2)
    long = [gevent.spawn(pool.run, "greedy", jobs.sleep, 30, str(k)) for k in range(3)]
    wait(lambda: pool.long.busy)
    assert pool.run("other", jobs.add, 1, 1) == 2
    gevent.killall(long)


def test_what_is_over_the_limits_is_refused_with_the_seconds_to_wait(make: Make):
    pool = make(workers=1, waiting=2, waiting_of_client=1)
    waiting = [gevent.spawn(pool.run, client, jobs.sleep, 30, client) for client in ("a", "a2")]
    waiting.append(gevent.spawn(pool.run, "a", jobs.sleep, 30, "more"))
    wait(lambda: len(pool.long.turns) == 2)
    for client, code, kind in (("a", "compute.share", "share"), ("b", "compute.full", "full")):
        with pytest.raises(RequestError) as refused:
            pool.run(client, jobs.add, 1, 1)
        assert (refused.value.code, refused.value.kind) == (code, kind)
        assert (refused.value.retry_after or 0) >= 1
    assert pool.run("a", jobs.add, 1, 1, quick=True) == 2  # the quick lane has a queue of its own
    gevent.killall(waiting)


def test_the_work_of_a_client_that_left_is_ended_and_what_it_had_waiting_is_dropped(make: Make, tmp_path: Path):
    pool, notes, gone = make(workers=1), tmp_path / "notes", list[bool]()
    asked = [gevent.spawn(pool.run, "a", jobs.note, str(notes), f"never{k}", left=lambda: bool(gone)) for k in range(3)]
    wait(notes.exists)
    gone.append(True)
    gevent.joinall(asked, timeout=PATIENCE_S)
    assert all(isinstance(each.exception, ClientLeftError) for each in asked)
    wait(lambda: not alive(int(notes.read_text().split()[0])))
    assert pool.run("b", jobs.add, 1, 1) == 2
    assert len(notes.read_text().split()) == 1  # the others were never begun
    assert len(pool.long.turns) == 0


def test_requests_for_the_same_share_one_job_that_lasts_until_the_last_has_left(make: Make, tmp_path: Path):
    pool, notes, gone = make(workers=2), tmp_path / "notes", list[bool]()
    job = (jobs.note, str(notes), str(tmp_path / "end"))
    first = gevent.spawn(pool.run, "a", *job, left=lambda: bool(gone))
    others = [gevent.spawn(pool.run, client, *job) for client in "abc"]
    wait(notes.exists)
    gone.append(True)
    first.join(PATIENCE_S)
    (tmp_path / "end").touch()
    assert [each.get(timeout=PATIENCE_S) for each in others] == ["noted"] * 3
    assert isinstance(first.exception, ClientLeftError)
    assert len(notes.read_text().split()) == 1


def test_all_requests_get_the_outcome_that_comes_as_their_wait_runs_out():
    job = QueuedJob("a", None, b"", None)

    def ask() -> object:
        while not job.wait(0.05):
            pass
        return job.result

    requests = [gevent.spawn(ask) for _ in range(4)]
    gevent.spawn_later(0.04, job.end, "done")
    gevent.spawn_later(0.02, time.sleep, 0.06)  # so that all of these times come in one round of the loop
    assert [each.get(timeout=PATIENCE_S) for each in requests] == ["done"] * 4


def test_a_request_that_only_waits_for_so_long_gets_nothing_and_ends_its_job(make: Make):
    pool = make(workers=1)
    assert pool.run("a", jobs.add, 1, 2) == 3
    assert pool.run("a", jobs.sleep, 30, patience=0.3) is None
    assert pool.run("a", jobs.add, 1, 1) == 2


def test_a_worker_has_compiled_kernels_and_neither_flask_nor_gevent(make: Make):
    pool = make(workers=1)
    modules = ("backend.jobs.analyses", "backend.jobs.files", "backend.jobs.imports")
    assert pool.run("a", jobs.loaded_after, modules, ("flask", "gevent", "numba")) == ["numba"]


UNCOMPILED = """
import socket, sys
from backend.compute import fork_server
def compile_all():
    sys.stdin.read()
fork_server._cached, fork_server.load, fork_server.jit.compile_all = (lambda: False), (lambda: None), compile_all
fork_server.ForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()
"""


def test_while_the_kernels_are_compiled_quick_jobs_are_done_and_long_ones_wait_for_the_end():
    control, theirs = socket.socketpair()
    (long, of_long), (quick, of_quick) = socket.socketpair(), socket.socketpair()
    command = [sys.executable, "-c", UNCOMPILED, str(theirs.fileno())]
    with subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, pass_fds=[theirs.fileno()]) as server, control:
        theirs.close()
        for niceness, handle in ((5, of_long), (0, of_quick)):
            socket.send_fds(control, [fork_server.COMMAND.pack(fork_server.FORK, niceness)], [handle.fileno()])
            handle.close()
        frames.receive(quick)
        assert not select.select([long], [], [], 0)[0]
        assert server.stdin is not None
        server.stdin.close()  # the compiler ends
        frames.receive(long)
        control.close()
        assert server.wait(PATIENCE_S) == 0
    quick.close()
    long.close()


def test_errors_name_the_limit_and_the_way_out():
    for error in (errors.too_long(30), errors.too_large(512)):
        assert str(error.limit) in str(error)
        assert "smaller m" in str(error)
        assert "command line" in str(error)


def test_nothing_is_killed_that_the_fork_server_did_not_fork():
    fork_client.kill(os.getpid())
    fork_client.start()
    fork_client.kill(os.getppid())
    assert alive(os.getppid())
