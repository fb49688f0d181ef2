"""Chrome traces: ours follow the format and are imported without loss; others are read or refused with a reason."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.errors import OrderError
from backend.schedule.families import registry
from backend.schedule.families.registry import FAMILIES
from backend.schedule.interop.export import render
from backend.schedule.interop.traces import chrome, chrome_export
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.message_flow import producers, without_waits
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec
from tests.support.strategies import nearest_legal, specs

NUMBER = (int, float)


def timeline_of(name: str, p: int = 4, m: int = 8, comm: float = 0.25) -> Timeline:
    costs = Costs(1.0, 1.25, 0.75, comm)
    spec = nearest_legal(Spec(name, p, m, FAMILIES[name].v[1], costs=costs))
    return simulate(registry.order(spec), spec.costs, spec.v)


def broken_rules(trace: dict[str, Any]) -> list[str]:
    """The rules of the Trace Event Format, as read by Perfetto's JSON importer, that a trace breaks."""
    wrong = [f"no {key}" for key in ("traceEvents",) if not isinstance(trace.get(key), list)]
    wrong += ["displayTimeUnit"] * (trace.get("displayTimeUnit") not in ("ms", "ns"))
    ends: dict[tuple[Any, Any], int] = {}
    slices = []
    for number, event in enumerate(trace["traceEvents"]):
        wrong += [f"{number} {key}" for key in ("pid", "tid") if type(event.get(key)) is not int]
        wrong += [f"{number} name"] * (not isinstance(event.get("name"), str) or not event["name"])
        if event["ph"] == "M":
            wrong += [f"{number} args"] * (event["name"] not in METADATA or not METADATA[event["name"]](event["args"]))
            continue
        wrong += [f"{number} ph"] * (event["ph"] not in ("X", "s", "f"))
        wrong += [f"{number} ts"] * (not isinstance(event.get("ts"), NUMBER) or not event["ts"] >= 0)
        wrong += [f"{number} cat"] * (not isinstance(event.get("cat"), str))
        if event["ph"] == "X":
            wrong += [f"{number} dur"] * (not isinstance(event.get("dur"), NUMBER) or not event["dur"] >= 0)
            key = event["pid"], event["tid"]
            start, length = int(event["ts"] * 1000), int(event["dur"] * 1000)  # Perfetto cuts off to ns
            wrong += [f"{number} overlaps"] * (start < ends.get(key, 0))
            ends[key] = start + length
            slices.append(event)
    return wrong + broken_flows(trace, slices)


METADATA = {
    "process_name": lambda args: isinstance(args["name"], str),
    "thread_name": lambda args: isinstance(args["name"], str),
    "thread_sort_index": lambda args: type(args["sort_index"]) is int,
}


def broken_flows(trace: dict[str, Any], slices: list[dict[str, Any]]) -> list[str]:
    """Each id once as s and once as f, forward in time, with the same cat and name, each inside a slice."""
    wrong = []
    begun = {event["id"]: event for event in trace["traceEvents"] if event["ph"] == "s"}
    ended = {event["id"]: event for event in trace["traceEvents"] if event["ph"] == "f"}
    flows = [event for event in trace["traceEvents"] if event["ph"] in "sf"]
    if len(begun) + len(ended) != len(flows) or begun.keys() != ended.keys():
        wrong.append("a flow has no two ends of its own")
    for number in begun.keys() & ended.keys():
        one, two = begun[number], ended[number]
        if (one["cat"], one["name"]) != (two["cat"], two["name"]) or two["bp"] != "e" or one["ts"] > two["ts"]:
            wrong.append(f"flow {number}")
    spans = {(x["pid"], x["tid"], x["ts"]): x["ts"] + x["dur"] for x in slices}
    starts: dict[tuple[int, int], list[float]] = {}
    for pid, tid, ts in spans:
        starts.setdefault((pid, tid), []).append(ts)
    for event in flows:
        at = (event["pid"], event["tid"])
        under = max((ts for ts in starts.get(at, ()) if ts <= event["ts"]), default=None)
        if under is None or event["ts"] > spans[(*at, under)]:
            wrong.append(f"flow {event['id']} is in no slice")
    return wrong


# Unit costs, and some whose sums are not exact in binary.
@pytest.mark.parametrize("costs", [Costs(), Costs(18.522, 18.086, 9.337, 0.601)], ids=["unit", "measured"])
@pytest.mark.parametrize("name", FAMILIES)
def test_our_trace_follows_the_rules_of_the_format(name: str, costs: Costs) -> None:
    spec = nearest_legal(Spec(name, 4, 12, FAMILIES[name].v[1], costs=costs))
    text = render(spec, registry.order(spec), "chrome-trace")
    assert broken_rules(json.loads(text)) == []


def test_the_rules_detect_a_wrong_trace() -> None:
    trace = chrome_export.trace(timeline_of("1f1b"), "x")
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    flows = [event for event in trace["traceEvents"] if event["ph"] == "s"]
    assert broken_rules(trace) == []
    slices[0]["dur"] += 500.0
    slices[3]["ts"], flows[0]["id"] = slices[3]["dur"] + 1e9, 10_000
    assert {wrong.split()[-1] for wrong in broken_rules(trace)} >= {"overlaps", "own", "slice"}


@pytest.mark.parametrize("name", FAMILIES)
def test_an_arrow_goes_from_the_op_that_makes_a_value_to_the_op_on_another_rank_that_takes_it(name: str) -> None:
    timeline = timeline_of(name)
    events = chrome_export.trace(timeline, "x")["traceEvents"]
    place = timeline.order.placement
    hops = sum(
        place.prev(rank, chunk) not in (None, *((rank, c) for c in range(place.chunks)))
        for rank in range(place.p)
        for chunk in range(place.chunks)
    )
    arrows = [event["name"] for event in events if event["ph"] == "s"]
    assert arrows.count("activation") == arrows.count("gradient") == hops * timeline.order.n


@given(spec=specs(max_p=5, max_m=10))
def test_every_value_is_made_before_it_is_taken(spec: Spec) -> None:
    timeline = simulate(registry.order(spec), spec.costs, spec.v)
    made_by, crosses = producers(timeline.order)
    taken, half = np.nonzero(made_by >= 0)
    lag = np.where(crosses[taken, half], spec.costs.comm, 0.0)
    assert (timeline.end[made_by[taken, half]] + lag <= timeline.start[taken]).all()
    assert np.array_equal(without_waits(timeline)[0].start, timeline.start), "a plan has no waits inside its ops"


@pytest.mark.parametrize("name", FAMILIES)
def test_our_trace_is_imported_as_the_same_timeline(name: str) -> None:
    timeline = timeline_of(name)
    found = chrome.load(json.dumps(chrome_export.trace(timeline, "x")))
    assert (found.source, found.steps, found.missing, found.notes) == ("op texts", 1, None, ())
    assert found.timeline is not None
    assert found.timeline.order.text() == timeline.order.text()
    assert found.timeline.order.placement == timeline.order.placement
    assert np.allclose(found.timeline.start, timeline.start, rtol=0, atol=1e-6)  # whole ns
    assert figures(found.timeline).global_bubble.of_total == pytest.approx(figures(timeline).global_bubble.of_total)


def event(name: str, ts: Any, dur: Any = 1000, tid: Any = 0, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur} | more


def load(*events: Any) -> chrome.Measured:
    return chrome.load(json.dumps(events))


def test_other_tools_forms_are_read_and_unknown_events_left_out() -> None:
    """A bare list, B and E events with nested strangers, text ids, slices out of order, two processes."""
    found = load(
        event("1B0", 2000, tid="b"),
        event("aten::mm", 100),
        {"ph": "C", "name": "memory", "args": {"x": 1}},
        {"ph": "B", "name": "PP:0F0", "pid": "p", "tid": "a", "ts": 0},
        {"ph": "B", "name": "inner", "pid": "p", "tid": "a"},
        {"ph": "E", "pid": "p", "tid": "a"},
        {"ph": "E", "pid": "p", "tid": "a", "ts": 1000},
        event("1F0", 1000, tid="b"),
        event("0SEND_F0", 1000, 5, tid="c"),
        event("0B0", 3000, tid="a", pid="p"),
    )
    assert found.timeline is not None
    assert found.timeline.order.text() == ["0F0 0B0", "1F0 1B0"]
    assert found.timeline.end.tolist() == [1.0, 4.0, 2.0, 3.0]
    assert found.ignored == 4


def test_files_of_two_ranks_share_one_clock_by_their_base_times() -> None:
    files = [
        json.dumps({"baseTimeNanoseconds": base, "distributedInfo": {"rank": 9}, "traceEvents": events})
        for base, events in (
            (1_790_857_026_000_000_000, [event("PP:0F0", 0), event("PP:0B0", 4000)]),
            (1_790_857_026_002_000_000, [event("PP:1F0", 0), event("PP:1B0", 1000)]),
        )
    ]
    found = chrome.load(*reversed(files))
    assert found.timeline is not None
    assert found.timeline.start.tolist() == [0.0, 4.0, 2.0, 3.0]


def test_waiting_inside_an_op_is_subtracted() -> None:
    found = load(event("0F0", 0), event("0B0", 1000, 3000), event("1F0", 0, 2000, 1), event("1B0", 2000, 1000, 1))
    assert found.timeline is not None
    assert found.computing is not None
    assert figures(found.timeline).busy == 3.5
    assert found.computing.start.tolist() == [0.0, 3.0, 1.0, 2.0]
    assert "waiting for messages" in found.notes[0]


def test_clocks_that_disagree_are_reported() -> None:
    found = load(event("0F0", 0), event("0B0", 9000), event("1F0", -4000, tid=1), event("1B0", 2000, tid=1))
    assert any("ended 4.000 ms before" in note for note in found.notes)


def test_the_last_whole_step_of_several_is_used() -> None:
    step = [("0F0", 0), ("0F1", 1), ("0B0", 2), ("0B1", 3)]
    cut = [("0B0", 0), ("0B1", 1)]
    events = [event(name, (at + shift) * 1000)
              for part, shift in ((cut, 0), (step, 10), (step, 20), (step[:1], 30)) for name, at in part]  # fmt: skip
    found = load(*events)
    assert found.steps == 3
    assert found.timeline is not None
    assert found.timeline.order.text() == ["0F0 0F1 0B0 0B1"]
    assert found.timeline.end[-1] == 4.0


def test_gpu_ranges_of_torch_are_used_only_where_they_are_complete() -> None:
    """Kineto leaves out of it what autograd's own thread launched, often every backward."""
    launch = [event("PP:0F0", 0, 10, cat="user_annotation"), event("PP:0B0", 20, 10, cat="user_annotation")]
    kernel = event("gemm", 500, tid=7, cat="kernel")
    gpu = [event(name, at, 1000, tid=7, cat="gpu_user_annotation") for name, at in (("PP:0F0", 500), ("PP:0B0", 1500))]
    for seen, end, words in ((gpu, 2.0, "the GPU's ranges"), (gpu[:1], 0.03, "launched"), ([], 0.03, "launched")):
        text = json.dumps({"distributedInfo": {"rank": 0}, "traceEvents": [*launch, kernel, *seen]})
        found = chrome.load(text)
        assert found.timeline is not None
        assert found.timeline.end[-1] == pytest.approx(end)
        assert words in found.notes[0]


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([event("0F0", 0)], "rank 0 never does 0B0"),
        ([event("1F0", 0), event("1B0", 1000)], "no op of stage 0"),
        ([event("0F0", 0), event("0B0", 1000), event("2F0", 0, tid=1)], "no op of stage 1"),
        ([event("0B0", 0), event("0F0", 1000)], "before 0F0, which it needs"),
        ([event("0W0", 0), event("0W0", 1000)], "never does 0F0|before 0I0"),
    ],
)
def test_a_partial_schedule_gives_lanes_and_the_list_of_missing_ops(events: list[Any], words: str) -> None:
    found = load(*events)
    assert found.timeline is None
    assert found.missing
    assert re.search(words, found.missing), found.missing
    assert len(found.lanes) == len({each["tid"] for each in events})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "file 1 is empty"),
        ("{", "file 1 is cut off"),
        ("[" * 100_000, "is not JSON: it is nested too deeply"),
        ('"x"', "is no Chrome trace"),
        ('{"traceEvents": {}}', "is no Chrome trace"),
        ("[]", "file 1 has no events"),
        ("[1]", "event 0 is no trace event"),
        ('[{"ph": 3}]', "event 0 is no trace event"),
        (json.dumps([event("hello", 0)]), "none of the 1 events is an op"),
        (json.dumps([event("0F0", None)]), r"ts of event 0 \(0F0\) is None, not a number"),
        (json.dumps([event("0F0", True)]), "is True, not a number"),
        (json.dumps([event("0F0", 0, float("nan"))]), "dur of event 0"),
        (json.dumps([event("0F0", 10**400)]), "ts of event 0"),
        (json.dumps([event("0F0", 0, -1)]), "negative dur"),
        (json.dumps([{"ph": "E", "pid": 1, "tid": 2}]), "ends what never began on thread 2"),
        (json.dumps([{"ph": "B", "name": "0F0", "ts": 0}]), "0F0 begins but never ends"),
        (json.dumps([{"ph": "B", "name": "0F0", "ts": 9}, {"ph": "E", "ts": 1}]), "0F0 ends before it begins"),
        (json.dumps([event("0F0", 0), event("0F1", 500)]), "0F1 begins before 0F0 has ended"),
        (json.dumps([event("0F0", 0), event("0F0", 0, tid=1)]), "2 tracks have stage 0 as their lowest"),
        ('{"baseTimeNanoseconds": "x", "traceEvents": [{"ph": "i"}]}', "baseTimeNanoseconds is x, not a number"),
    ],
)
def test_a_file_that_is_not_a_trace_is_refused_with_a_sentence(text: str, words: str) -> None:
    with pytest.raises(OrderError, match=words):
        chrome.load(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.sampled_from(["X", "B", "E", "M", "0F0", "PP:0B0"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["ph", "name", "ts", "dur", "pid", "tid", "args", "traceEvents", "distributedInfo"]), inner),
    max_leaves=30,
)  # fmt: skip


@given(events=st.lists(json_values, max_size=6))
def test_any_json_is_a_measurement_or_an_order_error(events: list[Any]) -> None:
    try:
        found = chrome.load(json.dumps(events))
    except OrderError:
        return
    assert (found.timeline is None) == (found.missing is not None)
