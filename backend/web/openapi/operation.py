"""One operation of the interface: what it takes, what it answers, and how it may refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.jobs.encoding import JSON
from backend.web.http.responses import is_lenient
from backend.web.openapi.schema import Kind, Schema, either, ref, schema_of, text

REFUSALS = {
    304: "What the client has, named in If-None-Match, is current.",
    400: "A key, a value or the body is wrong; `field` names which, `nearest` a legal value where there is one.",
    401: "The server is open to others, and this needs a token that it has printed.",
    403: "The client's role does not suffice, the run is another's, or the request comes from a page of another site.",
    404: "There is no such thing, or nothing at this address.",
    405: "The address takes other methods.",
    409: "The name is taken, or the state of the run does not allow it.",
    413: "The body is larger than the server takes; `limit` is in bytes.",
    415: "The body is not `application/json`.",
    429: "The share of this client is used up; Retry-After says for how long.",
    503: "The server is full, or cannot write or read its database; Retry-After says when to try again.",
}
"""The statuses without the content that was asked for; all but 304 have the one shape of errors."""
ANY = (400, 401, 403, 429, 503)  # what any request may get
WAITING = (429, 503)  # statuses with a Retry-After
RETRY_AFTER: Schema = {
    "description": "Seconds until it is worth trying again.",
    "required": True,
    "schema": {"type": "integer", "minimum": 1},
}
FILE: Mapping[str, Schema] = {"Content-Disposition": {"required": True, "schema": text()}}


@dataclass(frozen=True)
class Parameter:
    """A parameter of the query; `spread`: an object whose keys are keys of the query."""

    name: str
    schema: Schema
    meaning: str = ""
    spread: bool = False
    place: str = "query"

    def as_dict(self) -> dict[str, Any]:
        """Return it as OpenAPI has it."""
        shape: dict[str, Any] = {"name": self.name, "in": self.place, "schema": self.schema}
        if self.meaning:
            shape["description"] = self.meaning
        return shape | ({"style": "form", "explode": True} if self.spread else {})


PREFER = Parameter(
    "Prefer", text("^handling=lenient$"), "handling=lenient: 200 in place of 400, with the same body", place="header"
)


@dataclass(frozen=True)
class Answer:
    """An answer: its meaning, and the schema of its content by media type."""

    meaning: str
    content: Mapping[str, Schema] = field(default_factory=dict)
    headers: Mapping[str, Schema] = field(default_factory=dict)

    def as_dict(self, lenient: bool = False) -> dict[str, Any]:
        """Return it as OpenAPI has it; `lenient`: its JSON may also be an error."""
        shape: dict[str, Any] = {"description": self.meaning}
        if self.headers:
            shape["headers"] = dict(self.headers)
        if self.content:
            content = dict(self.content)
            if lenient:
                content[JSON] = either(*content[JSON].get("anyOf", [content[JSON]]), ref("Error"))
            shape["content"] = {kind: {"schema": schema} if schema else {} for kind, schema in content.items()}
        return shape


@dataclass(frozen=True)
class Operation:
    """What the route of an endpoint takes and answers. Its address, method and summary are the route's own, and whether
    it handles an illegal spec leniently.

    `refusals` are the statuses of REFUSALS that may occur besides those of ANY. `strict`: unknown
    keys of the query are refused; else they are ignored.
    """

    tag: str
    answers: Mapping[int, Answer]
    query: tuple[Parameter, ...] = ()
    path: Mapping[str, Schema] = field(default_factory=dict)
    body: Schema | None = None
    refusals: tuple[int, ...] = ()
    strict: bool = True
    more: str = ""

    def as_dict(self, endpoint: str, view: Callable[..., Any]) -> dict[str, Any]:
        """Return it as OpenAPI has it; `view` is the route's function."""
        lenient = is_lenient(view)
        first, _, rest = " ".join((view.__doc__ or "").replace("``", "`").split()).partition(". ")
        shape: dict[str, Any] = {
            "operationId": endpoint,
            "tags": [self.tag],
            "summary": first.rstrip(".") + ".",
        }
        ignored = "Unknown keys of the query are ignored." if self.query and not self.strict else ""
        description = " ".join(part for part in (rest, self.more, ignored) if part)
        if description:
            shape["description"] = description
        parameters = [
            *({"name": key, "in": "path", "required": True, "schema": each} for key, each in self.path.items()),
            *(each.as_dict() for each in (*self.query, *([PREFER] if lenient else []))),
        ]
        if parameters:
            shape["parameters"] = parameters
        if self.body is not None:
            shape["requestBody"] = {"required": True, "content": {JSON: {"schema": self.body}}}
        body = (413, 415) if self.body is not None else ()
        statuses = sorted({*ANY, *body, *self.refusals} - self.answers.keys())
        shape["responses"] = {str(status): answer.as_dict(lenient) for status, answer in self.answers.items()} | {
            str(status): {"$ref": f"#/components/responses/{status}"} for status in statuses
        }
        return shape


def refusal(status: int) -> dict[str, Any]:
    """Return the answer of a status of REFUSALS."""
    if status == 304:
        return Answer(REFUSALS[status]).as_dict()
    headers = {"Retry-After": RETRY_AFTER} if status in WAITING else {}
    return Answer(REFUSALS[status], {JSON: ref("Error")}, headers).as_dict()


def answer(
    meaning: str, schema: Kind = object, kind: str = JSON, status: int = 200, file: bool = False
) -> dict[int, Answer]:
    """Return the answers of an operation with one; `file`: it is sent as an attachment."""
    return {status: Answer(meaning, {kind: schema_of(schema)}, FILE if file else {})}


def nothing(meaning: str) -> dict[int, Answer]:
    """Return the answers of an operation that answers without content."""
    return {204: Answer(meaning)}
