"""Read a table of ops, CSV or Parquet: a row has rank, kind, micro-batch, start and end, and may have stage, step and
replica.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from backend.schedule.errors import Message, OrderError, message
from backend.schedule.interop.csv_table import SEPARATOR, separator_of
from backend.schedule.interop.traces.names import KINDS
from backend.schedule.interop.traces.recording import (
    MOST_ROWS,
    Beside,
    Event,
    Recording,
    rows_of,
    steps_by_repetition,
    too_many,
)

COLUMNS = {
    "rank": ("rank", "pp_rank", "device", "pipeline_rank"),
    "stage": ("stage", "stage_id", "pp_stage"),
    "kind": ("kind", "op", "type", "optype", "op_type", "name", "phase"),
    "micro": ("micro", "micro_batch", "microbatch", "micro-batch", "mb", "mb_id", "microbatch_id"),
    "start": ("start", "begin", "start_time", "ts", "start_ts", "start_ms"),
    "end": ("end", "end_time", "stop", "end_ms"),
    "duration": ("duration", "dur", "time"),
    "step": ("step", "iteration", "iter"),
    "replica": ("replica", "dp_rank", "data_rank"),
}
NEEDED = ("rank", "kind", "start")
_DECIMAL = re.compile(r"^(\s*-?\d*),(\d+)", re.ASCII)
_LETTERS = {word: kind for kind, words in KINDS.items() for word in words}


def recording(file: TextIO, scale: float) -> Recording:
    """Return the ops of a CSV with a row of headings; times are ``scale`` ms each. Raises OrderError with the line."""
    head = file.readline()
    stated = SEPARATOR.match(head)
    separator = stated[1] if stated else separator_of(head)
    lines = file if stated else chain([head], file)
    more = 1 if stated else 0
    rows = csv.DictReader(lines, delimiter=separator)
    names = rows.fieldnames or ()
    if separator != ";":
        return of_rows(names, ((rows.line_num + more, row) for row in rows), scale)
    points = ((rows.line_num + more, {name: _point(value) for name, value in row.items()}) for row in rows)
    return of_rows(names, points, scale)


def _point(value: Any) -> Any:
    """Return a cell between semicolons with a decimal point: spreadsheets that write these write decimal commas."""
    return _DECIMAL.sub(r"\1.\2", value) if isinstance(value, str) else value


def of_parquet(path: Path, scale: float) -> Recording:
    """Return the ops of a Parquet file. Raises OrderError where pyarrow is not there."""
    try:
        parquet = import_module("pyarrow.parquet")  # an optional package
    except ImportError:
        text = message(
            "schedule.parquet_needs_pyarrow",
            "{file} is Parquet, which needs the package pyarrow: pip install pyarrow, or write the table as CSV",
            file=path.name,
        )
        raise OrderError(text) from None
    table = parquet.read_table(path)
    names = list(table.column_names)
    rows = zip(*(table.column(name).to_pylist() for name in names), strict=True)
    return of_rows(names, ((at, dict(zip(names, row, strict=True))) for at, row in enumerate(rows, 2)), scale)


def of_rows(names: Iterable[str], rows: Iterator[tuple[int, Mapping[str, Any]]], scale: float) -> Recording:
    """Return the ops of rows with their line numbers."""
    found = {_plain(name): name for name in names}
    column = {key: next((found[each] for each in words if each in found), None) for key, words in COLUMNS.items()}
    lacking = [key for key in NEEDED if column[key] is None]
    if column["end"] is None and column["duration"] is None:
        lacking.append("end")
    if lacking:
        text = message(
            "schedule.table_lacks_columns",
            "the table has no column {columns}; it needs rank, kind, start and end, and may have stage, micro, step "
            "and replica",
            columns=lacking,
        )
        raise OrderError(text)
    events: list[Event] = []
    beside: list[Beside] = []
    for line, row in rows:
        value = {key: row.get(name) if name is not None else None for key, name in column.items()}
        start = _number(line, "start", value["start"]) * scale
        length = value["end"] if column["end"] is not None else value["duration"]
        end = _number(line, "end", length) * scale + (0.0 if column["end"] is not None else start)
        if end < start:
            raise OrderError(_at(line, message("schedule.table_ends_early", "the end is before the start")))
        rank, step, replica = (_whole(line, key, value[key], 0) for key in ("rank", "step", "replica"))
        kind = _LETTERS.get(_plain(str(value["kind"])).replace("_", "").replace("-", ""))
        if kind is None:
            beside.append(Beside(step, replica, rank, str(value["kind"])[:60], start, end))
            continue
        micro = None if value["micro"] in (None, "") else _whole(line, "micro", value["micro"], 0)
        stage = _whole(line, "stage", value["stage"], rank)
        events.append(Event(step, replica, rank, kind, stage, micro, start, end))
        if len(events) > MOST_ROWS:
            raise OrderError(too_many())
    ranks = _ranks_of_pipelines(events)
    if ranks:
        events = [each._replace(rank=ranks[each.replica, each.rank]) for each in events]
        beside = [each._replace(rank=ranks.get((each.replica, each.rank), each.rank)) for each in beside]
    stepped = events if column["step"] is not None else steps_by_repetition(events)
    return Recording(message("schedule.trace_of_table", "a table of ops"), rows_of(stepped), beside)


def _ranks_of_pipelines(events: Iterable[Event]) -> dict[tuple[int, int], int]:
    """Return the rank in its pipeline of each (replica, rank) where ranks are those of the whole job: no two replicas
    have one in common. Else nothing.
    """
    found: dict[int, set[int]] = {}
    for each in events:
        found.setdefault(each.replica, set()).add(each.rank)
    if len(found) < 2 or sum(map(len, found.values())) > len(set().union(*found.values())):
        return {}
    return {(replica, rank): at for replica, ranks in found.items() for at, rank in enumerate(sorted(ranks))}


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def _at(line: int, problem: Message) -> Message:
    return message("schedule.table_line", "line {line}: {problem}", line=line, problem=problem)


def _number(line: int, name: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = float("nan")
    if not abs(found) <= 1e19:
        problem = message("schedule.table_not_a_number", "{name} is {value}, not a number", name=name,
                          value=repr(value)[:40])  # fmt: skip
        raise OrderError(_at(line, problem))
    return found


def _whole(line: int, name: str, value: Any, default: int) -> int:
    if value is None or value == "":
        return default
    found = _number(line, name, value)
    if found != int(found) or not 0 <= found < 1_000_000:
        problem = message(
            "schedule.table_not_whole",
            "{name} is {value}, not a whole number from 0 on",
            name=name,
            value=repr(value)[:40],
        )
        raise OrderError(_at(line, problem))
    return int(found)
