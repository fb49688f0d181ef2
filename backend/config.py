"""The settings of the server: each with its default, legal values and meaning, read once from the environment.

`python app.py settings` prints them.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
ENGINES = ("local", "ray")
LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")

Reader = Callable[[str, str], Any]  # (variable, text) -> value, or ConfigError


class ConfigError(ValueError):
    """A setting with an illegal value; the message names the variable."""


def variable(name: str) -> str:
    """Return the environment variable of a field of Config."""
    return "BUBBLELINE_" + name.upper()


def _text(name: str, text: str) -> str:
    return text


def _names(name: str, text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _path(name: str, text: str) -> Path:
    return Path(text).expanduser().resolve()


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


def _setting(default: Any, read: Reader, meaning: str) -> Any:
    """Describe a setting: everything that is known of it stands here."""
    return field(default=default, metadata={"read": read, "meaning": meaning})


@dataclass(frozen=True)
class Config:
    """Every setting. Command line options override the environment."""

    host: str = _setting("127.0.0.1", _text, "address to listen on")
    port: int = _setting(5000, _integer(0, 65535), "port to listen on; 0 takes any free one")
    database: Path = _setting(PROJECT / "var" / "bubbleline.sqlite3", _path, "file with the runs and the short links")
    runner: tuple[str, ...] = _setting(
        (), _command, "command line of the runner program; by default python -m runner with the engine below"
    )
    engine: str = _setting(ENGINES[0], _engine, "what runs the ranks: local, or ray for a Ray cluster")
    ray_address: str = _setting(
        "", _address, "HOST:PORT of the head of a Ray cluster to join; without it engine ray starts one on this host"
    )
    queue: int = _setting(32, _integer(1, 10_000), "runs that may wait in all; more are refused (503)")
    queue_per_client: int = _setting(8, _integer(1, 10_000), "runs of one address that may wait (429)")
    silence_s: float = _setting(120.0, _seconds, "seconds without an event until a run counts as hung")
    keep: int = _setting(32, _integer(1, 10_000), "finished runs kept in memory, besides the database")
    cache_mb: int = _setting(32, _integer(0, 4096), "megabytes of encoded schedules kept in memory")
    body_kb: int = _setting(256, _integer(1, 65_536), "largest request body, in kilobytes")
    import_mb: int = _setting(
        32, _integer(1, 1024), "largest imported file, in megabytes; unpacked it may be 8 times as large"
    )
    imports_per_hour: int = _setting(60, _integer(0, 1_000_000), "runs imported by one address in an hour (429)")
    links: int = _setting(100_000, _integer(0, 100_000_000), "short links kept in all; more are refused (503)")
    links_per_hour: int = _setting(60, _integer(0, 1_000_000), "new short links of one address in an hour (429)")
    workers: int = _setting(
        min(2, os.cpu_count() or 1), _integer(1, 64),
        "processes for long computations; one more is for those that take milliseconds",
    )  # fmt: skip
    worker_memory_mb: int = _setting(
        1024, _integer(64, 1_048_576), "megabytes that one computation may take; one that exceeds them is ended (503)"
    )
    worker_seconds: float = _setting(30.0, _seconds, "seconds that one computation may take (503)")
    computations: int = _setting(256, _integer(1, 100_000), "computations that may wait; more are refused (503)")
    computations_per_client: int = _setting(32, _integer(1, 100_000), "computations of one client that may wait (429)")
    hosts: tuple[str, ...] = _setting(
        (), _names,
        "host names that requests may carry, comma separated; by default the local ones if the server listens only "
        "there, else any",
    )  # fmt: skip

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
        for each in fields(cls):
            text = environ.get(variable(each.name), "").strip()
            if text:
                values[each.name] = each.metadata["read"](variable(each.name), text)
        return cls(**values)

    def trusted_hosts(self) -> tuple[str, ...] | None:
        """Return the host names that a request may carry, None for any.

        A page of another site can resolve its own name to 127.0.0.1 and so read a local server; that request
        still carries the other site's name.
        """
        if self.hosts:
            return self.hosts
        return LOOPBACK if self.host in LOOPBACK else None


@dataclass(frozen=True)
class Setting:
    """A setting for people: its environment variable, its present value, its default, and its meaning."""

    variable: str
    value: str
    default: str
    meaning: str


def settings(config: Config) -> list[Setting]:
    """List every setting with its value in `config`."""
    return [
        Setting(variable(each.name), _shown(getattr(config, each.name)), _shown(each.default), each.metadata["meaning"])
        for each in fields(config)
    ]


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(value)
    if isinstance(value, Path) and value.is_relative_to(PROJECT):
        return str(value.relative_to(PROJECT))
    return f"{value:g}" if isinstance(value, float) else str(value)
