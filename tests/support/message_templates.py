"""The messages of the server by their codes, read from its sources."""

from __future__ import annotations

import ast

from tests.support.sources import module_name, python_files, tree, under


def templates() -> dict[str, set[str]]:
    """Code -> template of every `message(code, template, ...)`, lessons' `mistake` and runner's `Sentence` alike."""
    found: dict[str, set[str]] = {}
    for path in (path for path in python_files() if under(module_name(path), "backend", "bubbleline", "runner")):
        for node in ast.walk(tree(path)):
            match node:
                case ast.Call(
                    func=ast.Name(id="message" | "Sentence" | "mistake"),
                    args=[ast.Constant(value=str(code)), ast.Constant(value=str(text))],
                ):
                    found.setdefault(code, set()).add(text)
                case ast.Call(func=ast.Name(id="message" | "Sentence" | "mistake")):
                    raise AssertionError(f"{path}:{node.lineno}: code and template must be literals")
    return found


def by_code() -> dict[str, str]:
    """Code -> template of every message, which every language's catalogue is compared with."""
    found = templates()
    double = {code: texts for code, texts in found.items() if len(texts) > 1}
    assert not double, f"one code, several templates: {double}"
    return {code: next(iter(found[code])) for code in sorted(found)}
