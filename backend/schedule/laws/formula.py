"""Formulas as data: one expression that is evaluated, printed, and drawn as mathematics by the page.

A formula is written as a Python expression, ``(p-1)*(f+b)/v``, and stored as a tree of JSON values: a number, a name,
or ``[op, operand, ...]``. The caller provides the values of names.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import CodeType
from typing import Any

Tree = Any  # float | int | str | list[Tree]
Vars = Mapping[str, float]

_BINARY: dict[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "mod"}
_COMPARE: dict[type[ast.AST], str] = {ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "==", ast.Lt: "<", ast.Gt: ">"}
_APPLY: dict[str, Callable[..., float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "mod": operator.mod,
    "floor": math.floor,
    "max": max,
    "min": min,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_FUNCTIONS = {"__builtins__": {}, "min": min, "max": max, "floor": lambda value: value // 1}
_TIGHTNESS = {"or": 0, "and": 1, "<=": 2, ">=": 2, "==": 2, "<": 2, ">": 2, "+": 3, "-": 3, "*": 4, "/": 4, "mod": 4}


@cache
def parse(source: str) -> Tree:
    """Parse an expression into a tree. Raises ValueError for anything except the operators above."""
    return _tree(ast.parse(source, mode="eval").body)


def _tree(node: ast.expr) -> Tree:
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=op, right=right):
            return [_BINARY[type(op)], _tree(left), _tree(right)]
        case ast.BoolOp(op=op, values=values):
            return ["and" if isinstance(op, ast.And) else "or", *map(_tree, values)]
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return [_COMPARE[type(op)], _tree(left), _tree(right)]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return ["if", _tree(test), _tree(body), _tree(orelse)]
        case ast.Call(func=ast.Name(id="floor" | "max" | "min" as name), args=args):
            return [name, *map(_tree, args)]
    raise ValueError(f"not part of a formula: {ast.unparse(node)}")


def compiled(
    formulas: Iterable[str], parameters: str, let: Iterable[tuple[str, str]] = ()
) -> Callable[..., tuple[Any, ...]]:
    """Compile expressions to one function, which returns their values.

    ``parameters`` are those of the function, written as in its definition; ``let`` are more names with their
    expressions, which may use the names before them. Arguments may be arrays for expressions without ``min``, ``max``
    and ``if``. Raises ValueError for anything except the operators above.
    """
    lines = [f"def values({parameters}):", *(f"{name} = {source}" for name, source in let)]
    lines.append(f"return ({''.join(f'{source},' for source in formulas)})")
    for source in (*formulas, *(source for _, source in let)):
        parse(source)
    namespace: dict[str, Any] = dict(_FUNCTIONS)
    exec("\n    ".join(lines), namespace)
    values: Callable[..., tuple[Any, ...]] = namespace["values"]
    return values


class _Floats(ast.NodeTransformer):
    """Replaces whole numbers by floats, so that arithmetic rounds as that of ``evaluate`` does."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.copy_location(ast.Constant(float(node.value)), node)  # type: ignore[arg-type]


@cache
def _code(source: str) -> CodeType:
    parse(source)  # refuses what is not part of a formula
    return compile(_Floats().visit(ast.parse(source, mode="eval")), "formula", "eval")


def value_of(source: str, names: dict[str, float]) -> float:
    """Evaluate an expression with ``names``, which are floats: as ``evaluate`` its tree, ten times as fast."""
    return float(eval(_code(source), _FUNCTIONS, names))


def evaluate(tree: Tree, names: Vars) -> float:
    """Evaluate a formula; conditions give 1 or 0."""
    if isinstance(tree, str):
        return names[tree]
    if not isinstance(tree, list):
        return float(tree)
    op, *parts = tree
    if op == "if":
        return evaluate(parts[1] if evaluate(parts[0], names) else parts[2], names)
    if op == "and":
        return float(all(evaluate(part, names) for part in parts))
    if op == "or":
        return float(any(evaluate(part, names) for part in parts))
    return float(_APPLY[op](*(evaluate(part, names) for part in parts)))


def text(tree: Tree, names: Vars | None = None) -> str:
    """Format the formula as a line of text, with its names or with their values substituted."""
    if isinstance(tree, str):
        return tree if names is None else f"{names[tree]:.6g}"
    if not isinstance(tree, list):
        return f"{tree:g}"
    op, *parts = tree
    if op in ("floor", "max", "min"):
        return f"{op}({', '.join(text(part, names) for part in parts)})"
    if op == "if":
        return f"{_inside(op, parts[1], names)} if {text(parts[0], names)} else {_inside(op, parts[2], names)}"
    joint = op if op in "*/" else f" {op} "
    return joint.join(_inside(op, part, names, right=k > 0) for k, part in enumerate(parts))


def _inside(op: str, part: Tree, names: Vars | None, right: bool = False) -> str:
    """Format one operand, in brackets if it binds less tightly than the operator around it."""
    shown = text(part, names)
    if not isinstance(part, list) or part[0] in ("floor", "max", "min"):
        return shown
    outer, inner = _TIGHTNESS.get(op, -1), _TIGHTNESS.get(part[0], -1)
    needs = inner < outer or (inner == outer and right and op in ("-", "/", "mod"))
    return f"({shown})" if needs or part[0] == "if" else shown
