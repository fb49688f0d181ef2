"""Frozen stages: orders without the ops that they do not need, their times and memory, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.address.query import query_of, spec_of
from backend.runs.imported_run import run_of
from backend.runs.run_files import calibrated
from backend.runs.run_order import order_of
from backend.schedule.analysis.compare import compare
from backend.schedule.errors import OrderError, SpecError
from backend.schedule.families import imported
from backend.schedule.families.apply_options import takes_frozen
from backend.schedule.families.registry import FAMILIES, family_of, order, read
from backend.schedule.families.searched import proved
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.interop import torch_csv
from backend.schedule.interop.traces import chrome, chrome_export
from backend.schedule.options.frozen import untrained
from backend.schedule.order.ops import halves
from backend.schedule.order.order import same_order
from backend.schedule.order.wire import decode, encode
from backend.schedule.partial_order.recognition import spec_like
from backend.schedule.result import result
from backend.schedule.search.bounds import lower_bound
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support.strategies import few, specs

TAKING = sorted(name for name, family in FAMILIES.items() if takes_frozen(family))


@few(15)
@given(st.sampled_from(TAKING).flatmap(lambda name: specs(name, max_p=5, max_m=8)), st.data())
def test_an_order_has_only_the_ops_that_its_trained_stages_need(spec: Spec, data: st.DataObject) -> None:
    stages = family_of(spec).stages(spec)
    frozen = data.draw(st.sets(st.integers(0, stages - 1), max_size=stages - 1))
    made = spec.with_(frozen=tuple(sorted(frozen)) or None)
    whole, built = family_of(made).order(made), order(made)  # of a search, at the costs of what is left
    alone = untrained(made.frozen)
    check(built)

    def kept(op: Any) -> str | None:
        if (op.stage in alone and op.kind != "F") or (op.stage in frozen and op.kind == "W"):
            return None
        return (replace(op, kind="B") if op.stage in frozen and op.kind == "I" else op).text()

    for rank in range(spec.p):
        ops = [op for each in whole.row(rank) for op in halves(each)]
        assert [each.text() for each in built.row(rank)] == [text for op in ops if (text := kept(op))]
    timeline = simulate(built, made.timing, made.v)
    assert timeline.end.max() <= simulate(whole, spec.timing, spec.v).end.max() + 1e-9
    shown = result(made)
    sent = int(producers(built)[1].sum()) if spec.p > 1 else 0
    row = compare(made, [spec.family], spec.v)["rows"][0]
    assert (row["spec"], row["messages"]) == (made.to_json(), sent)
    again = decode(encode(built, made.to_json()))
    assert np.array_equal(again.codes, built.codes)
    held = imported.spec_of(built)  # read by what it shows; read again with all stages that are frozen
    assert untrained(spec_of(query_of(held).encode()).frozen) == built.untrained == order(held).untrained
    kept = read(held.with_(frozen=made.frozen, costs=made.costs).to_json())
    assert np.array_equal(simulate(order(kept), kept.timing, kept.v).end, timeline.end)
    free = [all(stage in alone for stage in built.placement.stage_of[rank].tolist()) for rank in range(spec.p)]
    assert [peak == 0 for peak in shown["peak_memory"]] == free


def test_the_first_stage_of_1f1b_frozen_holds_nothing_and_the_second_trains_as_before() -> None:
    shown = result(read({"family": "1f1b", "frozen": 1}))
    assert shown["spec"]["frozen"] == [0]
    assert shown["peak_memory"] == [0, 3, 2, 1]
    assert shown["order"][0] == " ".join(f"0F{k}" for k in range(8))
    assert shown["order"][1] == result(Spec())["order"][1]
    assert (shown["law"], shown["laws"]) == (None, [])


def test_a_frozen_stage_after_a_trained_one_does_its_input_gradient_alone() -> None:
    shown = result(read({"family": "zb-h1", "frozen": [2], "costs": {"F": 1, "I": 2, "W": 4}}), times=True)
    ops = shown["order"][2].split()
    spans = [end - start for start, end in zip(shown["start"][2], shown["end"][2], strict=True)]
    assert {op[1]: span for op, span in zip(ops, spans, strict=True)} == {"F": 1, "B": 2}


def test_another_cut_of_the_model_freezes_the_same_part() -> None:
    rows = compare(Spec("1f1b", 4, 8, frozen=(0, 1)), ["1f1b", "interleaved", "dualpipe"])
    assert [row["spec"]["frozen"] for row in rows["rows"]] == [[0, 1], [0, 1, 2, 3]]
    assert any("DualPipe is left out" in note for note in rows["notes"])


@pytest.mark.parametrize(
    "data",
    [
        {"frozen": 4}, {"frozen": [4]}, {"frozen": -1}, {"frozen": "0"}, {"frozen": [0.5]},
        {"family": "dualpipe", "frozen": 1}, {"family": "pipedream", "frozen": 1}, {"frozen": 1, "forward_only": True},
    ],
)  # fmt: skip
def test_what_frozen_stages_do_not_go_with_is_refused_by_their_field(data: dict[str, Any]) -> None:
    with pytest.raises(SpecError) as caught:
        read(data)
    assert caught.value.field == "frozen"


def test_files_in_which_the_first_stages_have_no_backward_are_read_as_written_and_others_stay_wrong() -> None:
    spec = read({"frozen": 2})
    built = order(spec)
    found = torch_csv.read_file(torch_csv.dump(built))
    trace = chrome.load(chrome_export.trace(simulate(built, spec.timing), ""))
    assert trace.timeline is not None
    for each in (found.order, trace.timeline.order, order(imported.spec_of(built))):
        assert same_order(each, built)
        assert each.untrained == {0, 1}
    notes = [note.code for note in (*found.notes, *trace.notes)]
    assert notes == ["schedule.read_as_frozen"] * 2
    assert spec_like(trace.timeline.order, spec.costs) == spec
    rows = [row.split() for row in built.text()]
    for rank, op in ((2, "2B3"), (1, "1F3"), (3, "3B3")):
        lacking = [[each for each in row if each != op or at != rank] for at, row in enumerate(rows)]
        with pytest.raises(OrderError, match=f"rank {rank} never does {op}"):
            torch_csv.read("\n".join(map(",".join, lacking)))
    with pytest.raises(OrderError, match="rank 1 never does 1B1"):
        torch_csv.read("\n".join(map(",".join, [rows[0], [*rows[1], "1B0"], *rows[2:]])))
    with pytest.raises(OrderError, match="rank 1 never does 1B0"):
        torch_csv.read("0F0,0B0\n1F0\n2F0,2B0")
    for frozen in (None, [0], [1], [0, 1, 2, 3]):
        with pytest.raises(SpecError) as caught:
            read(imported.spec_of(built).to_json() | {"frozen": frozen})
        assert caught.value.field == "frozen"
    with pytest.raises(OrderError, match="rank 0 never does 0B0"):  # an answer to a task trains every stage
        check(replace(built, untrained=frozenset()))


def test_a_run_of_another_order_than_its_costs_would_give_keeps_its_frozen_stages() -> None:
    spec = read({"family": "zb-auto", "frozen": [0, 2], "effort": 1})
    trace = chrome.load(chrome_export.trace(simulate(order(spec), spec.timing), ""))
    run = run_of("", 0.0, "", spec, trace)
    found = calibrated(run, order_of(run))
    assert (found["spec"]["family"], found["spec"]["frozen"]) == ("imported", [0, 2])
    assert found["error"] == pytest.approx(0.0, abs=1e-9)


def test_a_prove_of_frozen_stages_is_refused() -> None:
    spec = read({"frozen": 1, "p": 2, "m": 2})
    uneven = spec.with_(costs=Costs(W=(3.0, 5.0)))
    assert uneven.timing.W == (0.0, 5.0)
    made = read({"family": "zb-auto", "p": 2, "m": 2, "frozen": 1})
    with pytest.raises(SpecError) as caught:
        proved(made, family_of(made), order(made))
    assert (caught.value.field, caught.value.nearest) == ("prove", False)


@pytest.mark.parametrize("name", ["zb-auto", "v-auto", "chimera-auto"])
def test_the_bound_of_a_searched_order_with_untrained_stages_is_below_each_order(name: str) -> None:
    spec = read({"family": name, "p": 4, "m": 8, "frozen": 2, "costs": {"F": 1, "I": 1.2, "W": 0.7, "comm": 0.3}})
    problem = family_of(spec).problem
    assert problem is not None
    bound = lower_bound(problem(spec).instance)
    assert bound.name == "work"
    assert bound.value <= figures(simulate(order(spec), spec.timing, spec.v)).longest_stage + 1e-9
    again = read(spec.to_json() | {"effort": 50})
    assert (
        simulate(order(again), again.timing, again.v).end.max() <= simulate(order(spec), spec.timing, spec.v).end.max()
    )


@pytest.mark.parametrize(("mode", "part"), [("parallel-1", 0.5), ("parallel-2", 0.0), ("interlaced", 0.5)])
def test_the_spread_output_layer_of_a_frozen_last_stage_has_no_weight_gradient(mode: str, part: float) -> None:
    spec = read({"frozen": [1, 3], "vocabulary": mode, "costs": {"S": 0.2, "T": 0.4}})
    assert 0.4 * part == spec.timing.T
    assert spec.with_(frozen=(1,)).timing.T == 0.4
    built = order(spec)
    check(built)
    ops = [op.text() for rank in range(4) for op in built.row(rank)]
    assert {f"3T{k}" for k in range(8)} <= set(ops) or sum("T" in op for op in ops) == 4 * 8
    assert "1B0" in ops


def test_copies_are_of_the_stages_that_keep_something() -> None:
    spec = read({"family": "gis", "v": 2, "frozen": [0, 1, 2, 3, 5], "offload": "full", "costs": {"O": 0.1}})
    built = order(spec)
    check(built)
    assert built.copies is not None
    copied = {(rank, chunk) for rank in range(4) for _, chunk, _, _ in built.copies.row(rank, 2)}
    assert copied <= {(rank, 1) for rank in range(4)}
    assert copied


MODEL = Preset.of({"model": "llama3-8b", "machine": "h100", "tp": 2, "data": 4, "zero": 1, "heads": False})


def test_a_model_has_neither_gradients_nor_optimizer_nor_kept_activations_of_frozen_stages() -> None:
    plain = Spec("zb-h1", 4, 8)
    whole, first, later = (plain.with_(frozen=frozen) for frozen in (None, (0, 1), (2,)))
    units = [
        MODEL.units(priced, simulate(order(priced), priced.timing))
        for priced in map(MODEL.priced, (whole, first, later))
    ]
    memory = [one.memory for one in units if one is not None]
    kept = MODEL.estimate(whole).footprint
    weights = kept.stages["weights"][0] + kept.reserve
    assert memory[1].ranks[:2] == (weights, weights)
    assert memory[1].ranks[3] == memory[0].ranks[3]
    assert memory[1].activations[:2] == (0.0, 0.0)
    frozen, layers = MODEL.estimate(later).footprint, 8
    assert [frozen.stages[state][2] for state in ("weights", "gradients", "optimizer")] == [
        kept.stages["weights"][2],
        0,
        0,
    ]
    # of Llama's layer, sequence parallel: the inputs of both norms, Q, K, V, the attention's output, gate and up
    tokens, hidden, keys, ffn, tp = 8192, 4096, 1024, 14336, 2
    assert frozen.stages["activations"][2] == layers * 2 * tokens * (2 * hidden + 2 * hidden + 2 * keys + 2 * ffn) / tp
    assert frozen.stages["activations"][1] == kept.stages["activations"][1]
    assert units[1].seconds < units[0].seconds
    assert units[2].seconds <= units[0].seconds
    assert units[1].tail == pytest.approx(units[0].tail)


def test_the_utilization_counts_what_is_computed_and_all_but_one_stage_frozen_shorten_the_tail() -> None:
    found = MODEL.estimate(Spec("1f1b", 4, 8, frozen=(0, 1, 3)))
    names = found.ledger.names
    f, i, w = (names[f"{letter}1"] for letter in "FIW")
    flop = MODEL.estimate(Spec("1f1b", 4, 8)).flop
    assert found.flop["layers"] == pytest.approx(flop["layers"] * (4 * f + 2 * i + w) / (4 * (f + i + w)))
    assert found.flop["masked"] == pytest.approx(flop["masked"] * (4 + 2 * 2) / 12)
    heads = Preset.of(dict(MODEL.fields) | {"heads": True})
    ends = heads.estimate(Spec("1f1b", 4, 8, frozen=(0, 3)))
    assert ends.tail < heads.estimate(Spec("1f1b", 4, 8)).tail
    assert ends.flop["output"] == pytest.approx(flop["output"] * 2 / 3)
    spread = heads.estimate(Spec("1f1b", 4, 8, frozen=(0,), vocabulary="parallel-1")).footprint.table
    assert spread["optimizer"][0] == 0.0 < spread["optimizer"][1]
    assert spread["weights"][0] == spread["weights"][1]
    with pytest.raises(SpecError) as caught:
        Setting.read({"model": "llama3-8b", "p": 4, "frozen": [4]})
    assert caught.value.field == "frozen"
