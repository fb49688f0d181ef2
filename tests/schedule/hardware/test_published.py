"""Estimates against published figures: memory equal to the papers' own formulas, times within a tenth."""

from __future__ import annotations

from typing import Any

import pytest

from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.estimate import Estimate, estimate
from bench.accuracy.estimates import BRIDGE, KORTHIKANTI, LAYERS, LLAMA3, Trained, units


def of(**data: object) -> Estimate:
    return estimate(Setting.read(data))


@pytest.mark.parametrize("row", KORTHIKANTI, ids=lambda row: row.name)
def test_korthikantis_models_have_the_published_memory_and_a_step_within_ten_percent(row: Trained) -> None:
    assert row.activation_gib() == pytest.approx(row.activations, rel=0.002)
    assert row.activation_gib(selective=False, sequence_parallel=False) == pytest.approx(row.whole, rel=0.0005)
    assert row.state_gib() == pytest.approx(row.states, rel=0.0005)
    for recompute in ("full", "selective"):
        assert row.step(recompute) == pytest.approx(getattr(row, recompute), rel=0.1)


@pytest.mark.parametrize(("name", "fields", "sbh"), LAYERS)
def test_a_layers_activations_are_those_of_its_own_tensors(name: str, fields: dict[str, Any], sbh: float) -> None:
    names = of(**fields, p=1).ledger.names
    assert names["A1"] / (names["s"] * names["b"] * names["h"]) == pytest.approx(sbh, rel=1e-12)


@pytest.mark.parametrize(("title", "published", "shape", "fields"), BRIDGE, ids=lambda each: str(each)[:12])
def test_training_throughput_on_h100_is_within_ten_percent(title: str, published: float, shape, fields) -> None:
    step = units(shape, fields)
    assert step.rate / step.devices == pytest.approx(published, rel=0.1)


@pytest.mark.parametrize(("title", "published", "shape", "fields"), LLAMA3, ids=lambda each: str(each)[:12])
def test_the_rates_of_llama_3s_own_training_are_within_ten_percent(title: str, published: float, shape, fields) -> None:
    assert units(shape, fields).mfu_causal * 989 == pytest.approx(published, rel=0.1)


def test_70b_with_tensor_and_sequence_parallelism_of_eight_fits_an_h100_and_does_not_without_the_latter() -> None:
    setting = {"model": "llama3-70b", "p": 8, "tp": 8, "sequence": 8192}
    assert max(of(**setting).footprint.memory) < 55e9
    assert not of(**setting, sequence_parallel=False).footprint.fits
    logits = of(model="llama3-8b", p=4, in_flight=1).footprint.logits - 4 * 8192 * 4096
    assert logits == 4 * 8192 * 128256 == pytest.approx(4.2e9, rel=0.001)


def test_the_output_gradients_that_w_needs_make_up_for_what_i_frees() -> None:
    for fields, share in (({"model": "custom"}, 32 / 34), ({"model": "llama3-70b"}, 1.0)):
        assert of(**fields, p=8, tp=8).footprint.w_share == pytest.approx(share)


def test_deepseek_v3_is_entered_with_its_experts_latents_dense_layers_and_further_token() -> None:
    setting = {"model": "deepseek-v3", "p": 16, "data": 64, "expert": 64, "zero": 1}
    found = of(**setting)
    states = [sum(found.footprint.stages[state][5] for state in ("weights", "gradients", "optimizer"))]
    assert states == pytest.approx([4 * (18 * 256 * 3 * 7168 * 2048 / 64 + (6 + 12 / 64) * 232.98e6)], rel=1e-3)
    assert found.footprint.stages["activations"][0] < found.footprint.stages["activations"][1]
    assert isinstance(found.costs.F, tuple)
    assert found.costs.F[0] < found.costs.F[1]  # three of its four layers are dense
    further = of(**setting, mtp=1)
    assert further.costs.F[-1] > found.costs.F[-1] + found.ledger.names["f1"]  # type: ignore[index]  # a list
    more = (further.flop["layers"] - found.flop["layers"]) / found.flop["layers"]
    assert more == pytest.approx(1 / 61, rel=0.15)
    for tp, data, expert, replicas in ((8, 4, 1, 4), (1, 4, 1, 4), (8, 4, 8, 4), (2, 8, 8, 2), (1, 1, 1, 1)):
        few = of(model="mixtral-8x7b", p=4, tp=tp, data=data, expert=expert, zero=1, heads=False).footprint.stages
        split = expert if expert > 1 else tp
        common, routed = 8 * (2 * 4096 * 4096 * 1.25 + 4096 * 8), 8 * 8 * 3 * 4096 * 14336
        assert few["optimizer"][0] == pytest.approx(12 * (common / tp / data + routed / split / replicas))
    alone = of(**setting | {"expert": 1})
    assert max(alone.footprint.memory) > max(found.footprint.memory) + 100e9


def test_context_parallelism_divides_the_sequence_and_fp8_the_time_of_products_and_their_stored_inputs() -> None:
    one = of(model="llama3-70b", p=8, tp=8, sequence=131072)
    shared = of(model="llama3-70b", p=8, tp=8, sequence=131072, context=8)
    assert shared.ledger.names["A1"] == one.ledger.names["A1"] / 8
    assert shared.footprint.message == one.footprint.message / 8
    assert one.ledger.names["f1"] / 9 < shared.ledger.names["f1"] < one.ledger.names["f1"] / 6
    assert shared.setting.devices == 8 * one.setting.devices
    eight = of(model="llama3-70b", p=8, tp=8, sequence=131072, fp8=True)
    assert eight.ledger.names["m1"] == pytest.approx(one.ledger.names["m1"] * 989 / 1979)
    assert 0.7 < eight.ledger.names["A1"] / one.ledger.names["A1"] < 0.85


def test_a_causal_core_has_half_of_the_scores_and_the_standard_utilization_counts_them_all() -> None:
    causal, full = (of(model="llama3-70b", p=8, sequence=131072, causal=causal) for causal in (True, False))
    assert full.flop == pytest.approx(causal.flop | {"masked": 0.0})
    assert causal.flop["layers"] / (causal.flop["layers"] - causal.flop["masked"]) == pytest.approx(1.56, abs=0.005)
    assert causal.ledger.names["k1"] == full.ledger.names["k1"] / 2


def test_a_measured_step_calibrates_all_times_of_compute() -> None:
    plain, slower = (of(model="llama3-8b", p=4, calibration=factor) for factor in (1.0, 1.25))
    for name in ("m1", "k1", "ef", "w1"):
        assert slower.ledger.names[name] == pytest.approx(1.25 * plain.ledger.names[name])
    assert slower.costs.comm == plain.costs.comm


def test_what_offload_copies_is_what_it_frees() -> None:
    found = of(model="llama3-70b", p=8, tp=8, sequence=8192, heads=False)
    assert found.options.copy == pytest.approx(1000 * found.footprint.activations[0] / 64e9)
