"""The job's board in the main process, filled with what ranks on other hosts note on theirs, in the common clock.

Knows batches and clocks; not how they come. Does not import Ray.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from runner.telemetry import clock
from runner.telemetry.op_board import Board

if TYPE_CHECKING:
    from runner.engines.ray.pool import Pool
    from runner.engines.ray.rank_actor import Batch


class RemoteRows:
    """Of one job, named by its `folder`, until the next."""

    def __init__(self, folder: str, ranks: int) -> None:
        self.folder = folder
        self.board: Board | None = None
        self.ends = [0] * ranks  # of each rank's last op

    def begin(self, rank: int) -> None:
        """A rank begins a step."""
        self.ends[rank] = 0

    def enter(self, pool: Pool, rank: int, batch: Batch) -> bool:
        """Put what is new where it belongs, if it is this job's. Times are relative to a begin that both clocks know:
        only by how much they drifted apart since is to be put right, which must not let an op begin before another
        ends."""
        if self.board is None or batch.job != self.folder:
            return False
        member = pool.members[rank]
        drift = member.ahead - pool.clocks[member.host.key].at(clock.now())
        found = [np.array(rows) for rows in batch.rows]  # Ray gives them read-only
        for rows in found:
            rows[:, :3] += drift
        ops = found[0]
        if len(ops):
            ops[:, :3] = np.maximum(ops[:, :3], self.ends[rank] if batch.since[0] else 0)
            self.ends[rank] = int(ops[-1, 2])
        self.board.enter(rank, batch.state, batch.since, found)
        return True
