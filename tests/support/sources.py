"""The project's own source files and the imports between them, read for the tests of tests/lint."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON_ROOTS = ("backend", "bubbleline", "package", "runner", "tests", "bench")
PAGE = ROOT / "static" / "js"
NOT_OURS = {"vendor", "node_modules", "__pycache__"}

# `import { x } from "./y.ts"` and `export ... from "./y.ts"` over any number of lines, `import type ...`;
# `import "./y.ts"` and `import("./y.ts")`.
SCRIPT_IMPORT = re.compile(
    r'''^(?:import|export)\s(?P<type>type\s)?[^;"]*?\bfrom\s"(?P<from>\.[^"]+)"|\bimport[ (]"(?P<whole>\.[^"]+)"''',
    re.MULTILINE,
)


@dataclass(frozen=True)
class Import:
    """One import: importer, imported module, line, and whether it is only for types."""

    importer: str
    imported: str
    line: int
    path: Path
    types_only: bool = False

    def __str__(self) -> str:
        return f"{relative(self.path)}:{self.line} imports {self.imported}"


def relative(path: Path) -> str:
    """The path from the project's root, with slashes."""
    return path.relative_to(ROOT).as_posix()


def files(*folders: str, kinds: tuple[str, ...]) -> list[Path]:
    """Our files with one of these suffixes in the folders, vendored and generated ones left out."""
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob("*")))
    return [path for path in found if path.suffix in kinds and not NOT_OURS & set(path.relative_to(ROOT).parts)]


@cache
def python_files() -> list[Path]:
    """All Python of the project."""
    return [ROOT / "app.py", *files(*PYTHON_ROOTS, kinds=(".py",))]


@cache
def page_files() -> list[Path]:
    """The page's own TypeScript."""
    return files("static/js", kinds=(".ts",))


@cache
def script_files() -> list[Path]:
    """All scripts: the page's, its tests' and its tools'."""
    return [*page_files(), *files("tests", "bench", kinds=(".ts", ".mjs")), ROOT / "eslint.config.js"]


@cache
def text(path: Path) -> str:
    """The file's text, read once."""
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    """The file's syntax tree, parsed once."""
    return ast.parse(text(path))


def module_name(path: Path) -> str:
    """The dotted name of a Python file; a package's is its folder's."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Every Python module by its dotted name."""
    return {module_name(path): path for path in python_files()}


@cache
def python_imports(path: Path) -> tuple[Import, ...]:
    """All imports of a module, wherever they are in it; `from package import module` counts as that module."""
    return tuple(_python_imports(path))


def _python_imports(path: Path) -> Iterator[Import]:
    name = module_name(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node, types_only in _import_nodes(tree(path).body, types_only=False):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(name, alias.name, node.lineno, path, types_only)
        else:
            base = _absolute(node, package)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield Import(name, inner if inner in modules() else base, node.lineno, path, types_only)


def _import_nodes(nodes: list[ast.stmt], types_only: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, types_only
            continue
        inner = types_only or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _import_nodes(getattr(node, name, []), inner)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    above = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
    return f"{above}.{node.module or ''}".rstrip(".")


def imports_at_load(path: Path) -> Iterator[Import]:
    """The imports that run while the module loads: neither those inside functions nor those for type checkers."""
    lines = {node.lineno for node in tree(path).body if isinstance(node, ast.Import | ast.ImportFrom)}
    return (each for each in python_imports(path) if each.line in lines)


@cache
def script_imports(path: Path) -> tuple[Import, ...]:
    """All imports of a page module of our own files, those of types included; names are paths."""
    return tuple(_script_imports(path))


def _script_imports(path: Path) -> Iterator[Import]:
    for found in SCRIPT_IMPORT.finditer(text(path)):
        other = (path.parent / (found["from"] or found["whole"])).resolve()
        if not NOT_OURS & set(other.relative_to(ROOT).parts):
            line = text(path).count("\n", 0, found.start()) + 1
            yield Import(relative(path), relative(other), line, path, types_only=found["type"] is not None)


def under(name: str, *prefixes: str, separator: str = ".") -> bool:
    """Whether a module is one of these, or inside one of these."""
    return any(name == prefix or name.startswith(prefix + separator) for prefix in prefixes)


def first_circle(graph: dict[str, set[str]]) -> list[str]:
    """The members of one circle, its first member again at the end; an empty list if there is none."""
    finished: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> list[str]:
        if name in above:
            return [*above[above.index(name) :], name]
        if name not in finished:
            for other in sorted(graph.get(name, ())):
                if circle := visit(other, (*above, name)):
                    return circle
            finished.add(name)
        return []

    return next((circle for name in sorted(graph) if (circle := visit(name, ()))), [])


@dataclass(frozen=True)
class Layers:
    """Units from the highest to the lowest layer; units of one layer do not import each other.

    A unit is a package or module (a folder or file of the page) under `root`. The longest name counts, so a module may
    be in another layer than the package that holds it.
    """

    root: str
    layers: tuple[tuple[str, ...], ...]
    separator: str = "."

    def unit(self, name: str) -> str | None:
        """The unit that a module belongs to, None outside of `root`."""
        if not under(name, self.root, separator=self.separator):
            return None
        inside = name[len(self.root) :].lstrip(self.separator)
        units = (unit for layer in self.layers for unit in layer if under(inside, unit, separator=self.separator))
        return max(units, key=len, default="")

    def depth(self, unit: str) -> int:
        """The layer's number from the top."""
        return next(number for number, layer in enumerate(self.layers) if unit in layer)

    def violation(self, each: Import) -> str | None:
        """The problem of an import, or None."""
        importer, imported = self.unit(each.importer), self.unit(each.imported)
        if importer is None or imported is None or importer == imported or "" in (importer, imported):
            return None
        if self.depth(importer) < self.depth(imported):
            return None
        same = self.depth(importer) == self.depth(imported)
        return (
            f"{each}: {importer} may not import {imported}, "
            + ("which is in the same layer" if same else "which is in a higher layer")
            + f" of {self.root}; move what both need into a lower layer, or pass it in from above"
        )


def violations(layers: Layers, imports: list[Import]) -> list[str]:
    """The sentences of all imports that break the layers."""
    return [why for each in imports if (why := layers.violation(each))]


def report(problems: list[str]) -> str:
    """The problems, each once on a line of its own, for the message of an assertion."""
    return "\n".join(["", *dict.fromkeys(problems)])
