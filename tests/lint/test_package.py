"""What is in the wheel, and what is changed for it. `make dist` builds, installs and uses one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from package.layout import BUNDLE, CODE, MODULES, NOTICES, PACKAGE, named_in_strings, requirements, rewritten
from package.layout import wheel_files as files_of
from tests.support.page.bundle import make_bundle
from tests.support.sources import ROOT, modules, python_files, relative, report, tree


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a wheel of this checkout; its licences' notices are there only after `make dist`."""
    make_bundle()
    root = tmp_path_factory.mktemp("checkout")
    for name in (*CODE, PACKAGE, "app.py"):
        (root / name).symlink_to(ROOT / name)
    (root / "static" / "vendor").mkdir(parents=True)
    for name in ("css", "img", "js", "vendor/app"):
        (root / "static" / name).symlink_to(ROOT / "static" / name)
    (root / NOTICES).write_text("MIT")
    return files_of(root)


def test_a_wheel_has_the_program_and_what_it_reads_and_serves_and_nothing_of_the_checkout_besides(wheel):
    ours = {relative(path) for path in python_files() if relative(path).split("/")[0] in (*MODULES, "app.py")}
    assert ours <= set(wheel)
    assert {"__init__.py", "__main__.py", "py.typed", "static/vendor/app/css/learn.css"} <= set(wheel)
    assert {f"static/{'/'.join(BUNDLE.split('/')[1:])}", "static/js/core/i18n/zh/messages_web.ts"} <= set(wheel)
    assert {name.split("/")[0] for name in wheel if "/" in name} == {"backend", "runner", "static", "templates"}
    assert not [name for name in wheel if "__pycache__" in name or name.startswith("static/js/panels")]


def test_in_a_wheel_our_modules_are_imported_from_the_package_and_nothing_else_differs(wheel):
    for name, data in wheel.items():
        if name.endswith(".py"):
            imported = [node for node in ast.walk(ast.parse(data)) if isinstance(node, ast.ImportFrom | ast.Import)]
            names = [getattr(node, "module", "") or node.names[0].name for node in imported]
            assert not [each for each in names if each.split(".")[0] in MODULES], name
            source = (ROOT / name if (ROOT / name).exists() else ROOT / PACKAGE / name).read_bytes()
            assert data.replace(b"bubbleline.", b"") == source.replace(b"bubbleline.", b""), name


def test_imports_are_rewritten_wherever_they_are_and_strings_are_not():
    source = (
        '"""from backend import x"""\nif True: from backend.a import b; from  runner import c  # é from app import d\n'
        "import backend.a as one, os, runner.b as two\nfrom . import app\nfrom backends import e\n"
        "def f():\n\n    'é'; from app import (\n        cli,\n    )\n"
    )
    assert rewritten(source.encode()).decode() == (
        '"""from backend import x"""\nif True: from bubbleline.backend.a import b; from  bubbleline.runner import c'
        "  # é from app import d\nimport bubbleline.backend.a as one, os, bubbleline.runner.b as two\n"
        "from . import app\nfrom backends import e\n"
        "def f():\n\n    'é'; from bubbleline.app import (\n        cli,\n    )\n"
    )
    with pytest.raises(ValueError, match=r"2: write from \.\.\. import in place of backend\.a"):
        rewritten(b"import os\nimport backend.a\n")
    with pytest.raises(ValueError, match="write the import of runner in one line"):
        rewritten(b"from \\\n runner import x\n")


def test_no_string_names_a_module_which_has_another_name_where_it_is_installed():
    """Write `module.__name__`, or a name that begins with `__package__`."""
    shipped = [path for path in python_files() if relative(path).split("/")[0] in (*MODULES, "app.py", PACKAGE)]
    problems = [
        f"{relative(path)}:{line} names {named!r}: derive it from __name__ or __package__"
        for path in shipped
        for line, named in named_in_strings(tree(path), set(modules()))
    ]
    assert not problems, report(problems)
    wrong = """run('-m', 'runner.x'); import_module('backend.config'); f'backend.jobs.{name}'
    [sys.executable, 'app.py']; message('runner.no_gpu'); RunFailure('runner')"""
    found = [named for _, named in named_in_strings(ast.parse(wrong.replace("    ", "")), set(modules()))]
    assert sorted(found) == ["app.py", "backend.config", "backend.jobs.", "runner.x"]


def test_all_but_torch_is_needed_and_torch_is_in_the_extras_that_run():
    needed, extras = requirements(ROOT)
    listed = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    assert len(needed) == len(listed) - 1
    assert [each.partition("==")[0] for each in extras["run"]] == ["torch"]
    assert extras["cluster"][0] == extras["run"][0]
    assert all(each in extras for each in ("scale", "cluster"))
    assert not [each for each in (*needed, *extras["scale"]) if "#" in each or each.startswith("torch")]


def test_a_checkout_without_the_built_page_or_with_two_files_for_one_place_gives_no_wheel_and_says_why(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"main\.js is missing; make it with: make setup"):
        files_of(tmp_path)
    for name in (BUNDLE, NOTICES, "bubbleline/runner/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(ValueError, match="bubbleline/ has runner, which the package has from the top of the checkout"):
        files_of(tmp_path)
