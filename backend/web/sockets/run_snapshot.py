"""Snapshots of runs for pages that open them: a long run is encoded once for all pages that open it within seconds.

A class that follows a link to a run in progress requests megabytes thirty times in a second. So a long run is answered
up to a round number of log entries, and all requests within some seconds share that answer; the entries after it come
by the socket. One run is encoded at a time, so that current viewers keep their share of the processor.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from gevent.lock import BoundedSemaphore

from backend.errors import RequestError, message, with_codes
from backend.jobs.encoding import Encoded, encode_text
from backend.runs.run import Run
from backend.runs.run_log import OPS, joined
from backend.schedule.interop.measured_rows import FIELDS, KINDS
from backend.web.http.background import run_in_background
from backend.web.http.cache import Cache

LONG = 20_000  # rows from which a run is encoded in a thread, and shared
ROUND = 64  # entries: some 3 s of a run
KEPT_BYTES = 16_000_000
NONE = "none"


class RunSnapshots:
    """Encoded runs, the long ones shared between requests."""

    def __init__(self) -> None:
        self._cache = Cache(KEPT_BYTES)
        self._turn = BoundedSemaphore(1)

    def encoded(self, run: Run, kinds: Sequence[str] = KINDS, mine: bool = True) -> Encoded:
        """Encode the run with rows of these kinds, up to the log entry `seq` in it, from which a viewer watches on.

        `mine`: whether the viewer may rename, cancel and delete it.
        """
        long = sum(batch.count(kinds) for batch in run.log.batches(run.log.seq)) >= LONG
        seq = run.log.seq - (run.log.seq % ROUND if long and not run.over else 0)
        # The content is fixed here, in the event loop, where runs change; a thread only joins the texts.
        batches = run.log.batches(seq)
        about = {"mine": mine, "seq": seq, "op_count": sum(batch.count(OPS) for batch in batches), "fields": FIELDS}
        head = json.dumps(with_codes(run.summary() | about), separators=(",", ":"))[:-1]

        def encode() -> Encoded:
            rows = (f'"{kind}":{joined(batches, kind)}' for kind in kinds)
            return encode_text(",".join((head, *rows)) + "}", level=1)

        if not long:
            return encode()
        with self._turn:
            return self._cache.get_or_make((run.id, head, tuple(kinds)), lambda: run_in_background(encode))


def rows_of(text: Any) -> tuple[str, ...]:
    """Read a list of kinds of rows such as "ops,bytes", or "none". Raises RequestError for an unknown kind."""
    if text == NONE:
        return ()
    asked = text.split(",") if isinstance(text, str) else [text]
    for kind in asked:
        if kind not in KINDS:
            why = message(
                "runs.row_kinds",
                "rows are some of {kinds}, separated by commas, or {none}",
                kinds=list(KINDS),
                none=NONE,
            )
            raise RequestError("rows", text, why, nearest="ops")
    return tuple(kind for kind in KINDS if kind in asked)
