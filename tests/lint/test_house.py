"""Size and shape of the sources: folders, files, lines, functions, docstrings, and what a published project needs."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.sources import (
    NOT_OURS,
    ROOT,
    files,
    module_name,
    modules,
    page_files,
    python_files,
    python_imports,
    relative,
    report,
    script_files,
    script_imports,
    text,
    tree,
    under,
)

MOST_ENTRIES = 16
LONGEST_LINE = 120
LONGEST_FILE = 600
SMALL_FILE = 36
LONGEST_FUNCTION = {".py": 60, ".ts": 80, ".mjs": 80, ".js": 80}  # prettier gives every entry of a literal a line

ROOMS = ("backend", "bench", "bubbleline", "docs", "package", "runner", "static", "templates", "tests")
TOP_LEVEL = {
    *ROOMS,
    *("app.py", "requirements.txt", "requirements-dev.txt", "requirements-cluster.txt", "requirements-scale.txt"),
    *("pyproject.toml", "Makefile"),
    *("README.md", "LICENSE", "CONTRIBUTING.md", "CHANGELOG.md", "deploy"),
    *("package.json", "package-lock.json", "eslint.config.js", "tsconfig.json"),
}
NOT_KEPT = {"dist", "node_modules", "var", "__pycache__"}  # and everything whose name begins with a dot

# Exceptions, each with its reason; a test fails for one that is no longer needed.
LARGE_FOLDERS = {
    "docs/decisions": "one file a decision, found by its number and title",
    "tests/golden/orders": "one golden order a schedule, all of one kind",
}
SMALL_MODULES = {
    "static/js/core/i18n/zh": "one catalogue a domain, whatever its size",
}
LONG_FUNCTIONS = {
    "backend/schedule/search/construction.py:fill": "one compiled loop: choosing the op in a function takes 4 % longer",
    "static/js/data/spec_fields.ts:fieldList": "a table with one entry per field of a spec",
}


def folders() -> Iterator[Path]:
    """Every folder of sources, tests, styles and documents."""
    for room in ROOMS:
        for folder in [ROOT / room, *sorted((ROOT / room).rglob("*"))]:
            if folder.is_dir() and not NOT_OURS & set(folder.relative_to(ROOT).parts):
                yield folder


@cache
def entries(folder: Path) -> int:
    """Files and folders in it; a folder without a file does not count, because version control does not keep it."""
    return sum(1 for entry in folder.iterdir() if entry.name not in NOT_OURS and kept(entry))


@cache
def kept(entry: Path) -> bool:
    if entry.is_dir():
        return any(kept(inner) for inner in entry.iterdir() if inner.name not in NOT_OURS)
    return entry.suffix not in (".pyc", ".nbi", ".nbc")


def written_by_hand() -> list[Path]:
    """All sources with a limit on their lines."""
    return [*python_files(), *script_files(), *style_sheets()]


def style_sheets() -> list[Path]:
    return files("static/css", kinds=(".css",))


def test_no_folder_has_more_than_16_entries():
    problems = [
        f"{relative(folder)} has {entries(folder)} entries: divide it into rooms of at most {MOST_ENTRIES}"
        for folder in folders()
        if entries(folder) > MOST_ENTRIES and relative(folder) not in LARGE_FOLDERS
    ]
    assert not problems, report(problems)


def test_the_top_level_holds_only_what_is_expected_there():
    names = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")} - NOT_KEPT
    assert names <= TOP_LEVEL, f"move {sorted(names - TOP_LEVEL)} into a folder"


def test_no_line_is_longer_than_120_columns():
    problems = [
        f"{relative(path)}:{number} has {len(line)} columns: wrap it at {LONGEST_LINE}"
        for path in written_by_hand()
        for number, line in enumerate(text(path).splitlines(), start=1)
        if len(line) > LONGEST_LINE
    ]
    assert not problems, report(problems)


def test_no_file_is_longer_than_600_lines():
    lengths = {path: len(text(path).splitlines()) for path in written_by_hand()}
    problems = [
        f"{relative(path)} has {length} lines: divide it by subject into files of at most {LONGEST_FILE}"
        for path, length in lengths.items()
        if length > LONGEST_FILE
    ]
    assert not problems, report(problems)


def test_no_small_module_serves_only_its_neighbour():
    """A module under 36 lines with a single importer in its own folder is to be merged into that importer."""
    problems = [
        f"{relative(path)} has {len(text(path).splitlines())} lines and serves only {user.name}: merge it into that one"
        for path, users in importers().items()
        if path.exists()
        and len(users) == 1
        and (user := next(iter(users))).parent == path.parent
        and path.name != "__init__.py"
        and len(text(path).splitlines()) < SMALL_FILE
        and relative(path.parent) not in SMALL_MODULES
    ]
    assert not problems, report(problems)


def importers() -> dict[Path, set[Path]]:
    """The importers of each module of the backend, the runner and the page; tests and benchmarks do not count."""
    found: dict[Path, set[Path]] = {}
    for path in python_files():
        if not under(module_name(path), "tests", "bench"):
            for each in python_imports(path):
                if each.imported in modules():
                    found.setdefault(modules()[each.imported], set()).add(path)
    for path in page_files():
        for each in script_imports(path):
            found.setdefault(ROOT / each.imported, set()).add(path)
    return found


@cache
def python_functions() -> tuple[tuple[str, int, int], ...]:
    """(file:name, line, length) of every function."""
    return tuple(_python_functions())


def _python_functions() -> Iterator[tuple[str, int, int]]:
    for path in python_files():
        for node in _statements(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{relative(path)}:{node.name}", node.lineno, node.end_lineno - node.lineno + 1


def _statements(parent: ast.AST) -> Iterator[ast.AST]:
    """All statements in a statement; their expressions, which are most of a tree, contain no function."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(parent, name, []):
            yield node
            yield from _statements(node)


# How a function begins as prettier writes it: its line, or the last line of its parameters, ends with an open brace.
SCRIPT_FUNCTION = re.compile(
    r"^(?P<indent>\s*)(?:export\s+)?(?:default\s+)?(?:override\s+)?(?:static\s+)?(?:async\s+)?"
    r"(?:function\*?\s+(?P<function>\w+)|(?:const|let)\s+(?P<const>\w+)\b.*(?:=>|= (?:async )?(?=\($))"
    r"|(?!if|for|while|switch|catch)(?P<method>[#\w]+)(?:<.*>)?\()"
    r".*(?:\{|\()\s*$"
)


@cache
def script_functions() -> tuple[tuple[str, int, int], ...]:
    """(file:name, line, length) of every function; functions inside a function count for themselves only."""
    return tuple(_script_functions())


def _script_functions() -> Iterator[tuple[str, int, int]]:
    for path in script_files():
        lines = text(path).splitlines()
        spans = []
        for start, line in enumerate(lines):
            begin = SCRIPT_FUNCTION.match(line)
            if begin and (end := end_of_function(lines, start, begin["indent"])):
                spans.append((start, end, begin["function"] or begin["const"] or begin["method"]))
        for start, end, name in spans:
            inner = {k for a, b, _ in spans if start < a and b <= end for k in range(a, b + 1)}
            yield f"{relative(path)}:{name}", start + 1, end - start + 1 - len(inner)


def end_of_function(lines: list[str], start: int, indent: str) -> int | None:
    """The line with the brace that closes what begins here; None for a call over several lines."""
    opened = lines[start].rstrip().endswith("{")
    for number in range(start + 1, len(lines)):
        line = lines[number]
        if not opened and line.startswith((indent + ")", indent + "}")):
            opened = line.rstrip().endswith("{")
            if not opened:
                return None
        elif opened and line.startswith(indent + "}") and not line.rstrip().endswith("{"):  # not that of a type
            return number
    return None


def longest(name: str) -> int:
    """The greatest allowed length of the function, by the suffix of its file."""
    return LONGEST_FUNCTION[Path(name.partition(":")[0]).suffix]


def test_no_function_is_longer_than_60_lines_of_python_or_80_of_typescript():
    problems = [
        f"{name} (line {line}) has {length} lines: divide it into functions of at most {longest(name)}"
        for name, line, length in [*python_functions(), *script_functions()]
        if length > longest(name) and name not in LONG_FUNCTIONS
    ]
    assert not problems, report(problems)


def test_functions_of_both_languages_are_found():
    python, scripts = (
        {name: length for name, _, length in found} for found in (python_functions(), script_functions())
    )
    assert len(python) > 2000
    assert len(scripts) > 500, "the pattern for the beginning of a function no longer fits the sources"
    assert max(scripts.values()) > 20


def test_every_python_file_begins_with_a_docstring():
    problems = [
        f"{relative(path)} has no docstring: begin it with one sentence that says what is in it"
        for path in python_files()
        if not ast.get_docstring(tree(path))
    ]
    assert not problems, report(problems)


def test_every_script_and_style_sheet_begins_with_a_comment():
    problems = [
        f"{relative(path)} has no leading comment: begin it with one sentence that says what is in it"
        for path in [*script_files(), *style_sheets()]
        if not text(path).startswith(("//", "/*"))
    ]
    assert not problems, report(problems)


def test_no_code_of_the_page_loads_anything_from_another_host():
    """Links and comments may name other hosts; imports, requests, images and styles may not."""
    loads = re.compile(r"""(?:import\s[^;]*from\s*|import\s*\(?|src=|fetch\(|url\()\s*["']?(?:https?:)?//""")
    pages = [*page_files(), *style_sheets(), *files("templates", kinds=(".html",))]
    problems = [
        f"{relative(path)}:{text(path)[: found.start()].count(chr(10)) + 1}: serve it from static/ instead"
        for path in pages
        if (found := loads.search(text(path)))
    ]
    assert not problems, report(problems)


def test_licence_contribution_guide_changes_architecture_and_decisions_exist():
    expected = ["LICENSE", "CONTRIBUTING.md", "CHANGELOG.md", "README.md", "docs/architecture.md", "docs/decisions"]
    assert [name for name in expected if not (ROOT / name).exists()] == []
    assert "Apache License" in (ROOT / "LICENSE").read_text()
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"] == "Apache-2.0"


def test_every_local_link_of_the_documents_has_a_target():
    problems = [
        f"{relative(document)}: {target} does not exist"
        for document in [*ROOT.glob("*.md"), *files("docs", kinds=(".md",))]
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text(document))
        if not (document.parent / target).exists()
    ]
    assert not problems, report(problems)


def test_every_exception_is_still_needed_and_has_a_reason():
    lengths = {name: length for name, _, length in [*python_functions(), *script_functions()]}
    assert [name for name in LONG_FUNCTIONS if lengths.get(name, 0) <= longest(name)] == []
    assert [name for name in LARGE_FOLDERS if entries(ROOT / name) <= MOST_ENTRIES] == []
    assert all(
        len(reason) > 20 for reason in [*LARGE_FOLDERS.values(), *SMALL_MODULES.values(), *LONG_FUNCTIONS.values()]
    )
