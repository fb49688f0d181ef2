"""The ops of a timeline as one numpy array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from backend.schedule.order.ops import LETTERS, PAIR
from backend.schedule.order.order import code_table, micro_numbers
from backend.schedule.simulation.timeline import Timeline

OPS = np.dtype(
    [
        ("rank", np.int32),
        ("kind", "U2"),
        ("stage", np.int32),
        ("chunk", np.int32),
        ("micro", np.int32),
        ("start", np.float64),
        ("end", np.float64),
        ("paired_stage", np.int32),
        ("paired_micro", np.int32),
    ]
)
KINDS = np.array([*LETTERS[:PAIR], "FB", *LETTERS[PAIR + 1 :]])


def ops_of(timeline: Timeline, scale: float = 1.0) -> npt.NDArray[Any]:
    """Return (N,) the ops of all ranks as records of OPS, rank after rank in the order of execution; times times
    ``scale``.
    """
    order = timeline.order
    place, out = order.placement, np.empty(len(order), OPS)
    out["start"], out["end"] = timeline.start * scale, timeline.end * scale
    out["rank"] = rank = np.repeat(np.arange(order.p), np.diff(order.offsets))
    kind, chunk, other = code_table(order.chunks)[order.codes].T
    micro = np.concatenate([np.stack(micro_numbers(order, each), 1) for each in range(order.p)])
    paired = kind == PAIR
    out["kind"], out["chunk"] = KINDS[kind], chunk
    out["stage"], out["micro"] = place.stage_of[rank, chunk], micro[:, 0] + order.n * place.stream_of[rank, chunk]
    second = micro[:, 1] + order.n * place.stream_of[rank, other]
    out["paired_stage"] = np.where(paired, place.stage_of[rank, other], -1)
    out["paired_micro"] = np.where(paired, second, -1)
    return out


def to_pandas(rows: Any) -> Any:
    """Return rows as a pandas DataFrame. Raises ImportError, with the way out, where pandas is not installed."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas: pip install pandas") from None
    return pandas.DataFrame(rows)
