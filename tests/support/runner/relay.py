"""A runner that several programs use one after the other, each as if it were its own.

As a program, ``python relay.py SOCKET``, it passes lines between its standard streams and the shared runner.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import threading
from pathlib import Path

CHUNK = 65536


class SharedRunner:
    """One `python -m runner` behind a socket. A program has it until it leaves, which it does after its run's end."""

    def __init__(self, path: Path) -> None:
        from tests.support.runner.client import RunnerProgram  # which the relay itself does not need

        self.program = RunnerProgram()
        self.command = (sys.executable, __file__, str(path))
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """End the runner."""
        self.socket.close()
        self.program.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:  # closed
                return
            with client:
                client.sendall(json.dumps(self.program.ready).encode() + b"\n")
                self._pass_lines(client)

    def _pass_lines(self, client: socket.socket) -> None:
        into, out = self.program.process.stdin, self.program.process.stdout
        assert into is not None
        assert out is not None
        while True:
            for source in select.select([client, out], [], [])[0]:
                data = client.recv(CHUNK) if source is client else os.read(out.fileno(), CHUNK)
                if not data:
                    return
                if source is client:
                    into.write(data)
                else:
                    client.sendall(data)


def main(path: str) -> None:
    """Pass lines until standard input ends."""
    with socket.socket(socket.AF_UNIX) as shared:
        shared.connect(path)
        while True:
            for source in select.select([0, shared], [], [])[0]:
                data = shared.recv(CHUNK) if source is shared else os.read(0, CHUNK)
                if not data:
                    return
                if source is shared:
                    os.write(1, data)
                else:
                    shared.sendall(data)


if __name__ == "__main__":
    main(sys.argv[1])
