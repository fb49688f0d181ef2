"""Encoded responses: compressed if accepted, 304 if unchanged; messages with their codes where the page reads them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from flask import Request, Response, jsonify, request
from flask.json.provider import DefaultJSONProvider

from backend.errors import RequestError, with_codes
from backend.jobs.encoding import Encoded

P = ParamSpec("P")
LENIENT = "handling=lenient"
FOR_GOOD = "public, max-age=31536000, immutable"  # Cache-Control of what never changes at its address: a year


class PageJson(DefaultJSONProvider):
    """Flask's JSON with every message as ``{"code", "params", "message"}``, for the page to translate."""

    sort_keys = False

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        """Encode a value; keys keep their order."""
        return super().dumps(with_codes(obj), **kwargs)


def send(request: Request, encoded: Encoded) -> Response:
    """Send an encoded response, compressed if accepted, 304 if unchanged.

    A client may store it but must revalidate on each use; that costs a 304 and no body.
    """
    deflate = request.accept_encodings["deflate"] > 0
    response = Response(encoded.deflated if deflate else zlib.decompress(encoded.deflated), mimetype=encoded.mimetype)
    if deflate:
        response.headers["Content-Encoding"] = "deflate"
    # The same content in two encodings is two representations, each with its own tag.
    response.set_etag(encoded.etag if deflate else encoded.etag + "-plain")
    response.headers["Vary"] = "Accept, Accept-Encoding"
    response.headers["Cache-Control"] = "no-cache"
    response.make_conditional(request)
    return response


def lenient(view: Callable[P, Response]) -> Callable[P, Response]:
    """Answer an illegal spec with 200 and the same body as a 400 where lenient handling is preferred (RFC 7240).

    The page prefers it: it asks for specs that a slider may reach next, legal or not, and a browser logs every 400 as a
    failure.
    """

    @wraps(view)
    def show(*args: P.args, **kwargs: P.kwargs) -> Response:
        try:
            return view(*args, **kwargs)
        except RequestError as error:
            if LENIENT not in request.headers.get("Prefer", "") or error.retry_after is not None:
                raise
            response = jsonify(error=error.as_dict())
            response.headers["Preference-Applied"] = LENIENT
            response.headers["Vary"] = "Prefer"
            return response

    vars(show)[LENIENT] = True
    return show


def is_lenient(view: Callable[..., Any]) -> bool:
    """Return whether a view is one of `lenient`."""
    return LENIENT in vars(view)
