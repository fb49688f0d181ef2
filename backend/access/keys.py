"""The secrets of one server: the tokens of its links, and the key that signs the cookies of browsers.

They are in a file beside the database that only its owner can read, so that a restart keeps links and cookies valid.
A cookie has the random id of a browser, and a grant: the fingerprint of the token that the browser has shown. So a
token that is changed takes away what it gave.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import logging
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from itsdangerous import BadData, URLSafeSerializer

from backend.access.roles import Role

logger = logging.getLogger(__name__)
FILE = "access.json"
PRIVATE = 0o600
NAMES = ("secret", "token", "admin_token")
SHORTEST = 16  # characters of a secret
LONGEST_COOKIE = 512  # characters; those of this server have about 100


class Cookie(NamedTuple):
    """What a browser brings back: its id, and the fingerprint of a token, "" for none."""

    browser: str
    grant: str = ""


@dataclass(frozen=True)
class Keys:
    """The secrets in use; `made` has the roles whose token the server has made itself."""

    secret: str
    token: str
    admin_token: str
    made: frozenset[Role] = frozenset()

    @cached_property
    def _signer(self) -> URLSafeSerializer:
        return URLSafeSerializer(self.secret, salt="bubbleline.browser")

    @cached_property
    def _grants(self) -> dict[Role, str]:
        return {Role.RUN: self.grant_of(self.token), Role.ADMIN: self.grant_of(self.admin_token)}

    def role_of_token(self, token: str) -> Role:
        """Return the role that a token gives, in constant time; NOBODY for a wrong one."""
        return self.role_of_grant(self.grant_of(token)) if token else Role.NOBODY

    def role_of_grant(self, grant: str) -> Role:
        """Return the role that a fingerprint gives, in constant time; NOBODY for a wrong one."""
        equal = [role for role, own in self._grants.items() if hmac.compare_digest(own.encode(), grant.encode())]
        return max(equal, default=Role.NOBODY)

    def sign(self, cookie: Cookie) -> str:
        """Return the text of a cookie."""
        text = self._signer.dumps(list(cookie))
        return text if isinstance(text, str) else text.decode()

    def read(self, text: str) -> Cookie | None:
        """Return the cookie of this text, None for one that this server has not signed."""
        if not text or len(text) > LONGEST_COOKIE:
            return None
        try:
            browser, grant = self._signer.loads(text)
        except (BadData, ValueError, TypeError):
            return None
        return Cookie(str(browser), str(grant))

    def grant_of(self, token: str) -> str:
        """Return the fingerprint of a token, which a cookie may hold."""
        return hmac.new(self.secret.encode(), token.encode(), hashlib.sha256).hexdigest()[:32]


def load(folder: Path, token: str = "", admin_token: str = "") -> Keys:
    """Return the secrets kept in a folder, made where there are none; tokens that are given have priority.

    Where the folder cannot be written the secrets last until the server stops, which is logged.
    """
    path = folder / FILE
    kept = _read(path)
    if kept is None:
        try:
            kept = _read_or_make(path)
        except OSError as error:
            logger.warning("%s cannot be written (%s): links and cookies end with the server", path, error.strerror)
            kept = new_secrets()
    return keys_of(kept, token, admin_token)


def kept_in(folder: Path) -> dict[str, str] | None:
    """Return the secrets kept in a folder, None where there are none or they are damaged."""
    return _read(folder / FILE)


def keep_in(folder: Path, kept: Mapping[str, str]) -> bool:
    """Keep these secrets in a folder unless it has some; return whether they are the ones there now. Raises OSError."""
    return _read_or_make(folder / FILE, kept) == dict(kept)


def new_secrets() -> dict[str, str]:
    """Return new random secrets by their names."""
    return {name: secrets.token_urlsafe(24) for name in NAMES}


def usable(kept: Mapping[str, object]) -> bool:
    """Return whether these are all secrets, none of them so short that it can be guessed."""
    return all(isinstance(each, str) and len(each) >= SHORTEST for each in map(kept.get, NAMES))


def keys_of(kept: Mapping[str, str], token: str, admin_token: str) -> Keys:
    """Return the secrets in use; tokens that are given have priority."""
    made = frozenset(role for role, given in ((Role.RUN, token), (Role.ADMIN, admin_token)) if not given)
    return Keys(kept["secret"], token or kept["token"], admin_token or kept["admin_token"], made)


def _read_or_make(path: Path, new: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the secrets of a file, `new` ones where there are none, while no other server makes them too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        kept = _read(path)  # another server may have made them a moment ago
        if kept is None:
            kept = dict(new or new_secrets())
            _write(path, kept)
    finally:
        os.close(folder)
    return kept


def _read(path: Path) -> dict[str, str] | None:
    try:
        text = path.read_text()
    except OSError:
        return None
    with suppress(OSError):
        path.chmod(PRIVATE)
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if isinstance(data, dict) and usable(data):
        return {name: data[name] for name in NAMES}
    logger.warning("%s is damaged; new tokens are made, and earlier links and cookies end", path)
    return None


def _write(path: Path, kept: dict[str, str]) -> None:
    """Write the whole file or nothing, readable by its owner from the first byte on."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        fresh.unlink()
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE), "w") as file:
        json.dump(kept, file)
    fresh.replace(path)
