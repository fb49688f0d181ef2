"""Codes and names of short links, and the queries they may redirect to.

A code has no characters that look alike (0 o, 1 i l) and no vowels, so that it never spells a word; seven characters
make 10^10 codes. Names and codes are case-insensitive.
"""

from __future__ import annotations

import re
import secrets
from urllib.parse import parse_qsl

from backend.errors import RequestError, message

LETTERS = "23456789bcdfghjkmnpqrstvwxz"
LENGTH = 7
SHORTEST_NAME, LONGEST_NAME = 3, 40
LONGEST_QUERY = 8000  # a server reads addresses of up to 8192
MOST_KEYS = 200
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
# What RFC 3986 allows in a query, and no more: no spaces, line ends, quotes, fragments or second question marks.
QUERY = re.compile(r"\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*", re.ASCII)
KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,31}", re.ASCII)


def new_code() -> str:
    """Return a random code that cannot be guessed."""
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def name_of(text: object) -> str:
    """Return a name as an address has it. Raises RequestError, with the nearest legal name, for any other text."""
    if isinstance(text, str):
        name = text.strip().lower()
        if NAME.fullmatch(name) and SHORTEST_NAME <= len(name) <= LONGEST_NAME:
            return name
        near = re.sub(r"[^a-z0-9]+", "-", name)[:LONGEST_NAME].strip("-")
    else:
        near = ""
    why = message(
        "links.bad_name",
        "names have {shortest} to {longest} letters, digits and single hyphens, such as gpipe-lesson",
        shortest=SHORTEST_NAME,
        longest=LONGEST_NAME,
    )
    raise RequestError("name", str(text)[:80], why, nearest=near if len(near) >= SHORTEST_NAME else None)


def query_of(text: object) -> str:
    """Return a query that a redirect may go to. Raises RequestError for anything else; the page checks the values."""
    if not isinstance(text, str):
        why = message("links.query_is_text", 'query is the text behind the page\'s address, such as "?family=zb-h1"')
        raise RequestError("query", None, why)
    if len(text) > LONGEST_QUERY:
        why = message(
            "links.query_too_long",
            "the query has {length} characters; a short link takes {most}",
            length=len(text),
            most=LONGEST_QUERY,
        )
        raise RequestError("query", text[:80], why, limit=LONGEST_QUERY)
    query = text if text.startswith("?") or not text else f"?{text}"
    if query in ("", "?"):
        return ""
    try:
        pairs = parse_qsl(
            query[1:], keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=MOST_KEYS
        )
    except ValueError:
        pairs = []
    if not QUERY.fullmatch(query) or not pairs or not all(KEY.fullmatch(key) for key, _ in pairs):
        why = message("links.not_a_view", "this is not the query of a view, such as ?family=zb-h1&p=8")
        raise RequestError("query", text[:80], why)
    return query


def normalized(text: str) -> str | None:
    """Return a code or name as the store has it, None for any other text."""
    name = text.lower()
    return name if NAME.fullmatch(name) and len(name) <= LONGEST_NAME else None
