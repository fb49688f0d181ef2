"""Recomputation and offload chosen for each chunk of a device."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from app import cli
from backend.address.query import query_of, spec_of
from backend.schedule import result
from backend.schedule.analysis.nearest_spec import fit
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.options.offload import modes_of_chunks
from backend.schedule.options.per_chunk import Modes, of_stages, over_chunks
from backend.schedule.options.recompute import MODES
from backend.schedule.order.copy_lanes import O
from backend.schedule.order.ops import Op, Pair
from backend.schedule.simulation.costs import Costs, durations
from backend.schedule.simulation.memory import peak_memory
from backend.schedule.simulation.simulate import Timeline, simulate
from backend.schedule.spec import Spec
from tests.support.strategies import specs

CHUNKED = ("interleaved", "interleaved-bfs", "interleaved-zb", "gis", "gis-h", "v-min", "v-half", "v-zb", "dualpipev")
WORDS = tuple(MODES)


@st.composite
def per_chunk(draw: st.DrawFn) -> Spec:
    """A legal spec of several chunks with recomputation, and where its family can also offload, of each chunk."""
    family = draw(st.sampled_from(CHUNKED))
    spec = draw(specs(family, max_p=4, max_m=10))
    again = draw(st.tuples(*[st.sampled_from(WORDS)] * spec.v))
    spec = spec.with_(recompute=again, w_share=draw(st.sampled_from([1.0, 0.4324])))
    if "offload" in registry.FAMILIES[family].fields:
        copied = tuple("none" if mode == "full" or draw(st.booleans()) else "full" for mode in again)
        costs = Costs(spec.costs.F, spec.costs.I, spec.costs.W, spec.costs.comm, O=draw(st.floats(1, 30)))
        spec = spec.with_(offload=copied, costs=costs)
    registry.validate(spec)
    return spec


@given(spec=specs("interleaved", max_p=4, max_m=10), word=st.sampled_from(WORDS))
def test_a_list_of_equal_words_is_that_word_in_all_figures_and_the_link(spec: Spec, word: str) -> None:
    plain, listed = spec.with_(recompute=word), spec.with_(recompute=(word,) * spec.v)
    assert listed == plain
    assert hash(listed) == hash(plain)
    assert query_of(listed) == query_of(plain)
    assert result.result(listed) == result.result(plain)
    assert Spec.from_json(plain.to_json() | {"recompute": [word] * spec.v}) == plain


@pytest.mark.parametrize(
    ("modes", "word"),
    [
        (("full", "none"), "selective"),
        (("full", "full", "none"), "selective"),
        (("full", "full", "none", "none"), "selective"),
        (("none", "none"), "none"),
        (("full",), "full"),
        (("none", "full"), ("none", "full")),
        (("full", "none", "none"), ("full", "none", "none")),
    ],
)
def test_an_offload_of_the_first_half_of_the_chunks_is_selective(modes: tuple[str, ...], word: Modes) -> None:
    spec = Spec("interleaved", 4, 8, len(modes), offload=modes)
    assert spec.offload == word
    assert modes_of_chunks(spec.offload, spec.v) == modes


@given(spec=per_chunk())
def test_a_spec_is_the_same_in_a_link_and_in_json(spec: Spec) -> None:
    assert spec_of(query_of(spec).encode()) == spec
    assert Spec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


@pytest.mark.parametrize(
    ("query", "field", "nearest"),
    [
        ("family=interleaved&v=4&recompute=full,none", "recompute", ["full", "full", "none", "none"]),
        ("family=interleaved&v=2&recompute=full,none,none", "recompute", ["full", "none"]),
        ("family=interleaved&v=2&recompute=3*full,none", "recompute", "full"),
        ("family=interleaved&v=2&recompute=full,some", "recompute", ["full", "none"]),
        ("family=interleaved&v=2&recompute=65*full", "recompute", None),
        ("family=gis&m=8&v=2&offload=selective,none", "offload", ["none", "none"]),
        ("family=gis&m=8&v=2&offload=full&recompute=none,full", "offload", "selective"),
        ("family=gis&m=8&v=4&offload=full&recompute=2*full,2*none", "offload", ["none", "none", "full", "full"]),
        ("family=1f1b&recompute=full,none", "recompute", "full"),
        ("family=dualpipe&recompute=full,none", "recompute", "full"),
        ("family=dualpipev&offload=none,full", "offload", "none"),
        ("family=interleaved&v=2&recompute=full,none&F=1,1,1,1,1,1,1,1", "I", [0.5] * 8),
    ],
)
def test_modes_that_do_not_go_with_the_chunks_are_refused_with_the_nearest(
    query: str, field: str, nearest: object
) -> None:
    with pytest.raises(SpecError) as caught:
        spec_of(query.encode())
    assert caught.value.field == field
    assert caught.value.nearest == nearest
    if nearest is not None:
        text = nearest if isinstance(nearest, str) else ",".join(map(str, nearest))  # type: ignore[call-overload]
        rest = [part for part in query.split("&") if not part.startswith(f"{field}=")]
        spec_of("&".join([*rest, f"{field}={text}"]).encode())


@given(spec=per_chunk())
def test_a_chunks_gradient_takes_longer_by_what_its_chunk_recomputes(spec: Spec) -> None:
    placement = registry.order(spec).placement
    base, now = (durations(placement, costs, spec.v) for costs in (spec.costs, spec.timing))
    extra = [MODES[mode].extra for mode in of_stages(spec.recompute, spec.v)]
    for rank, chunk in product(range(spec.p), range(spec.v)):
        forward, gradient = base[rank, chunk], base[rank, spec.v + chunk]
        assert now[rank, chunk] == forward
        assert now[rank, spec.v + chunk] == pytest.approx(gradient + extra[chunk] * forward)


@given(spec=per_chunk())
def test_memory_is_what_counting_each_activation_by_itself_gives(spec: Spec) -> None:
    timeline = simulate(registry.order(spec), spec.timing, spec.v)
    counted = [most_held(timeline, spec, rank) for rank in range(spec.p)]
    assert peak_memory(timeline, spec.w_share, spec.v, spec.kept) == pytest.approx(counted)


def most_held(timeline: Timeline, spec: Spec, rank: int) -> float:
    """The most that a rank holds at any time, from the time each part of each activation is there."""
    order = timeline.order
    kept = [MODES[mode].kept for mode in of_stages(spec.recompute, spec.v)]
    begin: dict[tuple[str, int, int], float] = {}
    end: dict[tuple[str, int, int], float] = {}
    for op, start, stop in zip(order.row(rank), *timeline.rank(rank), strict=True):
        for part in (op.forward, op.backward) if isinstance(op, Pair) else (op,):
            assert isinstance(part, Op)
            begin[part.kind, part.chunk, part.micro] = float(start)
            end[part.kind, part.chunk, part.micro] = float(stop)
    if order.copies is not None:
        span = slice(order.copies.offsets[rank], order.copies.offsets[rank + 1])
        times = zip(timeline.copy_start[span], timeline.copy_end[span], strict=True)
        for (kind, chunk, micro, _), (start, stop) in zip(order.copies.row(rank, spec.v), times, strict=True):
            begin["O" if kind == O else "R", chunk, micro] = float(start)
            end["O" if kind == O else "R", chunk, micro] = float(stop)
    parts: list[tuple[float, float, float]] = []  # from, to, how much
    for chunk, micro in product(range(spec.v), range(spec.m)):
        whole = ("B", chunk, micro) in begin
        backward = ("B" if whole else "I", chunk, micro)
        last = end[backward if whole else ("W", chunk, micro)]
        first = last if whole else end[backward]
        for amount, since in ((kept[chunk], begin["F", chunk, micro]), (1 - kept[chunk], begin[backward])):
            parts += [(since, first, amount * (1 - spec.w_share)), (since, last, amount * spec.w_share)]
        if ("O", chunk, micro) in begin:
            parts.append((end["O", chunk, micro], begin["R", chunk, micro], -kept[chunk]))
    since, until, amounts = np.array(parts).T
    moments = np.concatenate((since, until))  # what is copied comes back where its part, which is negative, ends
    return max(float(amounts[(since <= t) & (t < until)].sum()) for t in moments) / spec.v


def test_copies_are_of_the_chosen_chunks_only() -> None:
    spec = Spec("gis", 4, 16, 4, offload=("none", "full", "none", "full"), costs=Costs(O=0.2))
    copies = registry.order(spec).copies
    assert copies is not None
    assert set((copies.codes % 4).tolist()) == {1, 3}


def test_recomputing_the_first_chunk_frees_more_than_half_the_memory_of_recomputing_both() -> None:
    """The first chunk's activations live longest on every device of interleaved 1F1B."""
    none, first, both = (
        result.result(Spec("interleaved", 4, 8, 2, recompute=modes)) for modes in ("none", ("full", "none"), "full")
    )
    assert none["makespan"] < first["makespan"] < both["makespan"]
    freed = [max(none["peak_memory"]) - max(each["peak_memory"]) for each in (first, both)]
    assert freed[0] > 0.5 * freed[1]


def test_a_family_with_other_chunks_recomputes_the_same_parts_of_the_model() -> None:
    asked = Spec("interleaved", 4, 8, 2, recompute=("full", "none"))
    assert fit(asked, "interleaved", 4)[0].recompute == ("full", "full", "none", "none")
    assert fit(asked, "v-zb")[0].recompute == ("full", "none")
    single, adjusted = fit(asked, "1f1b")
    assert single.recompute == "full"
    assert adjusted is not None
    assert "recompute = full instead of full,none" in adjusted
    assert over_chunks(("full", "full", "none", "none"), 2) == ("full", "none")


def test_the_command_line_takes_a_word_of_each_chunk() -> None:
    command = ["show", "interleaved", "-v", "2", "--recompute", "full,none", "--offload", "none,full", "--json"]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0
    spec = json.loads(done.output)["spec"]
    assert (spec["recompute"], spec["offload"]) == (["full", "none"], ["none", "full"])
    refused = CliRunner().invoke(cli, ["show", "1f1b", "--recompute", "all"])
    assert refused.exit_code == 2
    assert "must be one of none, selective, full" in refused.output
