"""From an order to matched per-rank programs, without running any."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backend.schedule.families import registry
from backend.schedule.order.order import Order
from backend.schedule.order.placement import Placement
from runner.program.compile import Program, ProgramError, build, check_collective_turns, check_messages
from runner.program.instructions import RankProgram, Step
from tests.support.runner.random_orders import random_order


def order_of(family: str) -> Order:
    return registry.order(registry.read({"family": family, "p": 4, "m": 8}))


def program_of(order: Order) -> Program:
    return build(order, [1.0] * len(order))


def with_step(program: Program, rank: int, change: int, step: Step) -> list[RankProgram]:
    """The programs with one step of one rank replaced."""
    steps = list(program.ranks[rank].steps)
    steps[change] = step
    return [replace(one, steps=tuple(steps)) if one.rank == rank else one for one in program.ranks]


@pytest.mark.parametrize("family", list(registry.FAMILIES))
def test_every_family_gives_a_program_whose_messages_are_matched(family: str) -> None:
    order = order_of(family)
    program = program_of(order)
    sends = [transfer.tag for rank in program.ranks for transfer in rank.sends()]
    receives = [transfer.tag for rank in program.ranks for transfer in rank.receives()]
    assert sorted(sends) == sorted(receives)
    assert len(set(sends)) == len(sends)
    assert program.ops == len(order)


def test_a_line_of_ranks_sends_one_activation_and_one_gradient_per_boundary_and_micro_batch() -> None:
    program = program_of(order_of("1f1b"))
    assert [len(rank.sends()) for rank in program.ranks] == [8, 16, 16, 8]


def test_the_turn_of_a_v_needs_no_message() -> None:
    program = program_of(random_order(Placement("v", 3, 2), 2, seed=1))
    transfers = [
        task.output_transfer
        for step in program.ranks[2].steps
        for task in step.tasks
        if task.output_transfer is not None
    ]
    assert {transfer.stage for transfer in transfers if transfer.local} == {3, 2}
    assert all(not transfer.local for transfer in program.ranks[2].sends())


def test_a_dropped_receive_is_refused_by_name() -> None:
    program = program_of(order_of("1f1b"))
    step = program.ranks[1].steps[0]
    deaf = replace(step, tasks=(replace(step.tasks[0], input_transfer=None),))
    with pytest.raises(ProgramError, match=r"activation of micro-batch 0 into stage 1 .* sent but never received"):
        check_messages(with_step(program, 1, 0, deaf))


def test_a_dropped_send_is_refused_by_name() -> None:
    program = program_of(order_of("1f1b"))
    step = program.ranks[0].steps[2]
    mute = replace(step, tasks=(replace(step.tasks[0], output_transfer=None),))
    with pytest.raises(ProgramError, match="awaited but never sent"):
        check_messages(with_step(program, 0, 2, mute))


def test_a_doubled_send_is_refused_by_name() -> None:
    program = program_of(order_of("1f1b"))
    first, second = program.ranks[0].steps[:2]
    twice = replace(second, tasks=(replace(second.tasks[0], output_transfer=first.tasks[0].output_transfer),))
    with pytest.raises(ProgramError, match="sent 2 times"):
        check_messages(with_step(program, 0, 1, twice))


def test_a_message_to_the_wrong_rank_is_refused() -> None:
    program = program_of(order_of("1f1b"))
    step = program.ranks[0].steps[0]
    transfer = step.tasks[0].output_transfer
    assert transfer is not None
    astray = replace(step, tasks=(replace(step.tasks[0], output_transfer=replace(transfer, target=3)),))
    with pytest.raises(ProgramError, match="is sent by rank 0"):
        check_messages(with_step(program, 0, 0, astray))


def test_a_local_value_taken_before_it_is_made_is_refused() -> None:
    program = program_of(random_order(Placement("v", 1, 2), 1, seed=0))
    steps = program.ranks[0].steps
    swapped = (replace(steps[1], index=0), replace(steps[0], index=1), *steps[2:])
    with pytest.raises(ProgramError, match="taken before it is made"):
        check_messages([replace(program.ranks[0], steps=swapped)])


def test_parts_of_a_collective_out_of_turn_are_refused_by_name() -> None:
    spec = {"family": "1f1b", "p": 3, "m": 4, "vocabulary": "parallel-1"}
    program = program_of(registry.order(registry.read(spec))).ranks[1]
    check_collective_turns(program, 4)
    texts = [step.text for step in program.steps]
    first, second = texts.index("1S0"), texts.index("1S1")
    steps = list(program.steps)
    steps[first], steps[second] = steps[second], steps[first]
    with pytest.raises(ProgramError, match="micro-batch 0 comes first") as refused:
        check_collective_turns(replace(program, steps=tuple(steps)), 4)
    assert (refused.value.rank, refused.value.op) == (1, "1S1")
    with pytest.raises(ProgramError, match="a collective of 5 micro-batches has 4"):
        check_collective_turns(program, 5)


def test_replicas_are_listed_with_their_places() -> None:
    program = program_of(order_of("dualpipe"))
    assert program.replicas == (((0, 0), (3, 1)), ((0, 1), (3, 0)), ((1, 0), (2, 1)), ((1, 1), (2, 0)))
    assert program_of(order_of("1f1b")).replicas == ()
