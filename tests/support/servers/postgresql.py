"""A real server of PostgreSQL for tests: one cluster in a temporary folder, and a database that is emptied for
each test.

PostgreSQL refuses to run as root; there it runs as the user nobody.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from backend.database.address import PostgresqlAddress
from tests.support import PATIENCE_S, until

NOBODY = 65534
OWNER = "bubbleline"  # of the databases; not a superuser
NAME = "runs"  # of the database
LOCKED = "locked"  # a user who needs a password: "right"
QUICK = {
    "fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "autovacuum": "off", "jit": "off",
    "wal_level": "minimal", "max_wal_senders": "0", "shared_buffers": "16MB", "max_connections": "60",
    "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "logging_collector": "off",
}  # fmt: skip


def program(name: str) -> Path:
    """Return the path of one of PostgreSQL's programs; skip the test where it is not installed."""
    found = shutil.which(name)
    places = [Path(found).resolve()] if found else sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if not places:
        pytest.skip("PostgreSQL is not installed; on Debian: apt-get install postgresql")
    return places[-1]


class Cluster:
    """A running server; `stop` and `start` keep its databases and its port."""

    def __init__(self) -> None:
        initdb = program("initdb")
        self.folder = Path(tempfile.mkdtemp(prefix="test-postgresql-"))
        self._as: dict[str, Any] = {"cwd": self.folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.STDOUT}
        if os.geteuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
            self._as |= {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        self._postgres = initdb.with_name("postgres")
        self._data = self.folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        try:
            options = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]
            subprocess.run([initdb, "-D", self._data, *options], check=True, **self._as)
            rules = self._data / "pg_hba.conf"
            rules.write_text(f"host all {LOCKED} 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
            self.start()
            self.execute(
                f"CREATE ROLE {OWNER} LOGIN",
                f"CREATE ROLE {LOCKED} LOGIN PASSWORD 'right'",
                f"CREATE DATABASE {NAME} OWNER {OWNER} TEMPLATE template0",
            )
        except BaseException:
            self.remove()
            raise

    def start(self) -> None:
        """Start the server, and wait until it takes connections."""
        settings = [each for name, value in QUICK.items() for each in ("-c", f"{name}={value}")]
        command = [self._postgres, "-D", self._data, "-p", str(self.port), *settings]
        self._process = subprocess.Popen(command, **self._as)
        until(self._accepts)

    def stop(self) -> None:
        """End the server and every connection to it, at once."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(timeout=PATIENCE_S)
        self._process = None

    def remove(self) -> None:
        """End the server and delete its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def execute(self, *statements: str, database: str = "postgres") -> None:
        """Execute statements as the superuser."""
        import psycopg

        with psycopg.connect(self.uri(database, "postgres"), autocommit=True) as connection:
            for each in statements:
                connection.execute(each)

    def uri(self, database: str, user: str = OWNER) -> str:
        """Return the address of a database for a user, who may have a password: USER:PASSWORD."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def empty_database(self) -> PostgresqlAddress:
        """Empty the tests' database, which ends all connections to it, and return its address.

        Making another takes ten times as long.
        """
        self.execute(
            f"ALTER DATABASE {NAME} RESET ALL",
            f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{NAME}'",
        )
        made = f"CREATE SCHEMA public AUTHORIZATION {OWNER}"
        self.execute("DROP SCHEMA public CASCADE", made, "GRANT USAGE ON SCHEMA public TO public", database=NAME)
        return PostgresqlAddress(self.uri(NAME))

    def _accepts(self) -> bool:
        import psycopg

        assert self._process is not None
        assert self._process.poll() is None, "PostgreSQL does not start"
        try:
            psycopg.connect(self.uri("postgres", "postgres")).close()
        except psycopg.OperationalError:
            return False
        return True
