"""Plans of a training run: each is legal with the figures of its own spec, and none that fits is overlooked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from app import cli
from backend.schedule.analysis import pareto, plans
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES, order, validate
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.order.order import Order
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

PRESET = Preset.of({"model": "cm-9.6b", "machine": "a100", "tp": 8})
ASKED = Spec(p=3, m=6)


@pytest.fixture(scope="module", autouse=True)
def built_once() -> Iterator[None]:
    """Construct each order once for all searches of this file, which have most orders in common."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "order", cache(plans.order))
        yield


@pytest.fixture(scope="module")
def found() -> list[plans.TrainingSetup]:
    return plans.plans(ASKED, PRESET)


def test_every_plan_is_legal_and_has_the_figures_of_its_own_order(found: list[plans.TrainingSetup]) -> None:
    for plan in found:
        validate(plan.spec)
        assert PRESET.units(plan.spec, simulate(plans.order(plan.spec), plan.spec.timing, plan.spec.v)) == plan.units


def test_plans_that_fit_come_first_by_time_and_the_others_by_memory() -> None:
    found = plans.plans(ASKED, PRESET, 11e9)
    fit = [plan.fits for plan in found]
    assert fit == sorted(fit, reverse=True)
    assert True in fit
    assert False in fit
    seconds = [plan.units.seconds for plan in found if plan.fits]
    memory = [plan.units.memory.most for plan in found if not plan.fits]
    assert seconds == sorted(seconds)
    assert memory == sorted(memory)
    assert memory[0] > 11e9


def test_schedules_chunks_recomputation_offload_and_limits_are_all_tried(found: list[plans.TrainingSetup]) -> None:
    specs = [plan.spec for plan in found]
    names = {name for name, family in FAMILIES.items() if not family.asynchronous}
    assert {spec.family for spec in specs} == names - {
        "chimera",
        "dualpipe",
        "chimera-auto",
    }  # which take an even p only
    copied = ("none", "selective", "full", ("none", "full"))
    assert {(spec.recompute, spec.offload) for spec in specs if spec.family == "v-half"} == {
        *product(("none", "selective"), copied),
        ("full", "none"),
        (("full", "none"), "none"),
        (("full", "none"), ("none", "full")),
    }
    assert {spec.v for spec in specs if spec.family == "interleaved"} == {1, 2, 3, 4, 6, 8}
    assert {spec.memory for spec in specs if spec.family == "v-auto"} == {1.5, 2.25, 3.0, 4.5, 6.0}


def test_no_family_that_fits_is_faster_than_the_first_plan(found: list[plans.TrainingSetup]) -> None:
    for point in pareto.points(ASKED, None, PRESET):
        units = point.figures.units
        if units is not None and units.memory.fits and not FAMILIES[point.spec.family].asynchronous:
            assert found[0].units.seconds <= units.seconds


def test_less_memory_never_gives_a_faster_first_plan_and_the_frontier_only_rises(
    found: list[plans.TrainingSetup],
) -> None:
    firsts = [plans.plans(ASKED, PRESET, limit)[0] for limit in (10e9, 12e9)]
    assert all(plan.fits for plan in (*firsts, found[0]))
    seconds = [plan.units.seconds for plan in (*firsts, found[0])]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[0] > seconds[-1]
    front = plans.frontier(found)
    steps = [(plan.units.memory.most, -plan.units.seconds) for plan in front]
    assert steps == sorted(set(steps))


@given(name=st.sampled_from(["zb-auto", "v-auto"]), p=st.integers(2, 6), gb=st.floats(4.0, 20.0))
def test_the_limit_of_a_searched_order_is_one_with_which_its_memory_fits(name: str, p: int, gb: float) -> None:
    family = FAMILIES[name]
    spec = PRESET.priced(Spec(name, p, 3 * p, family.v[1]))
    memory = plans.within(spec, family, PRESET, gb * 1e9)
    if memory < 1.0:
        return
    chosen = spec.with_(memory=memory)
    units = PRESET.units(chosen, simulate(order(chosen), chosen.timing, chosen.v))
    assert units is not None
    assert units.memory.most <= gb * 1e9


def test_searching_on_makes_the_first_plan_faster_and_replaces_the_constructed_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plans, "FAMILIES", {name: FAMILIES[name] for name in ("1f1b", "v-auto")})
    monkeypatch.setattr(plans, "CHUNKS_SEARCHED", (2,))

    def search(spec: Spec) -> tuple[Spec, Order]:
        longer = spec.with_(effort=1500)
        return longer, order(longer)

    quick, longer = (plans.plans(Spec(p=5, m=10), PRESET, 8.5e9, each) for each in (None, search))
    assert quick[0].spec.effort is None
    assert longer[0].spec.effort == 1500
    assert longer[0].units.seconds < quick[0].units.seconds
    assert len({plan.spec.with_(effort=None) for plan in longer}) == len(longer) == len(quick)


def test_with_time_enough_all_plans_are_built_in_whatever_order(found: list[plans.TrainingSetup]) -> None:
    assert plans.plans_within(600.0, ASKED, PRESET) == (found, 0)


def test_what_there_is_no_time_for_is_counted_and_what_takes_least_is_built(found: list[plans.TrainingSetup]) -> None:
    some, left_out = plans.plans_within(0.0, ASKED, PRESET)
    assert 0 < len(some) < len(found)
    assert len(some) + left_out == len(found)
    assert not any(FAMILIES[plan.spec.family].shaped_by_costs for plan in some)
    known = {plan.spec: plan.units for plan in found}
    assert all(known[plan.spec] == plan.units for plan in some)


def test_a_forward_only_setting_and_a_model_without_layers_for_the_devices_are_refused() -> None:
    with pytest.raises(SpecError, match="a plan is for training"):
        plans.plans(ASKED.with_(forward_only=True), PRESET)
    with pytest.raises(SpecError, match="no schedule can be built"):
        plans.plans(Spec(p=512, m=8), PRESET)


def test_the_command_prints_the_best_of_each_schedule_and_the_frontier_or_all_as_json() -> None:
    asked = ["plan", "-p", "2", "-m", "4", "--model", "cm-9.6b", "--machine", "a100", "--tp", "8", "--gb", "17"]
    text = CliRunner().invoke(cli, asked)
    assert text.exit_code == 0, text.output
    head, _, front = text.output.partition("\nfrontier, from the least memory:\n")
    rows = [line.split("  ")[0] for line in head.splitlines()[1:]]
    assert len(rows) == 12
    assert "yes" in head
    assert front.count("\n") >= 3
    shape = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).output)
    seconds = [plan["units"]["seconds"] for plan in shape["plans"] if plan["units"]["memory"]["fits"]]
    assert seconds == sorted(seconds)
    assert len(shape["plans"]) > 100
    assert np.all(np.diff([plan["units"]["memory"]["most"] for plan in shape["frontier"]]) > 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "Error: model: a plan is for a model on a machine"),
        (["--model", "llama3-70b", "--gb", "0"], "Error: gb: "),
        (["--model", "llama3-70b", "-p", "0"], "Error: p: "),
        (["--model", "nonesuch"], "Error: model: "),
    ],
)
def test_what_is_missing_or_wrong_is_named(options: list[str], words: str) -> None:
    done = CliRunner().invoke(cli, ["plan", *options])
    assert done.exit_code == 2
    assert words in done.output
