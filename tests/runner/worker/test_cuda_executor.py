"""Ops timed by events on simulated streams and GPUs: a stream executes its work asynchronously, and the host is
notified later."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import torch

from backend.schedule.families import registry
from backend.schedule.simulation.simulate import simulate
from runner.job.plan import leads_of
from runner.program.compile import build
from runner.telemetry.clock import now
from runner.telemetry.event_clock import EventClock
from runner.telemetry.op_board import Board, Ledger
from runner.transport.streams import StreamTransport
from runner.transport.threads import MessageQueues
from runner.worker.cuda_executor import CudaExecutor

FORWARD_MS, BACKWARD_MS, AGAIN_MS = 5.0, 7.5, 2.0
HERE = threading.local()


class Stream:
    """`until`: the time, in ms of the GPU's clock, at which all queued work is done."""

    def __init__(self) -> None:
        self.until = 86_400_000.0


class Event:
    """An event that has happened at its second query, or after it was waited for."""

    def __init__(self) -> None:
        self.queries = 0

    def record(self) -> None:
        self.at = HERE.stream.until

    def wait(self) -> None:
        HERE.stream.until = max(HERE.stream.until, self.at)

    def query(self) -> bool:
        self.queries += 1
        return self.queries > 1

    def synchronize(self) -> None:
        self.queries = 1

    def elapsed_time(self, other: Event) -> float:
        assert self.queries > 0, "asked for before it had happened"
        return other.at - self.at


class Part:
    """A stage that queues some milliseconds of work on its stream, and passes on the number of stages passed."""

    def forward(self, micro: int, x: torch.Tensor | None) -> torch.Tensor:
        HERE.stream.until += FORWARD_MS
        return torch.zeros(1) if x is None else x + 1

    def recompute_ahead(self, micro: int) -> None:
        HERE.stream.until += AGAIN_MS

    def input_gradient(self, micro: int, gradient: torch.Tensor | None) -> torch.Tensor:
        HERE.stream.until += BACKWARD_MS
        return torch.zeros(1) if gradient is None else gradient + 1

    def weight_gradient(self, micro: int) -> None:
        pass


class Rank(threading.Thread):
    """A rank of a program, with a stream of its own."""

    def __init__(self, program: object, rank: int, exchange: MessageQueues, board: Board) -> None:
        super().__init__(daemon=True)
        self.clock = EventClock(Event)
        self.ledger = Ledger(board.path, rank, board.ranks, board.first_rows(rank))
        mine = program.ranks[rank]  # type: ignore[attr-defined]
        transport = StreamTransport(exchange.of("job", 1000), torch.device("cpu"), self.clock)
        self.worker = CudaExecutor(mine, [Part() for _ in mine.stages], transport, self.ledger, None, self.clock)

    def run(self) -> None:
        HERE.stream = Stream()
        self.zero = now()
        self.worker.run(self.zero)


@pytest.mark.parametrize(
    ("family", "again"),
    [
        ("1f1b", {}),
        ("interleaved", {}),
        ("dualpipev", {}),
        ("1f1b", {"recompute": "full", "recompute_at": "ahead"}),
        ("interleaved", {"recompute": "full", "recompute_at": "bubble"}),
    ],
)
def test_ops_are_recorded_at_the_times_when_the_streams_executed_them(
    family: str, again: dict[str, str], tmp_path: Path
) -> None:
    costs = {"F": FORWARD_MS, "I": BACKWARD_MS, "W": 0, "FB": None} | ({"R": AGAIN_MS} if again else {})
    spec = registry.read({"family": family, "p": 2, "m": 4, "costs": costs} | again)
    order = registry.order(spec)
    chunks = order.chunks
    planned = simulate(order, spec.timing, 1 if chunks == 1 else spec.v)
    program = build(order, [1.0] * len(order), leading=leads_of(order, spec))
    counts = [len(one.steps) for one in program.ranks]
    board = Board(f"{tmp_path}/board", counts, messages=[len(one.receives()) for one in program.ranks])
    exchange = MessageQueues()
    ranks = [Rank(program, rank, exchange, board) for rank in range(2)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(20)
        assert not rank.is_alive()
    share = 1 if chunks == 1 else spec.v  # of a device's cost, which is an op's where it has several chunks
    for number, rank in enumerate(ranks):
        first, last = board.offsets[number], board.offsets[number + 1]
        since = rank.clock.at - rank.zero
        times = board.rows(number, 0, counts[number])
        assert [(start - since) / 1e6 for start in times[:, 1]] == pytest.approx(planned.start[first:last] * share)
        assert [(end - since) / 1e6 for end in times[:, 2]] == pytest.approx(planned.end[first:last] * share)
        assert (times[:, 0] <= times[:, 1]).all()
        assert (times[1:, 0] >= times[:-1, 2]).all()
        messages = board.message_rows(number, 0, len(program.ranks[number].receives()))
        assert len(messages) == board.received()[number]
        assert (messages[:, 1] <= messages[:, 2]).all()


def test_of_several_comparisons_of_both_clocks_the_quickest_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    HERE.stream = Stream()
    readings = iter([0, 90, 100, 110, 200, 260, 300, 370, 400, 480])
    monkeypatch.setattr("runner.telemetry.event_clock.now", lambda: next(readings))
    clock = EventClock(Event)
    clock.relate()
    assert clock.at == 105
    HERE.stream.until += 2.5
    later = clock.mark()
    assert clock.time(later) == 105 + 2_500_000
