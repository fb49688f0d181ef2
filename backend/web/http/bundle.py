"""Addresses of the page's files: the bundles made at set-up, or the sources where a bundle is missing or stale."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from backend.config import PROJECT

STATIC = PROJECT / "static"
BUILT = STATIC / "vendor" / "app"
CHUNK = re.compile(r'from"\./(chunk-[A-Z0-9]+\.js)"')


def entry(kind: str, name: str) -> str:
    """Return the address of an entry file: entry("js", "main"), entry("css", "main")."""
    built = BUILT / kind / f"{name}.{kind}"
    chosen = built if fresh(built) else STATIC / kind / f"{name}.{kind}"
    return "/" + chosen.relative_to(PROJECT).as_posix()


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
    sources = (path for folder in ("js", "css") for path in (STATIC / folder).rglob("*.*"))
    return all(path.stat().st_mtime <= built_at for path in sources)


def plotly_address() -> str:
    """Return the address of plotly's script, which the page loads when a chart is opened."""
    return f"/vendor/plotly-{version('plotly')}.min.js"
