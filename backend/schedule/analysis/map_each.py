"""Do independent constructions and simulations: the map and the search that analyses take, and how long an item takes.

backend/compute/parallel_map.py has a map that works in several processes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from backend.schedule.families.registry import family_of, op_count
from backend.schedule.order.order import Order
from backend.schedule.spec import Spec

T = TypeVar("T")
R = TypeVar("R")
Search = Callable[[Spec], tuple[Spec, Order]]
"""From the spec of a searched family to an order within its memory, and the spec that builds this order again."""
SHAPED = 20  # constructing an order for given costs takes about as long as building and timing a fixed one this often


class Map(Protocol):
    """Returns ``work`` of each item, in their order, and raises what ``work`` raises.

    ``time_of`` an item is in ops of a fixed order, as of ``time_in_ops``. With ``longest_first`` false items are begun
    in their order: of work that ends at a time, the first items are then the ones done.
    """

    def __call__(
        self, work: Callable[[T], R], items: Sequence[T], time_of: Callable[[T], int], *, longest_first: bool = True
    ) -> list[R]: ...


def one_by_one(
    work: Callable[[T], R], items: Sequence[T], time_of: Callable[[T], int], *, longest_first: bool = True
) -> list[R]:
    """Do the work here, one item after the other."""
    return [work(item) for item in items]


def time_in_ops(spec: Spec) -> int:
    """Return how many ops of a fixed order take as long to build and time as this schedule."""
    return op_count(spec) * (SHAPED if family_of(spec).shaped_by_costs else 1)
