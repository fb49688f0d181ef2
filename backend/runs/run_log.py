"""The log of one run: what happened, in order, each entry with a sequence number.

Entries are appended and never changed, so a viewer is one number: the last entry it has. Rows are kept as the JSON text
that viewers are sent, which is written once however many there are: what any of them gets next is a piece of it. Text
is also a sixth of the memory that lists of numbers take, and nothing that the garbage collector would walk through.
Ops are for everybody; bytes and messages, which are twice as much, for those who ask for them.
Knows no viewers, no sockets and no database.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

Row = list[int]
Message = dict[str, Any]
# The kinds of rows and how many numbers they have. Times are ns of the run's clock.
WIDTHS = {
    "ops": 6,  # rank, index in the rank's row, ready, start, end, recv_wait; of a copy -1 - index, and its bytes last
    "bytes": 5,  # rank, index in the rank's row, received, sent, live after it
    "messages": 9,  # source, target, 0 activation or 1 gradient, stage, micro-batch, posted, asked, taken, bytes
}
KINDS = tuple(WIDTHS)
OPS = KINDS[:1]
MOST_ROWS = 8192  # of a kind in one entry: no message to a viewer is as long as a run


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one kind: how many, and their JSON without the outer brackets."""

    count: int
    text: str

    @classmethod
    def of(cls, rows: list[Row]) -> Rows:
        return cls(len(rows), _json(rows)[1:-1])

    def read(self) -> list[Row]:
        """The rows, read back."""
        found: list[Row] = json.loads(f"[{self.text}]")
        return found


class Batch(dict[str, Rows]):
    """What arrived together, by kind; kinds of which nothing did are not there."""

    def count(self, kinds: Iterable[str]) -> int:
        """How many rows of these kinds there are."""
        return sum(self[kind].count for kind in kinds if kind in self)


def joined(batches: Sequence[Batch], kind: str) -> str:
    """All rows of a kind as JSON."""
    return f"[{','.join(batch[kind].text for batch in batches if kind in batch)}]"


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
        self.size = 0  # characters of all rows

    @property
    def seq(self) -> int:
        """Number of the last entry, 0 when there is none."""
        return len(self._entries)

    def append(self, event: str, **fields: Any) -> int:
        """Add an entry and give its number."""
        if event == "op_batch":
            batch = Batch({kind: Rows.of(rows) for kind, rows in fields.items() if rows})
            self._entries.append(batch)
            self.ops += batch.count(OPS)
            self.size += sum(len(rows.text) for rows in batch.values())
        else:
            self._entries.append({"event": event, **fields})
        return self.seq

    def extend(self, rows: dict[str, list[Row]]) -> int:
        """Add rows of any kinds, however many: one entry, or as many as keep each of them short."""
        longest = max(map(len, rows.values()), default=0)
        for at in range(0, max(1, longest), MOST_ROWS):
            self.append("op_batch", **{kind: some[at : at + MOST_ROWS] for kind, some in rows.items()})
        return self.seq

    def rows(self, kind: str = "ops") -> list[Row]:
        """All rows of a kind so far, in order of arrival."""
        return [row for batch in self.batches(self.seq) if kind in batch for row in batch[kind].read()]

    def batches(self, upto: int) -> list[Batch]:
        """The rows of the entries up to this one, as they arrived."""
        return [entry for entry in self._entries[:upto] if isinstance(entry, Batch)]

    def entries(self) -> Iterator[Message]:
        """All entries in order, as they were appended."""
        for entry in self._entries:
            if isinstance(entry, Batch):
                yield {"event": "op_batch", "ops": []} | {kind: rows.read() for kind, rows in entry.items()}
            else:
                yield entry

    def outline(self) -> Iterator[Message]:
        """All entries in order, with how many rows there are in place of the rows."""
        for entry in self._entries:
            if isinstance(entry, Batch):
                yield {"event": "op_batch"} | {kind: rows.count for kind, rows in entry.items()}
            else:
                yield entry

    def parts(self, since: int, most: int, kinds: Sequence[str] = OPS) -> list[Part]:
        """What a viewer who has `since` gets next: whole entries, up to about `most` rows of these kinds.

        Batches that stand side by side become one part: so a viewer who falls behind gets fewer and larger messages,
        with nothing left out.
        """
        found: list[Part] = []
        seqs = range(since + 1, self._reach(since, most, kinds) + 1)
        for batches, side_by_side in groupby(seqs, lambda seq: isinstance(self._entries[seq - 1], Batch)):
            numbers = list(side_by_side)
            found += [self._rows(numbers[0], numbers[-1], kinds)] if batches else map(self._event, numbers)
        return found

    def _reach(self, since: int, most: int, kinds: Sequence[str]) -> int:
        """The last entry that still fits; the first batch always does."""
        rows = 0
        for seq in range(since + 1, self.seq + 1):
            entry = self._entries[seq - 1]
            if isinstance(entry, Batch):
                count = entry.count(kinds)
                if rows and rows + count > most:
                    return seq - 1
                rows += count
        return self.seq

    def _event(self, seq: int) -> Part:
        entry = self._entries[seq - 1]
        return Part(seq, seq, _json({"id": self.run_id, "first": seq, "seq": seq} | cast(Message, entry)))

    def _rows(self, first: int, seq: int, kinds: Sequence[str]) -> Part:
        batches = cast(list[Batch], self._entries[first - 1 : seq])
        head = _json({"id": self.run_id, "first": first, "seq": seq, "event": "op_batch"})
        texts = [f'"{kind}":{text}' for kind in kinds if (text := joined(batches, kind)) != "[]" or kind == "ops"]
        return Part(first, seq, ",".join((head[:-1], *texts)) + "}")


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
