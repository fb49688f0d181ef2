"""Where a database is: the path of an SQLite file, or the address of a PostgreSQL database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

SCHEMES = ("postgresql", "postgres")  # libpq takes both
SHAPE = "postgresql://user:password@host:port/name"
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


@dataclass(frozen=True)
class PostgresqlAddress:
    """The address of a PostgreSQL database in libpq's notation. Its text forms have neither password nor options."""

    uri: str = field(repr=False)

    @property
    def name(self) -> str:
        """Return the name of the database."""
        return unquote(self._parts.path.removeprefix("/"))

    def __str__(self) -> str:
        user, at, hosts = self._parts.netloc.rpartition("@")
        return f"postgresql://{user.partition(':')[0]}{at}{hosts}{self._parts.path}"

    def __repr__(self) -> str:
        return f"PostgresqlAddress({str(self)!r})"

    @property
    def _parts(self) -> SplitResult:
        return urlsplit(self.uri)


Location = Path | PostgresqlAddress


def read_location(text: str) -> Location:
    """Read a path, or an address of PostgreSQL. Raises ValueError, without the text: it may have a password."""
    scheme = SCHEME.match(text)
    if scheme is None:
        try:
            return Path(text).expanduser().resolve()
        except RuntimeError:
            raise ValueError("begins with the home folder of a user who is unknown here") from None
    if scheme[1] not in SCHEMES:
        raise ValueError(f"must be the path of a file, or {SHAPE}; {scheme[1]}: is not supported")
    parts = urlsplit(text)
    hosts = parts.netloc.rpartition("@")[2]
    ports = [host.rpartition(":")[2] for host in hosts.split(",") if ":" in host.rpartition("]")[2]]
    if not text.startswith(f"{scheme[1]}://") or not re.fullmatch(r"/[^/]+", parts.path) or parts.fragment:
        raise ValueError(f"must be {SHAPE}; characters such as / # ? @ in it are written as %2F %23 %3F %40")
    if not all(port.isascii() and port.isdigit() and 0 < int(port) < 65536 for port in ports):
        raise ValueError(f"must be {SHAPE} with a port from 1 to 65535")
    if re.search(r"%(?![0-9A-Fa-f]{2})|%00|[\s\0]", text):
        raise ValueError(f"must be {SHAPE}; a percent sign in it is written as %25, a space as %20")
    return PostgresqlAddress(text)
