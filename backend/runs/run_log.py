"""The log of one run: numbered entries in the order of events, with rows as the JSON text that viewers receive.

Entries are appended and never changed, so a viewer's state is one number: the last entry it has. The text of rows is
written once for all viewers; it takes a sixth of the memory of lists of numbers and costs the garbage collector
nothing. Ops and copies go to every viewer; bytes and messages, twice as much, only on request.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from backend.errors import with_codes
from backend.schedule.interop.measured_rows import TIMES, Row, named

Event = dict[str, Any]
OPS = ("ops",)
MOST_ROWS = 8192  # of a kind in one entry: no message to a viewer is as long as a run


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one kind: their number, and their JSON without the outer brackets."""

    count: int
    text: str

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Rows:
        """Encode rows."""
        return cls(len(rows), _json(rows)[1:-1])

    def read(self) -> list[Row]:
        """Decode the rows."""
        found: list[Row] = json.loads(f"[{self.text}]")
        return found


class Batch(dict[str, Rows]):
    """Rows that arrived together, by kind; kinds without rows are absent."""

    def count(self, kinds: Iterable[str]) -> int:
        """Count the rows of these kinds."""
        return sum(self[kind].count for kind in kinds if kind in self)


def joined(batches: Sequence[Batch], kind: str) -> str:
    """Encode all rows of a kind as one JSON list."""
    return f"[{','.join(batch[kind].text for batch in batches if kind in batch)}]"


@dataclass(frozen=True, slots=True)
class Part:
    """The entries `first` to `seq` of a log as one message, in JSON."""

    first: int
    seq: int
    text: str


class RunLog:
    """The entries of one run, numbered from 1."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self._entries: list[Event | Batch] = []
        self.ops = 0
        self.size = 0  # characters of all rows

    @property
    def seq(self) -> int:
        """Return the number of the last entry, 0 if there is none."""
        return len(self._entries)

    def append(self, event: str, **fields: Any) -> int:
        """Add an entry and return its number."""
        if event == "op_batch":
            self._add(Batch({kind: Rows.of(rows) for kind, rows in fields.items() if rows}))
        else:
            self._entries.append({"event": event, **with_codes(fields)})
        return self.seq

    def _add(self, batch: Batch) -> None:
        self._entries.append(batch)
        self.ops += batch.count(OPS)
        self.size += sum(len(rows.text) for rows in batch.values())

    def extend(self, rows: dict[str, list[Row]]) -> int:
        """Add rows of any kinds as one entry, or as several where one would exceed MOST_ROWS of a kind."""
        longest = max(map(len, rows.values()), default=0)
        for at in range(0, max(1, longest), MOST_ROWS):
            self.append("op_batch", **{kind: some[at : at + MOST_ROWS] for kind, some in rows.items()})
        return self.seq

    def rows(self, kind: str = "ops") -> list[Any]:
        """Return all rows of a kind so far as its named tuples, in order of arrival."""
        return [row for batch in self.batches(self.seq) if kind in batch for row in named(kind, batch[kind].read())]

    def batches(self, upto: int) -> list[Batch]:
        """Return the batches among the entries up to number `upto`."""
        return [entry for entry in self._entries[:upto] if isinstance(entry, Batch)]

    def texts(self, since: int) -> list[str]:
        """Encode the entries after number `since`, each as a text for `take` of another process' log of the run."""
        return [
            _json({"rows": {kind: [rows.count, rows.text] for kind, rows in entry.items()}})
            if isinstance(entry, Batch)
            else _json(entry)
            for entry in self._entries[since:]
        ]

    def take(self, text: str) -> Event:
        """Add an entry that `texts` has encoded, and return it without its rows. Raises ValueError, KeyError."""
        entry = json.loads(text)
        if "rows" not in entry:
            self._entries.append(entry)
            return cast(Event, entry)
        self._add(Batch({kind: Rows(count, rows) for kind, (count, rows) in entry["rows"].items()}))
        return {"event": "op_batch"}

    def entries(self) -> Iterator[Event]:
        """Yield all entries as they were appended."""
        for entry in self._entries:
            if isinstance(entry, Batch):
                yield {"event": "op_batch", "ops": []} | {kind: rows.read() for kind, rows in entry.items()}
            else:
                yield entry

    def outline(self) -> Iterator[Event]:
        """Yield all entries, with the number of rows in place of the rows."""
        for entry in self._entries:
            if isinstance(entry, Batch):
                yield {"event": "op_batch"} | {kind: rows.count for kind, rows in entry.items()}
            else:
                yield entry

    def parts(self, since: int, most: int, kinds: Sequence[str] = TIMES) -> list[Part]:
        """Return what follows entry `since`: whole entries, up to about `most` rows of these kinds.

        Neighbouring batches become one part, so a viewer who falls behind gets fewer and larger messages, with nothing
        left out.
        """
        found: list[Part] = []
        seqs = range(since + 1, self._last_that_fits(since, most, kinds) + 1)
        for batches, neighbours in groupby(seqs, lambda seq: isinstance(self._entries[seq - 1], Batch)):
            numbers = list(neighbours)
            found += [self._rows(numbers[0], numbers[-1], kinds)] if batches else map(self._event, numbers)
        return found

    def _last_that_fits(self, since: int, most: int, kinds: Sequence[str]) -> int:
        """Return the last entry that still fits into `most` rows; the first batch always does."""
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
        return Part(seq, seq, _json({"id": self.run_id, "first": seq, "seq": seq} | cast(Event, entry)))

    def _rows(self, first: int, seq: int, kinds: Sequence[str]) -> Part:
        batches = cast(list[Batch], self._entries[first - 1 : seq])
        head = _json({"id": self.run_id, "first": first, "seq": seq, "event": "op_batch"})
        texts = [f'"{kind}":{text}' for kind in kinds if (text := joined(batches, kind)) != "[]" or kind == "ops"]
        return Part(first, seq, ",".join((head[:-1], *texts)) + "}")


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
