"""The workbench's rules: which op may come next, what an order is, how good it is."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import RequestError
from backend.schedule.errors import OrderError
from backend.schedule.order.ops import Op
from backend.schedule.partial_order.bound import makespan_bound
from backend.schedule.partial_order.legality import Board, first_illegal
from backend.schedule.partial_order.position import Position
from backend.schedule.partial_order.recognition import named_orders, recognise
from backend.schedule.partial_order.rule_length import shortest_rule
from backend.schedule.partial_order.score import score
from backend.schedule.partial_order.searched_order import searched_order
from backend.schedule.simulation.check import check
from tests.support.page.workbench import careless, positions, walk


def position(**given: Any) -> Position:
    return Position.from_json(given)


SIZES = st.sampled_from(
    [
        {"p": 2, "m": 3},
        {"p": 3, "m": 4, "costs": {"F": [1, 2, 1.5], "I": 1.25, "W": 0.5, "comm": 0.3}},
        {"p": 2, "m": 3, "v": 2},
        {"p": 2, "m": 3, "v": 2, "placement": "v", "w_share": 0.5},
        {"p": 2, "m": 4, "placement": "bidirectional"},
    ]
)


@given(SIZES, st.integers(0, 10**6), st.sampled_from(["FB", "FIW"]))
def test_legal_ops_alone_lead_to_a_whole_order_that_can_run(sizes: dict[str, Any], seed: int, kinds: str):
    whole = walk(position(**sizes), seed, 10_000, kinds)
    check(whole.order())
    assert not any(why is None for rank in Board(whole).legal() for _, why in rank)
    assert first_illegal(whole) is None
    bound = makespan_bound(whole, kinds == "FB")
    assert bound is None or score(whole).makespan >= bound.value * (1 - 1e-9)


@given(SIZES, st.integers(0, 10**6), st.integers(0, 12), st.one_of(st.none(), st.sampled_from([1.0, 1.5, 2.0])))
def test_an_op_is_called_legal_exactly_if_the_position_with_it_can_be_played(
    sizes: dict[str, Any], seed: int, steps: int, memory: float | None
):
    start = walk(position(**sizes, memory=memory), seed, steps)
    for rank, each in enumerate(Board(start).legal()):
        for op, why in each:
            rows = [[*row, op] if at == rank else row for at, row in enumerate(start.rows)]
            wrong = first_illegal(start.with_rows(rows))
            assert (why is None) == (wrong is None)
            assert wrong is None or (wrong.message == why and wrong.rank == rank)


@given(SIZES, st.integers(0, 10**6), st.integers(1, 10))
def test_what_can_be_played_has_no_deadlock_and_what_cannot_is_named(sizes: dict[str, Any], seed: int, steps: int):
    placed = careless(position(**sizes), seed, steps)
    wrong = first_illegal(placed)
    assert wrong is None or wrong.value in placed.to_json()["rows"][wrong.rank or 0].split()


@pytest.mark.parametrize(
    ("rows", "op", "code"),
    [
        (["", ""], "0B0", "schedule.op_before_its_input"),
        (["", ""], "1F0", "workbench.input_not_placed"),
        (["0F0", "1F0"], "0B0", "workbench.input_not_placed"),
        (["0F0 0F1", ""], "0F2", "workbench.over_memory"),
        (["0F0", ""], "0F0", "schedule.op_twice"),
        (["0F0", "1F0 1I0"], "1B0", "schedule.gradient_already_taken"),
        (["0F0", "1F0 1B0"], "1W0", "schedule.op_before_its_input"),
        (["", ""], "0F3", "schedule.micro_batch_out_of_range"),
    ],
)
def test_an_illegal_op_is_refused_with_its_reason(rows: list[str], op: str, code: str):
    start = position(p=2, m=3, memory=2, rows=rows)
    rank = int(op[0])
    why = Board(start).why_not(rank, Op(op[1], rank, int(op[2])))
    assert why is not None
    assert why.code == code


def test_a_pair_is_legal_if_its_forward_and_then_its_backward_are():
    start = position(p=2, m=4, placement="bidirectional")
    (named,) = (each for each in named_orders(start) if each.name == "dualpipe")
    assert any("OVERLAP" in op.text() for row in named.rows for op in row)
    assert first_illegal(start.with_rows(named.rows)) is None
    assert score(start.with_rows(named.rows)).makespan == 12.0


def test_an_order_is_recognised_whole_and_from_its_beginning():
    empty = position(p=4, m=8)
    assert recognise(empty).prefix == ()
    orders = {named.name: named.rows for named in named_orders(empty)}
    one = recognise(empty.with_rows(orders["1f1b"]))
    assert one.exact == ("1f1b", "pipedream")
    begun = recognise(empty.with_rows([row[:5] for row in orders["1f1b"]]))
    assert begun.exact == ()
    assert {"1f1b", "pipedream"} <= set(begun.prefix)
    swapped = [list(row) for row in orders["1f1b"]]
    swapped[0][0], swapped[0][1] = swapped[0][1], swapped[0][0]
    assert recognise(empty.with_rows(swapped)).prefix == ()


@pytest.mark.parametrize(
    ("row", "length"),
    [("", 0), ("F", 1), ("FF", 2), ("FFFFBFBFBFBFBBBB", 7), ("FFFFFFFFBBBBBBBB", 4), ("FBFBFB", 3), ("FIWFIWFIBW", 8)],
)
def test_the_length_of_a_rule(row: str, length: int):
    assert shortest_rule(row) == length


def test_the_shortest_rule_is_the_shortest_of_all():
    def tried(row: str) -> int:
        """Try every first block."""
        if not row:
            return 0
        costs = [1 + tried(row[1:])]
        for size in range(1, len(row) // 2 + 1):
            times = 2
            while row[: size * times] == row[:size] * times and size * times <= len(row):
                costs.append(size + 1 + tried(row[size * times :]))
                times += 1
        return min(costs)

    for size in range(8):
        for row in product("FB", repeat=size):
            assert shortest_rule(row) == tried("".join(row)), row


def test_a_searched_order_keeps_the_limit_and_is_the_same_again():
    start = position(p=3, m=4, memory=2, costs={"F": [1, 2, 1], "comm": 0.5})
    for full in (True, False):
        found = searched_order(start, full, 500)
        assert first_illegal(found) is None
        assert score(found).peak <= 2
        assert searched_order(start, full, 500) == found


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"p": 17}, "p"),
        ({"m": 0}, "m"),
        ({"v": 9}, "v"),
        ({"p": True}, "p"),
        ({"placement": "spiral"}, "placement"),
        ({"placement": "bidirectional", "p": 3, "m": 4}, "p"),
        ({"p": 2, "rows": ["0F0"]}, "rows"),
        ({"p": 1, "rows": ["0F0" + " 0F0" * 9999]}, "order"),
        ({"p": 1, "rows": ["0Q0"]}, "order"),
        ({"p": 2, "rows": ["1F0", ""]}, "order"),
        ({"costs": {"F": [1, 2]}, "p": 3}, "F"),
        ({"costs": {"S": 1}}, "S"),
        ({"costs": {"F": float("nan")}}, "F"),
        ({"memory": -1}, "memory"),
        ({"effort": 1}, "effort"),
    ],
)
def test_a_wrong_position_is_refused_with_its_field(given: dict[str, Any], field: str):
    with pytest.raises(RequestError) as refused:
        Position.from_json(given)
    assert refused.value.field == field


def test_a_position_is_read_back_from_its_json():
    for _, each in positions():
        assert Position.from_json(each.to_json()).to_json() == each.to_json()


def test_an_incomplete_order_has_no_score():
    with pytest.raises(OrderError, match="no ops"):
        score(position(p=2, m=2))


@pytest.mark.parametrize("p", [1, 3])
def test_a_bound_of_different_micro_batches_holds_for_any_order_of_entry_and_names_its_argument(p: int) -> None:
    empty = Position.from_json({"p": p, "m": 3, "sizes": [3.0, 0.5, 1.0]})
    bound = makespan_bound(empty, True)
    assert bound is not None
    assert str(bound.name) == ("work" if p == 1 else "arrival, own work and the way back")
    for entry in permutations(range(3)):
        rows = [" ".join(f"{rank}F{k} {rank}B{k}" for k in entry) for rank in range(p)]
        assert score(Position.from_json(empty.to_json() | {"rows": rows})).makespan >= bound.value * (1 - 1e-9)
