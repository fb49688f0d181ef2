"""The messages between ranks as sends and receives on streams, in the order in which each rank's program has them.

A message passes when its send and its receive have both come to the front of their streams (NCCL's rendezvous; gloo's
and small messages of NCCL pass through buffers instead). A receive that is posted early therefore holds up what stands
behind it on its stream: head-of-line blocking (pytorch/pytorch issues 172668, 188833).

lowering.py has torch's sequences of them, options/streams.py our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from backend.schedule.errors import message
from backend.schedule.order.placement import Placement

Ints = npt.NDArray[np.int64]

STREAMS: dict[str, str] = {
    "none": message("schedule.streams_none", "each message passes alone: a hop is a delay"),
    "rank": message("schedule.streams_rank", "one stream a rank, torch's default"),
    "direction": message("schedule.streams_direction", "a stream for activations and one for gradients on each rank"),
    "edge": message("schedule.streams_edge", "a stream for each pair of ranks and direction"),
}
RECEIVES: dict[str, str] = {
    "torch": message("schedule.receives_torch", "posted where torch posts them"),
    "deferred": message("schedule.receives_deferred", "held back until their op, as torch's defer_pp_recv does"),
    "placed": message("schedule.receives_placed", "placed in the order in which messages become ready"),
}


@dataclass(frozen=True, eq=False)
class Messages:
    """The sends and receives of all ranks: rank r's in ``[offsets[r]:offsets[r + 1]]``, in its program's order.

    All (J,): ``row`` and ``micro`` the result that is sent (a row of ``Rules``) and its micro-batch in the slot,
    ``receive`` whether this is the receiving end, ``peer`` the rank at the other end, ``issued`` the number of compute
    ops that precede it in the rank's program. ``streams`` says which of them share a stream.
    """

    row: Ints
    micro: Ints
    receive: npt.NDArray[np.bool_]
    peer: Ints
    issued: Ints
    offsets: Ints
    streams: str = "rank"

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def rank(self) -> Ints:
        """Return (J,) the rank of each."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @cached_property
    def partner(self) -> Ints:
        """Return (J,) the other end of each."""
        ends = np.lexsort((self.receive, self.micro, self.row)).reshape(-1, 2)
        out = np.empty(len(self), np.int64)
        out[ends] = ends[:, ::-1]
        return out

    @cached_property
    def stream(self) -> Ints:
        """Return (J,) the stream of each on its rank: equal numbers of a rank share one."""
        if self.streams == "direction":
            return self.row % 2
        return 2 * self.peer + self.receive if self.streams == "edge" else np.zeros(len(self), np.int64)

    def text(self, job: int, placement: Placement) -> str:
        """Return torch's text of one: ``2SEND_F0``, ``3RECV_F0``; a receive names the stage that receives."""
        slot, gradient = divmod(int(self.row[job]), 2)
        rank, chunk = divmod(slot, placement.chunks)
        stage = placement.stage(rank, chunk)
        if self.receive[job]:
            taker = int((placement.before if gradient else placement.after)[slot])
            stage = placement.stage(*divmod(taker, placement.chunks))
        return f"{stage}{'RECV' if self.receive[job] else 'SEND'}_{'FB'[gradient]}{self._number(job, placement)}"

    def _number(self, job: int, placement: Placement) -> int:
        """Return the micro-batch of a message, numbered over all streams of micro-batches."""
        rank, chunk = divmod(int(self.row[job]) // 2, placement.chunks)
        return int(self.micro[job]) + (int(self.micro.max()) + 1) * placement.stream(rank, chunk)


def of_jobs(jobs: Sequence[Ints], streams: str) -> Messages:
    """Return the messages of all ranks from each one's (5, J): row, micro, receive, peer and issued."""
    row, micro, receive, peer, issued = np.concatenate(jobs, axis=1)
    offsets = np.cumsum([0, *(each.shape[1] for each in jobs)])
    return Messages(row, micro, receive > 0, peer, issued, offsets, streams)
