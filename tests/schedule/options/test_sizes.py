"""Micro-batches that differ: times, memory and laws, the order of entry, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.address.query import query_of, spec_of
from backend.schedule.analysis.compare import compare
from backend.schedule.analysis.sweep import resized
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.registry import FAMILIES, order, read, validate
from backend.schedule.families.zero_bubble.zb_auto import limit
from backend.schedule.options import entry
from backend.schedule.options.sizes import DEALS, dealt, entry_order, sizes_of
from backend.schedule.result import law_values, memory_of, result
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec
from tests.support import cases
from tests.support.strategies import few, optioned

SIZE = st.floats(0.1, 4.0)


def timed(spec: Spec) -> Timeline:
    return simulate(order(spec), spec.timing, spec.v)


@st.composite
def sized(draw: st.DrawFn, spec: Spec) -> Spec:
    sizes = tuple(draw(st.lists(SIZE, min_size=spec.m, max_size=spec.m)))
    injection = draw(st.sampled_from(["given", "mountain"]) | st.permutations(range(spec.m)).map(tuple))
    return validate(spec.with_(sizes=sizes, fixed=draw(st.sampled_from([0.0, 0.25, 1.0])), injection=injection))


@given(spec=optioned())
def test_micro_batches_of_size_one_change_nothing(spec: Spec) -> None:
    alike = validate(spec.with_(sizes=(1.0,) * spec.m, injection="mountain"))
    ours, theirs = timed(alike), timed(spec)
    assert np.array_equal(ours.start, theirs.start)
    assert np.array_equal(ours.copy_end, theirs.copy_end)
    assert memory_of(alike, ours) == pytest.approx(memory_of(spec, theirs), abs=1e-9)


@given(spec=optioned(), factor=st.sampled_from([0.5, 2.0, 4.0]))
def test_all_micro_batches_twice_as_large_take_twice_as_long_and_hold_twice_as_much(spec: Spec, factor: float) -> None:
    spec = spec.with_(weights=None)
    costs = spec.costs
    larger = validate(spec.with_(sizes=(factor,) * spec.m))
    hops = validate(larger.with_(costs=costs.__class__(**(vars(costs) | {"comm": costs.comm * factor}))))
    if order(hops).text() == order(spec).text():  # where no construction is shaped by the hops
        assert np.array_equal(timed(hops).end, factor * timed(spec).end)
    ours = memory_of(larger, timed(larger)) if spec.offload == "none" else []
    assert ours == pytest.approx([factor * each for each in memory_of(spec, timed(spec))][: len(ours)])


@given(data=st.data(), spec=optioned())
def test_an_op_takes_its_cost_times_what_its_size_makes_of_it(data: st.DataObject, spec: Spec) -> None:
    spec = data.draw(sized(spec))
    plain = spec.with_(sizes=None, fixed=0.0, injection="given")
    ours, theirs = timed(spec), simulate(order(spec), plain.timing, spec.v)
    assert spec.timing.__class__.__name__ == "SizedCosts"
    spent, usual = ours.end - ours.start, theirs.end - theirs.start
    scale = getattr(spec.timing, "scale")  # noqa: B009  # only sized costs have it
    assert (spent >= min(scale) * usual - 1e-9).all()
    assert (spent <= max(scale) * usual + 1e-9).all()
    if FAMILIES[spec.family].problem is None:
        assert order(spec).text() == order(plain).text(), "the order of ops is that of equal micro-batches"


@given(data=st.data(), p=st.integers(1, 9), m=st.integers(1, 12), hop=st.sampled_from([0.0, 0.5]))
def test_the_law_of_forwards_alone_holds_for_any_sizes_in_any_order(
    data: st.DataObject, p: int, m: int, hop: float
) -> None:
    costs = {"F": 1.5, "comm": hop}
    spec = data.draw(sized(read({"family": "1f1b", "p": p, "m": m, "forward_only": True, "costs": costs})))
    law = next(law for law in law_values(spec) if law["quantity"] == "makespan")
    assert law["exact"]
    assert law["value"] == pytest.approx(timed(spec).end.max())


@given(data=st.data(), m=st.integers(1, 9))
def test_gpipe_holds_all_micro_batches_at_once(data: st.DataObject, m: int) -> None:
    spec = data.draw(sized(Spec("gpipe", 3, m)))
    assert memory_of(spec, timed(spec)) == pytest.approx([sum(spec.timing.sizes)] * 3)  # type: ignore[attr-defined]


def test_no_law_of_equal_micro_batches_is_shown_for_different_ones() -> None:
    for name, family in FAMILIES.items():
        spec = read({"family": name, "p": 4, "m": 8, "sizes": "lognormal:0.3:1"})
        assert {law["quantity"] for law in law_values(spec)} <= {"peak"}, family.title


# Mean cost of a step over one of equal micro-batches, F = 1, B = 2, in percent: of sizes as they come, and in the
# mountain order. Figures of 60 draws of another generator, which differ from draw to draw by a tenth of them.
COSTS = [(4, 16, 0.1, 6.7, -0.5), (8, 64, 0.1, 12.0, -0.1), (4, 16, 0.3, 24.1, 1.5), (8, 64, 0.3, 41.1, 2.6)]


@pytest.mark.parametrize(("p", "m", "sigma", "given_cost", "mountain_cost"), COSTS)
def test_what_different_micro_batches_cost_1f1b_and_what_the_mountain_order_leaves_of_it(
    p: int, m: int, sigma: float, given_cost: float, mountain_cost: float
) -> None:
    step = timed(Spec("1f1b", p, m)).end.max()
    for injection, cost in (("given", given_cost), ("mountain", mountain_cost)):
        drawn = [Spec("1f1b", p, m, sizes=f"lognormal:{sigma}:{seed}", injection=injection) for seed in range(40)]
        mean = 100 * (np.mean([timed(spec).end.max() for spec in drawn]) / step - 1)
        assert mean == pytest.approx(cost, rel=0.2, abs=2.0)


def test_a_mountain_rises_by_every_other_size_and_falls_by_the_rest() -> None:
    assert entry_order((5.0, 1.0, 4.0, 2.0, 3.0), "mountain") == (1, 4, 0, 2, 3)
    assert entry_order((1.0, 1.0, 1.0), "mountain") == (0, 2, 1), "equal ones as they come"


def entries_of_one_long(m: int, long: int) -> list[tuple[int, ...]]:
    """All orders of entry that differ where all micro-batches but one are alike."""
    others = [micro for micro in range(m) if micro != long]
    return [(*others[:at], long, *others[at:]) for at in range(m)]


@pytest.mark.parametrize(
    "fields",
    [
        {"family": "1f1b", "p": 3, "m": 5},
        {"family": "zb-h1", "p": 2, "m": 5},
        {"family": "dualpipe", "p": 4, "m": 8, "sizes": [1, 2, 1, 1, 1, 1, 1, 1]},
        {"family": "gis", "p": 2, "m": 4, "v": 2, "offload": "full"},
    ],
    ids=lambda fields: fields["family"],
)
def test_of_few_micro_batches_a_search_finds_the_fastest_of_all_orders_of_entry(fields: dict[str, object]) -> None:
    spec = read({"sizes": "lognormal:.6:2", "injection": "searched"} | fields)
    found = validate(spec.with_(injection="given"))
    all_of_them = permutations(range(spec.m)) if spec.m < 6 else entries_of_one_long(spec.m, 1)

    def step(entry: Sequence[int]) -> float:
        return float(simulate(order(found), found.with_(injection=tuple(entry)).timing, spec.v).end.max())

    assert sorted(spec.injection) == list(range(spec.m))
    assert step(cast(Sequence[int], spec.injection)) == pytest.approx(min(map(step, all_of_them)))


@given(data=st.data(), spec=optioned(max_p=3, max_m=6))
@few(8)
def test_a_search_is_never_slower_than_a_mountain_and_finds_the_same_again(data: st.DataObject, spec: Spec) -> None:
    spec = data.draw(sized(spec))
    asked = spec.with_(injection="searched")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry, "MOST_TRIES", 100)  # however few there are
        found = validate(asked)
        registry._with_entry.cache_clear()
        again = read(asked.to_json())
        registry._with_entry.cache_clear()
    assert found == again == validate(found), "what was found is in the spec"
    steps = [
        float(simulate(order(each), each.timing, each.v).end.max())
        for each in (found, *(validate(spec.with_(injection=word)) for word in ("given", "mountain")))
    ]
    assert steps[0] <= min(steps)


def test_rules_give_sizes_of_mean_one_that_a_seed_repeats() -> None:
    drawn = sizes_of("lognormal:0.3:7", 512)
    assert np.mean(drawn) == pytest.approx(1.0, abs=1e-3)
    assert np.std(np.log(drawn)) == pytest.approx(0.3, abs=0.03)
    assert drawn == sizes_of("lognormal:0.3:7", 512) != sizes_of("lognormal:0.3:8", 512)
    assert sizes_of("tokens:1:0:100,300", 2) == (0.5, 1.5)
    assert sizes_of("tokens:0:1:100,300", 2) == (0.2, 1.8)


def test_a_link_has_sizes_in_short_and_reads_them_back() -> None:
    for sizes, text in (
        ((1.0, 1.2, 0.8), "1,1.2,0.8"),
        ((1.0,) * 3, "3*1"),
        ("lognormal:.3:7", "lognormal:0.3:7"),
        ("tokens:1:2e-4:512,1024,2048", "tokens:1:0.0002:512,1024,2048"),
    ):
        spec = read({"family": "1f1b", "m": 3, "sizes": sizes, "injection": "mountain"})
        assert f"sizes={text}&" in query_of(spec)
        assert spec_of(query_of(spec).encode()) == spec
    assert spec_of(b"m=1&sizes=.8").sizes == (0.8,)


REFUSED = [
    ({"sizes": [1, 2]}, "sizes", [1.0, 2.0, 2.0]),
    ({"sizes": [1, 0, 1]}, "sizes", [1.0, 1e-4, 1.0]),
    ({"sizes": []}, "sizes", "lognormal:0.3:1"),
    ({"sizes": "lognormal:3:1"}, "sizes", "lognormal:0.3:1"),
    ({"sizes": "lognormal:0.3:1.5"}, "sizes", "lognormal:0.3:1"),
    ({"sizes": "lognormal:0.3"}, "sizes", "lognormal:0.3:1"),
    ({"sizes": "tokens:0:0:1,2,3"}, "sizes", "lognormal:0.3:1"),
    ({"sizes": "tokens:1:0:1,x,3"}, "sizes", "lognormal:0.3:1"),
    ({"sizes": "tokens:1:0:1,2"}, "sizes", [0.667, 1.333, 1.333]),
    ({"fixed": 0.5}, "fixed", 0.0),
    ({"injection": "mountain"}, "injection", "given"),
    ({"sizes": [1, 2, 3], "injection": [0, 1]}, "injection", "mountain"),
    ({"sizes": [1, 2, 3], "injection": [0, 1, 1]}, "injection", "given"),
    ({"sizes": [1, 2, 3], "injection": "sorted"}, "injection", "given"),
    ({"sizes": "lognormal:.3:1", "replicas": 2, "injection": "searched"}, "injection", "mountain"),
    ({"injection": "searched"}, "injection", "given"),
    ({"sizes": [1, 2, 3], "fixed": 1.5}, "fixed", 1.0),
]


@pytest.mark.parametrize(("data", "field", "nearest"), REFUSED, ids=str)
def test_what_is_illegal_is_refused_by_its_field_with_the_nearest_legal_value(
    data: dict[str, object], field: str, nearest: object
) -> None:
    with pytest.raises(SpecError) as caught:
        read({"family": "1f1b", "p": 2, "m": 3} | data)
    assert (caught.value.field, caught.value.nearest) == (field, nearest)
    if "fixed" not in data and "injection" not in data:
        assert read({"family": "1f1b", "p": 2, "m": 3, field: nearest}).sizes is not None


@pytest.mark.parametrize("name", ["zb-auto", "v-auto", "chimera-auto"])
def test_a_searched_order_keeps_its_limit_with_the_sizes_of_its_micro_batches_and_more_effort_only_improves_it(
    name: str,
) -> None:
    quick = read({"family": name, "p": 4, "m": 12, "memory": 2.5, "sizes": "lognormal:0.3:1", "injection": "mountain"})
    results = [result(each) for each in (quick, quick.with_(effort=6_000))]
    for each in results:
        assert max(each["peak_memory"]) <= 2.5 + 1e-9
        assert each["longest_stage"] >= each["certificate"]["lower_bound"] > 0.0
    assert results[1]["longest_stage"] < results[0]["longest_stage"]
    with pytest.raises(SpecError) as caught:
        order(quick.with_(memory=1.2))
    assert (caught.value.field, caught.value.nearest) == ("memory", max(sizes_of(quick.sizes or (), 12)))


def test_the_limit_of_a_search_is_by_default_what_1f1b_holds_of_these_sizes() -> None:
    spec = read({"family": "zb-auto", "p": 3, "m": 9, "sizes": "lognormal:0.5:4"})
    classic = spec.with_(family="1f1b")
    assert limit(spec) == pytest.approx(max(memory_of(classic, timed(classic))))


def test_an_entry_searched_for_a_searched_order_is_no_slower_than_the_named_ones() -> None:
    asked = {"family": "zb-auto", "p": 3, "m": 7, "sizes": "lognormal:0.6:2"}
    step = {word: timed(read(asked | {"injection": word})).end.max() for word in ("searched", "mountain", "given")}
    assert step["searched"] == min(step.values())


def test_sizes_go_with_other_numbers_of_micro_batches_in_charts_and_comparisons() -> None:
    spec = read({"family": "1f1b", "p": 4, "m": 4, "sizes": [1, 2, 0.5, 0.5], "injection": [3, 2, 1, 0]})
    assert resized(spec, 4, 6).sizes == (1.0, 2.0, 0.5, 0.5, 1.0, 2.0)
    assert resized(spec, 4, 6).injection == "given"
    assert resized(spec, 8, 4).injection == (3, 2, 1, 0)
    tokens = spec.with_(sizes="tokens:1:0:1,3,1,3", injection="mountain")
    assert resized(tokens, 4, 2).sizes == (0.5, 1.5)
    rows = compare(spec.with_(p=3))["rows"]
    assert len(rows) > 10, "families that need another m have as many sizes"
    assert all(len(row["spec"]["sizes"]) == row["spec"]["m"] for row in rows)


def test_a_result_names_its_sizes() -> None:
    found = result(Spec("1f1b", 2, 3, sizes=(1.0, 2.0, 0.5), injection="mountain"))
    assert found["spec"]["sizes"] == [1.0, 2.0, 0.5]
    assert found["spec"]["injection"] == "mountain"


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=24).filter(lambda each: len(each) % 3 == 0),
    deal=st.sampled_from(sorted(DEALS)),
)
def test_every_micro_batch_is_dealt_to_one_replica_and_each_has_as_many(sizes: list[int], deal: str) -> None:
    m = len(sizes) // 3
    shares = dealt(tuple(map(float, sizes)), m, 3, deal)
    assert [len(share) for share in shares] == [m] * 3
    assert sorted(size for share in shares for size in share) == sorted(sizes)


def test_replicas_wait_for_the_slowest_and_dealing_the_longest_first_helps() -> None:
    spec = read(
        {"family": "1f1b", "p": 2, "m": 2, "sizes": [4, 4, 1, 1], "replicas": 2, "costs": {"F": 2, "I": 2, "W": 2}}
    )
    found = result(spec)
    ends = found["replicas"]["ends"]
    assert ends == [72.0, 18.0]
    assert found["makespan"] == 72.0
    assert found["replicas"]["waiting"] == 1 - 45 / 72
    dealt_out = result(spec.with_(deal="longest", injection="mountain"))["replicas"]
    assert dealt_out["ends"][0] == dealt_out["ends"][1] == found["replicas"]["dealt"]
    assert result(spec.with_(replica=1))["makespan"] == 18.0


@cases(
    "change, field, nearest",
    [({"replicas": 2}, "replicas", 1), ({"sizes": [1, 2, 1, 2], "replicas": 2}, "sizes", [1, 2, 1, 2, 2, 2, 2, 2]),
     ({"sizes": "lognormal:0.3:1", "replica": 1}, "replica", 0),
     ({"sizes": "lognormal:0.3:1", "deal": "longest"}, "deal", "given"),
     ({"sizes": "lognormal:0.3:1", "replicas": 512, "m": 256}, "replicas", 256)],
)  # fmt: skip
def test_replicas_that_cannot_be_are_refused_by_field(change: dict[str, object], field: str, nearest: object) -> None:
    with pytest.raises(SpecError) as caught:
        read({"family": "1f1b", "p": 2, "m": 4} | change)
    assert (caught.value.field, caught.value.nearest) == (field, nearest)
