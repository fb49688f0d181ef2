"""Costs from a model and a machine: presets, times, bytes, and their arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.hardware.cost_model import KEYS, Setting, even
from backend.schedule.hardware.estimate import Estimate, estimate
from backend.schedule.hardware.machines import MACHINES
from backend.schedule.hardware.models import ALIASES, MODELS
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.ratios import PRINTED
from backend.schedule.laws.formula import evaluate, parse
from backend.schedule.result import result
from backend.schedule.simulation.simulate import simulate

TOTALS = {  # parameters in all, as their makers state, in 1e9: (stored, activated)
    "llama3-8b": (8.03, 8.03), "llama3-70b": (70.6, 70.6), "llama3.1-405b": (405, 405), "gemma2-9b": (9.24, 9.24),
    "gemma2-27b": (27.2, 27.2), "qwen2-7b": (7.62, 7.62), "qwen2-72b": (72.7, 72.7), "deepseek-v3": (671, 37),
    "mixtral-8x7b": (46.7, 12.9), "mixtral-8x22b": (141, 39), "cm-9.6b": (9.6, 9.6), "cm-21b": (21, 21),
    "cm-38.5b": (38.5, 38.5),
}  # fmt: skip
TABLE_9 = {"zb-1.5b": (18.522, 18.086, 9.337), "zb-6.2b": (29.718, 29.444, 19.927)}  # f, i, w in ms at m = 24
PLAIN = {"model": "custom", "machine": "custom", "flops": 1e12, "efficiency": 0.5, "hidden": 64, "attention_heads": 4,
         "layers": 8, "sequence": 32, "vocabulary": 1000, "flash": False, "p": 4, "heads": False,
         "reserve": 0}  # fmt: skip
PLAIN_HEADS = {"kv_heads": 4}
UNEVEN = PLAIN | {"vocabulary": 3000, "heads": True, "layers": 12}


def of(**data: Any) -> Estimate:
    return estimate(Setting.read(data))


@pytest.mark.parametrize("name", TOTALS)
def test_a_preset_has_the_parameters_that_its_makers_state_within_two_percent(name: str):
    found = of(model=name, p=1)
    model, names = MODELS[name], found.ledger.names
    tables = (1 if model.tied else 2) * names["O"]
    stored, activated = TOTALS[name]
    both = [sum(kind.count * names[letter + kind.suffix] for kind in model.kinds) + tables for letter in "QN"]
    assert both == pytest.approx([stored * 1e9, activated * 1e9], rel=0.02)
    figures = {figure.name: figure.value for figure in found.ledger.figures}
    assert figures["parameters of the model"] == both[0]


def test_the_printed_table_has_its_ten_ratios_and_names_presets_beside_it():
    assert len(PRINTED) == 10
    for row in PRINTED:
        assert round(row.hidden * row.vocabulary / (row.millions * 1e6), 2) == row.ratio
        assert MODELS[row.model].hidden == row.hidden
    gemma = next(row for row in PRINTED if row.title == "Gemma2-9B")
    assert round(of(model="gemma2-9b").vocabulary_ratio, 2) == gemma.ratio == 4.63


def test_wide_heads_are_wider_than_a_share_of_the_hidden_size():
    plain, wide = (of(**PLAIN, **PLAIN_HEADS, head_width=width) for width in (16, 32))
    attention = 2 * 64 * 64 + 2 * 64 * 4 * 16
    assert plain.ledger.names["N"] == attention + 2 * 64 * 256 == of(**PLAIN, **PLAIN_HEADS).ledger.names["N"]
    assert wide.ledger.names["N"] == 2 * attention + 2 * 64 * 256
    assert wide.ledger.names["F1"] - 2 * 32 * wide.ledger.names["N"] == 4 * 32 * 32 * 4 * 32


@pytest.mark.parametrize(("old", "new"), ALIASES.items())
def test_a_name_that_a_preset_had_before_still_means_it(old: str, new: str):
    assert Setting.read({"model": old.upper()}) == Setting.read({"model": new})


@pytest.mark.parametrize("name", ["cm-9.6b", "cm-21b", "cm-38.5b"])
def test_the_models_of_controllable_memory_leave_room_for_embedding_and_head_on_the_outer_stages(name: str):
    p = {"cm-9.6b": 16, "cm-21b": 24, "cm-38.5b": 32}[name]
    layers = Setting.read({"model": name, "p": p, "v": 2, "heads": True}).layers
    assert layers == (0, *(1,) * (2 * p - 2), 0)
    assert Setting.read({"model": name, "p": p, "heads": True}).layers == (1, *(2,) * (p - 2), 1)


@pytest.mark.parametrize("name", MODELS)
def test_costs_of_every_preset_can_be_computed_on_every_machine(name: str):
    for machine in MACHINES:
        found = of(model=name, machine=machine)
        assert min(found.costs.F) > 0  # type: ignore[type-var,arg-type]
        assert 0 < found.footprint.w_share <= 1


@pytest.mark.parametrize(
    "data",
    [{}, {"heads": True, "v": 2}, {"model": "zb-1.5b"}, {"model": "gemma2-9b"},
     {"model": "deepseek-v3", "tp": 8, "zero": 2, "data": 4, "expert": 32, "mtp": 1, "p": 16, "fp8": True},
     {"model": "mixtral-8x7b", "tp": 2, "context": 2, "expert": 4, "efficiency": 0.4}, PLAIN, UNEVEN,
     {"model": "custom", "ffn": 11008, "gated": True, "kv_heads": 8, "causal": False, "calibration": 1.1}],
)  # fmt: skip
def test_every_figure_equals_the_value_of_its_formula(data: dict[str, Any]):
    found = of(**data)
    for figure in found.ledger.figures:
        assert evaluate(parse(figure.formula), found.ledger.names) == figure.value, figure.name
        assert figure.numbers
        assert figure.symbol is None or found.ledger.names[figure.symbol] == figure.value


def test_a_layer_has_the_cost_given_in_the_papers():
    s, b, h = 32, 1, 64
    found = of(**PLAIN)
    ms = 1000 / (0.5 * 1e12)
    per_device = 2  # 8 layers on 4 devices
    flop = [s * b * h * (24 * h + 4 * s), s * b * h * (24 * h + 8 * s), 24 * s * b * h * h]
    times = [found.costs.F, found.costs.I, found.costs.W]
    assert times == pytest.approx([per_device * each * ms for each in flop], rel=1e-14)
    assert found.as_dict()["counted"].startswith("the papers' layer")


@pytest.mark.parametrize(
    ("changes", "parameters"),
    [
        ({"kv_heads": 2}, 2 * 64 * 64 + 2 * 64 * 32 + 2 * 64 * 256),
        ({"ffn": 100}, 4 * 64 * 64 + 2 * 64 * 100),
        ({"ffn": 100, "gated": True}, 4 * 64 * 64 + 3 * 64 * 100),
        ({"experts": 8, "experts_per_token": 2, "ffn": 100}, 4 * 64 * 64 + 64 * 8 + 2 * 2 * 64 * 100),
        ({"experts": 8, "expert_ffn": 50, "shared_experts": 1}, 4 * 64 * 64 + 64 * 8 + 2 * 2 * 64 * 50),
        (
            {"kv_rank": 20, "rope_width": 4, "value_width": 8, "query_rank": 30},
            64 * 30 + 30 * 4 * 20 + 64 * 24 + 20 * 4 * 24 + 64 * 32 + 2 * 64 * 256,
        ),
    ],
)
def test_other_layers_cost_two_flop_per_token_and_parameter(changes: dict[str, Any], parameters: float):
    found = of(**PLAIN, **changes)
    assert found.ledger.names["N"] == parameters
    assert found.ledger.names["W1"] == 2 * 32 * parameters
    width = 16 + 4 + 8 if "kv_rank" in changes else 2 * 16
    assert found.ledger.names["F1"] == 2 * 32 * parameters + 2 * 32 * 32 * 4 * width


def test_the_output_layer_takes_6bshv_and_the_embedding_3bsh_on_their_own_stages():
    plain, heavy = of(**PLAIN), of(**PLAIN | {"heads": True})
    sums = [
        sum(sum(c) if isinstance(c, tuple) else 4 * c for c in (e.costs.F, e.costs.I, e.costs.W))
        for e in (plain, heavy)
    ]
    extra = 6 * 32 * 64 * 1000 + 3 * 32 * 64
    assert sums[1] - sums[0] == pytest.approx(extra * 1000 / (0.5 * 1e12), rel=1e-9)
    stages = heavy.costs.W
    assert isinstance(stages, tuple)
    assert stages[1] == stages[2] < stages[0] < stages[3]


def test_a_stage_may_have_no_layer_and_then_takes_no_time_and_only_the_reserve():
    found = of(**PLAIN | {"layers": [4, 0, 4, 0]})
    assert isinstance(found.costs.F, tuple)
    assert found.costs.F[1::2] == (0.0, 0.0)
    assert found.footprint.memory[1] == 0.0


def test_equal_stages_are_one_number_and_uneven_ones_one_number_per_stage():
    assert isinstance(of(**PLAIN, v=2).costs.F, float)
    uneven = of(**PLAIN | {"layers": 7})
    assert isinstance(uneven.costs.F, tuple)
    assert uneven.setting.layers == (2, 2, 2, 1)
    turned = of(**PLAIN | {"layers": [1, 2, 2, 2]}).costs
    assert uneven.costs.F[::-1] == turned.F


def test_chunks_do_not_change_the_cost_of_a_device():
    assert of(**PLAIN, v=2).costs == of(**PLAIN, v=1).costs


@pytest.mark.parametrize(("layers", "p", "v", "split"), [(61, 8, 1, (8,) * 5 + (7,) * 3), (5, 2, 2, (2, 1, 1, 1))])
def test_layers_are_split_evenly_the_larger_shares_first(layers: int, p: int, v: int, split: tuple[int, ...]):
    assert even(layers, p, v) == split


def test_a_hop_takes_latency_and_the_message_over_the_link():
    inside = of(model="zb-6.2b", machine="a100", p=8)
    between = of(model="zb-6.2b", machine="a100", p=16)
    message = 1024 * 3 * 4096 * 2
    assert inside.footprint.message == message
    assert inside.costs.comm == pytest.approx(1000 * (message / 300e9 + 5e-6), rel=1e-14)
    assert between.costs.comm == pytest.approx(1000 * (message / 25e9 + 10e-6), rel=1e-14)
    assert of(model="zb-6.2b", machine="a100", p=8, link="inter").costs.comm == between.costs.comm


def test_tensor_parallelism_alone_leaves_ten_sbh_and_sequence_parallelism_divides_them_and_the_hop():
    one, four, split = of(**PLAIN), of(**PLAIN, tp=4, sequence_parallel=False), of(**PLAIN, tp=4)
    times = [four.costs.F, four.costs.I, four.costs.W]
    assert times == pytest.approx([each / 4 for each in (one.costs.F, one.costs.I, one.costs.W)], rel=1e-14)
    s, h, a = 32, 64, 4
    assert four.footprint.layer["activations"] == s * h * 16 + 5 * a * s * s / 4
    assert split.footprint.layer["activations"] == one.footprint.layer["activations"] / 4
    assert (four.footprint.message, split.footprint.message) == (2 * s * h, 2 * s * h / 4)
    assert four.footprint.memory[0] < one.footprint.memory[0]
    states = [of(**PLAIN, tp=tp, in_flight=0).footprint.memory[0] for tp in (1, 4)]
    assert states[1] == states[0] / 4


@pytest.mark.parametrize(("name", "b", "layers"), [("zb-1.5b", 6, 3), ("zb-6.2b", 3, 4)])
def test_activations_are_the_zero_bubble_papers_m_b_and_m_w(name: str, b: int, layers: int):
    """Table 2: M_B = sb(34h+5as), M_W = 32sbh a layer."""
    model, s = MODELS[name], 1024
    m_b = s * b * (34 * model.hidden + 5 * model.attention_heads * s)
    m_w = 32 * s * b * model.hidden
    found = of(model=name, p=8, heads=False).footprint
    assert found.activations == (layers * m_b,) * 8
    assert found.w_share == m_w / m_b
    assert found.kept[0] == pytest.approx(layers * m_w, rel=1e-15)
    flash = of(model=name, p=8, flash=True, heads=False).footprint
    assert flash.activations == (layers * 34 * s * b * model.hidden,) * 8
    assert flash.w_share == 32 / 34


def test_counted_flop_agree_with_measured_forwards_but_overstate_measured_weight_gradients():
    """Table 9 against the count: i/f within ten percent, w/f as counted is 1.4 to 1.9 times the measured one."""
    for name, (f, i, w) in TABLE_9.items():
        found = of(model=name, machine="a100", p=8, heads=False, efficiency=0.45).costs
        assert isinstance(found.F, float)
        assert isinstance(found.I, float)
        assert isinstance(found.W, float)
        assert abs((found.I / found.F) / (i / f) - 1) < 0.10
        assert 1.4 < (found.W / found.F) / (w / f) < 1.9
        assert 0.4 < 0.45 * found.F / f < 0.6  # the efficiency at which the forward would be exact


def test_memory_is_the_bytes_of_each_parameter_the_reserve_and_the_micro_batches_in_flight():
    found = of(**PLAIN, in_flight=3).footprint
    assert found.memory[0] == 18 * 2 * 12 * 64 * 64 + 3 * found.activations[0]
    chosen = of(**PLAIN | {"reserve": 7}, in_flight=0, gradient_bytes=2, optimizer_bytes=8, weight_bytes=1).footprint
    assert chosen.memory[0] == 11 * 2 * 12 * 64 * 64 + 7
    heavy = of(**PLAIN | {"heads": True}, in_flight=0).footprint
    assert heavy.memory[0] - heavy.memory[1] == 18 * 64 * 1000
    assert heavy.memory[3] == heavy.memory[0]
    assert of(**PLAIN).footprint.in_flight == (4, 3, 2, 1)  # of 1F1B
    assert of(**PLAIN, in_flight=[3, 0, 1, 2]).footprint.memory[1] == 18 * 2 * 12 * 64 * 64
    with pytest.raises(SpecError, match="one entry per device: 4 here, not 2"):
        of(**PLAIN, in_flight=[1, 2])


def test_the_default_memory_is_that_of_1f1b_and_of_interleaved_1f1b() -> None:
    """As by the simulated schedules, the logits of the last device with the chunk that makes them."""
    for v, family in ((1, "1f1b"), (2, "interleaved"), (4, "interleaved")):
        for fields in ({"model": "llama3-8b"}, {"model": "gemma2-9b", "layers": 64}, {"model": "custom", "tp": 2}):
            spec = registry.read({"family": family, "p": 8, "m": 32, "v": v})
            timeline = simulate(registry.order(spec), spec.timing, v)
            held = Preset.of(fields).units(spec.with_(w_share=1.0), timeline)
            assert held is not None
            assert of(**fields, p=8, v=v).footprint.memory == pytest.approx(held.memory.ranks, rel=1e-9)


def test_tied_tables_are_one_on_a_device_that_has_both() -> None:
    """Of one device, of a V, of a shared output layer, and of no more than one on devices apart."""
    for p, placement, tables in ((1, "looped", 1), (2, "looped", 2), (2, "v", 1)):
        fields = {"model": "gemma2-9b", "p": p, "v": 2 if p > 1 else 1, "placement": placement}
        apart = sum(of(**fields).footprint.parameters) - sum(of(**fields, heads=False).footprint.parameters)
        assert apart == tables * 256000 * 3584
    preset = Preset.of({"model": "gemma2-9b", "reserve": 0})
    for shape, tables in (({"family": "1f1b", "p": 1}, 1), ({"family": "v-half", "p": 2, "m": 8}, 1),
                          ({"family": "1f1b", "p": 2}, 2), ({"family": "dualpipe", "p": 2, "m": 8}, 2),
                          ({"family": "1f1b", "p": 2, "vocabulary": "parallel-1"}, 1)):  # fmt: skip
        spec = registry.read(shape)
        step = preset.units(spec, simulate(registry.order(spec), spec.timing, spec.v))
        assert step is not None
        memory = step.memory
        copies = 2 if shape["family"] == "dualpipe" else 1
        layers = copies * 42 * 198180864 * 18
        assert sum(memory.ranks) - sum(memory.activations) - layers == pytest.approx(
            tables * 18 * 256000 * 3584, rel=1e-3
        )


def test_experts_without_devices_of_their_own_are_split_and_gathered_as_a_dense_layer() -> None:
    dense, split = (of(model=name, p=4, tp=8) for name in ("llama3-8b", "mixtral-8x7b"))
    lines = {str(fig.name): fig.formula for fig in split.ledger.figures}
    assert lines["collectives of tensor parallelism"].startswith("1000*4*")
    assert lines["product: first products of the experts"] == "1000*R/G*2*(s*b*E/R + o)*(h + o)*(2*de/t + o)/(mu*P)"
    assert split.ledger.names["l0"] == pytest.approx(dense.ledger.names["l0"] / 2, rel=0.05)  # half the sequence
    own = of(model="mixtral-8x7b", p=4, tp=8, expert=8)
    assert own.ledger.names["l0"] == pytest.approx(split.ledger.names["l0"] / 2)


def test_on_a_v_the_first_device_keeps_both_embedding_and_output_layer():
    found = of(**PLAIN | {"heads": True}, v=2, in_flight=0, placement="v").footprint
    assert found.memory[0] - found.memory[1] == 18 * 2 * 64 * 1000
    assert found.memory[3] == found.memory[1]
    shares = of(**PLAIN | {"layers": [1, 1, 1, 2, 1, 1, 1, 3]}, v=2, in_flight=0, placement="v").footprint.parameters
    assert [share / shares[1] for share in shares] == [2, 1, 1, 1.5]


def test_inactive_experts_take_memory_and_no_time():
    few, many = (of(**PLAIN, experts=number, experts_per_token=2) for number in (2, 16))
    router = 2 * 32 * 64 * 14  # FLOP of the other experts' scores
    assert many.ledger.names["F1"] - few.ledger.names["F1"] == router
    layer = 2 * 64 * 256
    assert many.footprint.parameters[0] - few.footprint.parameters[0] == 2 * 14 * (layer + 64)


def test_a_model_fits_exactly_up_to_the_machines_memory():
    need = max(of(**PLAIN).footprint.memory)
    assert of(**PLAIN, memory=need).footprint.fits
    assert not of(**PLAIN, memory=need - 1).footprint.fits


BAD = [  # data, the field named, its nearest legal value
    ({"model": "llama3-9b"}, "model", "llama3-8b"),
    ({"model": "gpt4"}, "model", "llama3-8b"),  # like none: the first
    ({"model": "gpt-175b"}, "model", "gpt3-175b"),
    ({"model": 3}, "model", "llama3-8b"),
    ({"machine": "h1000"}, "machine", "h100"),
    ({"hiden": 3}, "hiden", "hidden"),
    ({"p": 0}, "p", 1),
    ({"p": 64, "heads": False}, "p", 32),
    ({"p": 8, "v": 5}, "v", 4),
    ({"tp": 16}, "tp", 8),
    ({"tp": True}, "tp", 1),
    ({"efficiency": 0}, "efficiency", 1e-3),
    ({"efficiency": 1.5}, "efficiency", 1.0),
    ({"efficiency": float("nan")}, "efficiency", 1e-3),
    ({"heads": 1}, "heads", False),
    ({"layers": 0, "p": 1}, "layers", 1),
    ({"layers": [4] * 7}, "layers", [4, 3, 3, 4, 4, 3, 3, 4]),
    ({"layers": [*[1] * 7, 0.5]}, "layers", [*[1] * 7, 0]),
    ({"kv_heads": 5}, "kv_heads", 4),
    ({"kv_heads": 64}, "kv_heads", 32),
    ({"model": "mixtral-8x7b", "experts_per_token": 9}, "experts_per_token", 8),
    ({"shared_experts": 2}, "shared_experts", 0),
    ({"rope_width": 64}, "rope_width", 0),
    ({"tp": 3}, "tp", 2),
    ({"fp8": True, "machine": "a100"}, "fp8", False),
    ({"expert": 2}, "expert", 1),
    ({"model": "mixtral-8x7b", "expert": 3, "data": 4}, "expert", 2),
    ({"sequence_parallel": 2}, "sequence_parallel", False),
    ({"gradient_bytes": -1}, "gradient_bytes", 0.0),
    ({"reserve": -1}, "reserve", 0.0),
    ({"calibration": 0}, "calibration", 0.01),
    ({"model": "mixtral-8x7b", "capacity": 0}, "capacity", 0.01),
    ({"nics": 0}, "nics", 1),
    ({"head_width": 0}, "head_width", 1),
    ({"data": 0}, "data", 1),
    ({"data": 5000}, "data", 4096),
    ({"zero": 4}, "zero", 3),
    ({"zero": 1.5}, "zero", 2),
    ({"sequence": -1}, "sequence", 1),
    ({"hidden": None}, "hidden", 1),
    ({"flash": "yes"}, "flash", False),
    ({"flops": float("inf")}, "flops", 1e6),
    ({"memory": 1}, "memory", 1e3),
    ({"link": "wifi"}, "link", "auto"),
    ({"placement": "w"}, "placement", "looped"),
    ({"in_flight": -1}, "in_flight", 0.0),
]


@pytest.mark.parametrize(("data", "field", "nearest"), BAD, ids=[f"{field}-{k}" for k, (_, field, _) in enumerate(BAD)])
def test_a_bad_value_is_refused_with_its_field_and_the_nearest_legal_one(data, field, nearest):
    with pytest.raises(SpecError) as caught:
        Setting.read(data)
    assert (caught.value.field, caught.value.nearest) == (field, nearest)
    if nearest is not None and field in KEYS and not isinstance(data[field], list):
        Setting.read(data | {field: nearest})


def test_costs_fit_into_a_spec():
    found = of(model="llama3-70b", heads=True, p=4).as_dict()
    shape = result(registry.read({"family": "zb-h1", "p": 4, "m": 8, "costs": found["costs"],
                                  "w_share": found["w_share"]}))  # fmt: skip
    assert shape["spec"]["costs"] == found["costs"]


def test_the_note_of_a_model_says_what_of_the_values_used_is_assumed_and_what_is_changed():
    def note(**fields: Any) -> str:
        return Setting.read({"model": "qwen2-7b", **fields}).model.whole_note

    published = "Published configuration, 7.62B parameters."
    assert note() == f"{published} Assumed: sequence 4096, micro_batch 1."
    assert note(sequence=8192) == f"{published} Assumed: micro_batch 1."
    assert note(sequence=8192, micro_batch=1, hidden=7168) == f"{published} Changed: hidden 7168."
    assert Setting.read({"model": "custom", "hidden": 64}).model.whole_note == "Every field is yours to set."
