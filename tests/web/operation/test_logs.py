"""The log: one bounded line per record, whatever clients send; repetitions are counted; the file has a largest size."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import websocket

from backend.runs.runner_client import _log_lines
from backend.web import logs
from tests.conftest import until
from tests.support.web_pages import connect_raw
from tests.web.sockets.test_socket_limits import closing_of


@pytest.fixture
def untouched() -> Iterator[None]:
    """Restore the process' own logging, which `set_up` replaces."""
    root = logging.getLogger()
    handlers, level, raising = root.handlers[:], root.level, logging.raiseExceptions
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:], logging.raiseExceptions = handlers, raising
    root.setLevel(level)


def record(text: str, *args: object, level: int = logging.WARNING, line: int = 1, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("bubbleline.test", level, "file.py", line, text, args, None)
    made.__dict__.update(extra)
    return made


@pytest.mark.parametrize("form", [logs.TextLine(), logs.JsonLine()], ids=["text", "json"])
@pytest.mark.parametrize(
    "hostile", ["a\nWARNING forged: b", "\x1b[31mred\x1b[0m", "\r\x00\x7f\x85\u2028", "x" * 10**6, "\ud800", "%s%n{}"]
)
def test_what_a_client_sends_stays_one_bounded_line_without_control_characters(form, hostile):
    line = form.format(record("from a client: %s", hostile))
    assert line.isprintable()
    assert len(line) < 2 * logs.LONGEST
    line.encode()


def test_a_traceback_is_one_line_and_keeps_its_beginning_and_its_last_line():
    def deep(level: int) -> None:
        if level:
            deep(level - 1)
        else:
            print(1 / 0)

    try:
        deep(300)
    except ZeroDivisionError as error:
        failed = record("error %s", "abcd")
        failed.exc_info = (type(error), error, error.__traceback__)
    line = logs.TextLine().format(failed)
    assert line.isprintable()
    assert "error abcd" in line
    assert line.endswith("ZeroDivisionError: division by zero")


def test_json_lines_have_the_fields_of_a_request():
    fields = {"method": "GET", "route": "/api/schedule", "status": "200", "ms": 1.5, "client": "10.0.0.7"}
    line = json.loads(logs.JsonLine().format(record("a request", level=logging.INFO, **fields)))
    assert {name: line[name] for name in fields} == fields
    assert (line["level"], line["logger"], line["message"]) == ("INFO", "bubbleline.test", "a request")


def test_repeated_warnings_of_one_place_are_counted_and_those_of_others_pass(caplog):
    now = 0.0
    limit = logs.Repetitions(lambda: now)
    passed = sum(limit.filter(record("packet %d", number)) for number in range(2000))
    assert passed == logs.ALLOWED
    assert limit.filter(record("another", line=2))
    assert all(limit.filter(record("request", level=logging.INFO)) for _ in range(100))
    assert sum(limit.filter(record("runner", line=3, allowed=200)) for _ in range(300)) == 200
    now = logs.WINDOW_S
    assert limit.filter(record("packet %d", 2000))
    assert "1980 more records like this one were left out in 60 s: packet 1999" in caplog.text


def test_different_errors_that_one_place_logs_are_not_taken_for_repetitions():
    limit = logs.Repetitions(lambda: 0.0)

    def failed(error: Exception) -> logging.LogRecord:
        made = record("error")
        try:
            raise error
        except Exception as raised:
            made.exc_info = (type(raised), raised, raised.__traceback__)
        return made

    assert sum(limit.filter(failed(ValueError(str(number)))) for number in range(100)) == logs.ALLOWED
    assert limit.filter(failed(KeyError("other")))


def test_a_log_file_is_rotated_private_and_bounded_in_all(tmp_path: Path, untouched):
    file = tmp_path / "logs" / "server.log"
    logs.set_up("info", "text", file, 1)
    for number in range(2700):
        logging.getLogger("bubbleline.test").info("%d %s", number, "x" * 1900)
    files = list(file.parent.iterdir())
    assert len(files) == 1 + logs.KEPT_FILES
    assert sum(path.stat().st_size for path in files) < 5.1e6
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert "2699 " in file.read_text().splitlines()[-1]


def test_a_full_disk_does_not_stop_what_is_logged_about(untouched, capfd):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full on this system")
    logs.set_up("info", "text", None, 1)
    (handler,) = logging.getLogger().handlers
    assert isinstance(handler, logging.StreamHandler)
    with suppress(OSError), open("/dev/full", "w") as full:
        before = handler.setStream(full)
        logging.getLogger("bubbleline.test").warning("lost")
        assert capfd.readouterr().err == "", "a traceback for each lost record would be worse than the loss"
        handler.setStream(before)


def test_a_server_logs_each_request_as_json_and_a_flood_of_bad_ones_in_few_bytes(start, tmp_path: Path):
    server = start(BUBBLELINE_LOG_LEVEL="info", BUBBLELINE_LOG_FORMAT="json")
    asked = time.monotonic()
    server.get("/api/schedule?p=0&name=%0Aforged")
    took_ms = 1000 * (time.monotonic() - asked)
    for _ in range(60):
        with server.connect() as raw:
            raw.sendall(b"BAD\x1b[31m\x07 /?token=secret request\r\n\r\n")
            raw.recv(10_000)

    def lines() -> list[dict]:
        return [json.loads(line) for line in (tmp_path / "server.log").read_text().splitlines()]

    until(lambda: sum(line.get("status") == "400" for line in lines()) >= 61)
    (found,) = [line for line in lines() if line.get("route") == "/api/schedule"]
    assert (found["method"], found["status"], found["client"]) == ("GET", "400", "127.0.0.1")
    assert 0 <= found["ms"] < took_ms
    assert sum("cannot be read" in line["message"] for line in lines()) == logs.ALLOWED
    assert not {"forged", "secret"} & set(re.findall(r"\w+", (tmp_path / "server.log").read_text()))


def test_a_log_file_that_cannot_be_written_is_named_at_the_start(tmp_path: Path):
    from backend.config import Config
    from backend.web.serve import serve

    (tmp_path / "file").write_text("")
    assert serve(Config(port=0, log_file=tmp_path / "file" / "server.log")) == 1


def test_malformed_packets_of_a_socket_leave_little_in_the_log(start, tmp_path: Path):
    server = start()
    size = (tmp_path / "server.log").stat().st_size
    sent = 0
    for _ in range(6):
        raw = connect_raw(server)
        with suppress(OSError, websocket.WebSocketException):
            for packet in ('42["watch', "4\x1b[31m", "42[]", "451-[", "9", "b!!!", '42{"a":1}', "40/nowhere,") * 5:
                raw.send(packet)
                sent += len(packet)
        until(lambda: server.get("/healthz").ok)
        raw.close()
    until(lambda: b"bubbleline_sockets 0.0" in server.get("/metrics").content)
    text = (tmp_path / "server.log").read_text()
    assert all(line.isprintable() for line in text.splitlines())
    assert "Traceback" not in text
    assert len(text) - size < 3 * sent, "it was over a hundred times as much"


def test_what_is_no_packet_closes_its_socket_with_the_reason_and_leaves_no_traceback(start, tmp_path: Path):
    server = start()
    for message in ("", "🦜", "x", "b!!!", "4" + "[" * 15_000):
        raw = connect_raw(server)
        raw.send(message)
        assert closing_of(raw) == (1003, "only packets of Engine.IO are understood here")
        raw.close()
    until(lambda: b"bubbleline_sockets 0.0" in server.get("/metrics").content)
    assert (tmp_path / "server.log").read_text() == ""


def test_what_the_runner_writes_is_logged_with_its_level_and_in_bounded_lines(caplog):
    caplog.set_level(logging.INFO)
    _log_lines(io.BytesIO(b"INFO runner: ready\nTraceback (most recent call last):\n\xff\n" + b"x" * 10_000 + b"\n"))
    found = [(each.levelname, each.getMessage()[:40]) for each in caplog.records]
    assert found[:3] == [
        ("INFO", "runner: ready"), ("WARNING", "Traceback (most recent call last):"), ("WARNING", "\ufffd"),
    ]  # fmt: skip
    assert [len(each.getMessage()) for each in caplog.records[3:]] == [4096, 4096, 1808]
