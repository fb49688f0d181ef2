"""The rules of the house, kept by reading the sources: who may import whom, no circles, nothing too long."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST_FILE, LONGEST_FUNCTION = 300, 60
OURS = ("app", "backend", "runner", "tests", "bench")

# Each exception with its reason; one that is no longer needed fails a test.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {
    "backend/schedule/simulation/simulate.py:_run": "one compiled kernel; halves would share a dozen locals",
}

# Who lives under a prefix may import, of ours, only what lies under the others; and never the named packages.
RULES = [
    ("backend.schedule", ("backend.schedule",), ("flask", "flask_socketio", "gevent", "torch", "sqlite3")),
    ("backend.theme_tokens", ("backend.theme_tokens",), ("flask", "flask_socketio", "gevent", "torch", "numpy")),
    (
        "backend.charts",
        ("backend.charts", "backend.schedule", "backend.theme_tokens"),
        ("flask", "flask_socketio", "gevent", "torch"),
    ),
    (
        "backend.preview_image",
        ("backend.preview_image", "backend.schedule", "backend.theme_tokens"),
        ("flask", "flask_socketio", "gevent", "torch"),
    ),
    ("backend.rate_limit", ("backend.rate_limit",), ("flask", "flask_socketio", "gevent", "torch", "numpy")),
    (
        "backend.short_links",
        ("backend.short_links", "backend.rate_limit"),
        ("flask", "flask_socketio", "gevent", "torch"),
    ),
    ("backend.config", (), ("flask", "flask_socketio", "gevent", "torch", "numpy")),
    (
        "backend.searches",
        ("backend.searches", "backend.runs", "backend.schedule"),
        ("flask", "flask_socketio", "torch"),
    ),
    ("backend.runs", ("backend.runs", "backend.config", "backend.schedule"), ("flask", "flask_socketio", "torch")),
    ("backend", ("backend",), ("torch",)),
    ("runner", ("runner", "backend.schedule"), ("flask", "flask_socketio", "gevent", "sqlite3")),
]


def sources(*folders: str, kind: str = "py") -> list[Path]:
    """Our own files of a kind, vendored and generated ones left out."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob(f"*.{kind}"))]
    return [path for path in found if not {"vendor", "node_modules", "__pycache__"} & set(path.parts)]


def python_sources() -> list[Path]:
    return [ROOT / "app.py", *sources("backend", "runner", "tests", "bench")]


def js_sources() -> list[Path]:
    return sources("static/js", "tests", kind="js") + sources("static/js", "tests", kind="mjs")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in python_sources()}


def imports_of(name: str, tree: ast.AST) -> Iterator[str]:
    """Full names of all modules that a module imports, at its top or anywhere inside."""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
                base = f"{above}.{base}".rstrip(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in MODULES else base


def under(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


IMPORTS = {name: sorted(set(imports_of(name, ast.parse(path.read_text())))) for name, path in MODULES.items()}


@pytest.mark.parametrize(("part", "allowed", "forbidden"), RULES, ids=[rule[0] for rule in RULES])
def test_every_part_imports_only_what_its_layer_may(part, allowed, forbidden):
    broken = [
        f"{name} imports {other}"
        for name, others in IMPORTS.items()
        if under(name, (part,))
        for other in others
        if (under(other, OURS) and not under(other, allowed)) or under(other, forbidden)
    ]
    assert broken == []


def test_ray_is_imported_only_by_its_own_engine():
    """Whoever does not ask for it has none of it, and need not have it installed."""
    knowers = [name for name, others in IMPORTS.items() if any(under(other, ("ray",)) for other in others)]
    assert knowers
    assert all(under(name, ("runner.engines.ray",)) for name in knowers), knowers


def test_only_app_knows_all():
    knowers = [name for name, others in IMPORTS.items() if under(name, ("backend", "runner")) and "app" in others]
    assert knowers == []


def test_no_module_imports_itself_through_others():
    """Imports inside a function or for type checkers only do not count: they do not run while modules load."""
    graph = {name: set(at_load(name)) for name in MODULES if not under(name, ("tests", "bench"))}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            for other in graph.get(name, ()):
                visit(other, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def at_load(name: str) -> Iterator[str]:
    tree = ast.parse(MODULES[name].read_text())
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    for other in imports_of(name, ast.Module(top, [])):
        if other in MODULES and other != name:
            yield other


@pytest.mark.parametrize("path", python_sources() + js_sources() + sources("static/css", kind="css"), ids=str)
def test_no_file_is_longer_than_300_lines(path: Path):
    name = path.relative_to(ROOT).as_posix()
    lines = len(path.read_text().splitlines())
    assert (lines > LONGEST_FILE) == (name in LONG_FILES), f"{name} has {lines} lines"


def python_functions() -> Iterator[tuple[str, int]]:
    for path in python_sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{path.relative_to(ROOT).as_posix()}:{node.name}", node.end_lineno - node.lineno + 1


# How a function begins in the style that our JavaScript is written in: its line ends with an open brace.
JS_FUNCTION = re.compile(
    r"^(?P<indent>\s*)(?:export\s+)?(?:default\s+)?(?:static\s+)?(?:async\s+)?"
    r"(?:function\*?\s+(?P<name>\w+)|(?:const|let)\s+(?P<const>\w+)\s*=.*=>|(?!if|for|while|switch|catch)(?P<method>[#\w]+)\()"
    r".*\{\s*$"
)


def js_functions() -> Iterator[tuple[str, int]]:
    """Each function with its own lines: `createX` is a closure whose methods, inside it, count for themselves."""
    for path in js_sources():
        lines = path.read_text().splitlines()
        spans = []
        for at, line in enumerate(lines):
            begun = JS_FUNCTION.match(line)
            if begun:
                end = next((k for k in range(at + 1, len(lines)) if lines[k].startswith(begun["indent"] + "}")), at)
                spans.append((at, end, begun["name"] or begun["const"] or begun["method"]))
        for at, end, name in spans:
            inner = {k for a, b, _ in spans if at < a and b <= end for k in range(a, b + 1)}
            yield f"{path.relative_to(ROOT).as_posix()}:{name}", end - at + 1 - len(inner)


@pytest.mark.parametrize("functions", [python_functions, js_functions])
def test_no_function_is_longer_than_60_lines(functions):
    long = {name: lines for name, lines in functions() if lines > LONGEST_FUNCTION}
    assert {name: lines for name, lines in long.items() if name not in LONG_FUNCTIONS} == {}


def test_every_exception_is_still_needed_and_has_a_reason():
    lengths = dict(python_functions()) | dict(js_functions())
    assert [name for name in LONG_FUNCTIONS if lengths.get(name, 0) <= LONGEST_FUNCTION] == []
    assert [name for name in LONG_FILES if not (ROOT / name).exists()] == []
    assert all(len(reason) > 10 for reason in [*LONG_FILES.values(), *LONG_FUNCTIONS.values()])


def test_the_measure_of_javascript_functions_sees_them():
    found = dict(js_functions())
    assert len(found) > 20


@pytest.mark.parametrize("path", sources("backend", "runner"), ids=str)
def test_every_module_says_what_it_is(path: Path):
    assert ast.get_docstring(ast.parse(path.read_text())), f"{path.name} has no docstring"


def test_no_module_of_the_page_loads_anything_from_elsewhere():
    """Other hosts may be named in links and comments, never in what is loaded."""
    loads = re.compile(r"""(?:import\s[^;]*from\s*|import\s*\(?|src=|fetch\(|url\()\s*["']?(?:https?:)?//""")
    pages = js_sources() + sources("static/css", kind="css") + sources("templates", kind="html")
    assert [str(path) for path in pages if loads.search(path.read_text())] == []
