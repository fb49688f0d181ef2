"""The page's bundle, made of the sources as they are now."""

from __future__ import annotations

import fcntl
import subprocess

from backend.config import PROJECT
from backend.web.http.bundle import BUILT, STATIC


def make_bundle() -> None:
    """Bundle the page where a source is newer than the bundle; workers of pytest wait for the one that does it."""
    with (STATIC / "vendor" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_fresh():
            subprocess.run(["npm", "run", "--silent", "bundle"], cwd=PROJECT, check=True)


def _is_fresh() -> bool:
    sources = [path for folder in ("js", "css") for path in (STATIC / folder).rglob("*.*")]
    built = BUILT / "js" / "lesson-file.js"  # the last that is made
    return built.exists() and built.stat().st_mtime >= max(path.stat().st_mtime for path in sources)
