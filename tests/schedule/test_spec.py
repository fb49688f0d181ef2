"""Specs: reading, refusals with advice; formulas; and the wire format."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule import result
from backend.schedule.analysis import pareto, sweep
from backend.schedule.analysis.compare import compare
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.registry import FAMILIES
from backend.schedule.laws import formula
from backend.schedule.options.family_names import NAMES, OTHERS, canonical
from backend.schedule.order import wire
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import COST_KEYS, LIMITS, Spec
from tests.support.strategies import optioned, specs

REFUSED: list[tuple[dict[str, Any], str, Any]] = [
    ({"family": "1f2b"}, "family", "1f1b"),
    ({"family": 7}, "family", "1f1b"),
    ({"family": "zzz"}, "family", "1f1b"),
    ({"famly": "1f1b"}, "famly", "family"),
    ({"p": 0}, "p", 1),
    ({"p": -3}, "p", 1),
    ({"p": 10**9}, "p", LIMITS["p"]),
    ({"p": 10**400}, "p", LIMITS["p"]),
    ({"p": "4"}, "p", 1),
    ({"p": True}, "p", 1),
    ({"p": None}, "p", 1),
    ({"p": 4.5}, "p", 4),
    ({"p": float("nan")}, "p", 1),
    ({"m": float("inf")}, "m", 1),
    ({"m": 65536, "p": 1024}, "m", 8192),  # F and B
    ({"family": "zb-h1", "m": 65536, "p": 1024}, "m", 5461),  # F, I and W
    ({"family": "1f1b", "vocabulary": "parallel-2", "m": 65536, "p": 1024}, "m", 1024),  # F, B, S and T
    ({"v": 2}, "v", 1),
    ({"family": "dualpipev", "v": 1}, "v", 2),
    ({"family": "interleaved", "v": 65}, "v", 64),
    ({"group": 2}, "group", None),
    ({"family": "interleaved", "group": 9}, "group", 8),
    ({"family": "interleaved", "group": 2}, "group", 3),
    ({"family": "interleaved", "m": 11}, "m", 12),
    ({"family": "interleaved", "m": 9, "group": 4}, "m", 8),
    ({"lifo": True}, "lifo", False),
    ({"lifo": 1}, "lifo", False),
    ({"family": "dualpipe", "p": 3, "m": 8}, "p", 4),
    ({"family": "dualpipe", "p": 4, "m": 7}, "m", 8),
    ({"family": "dualpipe", "p": 4, "m": 9}, "m", 10),
    ({"family": "dualpipev", "p": 4, "m": 7}, "m", 8),
    ({"memory": 0}, "memory", 1e-3),
    ({"memory": float("nan")}, "memory", 1e-3),
    ({"w_share": 1.5}, "w_share", 1.0),
    ({"costs": [1, 1, 1]}, "costs", None),
    ({"costs": {"f": 1}}, "f", None),
    ({"costs": {"F": -1}}, "F", 0.0),
    ({"costs": {"F": "x"}}, "F", 0.0),
    ({"costs": {"F": [1, 2]}}, "F", [1, 2, 2, 2]),
    ({"costs": {"F": []}}, "F", None),
    ({"costs": {"F": [1, 2, 3, 4, 5]}}, "F", [1, 2, 3, 4]),
    ({"family": "dualpipe", "m": 8, "costs": {"F": [1, 2, 3]}}, "F", [1, 2, 3, 3]),
    ({"costs": {"W": [1, -2, 3, -4]}}, "W", None),
    ({"layers": [1, 2.4, 1, 1]}, "layers", [1, 2, 1, 1]),
    ({"costs": {"W": [1, 2, 3, float("nan")]}}, "W", [1, 2, 3, 0]),
    ({"costs": {"comm": float("-inf")}}, "comm", 0.0),
    ({"costs": {"FB": 3}}, "FB", None),
    ({"costs": {"F": 1e300}}, "F", 1e9),
]


@pytest.mark.parametrize(("data", "field", "nearest"), REFUSED, ids=[str(row[0])[:50] for row in REFUSED])
def test_an_illegal_spec_names_field_and_nearest_at_once(data: dict[str, Any], field: str, nearest: Any) -> None:
    before = time.process_time()
    with pytest.raises(SpecError) as caught:
        registry.read(data)
    assert time.process_time() - before < 0.5
    error = caught.value
    assert (error.field, error.nearest) == (field, nearest)
    assert error.message
    json.dumps(error.as_dict(), allow_nan=False)


@given(spec=specs())
def test_a_spec_is_read_back_from_json_unchanged(spec: Spec) -> None:
    assert Spec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


@pytest.mark.parametrize("family", sorted(FAMILIES))
@given(data=st.data())
def test_the_count_of_ops_is_that_of_the_order(family: str, data: st.DataObject) -> None:
    spec = data.draw(optioned(family, max_p=5, max_m=11))
    assert registry.op_count(spec) == len(registry.order(spec))


@pytest.mark.parametrize(
    "door",
    [
        result.result,
        registry.order,
        registry.validate,
        compare,
        pareto.points,
        lambda spec: pareto.frontier(spec, None, pareto.constructed),
        sweep.grid,
    ],
)
def test_a_spec_made_by_hand_is_read_as_strictly_as_json(door: Callable[[Any], Any]) -> None:
    wrong = {
        "family": 7, "p": 0, "m": 4.5, "v": None, "group": "2", "memory": -1, "w_share": 2, "lifo": 1,
        "recompute": None, "layers": (), "vocabulary": [], "offload": 5, "weights": float("nan"), "effort": True,
        "seed": -1, "order": 3, "costs": None, "found": 3,
    }  # fmt: skip
    for field, value in (*wrong.items(), ("m", 0), ("p", 4.5), ("F", -1.0), ("comm", "0")):
        spec: Any = Spec(costs=Costs(**{field: value})) if field in COST_KEYS else Spec(**{field: value})
        with pytest.raises(SpecError) as caught:
            door(spec)
        assert caught.value.field == field
    for two in (2.0, np.int64(2), np.float64(2.0)):
        whole: Any = two
        assert result.result(Spec(p=whole, m=3)) == result.result(Spec(p=2, m=3))
    assert result.result(Spec("zb-auto", w_share=5e-324))["peak_memory"]  # of almost nothing, any number fits


def test_the_ops_of_whole_backwards_are_counted_as_two_per_micro_batch() -> None:
    assert registry.op_count(registry.read({"family": "gpipe", "p": 1024, "m": 1366})) == 2_797_568


def test_every_name_of_a_family_in_any_case_is_read_as_its_own() -> None:
    assert tuple(FAMILIES) == NAMES[:-1]
    for name, family in FAMILIES.items():
        for other in (name.upper(), family.title, family.title.lower().replace("-", "_"), *OTHERS.get(name, ())):
            assert canonical(other) == name
            assert registry.read({"family": other, "m": 16, "costs": {}}).family == name
    assert canonical("Zb-H1" * 20) == "Zb-H1" * 20
    with pytest.raises(SpecError, match="no family of that name"):
        registry.read({"family": "ZB-X"})


def test_the_nearest_number_of_micro_batches_is_the_most_within_the_limit() -> None:
    for family in ("gpipe", "zb-h1", "dualpipe", "dualpipev", "interleaved", "interleaved-bfs", "v-half"):
        with pytest.raises(SpecError) as refused:
            registry.validate(Spec(family, 512, 65536, FAMILIES[family].v[1]))
        most = Spec(family, 512, refused.value.nearest, FAMILIES[family].v[1])
        limit = LIMITS["placed_ops" if family in ("interleaved-bfs", "v-half") else "ops"]
        assert registry.op_count(most) <= limit < registry.op_count(most.with_(m=most.m + 1))


@pytest.mark.parametrize(
    "spec",
    [
        Spec("gpipe", 64, 40_000, lifo=True),
        Spec("1f1b", 64, 40_000, vocabulary="parallel-1"),
        Spec("gis", 64, 6400, 4, offload="full"),
    ],
)
def test_an_order_whose_ops_are_placed_one_by_one_has_fewer_at_most(spec: Spec) -> None:
    assert LIMITS["placed_ops"] < registry.op_count(spec) < LIMITS["ops"]
    registry.validate(spec.with_(lifo=False, vocabulary="plain", offload="none"))
    with pytest.raises(SpecError, match="4,194,304"):
        registry.validate(spec)


@given(spec=specs())
def test_the_wire_carries_codes_counts_and_stored_micro_batches(spec: Spec) -> None:
    order = registry.order(spec)
    body = wire.encode(order, spec.to_json())
    assert zlib.decompress(wire.compress(body)) == body
    length = int.from_bytes(body[:4], "little")
    head = json.loads(body[4 : 4 + length])
    assert Spec.from_json(head["spec"]) == spec
    assert (head["placement"], head["chunks"]) == (order.placement.kind, order.chunks)
    counts = head["counts"] if isinstance(head["counts"], list) else [head["counts"]] * order.p
    assert counts == np.diff(order.offsets).tolist()
    assert body[4 + length : 4 + length + len(order)] == order.codes.tobytes()
    rest = np.frombuffer(body[4 + length + len(order) :], "<i4")
    assert rest.tolist() == ([] if order.micro is None else order.micro[:, : head["stored"]].T.ravel().tolist())


@pytest.mark.parametrize(
    ("source", "names", "shown", "value"),
    [
        ("(p-1)*(f+b)/v", {"p": 4, "f": 1, "b": 2, "v": 2}, "(p - 1)*(f + b)/v", 4.5),
        ("p-(f-b)", {"p": 4, "f": 1, "b": 2}, "p - (f - b)", 5),
        ("p/(f*b)", {"p": 4, "f": 1, "b": 2}, "p/(f*b)", 2),
        ("max(0, i-f, f+i-2*w)", {"i": 3, "f": 1, "w": 1}, "max(0, i - f, f + i - 2*w)", 2),
        ("2*c*floor((m-1)*(p-1)/p)", {"c": 1, "m": 8, "p": 4}, "2*c*floor((m - 1)*(p - 1)/p)", 10),
        ("m % g == 0 or m % g >= p", {"m": 9, "g": 5, "p": 4}, "m mod g == 0 or m mod g >= p", 1),
        ("f if f >= i else i", {"f": 1, "i": 2}, "f if f >= i else i", 2),
    ],
)
def test_a_formula_is_printed_and_evaluated_from_one_tree(
    source: str, names: dict[str, float], shown: str, value: float
) -> None:
    tree = formula.parse(source)
    assert formula.text(tree) == shown
    assert formula.evaluate(tree, names) == value
    assert formula.parse(formula.text(tree).replace(" mod ", " % ")) == tree


@pytest.mark.parametrize("source", ["__import__('os')", "p.q", "[p]", "p**2", "p < q < r", "'p'", "f(p)", "lambda: 1"])
def test_only_arithmetic_is_a_formula(source: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        formula.parse(source)


def test_a_result_has_every_key_of_its_contract() -> None:
    shown = result.result(Spec("zb-h1", 4, 8), times=True)
    assert set(shown) == {
        "spec", "order", "start", "end", "makespan", "longest_stage", "bubble", "peak_in_flight", "peak_memory", "law",
        "laws",
    }  # fmt: skip
    assert set(shown["law"]) == {"quantity", "window", "text", "numbers", "value", "exact", "why"}
    assert set(shown["bubble"]) == {"global", "span"}
    assert len(shown["start"]) == 4
    json.dumps(shown, allow_nan=False)


def test_a_law_that_does_not_hold_has_a_reason() -> None:
    shown = result.law_values(registry.read({"family": "zb-h2", "p": 8, "m": 8}))
    assert not shown[0]["exact"]
    assert "2p - 1" in shown[0]["why"]
