"""Traces as other programs write them: threads, streams, steps that are cut, ranks that are missing, own names; and
files that are none, each with its true reason.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.errors import OrderError, SpecError
from backend.schedule.families import registry
from backend.schedule.interop.traces import chrome_export
from backend.schedule.interop.traces.chrome import Measured, load
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline, simulate

Event = dict[str, Any]
COMPUTE, MESSAGES, HOST = 7, 20, 4000  # threads of a file: two streams, and the processor


def timeline_of(family: str = "1f1b", p: int = 2, m: int = 2, v: int = 1, comm: float = 0.0) -> Timeline:
    spec = registry.read({"family": family, "p": p, "m": m, "v": v})
    return simulate(registry.order(spec), Costs(1.0, 1.0, 1.0, comm), v)


def span(name: str, ts: float, dur: float, tid: Any = 0, **more: Any) -> Event:
    return {"ph": "X", "name": name, "pid": 0, "tid": tid, "ts": ts, "dur": dur} | more


def rows_of(timeline: Timeline) -> list[list[tuple[str, float, float]]]:
    """(op, start, end) in us, by rank."""
    order = timeline.order
    return [
        [
            (op.text(), a, b)
            for op, a, b in zip(order.row(rank), *((part * 1000).tolist() for part in timeline.rank(rank)), strict=True)
        ]
        for rank in range(order.p)
    ]


def torch_files(timeline: Timeline, world: int | None = None, steps: int = 1, gap: float = 20_000.0) -> list[Any]:
    """One file a rank as torch's profiler writes it on a GPU: each op is launched, computes, and has a range on the
    stream of messages too.
    """
    files = []
    for rank, row in enumerate(rows_of(timeline)):
        events: list[Event] = []
        for step in range(steps):
            for name, start, end in row:
                at, long = start + step * gap, end - start
                events += [
                    span(f"PP:{name}", at, 50, HOST, cat="user_annotation"),
                    span(f"PP:{name}", at, 200, MESSAGES, cat="gpu_user_annotation"),
                    span(f"PP:{name}", at, long, COMPUTE, cat="gpu_user_annotation"),
                    span("ampere_gemm", at, long, COMPUTE, cat="kernel"),
                    span("ncclDevKernel_SendRecv", at, 9 * long, MESSAGES, cat="kernel"),
                ]
        info = {"rank": rank, "world_size": timeline.order.p if world is None else world}
        files.append({"distributedInfo": info, "traceEvents": events})
    return files


def bubble(found: Measured) -> float:
    assert found.timeline is not None, found.missing
    return figures(found.timeline).global_bubble.of_total


def seen(found: Measured) -> tuple[Any, ...]:
    """All of a measurement that a reader sees."""
    times = [
        (lane.rank, [op.text() for op in lane.ops], lane.start.tolist(), lane.end.tolist()) for lane in found.lanes
    ]
    return times, found.source, found.step, found.steps, found.ignored, found.missing, found.notes, found.hop


def test_an_op_is_timed_on_the_stream_that_computes_not_on_the_first_in_the_file() -> None:
    found = load(*torch_files(timeline_of()))
    assert found.timeline is not None
    assert figures(found.timeline).makespan == 9.0
    assert bubble(found) == pytest.approx(1 / 3)
    spent = found.timeline.end - found.timeline.start
    assert sorted(set(spent.tolist())) == [1.0, 2.0]


@pytest.mark.parametrize("name", ["void ncclKernel_SendRecv", "ncclDevKernel_AllReduce", "rcclGenericKernel", "NCCL:x"])
def test_kernels_of_messages_are_known_by_their_library(name: str) -> None:
    files = torch_files(timeline_of())
    for each in (each for file in files for each in file["traceEvents"] if each["name"].startswith("nccl")):
        each["name"] = name
    assert bubble(load(*files)) == pytest.approx(1 / 3)


def test_without_kernels_the_stream_with_the_longer_ranges_is_the_one_that_computes() -> None:
    files = torch_files(timeline_of())
    for file in files:
        file["traceEvents"] = [each for each in file["traceEvents"] if each["cat"] != "kernel"]
    assert bubble(load(*files)) == pytest.approx(1 / 3)


def test_streams_of_one_gpu_are_one_rank() -> None:
    """Its forwards and its backwards on different streams, in a file that does not name a rank."""
    events = [
        span(f"PP:{name}", start, end - start, COMPUTE + ("B" in name), pid=rank, cat="gpu_user_annotation")
        for rank, row in enumerate(rows_of(timeline_of()))
        for name, start, end in row
    ]
    found = load(events)
    assert [lane.rank for lane in found.lanes] == [0, 1]
    assert bubble(found) == pytest.approx(1 / 3)


@given(seed=st.integers(0, 2**32), kind=st.sampled_from(["torch", "spans", "ours", "plain"]))
def test_the_order_of_events_in_a_file_means_nothing(seed: int, kind: str) -> None:
    timeline = timeline_of("zb-h1", 3, 4)
    files: list[Any] = torch_files(timeline, steps=2)
    if kind == "ours":
        files = [chrome_export.trace(timeline, "x")]
    elif kind != "torch":
        names = [[(name, start, end, rank) for name, start, end in row] for rank, row in enumerate(rows_of(timeline))]
        both = [each for row in names for each in row]
        files = [[span(name, start, end - start, rank) for name, start, end, rank in both]]
        if kind == "spans":
            files = [
                [
                    {"ph": phase, "name": name, "pid": 0, "tid": rank, "ts": at}
                    for name, start, end, rank in both
                    for phase, at in zip("BE" if seed % 2 else "be", (start, end), strict=True)
                ]
            ]
    expected = seen(load(*files))
    for file in files:
        random.Random(seed).shuffle(file if isinstance(file, list) else file["traceEvents"])
    assert seen(load(*files)) == expected


def test_one_step_is_read_for_all_ranks_and_it_is_one_that_none_has_cut_off() -> None:
    files = torch_files(timeline_of(), steps=2)
    files[0]["traceEvents"] = [
        each for each in files[0]["traceEvents"] if not (each["name"] == "PP:0B1" and each["ts"] > 20_000)
    ]
    found = load(*files)
    assert (found.step, found.steps) == (1, 2)
    assert figures(found.timeline).makespan == 9.0 if found.timeline else False
    assert bubble(found) == pytest.approx(1 / 3)


def test_steps_are_matched_by_time_where_profiles_begin_in_different_steps() -> None:
    files = torch_files(timeline_of(), steps=3)
    late = [each for each in files[1]["traceEvents"] if each["ts"] >= 20_000]  # without its first step
    files[1]["traceEvents"] = [each for each in late if each["ts"] < 45_000]  # and with half of its last
    found = load(*files)
    assert (found.step, found.steps) == (2, 3)
    assert figures(found.timeline).makespan == 9.0 if found.timeline else False


def test_steps_are_counted_from_the_end_where_clocks_are_far_apart() -> None:
    files = torch_files(timeline_of(), steps=2)
    for each in files[1]["traceEvents"]:
        each["ts"] += 9e9
    found = load(*files)
    assert found.step == 2
    assert len(found.lanes[1].ops) == 4


def test_steps_that_no_file_shares_are_not_put_together() -> None:
    """Rank 0 ends before rank 1 begins; rank 2 has every step, so that all have one clock."""
    files = torch_files(timeline_of(p=3, m=3), steps=3)
    for rank, (begin, end) in enumerate(((0, 35_000), (25_000, 60_000))):
        events = files[rank]["traceEvents"]
        files[rank]["traceEvents"] = [each for each in events if begin <= each["ts"] < end]
    with pytest.raises(OrderError, match="no step is on all ranks"):
        load(*files)


def test_a_last_stage_that_waits_before_its_backwards_is_said_not_to_be_the_last() -> None:
    for dialect in ({}, {"world": 4}):
        files = torch_files(timeline_of(p=4, m=8), **dialect)  # type: ignore[arg-type]
        notes = [[note for note in load(*files[:ranks]).notes if "the last one here" in note] for ranks in (2, 3, 4)]
        assert [len(each) for each in notes] == [1, 1, 0]
        assert notes[0][0].startswith("stage 1, the last one here, is idle for 6 ms before backwards")


def test_a_single_rank_is_said_to_be_one_of_several() -> None:
    files = torch_files(timeline_of())
    found = load(files[0])
    assert found.timeline is None
    assert found.missing == "only rank 0 of 2 is there, with stage 0: give the traces of the others too"
    files[0]["distributedInfo"] = {}
    assert "only one rank is there: if the pipeline has others, give their traces too" in load(files[0]).notes
    files[0]["traceEvents"].append(span("PP:0SEND_F0", 900, 10, HOST))
    found = load(files[0])
    assert found.missing == "only rank 0 is there, with stage 0: give the traces of the other ranks too"


def test_ranks_beside_the_pipeline_are_noted_as_its_copies() -> None:
    found = load(*torch_files(timeline_of(), world=4))
    assert bubble(found) == pytest.approx(1 / 3)
    assert any("2 of 4 ranks" in note for note in found.notes)


def gpipe_files(ranks: Sequence[int], world: int) -> list[Any]:
    """As torch's ScheduleGPipe writes them: ranges that name no stage."""
    words = {"F": "Forward", "B": "Backward"}
    return [
        {
            "distributedInfo": {"rank": rank, "world_size": world},
            "traceEvents": [
                span(f"{words[name[1]]} {name[2:]}", start, end - start, HOST, cat="user_annotation")
                for name, start, end in row
            ],
        }
        for rank, row in zip(ranks, rows_of(timeline_of("gpipe", len(ranks), 3)), strict=True)
    ]


@pytest.mark.parametrize(("ranks", "world"), [((0, 1), 2), ((2, 3), 4), ((1, 3), 4), ((0, 4, 8, 12), 16)])
def test_ranges_of_torchs_gpipe_have_the_stage_of_their_rank(ranks: tuple[int, ...], world: int) -> None:
    found = load(*reversed(gpipe_files(ranks, world)))
    assert found.timeline is not None, found.missing
    assert found.timeline.order.text() == timeline_of("gpipe", len(ranks), 3).order.text()


def test_ranges_without_a_stage_of_some_ranks_are_not_a_whole_schedule() -> None:
    assert "only rank 1 of 2" in str(load(gpipe_files([1, 0], 2)[0]).missing)
    assert "no op of stage 1" in str(load(*gpipe_files([0, 2], 3)).missing)


def test_ranges_without_a_stage_take_the_rank_of_their_thread_or_file() -> None:
    files = [{"traceEvents": file["traceEvents"]} for file in gpipe_files([0, 1], 2)]
    assert load(*files).timeline is not None
    events = [each | {"tid": rank} for rank, file in enumerate(files) for each in file["traceEvents"]]
    with pytest.raises(OrderError, match="2 tracks no rank"):
        load(events)
    named = [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": rank, "args": {"name": f"Rank {rank}"}} for rank in (0, 1)
    ]
    assert load([*events, *named]).timeline is not None


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (r"^(?P<kind>forward|backward)_step stage=(?P<stage>\d+) mb=(?P<micro>\d+)", "{kind}_step stage={s} mb={k}"),
        (r"s(?P<stage>\d+)/(?P<kind>\w)(?P<micro>\d+)", "nvtx: s{s}/{kind}{k}"),
        (r"stage (?P<stage>\d+) (?P<kind>[a-z]+)", "stage {s} {kind}"),  # micro-batches are counted
    ],
)
def test_ops_are_read_by_a_pattern_of_ones_own(pattern: str, name: str) -> None:
    words = {"F": "forward", "B": "backward"}
    timeline = timeline_of(m=3)
    events = [
        span(
            name.format(kind=words[op[1]] if "(?P<kind>\\w)" not in pattern else op[1], s=op[0], k=op[2:]), a, b - a, r
        )
        for r, row in enumerate(rows_of(timeline))
        for op, a, b in row
    ]
    found = load([*events, span("optimizer", 0, 1)], names=pattern)
    assert found.timeline is not None, found.missing
    assert found.timeline.order.text() == timeline.order.text()
    assert found.ignored == 1


def test_a_pattern_reads_the_arguments_of_events_too() -> None:
    events = [
        span("forward-compute" if op[1] == "F" else "backward-compute", a, b - a, rank, args={"mb_id": int(op[2:])})
        for rank, row in enumerate(rows_of(timeline_of()))
        for op, a, b in row
    ]
    named = [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": rank, "args": {"name": f"PP rank {rank}, compute"}}
        for rank in (0, 1)
    ]
    found = load([*events, *named], names=r"(?P<kind>\w+)-compute.* mb_id=(?P<micro>\d+)")
    assert bubble(found) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "not a regular expression"),
        ("x", "it needs"),
        ("(?P<kind>x)(?P<other>y)", "it needs"),
        ("", "a regular expression of at most 200"),
        ("x" * 201, "a regular expression of at most 200"),
        (3, "a regular expression of at most 200"),
        ("(?P<kind>hello)", "kind in hello is 'hello'; expected one of"),
        ("(?P<stage>hell)(?P<kind>o)", "stage in hello is|kind in hello is 'o'"),
    ],
)
def test_a_pattern_that_cannot_read_ops_is_refused(pattern: Any, words: str) -> None:
    with pytest.raises(SpecError, match=words) as refused:
        load([span("hello", 0, 1)], names=pattern)
    assert refused.value.field == "names"


@pytest.mark.parametrize(("unit", "ms"), [("ns", 1e-6), ("us", 1e-3), ("ms", 1.0), ("s", 1e3)])
def test_times_are_in_the_unit_that_is_given_whatever_the_file_is_displayed_in(unit: str, ms: float) -> None:
    events = [span("0F0", 0, 3), span("0B0", 3, 6)]
    found = load({"displayTimeUnit": "ms", "traceEvents": events}, unit=unit)
    assert found.lanes[0].end.tolist() == pytest.approx([3 * ms, 9 * ms])
    with pytest.raises(SpecError):
        load(events, unit="min")


def test_ranges_of_fsdp_are_counted_and_left_out() -> None:
    files = torch_files(timeline_of())
    files[0]["traceEvents"] += [span(f"FSDP::all_gather ({k})", k, 1, HOST) for k in range(3)]
    assert "3 ranges of FSDP are left out" in load(*files).notes


@pytest.mark.parametrize(("family", "m", "comm"), [("1f1b", 8, 0.5), ("gpipe", 6, 0.25), ("zb-h1", 8, 0.5)])
def test_without_waits_neither_waiting_nor_messages_count_as_work(family: str, m: int, comm: float) -> None:
    plan = timeline_of(family, 2, m, comm=comm)
    order = plan.order
    waiting = plan.start.copy()  # torch waits inside the range of the op that needs the message
    for rank in range(order.p):
        lo, hi = order.offsets[rank], order.offsets[rank + 1]
        waiting[lo + 1 : hi] = plan.end[lo : hi - 1]
        waiting[lo] = 0.0
    found = load(chrome_export.trace(Timeline(order, waiting, plan.end), "x"))
    assert found.hop == pytest.approx(comm)
    assert found.computing is not None
    np.testing.assert_allclose(found.computing.start, plan.start, atol=1e-6)


def test_transfers_that_cannot_be_told_from_work_are_said_to_count_as_work() -> None:
    events = [span("0F0", 0, 1000), span("0B0", 1000, 4000), span("1F0", 0, 2500, 1), span("1B0", 2500, 1000, 1)]
    found = load(events)
    assert found.hop == 0.0
    assert any("count that as work" in note for note in found.notes)


def test_the_slow_stage_is_named() -> None:
    spec = registry.read({"family": "interleaved", "p": 4, "m": 8, "v": 2})
    slow = tuple(3.0 if stage == 5 else 1.0 for stage in range(8))
    found = load(chrome_export.trace(simulate(registry.order(spec), Costs(slow, slow, slow), 2), "x"))
    assert any("stage 5, on rank 1, is the slowest: 9 ms per micro-batch, 3.00 times" in note for note in found.notes)


def broken_files() -> Iterator[tuple[str, str, str]]:
    """(what, text, pattern of the reason): files of many kinds that are not a trace with ops."""
    good = json.dumps({"displayTimeUnit": "ms", "traceEvents": [span("0F0", 0, 9), span("0B0", 9, 9)]})
    listed = json.dumps([span("0F0", 0, 9), span("0B0", 9, 9)])
    for blank in ("", " ", "\n", "\r\n\r\n", "\t", "\ufeff", "\ufeff\n", " " * 999):
        yield "empty", blank, "file 1 is empty"
    for none in ("[]", '{"traceEvents": []}', " [ ]\n", '{"traceEvents": [], "displayTimeUnit": "ns"}'):
        yield "no events", none, "file 1 has no events"
    for text in (good, listed):
        for at in range(1, len(text) - 1, 3):
            yield "cut off", text[:at], f"file 1 is cut off: its JSON ends after {at:,} characters"
    for text in ("3", "true", "null", '"trace"', "{}", '{"events": []}', '{"traceEvents": 3}', '{"traceEvents": {}}'):
        yield "other JSON", text, "file 1 is no Chrome trace"
    for text in ("hello", "<html></html>", "0F0,0B0\n1F0,1B0", "%PDF-1.7", "PK\x03\x04", "SQLite format 3\x00", "---"):
        yield "no JSON", text, "file 1 is not JSON"
    for text in ('{"a": 1}\n{"b": 2}', good + good, listed + "x", "[1 2]", "{'traceEvents': []}"):
        yield "wrong JSON", text, "file 1 is not JSON"
    for text in ("[1]", "[null]", "[[]]", '["0F0"]', "[{}]", '[{"ph": 1}]', '{"traceEvents": [{"name": "0F0"}]}'):
        yield "no events in it", text, "event 0 is no trace event"
    for name in (
        "aten::mm",
        "Optimizer.step#AdamW",
        "forward-compute",
        "Forward",
        "F0",
        "0X0",
        "PP:",
        "ProfilerStep#3",
    ):
        for count in (1, 7, 1200):
            events = [span(name, k, 1) for k in range(count)]
            yield "foreign", json.dumps(events), f"none of the {count:,} events is an op: expected names such as 2F0"
            torch = json.dumps({"distributedInfo": {"rank": 0}, "traceEvents": events})
            yield "foreign, torch", torch, f"none of the {count:,} events of torch's profiler .*Schedule1F1B records no"
    for wrong in (None, "3", True, [], float("nan"), float("inf"), 10**30):
        yield "ts", json.dumps([span("0F0", 0, 1), span("0B0", wrong, 1)]), r"ts of event 1 \(0B0\) is .*, not a num"
        yield "dur", json.dumps([span("0F0", 0, wrong)]), r"dur of event 0 \(0F0\) is .*, not a number"
    yield "dur", json.dumps([span("0F0", 0, -1)]), r"event 0 \(0F0\) has a negative dur"
    yield "B", json.dumps([{"ph": "B", "name": "0F0", "ts": 0}]), "0F0 begins but never ends"
    yield "E", json.dumps([{"ph": "E", "ts": 0}]), "event 0 ends what never began"


def test_hundreds_of_files_that_are_no_trace_have_each_its_true_reason() -> None:
    files = list(broken_files())
    assert len({text for _, text, _ in files}) > 200
    for what, text, reason in files:
        with pytest.raises(OrderError) as refused:
            load(text)
        said = refused.value.message
        assert re.search(reason, said, re.DOTALL), (what, text[:80], said)
        assert "the 0 events" not in said


def test_the_reason_names_the_file_among_several() -> None:
    good = json.dumps([span("0F0", 0, 9)])
    for bad, reason in (("", "file 2 is empty"), ("[", "file 2 is cut off"), ("[1]", "file 2: event 0 is no trace")):
        with pytest.raises(OrderError, match=reason):
            load(good, bad)


def test_events_that_the_page_left_out_are_counted() -> None:
    file = {"eventCount": 12_345, "traceEvents": [{"ph": "M", "name": "x"}]}
    with pytest.raises(OrderError, match="none of the 12,345 events"):
        load(file)
