"""The log of one run: what happened, in order, each entry with a sequence number.

Entries are appended and never changed, so a viewer is one number: the last entry it has. Ops are kept as the JSON text
that viewers are sent, which is written once however many there are: what any of them gets next is a piece of it. Text
is also a sixth of the memory that lists of numbers take, and nothing that the garbage collector would walk through.
Knows no viewers, no sockets and no database.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

Row = list[int]  # rank, index in the rank's row, ready, start, end, recv_wait (ns of the run's clock)
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """Ops that arrived together: `count` rows, as JSON without the outer brackets."""

    count: int
    text: str

    @classmethod
    def of(cls, ops: list[Row]) -> Batch:
        return cls(len(ops), _json(ops)[1:-1])

    def rows(self) -> list[Row]:
        """The rows, read back."""
        read: list[Row] = json.loads(f"[{self.text}]")
        return read


@dataclass(frozen=True, slots=True)
class Part:
    """The entries `first` to `seq` of a log as one message, in JSON."""

    first: int
    seq: int
    text: str


class RunLog:
    """Entry number s is the s-th thing that happened, counted from 1."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self._entries: list[Message | Batch] = []
        self.ops = 0

    @property
    def seq(self) -> int:
        """Number of the last entry, 0 when there is none."""
        return len(self._entries)

    def append(self, event: str, **fields: Any) -> int:
        """Add an entry and give its number."""
        if event == "op_batch":
            batch = Batch.of(**fields)
            self._entries.append(batch)
            self.ops += batch.count
        else:
            self._entries.append({"event": event, **fields})
        return self.seq

    def rows(self) -> list[Row]:
        """All ops so far, in order of arrival."""
        return [row for batch in self.batches(self.seq) for row in batch.rows()]

    def batches(self, upto: int) -> list[Batch]:
        """The ops of the entries up to this one, as they arrived."""
        return [entry for entry in self._entries[:upto] if isinstance(entry, Batch)]

    def entries(self) -> Iterator[Message]:
        """All entries in order, as they were appended."""
        for entry in self._entries:
            yield {"event": "op_batch", "ops": entry.rows()} if isinstance(entry, Batch) else entry

    def parts(self, since: int, most: int) -> list[Part]:
        """What a viewer who has `since` gets next: whole entries, up to about `most` op rows.

        Batches that stand side by side become one part: so a viewer who falls behind gets fewer and larger messages,
        with nothing left out.
        """
        found: list[Part] = []
        seqs = range(since + 1, self._reach(since, most) + 1)
        for batches, side_by_side in groupby(seqs, lambda seq: isinstance(self._entries[seq - 1], Batch)):
            numbers = list(side_by_side)
            found += [self._ops(numbers[0], numbers[-1])] if batches else map(self._event, numbers)
        return found

    def _reach(self, since: int, most: int) -> int:
        """The last entry that still fits; the first batch always does."""
        rows = 0
        for seq in range(since + 1, self.seq + 1):
            entry = self._entries[seq - 1]
            if isinstance(entry, Batch):
                if rows and rows + entry.count > most:
                    return seq - 1
                rows += entry.count
        return self.seq

    def _event(self, seq: int) -> Part:
        entry = self._entries[seq - 1]
        return Part(seq, seq, _json({"id": self.run_id, "first": seq, "seq": seq} | cast(Message, entry)))

    def _ops(self, first: int, seq: int) -> Part:
        batches = cast(list[Batch], self._entries[first - 1 : seq])
        texts = ",".join(batch.text for batch in batches if batch.count)
        head = _json({"id": self.run_id, "first": first, "seq": seq, "event": "op_batch"})
        return Part(first, seq, f'{head[:-1]},"ops":[{texts}]}}')


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
