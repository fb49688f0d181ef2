"""Write recordings in the formats of the tools that record them."""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backend.schedule.interop.traces.recording import Recording, Row
from backend.schedule.order.ops import Op

PRODUCTION = {"F": "forward-compute", "B": "backward-compute"}
SPANS = {"F": "megatron.microbatch.forward", "B": "megatron.microbatch.backward"}


def single(row: Row) -> Op:
    assert isinstance(row.op, Op), "this format has no pairs"
    return row.op


def table(recording: Recording, folder: Path) -> list[Path]:
    path = folder / "ops.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["Step", "DP rank", "Rank", "Stage", "Kind", "Micro-batch", "Start", "End"])
        for row in recording.rows:
            op = single(row)
            word = {"F": "forward", "B": "backward", "I": "dgrad", "W": "wgrad"}[op.kind]
            out.writerow([row.step, row.replica, row.rank, op.stage, word, op.micro, row.start, row.end])
    return [path]


def timeline(recording: Recording, folder: Path) -> list[Path]:
    p = 1 + max(row.rank for row in recording.rows)
    threads: dict[tuple[int, int], int] = {}
    events: list[dict[str, Any]] = []
    for row in recording.rows:
        thread = threads.setdefault((row.replica, row.rank), len(threads))
        op = single(row)
        args = {"step": row.step, "model_chunk": op.stage // p, "mb_id": op.micro % 128, "seq_id": op.micro}
        events.append({"name": PRODUCTION[op.kind], "ph": "X", "pid": row.replica, "tid": thread,
                       "ts": 1e3 * row.start, "dur": 1e3 * (row.end - row.start), "args": args})  # fmt: skip
    for (replica, rank), thread in threads.items():
        name = f"PP rank {rank}, TP rank 0, compute"
        events.append({"name": "thread_name", "ph": "M", "pid": replica, "tid": thread, "args": {"name": name}})
    path = folder / "timeline.json.gz"
    path.write_bytes(gzip.compress(json.dumps(events).encode()))
    return [path]


def profiles(recording: Recording, folder: Path) -> list[Path]:
    """One file of torch's profiler for each rank of each replica, with events that are no ops among them."""
    places = sorted({(row.replica, row.rank) for row in recording.rows})
    paths = []
    for number, place in enumerate(places):
        mine = [row for row in recording.rows if (row.replica, row.rank) == place]
        events: list[dict[str, Any]] = [{"name": "aten::mm", "cat": "cpu_op", "ph": "X", "pid": 1, "tid": 1, "ts": 0.5,
                                         "dur": 0.1}]  # fmt: skip
        events += [
            {"name": f"PP:{row.op.text()}", "cat": "user_annotation", "ph": "X", "pid": 1, "tid": 1,
             "ts": 1e3 * row.start, "dur": 1e3 * (row.end - row.start)}
            for row in mine
        ]  # fmt: skip
        about = {"rank": number, "world_size": len(places), "backend": "nccl"}
        path = folder / f"rank{number}.pt.trace.json"
        path.write_text(json.dumps({"schemaVersion": 1, "distributedInfo": about, "traceEvents": events}))
        paths.append(path)
    return paths


def spans(recording: Recording, folder: Path) -> list[Path]:
    def attributes(**values: int) -> list[dict[str, Any]]:
        return [{"key": key.replace("__", "."), "value": {"intValue": str(value)}} for key, value in values.items()]

    p = 1 + max(row.rank for row in recording.rows)
    groups = []
    for place in sorted({(row.replica, row.rank) for row in recording.rows}):
        mine = [row for row in recording.rows if (row.replica, row.rank) == place]
        found = [
            {"name": SPANS[single(row).kind], "startTimeUnixNano": str(round(row.start * 1e6)),
             "endTimeUnixNano": str(round(row.end * 1e6)),
             "attributes": attributes(
                 megatron__iteration=row.step, dl__virtual_pipeline_rank=single(row).stage // p,
                 **({"dl__microbatch_id": single(row).micro} if single(row).kind == "F" else {}))}
            for row in mine
        ]  # fmt: skip
        about = attributes(dl__pipeline_parallel__rank=place[1], dl__data_parallel__rank=place[0])
        groups.append({"resource": {"attributes": about}, "scopeSpans": [{"spans": found}]})
    path = folder / "spans.json"
    path.write_text("".join(json.dumps({"resourceSpans": [group]}) + "\n" for group in groups))
    return [path]


def dumps(recording: Recording, folder: Path) -> list[Path]:
    """Megatron's timers: of one step."""
    p = 1 + max(row.rank for row in recording.rows)
    v = 1 + max(single(row).stage for row in recording.rows) // p
    paths = []
    for replica, rank in sorted({(row.replica, row.rank) for row in recording.rows}):
        times: dict[str, float] = {}
        for row in recording.rows:
            if (row.replica, row.rank) == (replica, rank):
                chunk = f"{single(row).stage // p}-" if v > 1 else ""
                name = f"{'forward' if single(row).kind == 'F' else 'backward'}-{chunk}{single(row).micro}"
                times |= {f"{name}-start": row.start, f"{name}-end": row.end}
        of = f"TPxCPxDP_rank_{replica}_pp_rank_{rank}_rank_{replica * p + rank}"
        path = folder / f"event_times_PP{p}_VPP{v}_{of}.json"
        path.write_text(json.dumps(times))
        paths.append(path)
    return paths


def nsight(recording: Recording, folder: Path) -> list[Path]:
    """One export for each rank, the names of ranges partly in the table of strings."""
    paths = []
    for rank in sorted({row.rank for row in recording.rows}):
        path = folder / f"rank{rank}.sqlite"
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
            database.execute(
                "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, "
                "globalTid INTEGER)"
            )
            for number, row in enumerate(row for row in recording.rows if row.rank == rank):
                database.execute("INSERT INTO StringIds VALUES (?, ?)", (number, row.op.text()))
                begun, ended = round(row.start * 1e6), round(row.end * 1e6)
                named = (row.op.text(), None) if number % 2 else (None, number)
                database.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, ?)", (begun, ended, *named, 7 << 24))
        database.close()
        paths.append(path)
    return paths


WRITERS: dict[str, Callable[[Recording, Path], list[Path]]] = {
    "table": table,
    "timeline": timeline,
    "profiles": profiles,
    "spans": spans,
    "dumps": dumps,
    "nsight": nsight,
}
