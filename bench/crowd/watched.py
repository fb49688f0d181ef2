"""A measured server: one process on one core, or several, their processor time and memory, and how long they waited for
a core because of other programs."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parents[2]
TICKS = os.sysconf("SC_CLK_TCK")
MB = 1_000_000


@dataclass(frozen=True)
class Cost:
    """Resources that the server has used so far."""

    at: float
    processor: float  # s, all of its threads
    system: float  # s of these in the system's calls
    waited: float  # s that its main thread was ready to run while another program had the core
    resident: float  # MB
    peak: float  # MB
    buffers: float  # MB of the machine's socket buffers, both ends of every connection

    def since(self, before: Cost) -> tuple[float, float, float]:
        """Shares of the time since then: busy, in system calls, and waiting for its core."""
        seconds = self.at - before.at
        spent = (self.processor - before.processor, self.system - before.system, self.waited - before.waited)
        return (spent[0] / seconds, spent[1] / seconds, spent[2] / seconds)


@dataclass(frozen=True)
class Server:
    pids: tuple[int, ...]  # of the processes that serve the page
    url: str

    def cost(self) -> Cost:
        """Read the current figures of all its processes together from /proc."""
        stats = [_text(f"{pid}/stat").rpartition(")")[2].split() for pid in self.pids]
        memory = r"^(VmRSS|VmHWM):\s+(\d+) kB"
        statuses = [dict(re.findall(memory, _text(f"{pid}/status"), re.MULTILINE)) for pid in self.pids]
        pages = int(re.findall(r"TCP:.* mem (\d+)", _text("net/sockstat"))[0])
        return Cost(
            time.monotonic(),
            sum(int(stat[11]) + int(stat[12]) for stat in stats) / TICKS,
            sum(int(stat[12]) for stat in stats) / TICKS,
            sum(int(_text(f"{pid}/schedstat").split()[1]) for pid in self.pids) / 1e9,
            sum(int(status["VmRSS"]) for status in statuses) * 1024 / MB,
            sum(int(status["VmHWM"]) for status in statuses) * 1024 / MB,
            pages * os.sysconf("SC_PAGESIZE") / MB,
        )

    def connections(self) -> list[int]:
        """Count the open sockets of each process."""
        return [sum(_is_socket(each) for each in Path(f"/proc/{pid}/fd").iterdir()) for pid in self.pids]

    def settle(self) -> None:
        """Wait until it has done what it does behind its start."""
        before = self.cost()
        for _ in range(120):
            time.sleep(0.5)
            now = self.cost()
            if now.since(before)[0] < 0.05:
                return
            before = now
        raise TimeoutError("the server does not come to rest")

    def start_run(self) -> str:
        """Request a run; returns its id."""
        body = json.dumps({"spec": {}}).encode()
        asked = Request(f"{self.url}/api/runs", body, {"Content-Type": "application/json"})
        with urlopen(asked, timeout=20) as answer:
            return str(json.load(answer)["id"])

    def load(self, run: str) -> tuple[float, bytes]:
        """Load a run as the page does; returns the seconds until it was complete, and the compressed response."""
        begin = time.monotonic()
        asked = Request(f"{self.url}/api/runs/{run}?rows=ops", headers={"Accept-Encoding": "deflate"})
        with urlopen(asked, timeout=20) as got:
            body = got.read()
        return time.monotonic() - begin, body


@contextmanager
def server(folder: Path, core: int, runner: list[str], **settings: str) -> Iterator[Server]:
    """`python app.py serve` on one core of this machine, with this runner program and further settings."""
    environ = {"BUBBLELINE_RUNNER": " ".join(runner), "BUBBLELINE_DATABASE": str(folder / "runs.sqlite3")} | settings
    process = subprocess.Popen(
        [sys.executable, "app.py", "serve", "--port", "0"], cwd=ROOT, env=os.environ | environ, text=True,
        stdout=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        if found is None:
            raise RuntimeError(f"the server did not start: {line!r}")
        yield Server((process.pid,), found[0])
    finally:
        process.terminate()
        process.wait(timeout=10)
        process.stdout.close()


@contextmanager
def servers(folder: Path, processes: int, runner: list[str], **settings: str) -> Iterator[Server]:
    """`python app.py serve` of several processes around a Redis of its own, on all cores, with further settings."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    redis = subprocess.Popen(
        ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder)], stdout=subprocess.DEVNULL
    )
    environ = {
        "BUBBLELINE_RUNNER": " ".join(runner), "BUBBLELINE_DATABASE": str(folder / "runs.sqlite3"),
        "BUBBLELINE_REDIS": f"redis://127.0.0.1:{port}/0", "BUBBLELINE_PROCESSES": str(processes),
        "BUBBLELINE_SOCKETS": "10000", "BUBBLELINE_CONNECTIONS": "10000",
    } | settings  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "app.py", "serve", "--port", "0"], cwd=ROOT, env=os.environ | environ, text=True,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        url = re.search(r"http://\S+", process.stdout.readline())
        assert url is not None
        yield Server(_web_processes(process.pid, processes), url[0])
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()
        redis.terminate()
        redis.wait()


def _web_processes(parent: int, count: int) -> tuple[int, ...]:
    """Wait for the processes that serve the page and return their ids."""
    for _ in range(200):
        children = [int(each) for each in _text(f"{parent}/task/{parent}/children").split()]
        found = tuple(pid for pid in children if "\0web\0" in _text(f"{pid}/cmdline"))
        if len(found) == count:
            return found
        time.sleep(0.1)
    raise TimeoutError(f"{count} processes did not start")


def _is_socket(descriptor: Path) -> bool:
    try:
        return os.readlink(descriptor).startswith("socket:")
    except OSError:  # closed meanwhile
        return False


def _text(name: str) -> str:
    return Path("/proc", name).read_text()
