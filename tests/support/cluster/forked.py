"""What processes of a host's fork server do in tests: calls with one end of a pipe."""

from __future__ import annotations

import os
import sys
from multiprocessing.connection import Connection


def report(pipe: Connection, name: str) -> None:
    """Send the process id, that of the parent, and a variable of the environment; then wait for an exit code."""
    pipe.send((os.getpid(), os.getppid(), os.environ.get(name)))
    os._exit(pipe.recv())


def outlive(pipe: Connection) -> None:
    """Never notice that the pipe has closed."""
    pipe.send(os.getpid())
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)"])
