"""The preview of a view's link where it is pasted: title, description, and the addresses of its page and picture."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Request

CLAIM = "See, share and run pipeline-parallel training schedules."


@dataclass(frozen=True)
class Preview:
    """The texts of a preview, and the addresses of its page and picture."""

    title: str
    description: str
    url: str
    picture: str


def preview_of(request: Request, texts: tuple[str, str] | None) -> Preview:
    """Return the preview of the view that a request asks for, with Bubbleline's own texts if the view has none."""
    root = request.host_url.rstrip("/")
    query = request.query_string.decode("ascii", "replace")
    tail = f"?{query}" if query else ""
    title, description = texts or ("Bubbleline", CLAIM)
    return Preview(title, description, f"{root}/{tail}", f"{root}/preview.png{tail}")
