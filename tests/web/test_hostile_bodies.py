"""Attacks on a real server: bodies that are large to read, costly requests whose clients leave."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from tests.support import PATIENCE_S, slowness, until
from tests.support.hostile_bodies import ATTACKS, COSTLY
from tests.support.processes import listed, resident_mb, stat_of
from tests.support.servers.server import Server, Start, launch

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with launch(tmp_path_factory.mktemp("attacked"), BUBBLELINE_WORKERS_AFTER_S="0.05") as server:
        until(lambda: len(server.workers()) == 3)
        server.get("/api/compare?p=2&m=4")
        yield server


def memory_mb(server: Server, forks: int) -> float:
    """The memory of a server, of the process that forks its workers, and of these."""
    workers = Path(f"/proc/{forks}/task/{forks}/children").read_text().split()  # not all of /proc: asked all the time
    return resident_mb([server.process.pid, forks, *map(int, workers)])


def used_s(server: Server) -> float:
    """The processor time of the server's processes so far, in s, with that of workers that have ended."""
    counted = (server.process.pid, server.fork_server())
    return sum(each.used_s for each in listed() if each.pid in counted or each.parent == counted[1])


class Bystander(threading.Thread):
    """A client that asks for schedules while others attack; `worst` is its slowest answer in s."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.server, self.forks, self.over = server, server.fork_server(), threading.Event()
        self.worst, self.answers, self.before_mb, self.peak_mb = 0.0, 0, memory_mb(server, self.forks), 0.0

    def run(self) -> None:
        with requests.Session() as session:
            while not self.over.wait(0.02):
                begun = time.monotonic()
                url = f"{self.server.url}/api/schedule?p=4&m={8 + self.answers % 50}"
                assert session.get(url, timeout=PATIENCE_S).status_code == 200
                self.worst = max(self.worst, time.monotonic() - begun)
                self.answers += 1
                self.peak_mb = max(self.peak_mb, memory_mb(self.server, self.forks))


@pytest.mark.parametrize("name", ATTACKS)
def test_a_body_that_is_large_to_read_is_refused_soon_and_nobody_waits_for_it(attacked: Server, name: str):
    path, make = ATTACKS[name]
    body, bystander, slow = make(), Bystander(attacked), slowness()
    bystander.start()
    used = used_s(attacked)
    answer = attacked.post(path, data=body, headers=JSON)
    used = used_s(attacked) - used
    bystander.over.set()
    bystander.join()
    slow = max(slow, slowness())
    assert answer.status_code in (400, 413), answer.text
    assert answer.json()["error"]["message"]
    assert used < 4 * slow, "of a processor; one on a fast machine"
    assert bystander.answers > 1
    assert bystander.worst < slow, "a quarter of a second on a machine that does nothing else"
    assert bystander.peak_mb - bystander.before_mb < 400


def test_a_client_has_one_import_at_a_time_and_is_told_when_to_try_again(attacked: Server):
    with attacked.connect() as slow:
        slow.sendall(b"POST /api/orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Content-Length: 1000\r\n\r\n{")  # fmt: skip

        def refused() -> bool:
            answer = attacked.post("/api/orders", {"csv": "0F0,0B0"})
            return answer.status_code == 429 and int(answer.headers["Retry-After"]) > 0

        until(refused)
    until(lambda: not refused())


def test_the_work_of_a_client_that_left_ends_and_its_worker_is_replaced(attacked: Server):
    before = {pid: stat_of(pid).own_s for pid in attacked.workers()}
    with attacked.connect() as leaving:
        leaving.sendall(f"GET {COSTLY} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        until(lambda: any(stat_of(pid).own_s > used + 0.2 for pid, used in before.items()))
    until(lambda: set(before) - set(attacked.workers()))


def test_a_full_queue_is_refused_with_the_seconds_to_wait_and_pages_and_links_are_served(start: Start):
    server = start(BUBBLELINE_WORKERS="1", BUBBLELINE_COMPUTATIONS="2", BUBBLELINE_COMPUTATIONS_PER_CLIENT="2")
    with ThreadPoolExecutor(4) as clients:
        asked = [clients.submit(_abandoned, f"{server.url}{COSTLY}&comm=0.{k}1") for k in range(3)]
        refused: list[requests.Response] = []

        def is_refused() -> bool:
            refused.append(server.get(f"{COSTLY}&comm=0.9", timeout=2))
            return refused[-1].status_code == 429

        try:
            until(lambda: _soon(is_refused))
            assert int(refused[-1].headers["Retry-After"]) > 0
            assert refused[-1].json()["error"]["code"] == "compute.share"
            for path in ("/", "/healthz", "/api/families", "/api/schedule?family=zb-auto&p=4&m=8"):
                assert server.get(path).status_code == 200
            link = server.post("/api/links", {"query": "p=4&m=9"}).json()
            assert server.get(link["url"]).url.endswith("p=4&m=9")
        finally:
            server.stop()
        assert [each.result(timeout=PATIENCE_S) for each in asked] == [None] * 3


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
