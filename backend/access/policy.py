"""Who a client is, decided from its address, its cookie, its token and its user name; and what roles may do."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import NoReturn

from backend.access import keys
from backend.access.keys import Cookie, Keys
from backend.access.roles import Identity, Role, by_address, new_browser
from backend.access.shared_keys import SharedKeys
from backend.config import Config
from backend.database.connect import database_at
from backend.errors import RequestError, message

LONGEST_USER = 80  # characters


class AccessError(RequestError):
    """A request that this client may not make; `known` says whether it has shown who it is (403) or not (401)."""

    def __init__(self, text: str, *, known: bool) -> None:
        super().__init__("token", None, text, kind="denied" if known else "unidentified")


class Policy:
    """The rules of one server. On a local one everybody administrates, and there are no tokens."""

    def __init__(self, config: Config) -> None:
        """Take the settings, and the secrets of a database that several servers share: this may wait for it."""
        self.config = config
        self._shared: SharedKeys | None = None
        if not isinstance(config.database, Path):
            self._shared = SharedKeys(database_at(config.database), config.token, config.admin_token)

    @property
    def keys(self) -> Keys:
        """Return the server's secrets."""
        return self._own_keys if self._shared is None else self._shared.get()

    @property
    def lasting(self) -> bool:
        """Whether the secrets are those that other servers and a restart have too."""
        return self._shared is None or self._shared.lasting

    @cached_property
    def _own_keys(self) -> Keys:
        """The secrets of a server of its own, read or made when they are first needed."""
        return keys.load(self.config.folder, self.config.token, self.config.admin_token)

    @property
    def open_role(self) -> Role:
        """Return the role of a client that shows nothing."""
        if self.config.local:
            return Role.ADMIN
        return Role.VIEW if self.config.view_open else Role.NOBODY

    def identify(self, address: str, cookie: str = "", token: str | None = None, user: str = "") -> Identity:
        """Return who a client is.

        `user` is named by a proxy that has authenticated it. A cookie alone can be thrown away for a new one, so its
        client is counted by address, unless the browser has shown a token.
        """
        if user:
            name = f"user:{user[:LONGEST_USER]}"
            role = Role.ADMIN if user in self.config.admins else Role.RUN
            return Identity(role, name, name, address, shown=True)
        place = by_address(address)
        known = self.keys.read(cookie) if cookie else None
        if self.config.local:
            token, granted = None, Role.NOBODY
        else:
            granted = self.keys.role_of_grant(known.grant) if known else Role.NOBODY
        shown = self.keys.role_of_token(token) if token else Role.NOBODY
        wrong = token is not None and not shown
        role = max(self.open_role, granted, shown)
        if known is not None:
            mine = f"browser:{known.browser}"
            client, holds = (mine if granted else place), bool(granted or shown)
            return Identity(role, client, mine, address, known.browser, shown=holds, wrong=wrong)
        if token is not None:
            return Identity(role, place, place, address, shown=bool(shown), wrong=wrong)
        browser = new_browser()
        return Identity(role, place, f"browser:{browser}", address, browser, fresh=True)

    def cookie_for(self, identity: Identity, token: str | None = None) -> str:
        """Return the text of a browser's cookie, with the grant of a token where one is shown."""
        return self.keys.sign(Cookie(identity.browser or new_browser(), self.keys.grant_of(token) if token else ""))

    def is_token(self, token: str) -> bool:
        """Return whether a token is valid here."""
        return not self.config.local and self.keys.role_of_token(token) > Role.NOBODY

    def refuse_token(self) -> NoReturn:
        """Raise AccessError for a token that is not valid."""
        raise AccessError(BAD_TOKEN, known=False)

    def require(self, identity: Identity, role: Role) -> None:
        """Raise AccessError where a client's role does not suffice, or its token is wrong; with the way out."""
        if identity.wrong:
            self.refuse_token()
        if identity.role < role:
            raise AccessError(WAY_OUT[role], known=identity.shown)


BAD_TOKEN = message(
    "access.bad_token", "This token is not valid here: open the link that the server printed when it last started."
)
WAY_OUT = {
    Role.VIEW: message(
        "access.view_needs_token",
        "Viewing needs a token here: open the link that the server printed when it started, or ask its operator for "
        "it.",
    ),
    Role.RUN: message(
        "access.run_needs_token",
        "Starting runs and searches, and opening a class, needs a token here: open the link that the server printed "
        "when it started, or ask its operator for it.",
    ),
    Role.ADMIN: message(
        "access.needs_admin",
        "Only an administrator of this server may do this: open the link for administrators that the server printed.",
    ),
}


def refuse_other_owner(identity: Identity, owner: str) -> None:
    """Raise AccessError unless the client may cancel, rename and delete runs of this owner."""
    if not identity.may_change(owner):
        text = message(
            "access.not_yours", "Only the browser that made this run, or an administrator, may change or delete it."
        )
        raise AccessError(text, known=True)
