"""Read files of measured ops, whatever tool wrote them: the format is known by the content."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from backend.errors import RequestError, message
from backend.schedule.errors import OrderError
from backend.schedule.interop.traces import chrome, json_stream, megatron, nsight, spans, table, timelines
from backend.schedule.interop.traces.events import UNITS, document
from backend.schedule.interop.traces.recording import Recording

GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
HEAD = 4096  # characters that tell the format


def recording_of(paths: Sequence[Path], names: str | None = None, unit: str | None = None) -> Recording:
    """Return what files hold: one file, or one per rank, of one format. ``names`` is a pattern for the names of ops and
    ``unit`` that of the times (None: us in a trace, ms in a table). Raises OrderError for what cannot be read,
    RequestError for a file that is not text.
    """
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
        documents: list[dict[str, Any]] = [nsight.trace_document(path) for path in paths]
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
        begins = file.read(len(nsight.MAGIC))
    if begins == nsight.MAGIC:
        return "nsight"
    if begins.startswith(PARQUET):
        return "parquet"
    if megatron.is_dump(path.name):
        return "dump"
    with _opened(path) as file:
        head = _read(path, file, HEAD)
    if head.lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return "table"
    return "spans" if spans.is_spans(head) else "trace"


def _opened(path: Path) -> TextIO:
    with path.open("rb") as file:
        packed = file.read(2) == GZIP
    return gzip.open(path, "rt", encoding="utf-8-sig") if packed else path.open(encoding="utf-8-sig")


def _read(path: Path, file: io.TextIOBase | TextIO, size: int = -1) -> str:
    try:
        return file.read(size)
    except (UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        why = message(
            "web.file_is_not_text", "{file} cannot be read as text: {reason}", file=path.name, reason=str(error)[:120]
        )
        raise RequestError("file", path.name, why) from None


def _text(path: Path) -> str:
    with _opened(path) as file:
        return _read(path, file)
