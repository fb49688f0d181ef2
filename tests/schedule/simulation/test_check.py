"""The checker: any dropped, doubled, swapped or misplaced op is refused in a sentence that says where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.errors import OrderError
from backend.schedule.families import registry
from backend.schedule.order.ops import Op, Pair
from backend.schedule.order.order import Order, from_ops
from backend.schedule.order.placement import place
from backend.schedule.simulation.check import check
from backend.schedule.spec import Spec
from tests.support.strategies import specs

Rows = list[list[Op | Pair]]


def rows_of(order: Order) -> Rows:
    return [order.row(rank) for rank in range(order.p)]


@given(data=st.data(), spec=specs(max_p=4, max_m=8))
def test_a_dropped_op_is_named(data: st.DataObject, spec: Spec) -> None:
    order = registry.order(spec)
    rows = rows_of(order)
    rank = data.draw(st.integers(0, order.p - 1))
    row = rows[rank]
    del row[data.draw(st.integers(0, len(row) - 1))]
    with pytest.raises(OrderError, match=f"rank {rank} "):
        check(from_ops(order.placement, order.m, rows))


@given(data=st.data(), spec=specs(max_p=4, max_m=8))
def test_a_doubled_op_is_named(data: st.DataObject, spec: Spec) -> None:
    order = registry.order(spec)
    rows = rows_of(order)
    rank = data.draw(st.integers(0, order.p - 1))
    index = data.draw(st.integers(0, len(rows[rank]) - 1))
    rows[rank].insert(data.draw(st.integers(index, len(rows[rank]))), rows[rank][index])
    with pytest.raises(OrderError, match=f"rank {rank} does"):
        check(from_ops(order.placement, order.m, rows))


@given(data=st.data(), spec=specs(max_p=4, max_m=8))
def test_swapped_ops_are_refused_or_still_a_schedule(data: st.DataObject, spec: Spec) -> None:
    """Two ops of a rank change places: refused exactly where a slow search for an executable order finds none."""
    order = registry.order(spec)
    rows = rows_of(order)
    rank = data.draw(st.integers(0, order.p - 1))
    a, b = (data.draw(st.integers(0, len(rows[rank]) - 1)) for _ in range(2))
    rows[rank][a], rows[rank][b] = rows[rank][b], rows[rank][a]
    if runs(rows, order.placement.stages):
        check(from_ops(order.placement, order.m, rows))
    else:
        with pytest.raises(OrderError):
            check(from_ops(order.placement, order.m, rows))


def runs(rows: Rows, stages: int) -> bool:
    """Whether a complete set of ops runs to its end: execute any op whose inputs exist until none is left."""
    done: set[tuple[str, int, int]] = set()
    at = [0] * len(rows)

    def can(op: Op) -> bool:
        s, k = op.stage, op.micro
        if op.kind == "F":
            return s == 0 or ("F", s - 1, k) in done
        if op.kind == "W":
            return ("G", s, k) in done
        return ("F", s, k) in done and (s == stages - 1 or ("G", s + 1, k) in done)

    moved = True
    while moved:
        moved = False
        for rank, row in enumerate(rows):
            while at[rank] < len(row):
                op = row[at[rank]]
                halves = (op.forward, op.backward) if isinstance(op, Pair) else (op,)
                if not all(can(half) for half in halves):
                    break
                done.update(("F" if h.kind == "F" else "w" if h.kind == "W" else "G", h.stage, h.micro) for h in halves)
                at[rank] += 1
                moved = True
    return all(at[rank] == len(row) for rank, row in enumerate(rows))


def order_of(*lines: str, kind: str = "looped", m: int = 1) -> Order:
    from backend.schedule.interop.torch_csv import load

    return load("\n".join(line.replace(" ", ",") for line in lines), kind)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["0F0 0B0", "1F0"], "rank 1 never does 1B0, the full backward of micro-batch 0 in stage 1"),
        (["0F0 0I0", "1F0 1B0"], "rank 0 never does 0W0, the weight gradient of micro-batch 0 in stage 0"),
        (["0F0 0B0 0B0", "1F0 1B0"], "rank 0 does 0B0 twice"),
        (["0B0 0F0", "1F0 1B0"], "rank 0 does 0B0 before 0F0, which it needs"),
        (["0F0 0W0 0I0", "1F0 1B0"], "rank 0 does 0W0 before 0I0, which it needs"),
        (["0F0 0I0 0B0 0W0", "1F0 1B0"], "rank 0 does 0B0 after 0I0, which has taken that gradient already"),
        (["0F0 0B0 0F1 0B1", "1F1 1F0 1B0 1B1"],
         "deadlock: rank 0 waits at 0B0 for 1B0 on rank 1, rank 1 waits at 1F1 for 0F1 on rank 0; "
         "none of them can go on"),
    ],
)  # fmt: skip
def test_the_first_violation_is_described_in_a_sentence(lines: list[str], sentence: str) -> None:
    with pytest.raises(OrderError) as caught:
        check(order_of(*lines))
    assert caught.value.message == sentence


def test_an_order_that_waits_for_itself_is_a_deadlock() -> None:
    rows: Rows = [[Op("F", 1, 0, 1), Op("F", 0, 0, 0), Op("B", 1, 0, 1), Op("B", 0, 0, 0)]]
    with pytest.raises(OrderError, match="rank 0 waits at 1F0 for 0F0 on rank 0"):
        check(from_ops(place("v", 1, 2), 1, rows))


def test_a_rank_without_ops_is_refused() -> None:
    with pytest.raises(OrderError, match="rank 1 has no ops"):
        check(from_ops(place("looped", 2, 1), 1, [[Op("F", 0, 0), Op("B", 0, 0)], []]))
