"""The page's own files, compressed where that helps: scripts, styles and signs. Each is compressed once a change.

A file whose address names its content is kept by browsers for a year; they ask about any other on each use.
"""

from __future__ import annotations

import mimetypes
import zlib
from pathlib import Path

from flask import Flask, Response, request
from werkzeug.security import safe_join

from backend.jobs.encoding import Encoded
from backend.web.http.background import run_in_background
from backend.web.http.bundle import is_for_good
from backend.web.http.responses import FOR_GOOD
from backend.web.services import send_cached

TEXT = (".js", ".css", ".svg", ".mjs")
LEAST = 1400  # bytes; what fits into one packet gains nothing


def compress_static(app: Flask) -> None:
    """Let an app send its static text files compressed, with an entity tag, instead of as they lie on the disk."""
    folder = app.static_folder
    assert folder is not None

    def show(filename: str) -> Response:
        """Return a file of the page."""
        path = safe_join(folder, filename)
        answer = compressed(filename, path) or app.send_static_file(filename)
        if path is not None and is_for_good(filename, Path(path), request.args.get("v")):
            answer.headers["Cache-Control"] = FOR_GOOD
        return answer

    def compressed(filename: str, path: str | None) -> Response | None:
        if path is None or not filename.endswith(TEXT) or not _is_long(Path(path)):
            return None
        file = Path(path)
        key, kind = ("static", filename, file.stat().st_mtime_ns), mimetypes.guess_type(filename)[0] or "text/plain"
        return send_cached(
            key, lambda: run_in_background(lambda: Encoded.of(zlib.compress(file.read_bytes(), 9), kind))
        )

    app.view_functions["static"] = show


def _is_long(file: Path) -> bool:
    try:
        return file.is_file() and file.stat().st_size > LEAST
    except OSError:
        return False
