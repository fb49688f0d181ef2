"""Routes of short links: make one, follow one."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify, make_response, redirect, render_template, request

from backend.errors import RequestError, message
from backend.jobs.strict_json import only
from backend.web.http.bundle import entry
from backend.web.http.clients import client_of
from backend.web.http.errors import status_of
from backend.web.http.request_body import read_object
from backend.web.services import services

links = Blueprint("links", __name__)
A_LINK = message("links.a_link", "a link")


@links.post("/api/links")
def make_link() -> tuple[Response, int]:
    """Make a short link to a view; the same view and name have the same one."""
    body = only(read_object(request), ("query", "name"), A_LINK)
    link = services().links.make(client_of(request), body.get("query"), body.get("name"))
    name = link.code if link.named else None
    return jsonify(code=link.code, url=f"/s/{link.code}", query=link.query, name=name), 201


@links.get("/s/<code>")
def follow_link(code: str) -> Response:
    """Redirect to the view of a link: from there on the address is the long one, which can be read."""
    try:
        link = services().links.find(code)
        if link is None:
            text = message("links.unknown", "There is no short link of this name here.")
            raise RequestError("code", code[:80], text, kind="unknown")
    except RequestError as error:
        status = status_of(error)
        accepted = request.accept_mimetypes.best_match(["text/html", "application/json"], default="text/html")
        if accepted == "application/json":
            raise
        lost = error.kind == "unknown"
        page = render_template("no_link.html", code=code[:80], lost=lost, style=entry("css", "main"))
        return make_response(page, status)
    return make_response(redirect(f"/{link.query}", 302))
