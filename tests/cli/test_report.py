"""The command line after a run: calibration, exported traces, sweeps, devices."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from app import cli
from backend.cli.report import result_line
from backend.schedule.families import registry
from backend.schedule.interop.traces import chrome, run_trace
from backend.schedule.simulation.simulate import simulate
from tests.support.runner.relay import SharedRunner


def call(*args: str) -> Result:
    return CliRunner().invoke(cli, args)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, shared_runner: SharedRunner) -> tuple[Result, Path]:
    file = tmp_path_factory.mktemp("trace") / "run.json"
    sizes = ("-p", "2", "-m", "4", "--unit-ms", "4", "--comm", "0.5")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUBBLELINE_RUNNER", shlex.join(shared_runner.command))
        return call("run", "zb-h1", *sizes, "--calibrate", "--trace", str(file)), file


def test_run_calibrates_and_prints_costs_prediction_and_causes_of_idle_time(done: tuple[Result, Path]) -> None:
    result, _ = done
    assert result.exit_code == 0, result.output
    for words in (
        "costs measured, in ms:",
        "makespan at these costs",
        "with each op at its measured time",
        "idle time: ",
        "tracing overhead",
    ):
        assert words in result.output
    shape = json.loads(result.output.splitlines()[-1])
    found = shape["calibration"]
    assert set(found["costs"]) == {"F", "I", "W", "comm"}
    assert all(len(found["costs"][key]) == 2 for key in "FIW")
    assert len(found["residual_ms"]) == len(shape["ops"])
    assert found["error"] == pytest.approx(shape["calibrated"]["error"])
    unit = shape["unit_ms"]
    assert found["costs"]["F"] == pytest.approx([unit * cost for cost in shape["calibrated"]["costs"]["F"]])


def test_the_first_line_of_a_run_is_its_result_in_one_sentence(done: tuple[Result, Path]) -> None:
    first = done[0].output.splitlines()[0]
    assert re.match(r"Verified\. \S+ ms, (as planned|\S+ % (over|under) plan); bubble \S+ %, predicted \S+ %\.$", first)


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"over_plan": 0.0012}, "Verified. 4.40 s, 0.1 % over plan; bubble 27.6 %, predicted 27.3 %."),
        ({"over_plan": -0.00012}, "Verified. 4.40 s, as planned; bubble 27.6 %, predicted 27.3 %."),
        ({"unit_ms": 1.0}, "Verified. 44 ms; bubble 27.6 %, predicted 27.3 %."),
        (
            {"verified": False, "over_plan": 0.5},
            "NOT verified. 4.40 s, 50.0 % over plan; bubble 27.6 %, predicted 27.3 %.",
        ),
    ],
    ids=["paced", "on time", "free", "not verified"],
)
def test_the_sentence_has_the_verdict_the_step_time_and_the_bubble_against_the_prediction(
    facts: dict[str, object], line: str
) -> None:
    figures = [{"makespan": 44.0, "bubble": {"global": {"of_total": share}}} for share in (0.276, 0.273)]
    shape = {"verified": True, "unit_ms": 100.0, "measured": figures[0], "predicted": figures[1]}
    assert result_line(shape | facts) == line


def test_a_run_prints_its_messages_and_bytes(done: tuple[Result, Path]) -> None:
    shape = json.loads(done[0].output.splitlines()[-1])
    assert len(shape["messages"]) == 8  # an activation and a gradient for each micro-batch
    assert {message["what"] for message in shape["messages"]} == {"activation", "gradient"}
    assert all(message["posted"] <= message["taken"] for message in shape["messages"])
    assert sum(op["received"] for op in shape["ops"]) == sum(message["bytes"] for message in shape["messages"])
    assert sum(op["sent"] for op in shape["ops"]) == sum(message["bytes"] for message in shape["messages"])


def test_the_exported_trace_of_a_run_is_imported_with_its_times_device_and_messages(done: tuple[Result, Path]) -> None:
    result, file = done
    shape, data = json.loads(result.output.splitlines()[-1]), json.loads(file.read_text())
    back = chrome.load(data)
    assert back.timeline is not None
    assert back.device == "cpu"
    first = min(op["start"] for op in shape["ops"])
    assert back.timeline.end.tolist() == pytest.approx([(op["end"] - first) / 1e6 for op in shape["ops"]], abs=1e-5)
    ends = [event for event in data["traceEvents"] if event["ph"] in "sf"]
    assert len(ends) == 2 * len(shape["messages"])
    assert all(event["args"]["posted_us"] <= event["args"]["taken_us"] for event in ends)
    again = call("import", str(file))
    assert again.exit_code == 0, again.output
    assert "a whole schedule: 24 ops, p 2, m 4" in again.output


@pytest.mark.parametrize(
    "spec", [{"family": "dualpipe", "p": 4, "m": 8}, {"family": "v-half", "p": 3, "m": 6}], ids=str
)
def test_every_arrow_of_a_trace_names_its_message(spec: dict[str, object]) -> None:
    read = registry.read(spec)
    timeline = simulate(registry.order(read), read.timing, read.v)
    rows = [[rank, k, 0, int(a * 1e6), int(b * 1e6), 0] for rank in range(read.p)
            for k, (a, b) in enumerate(zip(*timeline.rank(rank), strict=True))]  # fmt: skip
    again = run_trace.timeline_of(timeline.order, rows[::-1])
    assert again.end.tolist() == pytest.approx((timeline.end * 1e6).tolist())
    keys = run_trace._links(timeline.order)
    assert len(keys) == len(set(keys))
    messages = [[0, 1, *key, 1000, 2000, 3000, 4] for key in keys]
    data = run_trace.trace(again, "t", "cpu", [{}] * len(timeline.order), messages)
    ends = [event for event in data["traceEvents"] if event["ph"] in "sf"]
    assert len(ends) == 2 * len(keys)
    assert all(event["args"]["bytes"] == 4 for event in ends)


@pytest.mark.usefixtures("warm_runner")
def test_a_trace_that_cannot_be_written_is_reported_after_the_run(tmp_path: Path) -> None:
    done = call("run", "gpipe", "-p", "1", "-m", "1", "--trace", str(tmp_path / "no" / "such.json"))
    assert done.exit_code == 1
    assert "cannot be written" in done.output
    assert '{"status": "finished", "verified": true' in done.output, "its result is not lost"


@pytest.mark.usefixtures("warm_runner")
def test_a_sweep_runs_several_specs_on_the_same_workers_and_prints_predicted_and_measured() -> None:
    done = call("run-sweep", "gpipe", "1f1b", "zb-h1", "-p", "2", "-m", "3", "--unit-ms", "2", "--json")
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.output.splitlines()]
    assert [row["spec"]["family"] for row in rows] == ["gpipe", "1f1b", "zb-h1"]
    assert all(row["verified"] and row["measured"]["makespan"] > 0.9 * row["predicted"]["makespan"] for row in rows)
    assert all(set(row["calibrated"]) == {"costs", "predicted", "error", "replayed"} for row in rows)


def test_a_sweep_with_one_illegal_spec_runs_nothing() -> None:
    done = call("run-sweep", "1f1b", "dualpipe", "-p", "3", "-m", "6")
    assert done.exit_code == 2
    assert "nearest legal value: 4" in done.output


@pytest.mark.usefixtures("warm_runner")
def test_devices_are_listed_with_the_mode_of_a_run_and_why() -> None:
    done = call("devices")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("cpu: ")
    assert "GiB" in done.output
    assert "CPU core" in done.output
    assert "64 ranks: " in done.output
