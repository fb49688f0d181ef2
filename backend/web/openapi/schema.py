"""Builders of JSON schemas (draft 2020-12, the dialect of OpenAPI 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Schema = Mapping[str, Any]

ANY: Schema = {}
TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}


def ref(name: str) -> Schema:
    """Refer to a schema of components/schemas."""
    return {"$ref": f"#/components/schemas/{name}"}


def whole(low: int, high: int, default: int | None = None) -> Schema:
    """Describe a whole number from `low` to `high`."""
    return _with_default({"type": "integer", "minimum": low, "maximum": high}, default)


def number(low: float, high: float, default: float | None = None) -> Schema:
    """Describe a finite number from `low` to `high`."""
    return _with_default({"type": "number", "minimum": low, "maximum": high}, default)


def choice(words: Iterable[str], default: str | None = None) -> Schema:
    """Describe one of several words."""
    return _with_default({"type": "string", "enum": list(words)}, default)


def flag(default: bool) -> Schema:
    """Describe true or false."""
    return {"type": "boolean", "default": default}


def text(pattern: str | None = None, most: int | None = None) -> Schema:
    """Describe a text, with a pattern and a greatest length in characters."""
    more = {"pattern": pattern, "maxLength": most}
    return {"type": "string"} | {key: value for key, value in more.items() if value is not None}


def array(items: Schema, least: int | None = None, most: int | None = None) -> Schema:
    """Describe a list."""
    more = {"minItems": least, "maxItems": most}
    return {"type": "array", "items": items} | {key: value for key, value in more.items() if value is not None}


def record(fields: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None, more: bool = False) -> Schema:
    """Describe an object with `fields`, all required, and `optional` ones; `more`: others may be beside them."""
    return {
        "type": "object",
        "properties": {**fields, **(optional or {})},
        "required": list(fields),
        "additionalProperties": more,
    }


def nullable(schema: Schema) -> Schema:
    """Describe the same, or null."""
    if "enum" in schema or "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def either(*schemas: Schema) -> Schema:
    """Describe a value that satisfies at least one of the schemas."""
    return {"anyOf": list(schemas)}


def _with_default(schema: dict[str, Any], default: Any) -> Schema:
    return schema if default is None else schema | {"default": default}
