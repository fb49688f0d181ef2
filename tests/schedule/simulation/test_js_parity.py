"""The page's simulator (static/js/core) against the server's, bit for bit, on random legal specs of all families."""

from __future__ import annotations

import base64
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.address.query import query_of, spec_of
from backend.schedule.errors import SpecError
from backend.schedule.families import imported, registry
from backend.schedule.families.registry import FAMILIES, Family, family_of, read
from backend.schedule.options.vocabulary import SPREAD
from backend.schedule.order import repeats
from backend.schedule.order.order import Order, micro_numbers
from backend.schedule.order.placement import place_on
from backend.schedule.order.weight_versions import weight_versions
from backend.schedule.order.wire import encode
from backend.schedule.result import describe
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import curve
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.simulation.timeline import PeriodicTimeline
from backend.schedule.spec import COST_KEYS, Spec
from tests.support.node import answers, needs_node
from tests.support.runner.random_orders import random_order

TESTS = Path(__file__).parents[2]

pytestmark = needs_node

order = cache(registry.order)  # of a spec found to be legal, which is then timed; a search takes long

EACH = 8  # specs of a family
COSTS = (0.1, 0.3, 0.7, 1.0, 1.7, 18.522, 18.086, 9.337, 1 / 3)  # sums of these round, so an order of adding shows


def random_costs(rng: random.Random, family: Family, stages: int, streams: bool) -> dict[str, Any]:
    """Costs per device, or a list for one of them, sometimes with hops and the costs of what options add."""
    fields = family.fields
    costs: dict[str, Any] = {key: rng.choice((rng.choice(COSTS), rng.random() * 20)) for key in "FIW"}
    if rng.random() < 0.3 and stages > 1:  # in a query a list of one stage reads as the number it means
        costs[rng.choice("FIW")] = [rng.choice(COSTS) for _ in range(stages)]
    if rng.random() < 0.5:
        costs["comm"] = rng.choice((0.601, rng.random()))
    if "FB" in fields and rng.random() < 0.5:
        costs["FB"] = rng.random() * 40
    if family.vocabulary and rng.random() < 0.5:
        costs |= {"S": rng.random(), "T": rng.random()}
    if "offload" in fields and rng.random() < 0.7:
        costs["O"] = rng.random() * 30
    if streams and rng.random() < 0.5:
        costs["wire"] = rng.choice((0.1, rng.random()))
    return costs


def random_modes(rng: random.Random, v: int, words: Sequence[str]) -> str | list[str]:
    """A word for all chunks of a device, or one for each."""
    return rng.choice(words) if rng.random() < 0.5 else [rng.choice(words) for _ in range(v)]


def random_spec(rng: random.Random, name: str) -> Spec:
    """A legal spec of a family: a random one, moved to the nearest legal values where it is not."""
    family = FAMILIES[name]
    least, _, most = family.v
    p, v = rng.randint(1, 7), rng.randint(least, min(most, 5))
    data: dict[str, Any] = {"family": name, "p": p, "m": rng.randint(1, 16), "v": v}
    data["w_share"] = rng.choice((1.0, 0.4324))
    if "group" in family.fields and rng.random() < 0.5:
        data["group"] = rng.randint(1, 12)
    data["recompute"] = random_modes(rng, v, ("none", "none", "selective", "full"))
    if data["recompute"] != "none" and rng.random() < 0.5:
        data["recompute_at"] = rng.choice(("ahead", "bubble"))
    if data["recompute"] != "none" and rng.random() < 0.4:
        data["spared"] = rng.randint(1, 6)
    if "lifo" in family.fields:
        data["lifo"] = rng.random() < 0.5
    if "frozen" in family.fields and rng.random() < 0.3:
        data["frozen"] = rng.choice((1, [0, 2], [1], [rng.randrange(p * v)]))
    if "offload" in family.fields and rng.random() < 0.6:
        offload = rng.choice(("selective", random_modes(rng, v, ("none", "full", "full"))))
        data |= {"offload": offload, "shared_link": rng.random() < 0.3}
    if rng.random() < 0.3:
        replicas = rng.choice((1, 1, 3))
        listed = [rng.choice((1.0, 1.37, rng.random() + 0.2)) for _ in range(replicas * data["m"])]
        data |= {"sizes": rng.choice((listed, f"lognormal:0.3:{rng.randint(0, 99)}")), "fixed": rng.choice((0.0, 0.15))}
        if replicas > 1:
            data |= {"replicas": 3, "deal": rng.choice(("given", "longest")), "replica": rng.randrange(3)}
        data["injection"] = rng.choice(("given", "mountain", rng.sample(range(data["m"]), data["m"])))
    if rng.random() < 0.3:
        data |= {
            "streams": rng.choice(("rank", "direction", "edge")),
            "receives": rng.choice(("torch", "deferred", "placed")),
        }
    if rng.random() < 0.5:
        data["vocabulary"] = rng.choice(("plain", "redistribute", *family.vocabulary))
    if family.asynchronous:
        data["weights"] = rng.choice((None, 0.7))
    for _ in range(12):
        try:
            sizes = read(data)
            stages = sizes.p if family.placement == "bidirectional" else sizes.p * sizes.v
            layers = [rng.randint(0, 5) for _ in range(stages - 1)] + [3] if rng.random() < 0.3 else None
            costs = random_costs(rng, family, stages, "streams" in data)
            found = read(data | {"costs": costs, "layers": layers})
            order(found)  # receives that are held back may deadlock
            return found
        except SpecError as error:
            if error.field in COST_KEYS:
                data |= {"recompute": "none", "spared": 0, "vocabulary": "plain"}  # which these costs do not go with
            elif error.field == "layers":
                continue
            elif error.nearest is None:
                data.pop(error.field, None)
            else:
                data[error.field] = error.nearest
    raise AssertionError(f"no legal spec near {data}")


def stored(built: Order) -> Order:
    """The same order with its micro-batches written out."""
    columns = [np.concatenate(parts) for parts in zip(*(micro_numbers(built, r) for r in range(built.p)), strict=True)]
    micro = np.ascontiguousarray(np.stack(columns, 1), np.int32)
    return replace(built, micro=micro)


def page_answers(cases: Sequence[tuple[Spec, Order]], *, own: bool = False) -> list[dict[str, Any]]:
    """The results of the page's modules for these schedules, from their bytes alone; with ``own`` for the orders that
    the page constructs, where it can.
    """
    defaults = Spec().to_json()
    natural = {name: family.v[1] for name, family in FAMILIES.items()}
    asked = [
        {
            "defaults": defaults,
            "natural": natural,
            "link": f"?{query_of(spec)}",
            "wire": base64.b64encode(encode(built, spec.to_json())).decode(),
            "own": own,
            "laws": [law.as_dict() for law in family_of(spec).laws],
            "asynchronous": family_of(spec).asynchronous,
        }
        for spec, built in cases
    ]
    return answers("times", asked)


def floats(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f8")


def assert_equal(spec: Spec, timeline: Timeline, answer: dict[str, Any]) -> None:
    """Check that every result of the page for a schedule equals the server's, to the last bit."""
    built = timeline.order
    expected = describe(spec, built, timeline)
    assert answer["order"] == expected["order"]
    assert floats(answer["start"]).tobytes() == timeline.start.tobytes()
    assert floats(answer["end"]).tobytes() == timeline.end.tobytes()
    assert answer["simulated"] == expected["makespan"]
    for key, value in answer["figures"].items():
        assert value == expected[key], key
    assert answer["peak_in_flight"] == expected["peak_in_flight"]
    assert answer["peak_memory"] == expected["peak_memory"]
    if family_of(spec).asynchronous:
        ours = weight_versions(built)
        assert answer["versions"] == [each.tolist() for each in (ours.used, ours.late, ours.stashed, ours.held)]
    copies = [floats(part).tobytes() for part in answer["copies"]]
    assert copies == [timeline.copy_start.tobytes(), timeline.copy_end.tobytes()]
    messages = [floats(part).tobytes() for part in answer["messages"]]
    assert messages == [timeline.sent.tobytes(), timeline.arrived.tobytes()]
    if built.messages is not None:
        assert answer["ends"] == [built.messages.text(end, built.placement) for end in range(len(built.messages))]
    t, y = curve(timeline, built.p - 1, spec.w_share, spec.v, spec.kept, spec.weights or 0.0)
    assert [floats(part).tolist() for part in answer["curve"]] == [t.tolist(), y.tolist()]
    laws = [(law["value"], law["exact"], law["why"]) for law in expected["laws"]]
    assert [(law["value"], law["exact"], law["why"]) for law in answer["laws"]] == laws


Answered = list[tuple[Spec, Order, dict[str, Any]]]


@pytest.fixture(scope="module")
def answered() -> Answered:
    """Random specs of every family with their orders and the page's answers, from one process of node."""
    rng = random.Random(20240607)
    specs = [random_spec(rng, name) for name in FAMILIES for _ in range(EACH)]
    cases = [(spec, order(spec)) for spec in specs]
    return [(*case, answer) for case, answer in zip(cases, page_answers(cases, own=True), strict=True)]


def test_the_page_times_every_family_as_the_server_does_bit_for_bit(answered: Answered) -> None:
    assert {spec.family for spec, _, _ in answered} == set(FAMILIES)
    for spec, built, answer in answered:
        assert_equal(spec, simulate(built, spec.timing, spec.v), answer)
        here = FAMILIES[spec.family].problem is None and spec.frozen is None
        assert answer["constructed"] == (here and spec.receives != "deferred")


def test_queries_of_the_page_and_links_of_the_server_mean_the_same_spec_on_both_sides(answered: Answered) -> None:
    assert len(answered) == EACH * len(FAMILIES)
    for spec, _, answer in answered:
        assert spec_of(answer["asked"].removeprefix("?").encode()) == spec
        assert answer["problems"] == []
        assert answer["linked"] == spec.to_json()


def test_an_order_with_written_out_micro_batches_is_timed_alike() -> None:
    rng = random.Random(7)
    specs = [random_spec(rng, name) for name in FAMILIES for _ in range(3)]
    cases = [(spec, stored(order(spec))) for spec in specs]
    assert {built.micro is not None for _, built in cases} == {True}
    for (spec, built), answer in zip(cases, page_answers(cases), strict=True):
        assert_equal(spec, simulate(built, spec.timing, spec.v), answer)


def test_an_order_with_stages_on_any_ranks_is_timed_alike_with_its_options() -> None:
    cases = []
    for ranks in ((0, 0, 1, 1), (1, 0), (1, 0, 0), (0, 1, 2, 2, 0, 2), (2, 2, 2, 1, 0)):
        built = random_order(place_on(ranks, 1 + max(ranks)), 3, len(ranks))
        plain = imported.spec_of(built)
        layers = [2, *[1] * (len(ranks) - 1)]
        for changes in ({}, {"recompute": "full"}, {"vocabulary": "redistribute"}, {"layers": layers}):
            costs = {"F": 0.3, "I": 0.7, "W": 1.7, "comm": 0.601} | ({} if changes else {"S": 0.1, "T": 0.2})
            cases.append((read(plain.to_json() | changes | {"costs": costs}), built))
    for (spec, built), answer in zip(cases, page_answers(cases), strict=True):
        assert_equal(spec, simulate(built, spec.timing, spec.v), answer)
        assert answer["linked"] == spec.to_json()


@pytest.mark.parametrize("more", [{}, {"sizes": "lognormal:.4:3"}, {"vocabulary": "parallel-1"}])
def test_an_order_made_for_its_costs_is_the_same_where_backwards_begin_before_their_gradient(
    more: dict[str, Any],
) -> None:
    cases = []
    for name, p, m in (("v-min", 2, 11), ("v-half", 4, 9), ("v-min", 5, 12)):
        spec = {"family": name, "p": p, "m": m, "recompute": "full", "recompute_at": "ahead"} | more
        built = read(spec | {"costs": {"F": 1.0, "I": 1.3, "W": 0.7, "comm": 0.3}})
        cases.append((built, order(built)))
    for (spec, built), answer in zip(cases, page_answers(cases, own=True), strict=True):
        assert_equal(spec, simulate(built, spec.timing, spec.v), answer)


def test_a_forward_only_schedule_is_timed_alike_and_keeps_nothing() -> None:
    rng = random.Random(11)
    names = [name for name, family in FAMILIES.items() if "forward_only" in family.fields]
    plain = {
        "recompute": "none",
        "recompute_at": "backward",
        "spared": 0,
        "vocabulary": "plain",
        "offload": "none",
        "shared_link": False,
        "lifo": False,
        "frozen": None,
    }
    specs = [random_spec(rng, name).with_(forward_only=True, **plain) for name in names for _ in range(3)]
    cases = [(spec, order(spec)) for spec in specs]
    for (spec, built), answer in zip(cases, page_answers(cases, own=True), strict=True):
        assert_equal(spec, simulate(built, spec.timing, spec.v), answer)
        assert answer["linked"] == spec.to_json()
        assert set(answer["peak_in_flight"]) == {0}


def test_orders_with_steady_states_are_timed_alike_from_the_blocks_that_are_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repeats, "LEAST_OPS", 64)
    rng = random.Random(13)
    cases = []
    for name, family in FAMILIES.items():
        for v in {least for least in (1, 2, 4) if family.v[0] <= least <= family.v[2]}:
            sizes = nearest_legal({"family": name, "p": rng.randint(2, 4), "m": rng.randint(100, 160), "v": v})
            stages = sizes.p if family.placement == "bidirectional" else sizes.p * v
            quarters = [rng.randint(1, 12) / 4 for _ in range(stages)]
            for costs in (Costs(1.0, 2.0, 1.0, 0.5), Costs(tuple(quarters), 2.0, 1.0), Costs(0.1, 0.2, 0.3)):
                spec = nearest_legal(sizes.with_(costs=costs).to_json())
                cases.append((spec, order(spec)))
    answers = page_answers(cases)
    ours = [simulate(built, spec.timing, spec.v) for spec, built in cases]
    for (spec, _), timeline, answer in zip(cases, ours, answers, strict=True):
        assert_equal(spec, timeline, answer)
    here = [isinstance(timeline, PeriodicTimeline) for timeline in ours]
    assert [answer["periodic"] for answer in answers] == here
    assert 0.4 * len(here) < sum(here) < len(here)


def test_a_large_schedule_has_the_same_figures_where_sums_are_long() -> None:
    costs = {"F": 18.522, "I": 18.086, "W": 9.337, "comm": 0.601}
    spec = read({"family": "zb-h1", "p": 16, "m": 700, "costs": costs})
    built = order(spec)
    (answer,) = page_answers([(spec, built)])
    assert_equal(spec, simulate(built, spec.timing, spec.v), answer)


def costs_of_options(rng: random.Random, spec: Spec) -> dict[str, Any]:
    """Costs at which ties, waits and short lives of activations occur: round ones, zeros and others."""
    some = rng.choice(((1.0, 0.5, 2.0), COSTS, (0.0, 1.0, 3.0), (rng.random(), rng.random() * 9)))
    costs = {key: rng.choice(some) for key in "FIW"} | {"comm": rng.choice((0.0, 0.25, 0.601, rng.random()))}
    if rng.random() < 0.4:
        lists = "FI" if spec.recompute != "none" else rng.choice(("F", "FIW"))
        costs |= {key: [rng.choice(some) for _ in range(spec.p * spec.v)] for key in lists}
    if spec.vocabulary != "plain" and rng.random() < 0.7:
        costs |= {"S": rng.choice(some), "T": rng.choice(some)}
    if spec.offload != "none" and rng.random() < 0.7:
        costs["O"] = rng.choice((0.0, rng.choice(some), rng.random() * 4, rng.random() * 30))
    return costs


def specs_with_options(rng: random.Random, rounds: int) -> list[Spec]:
    """Legal specs of all families whose options place ops by the costs, in all modes."""
    fixed = [family for family in FAMILIES.values() if not family.shaped_by_costs]
    spread = [(family, {"vocabulary": mode}) for family in fixed for mode in SPREAD if mode in family.vocabulary]
    copied = [
        (family, {"offload": mode, "recompute": recompute, "shared_link": shared})
        for family in fixed if "offload" in family.fields
        for mode in ("selective", "full") for recompute in ("none", "selective") for shared in (False, True)
    ]  # fmt: skip
    found = []
    for family, options in (*spread, *copied) * rounds:
        least, _, most = family.v
        data = {"family": family.name, "p": rng.randint(1, 8), "m": rng.randint(1, 24)} | options
        data |= {"v": rng.randint(least, min(most, 4)), "p": data["p"] + data["p"] % 2 * options.get("shared_link", 0)}
        spec = nearest_legal(data)
        found.append(read(spec.to_json() | {"costs": costs_of_options(rng, spec)}))
    return found


def nearest_legal(data: dict[str, Any]) -> Spec:
    """The spec, with values that are not legal moved to the nearest ones that are."""
    for _ in range(12):
        try:
            return read(data)
        except SpecError as error:
            data = data | {error.field: error.nearest}
    raise AssertionError(f"no legal spec near {data}")


def test_the_page_places_copies_and_the_sharded_output_layer_as_the_server_does_op_by_op() -> None:
    specs = specs_with_options(random.Random(1603), 3)
    cases = [(spec, order(spec)) for spec in specs]
    assert sum(built.copies is not None for _, built in cases) > 30
    assert {built.barriers for _, built in cases} == {0, 1, 2}
    for (spec, built), answer in zip(cases, page_answers(cases, own=True), strict=True):
        assert answer["constructed"]
        assert_equal(spec, simulate(built, spec.timing, spec.v), answer)


def test_large_orders_are_timed_alike_by_the_steady_states_that_their_tables_say() -> None:
    rng = random.Random(19)
    cases = []
    for name, family in FAMILIES.items():
        if family.table is None:
            continue
        for v in {family.v[1], min(4, family.v[2])}:
            for more in ({}, {"forward_only": True}) if "forward_only" in family.fields else ({},):
                least = 1 if more or "FB" in family.fields else 2  # ops of a micro-batch in a stage; a pair is one
                data = {"family": name, "p": 4, "m": 9000 // (least * v) + rng.randint(0, 9), "v": v} | more
                costs = rng.choice((Costs(1.0, 2.0, 1.0, 0.5), Costs(0.25, 1.5, 0.75)))
                spec = nearest_legal(data).with_(costs=costs)
                cases.append((spec, order(spec)))
    for (spec, built), answer in zip(cases, page_answers(cases, own=True), strict=True):
        timeline = simulate(built, spec.timing, spec.v)
        assert answer["constructed"]
        assert_equal(spec, timeline, answer)
        if spec.family != "chimera":  # a table of slots says no steady state; the server looks for it
            assert answer["periodic"] == isinstance(timeline, PeriodicTimeline)
