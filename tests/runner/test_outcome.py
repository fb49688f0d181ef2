"""The main process's conclusions: measured figures, stalls, and the rank at fault. No process is started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from backend.errors import message
from backend.schedule.families import registry
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from runner.devices import this_machine
from runner.engines.base import JobResources, RankLost, RankRequest
from runner.failure import RunFailure
from runner.job import job, states, watchdog
from runner.job.job import Job
from runner.job.outcome import outcome
from runner.job.plan import JobPlan, plan
from runner.messages import RankError, Ready, StepDone
from runner.model.config import Shape, Training
from runner.model.stage import Stage
from runner.model.verdict import Verdict, reasons
from runner.telemetry.op_board import WAITING, WORKING, Board, Ledger
from runner.transport.mailbox import MailboxNeeds
from runner.worker.replicas import sum_replicas
from runner.worker.verification import compare, wrong_loss
from tests.support.runner.client import planned_run

UNIT_NS = 2_000_000


def timeline() -> Any:
    spec = registry.read({"family": "zb-h1", "p": 3, "m": 5, "costs": {"F": 2, "I": 1, "W": 1, "comm": 0.5}})
    return simulate(registry.order(spec), spec.costs, spec.v)


def times_of(planned: Any, factor: float) -> Any:
    start, end = (np.rint(part * factor).astype(np.int64) for part in (planned.start, planned.end))
    return np.stack([start, start, end, np.zeros_like(start)], axis=1)


def test_a_run_exactly_as_planned_measures_what_was_predicted() -> None:
    planned = timeline()
    found = outcome(planned, times_of(planned, UNIT_NS), UNIT_NS)
    assert found.predicted == figures(planned).as_dict()
    assert found.measured == found.predicted
    assert found.largest_residual["ns"] == 0


@pytest.mark.parametrize("slower", [0.5, 1.0, 3.0])
def test_in_free_mode_the_unit_is_fitted_so_that_only_the_arrangement_matters(slower: float) -> None:
    planned = timeline()
    found = outcome(planned, times_of(planned, UNIT_NS * slower), None)
    assert found.unit_ms == pytest.approx(2.0 * slower)
    assert found.measured["makespan"] == pytest.approx(found.predicted["makespan"])
    assert found.measured["bubble"]["global"] == pytest.approx(found.predicted["bubble"]["global"])


def test_the_largest_residual_names_the_op_farthest_from_its_planned_end() -> None:
    planned = timeline()
    times = times_of(planned, UNIT_NS)
    at = int(planned.order.offsets[1]) + 4
    times[at, 2] += 700_000
    residual = outcome(planned, times, UNIT_NS).largest_residual
    assert residual == {"rank": 1, "index": 4, "op": planned.order.row(1)[4].text(), "ns": 700_000}


class Stalled:
    """A run of 1F1B on three ranks whose board is written by the test."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, **options: str) -> None:
        self.plan: JobPlan = plan(planned_run(spec={"p": 3, "m": 4} | options, mode="paced", unit_ms=1))
        counts = [len(one.steps) for one in self.plan.program.ranks]
        path = str(folder / "board")
        self.board = Board(path, counts)
        self.ledgers = [Ledger(path, rank, 3, self.board.first_rows(rank)) for rank in range(3)]
        self.time = 0
        monkeypatch.setattr(watchdog, "now", lambda: self.time)
        self.watchdog = watchdog.Watchdog(self.plan, self.board, lambda _: "")

    def did(self, rank: int, ops: int) -> None:
        for _ in range(ops):
            self.ledgers[rank].record(0, 0, 1, 0, 0)

    def waits(self, rank: int) -> None:
        step = self.watchdog.step(rank)
        awaited = step.tasks[0].collective_input or step.tasks[0].input_transfer
        assert awaited is not None
        self.ledgers[rank].set_state(WAITING, step.index, awaited.tag)

    def failure(self) -> RunFailure:
        assert self.watchdog.look(0) is None
        self.time += watchdog.FLOOR_NS
        assert self.watchdog.look(0) is None
        self.time += 1
        found = self.watchdog.look(0)
        assert found is not None
        return found


@pytest.fixture
def stalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stalled]:
    return Stalled(tmp_path, monkeypatch)


def test_the_watchdog_blames_the_rank_that_works_while_others_wait(stalled: Stalled) -> None:
    stalled.did(0, 3)
    stalled.ledgers[1].set_state(WORKING, 0)
    stalled.waits(0)
    stalled.waits(2)
    found = stalled.failure()
    assert (found.rank, found.op) == (1, "1F0")
    assert "rank 1 is in op 1F0" in found.message
    assert "rank 0 waits in op 0B0 for the gradient of micro-batch 0 into stage 0 (rank 1 to 0)" in found.message
    assert "and 1 more ranks wait" in found.message


def test_the_watchdog_blames_the_rank_that_does_not_take_what_was_sent(stalled: Stalled) -> None:
    stalled.did(0, 3)
    for rank in range(3):
        stalled.waits(rank)
    found = stalled.failure()
    assert (found.rank, found.op) == (1, "1F0")
    assert "activation of micro-batch 0 into stage 1 (rank 0 to 1), which was sent" in found.message


def test_the_watchdog_blames_the_rank_whose_part_of_a_barrier_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalled = Stalled(tmp_path, monkeypatch, vocabulary="parallel-1")
    for rank, ops in ((0, "0T0"), (1, "1S0"), (2, "2T0")):
        texts = [step.text for step in stalled.plan.program.ranks[rank].steps]
        stalled.did(rank, texts.index(ops))
        stalled.waits(rank)
    found = stalled.failure()
    assert (found.rank, found.op) == (1, "1S0")
    assert "rank 1 waits in op 1S0 for the output of the last stage of micro-batch 0, which was sent" in found.message
    waiting = "softmax statistics of all ranks of micro-batch 0, of which rank 1's part is missing"
    assert f"rank 0 waits in op 0T0 for the {waiting}" in found.message


def test_the_watchdog_is_patient_with_ops_that_took_long_in_the_warm_up(stalled: Stalled) -> None:
    stalled.watchdog = watchdog.Watchdog(stalled.plan, stalled.board, lambda _: "", watchdog.FLOOR_NS)
    assert stalled.watchdog.look(0) is None
    stalled.time += watchdog.FREE_OPS * watchdog.FLOOR_NS
    assert stalled.watchdog.look(0) is None
    stalled.time += 1
    assert stalled.watchdog.look(0) is not None


def test_the_watchdog_is_patient_as_long_as_ops_finish(stalled: Stalled) -> None:
    for _ in range(3):
        stalled.did(0, 1)
        assert stalled.watchdog.look(0) is None
        stalled.time += watchdog.FLOOR_NS
    assert stalled.watchdog.look(0) is None


class Engine:
    """An engine whose workers are names."""

    start_ns = 10_000_000
    blame_ns = -1
    waiting = ""

    def __init__(self, folder: Path) -> None:
        self.path, self.cleared, self.doomed, self.missing = str(folder), 0, False, 0

    def place(self, request: RankRequest) -> None:
        assert (request.ranks, request.together, request.device) == (2, False, "cpu")

    def placed(self) -> bool:
        self.missing -= 1
        return self.missing < 0

    def job_resources(self, _: MailboxNeeds | None) -> JobResources:
        return JobResources(self.path, self.path, (None, None))

    def watch(self, _: Board) -> None:
        pass

    def halted(self, _: int) -> str:
        return ""

    def dying(self) -> bool:
        return self.doomed

    def facts(self, over: bool) -> dict[str, Any]:
        return {"over": over}

    def clear(self) -> None:
        self.cleared += 1

    def send(self, rank: int, command: object) -> None:
        pass


Running = tuple[Job, list[dict[str, Any]], Engine]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Running]:
    """Make a job of two ranks that warms up, the events it emits, and its engine."""
    monkeypatch.setattr(job.threading, "Thread", lambda target, **_: SimpleNamespace(start=target))

    def make(**fields: Any) -> Running:
        events: list[dict[str, Any]] = []
        engine = Engine(tmp_path)
        run = planned_run(spec={"p": 2, "m": 2}, **fields)
        one = Job(run, engine, this_machine(), lambda event, **fields: events.append(fields | {"event": event}))
        one.tick()
        return one, events, engine

    return make


@pytest.fixture
def running(start: Callable[..., Running]) -> Running:
    """The same job during its run."""
    one, events, engine = start()
    for rank in range(2):
        one.reply(rank, Ready("cpu"))
    assert isinstance(one.state, states.Running)
    return one, events, engine


def test_an_error_in_a_worker_ends_the_run_and_names_rank_and_op(running: Any) -> None:
    one, events, engine = running
    one.reply(1, RankError("exception", "RuntimeError: no such luck"))
    assert isinstance(one.state, states.Running)
    one.tick()
    failure = events[-1]["failure"]
    assert (events[-1]["event"], failure["kind"], failure["rank"], failure["op"]) == ("failed", "exception", 1, "1F0")
    assert failure["message"] == "rank 1 failed in op 1F0: RuntimeError: no such luck"
    assert engine.cleared == 1


def test_a_death_explains_the_errors_that_it_causes_elsewhere(running: Any) -> None:
    one, events, engine = running
    engine.doomed = True  # this process learns of the death later
    one.reply(1, RankError("exception", "RuntimeError: connection closed by peer"))
    one.tick()
    assert isinstance(one.state, states.Running)
    ended = message(
        "runner.process_ended", "rank {rank}'s worker process {pid} ended ({cause})", rank=0, pid=7, cause="SIGKILL"
    )
    one.lost(RankLost(0, ended, "nobody knows why"))
    words = "rank 0's worker process 7 ended (SIGKILL) in op 0F0: nobody knows why"
    assert events[-1]["failure"]["message"] == words
    assert (events[-1]["failure"]["kind"], events[-1]["failure"]["op"]) == ("process_ended", "0F0")
    assert [event["event"] for event in events].count("failed") == 1


def test_progress_is_reported_as_long_as_ranks_get_on_and_only_then(
    start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "PROGRESS_NS", 0)
    one, events, _ = start(mode="free", steps=3)
    ledgers = [Ledger(one.state.board.path, rank, 2, one.state.board.first_rows(rank)) for rank in range(2)]
    reported: list[tuple[Any, ...]] = []

    def look() -> list[tuple[Any, ...]]:
        """Return what the next ticks report as progress."""
        before = len(events)
        for _ in range(3):
            one.tick()
        found = [event for event in events[before:] if event["event"] == "progress"]
        reported.extend(found)
        return [(event["phase"], event["step"], event["done"], event["of"]) for event in found]

    look()
    assert look() == []
    ledgers[1].beat()
    assert look() == [("warming", 0, 1, None)]
    for rank in range(2):
        one.reply(rank, Ready("cpu"))
    for step in (1, 2, 3):
        ledgers[0].record(0, 1, 2, 0, 0)
        assert look() == [("running", step, 1, 8)]
        assert look() == []
        for rank, ledger in enumerate(ledgers):
            ledger.reset()
            one.reply(rank, StepDone({0: 1.0, 1: 1.0} if rank else {}, 0, 0, 1, 0))
    assert isinstance(one.state, states.Verifying)
    assert look()[:1] == [("verifying", 1, 0, 6)]
    for done, step in ((1, 1), (2, 2), (5, 3), (6, 3)):
        while sum(ledger.words[ledger.base + 3] for ledger in ledgers) < 1 + done:
            ledgers[0].beat()
        assert look() == [("verifying", step, done, 6)]
    assert look() == []
    assert {event["steps"] for event in reported} == {3}


def paced(start: Callable[..., Running]) -> tuple[Job, list[dict[str, Any]]]:
    """Start a run of one step without a rehearsal."""
    one, events, _ = start(mode="paced", unit_ms=1)
    for rank in range(2):
        one.reply(rank, Ready("cpu"))
    return one, events


def test_a_run_that_reports_ops_sends_no_progress_besides(start: Callable[..., Running]) -> None:
    one, events = paced(start)
    Ledger(one.state.board.path, 0, 2, one.state.board.first_rows(0)).record(0, 1, 2, 0, 0)
    one.last_batch = 0
    one.tick()
    assert events[-1]["event"] == "op_batch"


def test_a_verification_that_gets_on_is_waited_for_and_one_that_does_not_is_ended(
    start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, events = paced(start)
    monkeypatch.setattr(job, "PROGRESS_NS", 0)
    ledger = Ledger(one.state.board.path, 0, 2, one.state.board.first_rows(0))
    for rank in range(2):
        one.reply(rank, StepDone({0: 1.0, 1: 1.0} if rank else {}, 0, 0, 1, 0))
    assert isinstance(one.state, states.Verifying)
    time = job.clock.now()
    for _ in range(4):
        time += 40 * job.SECOND
        monkeypatch.setattr(job.clock, "now", lambda time=time: time)
        ledger.beat()
        one.tick()
        assert isinstance(one.state, states.Verifying)
    monkeypatch.setattr(job.clock, "now", lambda: time + 40 * job.SECOND)
    one.tick()
    assert (events[-1]["event"], events[-1]["failure"]["kind"]) == ("failed", "no_answer")


def test_copies_of_a_stage_end_with_the_sum_of_their_gradients() -> None:
    shape = Shape(hidden=8, heads=1, sequence=2, batch=1, vocabulary=4)
    copies = [Stage(Training(shape, (1, 1, 1), 1, 0), 1) for _ in range(2)]
    for factor, copy in enumerate(copies, 1):
        for parameter in copy.parameters():
            parameter.grad = torch.full_like(parameter, float(factor))
    sum_replicas(None, 0, copies, [((0, 0), (0, 1))], 0)
    assert all((parameter.grad == 3).all() for copy in copies for parameter in copy.parameters())


def test_a_wrong_loss_is_not_blamed_on_a_gradient() -> None:
    verdict = compare(2.0, [{"stage0.head": torch.ones(3)}], 1.0, {"stage0.head": torch.ones(3)})
    assert (verdict.verified, verdict.max_grad_error) == (False, 0.0)
    (sentence,) = reasons(verdict, [[2.0]], "float32")
    assert sentence.code == "runner.loss_differs"
    assert sentence == (
        "Not verified: the loss is 2, and 1 in a single process, a relative error of 1.0e+00; the tolerance is 1.0e-05."
    )


def test_a_wrong_gradient_is_named_and_a_right_loss_is_not() -> None:
    verdict = compare(1.0, [{"stage0.head": torch.full((3,), 1.5)}], 1.0, {"stage0.head": torch.ones(3)})
    (sentence,) = reasons(verdict, [[1.0]], "float32")
    assert (sentence.code, sentence.params["name"]) == ("runner.gradient_differs", "stage0.head")


@pytest.mark.parametrize(
    ("wrong", "code"),
    [(1.5, "runner.gradient_of_rank_differs"), (torch.nan, "runner.result_of_rank_not_finite")],
    ids=["differs", "not a number"],
)
def test_a_wrong_result_is_named_with_its_rank_and_not_that_of_a_copy_that_is_right(wrong: float, code: str) -> None:
    right, false = torch.ones(3), torch.full((3,), wrong)
    reference = {"stage0.head": right, "stage1.head": right}
    replicas = [{"stage0.head": right}, {"stage1.head": right}, {"stage1.head": false}, {"stage0.head": right}]
    verdict = compare(1.0, replicas, 1.0, reference, ranks=[0, 1, 2, 3])
    (sentence,) = reasons(verdict, [[1.0]], "float32")
    assert (sentence.code, sentence.params["name"], sentence.params["rank"]) == (code, "stage1.head", 2)


def test_a_result_in_shards_on_all_ranks_is_named_without_a_rank() -> None:
    verdict = compare(1.0, [{"a": torch.ones(3)}, {"b": torch.zeros(3)}], 1.0, dict.fromkeys("ab", torch.ones(3)),
                    ranks=[0])  # fmt: skip
    (sentence,) = reasons(verdict, [[1.0]], "float32")
    assert (sentence.code, "rank" in sentence.params) == ("runner.gradient_differs", False)


def test_a_wrong_loss_and_a_wrong_gradient_are_both_named() -> None:
    verdict = compare(2.0, [{"stage0.head": torch.full((3,), 1.5)}], 1.0, {"stage0.head": torch.ones(3)})
    codes = [sentence.code for sentence in reasons(verdict, [[2.0]], "float32")]
    assert codes == ["runner.gradient_differs", "runner.loss_differs"]


def test_two_wrong_losses_are_found_though_they_leave_the_mean_of_their_step() -> None:
    expected = torch.tensor([[2.0, 3.0, 4.0], [1.0, 2.0, 3.0]], dtype=torch.float64)
    found = expected.clone()
    found[1, 0] += 0.01
    found[1, 2] -= 0.01
    assert wrong_loss(found, expected, "float32") == (1, 0)
    assert wrong_loss(found, expected, "bfloat16") is None
    assert wrong_loss(expected * (1 + 1e-6), expected, "float32") is None
    found[0, 1] = torch.nan
    assert wrong_loss(found, expected, "bfloat16") == (0, 1)


@pytest.mark.parametrize(
    ("name", "code"),
    [("loss 2/5", "runner.loss_of_micro_batch_differs"), ("updated stage0.head", "runner.weights_differ")],
)
def test_the_loss_of_a_micro_batch_and_updated_weights_are_not_called_gradients(name: str, code: str) -> None:
    verdict = compare(1.0, [{name: torch.full((3,), 1.5)}], 1.0, {name: torch.ones(3)})
    assert [sentence.code for sentence in reasons(verdict, [[1.0]], "float32")] == [code]


@pytest.mark.parametrize(
    ("results", "code"),
    [({}, "runner.result_missing"), ({"stage0.head": torch.full((3,), torch.nan)}, "runner.result_not_finite")],
    ids=["missing", "not a number"],
)
def test_a_missing_result_is_distinguished_from_one_that_is_not_a_number(
    results: dict[str, torch.Tensor], code: str
) -> None:
    verdict = compare(1.0, [results], 1.0, {"stage0.head": torch.ones(3)})
    assert not verdict.verified
    assert [sentence.code for sentence in reasons(verdict, [[1.0]], "float32")] == [code]


def test_a_verified_run_needs_no_reasons() -> None:
    verdict = compare(1.0, [{"stage0.head": torch.ones(3)}], 1.0, {"stage0.head": torch.ones(3)})
    assert verdict.verified
    assert reasons(verdict, [[1.0]], "float32") == []


def test_a_micro_batch_that_is_not_once_in_the_gradients_is_named_with_its_stage() -> None:
    verdict = Verdict(False, 1.0, 1.0, 1.0, "count 3/700/2.00")
    (sentence,) = reasons(verdict, [[1.0]], "bfloat16")
    assert sentence.code == "runner.micro_batch_count_differs"
    assert sentence.params == {"micro": "700", "stage": "3", "times": "2.00"}
