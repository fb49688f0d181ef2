"""Encode answers for sending. Worker processes use it too: it knows neither Flask nor gevent."""

from __future__ import annotations

import json
import zlib
from typing import Any

from backend.errors import with_codes
from backend.web.http.cache import Encoded

JSON = "application/json"
BINARY = "application/vnd.bubbleline.schedule"  # an order, in the format of backend/schedule/order/wire.py


def encode_json(value: Any, level: int = 6) -> Encoded:
    """Encode JSON for the page, with every message as ``{"code", "params", "message"}``."""
    return encode_text(json.dumps(with_codes(value), separators=(",", ":")), level)


def encode_plain_json(value: Any) -> Encoded:
    """Encode JSON for scripts: a message is its English text."""
    return encode_text(json.dumps(value, separators=(",", ":")))


def encode_text(text: str, level: int = 6) -> Encoded:
    """Encode a text that is JSON already."""
    return Encoded.of(zlib.compress(text.encode(), level), JSON)
