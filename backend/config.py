"""The settings of the server: each with its default, legal values and meaning, read once from the environment.

`python app.py settings` prints them.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from backend.database.address import Location, read_location

PROJECT = Path(__file__).resolve().parents[1]
PACKAGE = __name__.split("backend")[0]  # before the names of our modules: "bubbleline." where installed, else ""
COMMAND = "bubbleline" if PACKAGE else "python app.py"
DATA = (
    Path(os.path.expanduser(os.environ.get("XDG_DATA_HOME") or "~/.local/share")) / "bubbleline"
    if PACKAGE
    else PROJECT / "var"
)
ENGINES = ("local", "ray")
LOG_LEVELS = ("debug", "info", "warning", "error")
LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")
SHORTEST_TOKEN = 16  # characters: too many to try them all
REDIS_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
REDIS_CHOICES = {"ssl_cert_reqs": ("required", "optional", "none"), "ssl_check_hostname": ("true", "false")}

Reader = Callable[[str, str], Any]  # (variable, text) -> value, or ConfigError


class ConfigError(ValueError):
    """A setting with an illegal value; the message names the variable."""


def program(module: str, *arguments: str) -> list[str]:
    """Return the command line of one of our modules, started in PROJECT: in a checkout it is found there; where it is
    installed, -P keeps what is there from being found before the modules of Python.
    """
    return [sys.executable, *(["-P"] if PACKAGE else []), "-m", module, *arguments]


def variable(name: str) -> str:
    """Return the environment variable of a field of Config."""
    return "BUBBLELINE_" + name.upper()


def _text(name: str, text: str) -> str:
    return text


def _names(name: str, text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _host_names(name: str, text: str) -> tuple[str, ...]:
    """Read the names in the form in which a request's Host is compared with them: small letters, IPv6 in brackets."""
    return tuple(_host_name(name, each.lower()) for each in _names(name, text))


def _host_name(name: str, text: str) -> str:
    with suppress(ValueError):
        return f"[{IPv6Address(text.removeprefix('[').removesuffix(']'))}]"
    if not re.fullmatch(r"[a-z0-9._-]+", text):
        raise ConfigError(f"{name} must be names without http:// and port, such as schedules.example.org, not {text!r}")
    return text


def _path(name: str, text: str) -> Path:
    try:
        return Path(text).expanduser().resolve()
    except RuntimeError:
        raise ConfigError(f"{name} begins with the home folder of a user who is unknown here: {text!r}") from None


def _folder(name: str, text: str) -> Path:
    path = _path(name, text)
    if not path.is_dir():
        raise ConfigError(f"{name} must be a folder that is there, not {str(path)!r}")
    return path


def _location(name: str, text: str) -> Location:
    try:
        return read_location(text)
    except ValueError as error:  # without the text: an address has a password
        raise ConfigError(f"{name} {error}") from None


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


def _switch(name: str, text: str) -> bool:
    if text not in ("0", "1"):
        raise ConfigError(f"{name} must be 0 or 1, not {text!r}")
    return text == "1"


def _token(name: str, text: str) -> str:
    if len(text) < SHORTEST_TOKEN or not re.fullmatch(r"[A-Za-z0-9_-]+", text):  # the message must not show it
        raise ConfigError(f"{name} must have at least {SHORTEST_TOKEN} characters, all of them letters, digits, - or _")
    return text


def _one_of(*choices: str) -> Reader:
    def read(name: str, text: str) -> str:
        if text not in choices:
            raise ConfigError(f"{name} must be {' or '.join(choices)}, not {text!r}")
        return text

    return read


def _address(name: str, text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ConfigError(f"{name} must be HOST:PORT such as 10.0.0.1:6379, not {text!r}")
    return text


def _redis(name: str, text: str) -> str:
    try:
        parts = urlsplit(text)
        legal = text.startswith(("redis://", "rediss://")) and parts.hostname and parts.port != 0 and not parts.fragment
    except ValueError:  # a port that is none
        legal = False
    if not legal or not re.fullmatch(r"(/\d{0,3})?", parts.path):  # the message shows no password
        raise ConfigError(
            f"{name} must be redis://HOST:PORT/NUMBER such as redis://127.0.0.1:6379/0, or rediss:// with TLS"
        )
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        _check_redis_setting(name, parts.scheme, key, value)
    if "ssl_keyfile=" in parts.query and "ssl_certfile=" not in parts.query:
        raise ConfigError(f"{name} has ssl_keyfile without ssl_certfile, the certificate for that key")
    return text


def _check_redis_setting(name: str, scheme: str, key: str, value: str) -> None:
    """Check a setting behind the `?` of the address. Raises ConfigError."""
    if key not in (*REDIS_FILES, *REDIS_CHOICES):
        known = " ".join((*REDIS_FILES, *REDIS_CHOICES))
        shown = f"the setting {key}" if key.startswith("ssl_") else "a setting"  # else it may be part of a password
        raise ConfigError(f"{name} has {shown} behind the ? that is unknown; rediss:// takes {known}")
    if scheme != "rediss":
        raise ConfigError(f"{name} has the setting {key}, which is for TLS: write rediss:// in place of redis://")
    if key in REDIS_FILES and not (Path(value).is_absolute() and Path(value).is_file()):
        raise ConfigError(f"{name} has {key}={value}, which must be the full path of a file that is there")
    if key in REDIS_CHOICES and value not in REDIS_CHOICES[key]:
        raise ConfigError(f"{name} has {key}={value}, which must be {' or '.join(REDIS_CHOICES[key])}")


def _command(name: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ConfigError(f"{name} is not a command line: {error}") from None


def _setting(default: Any, read: Reader, meaning: str, secret: bool = False) -> Any:
    """Describe a setting: its only description. The value of a secret one is never printed."""
    return field(default=default, repr=not secret, metadata={"read": read, "meaning": meaning, "secret": secret})


@dataclass(frozen=True)
class Config:
    """Every setting. Command line options override the environment."""

    host: str = _setting("127.0.0.1", _text, "address to listen on")
    port: int = _setting(5000, _integer(0, 65535), "port to listen on; 0 takes any free one")
    browser: bool = _setting(
        False, _switch, "1: open the page in the browser when the server starts, where there is one"
    )
    database: Location = _setting(
        DATA / "bubbleline.sqlite3", _location,
        "file with the runs and the short links, or a PostgreSQL database: postgresql://user:password@host:port/name",
    )  # fmt: skip
    data_folder: Path | None = _setting(
        None,
        _path,
        "folder for the audit log and the tokens; by default that of the database's file, else "
        + (str(DATA) if PACKAGE else DATA.name),
    )
    lessons: Path | None = _setting(
        None, _folder, "folder with lessons of your own, in en and zh; they come on top of those of bubbleline"
    )
    runner: tuple[str, ...] = _setting(
        (),
        _command,
        f"command line of the runner program; by default python -m {PACKAGE}runner with the engine below",
    )
    engine: str = _setting(ENGINES[0], _one_of(*ENGINES), "what runs the ranks: local, or ray for a Ray cluster")
    ray_address: str = _setting(
        "", _address, "HOST:PORT of the head of a Ray cluster to join; without it engine ray starts one on this host"
    )
    queue: int = _setting(32, _integer(1, 10_000), "runs that may wait in all; more are refused (503)")
    queue_per_client: int = _setting(
        8, _integer(1, 10_000), "runs of one client that may wait, fewer if many wait (429)"
    )
    run_s: float = _setting(1800.0, _seconds, "longest estimated run, in seconds; longer ones are refused (400)")
    silence_s: float = _setting(120.0, _seconds, "seconds without progress of a run until it counts as hung")
    keep: int = _setting(32, _integer(1, 10_000), "finished runs kept in memory, besides the database")
    cache_mb: int = _setting(32, _integer(0, 4096), "megabytes of encoded schedules kept in memory")
    body_kb: int = _setting(256, _integer(1, 65_536), "largest request body, in kilobytes")
    import_mb: int = _setting(
        32, _integer(1, 1024), "largest imported file, in megabytes; unpacked it may be 8 times as large"
    )
    imports_per_hour: int = _setting(60, _integer(0, 1_000_000), "runs imported by one client in an hour (429)")
    links: int = _setting(100_000, _integer(0, 100_000_000), "short links kept in all; more are refused (503)")
    links_per_hour: int = _setting(60, _integer(0, 1_000_000), "new short links of one client in an hour (429)")
    board_entries: int = _setting(
        2000, _integer(10, 1_000_000), "entries kept on the board of each task of the workbench, the best ones"
    )
    entries_per_hour: int = _setting(
        600, _integer(0, 1_000_000), "orders submitted to tasks by one client in an hour (429)"
    )
    classes: int = _setting(200, _integer(0, 100_000), "classes kept at a time; more are refused (503)")
    classes_per_hour: int = _setting(20, _integer(0, 1_000_000), "classes opened by one client in an hour (429)")
    class_members: int = _setting(1200, _integer(1, 100_000), "students of one class; more are refused (503)")
    class_lookups_per_hour: int = _setting(
        4000, _integer(1, 1_000_000), "codes of classes tried by one client in an hour, right or wrong (429)"
    )
    workers: int = _setting(
        min(2, os.cpu_count() or 1), _integer(1, 64),
        "processes for long computations; one more is for those that take milliseconds",
    )  # fmt: skip
    workers_after_s: float = _setting(
        2.0, _seconds, "seconds from the server's start to that of the workers; a computation starts them before that"
    )
    worker_memory_mb: int = _setting(
        1024, _integer(64, 1_048_576), "megabytes that one computation may take; one that exceeds them is ended (503)"
    )
    worker_seconds: float = _setting(30.0, _seconds, "seconds that one computation may take (503)")
    computations: int = _setting(256, _integer(1, 100_000), "computations that may wait; more are refused (503)")
    computations_per_client: int = _setting(32, _integer(1, 100_000), "computations of one client that may wait (429)")
    searches_at_once: int = _setting(1, _integer(1, 64), "searches at the same time; each keeps a core busy")
    hosts: tuple[str, ...] = _setting(
        (), _host_names,
        "host names that requests may carry, comma separated; by default the local ones if the server listens only "
        "there, else addresses and the name of this machine; other names need a token or https",
    )  # fmt: skip
    redis: str = _setting(
        "", _redis,
        "redis://HOST:PORT/NUMBER that the processes of one server share, or rediss:// with TLS; without it there is "
        "one process",
        secret=True,
    )  # fmt: skip
    processes: int = _setting(1, _integer(1, 64), "processes that serve the page; more than one need redis")
    run_manager: bool = _setting(
        True,
        _switch,
        "1: this machine executes the runs if no other of the same redis does; 0: it only serves",
    )
    proxies: int = _setting(
        0, _integer(0, 8), "proxies before the server whose X-Forwarded-For, -Proto and -Host count; 0 ignores them"
    )
    token: str = _setting(
        "", _token, "token of the link with which runs may be started; by default the server makes one", secret=True
    )
    admin_token: str = _setting(
        "", _token, "token of the link for administrators; by default the server makes one", secret=True
    )
    view_open: bool = _setting(True, _switch, "1: everybody may view; 0: viewing needs a token too")
    user_header: str = _setting(
        "", _text, "header in which an authenticating proxy names the user, such as X-Forwarded-User; needs proxies"
    )
    admins: tuple[str, ...] = _setting((), _names, "users of the header above who administrate, comma separated")
    requests_per_minute: int = _setting(30_000, _integer(60, 10_000_000), "requests of one client in a minute (429)")
    sockets: int = _setting(1024, _integer(1, 100_000), "open Socket.IO connections of one client; more are refused")
    socket_rate: int = _setting(50, _integer(1, 100_000), "messages a second that one socket may send for long")
    socket_burst: int = _setting(200, _integer(10, 1_000_000), "messages that one socket may send at once")
    client_rate: int = _setting(
        400, _integer(1, 1_000_000), "messages a second that the sockets of one client may send together for long"
    )
    socket_patience_s: float = _setting(
        10.0, _seconds, "seconds for which a socket that sends more is read slowly before it is closed"
    )
    socket_kb: int = _setting(16, _integer(1, 1024), "largest message of a socket, in kilobytes")
    connections: int = _setting(
        4000, _integer(1, 1_000_000), "open connections in all; more end an idle one, or are refused (503)"
    )
    header_s: float = _setting(20.0, _seconds, "seconds for the request line and the headers of a request (408)")
    body_s: float = _setting(
        20.0, _seconds, "seconds for a request body, and one more for each kilobyte that has arrived (408)"
    )
    idle_s: float = _setting(75.0, _seconds, "seconds that a connection may stay open without a request")
    stop_s: int = _setting(5, _integer(0, 3600), "seconds for which a stopping server lets the present run go on")
    keep_days: int = _setting(0, _integer(0, 36_500), "days after which an ended run is deleted; 0 keeps all")
    store_mb: int = _setting(
        0,
        _integer(0, 10_000_000),
        "megabytes in the database from which the oldest ended runs are deleted; 0: no limit",
    )
    log_level: str = _setting("warning", _one_of(*LOG_LEVELS), "least level that is logged; info has every request")
    log_format: str = _setting("text", _one_of("text", "json"), "text or json; one line per record in both")
    log_file: Path | None = _setting(None, _path, "file for the log, in place of standard error")
    log_file_mb: int = _setting(
        10, _integer(1, 10_000), "megabytes at which the log file is rotated; 4 older ones stay"
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "host", self.host.removeprefix("[").removesuffix("]"))  # as in an address: [::1]
        if self.user_header and not self.proxies:
            raise ConfigError("BUBBLELINE_USER_HEADER needs BUBBLELINE_PROXIES: without a proxy anybody can set it")
        if self.processes > 1 and not self.redis:
            raise ConfigError("BUBBLELINE_PROCESSES needs BUBBLELINE_REDIS: the processes share their runs there")
        if self.token and self.token == self.admin_token:
            raise ConfigError("BUBBLELINE_TOKEN and BUBBLELINE_ADMIN_TOKEN must differ")
        if not self.runner:
            cluster = ("--engine", self.engine) if self.engine != ENGINES[0] else ()
            address = ("--address", self.ray_address) if cluster and self.ray_address else ()
            object.__setattr__(self, "runner", tuple(program(f"{PACKAGE}runner", *cluster, *address)))

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

    @property
    def local(self) -> bool:
        """Whether only programs of this machine reach the server: no token is needed then."""
        return self.host in LOOPBACK and not self.proxies and set(self.hosts) <= set(LOOPBACK)

    @property
    def cluster(self) -> str | None:
        """The address of the Ray cluster that runs are executed on, "" for one on this host; None without one."""
        return self.ray_address if self.engine == "ray" else None

    @property
    def folder(self) -> Path:
        """Return the folder of what this server keeps besides its database."""
        if self.data_folder is not None:
            return self.data_folder
        return self.database.parent if isinstance(self.database, Path) else DATA

    def trusted_hosts(self) -> tuple[str, ...] | None:
        """Return the host names that a request may carry, None where it depends on the request.

        A page of another site can resolve its own name to the server's address and so read it; that request still
        carries the other site's name.
        """
        if self.hosts:
            return self.hosts
        return LOOPBACK if self.local else None


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
        Setting(
            variable(each.name),
            "(set)"
            if each.metadata["secret"] and getattr(config, each.name)
            else _shown(getattr(config, each.name), each.metadata["read"]),
            _shown(each.default, each.metadata["read"]),
            each.metadata["meaning"],
        )
        for each in fields(config)
    ]


def _shown(value: Any, read: Reader) -> str:
    """Return the text that a setting is read from."""
    if isinstance(value, tuple):
        return shlex.join(value) if read is _command else ",".join(value)
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Path) and value.is_relative_to(PROJECT):
        return str(value.relative_to(PROJECT))
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
