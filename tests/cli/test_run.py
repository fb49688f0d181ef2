"""`python app.py run`: a real run on real worker processes, and its errors."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import bubbleline as bl
from app import cli
from backend.runs.run_series import Series
from backend.schedule import result
from backend.schedule.families import registry
from backend.schedule.interop import torch_csv
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec


def call(*args: str) -> Result:
    return CliRunner().invoke(cli, ["run", *args])


@pytest.mark.usefixtures("warm_runner")
def test_run_executes_verifies_and_prints_everything_on_its_last_line() -> None:
    done = call("zb-h1", "-p", "2", "-m", "3", "--unit-ms", "2", "--json")
    assert done.exit_code == 0, done.output
    shape = json.loads(done.output.splitlines()[-1])
    assert (shape["status"], shape["verified"], shape["device"]) == ("finished", True, "cpu")
    assert shape["max_grad_error"] < 1e-5
    planned = result.result(Spec("zb-h1", 2, 3))
    assert shape["predicted"]["makespan"] == planned["makespan"]
    assert shape["predicted"]["bubble"] == planned["bubble"]
    assert set(shape["measured"]) == set(shape["predicted"])
    assert shape["measured"]["makespan"] > 0.9 * planned["makespan"]
    order = registry.order(Spec("zb-h1", 2, 3))
    for rank in range(2):
        rows = [op for op in shape["ops"] if op["rank"] == rank]
        assert [row["op"] for row in rows] == [op.text() for op in order.row(rank)]
        assert all(row["ready"] <= row["start"] <= row["end"] for row in rows)


@pytest.mark.usefixtures("warm_runner")
def test_run_executes_an_imported_order(tmp_path: Path) -> None:
    file = tmp_path / "order.csv"
    file.write_text("0F0,0F1,0I1,0B0,0W1\n1F0,1F1,1B1,1I0,1W0\n")
    done = call("--csv", str(file), "--unit-ms", "1", "--f", "5,3", "--i", "1", "--comm", "0.5", "--memory", "1")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Verified. ")
    timeline = simulate(torch_csv.read(file.read_text()), Costs((5.0, 3.0), comm=0.5), 1)
    assert f"predicted makespan {figures(timeline).makespan:.2f}," in done.output
    assert "peak memory 2 2" in done.output
    assert "memory limit 1: ranks 0, 1 above it" in done.output


def test_options_that_the_order_of_a_file_does_not_have_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "order.csv"
    file.write_text("0F0,0B0\n")
    for args, field in ((["-p", "2"], "p"), (["--offload", "full"], "offload"), (["--order", "AA"], "order")):
        done = call("--csv", str(file), *args)
        assert done.exit_code == 2
        assert done.output.startswith(f"Error: {field}: ")


@pytest.mark.usefixtures("warm_runner")
@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "family: name a FAMILY"),
        (["1f1b", "--unit-ms", "nan"], "unit_ms must be a finite number"),
        (["1f1b", "--unit-ms", "-1"], "unit_ms must be from 0.001"),
        (["dualpipe", "-p", "3"], "nearest legal value: 4"),
        (["1f1b", "-p", "400", "-m", "500"], "at most 64 ranks"),
        (["1f1b", "--mode", "fast"], "fast"),
    ],
)
def test_an_illegal_run_prints_the_reason_and_exits_with_2(args: list[str], words: str) -> None:
    done = call(*args)
    assert done.exit_code == 2, done.output
    assert words in done.output
    assert "Traceback" not in done.output


def test_a_wrong_order_in_a_file_is_refused_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "order.csv"
    file.write_text("0F0,0B0\n1F0\n")
    done = call("--csv", str(file))
    assert done.exit_code == 1
    assert "rank 1 never does 1B0" in done.output


def test_a_runner_that_dies_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUBBLELINE_RUNNER", f"{sys.executable} -c 'raise SystemExit(3)'")
    done = call("1f1b", "-p", "2", "-m", "2")
    assert done.exit_code == 1
    assert "the runner ended with exit code 3" in done.output
    monkeypatch.setenv("BUBBLELINE_PORT", "abc")
    for args in (["run", "gpipe"], ["run-sweep", "gpipe"], ["devices"]):
        done = CliRunner().invoke(cli, args)
        assert done.exit_code == 1
        assert done.output == "Error: BUBBLELINE_PORT must be a whole number from 0 to 65535, not 'abc'\n"


def test_ctrl_c_reaches_the_command_alone_which_ends_its_runner() -> None:
    with Series([sys.executable, "-c", "import sys; sys.stdin.read()"], ".") as series:
        assert os.getsid(series.process.pid) == series.process.pid
    assert series.process.returncode == 0
    with (
        pytest.raises(KeyboardInterrupt),
        Series([sys.executable, "-c", "import time; time.sleep(600)"], ".") as series,
    ):
        raise KeyboardInterrupt
    assert series.process.returncode == -signal.SIGTERM, "one that still loads is not waited for"


@pytest.mark.parametrize("args", [["run", "1f1b", "-p", "2", "-m", "4"], ["run-sweep", "1f1b"], ["devices"]])
def test_where_torch_is_not_installed_the_commands_that_run_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch, args: list[str]
) -> None:
    without = "import sys; sys.modules['torch'] = None; from runner.__main__ import main; main()"
    monkeypatch.setenv("BUBBLELINE_RUNNER", shlex.join([sys.executable, "-c", without]))
    done = CliRunner().invoke(cli, args)
    assert done.exit_code == 1
    assert done.output == (
        "Error: Schedules cannot be run here, because torch is not installed. "
        "Install it with: pip install 'bubbleline[run]'\n"
    )


@pytest.mark.usefixtures("warm_runner")
def test_options_of_a_cluster_are_refused_locally_with_advice() -> None:
    done = call("1f1b", "-p", "2", "-m", "2", "--unit-ms", "2", "--hops", "measured", "--json")
    assert done.exit_code == 2
    error = json.loads(done.output)["error"]
    assert (error["field"], error["nearest"]) == ("hops", "given")
    assert "make run ENGINE=ray" in error["message"]


@pytest.mark.usefixtures("warm_runner")
def test_a_schedule_runs_from_python_with_its_verdict_and_its_measured_ops() -> None:
    planned = bl.schedule("zb-h1", p=2, m=3)
    run = planned.run(unit_ms=2)
    assert run.verified
    assert run.max_grad_error < 1e-5
    measured = run.details["measured"]
    assert run.step_ms == pytest.approx(measured["makespan"] * run.details["unit_ms"])
    assert run.step_ms > 0.9 * planned.step_time * 2
    assert run.bubble == pytest.approx(measured["bubble"]["global"]["of_total"])
    assert run.ops[["rank", "kind", "micro"]].tolist() == planned.ops[["rank", "kind", "micro"]].tolist()
    with pytest.raises(bl.SpecError, match="unit_ms"):
        planned.run(unit_ms=0)
    with pytest.raises(bl.SpecError, match="steps") as refused:
        planned.run(steps=-1)
    assert (refused.value.field, refused.value.nearest) == ("steps", 1)
