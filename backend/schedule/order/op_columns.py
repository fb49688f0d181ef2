"""Which micro-batches the ops of an order are of, as arrays over all of them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from backend.schedule.order.order import Order, code_table, micro_numbers

Ints = npt.NDArray[np.int64]


class OpColumns(NamedTuple):
    """Of each op of an order, (N,) each: its rank, code, kind and chunk, its micro-batch, counted over both streams,
    and of a pair the chunk and the micro-batch of its backward half.
    """

    rank: Ints
    code: Ints
    kind: Ints
    chunk: Ints
    micro: Ints
    back: Ints
    second: Ints


@lru_cache(maxsize=1)  # a search of the order of entry times one order thousands of times
def op_columns(order: Order) -> OpColumns:
    """Return which micro-batches each op of an order is of."""
    rank = np.repeat(np.arange(order.p), np.diff(order.offsets))
    kind, chunk, back = code_table(order.chunks)[order.codes].T
    numbers = [micro_numbers(order, each) for each in range(order.p)]
    first, second = (np.concatenate(each).astype(np.int64) for each in zip(*numbers, strict=True))
    shift = order.n * order.placement.stream_of
    kind, chunk, back = (each.astype(np.int64) for each in (kind, chunk, back))
    return OpColumns(
        rank, order.codes.astype(np.int64), kind, chunk, first + shift[rank, chunk], back, second + shift[rank, back]
    )
