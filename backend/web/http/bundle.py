"""Addresses of the page's files: the bundles made at set-up, or the sources where a bundle is missing or stale.

An address of a file has a digest of its bytes, and the name of a chunk has one already: a browser that has the file
need not ask whether it is still the same. A second visit then only asks for the page and its data.
"""

from __future__ import annotations

import re
import time
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from backend.config import PROJECT

STATIC = PROJECT / "static"
BUILT = STATIC / "vendor" / "app"
CHUNK = re.compile(r'from"\./(chunk-[A-Z0-9]+\.js)"')
CHUNK_ADDRESS = re.compile(r"vendor/app/js/chunk-[A-Z0-9]+\.js")
LOOK_S = 0.5  # between two looks at whether a source is newer than its bundle


def entry(kind: str, name: str) -> str:
    """Return the address of an entry file: entry("js", "main"), entry("css", "main")."""
    built = BUILT / kind / f"{name}.{kind}"
    return address(built if fresh(built) else STATIC / kind / f"{name}.{kind}")


def address(file: Path) -> str:
    """Return the address of a file under static/, with the digest of what it holds now."""
    return f"/{file.relative_to(PROJECT).as_posix()}?v={digest(file)}"


def digest(file: Path) -> str:
    """Return a digest of a file's bytes, 12 hexadecimal digits. Raises OSError where there is none."""
    return _digest(file, file.stat().st_mtime_ns)


def is_for_good(name: str, file: Path, stated: str | None) -> bool:
    """Return whether what is now at an address under /static will never change there; ``stated`` is its ``v``."""
    return bool(CHUNK_ADDRESS.fullmatch(name)) or (stated is not None and file.is_file() and stated == digest(file))


@lru_cache(maxsize=64)
def _digest(file: Path, changed: int) -> str:
    return blake2b(file.read_bytes(), digest_size=6).hexdigest()


@lru_cache(maxsize=4)
def _chunks(built: Path, changed: int) -> list[str]:
    """Return the addresses of the chunks that a bundled script imports; ``changed`` is its time, for the cache."""
    names = CHUNK.findall(built.read_text())
    return [f"/{(built.parent / name).relative_to(PROJECT).as_posix()}" for name in dict.fromkeys(names)]


def preloads(name: str) -> list[str]:
    """Return what a bundled script imports, so that a page can ask for it before the script has come."""
    built = BUILT / "js" / f"{name}.js"
    return _chunks(built, built.stat().st_mtime_ns) if fresh(built) else []


def fresh(built: Path) -> bool:
    """Return whether a bundled file exists and no source is newer."""
    try:
        built_at = built.stat().st_mtime
    except OSError:
        return False
    return _newest_source(STATIC, int(time.monotonic() / LOOK_S)) <= built_at


@lru_cache(maxsize=1)
def _newest_source(static: Path, look: int) -> float:
    """Return when a source was last changed; ``look`` numbers the looks, for the cache."""
    sources = (path for folder in ("js", "css") for path in (static / folder).rglob("*.*"))
    return max((path.stat().st_mtime for path in sources), default=0.0)


def plotly_address() -> str:
    """Return the address of plotly's script, which the page loads when a chart is opened."""
    return f"/vendor/plotly-{version('plotly')}.min.js"


def charts_address() -> str:
    """Return the address of the rules for charts, which stay out of the bundle: Plotly looks for them by their id."""
    return address(STATIC / "css" / "panels" / "charts.css")
