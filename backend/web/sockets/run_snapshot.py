"""Runs as pages open them: a long one is encoded once for all who open it at about the same time.

A class that follows a link to a run under way asks for megabytes thirty times in a second. So a long run is answered up
to a round number of entries, which all who come within some seconds share; what happened since comes by the socket, as
everything later does. One is encoded at a time, so that those who watch already keep their share of the processor.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from gevent.lock import BoundedSemaphore

from backend.runs.run import Run
from backend.runs.run_log import KINDS, OPS, joined
from backend.schedule.errors import SpecError
from backend.web.http.background import BACKGROUND_OPS, run_in_background
from backend.web.http.cache import Cache, Encoded
from backend.web.http.responses import encode_text

LONG = BACKGROUND_OPS // 3  # rows from which a run is encoded in a thread, and shared
ROUND = 64  # entries: some 3 s of a run
KEPT_BYTES = 16_000_000
NONE = "none"


class Opened:
    """The encodings of one server's long runs."""

    def __init__(self) -> None:
        self._cache = Cache(KEPT_BYTES)
        self._turn = BoundedSemaphore(1)

    def answer(self, run: Run, kinds: Sequence[str] = KINDS) -> Encoded:
        """The run up to entry `seq` of the answer, from which its viewer goes on watching, with rows of these kinds."""
        long = sum(batch.count(kinds) for batch in run.log.batches(run.log.seq)) >= LONG
        seq = run.log.seq - (run.log.seq % ROUND if long and not run.over else 0)
        # What is answered is settled here, in the loop that runs change in; a thread only joins it.
        batches = run.log.batches(seq)
        about = run.summary() | {"seq": seq, "op_count": sum(batch.count(OPS) for batch in batches)}
        head = json.dumps(about, separators=(",", ":"))[:-1]

        def encode() -> Encoded:
            rows = (f'"{kind}":{joined(batches, kind)}' for kind in kinds)
            return encode_text(",".join((head, *rows)) + "}", level=1)

        if not long:
            return encode()
        with self._turn:
            return self._cache.get_or_make(
                (run.id, head, tuple(kinds)), lambda: run_in_background(BACKGROUND_OPS, encode)
            )


def rows_of(text: Any) -> tuple[str, ...]:
    """The kinds of rows that somebody asks for, such as "ops,bytes" or "none"; SpecError for one that there is not."""
    if text == NONE:
        return ()
    asked = text.split(",") if isinstance(text, str) else [text]
    for kind in asked:
        if kind not in KINDS:
            some = f"rows are some of {', '.join(KINDS)}, separated by commas, or {NONE}"
            raise SpecError("rows", text, some, nearest="ops")
    return tuple(kind for kind in KINDS if kind in asked)
