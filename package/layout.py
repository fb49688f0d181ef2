"""What is in the wheel: the sources of a checkout as one package, `bubbleline`, so that it is the only top-level name.

In a checkout `backend`, `runner` and `app` are at the top. Their import statements get the package's name in front;
every other byte stays as it is. So nothing else may name a module: `named_in_strings` finds what does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "bubbleline"
MODULES = ("backend", "runner", "app")  # at the top of a checkout, in the package where it is installed
CODE = ("backend", "runner", "templates")  # folders that are taken whole
STATIC = (  # of static/: what is served, and the sources of the page that the server reads
    "vendor/app/**/*",
    "img/*",
    "examples/**/*.json",
    "css/tokens.css",
    "css/app/appearance.css",
    "css/panels/charts.css",
    "js/core/explain/papers.ts",
    "js/core/i18n/zh/messages_*.ts",
)
BUNDLE = "static/vendor/app/js/main.js"
NOTICES = "static/vendor/LICENSES.txt"
NOT_KEPT = (".pyc", ".nbi", ".nbc")
OURS = re.compile(rf"({'|'.join(MODULES)})(\.|$)")
TORCH = re.compile(r"torch\b")
PLACE = re.compile(rb"(from\s+)?")


def wheel_files(root: Path) -> dict[str, bytes]:
    """Return the files of the package by their paths in it. Raises FileNotFoundError where set-up has made no page, and
    ValueError where a file of bubbleline/ would take the place of another.
    """
    for made in (BUNDLE, NOTICES):
        if not (root / made).is_file():
            raise FileNotFoundError(f"{made} is missing; make it with: make setup {NOTICES}")
    sources = [
        *((path, path.relative_to(root / PACKAGE)) for path in sorted((root / PACKAGE).rglob("*"))),
        *((path, path.relative_to(root)) for folder in CODE for path in sorted((root / folder).rglob("*"))),
        *((path, path.relative_to(root)) for each in STATIC for path in sorted((root / "static").glob(each))),
        (root / "app.py", Path("app.py")),
    ]
    taken = [name for name in (*CODE, "static", "app.py") if (root / PACKAGE / name).exists()]
    if taken:
        raise ValueError(f"{PACKAGE}/ has {', '.join(taken)}, which the package has from the top of the checkout")
    return {
        place.as_posix(): rewritten(path.read_bytes(), str(path)) if path.suffix == ".py" else path.read_bytes()
        for path, place in sources
        if path.is_file() and path.suffix not in NOT_KEPT
    }


def rewritten(source: bytes, name: str = "<source>") -> bytes:
    """Return a module with the package's name in front of our modules where it imports them.

    Raises ValueError for `import backend.x` without `as`: it binds the name `backend`, which would be another one.
    """
    lines = source.splitlines(keepends=True)
    for line, column, module in sorted(_imports(ast.parse(source), name), reverse=True):
        text = lines[line - 1]
        found = PLACE.match(text, column)
        assert found is not None
        if not text.startswith(module.encode(), found.end()):
            raise ValueError(f"{name}:{line}: write the import of {module} in one line")
        lines[line - 1] = text[: found.end()] + f"{PACKAGE}.".encode() + text[found.end() :]
    return b"".join(lines)


def _imports(tree: ast.Module, name: str) -> Iterator[tuple[int, int, str]]:
    """Yield line, column in bytes, and module of every import of ours."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and OURS.match(node.module or ""):
            yield node.lineno, node.col_offset, node.module or ""
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if OURS.match(alias.name):
                    if alias.asname is None:
                        raise ValueError(f"{name}:{alias.lineno}: write from ... import in place of {alias.name}")
                    yield alias.lineno, alias.col_offset, alias.name


def named_in_strings(tree: ast.Module, modules: set[str]) -> list[tuple[int, str]]:
    """Return line and text of each string that names one of our `modules` (dotted): by its whole name, as the beginning
    of a name in an f-string, or behind -m or sys.executable.
    """
    found = []
    for node in ast.walk(tree):
        started = False
        for each in ast.iter_child_nodes(node):
            text = each.value if isinstance(each, ast.Constant) and isinstance(each.value, str) else ""
            named = "." in text and text.rstrip(".") in modules and OURS.match(text)
            if isinstance(each, ast.Constant) and (named or (started and OURS.match(text))):
                found.append((each.lineno, text))
            started = text == "-m" or (isinstance(each, ast.Attribute) and each.attr == "executable")
    return found


def requirements(root: Path) -> tuple[list[str], dict[str, list[str]]]:
    """Return what the package needs, and what its extras do: requirements*.txt are the only list. What only runs need,
    torch, is in the extra `run`.
    """
    needed = _requirements(root / "requirements.txt")
    run = [each for each in needed if TORCH.match(each)]
    return [each for each in needed if each not in run], {
        "run": run,
        "cluster": [*run, *_requirements(root / "requirements-cluster.txt")],
        "scale": _requirements(root / "requirements-scale.txt"),
    }


def _requirements(path: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]
