"""The server's log: one line per record, as text or JSON, of bounded length; repetitions are counted, files rotate.

What clients send can be part of a record, so control characters are escaped, and no client can fill the disk: a record
has at most LONGEST characters, the same place in the code writes a limited number of warnings a minute, and the log
file has a largest size.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backend.access.audit import PrivateFile

LONGEST = 2000  # characters of a record's text
ALLOWED = 20  # warnings of one place in the code in a window; a record's own `allowed` takes precedence
ALLOWED_PACKETS = 5  # of records about packets that cannot be read
WINDOW_S = 60.0
KEPT_FILES = 4  # rotated log files besides the present one
NOISY = ("bubbleline.engineio", "bubbleline.socketio")  # these log every packet at INFO
REQUEST = ("method", "route", "status", "ms", "client")  # the fields of a record that JSON has beside its message


def set_up(level: str, form: str, file: Path | None, file_mb: int) -> bool:
    """Send all records of this process to standard error, or to a file that is rotated at `file_mb` megabytes.

    Prints why, and returns False, where the file cannot be written.
    """
    try:
        handler: logging.Handler = logging.StreamHandler() if file is None else _rotating(file, file_mb)
    except OSError as error:
        print(f"The log cannot be written to {file}: {error.strerror}.", file=sys.stderr)
        return False
    handler.setFormatter(JsonLine() if form == "json" else TextLine())
    handler.addFilter(Repetitions())
    logging.raiseExceptions = False  # a full disk would otherwise print a traceback for every record
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in NOISY:
        logging.getLogger(name).addFilter(PACKETS)
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
    return True


def log_exception(context: object, kind: Any, error: Any, trace: Any) -> None:
    """Log an exception that ended a greenlet, in place of gevent's `Hub.print_exception`."""
    logging.getLogger("bubbleline.greenlet").error("%.200r ended with an error", context, exc_info=(kind, error, trace))


class TextLine(logging.Formatter):
    """A record as `TIME LEVEL logger: message`, the traceback behind it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        return f"{_time(record)} {record.levelname} {record.name}: {_text(record)}"


class JsonLine(logging.Formatter):
    """A record as one JSON object: time, level, logger, message, and the fields of a request."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        line = {"time": _time(record), "level": record.levelname, "logger": record.name, "message": _text(record)}
        fields = {name: getattr(record, name) for name in REQUEST if hasattr(record, name)}
        return json.dumps(line | {name: _cut(each) if isinstance(each, str) else each for name, each in fields.items()})


class Repetitions(logging.Filter):
    """Passes the first ALLOWED warnings of a place in the code in a minute, and counts the others.

    The count is logged by the first record after the minute. Records below WARNING always pass.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._places: dict[tuple[Any, ...], tuple[float, int, logging.LogRecord]] = {}  # began, count, the last record

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        now = self._clock()
        if getattr(record, "repeated", False):
            return True
        self._report(now)
        if record.levelno < logging.WARNING:
            return True
        began, count, _ = self._places.get(_place(record), (now, 0, record))
        self._places[_place(record)] = (began, count + 1, record)
        return count < _allowed(record)

    def _report(self, now: float) -> None:
        """Log how many records of the minutes that are over were left out."""
        for place, (began, count, record) in list(self._places.items()):
            if now - began < WINDOW_S:
                continue
            del self._places[place]
            more = count - _allowed(record)
            if more > 0:
                summary = "%d more records like this one were left out in %.0f s: %s"
                logging.getLogger(record.name).log(
                    record.levelno, summary, more, now - began, _cut(record.getMessage()), extra={"repeated": True}
                )


class PacketErrors(logging.Filter):
    """Shortens what the socket libraries log of packets that they cannot read: a traceback of their own code, two
    kilobytes for every five bytes of a hostile client. Errors of this program's handlers are logged elsewhere.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Put the kind and the text of the error in place of its traceback; return True."""
        if record.exc_info:
            kind, error, _ = record.exc_info
            record.msg, record.args = f"{record.getMessage()}: {kind and kind.__name__}: {str(error)[:100]}", ()
            record.exc_info = record.exc_text = None
        record.allowed = ALLOWED_PACKETS
        return True


PACKETS = PacketErrors()


def escaped(text: str) -> str:
    r"""Return the text with control characters and line separators as escapes (\n, \x1b), so that it is one line."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


def _allowed(record: logging.LogRecord) -> int:
    return int(getattr(record, "allowed", ALLOWED))


def _place(record: logging.LogRecord) -> tuple[Any, ...]:
    """Return where in the code a record comes from; an exception counts with its type and its innermost line."""
    if not record.exc_info:
        return record.name, record.pathname, record.lineno
    kind, _, trace = record.exc_info
    innermost = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(trace)][-1:]
    return record.name, record.pathname, record.lineno, kind, *innermost


def _text(record: logging.LogRecord) -> str:
    """Return the message and the traceback in one bounded line."""
    text = record.getMessage()
    if record.exc_info:
        text += "\n" + logging.Formatter().formatException(record.exc_info)
    return _cut(escaped(text if len(text) <= 4 * LONGEST else text[: 2 * LONGEST] + text[-2 * LONGEST :]))


def _cut(text: str) -> str:
    """Shorten a text in the middle: a traceback's last line says what happened."""
    if len(text) <= LONGEST:
        return text
    kept = LONGEST // 2 - 20
    return f"{text[:kept]} ...({len(text) - 2 * kept} characters)... {text[-kept:]}"


def _time(record: logging.LogRecord) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"


def _rotating(file: Path, file_mb: int) -> logging.Handler:
    file.parent.mkdir(parents=True, exist_ok=True)
    return PrivateFile(file, maxBytes=file_mb * 1_000_000, backupCount=KEPT_FILES, encoding="utf-8")
