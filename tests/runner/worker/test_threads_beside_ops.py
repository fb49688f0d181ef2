"""The threads beside a rank's ops, in one process: the copy lane and the chains of collectives."""

from __future__ import annotations

import math
import threading
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from runner.job.outcome import finite
from runner.model.activations import ActivationMemory
from runner.model.config import Shape, Training
from runner.model.embedding_shard import EmbeddingShard
from runner.model.output_shard import OutputShard
from runner.model.parameters import Data, embedding, output_layer
from runner.program.instructions import EMBEDDED, EMBEDDING, GRADIENT, HIDDEN, STATISTICS, CollectiveInput, Copy, Output
from runner.telemetry.clock import now
from runner.telemetry.op_board import Board, Ledger
from runner.transport.groups import gloo_group
from runner.worker.collectives import Collectives
from runner.worker.copy_lane import CopyLane

RANKS, MICROS = 3, 2
TRAINING = Training(Shape(hidden=8, heads=1, sequence=3, batch=2, vocabulary=10), (1, 1), MICROS, 0, sharded=True)
COPIES = [Copy("O", 0, 0, 1, 2.0), Copy("O", 0, 1, 2, 2.0), Copy("R", 0, 0, 2, 2.0), Copy("R", 0, 1, 4, 2.0)]


class Moved:
    """A stage that records the calls of a lane."""

    def __init__(self, broken: str = "") -> None:
        self.log: list[tuple[str, int]] = []
        self.broken = broken

    def offload(self, micro: int) -> int:
        self.log.append(("O", micro))
        return 100 + micro

    def reload(self, micro: int) -> int:
        if self.broken:
            raise MemoryError(self.broken)
        self.log.append(("R", micro))
        return 100 + micro


def lane_of(part: Moved, folder: Path, unit: float) -> tuple[CopyLane, Board]:
    board = Board(f"{folder}/board", [4], [len(COPIES)])
    ledger = Ledger(f"{folder}/board", 0, 1, board.first_rows(0))
    return CopyLane(COPIES, [part], ledger, unit), board


def test_copies_run_in_the_order_issued_each_as_long_as_it_should(tmp_path: Path) -> None:
    part, unit = Moved(), 1_000_000
    lane, board = lane_of(part, tmp_path, unit)
    zero = now()
    for done in range(5):
        lane.issue(done, zero)
    assert lane.reloads(0, 1)
    assert not lane.reloads(1, 0)
    assert lane.wait_for_reload(0, 1) >= zero + 4 * 2 * unit
    lane.close()
    assert part.log == [("O", 0), ("O", 1), ("R", 0), ("R", 1)]
    rows = board.copy_rows(0, 0, int(board.copied()[0])).tolist()
    assert [row[3] for row in rows] == [100, 101, 100, 101]
    assert all(before[2] <= after[1] for before, after in pairwise(rows))
    assert board.done()[0] == 0


def test_a_copy_is_not_begun_before_it_is_issued(tmp_path: Path) -> None:
    part = Moved()
    lane, _ = lane_of(part, tmp_path, 0.0)
    lane.issue(2, now())
    lane.wait_for_reload(0, 0)
    assert part.log == [("O", 0), ("O", 1), ("R", 0)]
    lane.issue(4, now())
    lane.close()
    assert part.log[-1] == ("R", 1)


def test_a_copy_that_fails_is_raised_in_the_op_that_waits_for_it(tmp_path: Path) -> None:
    lane, _ = lane_of(Moved("no room left"), tmp_path, 0.0)
    lane.issue(4, now())
    with pytest.raises(MemoryError, match="no room left"):
        lane.wait_for_reload(0, 1)
    with pytest.raises(MemoryError, match="no room left"):
        lane.close()


class Rank(threading.Thread):
    """One rank of a spread vocabulary, whose stages are nothing: what is read is what the output layer gets."""

    def __init__(self, rank: int, barriers: int, folder: Path) -> None:
        super().__init__()
        data, output = Data(TRAINING, torch.device("cpu")), Output(barriers, RANKS - 1, 0)
        self.rank, self.output = rank, output
        self.shard = OutputShard(TRAINING, rank, RANKS, data, ActivationMemory(), barriers == 1)
        self.embedding = EmbeddingShard(TRAINING, rank, RANKS, data)
        groups = [gloo_group(f"{folder}/{chain}", rank, RANKS) for chain in output.chains]
        self.collectives = Collectives(
            groups,
            output,
            rank=rank,
            ranks=RANKS,
            shapes=TRAINING.activations,
            share=TRAINING.share,
            embedding=self.embedding,
            device=torch.device("cpu"),
        )
        self.stamps: list[int] = []

    def run(self) -> None:
        joins = self.collectives
        joins.start()
        for micro in range(MICROS):
            if self.rank == self.output.first:  # which hands on to the root by a way of this test's own
                Rank.read[micro], _ = joins.wait_for(CollectiveInput(EMBEDDED, micro, False))
                Rank.there[micro].set()
            if self.rank == self.output.root:
                Rank.there[micro].wait()
                joins.contribute(HIDDEN, micro, Rank.read[micro], 5)
            hidden, stamp = joins.wait_for(CollectiveInput(HIDDEN, micro, True))
            joins.contribute(STATISTICS, micro, self.shard.logits(micro, hidden), stamp + 10 + self.rank)
            statistics, stamp = joins.wait_for(CollectiveInput(STATISTICS, micro, True))
            gradient = self.shard.gradients(micro, statistics)
            self.stamps.append(stamp)
            if GRADIENT in self.output.chains:
                joins.contribute(GRADIENT, micro, gradient, 2**50 + self.rank)
            if self.rank == self.output.root:
                Rank.back[micro], stamp = joins.wait_for(CollectiveInput(GRADIENT, micro, True))
                self.stamps.append(stamp)
                Rank.returned[micro].set()
            if self.rank == self.output.first:
                Rank.returned[micro].wait()
                joins.contribute(EMBEDDING, micro, Rank.back[micro], 0)
        joins.close()

    read: dict[int, torch.Tensor]
    back: dict[int, torch.Tensor]
    there: list[threading.Event]
    returned: list[threading.Event]


@pytest.mark.parametrize("barriers", [1, 2])
def test_shards_and_their_collectives_do_what_one_output_layer_does(barriers: int, tmp_path: Path) -> None:
    Rank.read, Rank.back = {}, {}
    Rank.there, Rank.returned = ([threading.Event() for _ in range(MICROS)] for _ in range(2))
    ranks = [Rank(rank, barriers, tmp_path) for rank in range(RANKS)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(30)
        assert not rank.is_alive()
    data = Data(TRAINING, torch.device("cpu"))
    table, head = (weight.requires_grad_() for weight in (embedding(TRAINING), output_layer(TRAINING)))
    for micro in range(MICROS):
        logits = functional.embedding(data.inputs(micro), table) @ head.t()
        loss = functional.cross_entropy(logits.flatten(0, 1), data.targets(micro).flatten())
        (loss * TRAINING.share).backward()
        for rank in ranks:
            assert float(rank.shard.losses[micro]) == pytest.approx(float(loss.detach()), rel=1e-5)
    for whole, parts in ((head, [rank.shard for rank in ranks]), (table, [rank.embedding for rank in ranks])):
        rows = torch.cat([part.weight.grad for part in parts if part.weight.grad is not None])
        assert whole.grad is not None
        assert torch.allclose(rows, whole.grad, rtol=1e-4, atol=1e-6)
    # The latest part's time is everyone's: hidden at 5, S ten later and the rank's number, T at a time of its own.
    last = [17, 2**50 + 2 if barriers == 2 else 17] * MICROS
    assert [rank.stamps for rank in ranks] == [[17] * MICROS, [17] * MICROS, last]


def test_a_loss_that_is_not_a_number_is_reported_as_none() -> None:
    assert finite(math.nan) is None
    assert finite(math.inf) is None
    assert finite(0.5) == 0.5
