"""The times of one micro-batch that passes through all stages on its own: what every bound on a schedule adds up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from backend.schedule.search.building_block import Instance
from backend.schedule.simulation.costs import per_stage

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Alone:
    """The times of one micro-batch that passes through all stages on its own.

    Arrays (S,) by stage: ``rank``, with two ``streams`` that of the first; the costs ``f``, ``i``, ``w``; ``enter``,
    when its F starts; ``leave``, when its I ends. Between any two of these moments every micro-batch takes at least as
    long, with two streams those of either.
    """

    rank: npt.NDArray[np.int64]
    f: Floats
    i: Floats
    w: Floats
    enter: Floats
    leave: Floats
    streams: int = 1

    @staticmethod
    def of(instance: Instance, micro: int = 0, stream: int = 0) -> Alone:
        """Compute the times of a micro-batch; which of a stream matters only where they differ."""
        place = instance.placement
        slot = place.slot_at[0]
        rank = slot // place.chunks
        scale = instance.scale[stream, micro if instance.scale.shape[1] > 1 else 0]
        f, i, w = instance.cost[slot].T * scale
        # of an I, what is left to do once its gradient is there
        late = i - per_stage(instance.costs.lead, place.stages, instance.v) * scale
        hop = np.where(np.diff(rank) != 0, instance.costs.comm, 0.0)
        enter = np.concatenate(([0.0], np.cumsum(f[:-1] + hop)))
        back = np.concatenate(([0.0], np.cumsum(late[:0:-1] + hop[::-1])))[::-1]
        return Alone(rank, f, i, w, enter, enter[-1] + f[-1] + back + late, place.streams)

    def stages_of(self, rank: int) -> npt.NDArray[np.int64]:
        """Return the stages of a rank, with two streams that of each."""
        mine = np.flatnonzero(self.rank == rank)
        return mine if self.streams == 1 else np.append(mine, len(self.rank) - 1 - mine)

    @cached_property
    def first(self) -> npt.NDArray[np.int64]:
        """Return (p,) the lowest stage of each rank, which has its first op and its last gradient."""
        return np.array([np.flatnonzero(self.rank == r)[0] for r in range(self.rank.max() + 1)])

    @cached_property
    def top(self) -> npt.NDArray[np.int64]:
        """Return (p,) the highest stage of each rank, which has its first gradient and its last F."""
        return np.array([np.flatnonzero(self.rank == r)[-1] for r in range(self.rank.max() + 1)])

    @cached_property
    def head(self) -> Floats:
        """Return (p,) when each rank starts its first op, the F of micro-batch 0 in its lowest stage."""
        return self.enter[self.first]
