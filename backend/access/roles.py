"""Roles and identities: a client's role, the key its limits count by, and the owner of its runs."""

from __future__ import annotations

import ipaddress
import re
import secrets
from dataclasses import dataclass
from enum import IntEnum

WITH_PORT = re.compile(r"\[([^\]]*)\](?::\d+)?|([^:]*):\d+")  # an address as some proxies state it
IPV6_NETWORK = 64  # bits: what one customer of a provider has


class Role(IntEnum):
    """What a client may do; a greater role may do everything that a lesser one may."""

    NOBODY = 0
    VIEW = 1
    RUN = 2
    ADMIN = 3


@dataclass(frozen=True)
class Identity:
    """One client: its limits are counted by `client`, and the runs that it makes belong to `owner`.

    `browser` is the id in its cookie, or in the one that it will get, "" for scripts with a token and for named users;
    `fresh`: it has no cookie yet; `shown`: it has sent a token or has a user name; `wrong`: its token is not valid.
    """

    role: Role
    client: str
    owner: str
    address: str
    browser: str = ""
    fresh: bool = False
    shown: bool = False
    wrong: bool = False

    def may_change(self, owner: str) -> bool:
        """Return whether it may cancel, rename and delete runs of this owner."""
        return self.role >= Role.ADMIN or (self.role >= Role.RUN and owner != "" and owner == self.owner)


def by_address(address: str) -> str:
    """Return by what the limits of a client without a token count: its address, of IPv6 only the network."""
    stated = WITH_PORT.fullmatch(address)
    try:
        found = ipaddress.ip_address((stated[1] or stated[2] if stated else address).partition("%")[0])
    except ValueError:
        return f"address:{address}"
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    if isinstance(found, ipaddress.IPv6Address):
        return f"address:{ipaddress.ip_network((found, IPV6_NETWORK), strict=False)}"
    return f"address:{found}"


def new_browser() -> str:
    """Return a random id for a browser."""
    return secrets.token_urlsafe(12)
