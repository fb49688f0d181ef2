"""Options on top of every family: schedules stay valid and tight, and all memory is released at the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule import result
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.order import dependencies
from backend.schedule.order.copy_lanes import O, R
from backend.schedule.order.ops import Pair
from backend.schedule.order.order import Order
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import curve, peak_memory, peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import COST_KEYS, Spec
from tests.support.strategies import optioned


def run(spec: Spec) -> Timeline:
    return simulate(registry.order(spec), spec.timing, spec.v)


@given(spec=optioned())
def test_every_family_with_any_options_gives_a_valid_schedule(spec: Spec) -> None:
    built = registry.order(spec)
    check(built)
    names = [text for row in built.text() for text in row.split()]
    assert built.barriers == spec.barriers
    assert sum("F" in name for name in names) == spec.m * built.placement.stages  # pairs hold one F each
    assert sum(name.count("S") == 1 and "_" not in name for name in names) == (spec.barriers > 0) * spec.p * spec.m
    assert (built.copies is not None) <= (spec.offload != "none")


@given(spec=optioned())
def test_memory_is_never_negative_and_nothing_is_left_at_the_end(spec: Spec) -> None:
    timeline = run(spec)
    held = peak_memory(timeline, spec.w_share, spec.v, spec.kept, spec.weights or 0.0)
    for rank in range(spec.p):
        _, level = curve(timeline, rank, spec.w_share, spec.v, spec.kept, spec.weights or 0.0)
        assert level.min(initial=0.0) >= -1e-9
        assert level[-1] == pytest.approx(0.0, abs=1e-9)
        assert held[rank] == (level.max() if timeline.order.copies is not None else pytest.approx(level.max()))


@given(spec=optioned())
def test_every_law_that_says_exact_is_exact_with_options_too(spec: Spec) -> None:
    built = registry.order(spec)
    shown = figures(simulate(built, spec.timing, spec.v))
    for law in result.law_values(spec):
        if law["exact"]:
            whole = shown.makespan if law["window"] == "global" else shown.longest_stage
            idle = whole - shown.busy
            peak = float(peaks(built)[0].max())
            simulated = {"makespan": whole, "bubble": idle, "share": idle / whole, "peak": peak}
            assert simulated[law["quantity"]] == pytest.approx(law["value"], rel=1e-12, abs=1e-9), law


@given(spec=optioned())
def test_every_op_starts_at_the_latest_of_its_causes(spec: Spec) -> None:
    """The causes are worked out here anew, from op texts: barriers, reloads and the rank's previous op included."""
    timeline = run(spec)
    ended = ends(timeline)
    for rank in range(spec.p):
        start, end = timeline.rank(rank)
        for at, op in enumerate(timeline.order.row(rank)):
            before = end[at - 1] if at else 0.0
            halves = (op.forward, op.backward) if isinstance(op, Pair) else (op,)
            bounds = [before] + [when for half in halves for when in causes(timeline.order, spec, ended, rank, half)]
            assert start[at] == max(bounds), op


def ends(timeline: Timeline) -> dict[tuple[Any, ...], float]:
    """When every op and copy ended: by (kind, stage, micro), S and T by (kind, rank, micro); G is any gradient."""
    order, found = timeline.order, {}
    for rank in range(order.p):
        for op, end in zip(order.row(rank), timeline.rank(rank)[1].tolist(), strict=True):
            for half in (op.forward, op.backward) if isinstance(op, Pair) else (op,):
                key = (half.kind, rank if half.kind in "ST" else half.stage, half.micro)
                found[key] = end
                if half.kind in "IB":
                    found["G", half.stage, half.micro] = end
        if order.copies is not None:
            at = int(order.copies.offsets[rank])
            for kind, chunk, micro, _ in order.copies.row(rank, order.chunks):
                found["OR"[kind], order.placement.stage(rank, chunk), micro] = float(timeline.copy_end[at])
                at += 1
    return found


def causes(order: Order, spec: Spec, ended: dict[tuple[Any, ...], float], rank: int, op: Any) -> list[float]:
    place, hop = order.placement, spec.costs.comm
    stream = place.stream(rank, op.chunk)
    last = place.stages - 1

    def there(kind: str, stage: int) -> float:
        owner = int(place.slot_at[stream, stage]) // order.chunks
        return ended[kind, stage, op.micro] + (hop if owner != rank else 0.0)

    def barrier(kind: str) -> float:
        return max(ended[kind, each, op.micro] for each in range(order.p)) + (hop if order.p > 1 else 0.0)

    if op.kind == "F":
        return [there("F", op.stage - 1)] if op.stage else []
    if op.kind == "W":
        return [ended["I", op.stage, op.micro]]
    if op.kind == "S":
        return [there("F", last)]
    if op.kind == "T":
        return [barrier("S")]
    back = [ended["R", op.stage, op.micro]] if ("R", op.stage, op.micro) in ended else []
    if op.stage < last:
        return [there("G", op.stage + 1), *back]
    return [barrier({1: "S", 2: "T"}[order.barriers])] if order.barriers else [ended["F", op.stage, op.micro], *back]


@given(spec=optioned(), factor=st.sampled_from([0.5, 2.0, 8.0]))
def test_all_costs_scaled_scale_every_time(spec: Spec, factor: float) -> None:
    built, costs = registry.order(spec), spec.timing
    scaled = Costs(**{name: scale(getattr(costs, name), factor) for name in COST_KEYS})
    once, more = simulate(built, costs, spec.v), simulate(built, scaled, spec.v)
    assert np.array_equal(once.end * factor, more.end)
    assert np.array_equal(once.copy_end * factor, more.copy_end)


def scale(cost: Any, factor: float) -> Any:
    if cost is None:
        return None
    return tuple(each * factor for each in cost) if isinstance(cost, tuple) else cost * factor


@given(spec=optioned(), name=st.sampled_from(["S", "T", "O", "comm"]), more=st.integers(1, 9))
def test_no_op_of_a_given_order_gets_earlier_when_a_cost_grows(spec: Spec, name: str, more: int) -> None:
    built, costs = registry.order(spec), spec.timing
    now = getattr(costs, name) or 0.0
    grown = scale_or_add(now, float(more))
    before, after = simulate(built, costs, spec.v), simulate(built, replace(costs, **{name: grown}), spec.v)
    assert (after.end >= before.end).all()


def scale_or_add(cost: Any, more: float) -> Any:
    return tuple(each + more for each in cost) if isinstance(cost, tuple) else cost + more


@given(data=st.data())
def test_a_mutated_order_with_barriers_is_always_caught(data: st.DataObject) -> None:
    spec = Spec("1f1b", data.draw(st.integers(2, 5)), data.draw(st.integers(2, 8)), vocabulary="parallel-1")
    built = registry.order(spec)
    at = data.draw(st.integers(0, len(built) - 1))
    rank = int(np.searchsorted(built.offsets, at, "right")) - 1
    codes, offsets = np.delete(built.codes, at), built.offsets.copy()
    offsets[rank + 1 :] -= 1
    with pytest.raises(ValueError, match="rank"):
        check(replace(built, codes=codes, offsets=offsets))


@pytest.mark.parametrize(("first", "second"), [("S", "T"), ("F", "B")])
def test_t_before_s_and_b_before_f_are_caught(first: str, second: str) -> None:
    built = registry.order(Spec("1f1b", 3, 4, vocabulary="parallel-2"))
    texts = [op.text() for op in built.row(0)]
    i, j = texts.index(f"0{first}1"), texts.index(f"0{second}1")
    codes = built.codes.copy()
    codes[i], codes[j] = codes[j], codes[i]
    with pytest.raises(ValueError, match="rank"):
        check(replace(built, codes=codes))


def test_barriers_that_wait_for_each_other_are_reported_as_a_deadlock() -> None:
    built = registry.order(Spec("1f1b", 2, 1, vocabulary="parallel-1"))
    rows = [[op.text() for op in built.row(rank)] for rank in range(2)]
    assert rows[1].index("1T0") < rows[1].index("1B0")
    codes = built.codes.copy()
    at = int(built.offsets[1])
    i, j = at + rows[1].index("1T0"), at + rows[1].index("1B0")
    codes[i:j], codes[j] = built.codes[i + 1 : j + 1], built.codes[i]  # rank 1 wants C2 before it does its own T
    with pytest.raises(ValueError, match="deadlock") as caught:
        check(replace(built, codes=codes))
    assert "1T0" in str(caught.value)


def changed(built: Order, rank: int, **columns: Any) -> Order:
    assert built.copies is not None
    return replace(built, copies=replace(built.copies, **columns))


@pytest.mark.parametrize("what", ["dropped", "doubled", "early", "late", "first"])
def test_a_mutated_copy_is_always_caught(what: str) -> None:
    built = registry.order(Spec("gis", 2, 4, 2, offload="full", costs=Costs(O=0.3)))
    copies = built.copies
    assert copies is not None
    codes, offsets, issued = copies.codes.copy(), copies.offsets.copy(), copies.issued.copy()
    row = copies.row(0, 2)
    out = next(k for k, (kind, *_) in enumerate(row) if kind == O)
    home = next(k for k, (kind, *_) in enumerate(row) if kind == R)
    if what == "dropped":
        codes, issued = np.delete(codes, home), np.delete(issued, home)
        offsets[1:] -= 1
    elif what == "doubled":
        codes, issued = np.insert(codes, home, codes[home]), np.insert(issued, home, issued[home])
        offsets[1:] += 1
    elif what == "early":
        issued[out] = 0
    elif what == "late":
        issued[home : offsets[1]] = built.offsets[1]
    else:
        codes[out], codes[home] = codes[home], codes[out]
    with pytest.raises(ValueError, match="rank 0"):
        check(changed(built, 0, codes=codes, offsets=offsets, issued=issued))


BAD = [
    ({"vocabulary": "sharded"}, "vocabulary", "plain"),
    ({"vocabulary": "parallel-1", "family": "dualpipe", "p": 4, "m": 8}, "vocabulary", "plain"),
    ({"vocabulary": "interlaced", "family": "zb-h1"}, "vocabulary", "plain"),
    ({"vocabulary": "parallel-1", "family": "gpipe", "lifo": True}, "lifo", False),
    ({"vocabulary": "redistribute", "costs": {"F": [1, 1, 1, 1]}}, "vocabulary", "plain"),
    ({"offload": "all"}, "offload", "none"),
    ({"offload": "full", "family": "gpipe"}, "offload", "none"),
    ({"offload": "full", "vocabulary": "parallel-1"}, "offload", "none"),
    ({"family": "gis", "offload": "full", "recompute": "full"}, "offload", "none"),
    ({"shared_link": True}, "shared_link", False),
    ({"family": "gis", "p": 3, "m": 6, "offload": "full", "shared_link": True}, "shared_link", False),
    ({"layers": [1, 2]}, "layers", [0, 1, 1, 1]),
    ({"layers": [0, 0, 0, 0]}, "layers", None),
    ({"layers": [1, 1, 1, 1], "costs": {"F": [1, 1, 1, 1]}}, "layers", None),
    ({"layers": "many"}, "layers", None),
    ({"weights": 1}, "weights", None),
    ({"weights": -1, "family": "pipedream"}, "weights", 0.0),
    ({"costs": {"S": -1}}, "S", 0.0),
    ({"costs": {"O": "slow"}}, "O", 0.0),
]


@pytest.mark.parametrize(("data", "field", "nearest"), BAD)
def test_incompatible_options_are_refused_with_advice(data: dict[str, Any], field: str, nearest: Any) -> None:
    with pytest.raises(SpecError) as caught:
        registry.read(data)
    assert (caught.value.field, caught.value.nearest) == (field, nearest)
    if nearest is not None and field not in ("S", "O"):
        registry.read(data | {field: nearest})


@given(spec=optioned())
def test_a_spec_with_options_is_read_back_as_it_was(spec: Spec) -> None:
    assert registry.read(spec.to_json()) == spec


def test_the_rule_of_barriers_in_words() -> None:
    place = registry.order(Spec("1f1b", 3, 3)).placement
    rule = dependencies.rules(place, 2)
    s, t, backward = 5, 6, 3
    assert rule.need[:, s, 0].tolist() == [4, 4, 4]  # S needs the last stage's F,
    assert rule.hops[:, s, 0].tolist() == [1, 1, 0]  # which C0 broadcasts
    assert rule.need[:, t, 0].tolist() == [rule.joins] * 3  # T needs C1
    assert rule.need[2, backward, 0] == rule.joins + 1  # the last backward C2,
    assert dependencies.rules(place, 1).need[2, backward, 0] == rule.joins  # or C1 where there is only one barrier


def test_stashed_weights_are_added_to_activations() -> None:
    spec = Spec("pipedream", 4, 12, weights=0.5)
    plain = peaks(registry.order(spec))[1]
    held = result.result(spec)["weight_versions"]
    with_stash = peak_memory(run(spec), 1.0, 1, 1.0, 0.5)
    # At the peak an F has just begun, beside every version that those in flight keep; the newest is not counted.
    assert with_stash.tolist() == (plain + 0.5 * (np.array(held) - 1)).tolist()
