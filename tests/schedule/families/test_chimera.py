"""Chimera: the paper's figures, and two pipelines that never need a rank in the same slot."""

from __future__ import annotations

import numpy as np
import pytest

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.families.bidirectional.chimera import CHIMERA
from backend.schedule.laws.formula import compiled
from backend.schedule.simulation.check import check
from backend.schedule.simulation.costs import Costs
from backend.schedule.simulation.memory import peaks
from backend.schedule.simulation.metrics import figures
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec


@pytest.mark.parametrize(
    ("p", "m", "makespan"), [(8, 8, 36), (8, 16, 66), (8, 32, 126), (4, 4, 16), (4, 8, 30), (4, 16, 58), (16, 48, 200)]
)
def test_a_backward_of_two_forwards_takes_as_long_as_in_the_paper(p: int, m: int, makespan: int) -> None:
    spec = Spec("chimera", p, m, costs=Costs(1.0, 1.0, 1.0))
    order = registry.order(spec)
    check(order)
    assert figures(simulate(order, spec.costs, spec.v)).makespan == makespan


@pytest.mark.parametrize("m", [8, 16, 32])
def test_the_middle_ranks_hold_p_micro_batches_and_those_at_the_ends_half_and_one(m: int) -> None:
    in_flight, _ = peaks(registry.order(Spec("chimera", 8, m)))
    assert in_flight.tolist() == [5, 6, 7, 8, 8, 7, 6, 5]


@pytest.mark.parametrize(("p", "n"), [(2, 5), (4, 2), (4, 7), (8, 12), (14, 30)])
def test_no_two_ops_of_a_rank_have_the_same_slot(p: int, n: int) -> None:
    assert CHIMERA.table is not None
    slots_of = compiled(CHIMERA.table.slots.values(), "p, r, i", CHIMERA.table.let.items())
    for r in range(p):
        slots = np.concatenate(slots_of(p, r, np.arange(n)))
        assert len(np.unique(slots)) == len(slots) == 4 * n


@pytest.mark.parametrize(
    ("p", "m", "field", "nearest"), [(3, 6, "p", 4), (4, 6, "m", 8), (4, 9, "m", 8), (8, 2, "m", 8)]
)
def test_an_odd_p_and_incomplete_units_are_refused_with_the_nearest(p: int, m: int, field: str, nearest: int) -> None:
    with pytest.raises(SpecError) as caught:
        registry.order(Spec("chimera", p, m))
    assert (caught.value.field, caught.value.nearest) == (field, nearest)
