"""The settings of the server: names, defaults and legal values, read once from the environment."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
ENGINES = ("local", "ray")
LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")


Reader = Callable[[str, str], Any]  # (variable, text) -> value, or ConfigError


class ConfigError(ValueError):
    """A setting with an illegal value; the message names the variable."""


@dataclass(frozen=True)
class Config:
    """Every setting with its variable, default and meaning. Command line options override them.

    ============================ =========================== ====================================================
    Variable                     Default                     Meaning
    ============================ =========================== ====================================================
    BUBBLELINE_HOST              127.0.0.1                   address to listen on
    BUBBLELINE_PORT              5000                        port to listen on; 0 takes any free one
    BUBBLELINE_DATABASE          var/bubbleline.sqlite3      file with the runs and the short links
    BUBBLELINE_RUNNER            python -m runner            command line of the runner program; by default the engine
                                                             and the address below go with it
    BUBBLELINE_ENGINE            local                       what runs the ranks: local; ray: on a Ray cluster
    BUBBLELINE_RAY_ADDRESS       (none)                      HOST:PORT of the head of a Ray cluster to join; without it
                                                             engine ray starts a cluster of its own on this host
    BUBBLELINE_QUEUE             32                          runs that may wait in all; more are refused (503)
    BUBBLELINE_QUEUE_PER_CLIENT  8                           runs of one address that may wait (429)
    BUBBLELINE_SILENCE_S         120                         seconds without an event until a run counts as hung
    BUBBLELINE_KEEP              32                          finished runs kept in memory, besides the database
    BUBBLELINE_CACHE_MB          32                          megabytes of encoded schedules kept in memory
    BUBBLELINE_BODY_KB           256                         largest request body, in kilobytes
    BUBBLELINE_IMPORT_MB         32                          largest imported file, in megabytes; unpacked it may be
                                                             8 times as large
    BUBBLELINE_IMPORTS_PER_HOUR  60                          runs imported by one address in an hour (429)
    BUBBLELINE_LINKS             100000                      short links kept in all; more are refused (503)
    BUBBLELINE_LINKS_PER_HOUR    60                          new short links of one address in an hour (429)
    BUBBLELINE_HOSTS             (see right)                 host names that requests may carry, comma separated;
                                                             by default the local ones if it listens only there,
                                                             else any
    ============================ =========================== ====================================================
    """

    host: str = "127.0.0.1"
    port: int = 5000
    database: Path = PROJECT / "var" / "bubbleline.sqlite3"
    runner: tuple[str, ...] = ()
    engine: str = ENGINES[0]
    ray_address: str = ""
    queue: int = 32
    queue_per_client: int = 8
    silence_s: float = 120.0
    keep: int = 32
    cache_mb: int = 32
    body_kb: int = 256
    import_mb: int = 32
    imports_per_hour: int = 60
    links: int = 100_000
    links_per_hour: int = 60
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.runner:
            cluster = ("--engine", self.engine) if self.engine != ENGINES[0] else ()
            address = ("--address", self.ray_address) if cluster and self.ray_address else ()
            object.__setattr__(self, "runner", (sys.executable, "-m", "runner", *cluster, *address))

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Config:
        """Read the settings from the environment; an empty variable counts as absent. Raises ConfigError."""
        environ = os.environ if environ is None else environ
        values = {}
        for field in fields(cls):
            text = environ.get(variable(field.name), "").strip()
            if text:
                values[field.name] = _READERS[field.name](variable(field.name), text)
        return cls(**values)

    def trusted_hosts(self) -> tuple[str, ...] | None:
        """Return the host names that a request may carry, None for any.

        A page of another site can resolve its own name to 127.0.0.1 and so read a local server; that request
        still carries the other site's name.
        """
        if self.hosts:
            return self.hosts
        return LOOPBACK if self.host in LOOPBACK else None


def variable(field: str) -> str:
    """Return the environment variable of a field of Config."""
    return "BUBBLELINE_" + field.upper()


def _integer(low: int, high: int) -> Reader:
    def read(name: str, text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
            raise ConfigError(f"{name} must be a whole number from {low} to {high}, not {text!r}")
        return int(text)

    return read


def _seconds(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.05 <= value <= 86400:
        raise ConfigError(f"{name} must be a number of seconds from 0.05 to 86400, not {text!r}")
    return value


def _engine(name: str, text: str) -> str:
    if text not in ENGINES:
        raise ConfigError(f"{name} must be {' or '.join(ENGINES)}, not {text!r}")
    return text


def _address(name: str, text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ConfigError(f"{name} must be HOST:PORT such as 10.0.0.1:6379, not {text!r}")
    return text


def _command(name: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ConfigError(f"{name} is not a command line: {error}") from None


_READERS: dict[str, Reader] = {
    "host": lambda name, text: text,
    "port": _integer(0, 65535),
    "database": lambda name, text: Path(text).expanduser().resolve(),
    "runner": _command,
    "engine": _engine,
    "ray_address": _address,
    "queue": _integer(1, 10_000),
    "queue_per_client": _integer(1, 10_000),
    "silence_s": _seconds,
    "keep": _integer(1, 10_000),
    "cache_mb": _integer(0, 4096),
    "body_kb": _integer(1, 65_536),
    "import_mb": _integer(1, 1024),
    "imports_per_hour": _integer(0, 1_000_000),
    "links": _integer(0, 100_000_000),
    "links_per_hour": _integer(0, 1_000_000),
    "hosts": lambda name, text: tuple(part.strip() for part in text.split(",") if part.strip()),
}
