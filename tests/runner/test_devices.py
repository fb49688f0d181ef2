"""Devices of the machine, and the choice of devices and mode for a run."""

from __future__ import annotations

import pytest

from backend.errors import RequestError
from runner import devices
from runner.devices import Gpu, choose, parse_nvidia_smi
from runner.job.plan import plan
from tests.support.runner.client import planned_run


@pytest.mark.parametrize(
    ("ranks", "cores", "gpus", "device", "expected"),
    [
        (2, 2, 0, "auto", ("cpu", "free", "2 CPU cores for 2 ranks: free, since each has its own")),
        (8, 2, 0, "auto", ("cpu", "paced", "2 CPU cores for 8 ranks: paced")),
        (1, 1, 0, "auto", ("cpu", "free", "1 CPU core for 1 rank: free")),
        (4, 2, 4, "auto", ("cuda", "free", "4 GPUs for 4 ranks: each has its own")),
        (4, 8, 1, "auto", ("cuda", "paced", "1 GPU for 4 ranks: paced, since ranks that share a GPU")),
        (4, 2, 8, "cpu", ("cpu", "paced", "2 CPU cores for 4 ranks: paced")),
        (4, 2, 8, "cuda", ("cuda", "free", "8 GPUs for 4 ranks: each has its own")),
    ],
)
def test_devices_and_mode_for_a_number_of_ranks_have_a_reason(
    ranks: int, cores: int, gpus: int, device: str, expected: tuple[str, str, str]
) -> None:
    choice = choose(ranks, cores, gpus, device)
    assert (choice.device, choice.mode) == expected[:2]
    assert choice.why.startswith(expected[2])


def test_gpus_that_are_too_few_are_left_alone_where_ranks_cannot_share_one() -> None:
    choice = choose(4, 8, 1, shares=False)
    assert (choice.device, choice.mode, choice.together) == ("cpu", "free", False)
    assert choice.why.startswith("1 GPU for 4 ranks, so on the CPU; 8 CPU cores for 4 ranks: free")


def test_gpus_that_are_too_few_are_shared_by_threads_of_one_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [choose(4, 8, gpus).together for gpus in (1, 2, 4)] == [True, True, False]
    monkeypatch.setattr(devices, "gpus", lambda: (Gpu("one", None, None),) * 2)
    planned = plan(planned_run(spec={"p": 4, "m": 4}, device="cuda", steps=2))
    assert [planned.device_of(rank) for rank in range(4)] == ["cuda:0", "cuda:0", "cuda:1", "cuda:1"]
    assert (planned.together, planned.arrivals_of(1)) == (True, ())


def test_requested_gpus_are_refused_where_there_is_none() -> None:
    with pytest.raises(RequestError) as caught:
        choose(4, 8, 0, "cuda")
    assert (caught.value.field, caught.value.limit, caught.value.nearest) == ("device", 0, "cpu")


def test_gpus_are_read_from_nvidia_smi_with_names_that_have_commas_and_figures_that_are_missing() -> None:
    text = "NVIDIA H100, 80GB HBM3, 81559, 9.0\nOld One, [N/A], [N/A]\n\n"
    assert parse_nvidia_smi(text) == (Gpu("NVIDIA H100, 80GB HBM3", 81559 * 2**20, "9.0"), Gpu("Old One", None, None))


def test_every_number_of_ranks_is_in_exactly_one_row_of_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cores", lambda: 4)
    monkeypatch.setattr(devices, "gpus", lambda: (Gpu("one", None, None),) * 2)
    rows = devices.choices()
    assert [(row["from"], row["to"], row["device"], row["mode"]) for row in rows] == [
        (1, 2, "cuda", "free"),
        (3, 64, "cuda", "paced"),
    ]


def test_a_plan_states_the_reason_for_its_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cores", lambda: 2)
    monkeypatch.setattr(devices, "gpus", lambda: ())
    spec = {"family": "1f1b", "p": 3, "m": 3}
    assert plan(planned_run(spec=spec)).why.startswith("2 CPU cores for 3 ranks: paced")
    assert plan(planned_run(spec=spec, mode="free")).why == "free, as asked"
    assert plan(planned_run(spec=spec | {"p": 2}, unit_ms=3.0)).why == "paced, since a unit was given"
    assert [one["kind"] for one in devices.describe()] == ["cpu"]
