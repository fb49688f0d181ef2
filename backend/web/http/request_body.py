"""Request bodies: strict reading of JSON, and large ones, which are held in memory once and received in a minute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gevent
from flask import Request

from backend.access.limits.fair_queue import NoPlaceError
from backend.access.limits.places import Places
from backend.errors import message
from backend.jobs.strict_json import parse_object
from backend.web.http.clients import client_of
from backend.web.http.errors import ApiError

JSON_TYPE = "application/json"
PIECE = 65_536  # bytes
RECEIVED_S = 60.0
RETRY_S = 5  # after which another try may succeed: an import takes about as long


def read_object(request: Request) -> dict[str, Any]:
    """Read the body as a JSON object. Raises RequestError for anything else, repeated keys and NaN included."""
    need_json(request)
    return parse_object(request.get_data(cache=False))


def need_json(request: Request) -> None:
    """Raise ApiError (415) for a body of another type.

    A browser asks the server first (CORS preflight) before it lets a page of another site send this one.
    """
    if request.mimetype != JSON_TYPE:
        text = message("http.not_json_type", "The body must be JSON, sent with Content-Type: application/json.")
        raise ApiError(415, "Content-Type", request.mimetype, text)


@contextmanager
def large_body(request: Request, most: int, places: Places) -> Iterator[bytearray]:
    """Receive a body of at most `most` bytes, and keep its place until the end of the block.

    Raises RequestError if the client has another one or there are too many.
    """
    client = client_of(request)
    try:
        places.take(client)
    except NoPlaceError as error:
        full = message(
            "http.imports_full", "{most} imports are being read; try again in {seconds} s",
            most=error.limit, seconds=RETRY_S,
        )  # fmt: skip
        share = message(
            "http.one_import", "an import of yours is being read; try again in {seconds} s", seconds=RETRY_S
        )
        raise error.refusal("imports", full, share, RETRY_S) from None
    try:
        yield _received(request, most)
    finally:
        places.leave(client)


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
