"""Large request bodies: held in memory once, one for a client and few in all, and received within a minute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import gevent
from flask import Request

from backend.errors import RequestError, message
from backend.web.http.clients import client_of
from backend.web.http.errors import ApiError

MOST = 8  # at once
PIECE = 65_536  # bytes
RECEIVED_S = 60.0
RETRY_S = 5  # after which another try may succeed: an import takes about as long


class LargeBodies:
    """The large bodies that are in memory."""

    def __init__(self) -> None:
        self._clients: set[str] = set()

    @contextmanager
    def read(self, request: Request, most: int) -> Iterator[bytearray]:
        """Receive a body of at most `most` bytes, and count it until the end of the block.

        Raises RequestError if the client has another one or there are too many.
        """
        client = client_of(request)
        if client in self._clients:
            why = message(
                "http.one_import", "an import of yours is being read; try again in {seconds} s", seconds=RETRY_S
            )
            raise _busy(RequestError("imports", 1, why, limit=1, kind="share"))
        if len(self._clients) >= MOST:
            why = message(
                "http.imports_full",
                "{most} imports are being read; try again in {seconds} s",
                most=MOST,
                seconds=RETRY_S,
            )
            raise _busy(RequestError("imports", MOST, why, limit=MOST, kind="full"))
        self._clients.add(client)
        try:
            yield _received(request, most)
        finally:
            self._clients.discard(client)


def _received(request: Request, most: int) -> bytearray:
    request.max_content_length = most
    body = bytearray()
    try:
        with gevent.Timeout(RECEIVED_S, TimeoutError):
            while piece := request.stream.read(PIECE):
                body += piece
                gevent.sleep(0)  # a fast sender would otherwise keep the event loop until its end
    except TimeoutError:
        why = message("http.body_too_slow", "The body did not arrive within {seconds} s.", seconds=round(RECEIVED_S))
        raise ApiError(408, "body", None, why) from None
    return body


def _busy(error: RequestError) -> RequestError:
    error.retry_after = RETRY_S
    return error
