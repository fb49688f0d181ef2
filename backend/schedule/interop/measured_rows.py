"""The rows that a run measures: their fields by name, for the runner that sends them and the server that reads them.

A row crosses process boundaries as a list of whole numbers. The runner states the fields of its rows in the event
`running`; the log, the database and the page have them in the order of FIELDS. Times are in ns since the run's start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from backend.schedule.errors import message

Row = Sequence[int]


class OpRow(NamedTuple):
    """One op: its rank, its index in the rank's row, and for how long it waited for messages."""

    rank: int
    index: int  # type: ignore[assignment]  # the field hides tuple.index, which is not used
    ready: int
    start: int
    end: int
    recv_wait: int


class CopyRow(NamedTuple):
    """One copy between device and host memory; its index is its position in the rank's copy lane."""

    rank: int
    index: int  # type: ignore[assignment]  # the field hides tuple.index, which is not used
    ready: int
    start: int
    end: int
    bytes: int


class BytesRow(NamedTuple):
    """The bytes of one op: of the messages that it received and sent, and of the activations that are alive on its
    rank's device after it.
    """

    rank: int
    index: int  # type: ignore[assignment]  # the field hides tuple.index, which is not used
    received: int
    sent: int
    live: int


class MessageRow(NamedTuple):
    """One message: `gradient` is 1 for a gradient, 0 for an activation; `stage` is the receiving stage; when its sender
    posted it, when the receiver asked for it, and when the receiver had it; `bytes` with its header.
    """

    source: int
    target: int
    gradient: int
    stage: int
    micro: int
    posted: int
    asked: int
    taken: int
    bytes: int


TYPES: dict[str, Any] = {"ops": OpRow, "copies": CopyRow, "bytes": BytesRow, "messages": MessageRow}
KINDS = tuple(TYPES)
FIELDS: dict[str, list[str]] = {kind: list(row._fields) for kind, row in TYPES.items()}
TIMES = ("ops", "copies")  # what the timeline of a run needs; bytes and messages are twice as much


def named(kind: str, rows: Iterable[Row]) -> list[Any]:
    """Return rows in the order of FIELDS as named tuples: OpRow, CopyRow, BytesRow or MessageRow."""
    make = TYPES[kind]._make
    return [make(row) for row in rows]


class RowReader:
    """Reads the rows of one run's batches in the layout that its `running` event states."""

    def __init__(self, fields: Mapping[str, Sequence[str]] | None = None) -> None:
        """Read rows whose columns have the names that `fields` lists for each kind, by default those of FIELDS.

        Raises ValueError where a field is missing.
        """
        self._columns: dict[str, list[int] | None] = dict.fromkeys(KINDS)  # None: as in FIELDS
        self._widths = {kind: len(names) for kind, names in FIELDS.items()}
        for kind, names in (fields or {}).items():
            if kind not in TYPES or list(names) == FIELDS[kind]:
                continue
            missing = [name for name in FIELDS[kind] if name not in names]
            if missing:
                text = message(
                    "runs.missing_fields", "the runner's rows of {kind} lack {names}", kind=kind, names=missing
                )
                raise ValueError(text)
            self._columns[kind] = [list(names).index(name) for name in FIELDS[kind]]
            self._widths[kind] = len(names)

    def read(self, kind: str, rows: Iterable[Row]) -> list[Row]:
        """Return rows in the order of FIELDS. Raises ValueError for a row that is not its kind's number of whole
        numbers, so that a bad row is neither stored nor sent on.
        """
        found, width = list(rows), self._widths[kind]
        if not {width}.issuperset(map(len, found)) or not {int}.issuperset(map(type, chain.from_iterable(found))):
            text = message(
                "runs.bad_rows",
                "the runner sent {kind} that are not rows of {width} whole numbers",
                kind=kind,
                width=width,
            )
            raise ValueError(text)
        columns = self._columns[kind]
        return found if columns is None else [[row[at] for at in columns] for row in found]
