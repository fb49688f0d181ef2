"""The page's explanations of a schedule (causes of idle time, critical path, path of a micro-batch, messages, phases,
narration) against the times of every family and option, checked by tests/js/support/explain_all.ts."""

from __future__ import annotations

import base64
import random
from collections import Counter
from typing import Any

import pytest

from backend.schedule.analysis.why_idle import IdleReasons
from backend.schedule.families.registry import FAMILIES, read
from backend.schedule.order.wire import encode
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.schedule.simulation.test_js_parity import order, random_spec
from tests.support.node import answers, needs_node

pytestmark = needs_node

FIXED: tuple[dict[str, Any], ...] = (
    *({"family": name, "p": 4, "m": 8} for name in FAMILIES),
    {"family": "1f1b", "p": 4, "m": 8, "costs": {"F": 1, "I": 1, "W": 1, "comm": 0.5}},
    {"family": "1f1b", "p": 4, "m": 9, "vocabulary": "parallel-1", "costs": {"F": 1, "I": 1, "W": 1, "comm": 0.25}},
    {"family": "1f1b", "p": 4, "m": 9, "vocabulary": "parallel-2"},
    {"family": "1f1b", "p": 4, "m": 9, "vocabulary": "interlaced"},
    {"family": "gis", "p": 2, "m": 8, "v": 4, "offload": "full", "costs": {"F": 1, "I": 1, "W": 1, "O": 2}},
    {"family": "gpipe", "p": 3, "m": 5, "lifo": True},
    {"family": "1f1b", "p": 4, "m": 8, "layers": [1, 3, 2, 2], "recompute": "full"},
    {"family": "v-auto", "p": 4, "m": 12, "memory": 2.5, "costs": {"F": 3, "I": 4, "W": 2, "comm": 0.3}},
    {"family": "zb-auto", "p": 4, "m": 12, "memory": 4, "w_share": 0.4},
    {"family": "interleaved", "p": 4, "m": 8, "v": 2, "frozen": 4},
    {"family": "zb-auto", "p": 3, "m": 8, "memory": 3.5, "sizes": [0.2, 1.8, 1.8, 0.2, 1.0, 1.8, 1.0, 1.8]},
)


Explained = list[tuple[Spec, dict[str, Any]]]


@pytest.fixture(scope="module")
def explained() -> Explained:
    """The fixed specs, a pipeline of one rank, and random specs of every family, with the page's answers."""
    specs = [read(data) for data in (*FIXED, {"family": "gpipe", "p": 1, "m": 4})]
    for name in FAMILIES:
        rng = random.Random(f"explain {name}")
        specs += [random_spec(rng, name) for _ in range(3)]
    asked = [
        {"wire": base64.b64encode(encode(order(spec), spec.to_json())).decode(), "spec": spec.to_json()}
        for spec in specs
    ]
    return list(zip(specs, answers("explain_all", asked), strict=True))


@pytest.mark.parametrize("name", FAMILIES)
def test_explanations_of_a_family_with_any_options_agree_with_its_times(explained: Explained, name: str) -> None:
    found = [(spec, answer) for spec, answer in explained if spec.family == name]
    assert len(found) >= 4
    for spec, answer in found:
        assert answer["problems"] == [], spec


def test_a_plan_has_no_overhead_and_fills_p_minus_1_slots(explained: Explained) -> None:
    for spec, answer in explained[: len(FIXED)]:
        assert answer["kinds"].get("overhead", 0) == 0, spec
        if spec.costs.comm == 0 and spec.family in ("gpipe", "1f1b", "zb-h1"):
            assert answer["kinds"]["fill"] == spec.p - 1


def test_python_gives_the_reasons_of_the_page_in_its_words(explained: Explained) -> None:
    for spec, answer in explained:
        reasons = IdleReasons(simulate(order(spec), spec.timing, spec.v), spec)
        found = [(rank, at, reasons.at(rank, at)) for rank, at, *_ in answer["reasons"]]
        given = [[rank, at, idle and idle.kind, idle and idle.sentence] for rank, at, idle in found]
        assert given == answer["reasons"], spec


def first(explained: Explained, **values: object) -> dict[str, Any]:
    """The answer for the first spec with these values."""
    return next(
        answer for spec, answer in explained if all(getattr(spec, key) == value for key, value in values.items())
    )


def test_the_order_or_the_memory_limit_is_named_exactly_where_it_delays_forwards(explained: Explained) -> None:
    one = Counter(first(explained, family="1f1b")["kinds"])
    every = Counter(first(explained, family="gpipe")["kinds"])
    limited = Counter(first(explained, family="v-auto", memory=2.5)["kinds"])
    assert one["limit"] > 0, "1F1B stops at p micro-batches in flight"
    assert every["limit"] == every["cap"] == 0, "GPipe holds all of them"
    assert limited["cap"] > 0, "a limit of 2.5 binds"
    sized = [sentence for rank, at, _, sentence in first(explained, family="zb-auto", memory=3.5)["reasons"]]
    assert any("it holds 1.8, and with 0F2 it would be above its limit of 3.5" in each for each in sized)
    reasons = first(explained, family="interleaved", frozen=(0, 1, 2, 3))["reasons"]
    limits = {rank: sentence for rank, _, kind, sentence in reasons if kind == "limit"}
    assert set(limits) == {2}, "the next forwards of the others are of stages that keep nothing"
    assert "admits at most 3 chunks in flight here, so 6F3 may not start yet" in limits[2]


def test_a_path_through_a_pipeline_crosses_ranks_only_where_hops_are(explained: Explained) -> None:
    assert first(explained, family="gpipe", p=1)["hops"] == 0
    assert first(explained, family="gpipe", p=4)["hops"] == 2 * 3, "down to the last stage and back up"
