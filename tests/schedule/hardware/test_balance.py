"""The split of layers over stages, and the command `costs`."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from backend.cli.costs import costs as command
from backend.schedule.families import registry
from backend.schedule.hardware.balance import MOST_SPLITS, balance_of
from backend.schedule.hardware.cost_model import Setting, even
from backend.schedule.hardware.estimate import Estimate, estimate
from backend.schedule.simulation.simulate import simulate

PLAIN = {"model": "custom", "machine": "custom", "flops": 1e12, "efficiency": 0.5, "hidden": 64, "attention_heads": 4,
         "layers": 8, "sequence": 32, "vocabulary": 1000, "flash": False, "p": 4, "heads": False}  # fmt: skip
UNEVEN = PLAIN | {"vocabulary": 3000, "heads": True, "layers": 12}


def of(**data: Any) -> Estimate:
    return estimate(Setting.read(data))


@pytest.mark.parametrize("family", ["1f1b", "zb-h1"])
def test_a_small_balance_is_the_best_of_all_splits(family: str):
    found = balance_of({**UNEVEN, "layers": 9, "family": family, "m": 8})
    spec = found.spec
    ends = []
    for layers in itertools.product(range(10), repeat=4):
        if sum(layers) == 9 and layers[1] and layers[2]:
            made = of(**UNEVEN | {"layers": list(layers)}).costs
            ends.append(float(simulate(registry.order(spec.with_(costs=made)), made).end.max()))
    assert found.after.makespan == pytest.approx(min(ends), rel=1e-12)
    assert found.after.makespan < found.before.makespan


@pytest.mark.parametrize(
    ("family", "v"), [("1f1b", 1), ("interleaved", 2), ("v-zb", 2), ("dualpipe", 1), ("dualpipev", 2), ("gis", 2)]
)
def test_a_balance_keeps_all_layers_and_costs_no_more(family: str, v: int):
    one = balance_of({"model": "gemma2-9b", "heads": True, "family": family, "p": 8, "v": v, "m": 16})
    assert sum(one.after.layers) == sum(one.before.layers) == 42
    assert one.before.layers == even(42, 8, v)
    assert one.after.makespan < one.before.makespan
    assert one.tried <= MOST_SPLITS
    again = of(model="gemma2-9b", heads=True, p=8, v=v, layers=list(one.after.layers)).costs
    assert again == one.after.costs
    assert one.as_dict()["after"]["costs"] == again.to_json()


def test_a_balance_is_the_same_each_time():
    data = {"model": "gemma2-9b", "heads": True, "family": "dualpipe", "p": 8, "m": 16}
    assert balance_of(data).as_dict() == balance_of(data).as_dict()


def test_a_balance_of_equal_stages_changes_nothing():
    found = balance_of({**PLAIN, "family": "1f1b", "m": 8})
    assert found.after == found.before


def call(*arguments: str) -> Any:
    return CliRunner().invoke(command, arguments)


def test_the_command_shows_costs_bytes_and_arithmetic():
    shown = call("llama3-70b", "--machine", "H200", "--tp", "8", "--heads", "--balance", "1f1b", "-m", "32")
    assert shown.exit_code == 0
    for part in ("Llama 3 70B on H200", "10*f1 + fo", "2*s*b*h", "fits", "before", "after", "saved"):
        assert part in shown.output


def test_the_command_prints_the_result_of_the_core_as_json():
    shown = call("zb-1.5b", "--machine", "a100", "--seq", "512", "--micro-batch", "2", "--set", "per_node=4", "--json")
    setting = {"model": "zb-1.5b", "machine": "a100", "sequence": 512, "micro_batch": 2, "per_node": 4}
    assert json.loads(shown.output) == json.loads(json.dumps(of(**setting).as_dict()))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("llama9",), "there is no model of that name"),
        (("custom", "--set", "hidden"), "is not a field and a JSON value"),
        (("custom", "--set", "hidden=[1]"), "hidden must be a whole number"),
        (("custom", "--layers", "1,x"), "is not whole numbers"),
        (("custom", "-p", "4", "--set", "p=8"), "p is given twice"),
        (("custom", "-m", "4"), "without --balance"),
        (("custom", "--balance", "zb-h9"), "there is no family of that name"),
        (("custom", "--balance", "dualpipe", "-p", "3"), "even"),
    ],
)
def test_the_command_refuses_illegal_arguments_with_exit_code_2(arguments: tuple[str, ...], reason: str):
    shown = call(*arguments)
    assert shown.exit_code == 2
    assert reason in shown.output


def test_a_split_that_fits_is_taken_before_a_faster_one_that_does_not():
    """A large vocabulary fills the ends: by time the last stage should give up layers, by memory also the first."""
    data = UNEVEN | {"family": "1f1b", "m": 8}
    fastest = balance_of(data).after
    least = min(
        max(balance_of(data | {"layers": list(layers)}).before.memory.ranks)
        for layers in ((1, 5, 5, 1), (2, 4, 5, 1), (1, 4, 6, 1), (1, 4, 5, 2), (2, 4, 4, 2), (2, 3, 5, 2))
    )
    assert least < fastest.memory.most
    found = balance_of(data | {"memory": least})
    assert found.after.memory.fits
    assert not found.before.memory.fits
    assert found.after.makespan >= fastest.makespan


@given(
    family=st.sampled_from(["gpipe", "1f1b", "zb-h1", "interleaved", "v-half", "dualpipe"]),
    layers=st.integers(8, 24),
    vocabulary=st.sampled_from([100, 1000, 5000, 20000]),
    part=st.floats(0.3, 1.3),
    heads=st.booleans(),
    zero=st.integers(0, 3),
)
def test_a_balance_never_takes_memory_for_time(
    family: str, layers: int, vocabulary: int, part: float, heads: bool, zero: int
):
    v = 2 if family in ("interleaved", "v-half") else 1
    data = PLAIN | {"family": family, "m": 8, "v": v, "layers": layers, "vocabulary": vocabulary, "heads": heads,
                    "data": 4, "zero": zero}  # fmt: skip
    memory = part * balance_of(data).before.memory.most
    found = balance_of(data | {"memory": memory})
    before, after = found.before, found.after
    assert sum(after.layers) == layers
    if before.memory.fits:
        assert after.memory.fits
        assert (after.makespan, after.heaviest) <= (before.makespan, before.heaviest)
    elif not after.memory.fits:
        assert after.memory.most <= before.memory.most
        assert (after.makespan, after.heaviest) <= (before.makespan, before.heaviest)


def test_a_balance_that_cannot_fit_says_so_and_how_much_is_missing():
    found = balance_of({"model": "llama3-70b", "p": 8, "heads": True, "family": "1f1b", "m": 16})
    shape = found.as_dict()
    assert (shape["before"]["memory"]["fits"], shape["after"]["memory"]["fits"]) == (False, False)
    assert shape["after"]["memory"]["most"] <= shape["before"]["memory"]["most"]
    assert shape["after"]["makespan"] <= shape["before"]["makespan"]
