"""Searched orders as specs: effort and seed reproduce an order, and every Result has its certificate."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from backend.cli.schedule import export, show, sweep
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.searched import search_order
from backend.schedule.order import wire
from backend.schedule.result import result
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec

COSTS = Costs(18.5, 18.0, 9.3, 0.6)
SPECS = [
    Spec("zb-auto", 4, 8, memory=3.0, costs=COSTS),
    Spec("zb-auto", 4, 10, memory=6.0, costs=COSTS, w_share=0.4324),
    Spec("v-auto", 3, 7, 2, memory=2.0, costs=COSTS),
    Spec("chimera-auto", 4, 10, memory=3.0, costs=COSTS),
    Spec("v-auto", 3, 7, 2, memory=3.0, costs=COSTS, offload="full"),
]


@pytest.mark.parametrize("spec", SPECS)
def test_the_effort_of_a_search_reproduces_its_order(spec: Spec) -> None:
    improved, order, found = search_order(spec, registry.family_of(spec), seconds=0.3)
    check(order)
    assert improved.effort == found.evaluations > 0
    assert wire.encode(registry.order(improved)) == wire.encode(order)  # with the copies of its offload
    assert max(result(improved)["peak_memory"]) <= (spec.memory or 0) + 1e-9


@pytest.mark.parametrize("spec", SPECS)
def test_a_search_is_never_worse_than_the_quick_construction_and_never_below_its_bound(spec: Spec) -> None:
    quick, improved = result(spec), result(spec.with_(effort=20_000))
    assert improved["longest_stage"] <= quick["longest_stage"] * (1 + 1e-12)
    for shape in (quick, improved):
        proof = shape["certificate"]
        assert proof["lower_bound"] <= shape["longest_stage"] * (1 + 1e-9)
        assert proof["gap"] == pytest.approx(shape["longest_stage"] / proof["lower_bound"] - 1, abs=1e-9)
        assert proof["optimal"] == (proof["gap"] == 0.0)


def test_a_stopped_search_returns_its_best_order() -> None:
    spec = Spec("zb-auto", 8, 24, memory=6.0, costs=COSTS)  # not optimal at once
    reports = []
    _, order, found = search_order(spec, registry.family_of(spec), None, reports.append, lambda: len(reports) >= 3)
    check(order)
    assert len(reports) == 3
    assert found.span == min(each.span for each in reports)


def test_families_with_one_order_have_no_effort_and_no_certificate() -> None:
    with pytest.raises(SpecError) as caught:
        registry.read({"family": "zb-h1", "effort": 5})
    assert caught.value.field == "effort"
    assert "certificate" not in result(Spec("zb-h1", 4, 8))


@pytest.mark.parametrize(
    ("data", "field"), [({"effort": 0}, "effort"), ({"effort": 1.5}, "effort"), ({"seed": -1}, "seed")]
)
def test_bad_effort_and_seed_are_named(data: dict[str, object], field: str) -> None:
    with pytest.raises(SpecError) as caught:
        registry.read({"family": "zb-auto"} | data)
    assert caught.value.field == field


def test_show_searches_and_prints_how_to_reproduce_the_order() -> None:
    args = ["zb-auto", "-p", "3", "-m", "6", "--memory", "2", "--f", "3", "--i", "2", "--w", "1"]
    shape = json.loads(CliRunner().invoke(show, [*args, "--seconds", "0.2", "--json"]).output)
    effort = str(shape["spec"]["effort"])
    again = CliRunner().invoke(show, [*args, "--effort", effort]).output
    assert f"--effort {effort} --seed 1 gives it again" in again
    assert f"longest stage (span) {shape['longest_stage']:g}" in again
    assert "lower bound of the span" in again


def test_without_seconds_an_order_is_only_constructed() -> None:
    out = CliRunner().invoke(show, ["zb-auto", "-p", "3", "-m", "6", "--seconds", "0", "--json"]).output
    assert json.loads(out)["spec"]["effort"] is None


def test_sweep_and_export_search_too() -> None:
    line = json.dumps({"family": "v-auto", "p": 2, "m": 4})
    shape = json.loads(CliRunner().invoke(sweep, ["--seconds", "0.1"], input=line).output)
    assert shape["spec"]["effort"] > 0
    csv = CliRunner().invoke(export, ["zb-auto", "-p", "2", "-m", "4", "--seconds", "0.1", "--format", "torch-csv"])
    assert csv.exit_code == 0
    assert csv.output.count("\n") == 2


def test_a_found_spec_brings_its_rows_until_it_is_changed() -> None:
    found, _, _ = search_order(SPECS[0], registry.family_of(SPECS[0]), seconds=0.1)
    assert found.found is not None
    assert found == Spec.from_json(found.to_json()), "the rows are no part of what a spec says"
    brought = tuple(row[::-1] for row in found.found)
    assert np.array_equal(registry.order(found.with_(found=brought)).codes, np.concatenate(brought))
    assert found.with_(seed=2).found is None


def test_prove_goes_through_all_orders_of_a_small_schedule() -> None:
    pytest.importorskip("ortools", reason="the solver is an optional extra: pip install 'ortools>=9.11'")
    args = ["zb-auto", "-p", "3", "-m", "5", "--memory", "2", "--f", "3", "--i", "2", "--w", "1", "--comm", "0.5"]
    plain = json.loads(CliRunner().invoke(show, [*args, "--effort", "3000", "--json"]).output)
    proof = json.loads(CliRunner().invoke(show, [*args, "--effort", "3000", "--prove", "--json"]).output)
    assert plain["certificate"]["lower_bound"] <= proof["certificate"]["lower_bound"] <= proof["longest_stage"] + 1e-9
    assert proof["certificate"]["optimal"]


@pytest.mark.parametrize(
    ("args", "field"), [(["zb-h1"], "prove"), (["zb-auto", "-p", "8", "-m", "24", "--seconds", "0"], "m")]
)
def test_an_order_that_cannot_be_proved_optimal_is_reported(args: list[str], field: str) -> None:
    pytest.importorskip("ortools", reason="the solver is an optional extra: pip install 'ortools>=9.11'")
    done = CliRunner().invoke(show, [*args, "--prove", "--json"])
    assert done.exit_code == 2
    assert json.loads(done.output)["error"]["field"] == field
