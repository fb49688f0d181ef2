"""Apps of one process share the code that werkzeug compiles for each route.

It is four fifths of the time of making an app.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from werkzeug.routing import Rule

Build = Callable[..., tuple[str, str]]


def shared(compile_builder: Callable[[Rule, bool], Build]) -> Callable[[Rule, bool], Build]:
    """Return a method of rules that compiles once for all rules of the same text."""
    compiled: dict[tuple[Any, ...], Build] = {}

    def once(rule: Rule, append_unknown: bool = True) -> Build:
        defaults = tuple(sorted((rule.defaults or {}).items()))
        key = (rule.rule, rule.host, rule.subdomain, rule.merge_slashes, defaults, append_unknown)
        if key not in compiled:
            compiled[key] = compile_builder(rule, append_unknown)
        return compiled[key]

    return once
