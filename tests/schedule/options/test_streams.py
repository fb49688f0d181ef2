"""Messages on streams: torch's own lowering, head-of-line blocking, deadlocks, and receives placed without either."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.registry import FAMILIES
from backend.schedule.interop import torch_csv
from backend.schedule.interop.csv_messages import cells_of
from backend.schedule.order.messages import RECEIVES, STREAMS
from backend.schedule.order.order import Order
from backend.schedule.result import law_values
from backend.schedule.simulation.deadlock import deadlock
from backend.schedule.simulation.idle_breakdown import idle_breakdown
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support import cases
from tests.support.strategies import few, nearest_legal, specs

CARRIED = [name for name, family in FAMILIES.items() if family.placement != "bidirectional"]
SHARED = [name for name in STREAMS if name != "none"]


def step(spec: Spec) -> float:
    return float(simulate(registry.order(spec), spec.timing, spec.v).end.max())


def cells(order: Order) -> list[list[str]]:
    """Our cells without what FSDP needs."""
    return [[each for each in row if "SHARD" not in each and "REDUCE" not in each] for row in cells_of(order)]


@cases("name", CARRIED)
def test_messages_are_torchs_own_op_for_op(name: str) -> None:
    from torch.distributed.pipelining import schedules

    for p, m in ((4, 8), (3, 7)):
        spec = nearest_legal(Spec(name, p, m, FAMILIES[name].v[1])).with_(streams="edge")
        order = registry.order(spec)
        actions = {rank: [schedules._Action.from_str(op.text()) for op in order.row(rank)] for rank in range(order.p)}
        wanted = schedules._add_send_recv(
            {rank: list(row) for rank, row in actions.items()}, order.placement.rank_of, order.placement.stages
        )
        assert cells(order) == [list(map(str, wanted[rank])) for rank in range(order.p)]
        late = schedules._defer_recv_ops(wanted, order.placement.rank_of)
        found = _deferred(order)
        assert cells(found) == [list(map(str, late[rank])) for rank in range(order.p)]
        whole = [schedules._add_reduce_grad(schedules._add_unshard_reshard(row), order.m) for row in actions.values()]
        mine = [[each for each in row if "SEND" not in each and "RECV" not in each] for row in cells_of(order)]
        assert mine == [list(map(str, row)) for row in whole]


def _deferred(order: Order) -> Order:
    """The order with receives held back, whether it can run or not."""
    from backend.schedule.order.lowering import deferred

    assert order.messages is not None
    return replace(order, messages=deferred(order, order.messages))


@cases(
    "p, m, v, ideal, rank, direction",
    [(4, 8, 2, 28.5, 33.5, 33.0), (8, 16, 2, 58.5, 84.0, 83.0), (8, 32, 2, 106.5, 132.0, 131.0),
     (8, 32, 4, 101.25, 138.0, 137.5), (4, 8, 1, 33.0, 33.0, 33.0)],
)  # fmt: skip
def test_torchs_receives_cost_interleaved_up_to_a_third_and_ours_nothing(
    p: int, m: int, v: int, ideal: float, rank: float, direction: float
) -> None:
    spec = Spec("interleaved" if v > 1 else "1f1b", p, m, v)
    assert step(spec) == ideal
    steps = {streams: step(spec.with_(streams=streams)) for streams in SHARED}
    assert steps == {"rank": rank, "direction": direction, "edge": ideal}
    assert {step(spec.with_(streams=streams, receives="placed")) for streams in SHARED} == {ideal}


@cases("name", CARRIED)
def test_no_law_of_time_is_exact_on_streams(name: str) -> None:
    forward = (False, True) if "forward_only" in FAMILIES[name].fields else (False,)
    for forward_only in forward:
        spec = nearest_legal(Spec(name, 4, 8, FAMILIES[name].v[1], streams="rank", forward_only=forward_only))
        assert {law["quantity"] for law in law_values(spec) if law["exact"]} <= {"peak"}


def test_the_time_that_messages_stand_in_line_is_a_part_of_its_own() -> None:
    for receives, stands in (("torch", True), ("placed", False)):
        spec = Spec("interleaved", 4, 8, 2, streams="rank", receives=receives)
        spent = idle_breakdown(registry.order(spec), spec.timing, spec.v)
        assert (spent.parts["line"].sum() > 0) == stands
        assert sum(spent.parts.values()).tolist() == [spent.makespan] * 4  # type: ignore[union-attr]


@given(spec=specs(max_p=6, max_m=12), streams=st.sampled_from(SHARED))
@few(60)
def test_placed_receives_block_nothing_on_any_streams(spec: Spec, streams: str) -> None:
    """Where a message takes no time on the wire; whatever the hops."""
    assert step(spec.with_(streams=streams, receives="placed")) == step(spec)


@given(spec=specs(max_p=6, max_m=12), streams=st.sampled_from(SHARED), receives=st.sampled_from(sorted(RECEIVES)),
       wire=st.integers(0, 3))  # fmt: skip
@few(60)
def test_messages_pass_one_by_one_between_two_ranks_that_have_come_to_them(
    spec: Spec, streams: str, receives: str, wire: int
) -> None:
    spec = spec.with_(streams=streams, receives=receives, costs=replace(spec.costs, wire=float(wire)))
    try:
        order = registry.order(spec)
    except SpecError as error:
        waits = error.field, error.nearest
    else:
        waits = None
    if receives == "deferred" and waits == ("receives", "placed"):
        return
    assert waits is None
    timeline, found = simulate(order, spec.timing, spec.v), order.messages
    assert found is not None
    sent, arrived = timeline.sent, timeline.arrived
    assert (arrived - sent == wire).all()
    assert (sent == sent[found.partner]).all()
    for rank in range(order.p):
        ends = timeline.rank(rank)[1]
        for stream in np.unique(found.stream[found.rank == rank]):
            mine = (found.rank == rank) & (found.stream == stream)
            assert (sent[mine][1:] >= arrived[mine][:-1]).all()
            issued = found.issued[mine]
            assert (sent[mine][issued > 0] >= ends[issued[issued > 0] - 1]).all()
    assert timeline.end.max() >= simulate(replace(order, messages=None), spec.timing, spec.v).end.max()


@given(spec=specs("interleaved", max_p=4, max_m=8), streams=st.sampled_from(SHARED),
       receives=st.sampled_from(["torch", "placed"]))  # fmt: skip
@few(20)
def test_a_file_with_messages_is_read_as_the_order_that_wrote_it(spec: Spec, streams: str, receives: str) -> None:
    order = registry.order(spec.with_(streams=streams, receives=receives))
    found = torch_csv.read_file(torch_csv.dump(order))
    assert (found.lowered, found.order.text()) == (True, order.text())
    assert not (found.notes and streams == "rank")  # what is placed for more streams may deadlock on one


def test_a_deadlock_is_named_as_its_circle_of_ranks_and_messages() -> None:
    with pytest.raises(SpecError, match="rank 2 waits at 2SEND_F1 for 3RECV_F1 on rank 3, rank 3 waits at 3SEND_B0"):
        registry.order(Spec("1f1b", 4, 8, streams="rank", receives="deferred"))
    assert step(Spec("1f1b", 4, 8, streams="direction", receives="deferred")) == 33.0
    order = _deferred(registry.order(Spec("interleaved", 8, 16, 2, streams="direction")))
    waits = deadlock(order)
    assert [each.rank for each in waits] == [*range(8)]
    assert [each.other for each in waits] == [*range(1, 8), 0]


@cases(
    "change, field, nearest",
    [({"receives": "placed"}, "receives", "torch"), ({"costs": {"wire": 1}}, "wire", 0.0),
     ({"streams": "ranks"}, "streams", "none"), ({"streams": "rank", "receives": "early"}, "receives", None),
     ({"streams": "rank", "costs": {"wire": -1}}, "wire", 0.0)],
)  # fmt: skip
def test_bad_input_is_refused_by_field(change: dict[str, object], field: str, nearest: object) -> None:
    with pytest.raises(SpecError) as caught:
        registry.read({"family": "1f1b", "p": 4, "m": 8} | change)
    assert caught.value.field == field
    assert nearest is None or caught.value.nearest == nearest
