"""Access to a cluster: Ray's token authentication, and the sources that its hosts receive.

Works with files and environment variables, which Ray reads when it is imported. Does not import Ray.
"""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from backend.errors import message
from runner.engines.base import EngineError

ROOT = Path(__file__).resolve().parents[3]
TOKEN_FILE = "BUBBLELINE_RAY_TOKEN_FILE"
MODE, RAYS_FILE, RAYS_TOKEN = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_TOKEN"
SENT = ("runner", "backend/schedule")  # the sources of ranks


def grant(address: str, scratch: str) -> None:
    """Set up Ray's token: the cluster's, from a file that only its owner can read, or, for a cluster of our own
    (`address` empty), a new one.
    """
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_AUTO_CONNECT": "0"}
    if not address:
        path = make_token(scratch)
    elif os.environ.get(MODE) == "disabled":
        return
    elif TOKEN_FILE not in os.environ and RAYS_FILE not in os.environ and os.environ.get(RAYS_TOKEN):
        os.environ[MODE] = "token"
        return
    else:
        path = os.environ.get(TOKEN_FILE) or os.environ.get(RAYS_FILE) or str(Path.home() / ".ray" / "auth_token")
        check_token(path)
    os.environ |= {MODE: "token", RAYS_FILE: path}
    os.environ.pop(RAYS_TOKEN, None)  # it would go before the file


def make_token(folder: str) -> str:
    """Create a token; returns its path."""
    path = f"{folder}/token"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32))
    return path


def check_token(path: str) -> None:
    """Check that a token exists and that others cannot read it. Raises EngineError."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        reason = message(
            "runner.token_unreadable",
            "{variable}: {path} cannot be read ({error}); name the file with the cluster's token there, or "
            "set {mode}=disabled for a cluster that has none",
            variable=TOKEN_FILE,
            path=path,
            error=error.strerror,
            mode=MODE,
        )
        raise EngineError(reason) from None
    if mode & 0o077:
        reason = message(
            "runner.token_readable",
            "{variable}: others may read {path} (mode {mode}); make it yours alone: chmod 600 {path}",
            variable=TOKEN_FILE,
            path=path,
            mode=f"{mode & 0o777:o}",
        )
        raise EngineError(reason)


def gather_sources(folder: str) -> str:
    """Create a folder with the sources of ranks only, for Ray to send to the cluster's hosts. Ray names it by its
    content, so that a host receives it once.
    """
    code = Path(folder) / "code"
    place = code.joinpath(*__name__.split(".")[:-4])  # in a package where this program is installed as one
    for part in SENT:
        shutil.copytree(ROOT / part, place / part, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    for name in ("__init__.py", "errors.py"):
        shutil.copy(ROOT / "backend" / name, place / "backend" / name)
    if place != code:
        (place / "__init__.py").touch()  # not the package's own, which imports more than ranks need
    return str(code)
