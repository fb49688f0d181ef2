"""Builders of JSON schemas (draft 2020-12, as in OpenAPI 3.1). A type of Python stands for its plain schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Schema = Mapping[str, Any]
Kind = Schema | type
Fields = Mapping[str, Kind]

PLAIN: dict[type, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    dict: {"type": "object"},
    object: {},  # anything
}
COUNT: Schema = {"type": "integer", "minimum": 0}


class Maybe(dict[str, Any]):
    """The schema of a field that a record may lack."""


def schema_of(kind: Kind) -> Schema:
    """Return the schema that a type stands for; a schema itself as it is."""
    return PLAIN[kind] if isinstance(kind, type) else kind


def ref(name: str) -> Schema:
    """Refer to a schema of components/schemas."""
    return {"$ref": f"#/components/schemas/{name}"}


def whole(low: int, high: int, default: int | None = None) -> Schema:
    """Describe a whole number from `low` to `high`."""
    return _without_none(type="integer", minimum=low, maximum=high, default=default)


def number(low: float, high: float, default: float | None = None) -> Schema:
    """Describe a finite number from `low` to `high`."""
    return _without_none(type="number", minimum=low, maximum=high, default=default)


def choice(words: Iterable[str], default: str | None = None) -> Schema:
    """Describe one of several words."""
    return _without_none(type="string", enum=list(words), default=default)


def flag(default: bool) -> Schema:
    """Describe true or false."""
    return {"type": "boolean", "default": default}


def text(pattern: str | None = None, most: int | None = None) -> Schema:
    """Describe a text, with a pattern and a greatest length in characters."""
    return _without_none(type="string", pattern=pattern, maxLength=most)


def described(kind: Kind, meaning: str) -> Schema:
    """Describe the same, with its meaning."""
    return {**schema_of(kind), "description": meaning}


def array(items: Kind, least: int | None = None, most: int | None = None) -> Schema:
    """Describe a list."""
    return _without_none(type="array", items=schema_of(items), minItems=least, maxItems=most)


def record(**fields: Kind) -> Schema:
    """Describe an object with these fields and no others; those that are a Maybe are optional."""
    return {
        "type": "object",
        "properties": {name: schema_of(kind) for name, kind in fields.items()},
        "required": [name for name, kind in fields.items() if not isinstance(kind, Maybe)],
        "additionalProperties": False,
    }


def open_record(**fields: Kind) -> Schema:
    """Describe an object with these fields, beside which others may be."""
    return {**record(**fields), "additionalProperties": True}


def maybe(kind: Kind) -> Maybe:
    """Describe a field that a record may lack."""
    return Maybe(schema_of(kind))


def nullable(kind: Kind) -> Schema:
    """Describe the same, or null."""
    schema = schema_of(kind)
    if "enum" in schema or "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def either(*kinds: Kind) -> Schema:
    """Describe a value that satisfies at least one of the schemas."""
    return {"anyOf": list(map(schema_of, kinds))}


def _without_none(**parts: Any) -> Schema:
    return {name: value for name, value in parts.items() if value is not None}
