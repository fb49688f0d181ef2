"""Frozen stages: orders without the ops that they do not need, their times and memory, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import RequestError
from backend.schedule.analysis.compare import compare
from backend.schedule.errors import OrderError, SpecError
from backend.schedule.families.apply_options import takes_frozen
from backend.schedule.families.registry import FAMILIES, family_of, order, read
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.options.frozen import untrained
from backend.schedule.order.ops import halves
from backend.schedule.order.wire import decode, encode
from backend.schedule.result import result
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from runner.job.plan import plan
from runner.protocol import Run
from tests.support.strategies import few, specs

TAKING = sorted(name for name, family in FAMILIES.items() if takes_frozen(family))


@few(15)
@given(st.sampled_from(TAKING).flatmap(lambda name: specs(name, max_p=5, max_m=8)), st.data())
def test_an_order_has_only_the_ops_that_its_trained_stages_need(spec: Spec, data: st.DataObject) -> None:
    stages = family_of(spec).stages(spec)
    frozen = data.draw(st.sets(st.integers(0, stages - 1), max_size=stages - 1))
    whole, made = order(spec), spec.with_(frozen=tuple(sorted(frozen)) or None)
    built = order(made)
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
        {"family": "dualpipe", "frozen": 1},
        {"family": "v-auto", "frozen": 1}, {"frozen": 1, "forward_only": True}, {"frozen": 1, "offload": "full"},
        {"frozen": 1, "vocabulary": "parallel-1"},
    ],
)  # fmt: skip
def test_what_frozen_stages_do_not_go_with_is_refused_by_their_field(data: dict[str, Any]) -> None:
    with pytest.raises(SpecError) as caught:
        read(data)
    assert caught.value.field == "frozen"


def test_a_model_and_a_run_refuse_frozen_stages_and_a_file_without_backwards_stays_wrong() -> None:
    spec = read({"frozen": 1, "p": 2, "m": 2})
    for refusing in (
        lambda: Preset.of({"model": "zb-1.5b"}).priced(spec),
        lambda: plan(Run("a", "", json.loads(json.dumps(spec.to_json())))),
    ):
        with pytest.raises(RequestError) as caught:
            refusing()
        assert caught.value.field == "frozen"
    with pytest.raises(OrderError, match="rank 0 never does 0B0"):
        check(replace(order(spec), untrained=frozenset()))
    uneven = spec.with_(costs=Costs(W=(3.0, 5.0)))
    assert uneven.timing.W == (0.0, 5.0)
