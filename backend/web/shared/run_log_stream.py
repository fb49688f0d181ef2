"""The logs of runs as Redis streams: entry k of a log is entry "k-0" of its stream.

Redis refuses an entry whose number is not larger than the last one, and returns what follows a given number. So a
writer that has lost its connection continues after the last entry of the stream and nothing is there twice, and a
reader asks for what follows its own last entry and misses nothing, however long it was away; also where Redis comes
back empty, or as it was when it last saved its data, and the writer begins again.
Entry "0-1" is the run as it was asked for.
"""

from __future__ import annotations

import json
from typing import Any

import redis
from gevent.lock import BoundedSemaphore

from backend.errors import from_codes, with_codes
from backend.runs.run import Run
from backend.runs.store import HEAD
from backend.web.shared.connection import UNAVAILABLE, key

HEAD_ID, HEAD_FIELD, ENTRY_FIELD = "0-1", b"run", b"entry"
AT_ONCE = 64  # entries in one call: some 3 s of a run
ENDED_S = 600  # for which the stream of an ended run stays, for processes that still read it
LIVE_S = 86_400  # after which a stream is deleted that is neither written to nor renewed


def stream_of(run_id: str) -> str:
    """Return the key of a run's stream."""
    return key("run", run_id)


class Writer:
    """Writes the log of one run; `sent` is the number of its last entry in the stream, None until Redis was asked."""

    def __init__(self, client: Any, run: Run) -> None:
        self.run = run
        self.sent: int | None = None
        self._client, self._stream = client, stream_of(run.id)
        self._turn = BoundedSemaphore(1)
        self._head = head_of(run)  # as it is now: its entries change the rest

    def begin_again(self) -> None:
        """Ask Redis before the next entry what it has: it may have come back empty."""
        self.sent = None

    def write(self) -> None:
        """Send what the stream lacks. Raises what Redis raises; then call it again later."""
        with self._turn:
            if self.sent is None:
                self.sent = self._last()
            try:
                self._send(self.sent)
            except UNAVAILABLE:
                self.begin_again()  # what of it has arrived is not known
                raise

    def _send(self, sent: int) -> None:
        texts = self.run.log.texts(sent)
        for first in range(0, len(texts), AT_ONCE):
            calls = self._client.pipeline(transaction=False)
            calls.xrevrange(self._stream, count=1)
            for number, text in enumerate(texts[first : first + AT_ONCE], start=sent + first + 1):
                # A stream that is gone, because Redis has come back empty, must not begin in the middle of the log.
                calls.xadd(self._stream, {ENTRY_FIELD: text}, id=f"{number}-0", nomkstream=True)
            last = calls.execute()[0]
            if not last or number_of(last[0][0]) != sent + first:  # Redis is as it was a while ago: there is a gap now
                self._client.delete(self._stream)
                raise redis.RedisError(f"the stream {self._stream} lacks entries")
            self.sent = sent + first + len(texts[first : first + AT_ONCE])
        self._client.expire(self._stream, ENDED_S if self.run.over else LIVE_S)

    def _last(self) -> int:
        """Return the number of the stream's last entry, after its first one was written if there is no stream."""
        try:
            self._client.xadd(self._stream, {HEAD_FIELD: self._head}, id=HEAD_ID)
        except redis.ResponseError:  # it has entries
            last = self._client.xrevrange(self._stream, count=1)
            return number_of(last[0][0]) if last else 0
        return 0


def read_run(client: Any, run_id: str) -> Run | None:
    """Return a run as far as its stream has it, None where there is no stream. Raises what Redis raises, ValueError."""
    run: Run | None = None
    after = "-"
    while found := client.xrange(stream_of(run_id), min=after, count=AT_ONCE):
        for entry_id, fields in found:
            if HEAD_FIELD in fields:
                run = run_of(fields[HEAD_FIELD])
            elif run is None or number_of(entry_id) != run.log.seq + 1:
                return run  # a stream that lacks its beginning: another process is about to write it again
            else:
                run.follow(fields[ENTRY_FIELD].decode())
        after = "(" + found[-1][0].decode()
    return run


def read_further(client: Any, run: Run, wait_ms: int) -> int:
    """Apply what the stream has after the last entry of the run, waiting for it at most so long; returns the number of
    entries. Raises what Redis raises, ValueError.
    """
    stream = stream_of(run.id)
    found = client.xread({stream: f"{run.log.seq}-0" if run.log.seq else HEAD_ID}, count=AT_ONCE, block=wait_ms)
    return sum(_follow(run, entry_id, fields) for _, entries in found for entry_id, fields in entries)


def _follow(run: Run, entry_id: bytes, fields: dict[bytes, bytes]) -> int:
    if number_of(entry_id) != run.log.seq + 1 or ENTRY_FIELD not in fields:
        return 0  # the writer is about to fill the gap, or has gone on elsewhere: the caller looks again
    run.follow(fields[ENTRY_FIELD].decode())
    return 1


def number_of(entry_id: bytes) -> int:
    """Return the number of a log's entry from the id of the stream's."""
    return int(entry_id.split(b"-")[0])


def head_of(run: Run) -> str:
    """Encode a run without its log."""
    return json.dumps(with_codes({name: getattr(run, name) for name in (*HEAD, "order")}))


def run_of(head: str | bytes) -> Run:
    """Return the run that `head_of` has encoded, its log empty. Raises ValueError, KeyError, TypeError."""
    fields = json.loads(head)
    facts = from_codes(fields.pop("facts"))
    return Run(**fields, facts=facts)
