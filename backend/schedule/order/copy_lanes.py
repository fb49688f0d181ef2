"""Copy lanes: one per rank, beside its compute, that moves activations to host memory and back.

``O`` offloads a chunk's activation after its F, ``R`` reloads it before its backward. A copy is *issued* after a
given number of the rank's compute ops, and runs when the lane is free: copies of a rank run one at a time, in the
order issued, as on a separate stream. The backward waits for its R; compute waits for no other copy. Every
micro-batch of an offloaded slot is offloaded and reloaded, first in, first out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from backend.schedule.order.placement import Placement

O, R = range(2)
LETTERS = "OR"
NAMES = ("offload", "reload")


@dataclass(frozen=True, eq=False)
class Copies:
    """The copies of all ranks.

    ``codes`` (C,) ``kind * chunks + chunk`` of each copy, rank r's in ``[offsets[r]:offsets[r + 1]]``; ``issued``
    (C,) the number of compute ops that its rank has run when it is issued.
    """

    codes: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    issued: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)

    def row(self, rank: int, chunks: int) -> list[tuple[int, int, int, int]]:
        """Return (kind, chunk, micro-batch, issued) of each copy of a rank, in order."""
        count = [0] * (2 * chunks)
        row = []
        span = slice(self.offsets[rank], self.offsets[rank + 1])
        for code, issued in zip(self.codes[span].tolist(), self.issued[span].tolist(), strict=True):
            row.append((*divmod(code, chunks), count[code], issued))
            count[code] += 1
        return row


def merged(row: list[str], copies: Copies, placement: Placement, rank: int) -> list[str]:
    """Return the op texts of a rank with those of its copies where they are issued."""
    out, at = [], 0
    for kind, chunk, micro, issued in copies.row(rank, placement.chunks):
        out += row[at:issued]
        at = max(at, issued)
        out.append(f"{placement.stage(rank, chunk)}{LETTERS[kind]}{micro}")
    return out + row[at:]
