"""How a short link is called: codes that can be read out and typed, names that people choose, queries that are safe.

A code has no letters that look alike (0 o, 1 i l) and no vowels, so that it never spells a word; seven of them make
10^10 codes. Names and codes are read without regard to case. Knows no disk and no HTTP.
"""

from __future__ import annotations

import re
import secrets
from urllib.parse import parse_qsl

from backend.short_links.errors import LinkError

LETTERS = "23456789bcdfghjkmnpqrstvwxz"
LENGTH = 7
SHORTEST_NAME, LONGEST_NAME = 3, 40
LONGEST_QUERY = 8000  # a server reads addresses of up to 8192
MOST_KEYS = 200
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
# What RFC 3986 lets stand in a query, and no more: no spaces, line ends, quotes, fragments or second question marks.
QUERY = re.compile(r"\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*", re.ASCII)
KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,31}", re.ASCII)


def new_code() -> str:
    """A code that nobody can guess."""
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def name_of(text: object) -> str:
    """A name as it stands in an address; LinkError, with the nearest one, for what cannot stand there."""
    if isinstance(text, str):
        name = text.strip().lower()
        if NAME.fullmatch(name) and SHORTEST_NAME <= len(name) <= LONGEST_NAME:
            return name
        near = re.sub(r"[^a-z0-9]+", "-", name)[:LONGEST_NAME].strip("-")
    else:
        near = ""
    message = f"names have {SHORTEST_NAME} to {LONGEST_NAME} letters, digits and single hyphens, such as gpipe-lesson"
    nearest = near if len(near) >= SHORTEST_NAME else None
    raise LinkError("bad", "name", str(text)[:80], message, nearest=nearest)


def query_of(text: object) -> str:
    """A query that a redirect may go to; LinkError for anything else. What it asks for is the page's to judge."""
    if not isinstance(text, str):
        raise LinkError("bad", "query", None, 'query is the text behind the page\'s address, such as "?family=zb-h1"')
    if len(text) > LONGEST_QUERY:
        message = f"the query has {len(text)} characters; a short link takes {LONGEST_QUERY}"
        raise LinkError("bad", "query", text[:80], message, limit=LONGEST_QUERY)
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
        raise LinkError("bad", "query", text[:80], "this is not the query of a view, such as ?family=zb-h1&p=8")
    return query


def looked_up(text: str) -> str | None:
    """A code or name as it is kept, None for what is neither."""
    name = text.lower()
    return name if NAME.fullmatch(name) and len(name) <= LONGEST_NAME else None
