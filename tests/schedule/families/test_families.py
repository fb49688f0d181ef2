"""Orders op for op: equal to torch's own generators called live, and to golden files reviewed as diffs."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.order.ops import PAIR, Op
from backend.schedule.order.order import decode
from backend.schedule.order.placement import Placement, place
from backend.schedule.order.weight_versions import weight_versions
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec
from tests.support import cases

GOLDEN = Path(__file__).parents[2] / "golden" / "orders"


def torch_rows(name: str, placement: Placement, m: int) -> list[str]:
    """The rows of torch's own generator, imported here because it imports torch's compiler, which takes seconds."""
    from tests.support.torch.orders import torch_rows as rows

    return rows(name, placement, m)


def grid(sizes: list[tuple[int, int]], chunks: tuple[int, ...] = (1,)) -> list[tuple[int, int, int]]:
    return [(p, m, v) for (p, m), v in product(sizes, chunks)]


SIZES = [(p, m) for p in (1, 2, 3, 4, 8) for m in (1, 2, 3, 4, 5, 6, 8, 9, 12, 16)]
ENOUGH = [(p, m) for p in (1, 2, 3, 4, 8) for m in (2 * p, 2 * p + 1, 2 * p + 4, 3 * p + 3)]


@cases("p, m", SIZES)
def test_gpipe_is_torchs_gpipe(p: int, m: int) -> None:
    assert registry.order(Spec("gpipe", p, m)).text() == torch_rows("ScheduleGPipe", place("looped", p, 1), m)


@cases("p, m", [(p, m) for p, m in SIZES if m >= p])
def test_1f1b_is_torchs_1f1b_except_for_its_known_wrong_last_rank(p: int, m: int) -> None:
    ours = registry.order(Spec("1f1b", p, m)).text()
    theirs = torch_rows("Schedule1F1B", place("looped", p, 1), m)
    assert ours[:-1] == theirs[:-1]
    assert ours[-1] == " ".join(f"{p - 1}F{k} {p - 1}B{k}" for k in range(m))
    assert theirs[-1] == " ".join(f"{p - 1}F{k + 1} {p - 1}B{k}" for k in range(m)), "docs/interop.md says so"


@pytest.mark.parametrize(
    ("family", "torch_name"),
    [("interleaved", "ScheduleInterleaved1F1B"), ("interleaved-zb", "ScheduleInterleavedZeroBubble")],
)
@cases("p, m, v", grid(SIZES, (1, 2, 3, 4)))
def test_interleaved_is_torchs_and_illegal_where_torch_refuses_it(
    family: str, torch_name: str, p: int, m: int, v: int
) -> None:
    spec = Spec(family, p, m, v)
    try:
        theirs = torch_rows(torch_name, place("looped", p, v), m)
    except ValueError:
        with pytest.raises(SpecError) as caught:
            registry.order(spec)
        assert caught.value.field == "m"
        registry.validate(spec.with_(m=caught.value.nearest))
    else:
        assert registry.order(spec).text() == theirs


@cases("p, m", SIZES)
def test_zb_v_is_torchs_zb_v_for_few_micro_batches_too(p: int, m: int) -> None:
    assert registry.order(Spec("v-zb", p, m, 2)).text() == torch_rows("ScheduleZBVZeroBubble", place("v", p, 2), m)


@cases("p, m, v", grid(SIZES, (1, 2, 3, 4)))
def test_breadth_first_is_torchs_looped_bfs(p: int, m: int, v: int) -> None:
    spec = Spec("interleaved-bfs", p, m, v)
    assert registry.order(spec).text() == torch_rows("ScheduleLoopedBFS", place("looped", p, v), m)


@cases("p, m", ENOUGH)
def test_dualpipev_is_torchs_dualpipev(p: int, m: int) -> None:
    spec = Spec("dualpipev", p, m, 2)
    assert registry.order(spec).text() == torch_rows("ScheduleDualPipeV", place("v", p, 2), m)


@cases("p, m", [(p, m) for p, m in ENOUGH if p % 2 == 0 and m % 2 == 0])
def test_the_first_half_of_dualpipe_is_dualpipev_over_half_the_devices(p: int, m: int) -> None:
    whole = registry.order(Spec("dualpipe", p, m))
    half = registry.order(Spec("dualpipev", p // 2, m // 2, 2))
    for rank in range(p // 2):
        span = slice(whole.offsets[rank], whole.offsets[rank + 1])
        assert whole.codes[span].tolist() == half.codes[half.offsets[rank] : half.offsets[rank + 1]].tolist()


def test_dualpipe_is_two_replicas_in_opposite_directions_not_a_v() -> None:
    built = registry.order(Spec("dualpipe", 4, 8))
    assert built.placement.stages == 4
    assert built.row(0)[0].text() == "0F0"
    assert built.row(3)[0].text() == "0F4"  # stage 0 of the second replica lives on the last rank
    chunks = built.chunks
    for rank in range(2):  # each rank does what its mirror image does, with the directions exchanged
        here, there = (
            [decode(int(code), chunks) for code in built.codes[built.offsets[r] : built.offsets[r + 1]]]
            for r in (rank, 3 - rank)
        )
        assert here == [(kind, 1 - a, 1 - b if kind == PAIR else b) for kind, a, b in there]


GOLDEN_SPECS = {
    "gpipe": Spec("gpipe", 3, 4),
    "gpipe-lifo": Spec("gpipe", 3, 4, lifo=True),
    "1f1b": Spec("1f1b", 4, 6),
    "interleaved-depth-first": Spec("interleaved", 2, 4, 2),
    "interleaved-between": Spec("interleaved", 2, 6, 2, group=3),
    "interleaved-breadth-first": Spec("interleaved", 2, 4, 2, group=4),
    "interleaved-zb": Spec("interleaved-zb", 2, 4, 2),
    "zb-h1": Spec("zb-h1", 4, 6),
    "zb-h2": Spec("zb-h2", 4, 8),
    "chimera": Spec("chimera", 4, 8),
    "dualpipe": Spec("dualpipe", 4, 10),
    "dualpipev": Spec("dualpipev", 3, 7, 2),
    "pipedream": Spec("pipedream", 3, 6),
    "interleaved-bfs": Spec("interleaved-bfs", 2, 3, 2),
    "v-zb": Spec("v-zb", 3, 6, 2),
    "gis": Spec("gis", 4, 8, 2),
    "gis-h": Spec("gis-h", 4, 8, 2),
    "1f1b-parallel-1": Spec("1f1b", 3, 5, vocabulary="parallel-1"),
    "1f1b-parallel-2": Spec("1f1b", 3, 5, vocabulary="parallel-2"),
    "1f1b-interlaced": Spec("1f1b", 4, 6, vocabulary="interlaced"),
    "v-half-parallel-2": Spec("v-half", 2, 4, 2, vocabulary="parallel-2"),
    "gis-selective": Spec("gis", 2, 4, 2, offload="selective", costs=Costs(O=0.5)),
    "1f1b-forward-only": Spec("1f1b", 3, 5, forward_only=True),
    "interleaved-forward-only": Spec("interleaved", 2, 4, 2, forward_only=True),
    "v-zb-forward-only": Spec("v-zb", 3, 6, 2, forward_only=True),
    "interleaved-full": Spec("interleaved", 2, 4, 2, offload="full", costs=Costs(O=0.5)),
}


@pytest.mark.parametrize("name", GOLDEN_SPECS)
def test_orders_equal_the_reviewed_golden_file(name: str) -> None:
    lines = registry.order(GOLDEN_SPECS[name]).text()
    assert lines == (GOLDEN / f"{name}.txt").read_text().splitlines()


@pytest.mark.parametrize("name", registry.FAMILIES)
def test_a_family_states_everything_that_the_page_shows_of_it(name: str) -> None:
    shown = registry.FAMILIES[name].as_dict()
    assert all(shown[key] for key in ("title", "year", "source", "used_by", "group", "summary", "complexity"))
    assert shown["laws"] or "memory" in shown["fields"]
    check(registry.order(registry.read({"family": name, "p": 4, "m": 8})))


@cases("p, m", [(1, 3), (2, 5), (4, 12), (6, 20)])
def test_pipedream_keeps_p_minus_s_weight_versions_and_late_gradients(p: int, m: int) -> None:
    order = registry.order(Spec("pipedream", p, m))
    versions = weight_versions(order)
    assert versions.held.tolist() == [p - s for s in range(p)]
    for rank in range(p):
        span = slice(order.offsets[rank], order.offsets[rank + 1])
        for op, used, late in zip(order.row(rank), versions.used[span], versions.late[span], strict=True):
            assert used == max(0, op.micro - (p - 1 - rank))  # type: ignore[union-attr]
            assert late == (op.micro - used if op.kind == "B" else 0)  # type: ignore[union-attr]


@given(st.integers(1, 9), st.integers(1, 18))
def test_few_micro_batches_of_zb_v_are_the_first_of_the_order_for_2p_minus_1(p: int, m: int) -> None:
    m = min(m, 2 * p - 1)
    whole = registry.order(Spec("v-zb", p, 2 * p - 1, 2))
    first = [[op for op in whole.row(rank) if isinstance(op, Op) and op.micro < m] for rank in range(p)]
    assert [registry.order(Spec("v-zb", p, m, 2)).row(rank) for rank in range(p)] == first
