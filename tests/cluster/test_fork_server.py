"""The fork server of a host, without Ray and without torch: one for all actors, and no process that outlives anyone."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from runner.engines.ray import fork_server, host_process
from runner.engines.ray.host_process import HostProcess, HostServer
from tests.support import PATIENCE_S
from tests.support.processes import gone

FORKED = "tests.support.cluster.forked"
WITHIN_S = PATIENCE_S


@pytest.fixture
def ray_here() -> Iterator[subprocess.Popen[bytes]]:
    """What stands for the host's part of Ray."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def server(ray_here: subprocess.Popen[bytes], tmp_path: Path) -> HostServer:
    return HostServer(str(tmp_path), ray_here.pid, ["json"])


def start(server: HostServer, function: str, *arguments: str) -> tuple[HostProcess, Connection[Any, Any]]:
    ours, theirs = Pipe()
    process = server.fork(FORKED, function, theirs, *arguments)
    theirs.close()
    assert ours.poll(WITHIN_S)
    return process, ours


def ended(process: HostProcess) -> bool:
    process.join(WITHIN_S)
    return not process.is_alive()


def test_a_process_reports_its_exit_code_and_has_the_environment_of_its_actor(
    server: HostServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.connect().close()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")  # set after the server has started, as for a second actor
    process, pipe = start(server, "report", "CUDA_VISIBLE_DEVICES")
    pid, _, devices = pipe.recv()
    assert (pid, devices, process.exitcode) == (process.pid, "3", None)
    pipe.send(7)
    assert ended(process)
    assert process.exitcode == 7
    process.close()


def test_a_process_that_is_killed_reports_the_signal(server: HostServer) -> None:
    process, _ = start(server, "report", "HOME")
    os.kill(process.pid, signal.SIGSEGV)
    assert ended(process)
    assert process.exitcode == -signal.SIGSEGV
    process.close()


def test_actors_that_start_together_share_one_server_which_only_this_user_may_use(server: HostServer) -> None:
    parents: set[int] = set()
    processes: list[HostProcess] = []

    def act() -> None:
        process, pipe = start(HostServer(str(Path(server.path).parent), server.parent, ["json"]), "report", "HOME")
        processes.append(process)
        parents.add(pipe.recv()[1])

    actors = [threading.Thread(target=act) for _ in range(6)]
    for each in actors:
        each.start()
    for each in actors:
        each.join(WITHIN_S)
    assert (len(processes), len(parents)) == (6, 1)
    assert stat.S_IMODE(os.stat(server.path).st_mode) == 0o600
    for process in processes:
        process.close()


def test_a_process_is_killed_when_its_actor_ends_though_it_notices_nothing(server: HostServer) -> None:
    program = (
        "import sys, time; from multiprocessing import Pipe\n"
        "from runner.engines.ray.host_process import HostServer\n"
        "ours, theirs = Pipe(); folder, parent = sys.argv[1:]\n"
        f"server = HostServer(folder, int(parent), ['json']); process = server.fork('{FORKED}', 'outlive', theirs)\n"
        "print(ours.recv(), flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", program, str(Path(server.path).parent), str(server.parent)]
    other, pipe = start(server, "report", "HOME")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as actor:
        assert actor.stdout is not None
        pid = int(actor.stdout.readline())
        os.kill(pid, signal.SIGSTOP)
        actor.kill()
    assert gone([pid], WITHIN_S)
    assert other.is_alive(), "another actor's process goes on"
    pipe.send(0)
    assert ended(other)
    other.close()


def test_the_server_and_all_its_processes_end_with_the_hosts_part_of_ray(
    server: HostServer, ray_here: subprocess.Popen[bytes]
) -> None:
    processes = [start(server, "outlive")[0] for _ in range(2)]
    process, pipe = start(server, "report", "HOME")
    parent = pipe.recv()[1]
    os.kill(processes[0].pid, signal.SIGSTOP)
    ray_here.kill()
    assert gone([parent, process.pid, *(one.pid for one in processes)], WITHIN_S)


def test_a_server_that_is_killed_takes_its_processes_along_and_the_next_request_starts_another(
    server: HostServer,
) -> None:
    process, pipe = start(server, "report", "HOME")
    before = pipe.recv()[1]
    os.kill(process.pid, signal.SIGSTOP)
    os.kill(before, signal.SIGKILL)
    assert ended(process)
    assert process.exitcode == -signal.SIGKILL
    again, pipe = start(server, "report", "HOME")
    assert pipe.recv()[1] != before
    again.close()


def test_a_server_that_cannot_load_what_it_should_is_an_error_and_no_endless_attempt(
    ray_here: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    broken = HostServer(str(tmp_path), ray_here.pid, ["no.such.module"])
    ours, theirs = Pipe()
    with pytest.raises(ConnectionError, match=f"has ended {host_process.TRIES} times"):
        broken.fork(FORKED, "report", theirs, "HOME")
    ours.close()


def test_a_server_ends_when_it_has_been_unused_for_its_time_and_not_while_an_actor_is_connected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fork_server, "KEEP_S", 0.05)
    raylet = os.pidfd_open(os.getpid())
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind("")  # a name of the kernel's choice
            listener.listen()
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as actor:
                actor.connect(listener.getsockname())
                server = threading.Thread(target=fork_server.ForkServer(listener, raylet).serve)
                server.start()
                server.join(4 * fork_server.KEEP_S)
                assert server.is_alive()
            unused = time.monotonic()
            server.join(PATIENCE_S)
            assert not server.is_alive()
            assert time.monotonic() - unused >= fork_server.KEEP_S / 2
    finally:
        os.close(raylet)
