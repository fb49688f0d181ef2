"""Torch's own runtime runs our CSV files as they are, and its profiler's traces come back as measured timelines.

Torch's pipelines are imported by the tests that use them: each worker of pytest imports this file, and they take 2 s.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import nn

from backend.cli.measured.import_files import import_files
from backend.jobs.recordings import recording_of
from backend.schedule.diagnosis.diagnosis import diagnose
from backend.schedule.errors import OrderError, SpecError
from backend.schedule.families import registry
from backend.schedule.families.registry import FAMILIES
from backend.schedule.interop import torch_csv
from backend.schedule.interop.traces import chrome
from backend.schedule.order.ops import Pair
from backend.schedule.order.order import Order
from backend.schedule.simulation.metrics import figures
from backend.schedule.spec import Spec
from tests.support.strategies import few, nearest_legal, specs
from tests.support.torch.faults import Faults
from tests.support.torch.runtime import Job, Pool, pool, reference

# Families that torch's CSV cannot hold, each with the reason that the export itself must give.
REFUSED = {name: "hold every stage on two" for name, family in FAMILIES.items() if family.placement == "bidirectional"}
CARRIED = [name for name in FAMILIES if name not in REFUSED]
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def torchs() -> Iterator[Pool]:
    with pool() as made:
        yield made


def order_of(name: str, p: int, m: int, **options: str) -> Order:
    return registry.order(nearest_legal(Spec(name, p, m, FAMILIES[name].v[1]).with_(**options)))


def job_of(order: Order, profiled_steps: int = 0) -> Job:
    stages = tuple(tuple(order.placement.stages_of(rank)) for rank in range(order.p))
    return Job(torch_csv.dump(order), order.m, stages, profiled_steps)


def runs_right(torchs: Pool, order: Order) -> None:
    done = torchs.run(job_of(order))
    assert [each.error for each in done] == [""] * order.p
    wanted = reference(order.placement.stages, order.m)
    found = {key: grad for each in done for key, grad in each.gradients.items()}
    assert found.keys() == wanted.keys()
    for key, grad in wanted.items():
        assert (found[key] - grad).norm() <= TOLERANCE * grad.norm(), key


@pytest.mark.parametrize("name", CARRIED)
def test_torch_runs_our_file_with_the_gradients_of_one_process(torchs: Pool, name: str) -> None:
    """Without messages, which torch adds, and with those that we place (compute_comms)."""
    runs_right(torchs, order_of(name, 3, 6))
    runs_right(torchs, order_of(name, 3, 6, streams="rank", receives="placed"))


@pytest.mark.parametrize(
    "text",
    ["0F0,1F0,1B0,0B0\n2F0,3F0,3B0,2B0\n", "1F0,2F0,2B0,1B0,1F1,2F1,2B1,1B1\n0F0,0F1,0B0,0B1\n"],
    ids=["neighbours on a rank", "two stages and one"],
)
def test_torch_runs_files_with_stages_on_any_ranks(torchs: Pool, text: str) -> None:
    runs_right(torchs, torch_csv.read(text))


@pytest.mark.parametrize("name", ["1f1b", "interleaved", "zb-h1", "dualpipev"])
def test_files_with_the_messages_that_torch_adds_are_read_and_their_messages_pass(name: str) -> None:
    from torch.distributed.pipelining import schedules

    order = order_of(name, 4, 8)
    rows = {rank: [schedules._Action.from_str(op.text()) for op in order.row(rank)] for rank in range(order.p)}
    rows = {rank: schedules._add_unshard_reshard(row) for rank, row in rows.items()}
    rows = schedules._add_send_recv(rows, order.placement.rank_of, order.placement.stages)
    found = torch_csv.read_file("".join(",".join(map(str, rows[rank])) + "\n" for rank in range(order.p)))
    assert (found.lowered, found.notes, found.order.text()) == (True, (), order.text())


@given(spec=st.sampled_from(CARRIED).flatmap(lambda name: specs(name, max_p=4, max_m=10)))
@few(10)
def test_torch_runs_files_of_any_shape(torchs: Pool, spec: Spec) -> None:
    """Fewer micro-batches than ranks, odd sizes, up to four chunks a rank, groups, backward from last to first."""
    assume(spec.p > 1)  # one rank is no pipeline: torch has no group for it here
    runs_right(torchs, registry.order(spec))


@pytest.mark.parametrize("name", CARRIED)
def test_torch_runs_every_op_of_our_file_in_our_order(torchs: Pool, name: str) -> None:
    """Checked against the ranges that torch's profiler recorded."""
    order = order_of(name, 2, 4)
    found = chrome.load(*(each.trace for each in torchs.run(job_of(order, profiled_steps=1))))
    assert found.missing is None
    assert found.timeline is not None
    assert found.timeline.order.text() == order.text()
    assert found.timeline.order.placement == order.placement


@pytest.mark.parametrize("name", REFUSED)
def test_an_order_that_torch_cannot_represent_is_refused_by_us_and_by_torch(name: str) -> None:
    from torch.distributed.pipelining.schedules import _Action, _validate_schedule

    order = order_of(name, 4, 8)
    with pytest.raises(SpecError, match=REFUSED[name]):
        torch_csv.dump(order)
    rows = {rank: [_Action.from_str(op.text()) for op in order.row(rank)] for rank in range(order.p)}
    with pytest.raises(AssertionError, match="assigned to both rank"):
        _validate_schedule(rows, order.p, order.placement.stages, order.m)


def test_a_wrong_file_fails_in_torch_too(torchs: Pool) -> None:
    """Shows that the tests above can fail: the last backward of stage 1 is missing."""
    job = job_of(order_of("1f1b", 2, 2))
    broken = replace(job, csv=job.csv.replace(",1B1", ""))
    assert broken.csv != job.csv
    assert all("AssertionError" in each.error for each in torchs.run(broken))


def test_torchs_split_backward_fails_where_a_stage_returns_a_view() -> None:
    """The reason why, by docs/interop.md, a stage must not end in a view if the order has I and W."""
    from torch.distributed.pipelining._backward import stage_backward_input

    layer = nn.Linear(4, 4)
    x = torch.ones(2, 4, requires_grad=True)
    with pytest.raises(RuntimeError, match="Failed to run stage backward input") as failed:
        stage_backward_input([layer(x).view(4, 2)], [torch.ones(4, 2)], [x], layer.parameters())
    assert "detach views in-place" in str(failed.value.__cause__)


def inside(trace: str, name: str, words: str) -> list[tuple[float, float]]:
    """Start and end of the events with these words in their names, within the range of that name."""
    events = [event for event in json.loads(trace)["traceEvents"] if event["ph"] == "X"]
    around = next(event for event in events if event["name"] == name)
    found = [(event["ts"], event["ts"] + event["dur"]) for event in events if words in str(event["name"])]
    return [(a, b) for a, b in found if around["ts"] <= a and b <= around["ts"] + around["dur"]]


def test_torch_does_all_of_the_first_stages_split_backward_in_w(torchs: Pool) -> None:
    first, second = torchs.run(job_of(order_of("zb-h1", 2, 4), profiled_steps=1))
    assert inside(first.trace, "PP:0I0", "AddmmBackward") == []
    assert inside(first.trace, "PP:0W0", "AddmmBackward") != []
    assert inside(second.trace, "PP:1I0", "AddmmBackward") != []


def test_torch_runs_the_halves_of_a_pair_one_after_the_other(torchs: Pool) -> None:
    order = order_of("dualpipev", 2, 4)
    pair = next(op for op in order.row(0) if isinstance(op, Pair))
    trace = torchs.run(job_of(order, profiled_steps=1))[0].trace
    forward = inside(trace, f"PP:{pair.text()}", "aten::linear")
    backward = inside(trace, f"PP:{pair.text()}", "AddmmBackward")
    assert forward
    assert backward
    assert max(end for _, end in forward) <= min(start for start, _ in backward)


def test_torchs_reader_drops_what_follows_an_op_and_ours_does_not() -> None:
    from torch.distributed.pipelining.schedules import _Action

    assert str(_Action.from_str("0F1hello")) == "0F1"
    with pytest.raises(OrderError, match="line 1, cell 1"):
        torch_csv.load("0F1hello\n")


def test_torch_names_exactly_two_schedules_with_v_placement() -> None:
    """The names that docs/interop.md gives: torchtitan takes the placement from the class, not from the file."""
    from torch.distributed.pipelining.schedules import ScheduleDualPipeV, ScheduleZBVZeroBubble, get_schedule_class

    assert get_schedule_class("ZBVZeroBubble") is ScheduleZBVZeroBubble
    assert get_schedule_class("DualPipeV") is ScheduleDualPipeV
    for name in ("PipelineScheduleMulti", "PipelineScheduleSingle", "1F1B"):
        get_schedule_class(name)
    with pytest.raises(ValueError, match="Unknown schedule name"):
        get_schedule_class("_PipelineScheduleRuntime")


def test_a_real_profile_is_imported_with_its_bubble(torchs: Pool, tmp_path: Path) -> None:
    order = order_of("zb-h1", 2, 4)
    files = []
    for rank, each in enumerate(torchs.run(job_of(order, profiled_steps=3))):
        files.append(tmp_path / f"rank{rank}.json")
        files[-1].write_text(each.trace)
    found = chrome.load(*(file.read_text() for file in reversed(files)))
    assert (found.source, found.steps, found.missing) == ("torch profiler", 3, None)
    assert [lane.rank for lane in found.lanes] == [0, 1]
    assert found.timeline is not None
    assert found.timeline.order.text() == order.text()
    shown = figures(found.timeline)
    assert 0.0 < shown.longest_stage <= shown.makespan < 10_000.0
    assert 0.0 <= shown.span_bubble.of_total <= shown.global_bubble.of_total < 1.0
    assert found.computing is not None, "rank 1 waits for its first activation inside torch's range"
    assert figures(found.computing).busy < shown.busy
    done = CliRunner().invoke(import_files, [str(file) for file in files])
    assert done.exit_code == 0, done.output
    assert "torch profiler's ranges of 2 ranks, step 3 of 3" in done.output


def test_one_rank_of_a_profile_is_a_lane_and_a_sentence(torchs: Pool) -> None:
    second = torchs.run(job_of(order_of("1f1b", 2, 4), profiled_steps=1))[1]
    found = chrome.load(second.trace)
    assert found.timeline is None
    assert found.missing == "only rank 1 of 4 is there, with stage 1: give the traces of the others too"
    assert [op.text() for op in found.lanes[0].ops] == order_of("1f1b", 2, 4).text()[1].split()


def test_a_slow_stage_of_torchs_runtime_is_found_in_its_profiles(torchs: Pool, tmp_path: Path) -> None:
    """Real messages between real processes; bench/accuracy/planted.py has every fault, which needs a quiet machine."""
    order = order_of("1f1b", 3, 4)
    faults = Faults(0.005, 0.01, stages={1: 12.0})
    done = torchs.run(replace(job_of(order, profiled_steps=2), faults=faults))
    files = [tmp_path / f"{rank}.json" for rank in range(order.p)]
    for file, each in zip(files, done, strict=True):
        file.write_text(each.trace)
    found = diagnose(recording_of(files))
    assert found.recognised["family"] == "1f1b"
    assert [each.place["stage"] for each in found.findings if each.cause == "imbalance"] == [1]
    assert "Stage 1 takes" in " ".join(map(str, found.verdict))
