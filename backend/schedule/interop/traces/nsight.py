"""Read NVTX ranges from Nsight Systems' SQLite export as the events of a Chrome trace: a process is a rank."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from backend.schedule.errors import OrderError, message

MAGIC = b"SQLite format 3\x00"
RANGES = (59, 60, 34)  # push and pop, start and end, as Nsight numbers them
_QUERY = (
    "SELECT n.start, n.end, COALESCE(n.text, s.value), n.globalTid FROM NVTX_EVENTS AS n "
    "LEFT JOIN StringIds AS s ON n.textId = s.id WHERE n.end IS NOT NULL ORDER BY n.start"
)


def trace_document(path: Path) -> dict[str, Any]:
    """Return the ranges of a file. Raises OrderError for another database, or one without ranges."""
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            rows = database.execute(_QUERY).fetchall()
        finally:
            database.close()
    except sqlite3.Error as error:
        text = message(
            "schedule.not_an_nsight_export",
            "{file} is no SQLite export of Nsight Systems with NVTX ranges: {problem}; record with --trace=nvtx and "
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
