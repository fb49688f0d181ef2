"""Which files a page is sent as: the bundle that set-up makes, or the sources where that is missing or out of date."""

from __future__ import annotations

from pathlib import Path

from backend.config import PROJECT

STATIC = PROJECT / "static"
BUILT = STATIC / "vendor" / "app"


def entry(kind: str, name: str) -> str:
    """The address of an entry file: entry("js", "main"), entry("css", "main")."""
    built = BUILT / kind / f"{name}.{kind}"
    chosen = built if fresh(built) else STATIC / kind / f"{name}.{kind}"
    return "/" + chosen.relative_to(PROJECT).as_posix()


def fresh(built: Path) -> bool:
    """Whether a bundled file is there and no source was changed after it was made."""
    try:
        made = built.stat().st_mtime
    except OSError:
        return False
    sources = (path for folder in ("js", "css") for path in (STATIC / folder).rglob("*.*"))
    return all(path.stat().st_mtime <= made for path in sources)
