"""Torch's CSV in and out, strictly; and the Chrome trace."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.errors import OrderError
from backend.schedule.families import registry
from backend.schedule.interop import torch_csv
from backend.schedule.interop.traces import chrome_export
from backend.schedule.simulation.check import check
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support.strategies import specs


@given(spec=specs())
def test_import_export_import_is_the_identity(spec: Spec) -> None:
    if registry.family_of(spec).placement == "bidirectional":
        return
    order = registry.order(spec)
    text = torch_csv.dump(order)
    again = torch_csv.load(text, order.placement.kind)
    assert torch_csv.dump(again) == text
    assert np.array_equal(again.codes, order.codes)
    assert again.text() == order.text()
    check(again)


@given(spec=specs(max_p=4, max_m=8))
def test_torch_reads_every_op_that_we_write(spec: Spec) -> None:
    from torch.distributed.pipelining.schedules import _Action  # takes 2 s, at collection in every worker

    if registry.family_of(spec).placement == "bidirectional":
        return
    for line in torch_csv.dump(registry.order(spec)).splitlines():
        for cell in line.split(","):
            assert _Action.from_str(cell) is not None


def test_empty_cells_are_idle_slots_and_the_v_placement_is_found() -> None:
    order = torch_csv.load("0F0,,3F0,3B0,0B0\n,1F0,2F0,2B0,1B0\n")
    assert order.placement.kind == "v"
    assert order.text() == ["0F0 3F0 3B0 0B0", "1F0 2F0 2B0 1B0"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no ops"),
        ("\n\n", "has no ops"),
        ("0F0,0X0\n", "line 1, cell 2"),
        ("0F0,0B\n", "is not an op"),
        ("0F0,0B0\n1F0,1B0,hello\n", "line 2, cell 3"),
        ("0F0,(0F1;0B0)\n", "line 1, cell 2"),
        ("0F0,(0F1;0I0)OVERLAP_F_B\n", "line 1, cell 2"),
        ("0F0,(0F1;1B0;2B0)OVERLAP_F_B\n", "line 1, cell 2"),
        ("0F0,0SEND_X0,0B0\n", "line 1, cell 2"),
        ("0F-1\n", "is not an op"),
        ("0F99999999\n", "micro-batches; at most"),
        ("0F0,0B0\n2F0,2B0\n", "no rank has stage 1"),
        ("0F0,1B0\n1F0,0B0\n", "rank 1 does 1F0, but stage 1 is on rank 0"),
        ("0F0,3F0\n1F0,3B0\n", "rank 1 does 3B0, but stage 3 is on rank 0"),
        ("999999F0\n", "no rank has stage 0"),
    ],
)
def test_garbage_is_refused_with_its_line_and_cell(text: str, words: str) -> None:
    with pytest.raises(OrderError, match=words.replace("(", r"\(")):
        torch_csv.load(text)


@given(text=st.text(alphabet="0123FIWB(;)OVERLAP_, \n", max_size=60))
def test_any_text_is_an_order_or_an_order_error(text: str) -> None:
    try:
        check(torch_csv.load(text))
        refused = None
    except OrderError as error:
        refused = error.message
    assert refused is None or len(refused) > 10


def test_a_chrome_trace_has_one_slice_for_every_op_on_the_right_thread() -> None:
    spec = Spec("dualpipev", 2, 4, 2)
    order = registry.order(spec)
    timeline = simulate(order, spec.costs, 2)
    slices = [event for event in chrome_export.trace(timeline, "x", 10.0)["traceEvents"] if event["ph"] == "X"]
    assert [event["tid"] for event in slices].count(0) == order.offsets[1]
    assert [event["name"] for event in slices if event["tid"] == 1] == [op.text() for op in order.row(1)]
    assert [event["ts"] for event in slices] == (timeline.start * 10.0).tolist()
    assert [event["dur"] for event in slices] == ((timeline.end - timeline.start) * 10.0).tolist()
    assert {event["cat"] for event in slices} == {"F", "I", "W", "B", "FB"}
