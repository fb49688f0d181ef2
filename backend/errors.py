"""Sentences with codes, and the common base of every error that answers a request.

A `Message` is an English sentence with its code and the values of its holes, so that a page can show it in another
language without parsing the English. A `RequestError` is a request that cannot be met: which field, which value, why,
and a way out. Knows no schedules, runs, or HTTP.

ValueError
└── RequestError       any request that cannot be met; `kind` decides the HTTP status
    ├── SpecError      backend.schedule: a field of a spec (or of its costs, model or machine) is illegal
    ├── OrderError     backend.schedule: an order of ops that cannot run
    ├── AccessError    backend.access: a request that this client may not make
    └── ApiError       backend.web: a request that is wrong by HTTP, its body or its origin
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

LONGEST_VALUE = 80  # characters of a given value that an error repeats
LONGEST_REASON = 160  # characters of a parser's own message

Kind = Literal[
    "bad", "unidentified", "denied", "unknown", "over", "taken", "share", "full", "disk", "missing", "server"
]
"""bad: the request is wrong; unidentified: it takes a token; denied: not allowed to this client; unknown: there is no
such thing; over: too late for it; taken: the name is in use; share: this client's limit; full: the server's limit;
disk: it could not be kept; missing: what it takes is not installed; server: a defect."""


class Message(str):
    """An English sentence with its `code` and the `params` that fill its holes. Behaves as the English text.

    Params are numbers, texts that are the same in every language (names, keys, values), further messages, or lists of
    these.
    """

    code: str
    params: Mapping[str, Any]

    def __new__(cls, code: str, text: str, params: Mapping[str, Any]) -> Message:
        """Format `text`, a template in `str.format` notation, with `params`."""
        made = super().__new__(cls, text.format(**{name: _english(value) for name, value in params.items()}))
        made.code, made.params = code, params
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (str(self), self.code, dict(self.params))

    def as_dict(self) -> dict[str, Any]:
        """Return the message as JSON: ``{"code", "params", "message"}``."""
        return {"code": self.code, "params": with_codes(dict(self.params)), "message": str(self)}


def message(code: str, text: str, /, **params: Any) -> Message:
    """Build a sentence for readers.

    `code` and `text` must be literals: tests collect them from the sources, and check every language's catalogue
    against them. `text` is English with holes in `str.format` notation, each named in `params`.
    """
    return Message(code, text, params)


def json_reason(error: ValueError | RecursionError) -> str:
    """Return why a text is not JSON, as Python's reader says it; of too deep a text it speaks of its own recursion."""
    if isinstance(error, RecursionError):
        return message("web.json_too_deep", "it is nested too deeply")
    return str(error)[:LONGEST_REASON]


def _english(value: Any) -> Any:
    return ", ".join(str(each) for each in value) if isinstance(value, list | tuple) else value


def _restore(text: str, code: str, params: dict[str, Any]) -> Message:
    made: Message = str.__new__(Message, text)
    made.code, made.params = code, params
    return made


def with_codes(value: Any) -> Any:
    """Return JSON data with every `Message` replaced by ``{"code", "params", "message"}``."""
    if isinstance(value, Message):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {key: with_codes(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [with_codes(each) for each in value]
    return value


def from_codes(value: Any) -> Any:
    """Return JSON data with every ``{"code", "params", "message"}`` replaced by a `Message`: the inverse of
    `with_codes`.

    Params are unchanged: `with_codes` gives the same text back.
    """
    if isinstance(value, dict):
        if value.keys() == {"code", "params", "message"} and isinstance(value["params"], dict):
            return _restore(str(value["message"]), str(value["code"]), value["params"])
        return {key: from_codes(each) for key, each in value.items()}
    if isinstance(value, list):
        return [from_codes(each) for each in value]
    return value


class RequestError(ValueError):
    """A request that cannot be met.

    ``field`` names the wrong field (None if it is no single one), ``value`` is the given value, ``message`` gives the
    reason and a way out, ``limit`` is the bound that was exceeded and ``nearest`` a legal value close to the given
    one. ``retry_after`` is in how many seconds the same request may be met, None where it never will.
    """

    def __init__(
        self,
        field: str | None,
        value: Any,
        message: str,
        *,
        limit: Any = None,
        nearest: Any = None,
        kind: Kind = "bad",
        retry_after: int | None = None,
    ) -> None:
        super().__init__(str(message))
        self.field, self.value, self.message = field, value, message
        self.limit, self.nearest, self.kind, self.retry_after = limit, nearest, kind, retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.__dict__ | {"value": printable(self.value)}  # what an error shows of a value, however large it is
        return _remake, (type(self), self.args, state)

    @property
    def code(self) -> str:
        """Return the code of the message: stable, for programs."""
        return self.message.code if isinstance(self.message, Message) else "unspecified"

    @property
    def params(self) -> Mapping[str, Any]:
        """Return the values of the holes of the message."""
        return self.message.params if isinstance(self.message, Message) else {}

    @property
    def in_full(self) -> str:
        """Return the field, the message, and the nearest legal value if there is one, for a terminal."""
        advice = "" if self.nearest is None else f" (nearest legal value: {self.nearest})"
        return f"{self.field}: {self.message}{advice}"

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of all errors; ``limit`` and ``nearest`` only if there is one."""
        shape: dict[str, Any] = {
            "code": self.code,
            "params": with_codes(dict(self.params)),
            "field": self.field,
            "value": printable(self.value),
            "message": str(self.message),
        }
        if self.limit is not None:
            shape["limit"] = self.limit
        if self.nearest is not None:
            shape["nearest"] = self.nearest
        return shape


def _remake(kind: type[RequestError], args: tuple[Any, ...], state: dict[str, Any]) -> RequestError:
    made = kind.__new__(kind, *args)
    made.__dict__.update(state)
    return made


def printable(value: Any) -> Any:
    """Return ``value`` in a form that JSON can represent, cut to a length that a message can show."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else f"{'-' if value < 0 else ''}(about 2^{abs(value).bit_length() - 1})"
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else repr(value)
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."
