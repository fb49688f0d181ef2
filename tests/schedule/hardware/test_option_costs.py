"""Costs of the options for a model and a machine: PipeOffload's k, shards of the output layer, weight versions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule import result
from backend.schedule.families import registry
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.estimate import Estimate, estimate
from backend.schedule.spec import Spec


def of(**data: object) -> Estimate:
    return estimate(Setting.read(data))


@given(
    hidden=st.sampled_from([1024, 4096, 8192]),
    sequence=st.sampled_from([1024, 4096, 32768]),
    rate=st.floats(1e14, 1e15),
    link=st.floats(5e9, 1e11),
)
def test_k_is_pipeoffloads_for_the_papers_layer_with_all_of_its_tensors(
    hidden: int, sequence: int, rate: float, link: float
) -> None:
    shape = {
        "hidden": hidden,
        "sequence": sequence,
        "attention_heads": 16,
        "kv_heads": None,
        "ffn": None,
        "layers": 32,
        "causal": False,
    }
    machine = {"machine": "custom", "flops": rate, "efficiency": 1.0, "host_bandwidth": link}
    found = of(model="custom", **shape, **machine)
    assert found.options.ratio == pytest.approx(34 / 20 * 10 / (3 * (6 * hidden + sequence)) * rate / link)


def test_k_is_what_the_schedule_needs_for_its_copies() -> None:
    found = of(model="llama3-70b", p=8, machine="a100", heads=False)
    costs = found.costs
    whole = sum(cost for cost in (costs.F, costs.I, costs.W) if not isinstance(cost, tuple))
    assert 2 * found.options.copy / whole == pytest.approx(found.options.ratio)


def test_the_shards_together_do_the_work_of_the_last_stage_alone() -> None:
    whole, spread = (of(model="gemma2-9b", p=6, heads=heads, efficiency=0.5) for heads in (True, False))
    products = [getattr(whole.costs, kind)[-1] - getattr(spread.costs, kind) for kind in "FIW"]
    assert products == pytest.approx([6 * spread.options.product] * 3)
    shards = spread.options.as_dict()["shards"]
    assert shards["parallel-2"] == {"S": shards["parallel-1"]["T"], "T": shards["parallel-1"]["S"]}


def test_a_sharded_output_layer_beats_the_whole_one_where_the_vocabulary_is_large() -> None:
    """Gemma2-9B's output layer is 4.6 layers, and a stage has 7: plain 1F1B waits for its last stage."""
    sizes = {"family": "1f1b", "p": 6, "m": 24}
    plain = of(model="gemma2-9b", p=6, heads=True).as_dict()["costs"]
    bare = of(model="gemma2-9b", p=6, heads=False).as_dict()
    sharded = bare["costs"] | bare["options"]["shards"]["parallel-2"]
    slow = result.result(registry.read(sizes | {"costs": plain}))
    fast = result.result(registry.read(sizes | {"costs": sharded, "vocabulary": "parallel-2"}))
    assert fast["makespan"] < 0.8 * slow["makespan"]


def test_every_figure_of_the_options_shows_its_arithmetic() -> None:
    figures = {figure["name"]: figure for figure in of().as_dict()["arithmetic"]}
    for name in ("copies to compute, PipeOffload's k", "one product of the output layer on one of p shards"):
        assert figures[name]["value"] > 0
        assert figures[name]["numbers"]


def test_a_weight_version_is_counted_in_activations() -> None:
    found = of(model="zb-6.2b", p=8, heads=False)
    share = found.options.weights
    device = found.footprint
    assert share == pytest.approx(2 * device.parameters[0] / device.activations[0])
    spec = Spec("pipedream", 8, 16, weights=share)
    assert result.result(spec)["peak_memory"][0] == pytest.approx(8 + 7 * share)
