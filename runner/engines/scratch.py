"""The runner's temporary folder, and the removal of folders that runners which were killed have left.

A folder has a file that its owner holds locked as long as it lives; the system releases the lock with the process,
however it ends, and no process id is needed, which another process might have by then.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

log = logging.getLogger("runner")
PREFIX = "bubbleline-"
OWNER = "owner"  # the file that is locked
OLD_S = 86_400.0  # a folder without one, of an earlier version or just being made, is removed after a day


class Scratch:
    """A temporary folder of this process, `name` being its path; folders that others have left are removed."""

    def __init__(self, folder: str | None = None) -> None:
        remove_abandoned(Path(folder or tempfile.gettempdir()))
        self._folder = tempfile.TemporaryDirectory(prefix=PREFIX, dir=folder, ignore_cleanup_errors=True)
        self.name = self._folder.name
        path = os.path.join(self.name, OWNER)
        self._lock = os.open(path + ".new", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        os.rename(path + ".new", path)  # named only now, so that no process finds it unlocked while its owner lives

    def cleanup(self) -> None:
        """Remove the folder; safe to call twice."""
        self._folder.cleanup()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def remove_abandoned(parent: Path) -> list[Path]:
    """Remove the folders of this user in `parent` whose owner has ended, and return them."""
    gone = []
    for folder in parent.glob(PREFIX + "*"):
        with suppress(OSError):
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and _abandoned(folder, found.st_mtime):
                shutil.rmtree(folder, ignore_errors=True)
                gone.append(folder)
                log.info("removed %s, which a runner that was killed had left", folder)
    return gone


def _abandoned(folder: Path, changed: float) -> bool:
    """Return whether no process owns the folder. Raises OSError."""
    try:
        number = os.open(folder / OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return time.time() - changed > OLD_S
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(number)
    return True
