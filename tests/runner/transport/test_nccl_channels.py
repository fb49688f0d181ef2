"""The transport for backends without tags, here on gloo: one group for each direction between two ranks."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import torch

from backend.schedule.families import registry
from backend.schedule.order.order import Order
from backend.schedule.order.placement import Placement
from runner.program.compile import Program, build
from runner.telemetry.clock import now
from runner.telemetry.op_board import Board, FirstRows, Ledger
from runner.transport.groups import gloo_group
from runner.transport.nccl import NcclTransport
from runner.worker.executor import Pace, RankExecutor
from tests.support.runner.random_orders import random_order


class Echo:
    """A stage that adds one to its input, so that a result is the number of stages it passed."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int, float]] = []

    def forward(self, micro: int, x: torch.Tensor | None) -> torch.Tensor:
        value = micro * 100.0 if x is None else float(x[0])
        self.seen.append(("F", micro, value))
        return torch.full((3,), value + 1)

    def input_gradient(self, micro: int, gradient: torch.Tensor | None) -> torch.Tensor:
        value = micro * 1000.0 if gradient is None else float(gradient[0])
        self.seen.append(("I", micro, value))
        return torch.full((3,), value + 1)

    def weight_gradient(self, micro: int) -> None:
        pass


def seen_by(rank: int, program: Program, folder: str, places: FirstRows) -> list[list[tuple[str, int, float]]]:
    """What each stage of a rank has received, once all its ops are done."""

    def make(direction: tuple[int, int], end: int) -> object:
        return gloo_group(f"{folder}/{direction[0]}-{direction[1]}", end, 2)

    mine = program.ranks[rank]
    arrivals = [transfer for other in program.ranks for transfer in other.sends() if transfer.target == rank]
    transport = NcclTransport(make, mine.sends(), arrivals, [(3,)] * 8, torch.device("cpu"))
    transport.start_receiving()
    parts = [Echo() for _ in mine.stages]
    ledger = Ledger(f"{folder}/board", rank, len(program.ranks), places)
    RankExecutor(mine, parts, transport, ledger, Pace()).run(now())
    transport.flush()
    return [part.seen for part in parts]


def orders() -> list[Order]:
    crossing = registry.order(registry.read({"family": "dualpipe", "p": 4, "m": 8}))
    return [crossing, random_order(Placement("looped", 3, 2), 5, seed=5), random_order(Placement("v", 2, 2), 6, seed=6)]


@pytest.mark.parametrize("order", orders(), ids=["dualpipe", "looped", "v"])
def test_messages_without_tags_reach_the_right_op_whatever_the_order_of_need(order: Order, tmp_path: Path) -> None:
    program = build(order, [1.0] * len(order))
    received = [len(one.receives()) for one in program.ranks]
    board = Board(f"{tmp_path}/board", [len(one.steps) for one in program.ranks], messages=received)
    found: list[list[list[tuple[str, int, float]]]] = [[] for _ in range(order.p)]

    def work(rank: int) -> None:
        found[rank] = seen_by(rank, program, str(tmp_path), board.first_rows(rank))

    ranks = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(order.p)]
    for one in ranks:
        one.start()
    for one in ranks:
        one.join(60)
        assert not one.is_alive()
    last = order.placement.stages - 1
    for rank, one in enumerate(program.ranks):
        for stage, seen in zip(one.stages, found[rank], strict=True):
            assert len(seen) == 2 * order.n
            for kind, micro, value in seen:
                assert value == (micro * 100 + stage if kind == "F" else micro * 1000 + last - stage)
