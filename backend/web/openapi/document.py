"""The OpenAPI document of an app: its routes, each with the description of its endpoint. Its own route is here, because
it reads the tables of the others.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from flask import Blueprint, Flask, Response, current_app
from werkzeug.routing import Rule

from backend import __version__
from backend.jobs.encoding import encode_json
from backend.web.openapi import classes, costs, lessons, pages, runs, schedules, tasks
from backend.web.openapi.operation import REFUSALS, Operation, refusal
from backend.web.openapi.shapes import SCHEMAS
from backend.web.services import send_cached

openapi = Blueprint("openapi", __name__)
OPERATIONS: dict[str, Operation] = (
    schedules.OPERATIONS | costs.OPERATIONS | runs.OPERATIONS | lessons.OPERATIONS | tasks.OPERATIONS
    | classes.OPERATIONS | pages.OPERATIONS
)  # fmt: skip
"""Each endpoint of the app with its description."""
TAGS = {
    "schedules": "Orders of ops, their figures, laws and files.",
    "charts": "Figures in plotly's JSON, each with its numbers as a table.",
    "costs": "Costs of a model on a machine.",
    "runs": "Real executions of schedules.",
    "lessons": "Lessons, and the check of answers to their questions.",
    "tasks": "Tasks of the workbench, and boards of the orders that were built for them.",
    "classes": "Classes that a lecturer leads and students follow.",
    "links": "Short links to views.",
    "page": "What a browser loads.",
    "operation": "State of the server, for operators.",
}
ABOUT = (
    "Every error has one shape, the schema Error: a stable `code`, the field that is wrong, its value, a sentence, and "
    "where there is one a legal value near it. Any request is refused with 400 if its Host is not one of the server's, "
    "any but GET with 403 if it comes from a page of another site, and an address answers a method that it does not "
    "have with 405. Unknown keys of a query or of a body are refused, except where a view is read. GET also answers "
    "HEAD. Runs, searches and classes are watched over Socket.IO, which docs/contracts.md describes."
)
CONVERTED = re.compile(r"<(?:[^<>:]+:)?([^<>]+)>")


@openapi.get("/api/openapi.json")
def describe() -> Response:
    """Return this description of the HTTP interface, in OpenAPI 3.1."""
    app = current_app._get_current_object()  # type: ignore[attr-defined]  # the app itself: a proxy has no type
    return send_cached("openapi", lambda: encode_json(document(app)))


def document(app: Flask) -> dict[str, Any]:
    """Return the description of an app, in OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    for rule in app.url_map.iter_rules():
        endpoint = rule.endpoint
        if endpoint not in OPERATIONS:
            continue  # a test fails for it; the others are described all the same
        at = paths.setdefault(address(rule), {})
        for method in methods(rule):
            at[method.lower()] = OPERATIONS[endpoint].as_dict(endpoint, app.view_functions[endpoint])
    parameters = _shared_parameters(paths)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Bubbleline", "version": __version__, "description": ABOUT},
        "tags": [{"name": name, "description": meaning} for name, meaning in TAGS.items()],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": SCHEMAS,
            "parameters": parameters,
            "responses": {str(status): refusal(status) for status in REFUSALS},
        },
    }


def _shared_parameters(paths: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the parameters that several operations have, by name, and refer to them in these: they are most of the
    description. Of those of one name the most frequent is shared.
    """
    lists = [operation["parameters"] for at in paths.values() for operation in at.values() if "parameters" in operation]
    texts = Counter(json.dumps(each, sort_keys=True) for parameters in lists for each in parameters)
    shared: dict[str, Any] = {}
    for text, count in texts.most_common():
        parameter = json.loads(text)
        if count > 1 and re.fullmatch(r"[\w.-]+", parameter["name"]):
            shared.setdefault(parameter["name"], parameter)
    for parameters in lists:
        parameters[:] = [
            {"$ref": f"#/components/parameters/{each['name']}"} if shared.get(each["name"]) == each else each
            for each in parameters
        ]
    return shared


def address(rule: Rule) -> str:
    """Return the address of a rule as OpenAPI has it: /api/runs/<run_id> -> /api/runs/{run_id}."""
    return CONVERTED.sub(r"{\1}", rule.rule)


def methods(rule: Rule) -> list[str]:
    """Return the methods of a rule besides HEAD and OPTIONS, which Flask adds."""
    return sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
