"""What a request needs: a role by its route, a pace for each client; and the links with a token, which set a cookie.

A refusal is in the one shape of errors, with the way out; a reader who opens a page gets a page with that sentence.
"""

from __future__ import annotations

from typing import Any

from flask import Flask, Response, current_app, make_response, redirect, render_template, request
from werkzeug.wrappers import Request

from backend.access.audit import Audit
from backend.access.limits.rate_limit import Pace, keep_pace
from backend.access.policy import AccessError, Policy, refuse_other_owner
from backend.access.roles import Identity, Role
from backend.web.http.bundle import entry
from backend.web.http.clients import POLICY, cookie_name, identity_of, policy_of
from backend.web.http.errors import status_of
from backend.web.http.security import READING

AUDIT, PACE = "bubbleline.audit", "bubbleline.pace"  # the app's extensions
YEAR = 31_536_000  # seconds
PAGE = "page.index"
PAGES = (
    PAGE,
    "page.build",
    "page.embed",
    "links.follow_link",
    "lessons.show_list",
    "lessons.show_lesson",
    "lessons.show_teach",
    "lessons.show_presenter",
    "classes.show_classes",
    "classes.show_class",
    "classes.show_lead",
)  # what people open; a refusal is a page for them
# Without any role: the page's public sources, the component for other sites, and for operators.
OPEN = ("static", "component.show_component", "component.component_script", "health.healthz", "health.readyz")
# The roles of routes that their method does not tell: others need VIEW for reading, and RUN for the rest.
NEEDS = {
    "health.metrics": Role.ADMIN,
    "links.make_link": Role.VIEW,
    "imports.diagnose_files": Role.VIEW,
    "imports.import_order": Role.VIEW,
    "imports.import_configuration": Role.VIEW,
    "tasks.submit_entry": Role.VIEW,
    "lessons.check_file": Role.VIEW,
    "tasks.delete_entry": Role.ADMIN,
    "tasks.delete_name": Role.ADMIN,
    "classes.join_class": Role.VIEW,  # what else a leader or a member may do, the key or the secret of the class tells
    "classes.leave_class": Role.VIEW,
    "classes.remove_member": Role.VIEW,
    "classes.delete_class": Role.VIEW,
}


def register(app: Flask, policy: Policy, pace: Pace) -> None:
    """Check every request of the app, and give browsers their cookie."""
    app.extensions |= {POLICY: policy, AUDIT: Audit(), PACE: pace}
    app.before_request(_check)
    app.after_request(_set_cookie)


def identity() -> Identity:
    """Return who sends the present request, or has opened the present socket."""
    return identity_of(request)


def require(role: Role) -> None:
    """Raise AccessError where the present client's role does not suffice, and write it to the audit log."""
    try:
        policy_of().require(identity(), role)
    except AccessError as error:
        _audit().refuse(identity(), error.code, _asked())
        raise


def require_owner(owner: str, run_id: str) -> None:
    """Raise AccessError unless the present client may change runs of this owner, and write it to the audit log."""
    try:
        refuse_other_owner(identity(), owner)
    except AccessError as error:
        _audit().refuse(identity(), error.code, f"{_asked()} {run_id}")
        raise


def record(what: str, run_id: str, **more: Any) -> None:
    """Write to the audit log that the present client did something to a run."""
    _audit().record(identity(), what, run_id, **more)


def role_needed(endpoint: str | None, method: str) -> Role:
    """Return the role that a route needs."""
    if endpoint is None or endpoint in OPEN:  # None: there is nothing at this address
        return Role.NOBODY
    return NEEDS.get(endpoint, Role.VIEW if method in READING else Role.RUN)


def _check() -> Response | None:
    """Refuse a request that comes too soon or lacks a role; follow a link with a token."""
    keep_pace(current_app.extensions[PACE], identity().client)
    token = request.args.get("token") if request.endpoint in PAGES and request.method in READING else None
    try:
        if token is not None:
            return _follow(token)
        needed = role_needed(request.endpoint, request.method)
        if needed:
            require(needed)
    except AccessError as error:
        as_page = request.accept_mimetypes.best_match(["text/html", "application/json"], default="text/html")
        if request.endpoint not in PAGES or as_page == "application/json":
            raise
        page = render_template("no_access.html", bad=token is not None, style=entry("css", "main"))
        return make_response(page, status_of(error))
    return None


def _follow(token: str) -> Response:
    """Give the browser a cookie with the token's role, and lead it to the address without the token."""
    policy = policy_of()
    parts = request.query_string.decode("ascii", "replace").split("&")
    rest = "&".join(part for part in parts if part.partition("=")[0] != "token")
    answer = make_response(redirect(f"{request.path}?{rest}" if rest else request.path, 302))
    if policy.config.local:  # there are no tokens here
        return answer
    who = identity()
    role = policy.keys.role_of_token(token)
    if not role:
        _audit().refuse(who, "access.bad_token", _asked())
        policy.refuse_token()
    if role > who.role or not who.shown:
        _put_cookie(answer, request, policy.cookie_for(who, token))
        _audit().record(who, "signed in", gained=role.name.lower())
    return answer


def _set_cookie(response: Response) -> Response:
    """Give a browser without a cookie its id, when it opens the page and with its first change."""
    who = identity()
    due = policy_of().lasting and (request.endpoint == PAGE or request.method not in READING)
    given = [text.partition("=")[0] for text in response.headers.getlist("Set-Cookie")]
    if who.fresh and due and response.status_code < 400 and cookie_name(request) not in given:
        _put_cookie(response, request, policy_of().cookie_for(who))
    return response


def _put_cookie(response: Response, asked: Request, text: str) -> None:
    response.set_cookie(
        cookie_name(asked), text, max_age=YEAR, httponly=True, samesite="Lax", secure=asked.is_secure, path="/"
    )


def _audit() -> Audit:
    audit: Audit = current_app.extensions[AUDIT]
    return audit


def _asked() -> str:
    return f"{request.method} {request.path}"  # without the query, which may have a token
