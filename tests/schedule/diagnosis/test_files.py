"""Recordings in each format come back as they were written; what cannot be read says why."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import bubbleline as bl
from backend.cli.measured.diagnose import diagnose_command
from backend.errors import RequestError
from backend.jobs.recordings import recording_of
from backend.schedule.errors import OrderError
from backend.schedule.interop.traces import json_stream
from backend.schedule.interop.traces import table as traces_table
from backend.schedule.interop.traces.recording import Recording, Row
from backend.schedule.spec import Spec
from tests.schedule.diagnosis.files import WRITERS, table
from tests.schedule.diagnosis.planted import UNEVEN, recording


def places(rows: Any) -> list[tuple[int, int, int, str]]:
    return sorted((row.step, row.replica, row.rank, row.op.text()) for row in rows)


def of_format(name: str) -> Recording:
    """What the format can hold: Megatron's timers are of one step, Nsight's exports here of one replica."""
    spec = Spec("interleaved", 2, 4, 2) if name in ("timeline", "spans", "dumps") else Spec("1f1b", 3, 4)
    whole = recording(spec, [UNEVEN], steps=1 if name == "dumps" else 3)
    rows = [row for row in whole.rows if row.replica == 0 or name not in ("nsight",)]
    first = 1 if name in ("profiles", "nsight") else 0  # their steps are found, and counted from 1
    return Recording(whole.source, [row._replace(step=row.step + first) for row in rows])


@pytest.mark.parametrize("name", WRITERS)
def test_a_format_comes_back_with_every_op_in_its_place(name: str, tmp_path: Path) -> None:
    written = of_format(name)
    files = WRITERS[name](written, tmp_path)
    found = recording_of(files)
    assert places(found.rows) == places(written.rows)
    times = {(row.step, row.replica, row.op.text()): row for row in written.rows}
    for row in found.rows:
        was = times[row.step, row.replica, row.op.text()]
        assert (row.start, row.end) == pytest.approx((was.start, was.end), abs=1e-5)
    done = CliRunner().invoke(diagnose_command, [*map(str, files), "--json"])
    shape = json.loads(done.output)
    assert shape["findings"][0]["cause"] == "imbalance"
    assert {"recognised", "measured", "replay", "slowdown", "by_kind", "by_stage", "by_replica", "by_worker", "idle",
            "what_if", "verdict"} <= shape.keys()  # fmt: skip
    lines = CliRunner().invoke(diagnose_command, [*map(str, files)])
    assert lines.exit_code == 0
    assert lines.output.startswith(shape["verdict"][0])


def test_a_table_without_steps_stages_and_numbers_is_read_too(tmp_path: Path) -> None:
    rows = recording(Spec("1f1b", 2, 3), steps=1, replicas=1).rows
    path = tmp_path / "ops.csv"
    lines = [f"{row.rank},{row.op.text()[1]},{row.start / 1e3},{(row.end - row.start) / 1e3}" for row in rows]
    path.write_text("\n".join(["rank,phase,begin,duration", *lines]))
    assert places(recording_of([path], unit="s").rows) == places(rows)
    for body in (path.read_text().encode("utf-16"), gzip.compress(path.read_text().encode("utf-16"))):
        path.write_bytes(body)  # as a spreadsheet or PowerShell writes it
        assert places(recording_of([path], unit="s").rows) == places(rows)
    text = "\n".join(["rank,phase,begin,duration", *lines])
    points = text.replace(",", ";")
    for other in (text.replace(",", "\t"), points, "sep=;\n" + points.replace(".", ",")):
        path.write_text(other, encoding="utf-8-sig")
        assert places(recording_of([path], unit="s").rows) == places(rows)
    path.write_text(other + "\nx;F;0;0\n")
    with pytest.raises(OrderError, match=f"line {len(lines) + 3}: rank is 'x'"):
        recording_of([path], unit="s")
    path.write_text(text)
    said = CliRunner().invoke(diagnose_command, [str(path), "--unit", "s"]).output
    assert "\n1 step of 1 replica: " in said


class Columns(dict[str, list[Any]]):
    """A table as pyarrow.parquet.read_table returns it."""

    @property
    def column_names(self) -> list[str]:
        return list(self)

    def column(self, name: str) -> Any:
        return SimpleNamespace(to_pylist=lambda: self[name])


def test_a_parquet_file_is_read_by_its_columns_and_needs_pyarrow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The columns are those of ByteDance-Seed/StragglerAnalysis: times in s, ranks of the whole job."""
    path = tmp_path / "trace.parquet"
    path.write_bytes(b"PAR1")
    rows = recording(Spec("1f1b", 2, 3), [UNEVEN], steps=2).rows
    words = {"F": "forward-compute", "B": "backward-compute"}
    columns = Columns(
        dp_rank=[row.replica for row in rows],
        stage=[row.rank for row in rows],
        rank=[10 * row.replica + 4 * row.rank for row in rows],
        step=[row.step for row in rows],
        optype=[words[row.op.text()[1]] for row in rows],
        start_ts=[row.start / 1e3 for row in rows],
        duration=[(row.end - row.start) / 1e3 for row in rows],
        mb_id=[int(row.op.text()[2:]) for row in rows],
    )

    def without(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(traces_table, "import_module", lambda name: SimpleNamespace(read_table=lambda at: columns))
    assert places(recording_of([path], unit="s").rows) == places(rows)
    monkeypatch.setattr(traces_table, "import_module", without)
    with pytest.raises(OrderError, match="pip install pyarrow"):
        recording_of([path])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rank,kind\n0,F\n", "no column start, end"),
        ("rank,kind,start,end\n0,F,x,1\n", "line 2: start is 'x'"),
        ("rank,kind,start,end\n0,F,5,1\n", "line 2: the end is before the start"),
        ("rank,kind,start,end\n-1,F,0,1\n", "line 2: rank is '-1'"),
        ("rank,kind,start,end\n", "no op of a pipeline"),
        ("rank,kind,start,end\n0,F,1,1\n0,B,2,2\n", "every op ends when it starts"),
        ("rank,kind,start,end\n1,F,0,1\n", "no rank has stage 0"),
        ('{"traceEvents": [{"ph": "X", "name": "PP:0F0", "ts": 0, "du', "cut off"),
        ('{"traceEvents": [1, 2]}', "no trace event"),
        ('{"traceEvents": []}', "no events"),
        ('{"a": 1} x', "not JSON"),
        ("[{]", "not JSON"),
        ("", "no column"),
        ('{"traceEvents": [{"ph": "X", "name": "aten::mm", "ts": 0, "dur": 1}]}', "none of the 1 events is an op"),
    ],
)
def test_broken_and_foreign_files_say_what_is_wrong(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    done = CliRunner().invoke(diagnose_command, [str(path)])
    assert done.exit_code == 1
    assert why in done.output
    assert "Traceback" not in done.output


def test_files_of_two_formats_a_rank_that_lacks_and_binary_ones_are_refused(tmp_path: Path) -> None:
    whole = recording(Spec("1f1b", 3, 4), steps=2, replicas=1)
    files = WRITERS["profiles"](whole, tmp_path)
    with pytest.raises(OrderError, match="several formats"):
        recording_of([*files, *table(whole, tmp_path)])
    assert any("2 of 3 ranks are given" in note for note in recording_of(files[:2]).notes)
    with pytest.raises(OrderError, match="only rank"):
        recording_of(files[:1])
    binary = tmp_path / "binary"
    binary.write_bytes(b"{\xff\xfe\x00\x80")
    with pytest.raises(RequestError, match="binary cannot be read as text: the file is not text in UTF-8, nor"):
        recording_of([binary])
    database = tmp_path / "other.sqlite"
    database.write_bytes(b"SQLite format 3\x00" + b"x" * 100)
    with pytest.raises(OrderError, match="no SQLite export"):
        recording_of([database])


def test_steps_that_are_cut_off_are_left_out_and_counted(tmp_path: Path) -> None:
    whole = recording(Spec("1f1b", 2, 4), steps=3, replicas=1)
    cut = [row for row in whole.rows if not (row.step == 2 and row.rank == 1 and row.op.text() == "1B3")]
    path = table(Recording(whole.source, cut), tmp_path)
    shape = json.loads(CliRunner().invoke(diagnose_command, [str(path[0]), "--json"]).output)
    assert shape["measured"]["steps"] == 2
    assert "1 of 3 steps" in shape["notes"][0]


EVENTS = st.lists(
    st.fixed_dictionaries(
        {"ph": st.sampled_from("XMBE"), "name": st.text(max_size=8) | st.sampled_from(["PP:0F0", "1B2"])},
        optional={"args": st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=9), max_size=3)},
    ),
    max_size=12,
)


@given(events=EVENTS, bare=st.booleans(), chunk=st.integers(1, 40), indent=st.sampled_from([None, 1]))
def test_events_are_read_one_by_one_as_json_has_them(
    events: list[dict[str, Any]], bare: bool, chunk: int, indent: int | None
) -> None:
    document: Any = events if bare else {"otherData": {"a": [1, 2]}, "traceEvents": events, "schemaVersion": 1}
    text = json.dumps(document, indent=indent)
    before, json_stream.CHUNK = json_stream.CHUNK, chunk
    try:
        found = list(json_stream._Text(1, io.StringIO(text)).members())
    finally:
        json_stream.CHUNK = before
    assert [value for key, value in found if key is None] == events
    assert {key: value for key, value in found if key} == (
        {} if bare else {"otherData": {"a": [1, 2]}, "schemaVersion": 1}
    )


def test_rows_are_no_more_than_fit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows: list[Row] = list(recording(Spec("1f1b", 2, 3), steps=1, replicas=1).rows)
    path = table(Recording(recording(Spec("1f1b", 2, 3)).source, rows), tmp_path)
    monkeypatch.setattr("backend.schedule.interop.traces.table.MOST_ROWS", 5)
    with pytest.raises(OrderError, match="more than"):
        recording_of(path)


def test_python_says_what_the_command_says(tmp_path: Path) -> None:
    files = table(recording(Spec("1f1b", 3, 6), [UNEVEN]), tmp_path)
    found = bl.diagnose(*files)
    shape = json.loads(CliRunner().invoke(diagnose_command, [*map(str, files), "--json"]).output)
    assert json.loads(json.dumps(found.as_dict())) == shape
    assert next(iter(found.causes)) == "imbalance"
    assert found.verdict.startswith("Stage 1 takes 1.5 times the others")
    assert found.step_ms == shape["measured"]["step"]
    assert found.schedule.family == "1f1b"
    assert found.schedule.step_time == pytest.approx(found.step_ms, rel=0.03)
