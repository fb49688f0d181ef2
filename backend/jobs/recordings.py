"""Read files of measured ops, whatever tool wrote them: the format is known by the content."""

from __future__ import annotations

import gzip
import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from backend.errors import RequestError, message
from backend.schedule.errors import OrderError
from backend.schedule.interop.csv_table import NOT_TEXT, UTF16
from backend.schedule.interop.traces import chrome, json_stream, megatron, spans, table, timelines
from backend.schedule.interop.traces.events import UNITS, document
from backend.schedule.interop.traces.recording import Recording

GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
HEAD = 4096  # characters that tell the format
NSIGHT = b"SQLite format 3\x00"
_NVTX_RANGES = (
    "SELECT n.start, n.end, COALESCE(n.text, s.value), n.globalTid FROM NVTX_EVENTS AS n "
    "LEFT JOIN StringIds AS s ON n.textId = s.id WHERE n.end IS NOT NULL ORDER BY n.start"
)


def recording_of(paths: Sequence[Path], names: str | None = None, unit: str | None = None) -> Recording:
    """Return what files hold: one file, or one per rank, of one format. ``names`` is a pattern for the names of ops and
    ``unit`` that of the times (None: us in a trace, ms in a table). Raises OrderError for what cannot be read,
    RequestError for a file that is not text.
    """
    try:
        return _recording_of(paths, names, unit)
    except (UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        names_of = ", ".join(path.name for path in paths)
        why = message(
            "web.file_is_not_text",
            "{file} cannot be read as text: {reason}",
            file=names_of[:80],
            reason=NOT_TEXT if isinstance(error, UnicodeDecodeError) else str(error)[:120],
        )
        raise RequestError("file", names_of[:80], why) from None


def _recording_of(paths: Sequence[Path], names: str | None, unit: str | None) -> Recording:
    kinds = {path: _format(path) for path in paths}
    if len(set(kinds.values())) > 1:
        text = message(
            "schedule.files_of_several_formats",
            "the files are of several formats: {formats}; give those of one recording",
            formats=sorted(set(kinds.values())),
        )
        raise OrderError(text)
    kind = kinds[paths[0]]
    if kind == "parquet":
        return table.of_parquet(paths[0], UNITS[unit or "ms"])
    if kind == "table":
        with _opened(paths[0]) as file:
            return table.recording(file, UNITS[unit or "ms"])
    if kind == "spans":
        return spans.recording([_text(path) for path in paths])
    if kind == "dump":
        return megatron.recording([(path.name, _text(path)) for path in paths])
    if kind == "nsight":
        documents: list[dict[str, Any]] = [_of_nsight(path) for path in paths]
    else:
        documents = []
        for number, path in enumerate(paths, 1):
            with _opened(path) as file:
                documents.append(json_stream.trace_document(number, file, names is not None))
    if all(timelines.is_timeline(each["traceEvents"]) for each in documents):
        return timelines.recording(documents)
    return chrome.recording([document(number, each) for number, each in enumerate(documents, 1)], names, unit or "us")


def _format(path: Path) -> str:
    """Return the format of a file, by how it begins."""
    with path.open("rb") as file:
        begins = file.read(len(NSIGHT))
    if begins == NSIGHT:
        return "nsight"
    if begins.startswith(PARQUET):
        return "parquet"
    if megatron.is_dump(path.name):
        return "dump"
    with _opened(path) as file:
        head = file.read(HEAD)
    if head.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return "table"
    return "spans" if spans.is_spans(head) else "trace"


def _opened(path: Path) -> TextIO:
    with path.open("rb") as file:
        begins = file.read(2)
    packed = begins == GZIP
    if packed:
        with gzip.open(path) as unpacked:
            begins = unpacked.read(2)
    encoding = "utf-16" if begins in UTF16 else "utf-8-sig"
    return gzip.open(path, "rt", encoding=encoding) if packed else path.open(encoding=encoding)


def _text(path: Path) -> str:
    with _opened(path) as file:
        return file.read()


def _of_nsight(path: Path) -> dict[str, Any]:
    """Return the NVTX ranges of an SQLite export of Nsight Systems as a Chrome trace: a process is a rank. Raises
    OrderError for another database, or one without ranges.
    """
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            database.execute("PRAGMA trusted_schema = OFF")  # the file may be anybody's
            rows = database.execute(_NVTX_RANGES).fetchall()
        finally:
            database.close()
    except sqlite3.Error as error:
        text = message(
            "schedule.not_an_nsight_export",
            "no SQLite export of Nsight Systems with NVTX ranges: {file} ({problem}); record with --trace=nvtx and "
            "export with --type sqlite",
            file=path.name,
            problem=str(error)[:80],
        )
        raise OrderError(text) from None
    events: list[dict[str, Any]] = [
        {"ph": "X", "name": name, "ts": start / 1e3, "dur": (end - start) / 1e3, "pid": thread >> 24, "tid": "nvtx"}
        for start, end, name, thread in rows
        if isinstance(name, str) and isinstance(thread, int)
    ]
    return {"traceEvents": events}
