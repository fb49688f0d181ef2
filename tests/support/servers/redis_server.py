"""A Redis of the tests' own: a process on a free port that keeps nothing on disk, so that it comes back empty."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import PATIENCE_S, until

PROGRAM = "redis-server"


class RedisServer:
    """A `redis-server` process; `url` stays the same over its ends and starts.

    With a certificate and its key it takes connections with TLS only; the address then names that certificate.
    """

    def __init__(self, folder: Path, certificate: tuple[Path, Path] | None = None) -> None:
        program = shutil.which(PROGRAM)
        if program is None:
            pytest.skip("redis-server is missing; on Debian: apt-get install redis-server")
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self._command = [
            program, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
            "--dir", str(folder), "--logfile", str(folder / "redis.log"),
        ]  # fmt: skip
        self._context: ssl.SSLContext | None = None
        if certificate is None:
            self.url = f"redis://127.0.0.1:{self.port}/0"
            self._command += ["--port", str(self.port)]
        else:
            chain, key = map(str, certificate)
            self.url = f"rediss://127.0.0.1:{self.port}/0?ssl_ca_certs={chain}"
            self._context = ssl.create_default_context(cafile=chain)
            self._command += [
                "--port", "0", "--tls-port", str(self.port), "--tls-auth-clients", "optional",
                "--tls-cert-file", chain, "--tls-key-file", key, "--tls-ca-cert-file", chain,
            ]  # fmt: skip
        self.start()

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.process = subprocess.Popen(self._command)
        until(self._answers)

    def kill(self) -> None:
        """End it at once; what it had is lost."""
        self.process.kill()
        self.process.wait()

    def _answers(self) -> bool:
        try:
            with closing(self._connection()) as client:
                client.sendall(b"PING\r\n")
                return client.recv(7) == b"+PONG\r\n"
        except OSError:
            return False

    def _connection(self) -> socket.socket:
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        return plain if self._context is None else self._context.wrap_socket(plain, server_hostname="127.0.0.1")
