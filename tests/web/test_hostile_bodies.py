"""Attacks on a real server: bodies that are large to read, costly requests whose clients leave."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from tests.conftest import PATIENCE_S, Server, launch, until
from tests.runs.test_manager import children_of
from tests.support import slowness
from tests.support.hostile_bodies import ATTACKS, COSTLY, resident_mb
from tests.web.operation.test_serve import fork_server_of, processor_s

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = launch(tmp_path_factory.mktemp("attacked"), BUBBLELINE_WORKERS_AFTER_S="0.05")
    until(lambda: len(workers_of(server)) == 3)
    requests.get(f"{server.url}/api/compare?p=2&m=4", timeout=PATIENCE_S)
    yield server
    server.stop()
    assert server.process.stdout is not None
    server.process.stdout.close()


def workers_of(server: Server) -> list[int]:
    return children_of(fork_server_of(server))


def memory_mb(server: Server) -> float:
    return resident_mb([server.process.pid, fork_server_of(server), *workers_of(server)])


def used_s(server: Server) -> float:
    """The processor time of the server's processes so far, in s, with that of workers that have ended."""
    forks, total = fork_server_of(server), 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # a process that ends meanwhile
            fields = path.read_text().rpartition(")")[2].split()
            if int(path.parent.name) in (server.process.pid, forks) or int(fields[1]) == forks:
                total += sum(map(int, fields[11:15]))  # its own, and of children that were waited for
    return total / os.sysconf("SC_CLK_TCK")


class Bystander(threading.Thread):
    """A client that asks for schedules while others attack; `worst` is its slowest answer in s."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.server, self.over, self.worst, self.answers, self.peak_mb = server, threading.Event(), 0.0, 0, 0.0

    def run(self) -> None:
        with requests.Session() as session:
            while not self.over.wait(0.02):
                begun = time.monotonic()
                url = f"{self.server.url}/api/schedule?p=4&m={8 + self.answers % 50}"
                assert session.get(url, timeout=PATIENCE_S).status_code == 200
                self.worst = max(self.worst, time.monotonic() - begun)
                self.answers += 1
                self.peak_mb = max(self.peak_mb, memory_mb(self.server))


@pytest.mark.parametrize("name", ATTACKS)
def test_a_body_that_is_large_to_read_is_refused_soon_and_nobody_waits_for_it(attacked: Server, name: str):
    path, make = ATTACKS[name]
    body, before = make(), memory_mb(attacked)
    bystander, slow = Bystander(attacked), slowness()
    bystander.start()
    used = used_s(attacked)
    answer = requests.post(attacked.url + path, data=body, headers=JSON, timeout=PATIENCE_S)
    used = used_s(attacked) - used
    bystander.over.set()
    bystander.join()
    slow = max(slow, slowness())
    assert answer.status_code in (400, 413), answer.text
    assert answer.json()["error"]["message"]
    assert used < 4 * slow, "of a processor; one on a fast machine"
    assert bystander.answers > 1
    assert bystander.worst < slow, "a quarter of a second on a machine that does nothing else"
    assert bystander.peak_mb - before < 400


def test_a_client_has_one_import_at_a_time_and_is_told_when_to_try_again(attacked: Server):
    host, port = attacked.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as slow:
        slow.sendall(b"POST /api/orders HTTP/1.1\r\nHost: " + host.encode() + b"\r\nContent-Type: application/json\r\n"
                     b"Content-Length: 1000\r\n\r\n{")  # fmt: skip

        def refused() -> bool:
            answer = requests.post(attacked.url + "/api/orders", json={"csv": "0F0,0B0"}, timeout=PATIENCE_S)
            return answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0

        until(refused)
    until(lambda: not refused())


def test_the_work_of_a_client_that_left_ends_and_its_worker_is_replaced(attacked: Server):
    host, port = attacked.url.removeprefix("http://").split(":")
    before = {pid: processor_s(pid) for pid in workers_of(attacked)}
    with socket.create_connection((host, int(port))) as leaving:
        leaving.sendall(f"GET {COSTLY} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        until(lambda: any(processor_s(pid) > used + 0.2 for pid, used in before.items()))
    until(lambda: set(before) - set(workers_of(attacked)))


def test_a_full_queue_is_refused_with_the_seconds_to_wait_and_pages_and_links_are_served(tmp_path: Path):
    server = launch(
        tmp_path, BUBBLELINE_WORKERS="1", BUBBLELINE_COMPUTATIONS="2", BUBBLELINE_COMPUTATIONS_PER_CLIENT="2"
    )
    try:
        with ThreadPoolExecutor(4) as clients:
            asked = [clients.submit(_abandoned, f"{server.url}{COSTLY}&comm=0.{k}1") for k in range(3)]
            refused: list[requests.Response] = []

            def is_refused() -> bool:
                refused.append(requests.get(f"{server.url}{COSTLY}&comm=0.9", timeout=2))
                return refused[-1].status_code == 429

            until(lambda: _soon(is_refused))
            assert int(refused[-1].headers["Retry-After"]) > 0
            assert refused[-1].json()["error"]["code"] == "compute.share"
            for path in ("/", "/healthz", "/api/families", "/api/schedule?family=zb-auto&p=4&m=8"):
                assert requests.get(server.url + path, timeout=PATIENCE_S).status_code == 200
            link = requests.post(f"{server.url}/api/links", json={"query": "p=4&m=9"}, timeout=PATIENCE_S).json()
            assert requests.get(server.url + link["url"], timeout=PATIENCE_S).url.endswith("p=4&m=9")
            server.stop()
            assert [each.result(timeout=PATIENCE_S) for each in asked] == [None] * 3
    finally:
        if server.process.poll() is None:
            server.stop()
        assert server.process.stdout is not None
        server.process.stdout.close()


def _soon(true) -> bool:
    try:
        return bool(true())
    except requests.Timeout:  # it found a place in the queue, and has left it again
        return False


def _abandoned(url: str) -> None:
    """Ask until there is a place in the queue, and wait there until the server ends."""
    try:
        while requests.get(url, timeout=PATIENCE_S).status_code == 429:
            time.sleep(0.05)
    except requests.RequestException:
        return
