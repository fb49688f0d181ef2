"""The page's explanations of a schedule (causes of idle time, critical path, path of a micro-batch, messages, phases,
narration) against the times of every family and option, checked by tests/js/support/explain_all.ts."""

from __future__ import annotations

import base64
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from backend.schedule.families.registry import FAMILIES, order, read
from backend.schedule.order.wire import encode
from backend.schedule.spec import Spec
from tests.schedule.simulation.test_js_parity import random_spec
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
)


def explained_by_page(specs: Sequence[Spec]) -> list[dict[str, Any]]:
    return answers(
        "explain_all",
        [
            {"wire": base64.b64encode(encode(order(spec), spec.to_json())).decode(), "spec": spec.to_json()}
            for spec in specs
        ],
    )


def test_explanations_of_every_family_and_option_agree_with_its_times() -> None:
    specs = [read(data) for data in FIXED]
    for spec, answer in zip(specs, explained_by_page(specs), strict=True):
        assert answer["problems"] == [], spec
        assert answer["kinds"].get("overhead", 0) == 0, f"a plan has no overhead: {spec}"
        if spec.p > 1 and spec.costs.comm == 0 and spec.family in ("gpipe", "1f1b", "zb-h1"):
            assert answer["kinds"]["fill"] == spec.p - 1


@pytest.fixture(scope="module")
def explained() -> dict[str, list[tuple[Spec, dict[str, Any]]]]:
    """Random specs of every family with their answers, from one process of node."""
    specs = []
    for name in FAMILIES:
        rng = random.Random(f"explain {name}")
        specs += [random_spec(rng, name) for _ in range(4)]
    found: dict[str, list[tuple[Spec, dict[str, Any]]]] = {name: [] for name in FAMILIES}
    for spec, answer in zip(specs, explained_by_page(specs), strict=True):
        found[spec.family].append((spec, answer))
    return found


@pytest.mark.parametrize("name", FAMILIES)
def test_explanations_of_random_specs_of_a_family_agree_with_their_times(
    explained: dict[str, list[tuple[Spec, dict[str, Any]]]], name: str
) -> None:
    assert len(explained[name]) == 4
    for spec, answer in explained[name]:
        assert answer["problems"] == [], spec


def test_the_order_or_the_memory_limit_is_named_exactly_where_it_delays_forwards() -> None:
    limited = {"family": "v-auto", "p": 4, "m": 12, "memory": 2.5}
    names = ("1f1b", "gpipe")
    specs = [*(read({"family": name, "p": 4, "m": 8}) for name in names), read(limited)]
    counts = [Counter(answer["kinds"]) for answer in explained_by_page(specs)]
    assert counts[0]["limit"] > 0, "1F1B stops at p micro-batches in flight"
    assert counts[1]["limit"] == counts[1]["cap"] == 0, "GPipe holds all of them"
    assert counts[2]["cap"] > 0, "a limit of 2.5 binds"


def test_a_path_through_a_pipeline_crosses_ranks_only_where_hops_are() -> None:
    (alone,) = explained_by_page([read({"family": "gpipe", "p": 1, "m": 4})])
    assert alone["hops"] == 0
    (four,) = explained_by_page([read({"family": "gpipe", "p": 4, "m": 4})])
    assert four["hops"] == 2 * 3, "down to the last stage and back up"
