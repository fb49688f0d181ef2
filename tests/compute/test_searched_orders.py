"""The orders that searches have found: which are kept, which one is the longest search's, which go along with a job."""

from __future__ import annotations

import numpy as np

from backend.compute.searched_orders import MOST_KEPT, MOST_SENT_OPS, SearchedOrders
from backend.schedule.spec import Spec

SPEC = Spec("zb-auto", 3, 5, memory=2.0, seed=7)


def found(effort: int, ops: int = 45) -> Spec:
    """A spec with rows of so many ops in all."""
    return SPEC.with_(effort=effort, found=(np.zeros(ops, np.uint8),))


def test_the_longest_search_for_a_spec_is_known() -> None:
    orders = SearchedOrders()
    assert orders.longest(SPEC) is SPEC
    for effort in (50, 400, 200):
        orders.add(found(effort))
    assert orders.longest(SPEC).effort == 400
    assert orders.longest(SPEC.with_(effort=1)).effort == 400
    assert orders.longest(SPEC.with_(seed=8)).effort is None


def test_a_known_spec_has_its_rows() -> None:
    orders = SearchedOrders([found(50)])
    assert orders.known(SPEC.with_(effort=50)).found is not None
    assert orders.known(SPEC.with_(effort=51)).found is None


def test_small_orders_of_the_efforts_in_a_query_go_along_with_a_job() -> None:
    orders = SearchedOrders([found(50), found(60), found(70, MOST_SENT_OPS + 1)])
    assert [each.effort for each in orders.to_send({60, 70})] == [60]
    assert [each.effort for each in orders.to_send()] == [50, 60]


def test_only_the_latest_are_kept() -> None:
    orders = SearchedOrders(found(effort) for effort in range(1, MOST_KEPT + 2))
    assert orders.count == MOST_KEPT + 1
    assert orders.known(SPEC.with_(effort=1)).found is None
    assert len(orders.to_send()) == MOST_KEPT
