"""Plans of a training run: each is legal with the figures of its own spec, and none that fits is overlooked."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from app import cli
from backend.cli import plan as plan_command
from backend.config import COMMAND
from backend.jobs import training_plans
from backend.schedule.analysis import pareto, plans
from backend.schedule.analysis.layouts import Layout, layouts
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES, order, validate
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.interop.configurations.frameworks import FRAMEWORKS
from backend.schedule.order.order import Order
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

PRESET = Preset.of({"model": "cm-9.6b", "machine": "a100", "tp": 8})
ASKED = Layout(3, 6, PRESET)


def asked(*layouts: Layout, limit: float | None = None, **allowed: Any) -> plans.Asked:
    """Return the question of this file, or that of other layouts."""
    return plans.Asked(layouts or (ASKED,), limit, plans.Allowed(**allowed))


@pytest.fixture(scope="module", autouse=True)
def built_once() -> Iterator[None]:
    """Construct each order once for all searches of this file, which have most orders in common."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plans, "order", cache(plans.order))
        yield


@pytest.fixture(scope="module")
def found() -> list[plans.TrainingSetup]:
    return plans.plans(asked())


@pytest.fixture(scope="module")
def limited() -> list[plans.TrainingSetup]:
    return plans.plans(asked(limit=10e9))


def test_every_plan_is_legal_and_has_the_figures_of_its_own_order(found: list[plans.TrainingSetup]) -> None:
    for plan in found:
        validate(plan.spec)
        assert PRESET.units(plan.spec, simulate(plans.order(plan.spec), plan.spec.timing, plan.spec.v)) == plan.units


def test_plans_that_fit_come_first_by_time_and_the_others_by_memory(limited: list[plans.TrainingSetup]) -> None:
    fit = [plan.fits for plan in limited]
    assert fit == sorted(fit, reverse=True)
    assert True in fit
    assert False in fit
    seconds = [plan.seconds for plan in limited if plan.fits]
    memory = [plan.units.memory.most for plan in limited if not plan.fits]
    assert seconds == sorted(seconds)
    assert memory == sorted(memory)
    assert memory[0] > 10e9


def test_schedules_chunks_recomputation_offload_and_limits_are_all_tried() -> None:
    specs = list(plans.specs(ASKED))
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
    assert {spec.v for spec in specs if spec.family == "interleaved"} == {2, 3, 4, 6, 8}
    assert {spec.memory for spec in specs if spec.family == "v-auto"} == {1.5, 2.25, 3.0, 4.5, 6.0}


def test_no_family_that_fits_is_faster_than_the_first_plan(found: list[plans.TrainingSetup]) -> None:
    for point in pareto.points(Spec(p=3, m=6), None, PRESET):
        units = point.figures.units
        if units is not None and units.memory.fits and not FAMILIES[point.spec.family].asynchronous:
            assert found[0].seconds <= units.seconds + units.tail


def test_less_memory_never_gives_a_faster_first_plan_and_the_frontier_only_rises(
    found: list[plans.TrainingSetup], limited: list[plans.TrainingSetup]
) -> None:
    assert limited[0].fits
    assert found[0].fits
    assert limited[0].seconds > found[0].seconds
    front = plans.frontier(found)
    steps = [(plan.units.memory.most, -plan.seconds) for plan in front]
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

    quick, longer = (plans.plans(asked(Layout(5, 10, PRESET), limit=8.5e9), each) for each in (None, search))
    assert quick[0].spec.effort is None
    assert longer[0].spec.effort == 1500
    assert longer[0].units.seconds < quick[0].units.seconds
    assert len({plan.spec.with_(effort=None) for plan in longer}) == len(longer) == len(quick)


def test_with_time_enough_all_plans_are_built_in_whatever_order(found: list[plans.TrainingSetup]) -> None:
    assert plans.plans_within(600.0, asked()) == (found, len(list(plans.specs(ASKED))), 0)


def test_what_there_is_no_time_for_is_counted_and_what_takes_least_is_built(found: list[plans.TrainingSetup]) -> None:
    some, tried, left_out = plans.plans_within(0.0, asked())
    assert 0 < len(some) < len(found)
    assert tried + left_out == len(list(plans.specs(ASKED)))
    assert not any(FAMILIES[plan.spec.family].shaped_by_costs for plan in some)
    known = {plan.spec: plan.units for plan in found}
    assert all(known[plan.spec] == plan.units for plan in some)


def test_where_no_schedule_can_be_built_the_reason_is_said() -> None:
    with pytest.raises(SpecError, match="512 stages are more than the model's"):
        plans.plans(asked(Layout(512, 8, PRESET)))
    with pytest.raises(SpecError, match="m = 8 is the nearest") as caught:
        plans.plans(asked(Layout(4, 6, PRESET), families=("chimera", "dualpipe")))
    assert (caught.value.field, caught.value.nearest) == ("m", 8)
    for p, m, field in ((0, 8, "p"), (4.5, 8, "p"), (4, 0, "m")):
        with pytest.raises(SpecError) as caught:
            Layout(p, m, PRESET)  # type: ignore[arg-type]  # as anyone may write it
        assert caught.value.field == field


def test_the_command_prints_the_best_of_each_schedule_and_the_frontier_or_all_as_json(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan_command, "plans", cache(plan_command.plans))  # which both forms have in common
    asked = ["plan", "-p", "2", "-m", "4", "--model", "cm-9.6b", "--machine", "a100", "--tp", "8", "--gb", "17"]
    text = CliRunner().invoke(cli, asked)
    assert text.exit_code == 0, text.output
    head, _, front = text.output.partition("\nfrontier, from the least memory:\n")
    rows = [line.split("  ")[0] for line in head.splitlines()[1:]]
    assert len(rows) == 12
    assert "yes" in head
    front, _, assumed = front.partition("\nassumed: ")
    assert front.count("\n") >= 2
    assert "A100" in assumed
    assert "GB/s inside a node" in assumed
    assert "2 + 4 + 12 bytes a parameter" in assumed
    assert all(row.split()[-1] in {*FRAMEWORKS, "-"} for row in front.splitlines()[1:] if row)
    shape = json.loads(CliRunner().invoke(cli, [*asked, "--json"]).output)
    units = [plan["units"] for plan in shape["plans"] if plan["units"]["memory"]["fits"]]
    seconds = [each["seconds"] + each["tail"] for each in units]
    assert seconds == sorted(seconds)
    step, rate = re.split(r"  +", head.splitlines()[1].strip())[6:8]
    assert (step, rate) == (f"{seconds[0]:.3f}", f"{units[0]['tokens'] / seconds[0]:,.0f}")
    assert len(shape["plans"]) > 100
    assert np.all(np.diff([plan["units"]["memory"]["most"] for plan in shape["frontier"]]) > 0)


def test_plans_of_the_same_order_and_options_are_one_plan_of_the_plainest_family(
    found: list[plans.TrainingSetup],
) -> None:
    keys = [(plan.digest, plan.spec.recompute, plan.spec.offload) for plan in found]
    assert len(set(keys)) == len(keys) < len(list(plans.specs(ASKED)))
    ones = {plan.spec.family for plan in found if plan.spec.v == 1}
    assert "1f1b" in ones
    assert "interleaved" not in ones


def test_plans_that_differ_less_than_estimates_are_exact_share_a_place(found: list[plans.TrainingSetup]) -> None:
    places = plans.standings(found)
    fit = [plan for plan in found if plan.fits]
    assert [place is None for place in places] == [not plan.fits for plan in found]
    for plan, place in zip(fit, filter(None, places), strict=False):
        first = found[place[0] - 1]
        assert first.seconds <= plan.seconds <= 1.01 * first.seconds
        assert place[1] == (sum(other is not None and other[0] == place[0] for other in places) > 1)


def test_plans_are_limited_to_what_a_framework_runs_to_families_and_to_no_recomputation_or_offload() -> None:
    for framework in FRAMEWORKS.values():
        specs = list(plans.specs(Layout(4, 8, PRESET), None, plans.Allowed(framework=framework)))
        assert specs
        assert all(framework.runs(FAMILIES[spec.family]) for spec in specs)
        assert all(framework.takes(spec.recompute, spec.offload) for spec in specs)
        assert all(framework.fits(spec) for spec in specs)
    few = plans.Allowed(framework=FRAMEWORKS["megatron"], recompute=False)  # no groups of four
    assert {spec.family for spec in plans.specs(Layout(4, 3, PRESET), None, few)} == {"1f1b"}
    sea = plans.specs(Layout(2, 6, PRESET), None, plans.Allowed(framework=FRAMEWORKS["zero-bubble"]))
    searched = {(spec.family, spec.v) for spec in sea if spec.memory is not None}
    assert searched == {("zb-auto", 1), ("v-auto", 2)}
    megatron = list(plans.specs(ASKED, None, plans.Allowed(framework=FRAMEWORKS["megatron"])))
    assert {spec.family for spec in megatron} == {"1f1b", "interleaved"}
    assert {(spec.recompute, spec.offload) for spec in megatron} == {
        (recompute, "none") for recompute in ("none", "selective", "full")
    }
    few = list(plans.specs(ASKED, None, plans.Allowed(("gis", "v-half"), None, False, False)))
    assert {(spec.family, spec.recompute, spec.offload) for spec in few} == {
        ("gis", "none", "none"),
        ("v-half", "none", "none"),
    }


def test_devices_and_a_batch_are_laid_out_within_nodes_heads_and_experts() -> None:
    preset = Preset.of({"model": "mixtral-8x7b", "machine": "h100"})
    found = layouts(32, 256, preset)
    assert found == layouts(32, 256, preset)
    for layout in found:
        sizes = layout.sizes(1)
        assert sizes["p"] * sizes["tp"] * sizes["context"] * sizes["data"] == 32
        assert sizes["m"] * sizes["data"] * sizes["micro_batch"] == 256
        assert sizes["tp"] <= 8
        assert 8 % sizes["expert"] == 0
    assert len({layout.p for layout in found}) > 1
    kept = layouts(32, 256, Preset.of({"model": "mixtral-8x7b", "tp": 4, "micro_batch": 2}), p=2)
    assert {(layout.p, layout.sizes(1)["tp"], layout.sizes(1)["micro_batch"]) for layout in kept} == {(2, 4, 2)}
    with pytest.raises(SpecError, match="no layout of 32 devices takes a batch of 3"):
        layouts(32, 3, Preset.of({"model": "mixtral-8x7b", "data": 2}))


def test_the_layout_published_for_70b_on_64_gpus_is_among_those_that_promise_most() -> None:
    preset = Preset.of({"model": "llama3-70b", "machine": "h100", "fp8": True})
    sizes = [(each.p, each.sizes(1)["tp"]) for each in layouts(64, 128, preset)]
    assert (8, 4) in sizes  # Megatron-Bridge's (docs/accuracy.md)


def test_the_command_finds_layouts_and_its_commands_give_the_figures_of_their_rows() -> None:
    asked = ["plan", "--model", "llama3-8b", "--gpus", "8", "--batch", "16", "--families", "1f1b,v-auto", "--json"]
    rows = json.loads(CliRunner().invoke(cli, asked).output)["plans"]
    assert {row["sizes"]["p"] * row["sizes"]["tp"] * row["sizes"]["data"] for row in rows} == {8}
    searched = next(row for row in rows if row["spec"]["family"] == "v-auto" and row["spec"]["offload"] != "none")
    for row in (rows[0], searched, rows[-1]):
        assert row["command"].startswith(f"{COMMAND} export ")
        words = shlex.split(row["command"].removeprefix(f"{COMMAND} export "))
        del words[words.index("--format") :]
        shown = json.loads(CliRunner().invoke(cli, ["show", *words, "--json"]).output)
        assert shown["spec"] == row["spec"]
        assert shown["units"] == row["units"]


def test_where_nothing_fits_the_exit_code_is_1_with_the_nearest_that_would() -> None:
    asked = ["plan", "llama3-70b", "-p", "4", "-m", "8", "--families", "1f1b", "--tp"]
    done = CliRunner().invoke(cli, [*asked, "1"])
    assert done.exit_code == 1
    assert "Nothing fits in 80 GB. 1F1B, v 1, needs the least: 341.8 GB; it would fit with --tp 8 (" in done.output
    assert CliRunner().invoke(cli, [*asked, "8"]).exit_code == 0
    asked = ["plan", "--gpus", "4", "--batch", "8", "--model", "llama3-70b", "--families", "1f1b", "--json"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 1
    assert [(each["field"], each["value"]) for each in json.loads(done.output)["would_fit"]] == [("gpus", 32)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "Error: model: a plan is for a model on a machine"),
        (["--model", "llama3-70b", "--gb", "0"], "Error: gb: "),
        (["--model", "llama3-70b", "-p", "0"], "Error: p: "),
        (["nonesuch"], "Error: model: "),
        (["llama3-8b", "--model", "llama3-70b"], "Error: model: model is given twice"),
        (["--model", "llama3-8b", "--tp", "3"], "Error: tp: tp must divide the 32 attention heads"),
        (["--model", "llama3-8b", "--gpus", "8"], "Error: batch: gpus goes with batch"),
        (["--model", "llama3-8b", "--gpus", "8", "--batch", "8", "-m", "2"], "Error: m: "),
        (["--model", "llama3-8b", "--families", "1f1b,pipedream"], "Error: families: PipeDream"),
        (["--model", "llama3-8b", "--families", "nothing"], "Error: families: "),
        (
            ["--model", "llama3-8b", "-p", "3", "--framework", "dualpipe", "--families", "dualpipe"],
            "Error: p: DualPipe needs",
        ),
        (["--model", "llama3-8b", "--framework", "megatron", "--families", "gis"], "Error: p: none of"),
    ],
)
def test_what_is_missing_or_wrong_is_named(options: list[str], words: str) -> None:
    done = CliRunner().invoke(cli, ["plan", *options])
    assert done.exit_code == 2
    assert words in done.output


@pytest.mark.parametrize(
    ("command", "request_"),
    [
        (
            "python app.py plan --model cm-9.6b --machine a100 --tp 8 --set layers='[14,16]' --set dropout=false "
            "--cp 2 --no-sp -p 2 -m 4 --gb 24 --framework megatron --no-recompute",
            "p=2&m=4&gb=24&framework=megatron&recompute=0&m.model=cm-9.6b&m.machine=a100&m.tp=8&m.layers=14,16"
            "&m.dropout=0&m.context=2&m.sequence_parallel=0",
        ),
        (
            "python app.py plan --model cm-9.6b --machine a100 --set dropout=false --no-sp --gb 24 "
            "--framework megatron --families 1f1b,interleaved --no-recompute --gpus 16 --batch 1024",
            "gb=24&framework=megatron&families=1f1b,interleaved&recompute=0&gpus=16&batch=1024&m.model=cm-9.6b"
            "&m.machine=a100&m.dropout=0&m.sequence_parallel=0",
        ),
    ],
)
def test_the_command_that_the_page_shows_asks_what_its_request_asks(
    command: str, request_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's test has these commands of these requests (tests/page/panels/test_step_units.py)."""
    asked: list[plans.Asked] = []

    def stop(*given: Any) -> None:
        asked.extend(each for each in given if isinstance(each, plans.Asked))
        raise SpecError("p", 1, "asked")

    monkeypatch.setattr(plan_command, "plans", stop)
    monkeypatch.setattr(training_plans, "plans_within", stop)
    assert CliRunner().invoke(cli, shlex.split(command)[2:]).exit_code == 2
    with pytest.raises(SpecError):
        training_plans.training_plans(request_.encode())
    own, others = ([(each.p, each.m, each.preset.setting()) for each in one.layouts] for one in asked)
    assert own == others
    assert (asked[0].limit, asked[0].allowed) == (asked[1].limit, asked[1].allowed)
