"""The preview of a view's link where it is pasted: title, description, and the addresses of its page and picture."""

from __future__ import annotations

from dataclasses import dataclass

CLAIM = "See, share and run pipeline-parallel training schedules."


@dataclass(frozen=True)
class Preview:
    """The texts of a preview, and the addresses of its page and picture."""

    title: str
    description: str
    url: str
    picture: str


def preview_of(host_url: str, query: bytes, texts: tuple[str, str] | None, path: str = "") -> Preview:
    """Return the preview of the view that a query of a page describes, with Bubbleline's own texts if it has none."""
    root = host_url.rstrip("/")
    tail = f"?{query.decode('ascii', 'replace')}" if query else ""
    title, description = texts or ("Bubbleline", CLAIM)
    return Preview(title, description, f"{root}/{path}{tail}", f"{root}/preview.png{tail}")
