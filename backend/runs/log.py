"""The log of one run: what happened, in order, each entry with a sequence number.

Entries are appended and never changed, so a viewer is one number: the last entry it has. Knows no viewers, no sockets
and no database.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = list[int]  # rank, index in the rank's row, ready, start, end, recv_wait (ns of the run's clock)
Message = dict[str, Any]


class RunLog:
    """Entry number s is the s-th thing that happened, counted from 1."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self._entries: list[Message] = []
        self.ops = 0

    @property
    def seq(self) -> int:
        """Number of the last entry, 0 when there is none."""
        return len(self._entries)

    def append(self, event: str, **fields: Any) -> int:
        """Add an entry and give its number."""
        self._entries.append({"event": event, **fields})
        if event == "op_batch":
            self.ops += len(fields["ops"])
        return self.seq

    def rows(self) -> list[Row]:
        """All ops so far, in order of arrival."""
        return [row for entry in self._entries if entry["event"] == "op_batch" for row in entry["ops"]]

    def entries(self) -> Iterator[Message]:
        """All entries in order, as they were appended."""
        return iter(self._entries)

    def messages(self, since: int, most: int) -> list[Message]:
        """What a viewer who has `since` gets next: whole entries, up to about `most` op rows.

        Batches that stand side by side become one message, which covers the entries `first` to `seq`: so a viewer
        who falls behind gets fewer and larger messages, with nothing left out.
        """
        found: list[Message] = []
        rows = 0
        for seq in range(since + 1, self.seq + 1):
            entry = self._entries[seq - 1]
            if entry["event"] == "op_batch":
                if rows and rows + len(entry["ops"]) > most:
                    break
                rows += len(entry["ops"])
                if found and found[-1]["event"] == "op_batch":
                    found[-1] = found[-1] | {"seq": seq, "ops": found[-1]["ops"] + entry["ops"]}
                    continue
            found.append({"id": self.run_id, "first": seq, "seq": seq, **entry})
        return found
