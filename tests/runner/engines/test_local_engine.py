"""Whole runs on warm worker processes: every family, imported orders, both modes, and their events."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.schedule.families import registry
from backend.schedule.interop import torch_csv
from backend.schedule.order.ops import Pair
from backend.schedule.order.order import Order
from backend.schedule.order.placement import Placement, place_on
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from tests.support.runner.client import TINY, Event, RunnerProgram
from tests.support.runner.random_orders import random_order

SPLIT = {"F": 1, "I": 1, "W": 1}


def rows_of(events: list[Event]) -> list[list[int]]:
    return [row for event in events if event["event"] == "op_batch" for row in event["ops"]]


def assert_every_op_reported_once_and_in_order(order: Order, events: list[Event]) -> None:
    rows = rows_of(events)
    assert sorted((row[0], row[1]) for row in rows) == [
        (rank, index) for rank in range(order.p) for index in range(len(order.row(rank)))
    ]
    free_at = [0] * order.p
    for rank, _, ready, start, end, recv_wait in rows:
        assert free_at[rank] <= ready <= start < end
        assert 0 <= recv_wait <= start - free_at[rank]
        free_at[rank] = end


def test_an_order_searched_for_its_costs_runs_with_the_gradients_of_a_single_process(runner: RunnerProgram) -> None:
    costs = {"F": 1.0, "I": 0.9, "W": 0.6, "comm": 0.1}
    spec = {"family": "v-auto", "p": 2, "m": 5, "memory": 1.0, "effort": 3000, "costs": costs}
    last = runner.run(spec=spec, model=TINY, mode="free")[-1]
    assert (last["event"], last["verified"]) == ("finished", True)
    assert last["max_grad_error"] < 1e-5


@pytest.mark.parametrize("family", list(registry.FAMILIES))
def test_every_family_runs_and_is_verified(runner: RunnerProgram, family: str) -> None:
    spec = {"family": family, "p": 4, "m": 8 if family.startswith("dualpipe") else 4}  # the fewest that it takes
    events = runner.run(spec=spec, mode="paced", unit_ms=1, model=TINY)
    last = events[-1]
    assert last["event"] == "finished", last
    assert last["verified"]
    assert last["max_grad_error"] <= 1e-5
    assert_every_op_reported_once_and_in_order(registry.order(registry.read(spec)), events)


@pytest.mark.parametrize("family", ["1f1b", "dualpipe"])
def test_free_mode_runs_and_is_verified(runner: RunnerProgram, family: str) -> None:
    events = runner.run(spec={"family": family, "p": 2, "m": 4}, mode="free", model=TINY)
    assert events[-1]["event"] == "finished"
    assert events[-1]["verified"]
    running = next(event for event in events if event["event"] == "running")
    assert (running["mode"], running["unit_ms"], running["overlapped"]) == (
        "free", None, False if family == "dualpipe" else None,
    )  # fmt: skip
    measured, predicted = events[-1]["measured"], events[-1]["predicted"]
    assert measured["makespan"] > 0.9 * predicted["makespan"]


@pytest.mark.parametrize(("kind", "chunks", "seed"), [("looped", 2, 2), ("v", 4, 4)])
def test_a_random_legal_order_from_a_csv_is_verified(runner: RunnerProgram, kind: str, chunks: int, seed: int) -> None:
    order = random_order(Placement(kind, 3, chunks), 4, seed)
    events = runner.run(order=torch_csv.load(torch_csv.dump(order), kind), mode="free", model=TINY)
    assert events[-1]["event"] == "finished", events[-1]
    assert events[-1]["verified"]
    assert_every_op_reported_once_and_in_order(order, events)


def test_a_random_order_with_stages_on_any_ranks_is_verified(runner: RunnerProgram) -> None:
    order = random_order(place_on((2, 0, 0, 1, 0), 3), 4, 5)
    events = runner.run(order=torch_csv.load(torch_csv.dump(order)), mode="free", model=TINY)
    assert events[-1]["event"] == "finished", events[-1]
    assert events[-1]["verified"]
    assert_every_op_reported_once_and_in_order(order, events)


def test_an_imported_order_with_overlapped_pairs_is_verified(runner: RunnerProgram) -> None:
    order = registry.order(registry.read({"family": "dualpipev", "p": 2, "m": 6}))
    assert any(isinstance(op, Pair) for op in order.row(0))
    events = runner.run(order=torch_csv.load(torch_csv.dump(order), None), mode="free", model=TINY)
    assert events[-1]["event"] == "finished"
    assert events[-1]["verified"]


def test_a_single_rank_with_a_single_stage_is_verified(runner: RunnerProgram) -> None:
    last = runner.run(spec={"family": "gpipe", "p": 1, "m": 2}, model=TINY)[-1]
    assert last["event"] == "finished"
    assert last["verified"]
    assert last["mode"] == "free"


def test_another_seed_trains_other_weights_on_other_data(runner: RunnerProgram) -> None:
    losses = {runner.run(spec={"p": 2, "m": 2}, mode="free", model=TINY, seed=seed)[-1]["loss"] for seed in (0, 1)}
    assert len(losses) == 2


def test_events_come_in_the_order_of_the_protocol_and_name_the_fields_of_every_kind_of_row(
    runner: RunnerProgram,
) -> None:
    events = runner.run(spec={"p": 2, "m": 4}, mode="paced", unit_ms=10, model=TINY)
    names = [event["event"] for event in events]
    assert names[:2] == ["warming", "running"]
    assert names[-2:] == ["verified", "finished"]
    assert set(names[2:-2]) == {"op_batch"}
    assert len(names) > 6
    assert len({event["id"] for event in events}) == 1
    running = next(event for event in events if event["event"] == "running")
    assert running["ops"] == 16
    assert running["fields"] == {
        "ops": ["rank", "index", "ready", "start", "end", "recv_wait"],
        "copies": ["rank", "index", "ready", "start", "end", "bytes"],
        "bytes": ["rank", "index", "received", "sent", "live"],
        "messages": ["source", "target", "gradient", "stage", "micro", "posted", "asked", "taken", "bytes"],
    }


def test_the_plan_is_the_simulators_and_both_have_the_same_shape(runner: RunnerProgram) -> None:
    spec = {"family": "zb-h1", "p": 3, "m": 6, "costs": {"F": 2, "I": 3, "W": 1, "comm": 0.5}}
    last = runner.run(spec=spec, mode="paced", unit_ms=2, model=TINY)[-1]
    read = registry.read(spec)
    planned = figures(simulate(registry.order(read), read.costs, read.v)).as_dict()
    assert last["predicted"] == planned
    assert set(last["measured"]) == set(planned)
    assert set(last["largest_residual"]) >= {"rank", "op", "ns"}


def test_paced_ops_last_as_long_as_they_should_and_messages_take_their_hop(runner: RunnerProgram) -> None:
    unit_ns, hop = 20_000_000, 2
    spec = {"family": "gpipe", "p": 2, "m": 2, "costs": {**SPLIT, "comm": hop}}
    events = runner.run(spec=spec, mode="paced", unit_ms=20, model=TINY)
    times = {(row[0], row[1]): row[2:5] for row in rows_of(events)}
    first_end, second_ready = times[0, 0][2], times[1, 0][0]
    assert first_end >= unit_ns
    assert second_ready >= (1 + hop) * unit_ns
    assert 0 < second_ready - first_end <= hop * unit_ns
    read = registry.read(spec)
    planned = simulate(registry.order(read), read.costs, read.v).end.max()
    assert max(end for _, _, end in times.values()) >= planned * unit_ns


def test_the_processes_of_a_job_run_the_next_one_and_the_pool_grows_and_shrinks_to_its_ranks(
    runner: RunnerProgram,
) -> None:
    def workers(ranks: int, micros: int) -> list[int]:
        runner.run(spec={"p": ranks, "m": micros}, mode="free", model=TINY)
        return runner.workers()

    two = workers(2, 2)
    assert len(two) == 2
    assert workers(2, 3) == two
    four = workers(4, 2)
    assert len(four) == 4
    assert set(two) <= set(four)
    assert workers(2, 2) == two


def test_no_process_imports_ray_and_options_of_a_cluster_are_refused(runner: RunnerProgram) -> None:
    assert runner.ready["engine"] == "local"
    assert "cluster" not in runner.ready
    last = runner.run(spec={"p": 2, "m": 2}, mode="free", model=TINY)[-1]
    assert last["verified"]
    assert "hosts" not in last
    family = (runner.process.pid, *runner.descendants())
    assert len(family) >= 4
    for pid in family:
        assert "/ray/" not in Path(f"/proc/{pid}/maps").read_text()
    refused = runner.run(spec={"p": 2, "m": 2}, spread="spread")[-1]
    assert (refused["event"], refused["error"]["field"], refused["error"]["nearest"]) == ("error", "spread", "pack")
    assert "make run ENGINE=ray" in refused["error"]["message"]
