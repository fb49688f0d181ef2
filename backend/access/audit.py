"""The audit log: one line of JSON for each run, cancellation, new name, deletion, import and refusal of access.

{"at", "who", "address", "what", "run"?, ...}; never a token. The logger is "bubbleline.audit"; `log_to` adds a file
of bounded size that only its owner can read.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from backend.access.limits.rate_limit import Pace
from backend.access.roles import Identity

FILE = "audit.log"
FILE_BYTES, OLD_FILES = 4_000_000, 4  # 20 MB in all
LONGEST = 200  # characters of a text in a line
REFUSALS_A_MINUTE = 30  # of one client; more would push out what others did
logger = logging.getLogger("bubbleline.audit")
logger.setLevel(logging.INFO)


class Audit:
    """Writes what clients do; the refusals of one client at a bounded pace."""

    def __init__(self) -> None:
        self._refusals = Pace(REFUSALS_A_MINUTE, 60.0)

    def record(self, identity: Identity, what: str, run: str | None = None, **more: Any) -> None:
        """Write that a client did something, to a run where it is about one."""
        line: dict[str, Any] = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "who": identity.owner,
            "role": identity.role.name.lower(),
            "address": identity.address,
            "what": what,
        }
        line |= {} if run is None else {"run": run}
        line |= {name: value[:LONGEST] if isinstance(value, str) else value for name, value in more.items()}
        logger.info("%s", json.dumps(line))

    def refuse(self, identity: Identity, code: str, asked: str) -> None:
        """Write that a client was refused something."""
        if self._refusals.take(identity.client) is None:
            self.record(identity, "refused", code=code, asked=asked)


class PrivateFile(RotatingFileHandler):
    """A rotating file that only its owner can read: it has addresses of clients."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        os.chmod(self.baseFilename, 0o600)
        return open(descriptor, "a", encoding=self.encoding)


class AuditFile(PrivateFile):
    """The file of the audit log; where it cannot be written, standard error says so once."""

    _complained = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's name
        """Report the first failure only: what is logged must not fail or flood what is done."""
        if not self._complained:
            self._complained = True
            print(f"The audit log {self.baseFilename} cannot be written: {sys.exception()}", file=sys.stderr)


def log_to(path: Path) -> None:
    """Write the audit log to this file, and nowhere else."""
    with suppress(OSError):  # the handler reports what cannot be written
        path.parent.mkdir(parents=True, exist_ok=True)
    handler = AuditFile(path, maxBytes=FILE_BYTES, backupCount=OLD_FILES, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
