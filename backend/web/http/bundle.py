"""Addresses and texts of the page's files: the bundles that set-up makes of static/js and static/css.

An address of a file has a digest of its bytes, and the name of a chunk has one already: a browser that has the file
need not ask whether it is still the same. A second visit then only asks for the page and its data.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from backend.config import PROJECT
from backend.errors import RequestError, message

STATIC = PROJECT / "static"
BUILT = STATIC / "vendor" / "app"
CHUNK = re.compile(r'from"\./(chunk-[A-Z0-9]+\.js)"')
CHUNK_ADDRESS = re.compile(r"vendor/app/js/chunk-[A-Z0-9]+\.js")


def entry(kind: str, name: str) -> str:
    """Return the address of an entry file: entry("js", "main"). Raises RequestError where there is no bundle."""
    try:
        return address(BUILT / kind / f"{name}.{kind}")
    except OSError:
        raise _missing() from None


def built_text(path: Path) -> str:
    """Return a file of the bundle. Raises RequestError where it is missing."""
    try:
        return path.read_text()
    except OSError:
        raise _missing() from None


def _missing() -> RequestError:
    why = message(
        "web.no_bundle", "The page's bundle is missing; the administrator of this server can make it: make setup"
    )
    return RequestError("bundle", None, why, kind="disk")


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
    return _chunks(built, built.stat().st_mtime_ns)


def plotly_address() -> str:
    """Return the address of plotly's script, which the page loads when a chart is opened."""
    return f"/vendor/plotly-{version('plotly')}.min.js"


def charts_address() -> str:
    """Return the address of the rules for charts, which stay out of the bundle: Plotly looks for them by their id."""
    return address(STATIC / "css" / "panels" / "charts.css")
