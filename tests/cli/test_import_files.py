"""The command `import`: what it prints and its exit codes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from backend.cli.measured.import_files import import_files
from backend.jobs.imports import run_of_trace
from backend.schedule.families import registry
from backend.schedule.interop.export import render
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate


def call(*args: str | Path) -> Result:
    return CliRunner().invoke(import_files, [str(arg) for arg in args])


@pytest.mark.parametrize("name", ["dualpipe", "zb-h1"])
def test_import_analyses_a_trace_and_compares_it_with_the_plan(tmp_path: Path, name: str) -> None:
    file = tmp_path / "trace.json.gz"
    spec = registry.read({"family": name, "p": 4, "m": 8})
    file.write_bytes(gzip.compress(render(spec, registry.order(spec), "chrome-trace").encode()))
    done = call(file, "--json")
    assert done.exit_code == 0, done.output
    shape = json.loads(done.output)
    wanted = figures(simulate(registry.order(spec), spec.costs, spec.v)).as_dict()
    assert shape["order"] == registry.order(spec).text()
    assert shape["planned"] == wanted
    assert shape["measured"]["makespan"] == pytest.approx(wanted["makespan"])
    if name == "zb-h1":
        assert shape["mean_ms"] == pytest.approx({"F": 1.0, "I": 1.0, "W": 1.0})
        assert shape["at_measured_costs"]["makespan"] == pytest.approx(wanted["makespan"])
    text = call(file).output
    assert "a whole schedule: " in text
    assert "the order at unit costs: makespan" in text


def test_import_reads_a_csv_and_names_the_missing_ops_of_a_partial_trace(tmp_path: Path) -> None:
    order = tmp_path / "order.csv"
    spec = registry.read({"family": "dualpipev", "p": 2, "m": 4})
    order.write_text(render(spec, registry.order(spec), "torch-csv"))
    done = call(order)
    assert done.exit_code == 0
    assert "an order in torch's CSV" in done.output
    assert "chunks per rank 2, v" in done.output
    part = tmp_path / "part.json"
    part.write_text(json.dumps([{"ph": "X", "name": "1F0", "ts": 0, "dur": 1000}]))
    done = call(part)
    assert done.exit_code == 1
    assert "rank 1: 1 ops from 0.000 to 1.000 ms" in done.output
    assert "not a whole schedule: no op of stage 0" in done.output


def test_import_takes_names_and_a_unit_and_prints_what_the_page_shows(tmp_path: Path) -> None:
    slow = [3.0, 1.0]
    spec = registry.read({"family": "1f1b", "p": 2, "m": 4, "costs": {"F": slow, "I": slow, "W": slow}})
    text = render(spec, registry.order(spec), "chrome-trace")
    file = tmp_path / "trace.json"
    file.write_text(
        text.replace('"0F', '"F s0 k').replace('"1F', '"F s1 k').replace('"0B', '"B s0 k').replace('"1B', '"B s1 k')
    )
    done = call(file, "--json", "--names", r"(?P<kind>\w) s(?P<stage>\d) k(?P<micro>\d)", "--unit", "ms")
    shape = json.loads(done.output)
    assert shape["family"] == "1f1b"
    ran = run_of_trace(2**20, "", bytearray(text.encode()))[0]
    assert shape["at_measured_costs"]["bubble"] == ran.facts["predicted"]["bubble"] == ran.facts["measured"]["bubble"]
    assert shape["measured"]["makespan"] == pytest.approx(1000 * ran.facts["measured"]["makespan"])
    file.write_text(text)
    assert "the order is that of 1F1B" in call(file).output
    assert call(file, "--names", "(").exit_code == 2
    file.write_text("0F0,0B0\n")
    assert call(file, "--unit", "ms").exit_code == 2


@pytest.mark.parametrize("body", [b"0F0,0X0\n", b"\xff\xfe", b"\x1f\x8bxx", b"[]", b"{}", b""])
@pytest.mark.parametrize("args", [(), ("--format", "chrome-trace"), ("--format", "torch-csv")])
def test_import_refuses_an_unreadable_file(tmp_path: Path, body: bytes, args: tuple[str, ...]) -> None:
    file = tmp_path / "file"
    file.write_bytes(body)
    done = call(file, *args)
    assert done.exit_code == 1
    assert done.output.startswith("file: ")
    assert json.loads(call(file, "--json", *args).output)["complete"] is False


def test_import_takes_one_csv_only(tmp_path: Path) -> None:
    file = tmp_path / "order.csv"
    file.write_text("0F0,0B0\n")
    assert call(file, file).exit_code == 2
