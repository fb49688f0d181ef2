"""The schedule core has no state: results follow from arguments, whichever process computes them and whatever came
before. Which packages it may not import is in test_python_layers.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.schedule.options.family_names import NAMES
from tests.support.sources import files, relative, report, tree

# What changes a list, a dictionary or a set.
CHANGING = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "insert", "move_to_end", "pop", "popitem"),
    *("popleft", "remove", "setdefault", "update"),
}
# Values of modules that functions change, each with its reason; a test fails for one that is no longer needed.
ALLOWED = {
    "backend/schedule/jit.py:_kernels": "kernels are listed where they are defined, to be compiled once",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def core() -> list[Path]:
    return files("backend/schedule", kinds=(".py",))


def module_values(module: ast.Module) -> set[str]:
    """The names that a module gives values to, other than by definitions and imports."""
    found = set()
    for node in module.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {each.id for target in targets if target is not None for each in ast.walk(target) if named(each)}
    return found


def named(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


def changed(function: Function) -> Iterator[tuple[str, int]]:
    """Each (name, line) of a value that a function changes or declares global."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global):
            yield from ((name, node.lineno) for name in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            if isinstance(node.func.value, ast.Name):
                yield node.func.value.id, node.lineno
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
            targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
            for target in targets:
                if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    yield target.value.id, node.lineno


def own_names(function: Function) -> set[str]:
    """The arguments of a function, and the names that it gives values to: these hide those of the module."""
    names = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    return names | {
        each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }


def changes_of_module_values(module: ast.Module) -> Iterator[tuple[str, int]]:
    values = module_values(module)
    for function in ast.walk(module):
        if isinstance(function, Function):
            own = own_names(function)
            declared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
            yield from (each for each in changed(function) if each[0] in values and each[0] not in own - declared)


def test_no_function_changes_a_value_of_its_module():
    found = {
        (f"{relative(path)}:{name}", line) for path in core() for name, line in changes_of_module_values(tree(path))
    }
    problems = [
        f"{where} is changed in line {line}: pass it in, or use lru_cache where it is what a pure function returned"
        for where, line in sorted(found)
        if where not in ALLOWED
    ]
    assert not problems, report(problems)
    assert ALLOWED.keys() <= {where for where, _ in found}, "remove the entries that are no longer needed"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("known = {}\ndef f(key): known[key] = 1", {"known"}),
        ("known = {}\ndef f():\n    def g(): known.clear()", {"known"}),
        ("count = 0\ndef f():\n    global count\n    count = 1", {"count"}),
        ("known = {}\ndef f(known): known.clear()", set()),
        ("def f():\n    known = {}\n    known[1] = 2", set()),
        ("known = {1: 2}\ndef f(): return known[1]", set()),
    ],
)
def test_a_change_of_a_value_of_the_module_is_found(text: str, names: set[str]):
    assert {name for name, _ in changes_of_module_values(ast.parse(text))} == names


def compared_names(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Each (name, line) of a family that something is compared with."""
    for node in ast.walk(module):
        if isinstance(node, ast.Compare):
            sought = isinstance(node.ops[0], ast.In | ast.NotIn)  # a name that is looked for among others is no branch
            for each in node.comparators if sought else (node.left, *node.comparators):
                found = (name for name in ast.walk(each) if isinstance(name, ast.Constant) and name.value in NAMES)
                yield from ((str(name.value), node.lineno) for name in found)


def test_nothing_depends_on_the_name_of_a_family():
    problems = [
        f"{relative(path)}:{line} compares with {name}: let the family say in a field what is special about it"
        for path in core()
        for name, line in compared_names(tree(path))
    ]
    assert not problems, report(problems)


def test_a_comparison_with_the_name_of_a_family_is_found():
    assert list(compared_names(ast.parse('if spec.family in ("gis", "other"): pass'))) == [("gis", 1)]
    assert list(compared_names(ast.parse('"gis" == name'))) == [("gis", 1)]
    assert list(compared_names(ast.parse('"gis" in rows'))) == []
