"""Routes of short links: make one, follow one. The disk is reached from a thread; what a link is, is backend/links'."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, make_response, redirect, render_template, request

from backend.short_links.errors import LinkError
from backend.short_links.store import Link
from backend.web.http.bundle import entry
from backend.web.http.request_json import only, read_object
from backend.web.http.responses import AWAY_FROM, apart
from backend.web.services import services

links = Blueprint("links", __name__)
STATUS = {"bad": 400, "taken": 409, "share": 429, "full": 503, "disk": 503}


@links.post("/api/links")
def make_link() -> tuple[Response, int]:
    """A short link to a view; the same view and name have the same one."""
    asked = only(read_object(request), ("query", "name"), "a link")
    kept, owner = services().links, request.remote_addr or ""
    try:
        made = apart(AWAY_FROM, lambda: kept.make(owner, asked.get("query"), asked.get("name")))
    except LinkError as error:
        return jsonify(error=error.as_dict()), STATUS[error.kind]
    name = made.code if made.named else None
    return jsonify(code=made.code, url=f"/s/{made.code}", query=made.query, name=name), 201


@links.get("/s/<code>")
def follow_link(code: str) -> Response:
    """To the view that a link stands for: from there on the address is the long one, which can be read."""
    kept = services().links
    found: Link | None = None
    try:
        found = apart(AWAY_FROM, lambda: kept.find(code))
        problem = None if found else LinkError("bad", "code", code[:80], "There is no short link of this name here.")
    except LinkError as error:
        problem = error
    if found is not None:
        return make_response(redirect(f"/{found.query}", 302))
    assert problem is not None
    status = 404 if problem.kind == "bad" else 503
    if request.accept_mimetypes.best_match(["text/html", "application/json"], default="text/html") == "text/html":
        page = render_template("no_link.html", code=code[:80], lost=status == 404, style=entry("css", "main"))
        return make_response(page, status)
    return make_response(jsonify(error=problem.as_dict()), status)
