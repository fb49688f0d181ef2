"""Measure what a hostile client does to a bystander: how long the bystander's requests take meanwhile.

    python bench/hostile.py [--seconds 5]

A server with a runner that measures nothing, on loopback. The bystander asks for a schedule 25 times a second on one
connection, as a page does while a slider is dragged. For each attack: its requests' median, 99th percentile and worst
in ms, how many failed, and what became of the attacker. Attacker and bystander share the machine with the server, so
the idle row is the measure of all others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import requests
import websocket

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.conftest import Server, launch
from tests.support.web_pages import connect_raw

EVERY_S = 0.04
Attack = Callable[[Server, threading.Event], str]


def send_until(stop: threading.Event, raw: websocket.WebSocket, send: Callable[[], object]) -> str:
    """Send without a pause; return what became of the socket."""
    raw.settimeout(0.5)
    sent = 0
    while not stop.is_set():
        try:
            send()
            sent += 1
        except (websocket.WebSocketTimeoutException, TimeoutError):
            continue  # held back by the network
        except (OSError, websocket.WebSocketException) as error:
            return f"closed after {sent} messages ({type(error).__name__})"
    return f"{sent} messages sent, most of them still on their way"


def nothing(server: Server, stop: threading.Event) -> str:
    stop.wait()
    return ""


def one_socket(send: Callable[[websocket.WebSocket], object]) -> Attack:
    """Return the attack of one socket that sends the same again and again."""

    def attack(server: Server, stop: threading.Event) -> str:
        raw = connect_raw(server)
        return send_until(stop, raw, lambda: send(raw))

    return attack


small_events = one_socket(lambda raw: raw.send('42["unwatch",{"run":"nobody"}]'))
pings = one_socket(lambda raw: raw.ping("x" * 100))
malformed = one_socket(lambda raw: raw.send("42["))
large_messages = one_socket(lambda raw: raw.send("4" * 16_000))


def fragments(server: Server, stop: threading.Event) -> str:
    raw = connect_raw(server)
    opcodes = chain([websocket.ABNF.OPCODE_TEXT], repeat(websocket.ABNF.OPCODE_CONT))

    def part() -> None:
        raw.send_frame(websocket.ABNF(fin=0, opcode=next(opcodes), mask_value=1, data=b"x" * 4096))

    return send_until(stop, raw, part)


def many_sockets(server: Server, stop: threading.Event) -> str:
    """Twenty sockets with small events."""
    results: list[str] = []
    threads = [threading.Thread(target=lambda: results.append(small_events(server, stop))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"20 sockets, first: {results[0]}"


ATTACKS: dict[str, Attack] = {
    "idle": nothing,
    "small legal events": small_events,
    "pings": pings,
    "malformed packets": malformed,
    "messages of 16 kB": large_messages,
    "a message without end": fragments,
    "small events on 20 sockets": many_sockets,
}


def watch(server: Server, seconds: float) -> tuple[list[float], int]:
    """Return the bystander's times in ms, and how many of its requests failed."""
    times, failed = [], 0
    with requests.Session() as session:
        end = time.monotonic() + seconds
        m = 8
        while time.monotonic() < end:
            m = 8 + (m + 1) % 50
            begun = time.monotonic()
            try:
                failed += session.get(f"{server.url}/api/schedule?p=4&m={m}", timeout=60).status_code != 200
            except requests.RequestException:
                failed += 1
            times.append(1000 * (time.monotonic() - begun))
            time.sleep(EVERY_S)
    return times, failed


def measure(server: Server, attack: Attack, seconds: float) -> tuple[list[float], int, str]:
    """Return the bystander's times and failures under an attack, and what became of the attacker."""
    stop, became = threading.Event(), [""]

    def run() -> None:
        with suppress(OSError):
            became[0] = attack(server, stop)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    times, failed = watch(server, seconds)
    stop.set()
    thread.join()
    return times, failed, became[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each attack")
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        server = launch(Path(folder))
        try:
            watch(server, 1.0)  # the first requests load what they need
            print(f"{'attack':28} {'p50':>8} {'p99':>8} {'worst':>8} ms  failed")
            for name, attack in ATTACKS.items():
                times, failed, became = measure(server, attack, seconds)
                p50, p99 = np.percentile(times, (50, 99))
                print(f"{name:28} {p50:8.1f} {p99:8.1f} {max(times):8.1f}     {failed:5}  {became}", flush=True)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
