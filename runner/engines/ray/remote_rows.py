"""Writes the rows that ranks on other hosts recorded to the job's board in the main process, in the common clock.

Does not import Ray.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from runner.telemetry import clock
from runner.telemetry.op_board import Board, Rows
from runner.telemetry.rows import OP

if TYPE_CHECKING:
    from runner.engines.ray.pool import Pool
    from runner.engines.ray.rank_actor import RankReport

TIMES = 3  # columns of every kind of row that are times


class RemoteRows:
    """The rows of one job, named by its `folder`."""

    def __init__(self, folder: str, ranks: int) -> None:
        self.folder = folder
        self.board: Board | None = None
        self.ends = [0] * ranks  # of each rank's last op

    def begin_step(self, rank: int) -> None:
        """Expect the rows of a new step of a rank."""
        self.ends[rank] = 0

    def write(self, pool: Pool, rank: int, report: RankReport) -> bool:
        """Write the new rows of a report, if it is of this job; returns whether it is. Times are relative to a start
        that both clocks know: corrected is only the drift since then, which must not let an op begin before the
        previous one ends."""
        if self.board is None or report.job != self.folder:
            return False
        member = pool.members[rank]
        drift = member.ahead - pool.clocks[member.host.key].at(clock.now())
        rows = Rows(*(np.array(each) for each in report.rows))  # Ray's are read-only
        for each in rows:
            each[:, :TIMES] += drift
        if len(rows.ops):
            rows.ops[:, :TIMES] = np.maximum(rows.ops[:, :TIMES], self.ends[rank] if report.since.ops else 0)
            self.ends[rank] = int(rows.ops[-1, OP.end])
        self.board.write_rank(rank, report.state, report.since, rows)
        return True
