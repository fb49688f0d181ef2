"""A simulated step in seconds, tokens and bytes: by hand, against the estimate, and on the page as on the server."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.schedule.families import registry
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.estimate import estimate
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.step_units import StepUnits, step_units
from backend.schedule.laws.formula import evaluate, parse
from backend.schedule.order.wire import encode
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support.node import answers, needs_node

TESTS = Path(__file__).parents[2]
PLAIN = {"model": "custom", "machine": "custom", "flops": 1e12, "efficiency": 0.5, "hidden": 64, "attention_heads": 4,
         "layers": 8, "sequence": 32, "vocabulary": 1000, "inter_latency": 0, "intra_latency": 0, "heads": False,
         "reserve": 0, "hbm_bandwidth": 1e18}  # fmt: skip


def priced(preset: Preset, family: str, p: int, m: int, **more: Any) -> Spec:
    return preset.priced(registry.read({"family": family, "p": p, "m": m, **more}))


def units(spec: Spec, preset: Preset) -> StepUnits:
    timeline = simulate(registry.order(spec), spec.timing, spec.v)
    return step_units(preset.estimate(spec), spec, timeline)


def test_a_step_without_idle_time_has_the_efficiency_as_its_flop_utilisation():
    preset = Preset.of(PLAIN | {"heads": True})
    found = units(priced(preset, "gpipe", 1, 5), preset)
    assert found.mfu_causal == pytest.approx(0.5, rel=1e-3)  # the embedding's look-up is no FLOP of the model
    assert found.mfu > found.mfu_causal
    flop = 5 * (8 * (72 * 32 * 64 * 64 + 6 * 32 * 32 * 64) + 6 * 32 * 64 * 1000 + 3 * 32 * 64)
    assert found.seconds == pytest.approx(flop / 0.5e12, rel=1e-5)
    assert (found.tokens, found.devices) == (5 * 32, 1)


def test_utilisation_is_of_the_peak_in_the_precision_of_the_products():
    """Also in 8 bits, twice the rate here: never more than the efficiency."""
    preset = Preset.of(PLAIN | {"fp8": True, "fp8_flops": 2e12})
    half, eight = (units(priced(each, "gpipe", 1, 5), each) for each in (Preset.of(PLAIN), preset))
    assert eight.mfu_causal == pytest.approx(half.mfu_causal) == pytest.approx(0.5, rel=1e-5)
    assert eight.rate == pytest.approx(2 * half.rate, rel=1e-3)


def test_a_bubble_costs_as_much_flop_utilisation_as_time():
    preset = Preset.of(PLAIN | {"inter_bandwidth": 1e18, "intra_bandwidth": 1e18})
    spec = priced(preset, "1f1b", 4, 8)
    assert units(spec, preset).mfu_causal == pytest.approx(0.5 * 8 / (8 + 3), rel=1e-5)


def test_of_a_hop_the_bytes_are_on_the_wire_and_the_latency_a_delay_where_messages_share_streams():
    preset = Preset.of({"model": "zb-6.2b", "heads": True})
    air, streams = (priced(preset, "interleaved", 4, 8, v=2, streams=word).costs for word in ("none", "rank"))
    found = preset.estimate(Spec("interleaved", 4, 8, 2))
    names = found.ledger.names
    assert streams.wire == pytest.approx(1000 * names["M"] / names["X"], rel=1e-5)
    assert streams.comm == pytest.approx(1000 * names["y"], rel=1e-5)
    assert (air.wire, air.comm) == (0.0, pytest.approx(streams.wire + streams.comm, rel=1e-5))


def test_the_busiest_devices_window_tells_what_zb_h2_gains_by_its_memory():
    preset = Preset.of({"model": "zb-6.2b", "heads": True})
    one, two = (units(priced(preset, family, 8, 16), preset) for family in ("zb-h1", "zb-h2"))
    assert two.seconds > 0.97 * one.seconds
    assert two.memory.most > 1.5 * one.memory.most
    whole, span = two.as_dict(), two.as_dict()["span"]
    assert span["tokens_per_second"] > 1.08 * one.as_dict()["span"]["tokens_per_second"]
    assert span["mfu"] / whole["mfu"] == pytest.approx(span["tokens_per_second"] / whole["tokens_per_second"])
    spec = priced(preset, "zb-h2", 8, 16)
    timeline = simulate(registry.order(spec), spec.timing, 1)
    assert span["seconds"] == pytest.approx(figures(timeline).longest_stage / 1000 + two.tail)


def test_recomputed_work_is_no_work_of_the_model():
    preset = Preset.of(PLAIN)
    plain, again = (units(priced(preset, "1f1b", 4, 8, recompute=kind), preset) for kind in ("none", "full"))
    assert again.mfu * again.seconds == pytest.approx(plain.mfu * plain.seconds, rel=1e-12)
    assert again.seconds > plain.seconds


def test_replicas_multiply_tokens_and_devices_and_leave_time_and_utilisation():
    one, many = Preset.of(PLAIN), Preset.of(PLAIN | {"data": 16, "inter_bandwidth": 1e18, "intra_bandwidth": 1e18})
    spec = priced(one, "1f1b", 4, 8)
    few, all_ = units(spec, one), units(spec, many)
    assert (all_.tokens, all_.devices) == (16 * few.tokens, 16 * few.devices)
    assert (all_.seconds, all_.mfu) == pytest.approx((few.seconds, few.mfu), rel=1e-7)


def test_a_node_has_either_the_neighbours_of_a_pipeline_or_its_replicas():
    """Of 8 devices a node: where hops stay inside, the gradients of other replicas come from other nodes."""
    for p, tp, data, hops, replicas in (
        (8, 1, 8, True, False), (4, 1, 2, True, True), (4, 2, 2, True, False), (16, 1, 8, False, True),
        (16, 2, 8, False, False), (1, 8, 4, True, False), (2, 2, 2, True, True),
    ):  # fmt: skip
        setting = Setting.read({"model": "llama3-8b", "p": p, "tp": tp, "data": data})
        assert (setting.inside, setting.in_node(setting.ranks * data)) == (hops, replicas), (p, tp, data)
    experts = Setting.read({"model": "mixtral-8x7b", "p": 8, "data": 8, "expert": 8})
    assert not experts.in_node(8)
    assert Setting.read({"model": "mixtral-8x7b", "p": 16, "data": 8, "expert": 8}).in_node(8)


def test_zero_divides_the_optimizer_then_gradients_then_weights_by_the_replicas():
    parameters = 2 * 12 * 64 * 64
    for zero, each in enumerate((2 + 4 + 12, 2 + 4 + 12 / 8, 2 + 16 / 8, 18 / 8)):
        found = estimate(Setting.read(PLAIN | {"p": 4, "data": 8, "zero": zero, "in_flight": 0}))
        assert found.footprint.memory == pytest.approx((each * parameters,) * 4, rel=1e-15)
        assert sum(found.footprint.per_parameter.values()) == each
        assert found.as_dict()["memory_note"] != ""
    alone = estimate(Setting.read(PLAIN | {"p": 4, "zero": 3, "in_flight": 0}))
    assert alone.footprint.memory == (18 * parameters,) * 4
    assert alone.as_dict()["memory_note"] == ""


@pytest.mark.parametrize("family", ["1f1b", "zb-h2", "gpipe"])
def test_memory_of_each_rank_has_the_activations_of_its_own_simulated_peak(family: str):
    preset = Preset.of(PLAIN)
    spec = priced(preset, family, 4, 12)
    layer = 34 * 32 * 64  # flash attention
    held = {"1f1b": (4, 3, 2, 1), "zb-h2": (7, 7, 7, 7), "gpipe": (12, 12, 12, 12)}[family]
    if family == "zb-h2":
        spec = spec.with_(w_share=1.0)
    found = units(spec, preset).memory
    assert found.ranks == pytest.approx([18 * 2 * 12 * 64 * 64 + n * 2 * layer for n in held], rel=1e-12)
    assert (found.rank, found.fits) == (0, True)


def test_logits_are_held_as_long_as_the_chunk_that_makes_them_and_recomputation_leaves_them():
    """Of the last rank: interleaved 1F1B with v = 4 holds 24 chunks and the last one."""
    logits = 8192 * (4 * 128256 + 2 * 2 * 4096)
    preset = Preset.of({"model": "llama3-8b", "reserve": 0})
    plain, again, gpipe = (
        units(priced(preset, family, 8, 16, v=v, recompute=mode), preset).memory.activations[-1]
        for family, v, mode in (("interleaved", 4, "none"), ("1f1b", 1, "full"), ("gpipe", 1, "full"))
    )
    layer = 8192 * (2 * (6 * 4096 + 2 * 8 * 128) + 6 * 14336)
    assert plain == pytest.approx(25 * layer + logits)
    held = 4 * 2 * 8192 * 4096
    assert again == pytest.approx(held + logits + layer - held / 4)
    assert gpipe == pytest.approx(16 * (held + logits) + layer - held / 4)


def test_a_v_has_both_tables_on_its_first_rank_and_dualpipe_holds_two_stages():
    preset = Preset.of(PLAIN | {"heads": True})
    v = units(priced(preset, "v-half", 4, 12), preset).memory.ranks
    looped = units(priced(preset, "interleaved", 4, 12, v=2), preset).memory.ranks
    table = 18 * 64 * 1000
    assert v[0] - v[1] > 1.5 * table > 0.5 * table > v[3] - v[2]
    assert looped[0] - looped[1] > 0.5 * table
    assert looped[3] - looped[2] > 0.5 * table
    both = units(priced(Preset.of(PLAIN), "dualpipe", 4, 8), Preset.of(PLAIN)).memory.ranks
    assert min(both) > 2 * 18 * 2 * 12 * 64 * 64


def test_a_step_ends_with_the_optimizer_and_the_exchange_of_all_parameters_of_a_device_also_those_of_a_second_copy():
    """By hand: 30 bytes a parameter at .85 of the memory's rate; gradients and weights at .8 of a link's."""
    preset = Preset.of({"model": "llama3-8b", "data": 8, "zero": 1})
    layers, table = 4 * 218_103_808, 4096 * 128256
    update, sent = 30 / 8 / (0.85 * 3.35e12), (4 + 2) / (0.8 * 50e9)
    for family, v, parameters, replicas in (
        ("1f1b", 1, layers + table, 8), ("zb-v", 2, layers + 2 * table, 8), ("dualpipe", 1, 2 * (layers + table), 16),
    ):  # fmt: skip
        found = units(priced(preset, family, 8, 16, v=v), preset)
        assert found.tail == pytest.approx(parameters * (update + sent * (replicas - 1) / replicas)), family
    spread = units(priced(preset, "1f1b", 8, 16, vocabulary="parallel-1"), preset)
    assert spread.tail == pytest.approx((layers + 2 * table / 8) * (update + sent * 7 / 8))
    alone = Preset.of({"model": "llama3-8b"})
    for p, link in ((8, 450e9), (16, 50e9)):  # the two copies have one gradient
        found = units(priced(alone, "dualpipe", p, 32), alone)
        parameters = 2 * (layers * 8 / p + table)
        assert found.tail == pytest.approx(parameters * (30 / (0.85 * 3.35e12) + 4 / (0.8 * link)))


@pytest.mark.parametrize(
    "fields", [{"model": "gemma2-9b"}, {"model": "mixtral-8x7b", "expert": 8}, {"model": "deepseek-v3", "mtp": 1}]
)
@pytest.mark.parametrize("p", [1, 4])
def test_the_tail_of_a_plan_is_that_of_the_costs(fields: dict[str, Any], p: int) -> None:
    preset = Preset.of({"data": 8, "zero": 1} | fields)
    tail = preset.estimate(Spec("1f1b", p, 8)).tail
    assert units(priced(preset, "1f1b", p, 8), preset).tail == pytest.approx(tail / 1000)


def test_stashed_weight_versions_take_memory_without_being_asked_for():
    preset = Preset.of(PLAIN)
    flushed, stashed = (units(priced(preset, family, 4, 8), preset).memory.ranks for family in ("1f1b", "pipedream"))
    assert stashed[3] == pytest.approx(flushed[3])
    assert stashed[0] - flushed[0] == pytest.approx(3 * 2 * 2 * 12 * 64 * 64)  # p - 1 more versions, 2 bytes each


def test_a_sharded_output_layer_takes_memory_on_every_rank():
    bare, sharded = (
        units(priced(Preset.of(PLAIN), "1f1b", 4, 8, vocabulary=kind), Preset.of(PLAIN)).memory.ranks[3]
        for kind in ("plain", "parallel-2")
    )
    assert sharded - bare >= 18 * 2 * 64 * 1000 / 4


def test_a_forward_only_step_holds_weights_alone_and_does_a_third_of_the_flop():
    preset = Preset.of(PLAIN | {"inter_bandwidth": 1e18, "intra_bandwidth": 1e18})
    spec = priced(preset, "1f1b", 4, 8, forward_only=True)
    found = units(spec, preset)
    assert found.mfu_causal == pytest.approx(0.5 * 8 / (8 + 3), rel=1e-5)
    assert found.memory.ranks == pytest.approx([2 * 2 * 12 * 64 * 64] * 4)


def test_a_plan_fits_exactly_up_to_the_machines_memory():
    spec = priced(Preset.of(PLAIN), "1f1b", 4, 8)
    most = units(spec, Preset.of(PLAIN)).memory.most
    assert units(spec, Preset.of(PLAIN | {"memory": most})).memory.fits
    assert not units(spec, Preset.of(PLAIN | {"memory": most - 1})).memory.fits


CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"family": "1f1b", "p": 4, "m": 8}, {"model": "llama3-70b", "tp": 8, "data": 64, "zero": 1, "heads": False}),
    ({"family": "zb-h1", "p": 8, "m": 16}, {"model": "llama3-70b", "zero": 2, "data": 3, "context": 2, "fp8": True}),
    ({"family": "interleaved", "p": 4, "m": 8, "v": 4}, {"model": "gemma2-9b", "heads": True}),
    ({"family": "interleaved", "p": 4, "m": 8, "v": 2, "offload": "selective"}, {"model": "gemma2-9b"}),
    ({"family": "v-half", "p": 6, "m": 18}, {"model": "deepseek-v3", "mtp": 1, "data": 8, "zero": 3, "expert": 8}),
    ({"family": "dualpipe", "p": 8, "m": 20}, {"model": "deepseek-v3", "heads": True}),
    ({"family": "1f1b", "p": 4, "m": 8, "vocabulary": "parallel-1"}, {"model": "zb-6.2b", "heads": True}),
    ({"family": "1f1b", "p": 4, "m": 8, "vocabulary": "redistribute"}, {"model": "zb-6.2b", "heads": True}),
    ({"family": "pipedream", "p": 4, "m": 8, "weights": 0.7}, {"model": "zb-6.2b"}),
    ({"family": "pipedream", "p": 4, "m": 8}, {"model": "zb-6.2b"}),
    ({"family": "gpipe", "p": 4, "m": 8, "recompute": "selective"}, {"model": "zb-1.5b"}),
    ({"family": "1f1b", "p": 4, "m": 8, "recompute": "full"}, {"model": "zb-1.5b", "tp": 2}),
    (
        {"family": "interleaved", "p": 4, "m": 8, "v": 2, "recompute": ["full", "none"], "offload": ["none", "full"]},
        {"model": "zb-1.5b"},
    ),
    ({"family": "interleaved", "p": 8, "m": 16, "v": 4, "recompute": "full"}, {"model": "llama3-8b"}),
    ({"family": "v-half", "p": 4, "m": 12, "recompute": "selective"}, {"model": "gemma2-9b"}),
    ({"family": "dualpipev", "p": 2, "m": 8}, {"model": "zb-1.5b"}),
    ({"family": "interleaved", "p": 4, "m": 8, "forward_only": True}, {"model": "zb-1.5b", "heads": True}),
    (
        {"family": "gis", "p": 4, "m": 8, "v": 2, "frozen": [0, 1, 6], "offload": "full"},
        {"model": "gemma2-9b", "tp": 2},
    ),
    ({"family": "1f1b", "p": 4, "m": 8, "frozen": 2, "vocabulary": "parallel-1"}, {"model": "zb-6.2b"}),
    ({"family": "zb-auto", "p": 4, "m": 8, "frozen": [3]}, {"model": "deepseek-v3", "data": 8, "zero": 1}),
]


@needs_node
def test_the_page_computes_the_same_figures_as_the_server():
    asked, expected = [], []
    for shape, fields in CASES:
        preset = Preset.of(fields)
        spec = preset.priced(registry.read(shape))
        answer = preset.estimate(spec).as_dict()
        wire = base64.b64encode(encode(registry.order(spec), spec.to_json())).decode()
        asked.append({"wire": wire, "priced": answer})
        expected.append(units(spec, preset))
    for ours, page in zip(expected, answers("step_units", asked), strict=True):
        for name, key in (
            ("seconds",) * 2,
            ("tail",) * 2,
            ("tokens",) * 2,
            ("mfu",) * 2,
            ("rate",) * 2,
            ("mfu_causal", "mfuCausal"),
            ("devices",) * 2,
        ):
            assert page[key] == pytest.approx(getattr(ours, name), rel=1e-12)
        memory = page["memory"]
        assert memory["ranks"] == pytest.approx(ours.memory.ranks, rel=1e-12)
        assert (memory["rank"], memory["fits"], memory["limit"]) == (
            ours.memory.rank, ours.memory.fits, ours.memory.limit,
        )  # fmt: skip
        sums = np.array([part["ranks"] for part in memory["parts"]]).sum(0)
        assert sums == pytest.approx(ours.memory.ranks, rel=1e-12)


@pytest.mark.parametrize(
    "fields", [{"model": "deepseek-v3", "mtp": 1, "context": 2}, {"model": "zb-6.2b", "efficiency": 0.4}]
)
def test_compiled_formulas_have_the_values_of_their_trees_to_the_last_bit(fields: dict[str, Any]) -> None:
    ledger = estimate(Setting.read({"p": 8, "v": 2, "tp": 8} | fields)).ledger
    assert len(ledger.figures) > 50
    for figure in ledger.figures:
        assert evaluate(parse(figure.source), ledger.names) == figure.value
