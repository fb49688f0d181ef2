"""Activation recomputation: the repeated forward takes time, and dropped activations use no memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule import result
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.options.recompute import MODES
from backend.schedule.order.op_columns import op_columns
from backend.schedule.order.ops import PAIR, F, Op
from backend.schedule.simulation.costs import Costs, leads
from backend.schedule.simulation.memory import curve, peaks
from backend.schedule.simulation.message_flow import producers
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.support import cases
from tests.support.strategies import specs


@given(spec=specs(max_p=6, max_m=14))
def test_full_recomputation_is_the_same_schedule_with_i_longer_by_f(spec: Spec) -> None:
    again = spec.with_(recompute="full")
    order = registry.order(again)
    costs = spec.costs
    longer = Costs(costs.F, costs.I + costs.F, costs.W, costs.comm)  # type: ignore[operator]
    assert order.text() == registry.order(spec.with_(costs=longer)).text()
    assert (simulate(order, again.timing, spec.v).end == simulate(order, longer, spec.v).end).all()
    assert result.law_values(again) == result.law_values(spec.with_(costs=longer))


@given(spec=specs(max_p=6, max_m=14), mode=st.sampled_from(["selective", "full"]), share=st.sampled_from([0.4324, 1.0]))
def test_recomputation_never_holds_more_memory_and_releases_all_of_it(spec: Spec, mode: str, share: float) -> None:
    again = spec.with_(recompute=mode, w_share=share)
    order = registry.order(again)
    timeline = simulate(order, again.timing, again.v)
    plain, less = peaks(order, share, again.v), peaks(order, share, again.v, again.kept)
    assert (less[0] == plain[0]).all()
    assert (less[1] <= plain[1] + 1e-9).all()
    for rank in range(order.p):
        level = curve(timeline, rank, share, again.v, again.kept)[1]
        assert level.min() > -1e-9
        assert abs(level[-1]) < 1e-9
        assert level.max() == pytest.approx(less[1][rank])


@pytest.mark.parametrize("mode", MODES)
def test_1f1b_holds_the_kept_part_of_all_micro_batches_except_one(mode: str) -> None:
    shape = result.result(Spec("1f1b", 4, 8, recompute=mode))
    kept = MODES[mode].kept
    assert shape["peak_memory"] == pytest.approx([(4 - r - 1) * kept + 1 for r in range(4)])
    assert shape["makespan"] == pytest.approx((8 + 3) * (3 + MODES[mode].extra))


def test_selective_recomputation_has_the_papers_shares_for_gpt_3() -> None:
    """Korthikanti et al.: 70 % of the activations for 2.7 % more FLOPs of the forward."""
    assert round(1 - MODES["selective"].kept, 2) == 0.70
    assert round(MODES["selective"].extra, 3) == 0.027


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"recompute": "some"}, "recompute"),
        ({"recompute": None}, "recompute"),
        ({"recompute": True}, "recompute"),
        ({"family": "dualpipev", "m": 8, "recompute": "full", "costs": {"FB": 3}}, "FB"),
        ({"recompute": "full", "costs": {"F": [1, 1, 1, 1]}}, "I"),
    ],
)
def test_options_incompatible_with_recomputation_are_refused(data: dict[str, object], field: str) -> None:
    with pytest.raises(SpecError) as caught:
        registry.read(data)
    assert caught.value.field == field


@given(p=st.integers(2, 8), m=st.integers(1, 24), f=st.integers(1, 9), b=st.integers(1, 9), r=st.integers(1, 9),
       hop=st.integers(0, 4))  # fmt: skip
def test_recomputation_ahead_of_the_gradient_hides_in_the_waits_of_1f1b(
    p: int, m: int, f: int, b: int, r: int, hop: int
) -> None:
    """m(F + R + B) + (p - 1)(F + B + 2c) where R covers the hops (Mario), and never longer than with the backward."""
    costs = Costs(F=float(f), I=float(b), W=0.0, R=float(r), comm=float(hop))
    plain = Spec("1f1b", p, m, recompute="full", costs=costs)
    ahead = registry.validate(plain.with_(recompute_at="ahead"))
    step, late = (float(simulate(registry.order(each), each.timing).end.max()) for each in (ahead, plain))
    assert step <= late
    if r >= 2 * hop:
        assert step == m * (f + r + b) + (p - 1) * (f + b + 2 * hop)
    law = next(each for each in result.law_values(ahead) if each["quantity"] == "bubble")
    assert law["exact"] == (r >= 2 * hop)


@given(
    sizes=st.lists(st.sampled_from([0.25, 0.8, 1.0, 1.7]), min_size=6, max_size=6),
    fixed=st.sampled_from([0.0, 0.4]),
    name=st.sampled_from(["1f1b", "zb-h1", "interleaved", "dualpipe"]),
)
def test_each_backward_recomputes_ahead_for_as_long_as_its_micro_batch_is_large(
    sizes: list[float], fixed: float, name: str
) -> None:
    spec = {"family": name, "p": 2, "m": 6, "recompute": "full", "sizes": sizes, "fixed": fixed}
    spec |= {"costs": {"F": 2.0, "I": 1.5, "W": 0.5, "comm": 0.25}}
    plain, ahead = registry.read(spec), registry.read(spec | {"recompute_at": "ahead"})
    order = registry.order(ahead)
    late, early = simulate(order, plain.timing, plain.v), simulate(order, ahead.timing, ahead.v)
    assert (early.end <= late.end + 1e-9).all()
    assert early.end - early.start == pytest.approx(late.end - late.start)
    lead, (made, crosses) = leads(order, ahead.timing, ahead.v), producers(order)
    scale = [fixed + (1.0 - fixed) * size for size in sizes]
    assert {round(each, 9) for each in lead[lead > 0.0].tolist()} <= {round(2.0 / ahead.v * each, 9) for each in scale}
    arrives = np.where(made >= 0, early.end[made] + 0.25 * crosses, 0.0)
    assert (early.start[:, None] >= arrives - lead - 1e-9).all()
    assert (early.end[:, None] >= arrives - 1e-9).all(), "no backward ends before its gradient is there"


@cases(
    "change, nearest",
    [({"recompute_at": "ahead"}, "backward"), ({"recompute_at": "early", "recompute": "full"}, "backward"),
     ({"recompute_at": "bubble", "recompute": "full", "family": "zb-auto"}, "ahead"),
     ({"recompute_at": "bubble", "recompute": "full", "offload": "selective"}, "ahead"),
     ({"recompute_at": "bubble", "recompute": ["full", "none"], "family": "interleaved", "v": 2}, "ahead"),
     ({"recompute_at": "bubble", "recompute": "full", "spared": 1}, "ahead"),
     ({"spared": 1}, 0), ({"spared": -1, "recompute": "full"}, 0),
     ({"spared": 1, "recompute": "full", "family": "zb-auto"}, 0),
     ({"spared": 1, "recompute": "selective", "offload": "full"}, 0)],
)  # fmt: skip
def test_what_cannot_run_ahead_or_be_spared_is_refused(change: dict[str, object], nearest: object) -> None:
    with pytest.raises(SpecError) as caught:
        registry.read({"family": "1f1b", "p": 4, "m": 8} | change)
    assert (caught.value.field, caught.value.nearest) == (next(iter(change)), nearest)


def test_where_as_many_are_spared_as_a_rank_holds_nothing_runs_again_also_beside_untrained_stages() -> None:
    spec = registry.validate(Spec("interleaved", 2, 8, 2, recompute="full", spared=2, frozen=(0, 1)))
    order, plain = registry.order(spec), spec.with_(recompute="none", spared=0)
    assert peaks(order)[0].max() == spec.spared
    assert (simulate(order, spec.timing, 2).end == simulate(order, plain.timing, 2).end).all()


@given(p=st.integers(1, 6), m=st.integers(1, 14), spared=st.integers(0, 7), at=st.sampled_from(["backward", "ahead"]))
def test_1f1b_spares_the_micro_batches_that_megatron_does(p: int, m: int, spared: int, at: str) -> None:
    """checkpoint_activations_microbatch = i % max_outstanding_backprops >= N, with one more outstanding than warm-up
    forwards (Megatron-LM, pipeline_parallel/schedules.py).
    """
    costs = Costs(F=1.0, I=1.0, W=1.0, R=2.5)
    spec = registry.validate(Spec("1f1b", p, m, recompute="full", recompute_at=at, spared=spared, costs=costs))
    timeline = simulate(registry.order(spec), spec.timing)
    held = result.memory_of(spec, timeline)
    kept = MODES["full"].kept
    for rank in range(p):
        outstanding, level, most = min(p - rank - 1, m) + 1, 0.0, 0.0
        start, end = timeline.rank(rank)
        for op, begun, ended in zip(timeline.order.row(rank), start, end, strict=True):
            assert isinstance(op, Op)
            again = op.micro % min(outstanding, m) >= spared
            took = {"F": 1.0, "B": 4.5 if again else 2.0}
            assert ended - begun == pytest.approx(took[op.kind])
            level += (kept if again else 1.0) if op.kind == "F" else (1.0 - kept if again else 0.0)
            most = max(most, level)
            level -= 1.0 if op.kind == "B" else 0.0
        assert held[rank] == pytest.approx(most)


@given(p=st.integers(2, 7), v=st.integers(2, 3), groups=st.integers(1, 4))
def test_interleaved_recomputes_in_the_bubble_what_mindspeed_does(p: int, v: int, groups: int) -> None:
    """Of the chunks in flight, one more than warm-up forwards, rank r keeps v p; the others are forwards of chunk
    0 from the second group on (MindSpeed, core/pipeline_parallel/ripipe_schedules.py, --recompute-in-bubble).
    """
    spec = Spec("interleaved", p, groups * p, v, recompute="full", recompute_at="bubble")
    timeline = simulate(registry.order(registry.validate(spec)), spec.timing, v)
    again = timeline.recomputation
    assert again is not None
    plain = spec.with_(recompute="none", recompute_at="backward")
    columns = op_columns(timeline.order)
    for rank in range(p):
        own = columns.rank == rank
        runs_again = np.flatnonzero(own & np.isin(columns.kind, (F,)) & ~again.keeps)
        beyond = max(0, 2 * (p - 1 - rank) + (v - 1) * p + 1 - v * p)
        assert (columns.chunk[runs_again] == 0).all()
        assert (columns.micro[runs_again] >= p).all()
        assert np.array_equal(columns.micro[runs_again][:beyond], p + np.arange(beyond if groups > 1 else 0))
        if groups == 2:
            assert len(runs_again) == beyond
    assert max(result.memory_of(spec, timeline)) <= p * (1.0 + spec.kept)
    if groups <= 2:
        assert timeline.end.max() == simulate(timeline.order, plain.timing, v).end.max(), "all of it in waits"


@given(specs(max_p=5, max_m=12))
def test_what_is_recomputed_in_the_bubble_runs_again_once_after_its_forward_and_before_its_backward(spec: Spec) -> None:
    more = {"recompute": "full", "offload": "none", "shared_link": False}
    try:
        bubble, ahead = (registry.validate(spec.with_(recompute_at=at, **more)) for at in ("bubble", "ahead"))
        plain = registry.validate(spec.with_(offload="none", shared_link=False))
    except SpecError:
        return  # of a search, or costs of pairs
    order = registry.order(bubble)
    ours, most, least = (simulate(order, each.timing, each.v) for each in (bubble, ahead, plain))
    again = ours.recomputation
    assert again is not None
    rank, _, kind, chunk, micro, back, second = op_columns(order)
    needs, pair = again.before >= 0, kind == PAIR
    assert len(set(again.before[needs].tolist())) == needs.sum(), "one in front of an op"
    made = {(r, c, k): x for x, (r, c, k) in enumerate(zip(rank, chunk, micro, strict=True)) if kind[x] in (F, PAIR)}
    for x in np.flatnonzero(needs):
        of = (rank[x], back[x] if pair[x] else chunk[x], second[x] if pair[x] else micro[x])
        assert made[of] < again.before[x] <= x
        assert not again.keeps[made[of]]
    assert ours.busy().sum() <= most.busy().sum() + 1e-6
    assert ours.busy().sum() >= least.busy().sum() - 1e-6
    held, whole = (np.array(result.memory_of(*each)) for each in ((bubble, ours), (plain, least)))
    assert (held <= whole + 1e-9).all()
    for each in range(order.p):
        assert abs(curve(ours, each, bubble.w_share, bubble.v, bubble.kept)[1][-1:].sum()) < 1e-9


@given(specs(max_p=4, max_m=8), st.sampled_from(["backward", "ahead"]))
def test_to_spare_all_is_to_recompute_nothing(spec: Spec, at: str) -> None:
    again = {"recompute": "full", "recompute_at": at}
    try:
        all_of, none = (registry.validate(spec.with_(spared=count, **again)) for count in (10**6, 0))
        plain = registry.validate(spec.with_(recompute="none"))
    except SpecError:
        return  # costs of pairs, or copies
    order = registry.order(plain)
    ours, theirs, slow = (simulate(order, each.timing, each.v) for each in (all_of, plain, none))
    assert ours.end == pytest.approx(theirs.end)
    assert result.memory_of(all_of, ours) == pytest.approx(result.memory_of(plain, theirs))
    assert (ours.end <= slow.end + 1e-9).all()


@pytest.mark.parametrize("sizes", [None, "lognormal:0.3:1"])
def test_a_search_counts_what_runs_ahead_of_the_gradient(sizes: str | None) -> None:
    asked = {"family": "zb-auto", "p": 4, "m": 10, "recompute": "full", "recompute_at": "ahead", "sizes": sizes}
    quick = registry.read(asked | {"costs": {"F": 1.0, "I": 1.0, "W": 1.0, "comm": 0.2}})
    found, first = result.result(quick.with_(effort=20_000)), result.result(quick)
    assert first["certificate"]["optimal"] if sizes is None else found["longest_stage"] < first["longest_stage"]
    assert found["certificate"]["lower_bound"] <= found["longest_stage"] * (1.0 + 1e-9)
    late = result.result(quick.with_(recompute_at="backward", effort=20_000))
    assert found["longest_stage"] < late["certificate"]["lower_bound"], "no order that waits is as short"


@pytest.mark.parametrize(("given", "field"), [("F", "I"), ("I", "F")])
def test_a_list_of_one_cost_alone_is_refused_with_the_list_of_the_other(given: str, field: str) -> None:
    costs = {"F": 3.0, "I": 4.0} | {given: [1.0] * 8}
    data = {"family": "interleaved", "p": 4, "m": 8, "v": 2, "recompute": "full", "costs": costs}
    with pytest.raises(SpecError) as caught:
        registry.read(data)
    other = costs[field]
    assert (caught.value.field, caught.value.value) == (field, other)
    assert caught.value.nearest == [other / 2] * 8  # type: ignore[operator]
    assert registry.read(data | {"costs": costs | {field: caught.value.nearest}})
