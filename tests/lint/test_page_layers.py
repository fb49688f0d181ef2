"""Layers of the page: which folder of static/js may import which, for values and for types alike."""

from __future__ import annotations

from tests.support.sources import (
    PAGE,
    Import,
    Layers,
    first_circle,
    page_files,
    relative,
    report,
    script_imports,
    violations,
)

ENTRIES = tuple(path.name for path in sorted(PAGE.glob("*.ts")))
PANELS = tuple(f"panels/{path.name}" for path in sorted(PAGE.glob("panels/*")))

PAGE_LAYERS = Layers(
    "static/js",
    (
        ENTRIES,
        ("app", "component"),
        PANELS,
        ("timeline",),
        ("data",),
        ("ui",),
        ("core",),
    ),
    separator="/",
)

CORE_LAYERS = Layers(
    "static/js/core",
    (
        ("workbench",),
        ("drawing", "explain", "measured"),
        ("state",),
        ("timeline", "families"),
        ("options",),
        ("schedule",),
        ("i18n",),
    ),
    separator="/",
)


def imports() -> list[Import]:
    return [each for path in page_files() for each in script_imports(path)]


def test_imports_go_from_a_layer_of_the_page_to_a_lower_one():
    problems = violations(PAGE_LAYERS, imports())
    assert not problems, report(problems)


def test_imports_of_the_core_go_from_a_folder_to_a_lower_one():
    problems = violations(CORE_LAYERS, imports())
    assert not problems, report(problems)


def test_every_module_of_the_page_is_in_a_layer():
    problems = [
        f"{relative(path)}: move it into a folder of the layers, or name its folder in tests/lint/test_page_layers.py"
        for path in page_files()
        if not PAGE_LAYERS.unit(relative(path))
    ]
    assert not problems, report(problems)


def test_every_import_names_a_file_that_exists():
    present = {relative(path) for path in page_files()}
    problems = [f"{each}: there is no such file" for each in imports() if each.imported not in present]
    assert not problems, report(problems)


def test_no_modules_of_the_page_import_each_other_in_a_circle():
    graph: dict[str, set[str]] = {relative(path): set() for path in page_files()}
    for each in imports():
        if not each.types_only:
            graph[each.importer].add(each.imported)
    circle = first_circle(graph)
    assert not circle, " -> ".join(circle) + ": move what two of them need into a module below both"


def test_the_imports_of_the_page_are_found():
    assert len(imports()) > 3 * len(page_files()) / 2, "the pattern for imports no longer fits the sources"
    assert {each.types_only for each in imports()} == {False, True}


def test_an_import_against_the_layers_is_found():
    path = PAGE / "main.ts"
    cases = {
        ("static/js/panels/costs/a.ts", "static/js/panels/charts/b.ts"): "same layer",
        ("static/js/timeline/a.ts", "static/js/panels/charts/b.ts"): "higher layer",
        ("static/js/app/a.ts", "static/js/main.ts"): "higher layer",
        ("static/js/ui/a.ts", "static/js/data/b.ts"): "higher layer",
    }
    for (importer, imported), words in cases.items():
        assert words in (PAGE_LAYERS.violation(Import(importer, imported, 1, path)) or "")
    assert PAGE_LAYERS.violation(Import("static/js/panels/costs/a.ts", "static/js/timeline/b.ts", 1, path)) is None
    assert CORE_LAYERS.violation(Import("static/js/core/schedule/a.ts", "static/js/core/state/b.ts", 1, path))
