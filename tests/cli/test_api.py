"""The Python API: its examples, its figures against the command line's, its tables, pictures and errors."""

from __future__ import annotations

import doctest
import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given

import bubbleline as bl
import bubbleline.comparison
import bubbleline.measured
import bubbleline.notebook
import bubbleline.orders
import bubbleline.plans
import bubbleline.schedules
import bubbleline.settings
from app import cli
from backend.cli.options import command_line
from backend.cli.schedule import show
from backend.config import PROJECT
from backend.schedule.families.registry import FAMILIES
from backend.schedule.spec import Spec
from tests.cli.api_page import GROUPS, PAGE, page
from tests.support.strategies import optioned, specs

MODULES = (
    bubbleline,
    bubbleline.comparison,
    bubbleline.measured,
    bubbleline.notebook,
    bubbleline.orders,
    bubbleline.plans,
    bubbleline.schedules,
    bubbleline.settings,
)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_of_the_docstrings_are_true(module: ModuleType) -> None:
    result = doctest.testmod(module, optionflags=doctest.REPORT_NDIFF)
    assert result.failed == 0


def test_the_page_of_the_api_is_that_of_the_docstrings() -> None:
    assert PAGE.read_text() == page(), "python -m tests.cli.api_page"
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(bl.__all__)


def fields_of(spec: Spec) -> dict[str, Any]:
    """What a spec has other than by default, by the names of arguments; no time of copies where nothing is copied,
    which commands refuse."""
    spec = spec if spec.offload != "none" else spec.with_(costs=replace(spec.costs, O=None))
    now, plain = spec.to_json(), Spec(spec.family).to_json()
    return {key: value for key, value in now.items() if value != plain[key]} | {"family": spec.family, "v": spec.v}


def shaping(spec: Spec) -> dict[str, Any]:
    """The fields of a spec that shape its family's order, which a file does not have."""
    return {key: value for key, value in fields_of(spec).items() if key in ("group", "lifo")}


def shown(fields: dict[str, Any]) -> dict[str, Any]:
    """The Result that `show --json` prints for the same fields."""
    values = fields | fields.get("costs", {})
    values.pop("costs", None)
    words = {key: word_of(value) for key, value in values.items() if value is not None}
    done = CliRunner().invoke(cli, command_line(show, words | {"as_json": True, "times": True, "seconds": "0"}))
    assert done.exit_code == 0, done.output
    return dict(json.loads(done.output))


def word_of(value: Any) -> Any:
    """A value as the command line reads it, a number with all its digits."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, bool) else str(value)


@given(optioned())
def test_figures_are_those_of_the_command_line_to_the_bit(spec: Spec) -> None:
    fields = fields_of(spec)
    made, result = bl.schedule(**fields), shown(fields)
    assert made.result(times=True) == result
    assert made.bubble == result["bubble"]["global"]["of_total"]
    assert made.step_time == result["makespan"]
    assert made.peak_memory.tolist() == result["peak_memory"]
    assert made.peak_in_flight.tolist() == result["peak_in_flight"]
    law = result["law"]
    assert (made.law and (made.law.formula, made.law.value, made.law.exact)) == (
        law and (law["text"], law["value"], law["exact"])
    )
    assert made.order == result["order"]


@given(optioned())
def test_ops_are_those_of_the_order_with_their_times(spec: Spec) -> None:
    made = bl.schedule(**fields_of(spec))
    rows = [made._order.row(rank) for rank in range(made.p)]
    assert made.ops["rank"].tolist() == [rank for rank, row in enumerate(rows) for _ in row]
    texts = [
        f"({op['stage']}F{op['micro']};{op['paired_stage']}B{op['paired_micro']})OVERLAP_F_B"
        if op["kind"] == "FB"
        else f"{op['stage']}{op['kind']}{op['micro']}"
        for op in made.ops
    ]
    assert texts == [op.text() for row in rows for op in row]
    assert np.array_equal(made.ops["end"], made._timeline.end)


@given(specs())
def test_torchs_csv_is_read_back_as_the_same_order(spec: Spec) -> None:
    made = bl.schedule(**fields_of(spec))
    if FAMILIES[spec.family].placement == "bidirectional":
        with pytest.raises(bl.SpecError, match="every stage on two"):
            made.to_torch_csv()
        return
    again = bl.from_csv(made.to_torch_csv(), costs=made.costs)
    assert again.order == made.order
    assert (again.step_time, again.bubble) == (made.step_time, made.bubble)
    limits = {"max_bubble": made.bubble, "family": made.family}
    assert bl.check(made.to_torch_csv(), costs=made.costs, **shaping(spec), **limits) == ()


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, bubbleline as bl; light = 'numpy' not in sys.modules; bl.schedule('zb-h1').result();"
        "print(light, {'torch', 'plotly', 'flask', 'numba', 'PIL', 'click', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout == "True set()\n"


def test_a_table_is_a_data_frame_where_pandas_is_and_a_clear_error_where_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = bl.schedule("gpipe", p=2, m=2)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda rows: ("frame", len(rows))))
    assert made.to_pandas() == ("frame", 8)
    assert bl.compare("gpipe", "1f1b").to_pandas() == ("frame", 2)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        made.to_pandas()


def test_a_notebook_shows_the_picture_with_its_figures() -> None:
    made = bl.schedule("zb-h1", p=4, m=8)
    bundle = made._repr_mimebundle_()
    assert ElementTree.fromstring(bundle["image/svg+xml"]).tag.endswith("svg")
    assert bundle["text/plain"] == "<Schedule zb-h1 p=4 m=8 v=1>"
    for text in ("<svg", "bubble 11.1%", "step time 27", "peak memory 4 micro-batches", "= 3"):
        assert text in bundle["text/html"]
    large = bl.schedule("1f1b", p=8, m=4096)
    assert set(large._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert "<td>zb-h1</td>" in made.compare(large)._repr_html_()


def test_an_order_without_the_first_backwards_is_that_of_a_family_only_where_frozen_is_asked_for() -> None:
    text = bl.schedule(frozen=1).to_torch_csv()
    assert bl.from_csv(text).spec.frozen == (0,)
    assert bl.check(text) == ()
    assert bl.check(text, family="1f1b")[0].message == "rank 0 does 0F4 as op 5, 1F1B does 0B0 there"
    assert bl.check(text, family="1f1b", frozen=1) == ()


def test_arrays_are_taken_as_lists() -> None:
    given = {"layers": [3, 2, 2, 1], "frozen": [0], "sizes": [1.0, 0.5, 1.5, 1.0], "injection": [3, 1, 0, 2]}
    arrays = {name: np.array(value) for name, value in given.items()}
    assert bl.schedule(m=4, **arrays).spec == bl.schedule(m=4, **given).spec  # type: ignore[arg-type]
    times = np.array([1.0, 2.0, 3.0, 4.0])
    for costs in ({"f": times}, bl.Costs(f=times)):
        assert bl.schedule(costs=costs).spec == bl.schedule(costs={"f": [1, 2, 3, 4]}).spec


def test_errors_have_field_value_and_nearest_and_are_value_errors() -> None:
    with pytest.raises(ValueError, match=r"^p: p must be from 1 to 1024 \(nearest legal value: 1024\)$") as caught:
        bl.schedule(p=5000)
    error = caught.value
    assert isinstance(error, bl.SpecError)
    assert (error.field, error.value, error.nearest) == ("p", 5000, 1024)
    with pytest.raises(bl.SpecError, match="did you mean recompute"):
        bl.schedule(recompte="full")  # type: ignore[call-arg]
    with pytest.raises(bl.SpecError, match="unknown key; costs has F, I, W"):
        bl.schedule(costs={"g": 1})
    with pytest.raises(bl.SpecError, match="12%"):
        bl.check(bl.schedule(), max_bubble=12)
    with pytest.raises(bl.OrderError) as wrong:
        bl.from_csv("0F0,0B0\n1F0\n")
    assert (wrong.value.rank, wrong.value.field) == (1, "order")
    with pytest.raises(FileNotFoundError):
        bl.from_csv("nothing.csv")
    with pytest.raises(bl.OrderError, match="no ops"):
        bl.from_csv("")
    assert "no ops" in bl.check([])[0].message
    with pytest.raises(bl.OrderError, match="no file"):
        bl.diagnose()
    with pytest.raises(bl.SpecError, match="theme must be one of light, dark"):
        bl.schedule().svg("purple")  # type: ignore[arg-type]
    with pytest.raises(bl.SpecError, match="theme must be one of auto, light, dark"):
        bl.Timeline(theme="purple")
    with pytest.raises(bl.SpecError, match="seconds must be from 0 to 3600"):
        bl.search(seconds=-1)
    with pytest.raises(TypeError, match="side by side, not 'gpipe'"):
        bl.schedule().compare("gpipe")  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="no attribute 'shedule'"):
        bl.shedule  # noqa: B018


def test_a_trace_is_read_with_the_schedule_of_its_order(tmp_path: Path) -> None:
    made = bl.schedule("zb-h1", p=2, m=3, costs={"f": 2, "comm": 0.5})
    done = CliRunner().invoke(cli, ["export", "zb-h1", "-p2", "-m3", "--f=2", "--comm=.5", "--format", "chrome-trace"])
    file = tmp_path / "trace.json.gz"
    file.write_bytes(gzip.compress(done.output.encode()))
    trace = bl.read_trace(file, unit="ms")
    assert trace.missing is None
    assert trace.ops[["rank", "kind", "micro"]].tolist() == made.ops[["rank", "kind", "micro"]].tolist()
    assert trace.bubble == pytest.approx(made.bubble)
    assert trace.schedule.family == "zb-h1"
    half = json.loads(done.output)
    half["traceEvents"] = [each for each in half["traceEvents"] if each.get("name") != "1I2"]
    file.write_text(json.dumps(half))
    part = bl.read_trace(file)
    assert part.missing is not None
    with pytest.raises(ValueError, match="not a whole step"):
        part.ops  # noqa: B018


def test_a_run_without_torch_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubbleline.measured, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'bubbleline\[run\]'"):
        bl.schedule(p=2, m=2).run()
