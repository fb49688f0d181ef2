"""Codes with which students join a class, and the secrets of its leader and its members.

A code is for typing from a projector: six consonants, none of which looks like another letter or a digit, 20^6 in all.
Secrets are never stored, only their SHA-256, which is enough for secrets that are random and long.
"""

from __future__ import annotations

import re
import secrets
from hashlib import sha256

from backend.errors import RequestError, message

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
LENGTH = 6
CODE = re.compile(f"[{LETTERS}]{{{LENGTH}}}", re.ASCII)
LONGEST_TYPED = 40  # characters
SECRET_BYTES = 24


def new_code() -> str:
    """Return a random code."""
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def new_secret() -> str:
    """Return a secret that cannot be guessed: 32 characters of a URL."""
    return secrets.token_urlsafe(SECRET_BYTES)


def digest(secret: str) -> str:
    """Return what is stored of a secret."""
    return sha256(secret.encode(errors="replace")).hexdigest()


def as_code(text: object) -> str:
    """Return what a person has typed in the spelling of codes; "" for what cannot be a code."""
    code = re.sub(r"[\s-]", "", text).upper() if isinstance(text, str) and len(text) < LONGEST_TYPED else ""
    return code if CODE.fullmatch(code) else ""


def code_of(text: object) -> str:
    """Return a code as it is stored, from what a person has typed. Raises RequestError for what cannot be one."""
    code = as_code(text)
    if not code:
        why = message("classes.bad_code", "the code of a class has {length} letters, such as BKTRWZ", length=LENGTH)
        raise RequestError("code", text[:LONGEST_TYPED] if isinstance(text, str) else None, why)
    return code
