"""Runs as pages open them: a long one is encoded once for all who open it at about the same time.

A class that follows a link to a run under way asks for megabytes thirty times in a second. So a long run is answered up
to a round number of entries, which all who come within some seconds share; what happened since comes by the socket, as
everything later does. One is encoded at a time, so that those who watch already keep their share of the processor.
"""

from __future__ import annotations

import json

from gevent.lock import BoundedSemaphore

from backend.runs.run import Run
from backend.web.answer import AWAY_FROM, apart, encode_text
from backend.web.cache import Cache, Encoded

LONG = AWAY_FROM // 3  # ops from which a run is encoded in a thread, and shared
ROUND = 64  # entries: some 3 s of a run
KEPT_BYTES = 16_000_000


class Opened:
    """The encodings of one server's long runs."""

    def __init__(self) -> None:
        self._cache = Cache(KEPT_BYTES)
        self._turn = BoundedSemaphore(1)

    def answer(self, run: Run) -> Encoded:
        """The run up to entry `seq` of the answer, from which its viewer goes on watching."""
        long = run.log.ops >= LONG
        seq = run.log.seq - (run.log.seq % ROUND if long and not run.over else 0)
        # What is answered is settled here, in the loop that runs change in; a thread only joins it.
        batches = run.log.batches(seq)
        about = run.summary() | {"seq": seq, "op_count": sum(batch.count for batch in batches)}
        head = json.dumps(about, separators=(",", ":"))[:-1]

        def encode() -> Encoded:
            return encode_text(f'{head},"ops":[{",".join(batch.text for batch in batches if batch.count)}]}}', level=1)

        if not long:
            return encode()
        with self._turn:
            return self._cache.kept((run.id, head), lambda: apart(AWAY_FROM, encode))
