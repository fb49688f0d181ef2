"""How an encoded answer goes out: deflated where the client takes it, and not at all where it has it already."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any, TypeVar

import gevent
from flask import Request, Response

from backend.web.http.cache import Encoded

T = TypeVar("T")
JSON = "application/json"
AWAY_FROM = 60_000  # ops; work on fewer is over before a thread would have paid


def send(request: Request, encoded: Encoded) -> Response:
    """The answer to this request. A client may keep it but must ask each time; asking costs 304 and no body."""
    deflate = request.accept_encodings["deflate"] > 0
    response = Response(encoded.deflated if deflate else zlib.decompress(encoded.deflated), mimetype=encoded.mimetype)
    if deflate:
        response.headers["Content-Encoding"] = "deflate"
    # The same content in two encodings is two representations, each with a name of its own.
    response.set_etag(encoded.etag if deflate else encoded.etag + "-plain")
    response.headers["Vary"] = "Accept, Accept-Encoding"
    response.headers["Cache-Control"] = "no-cache"
    response.make_conditional(request)
    return response


def encode_json(value: Any, level: int = 6) -> Encoded:
    """A JSON answer, deflated."""
    return encode_text(json.dumps(value, separators=(",", ":")), level)


def encode_text(text: str, level: int = 6) -> Encoded:
    """A JSON answer that is text already, deflated."""
    return Encoded.of(zlib.compress(text.encode(), level), JSON)


def apart(ops: int, work: Callable[[], T]) -> T:
    """Do work on so many ops: at once, or when there are many, in a thread, so that others are served meanwhile."""
    if ops < AWAY_FROM:
        return work()
    made, problem = gevent.get_hub().threadpool.apply(lambda: _caught(work))
    if problem is not None:
        raise problem
    result: T = made
    return result


def _caught(work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """What came of work, a refusal too: gevent writes the traceback of what a thread raises into the server's log."""
    try:
        return work(), None
    except Exception as problem:
        return None, problem
