"""Encode answers for sending. Worker processes use it too: it knows neither Flask nor gevent."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from backend.errors import with_codes

JSON = "application/json"
BINARY = "application/vnd.bubbleline.schedule"  # an order, in the format of backend/schedule/order/wire.py


@dataclass(frozen=True, slots=True)
class Encoded:
    """An answer ready to send: deflated bytes, their media type, and an entity tag of these bytes."""

    deflated: bytes
    mimetype: str
    etag: str

    @classmethod
    def of(cls, deflated: bytes, mimetype: str) -> Encoded:
        """Make an answer of deflated bytes, with the tag computed."""
        return cls(deflated, mimetype, blake2b(deflated, digest_size=12).hexdigest())


def encode_json(value: Any, level: int = 6) -> Encoded:
    """Encode JSON for the page, with every message as ``{"code", "params", "message"}``."""
    return encode_text(json.dumps(with_codes(value), separators=(",", ":")), level)


def encode_plain_json(value: Any) -> Encoded:
    """Encode JSON for scripts: a message is its English text."""
    return encode_text(json.dumps(value, separators=(",", ":")))


def encode_text(text: str, level: int = 6) -> Encoded:
    """Encode a text that is JSON already."""
    return Encoded.of(zlib.compress(text.encode(), level), JSON)
