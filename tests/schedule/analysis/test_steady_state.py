"""The building block of a family against its orders: steady state, memory, and the reasons of families without one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from flask.testing import FlaskClient

from backend.schedule.analysis.steady_state import steady_state
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.registry import FAMILIES
from backend.schedule.order.ops import Pair
from backend.schedule.order.order import Order
from backend.schedule.search.building_block import Block
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import LIMITS, Spec
from tests.conftest import error_of
from tests.support import cases

HAVING = [name for name, family in FAMILIES.items() if family.block]
EXACT = [name for name in HAVING if not FAMILIES[name].shaped_by_costs]
WITHOUT = [name for name in FAMILIES if name not in HAVING]
SIZES = [1, 2, 3, 4, 5, 6, 8, 11]

Starts = dict[tuple[int, int, str], npt.NDArray[np.float64]]


def spec_of(name: str, p: int, m: int) -> Spec:
    """At costs that give every op of a chunk one unit of time: a slot."""
    v = FAMILIES[name].v[1]
    return Spec(name, p, m, v, costs=Costs(float(v), float(v), float(v)))


def block_of(name: str, p: int) -> Block:
    block = FAMILIES[name].block
    assert block is not None
    return block.build(p)


def starts(order: Order, spec: Spec) -> Starts:
    """When each rank's chunk starts each kind, by micro-batch; a full backward is I, and W one slot later."""
    timeline, found = simulate(order, spec.costs, spec.v), {}
    for rank in range(order.p):
        for op, start in zip(order.row(rank), timeline.rank(rank)[0].tolist(), strict=True):
            assert not isinstance(op, Pair)
            for kind, later in {"B": (("I", 0.0), ("W", 1.0))}.get(op.kind, ((op.kind, 0.0),)):
                found.setdefault((rank, op.chunk, kind), {})[op.micro] = start + later
    return {key: np.array([times[k] for k in sorted(times)]) for key, times in found.items()}


@cases("p", SIZES)
@pytest.mark.parametrize("name", EXACT)
def test_the_steady_state_of_a_handcrafted_order_is_its_block_slot_for_slot(name: str, p: int) -> None:
    spec, block = spec_of(name, p, 6 * p), block_of(name, p)
    slots = np.asarray(block.as_dict()["slots"])
    found = starts(registry.order(spec), spec)
    middle = np.arange(3 * p, 4 * p)  # full warm-up before, whole cool-down after
    first = found[0, 0, "F"][3 * p] - slots[0, 0, 0]
    for (rank, chunk, kind), times in found.items():
        due = slots[rank, chunk, "FIW".index(kind)] + block.period * (middle - 3 * p)
        assert np.array_equal(times[middle] - first, due), (rank, chunk, kind)


@cases("p", SIZES)
@pytest.mark.parametrize("name", HAVING)
def test_every_op_follows_a_period_after_that_of_the_micro_batch_before(name: str, p: int) -> None:
    spec, block = spec_of(name, p, 8 * p), block_of(name, p)
    for key, times in starts(registry.order(spec), spec).items():
        assert (np.diff(times[3 * p : 5 * p]) == block.period).all(), key


@cases("p", SIZES)
@pytest.mark.parametrize("name", HAVING)
def test_the_blocks_memory_is_the_orders(name: str, p: int) -> None:
    block = block_of(name, p)
    in_flight, _ = peaks(registry.order(spec_of(name, p, 6 * p)))
    assert in_flight.max() == block.peak()
    if name in EXACT:
        assert in_flight.tolist() == block.peaks().tolist()


@cases("p", range(1, 25))
@pytest.mark.parametrize("name", HAVING)
def test_lifespan_over_period_is_the_mean_of_activations_in_flight_and_never_above_the_peak(name: str, p: int) -> None:
    block = block_of(name, p)
    slots = np.asarray(block.as_dict()["slots"])
    begins, ends = slots[:, :, 0], slots[:, :, 2] + 1
    held = [
        ((t - begins) // block.period - (t - ends) // block.period).sum(axis=1) for t in range(int(block.period))
    ]  # chunks in flight on each device in each slot of a period
    mean = block.lifespan() / block.period
    assert np.allclose(np.mean(held, axis=0), mean)
    assert np.array_equal(np.max(held, axis=0), block.peaks())
    assert (mean <= block.peaks()).all()
    assert (block.peaks() < mean + slots.shape[1]).all()


@cases("p", SIZES)
@pytest.mark.parametrize("name", HAVING)
def test_a_block_fills_every_slot_of_a_period_once_and_keeps_the_order_of_the_model(name: str, p: int) -> None:
    block = block_of(name, p)
    slots = np.asarray(block.as_dict()["slots"])
    for device in slots:
        assert sorted((device.ravel() % block.period).tolist()) == list(range(int(block.period)))
    assert (slots[:, :, 1] > slots[:, :, 0]).all()
    assert (slots[:, :, 2] > slots[:, :, 1]).all()
    chain = [slots[:, 0], slots[::-1, 1]] if slots.shape[1] == 2 else [slots[:, 0]]
    by_stage = np.concatenate(chain)
    assert (np.diff(by_stage[:, 0]) >= 1).all(), "forward runs down the model"
    assert (np.diff(by_stage[:, 1]) <= -1).all(), "backward runs up"


@pytest.mark.parametrize("name", WITHOUT)
def test_a_family_without_a_block_has_a_reason_and_names_one_with_a_block(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        steady_state(Spec(name, 4))
    assert caught.value.field == "family"
    assert caught.value.message.startswith(FAMILIES[name].title)
    assert caught.value.nearest in HAVING


@pytest.mark.parametrize("name", WITHOUT)
def test_the_reason_for_having_none_is_true_of_the_order(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        steady_state(Spec(name, 4))
    spec, why = spec_of(name, 4, 32), caught.value.message
    order = registry.order(spec)
    if "searches" in why:
        assert FAMILIES[name].shaped_by_costs
    elif "pairs" in why:
        assert any(isinstance(op, Pair) for op in order.row(0))
    elif "groups" in why:
        gaps = np.diff(starts(order, spec)[0, 0, "F"][8:24])
        assert len(set(gaps.tolist())) > 1
    else:
        assert "before the first backward" in why
        kinds = ["".join(op.kind for op in order.row(rank) if not isinstance(op, Pair)) for rank in range(4)]
        assert all("F" not in row.lstrip("F") for row in kinds)
        assert peaks(order)[0].max() == 32 * spec.v


def test_the_route_gives_the_block_with_its_arithmetic(client: FlaskClient) -> None:
    body = client.get("/api/block?family=v-min&p=4").get_json()
    assert body["block"]["period"] == 6
    assert body["block"]["slots"][1] == [[1, 14, 17], [6, 9, 10]]
    assert body["memory"] == [each / 6 for each in body["block"]["lifespan"]]
    assert (body["peaks"], body["peak"], body["chunks"]) == ([4, 4, 4, 4], 4, 2)
    sentence = body["sentence"]["message"]
    assert "22 / 6 = 3.67 chunks in flight on average, 4 at the peak, the worth of 2 micro-batches" in sentence
    assert client.get(f"/api/block?family=v-zb&p={LIMITS['p']}").get_json()["peak"] == 2 * LIMITS["p"]


@pytest.mark.parametrize(
    ("query", "field"),
    [("family=gpipe", "family"), ("family=nope", "family"), ("p=0", "p"), ("family=1f1b&m=8", "m"), ("p=2&p=3", "p")],
)
def test_the_route_refuses_in_the_common_error_shape_and_leniently_on_request(
    client: FlaskClient, query: str, field: str
) -> None:
    strict = client.get(f"/api/block?{query}")
    assert strict.status_code == 400
    assert error_of(strict)["field"] == field
    lenient = client.get(f"/api/block?{query}", headers={"Prefer": "handling=lenient"})
    assert (lenient.status_code, lenient.get_json()) == (200, strict.get_json())


def test_the_list_of_families_marks_those_with_a_block(client: FlaskClient) -> None:
    blocks = {each["name"]: each["block"] for each in client.get("/api/families").get_json()["families"]}
    assert [name for name in blocks if blocks[name]] == HAVING
    assert HAVING == ["1f1b", "pipedream", "zb-h1", "zb-h2", "v-min", "v-half", "v-zb"]
