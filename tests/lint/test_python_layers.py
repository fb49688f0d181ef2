"""Layers of the Python side: which package may import which, read from the sources."""

from __future__ import annotations

import pytest

from tests.support.sources import (
    Import,
    Layers,
    first_circle,
    imports_at_load,
    modules,
    python_files,
    python_imports,
    report,
    under,
    violations,
)

BACKEND = Layers(
    "backend",
    (
        ("cli", "web"),
        ("classes",),
        ("jobs",),  # computed in worker processes
        ("lessons",),
        ("address",),
        ("access", "runs", "tasks"),
        ("charts",),
        ("compute",),
        ("schedule",),
        ("config", "access.limits"),
        ("database",),
        ("errors",),
    ),
)

SCHEDULE = Layers(
    "backend.schedule",
    (
        ("diagnosis",),  # of measured steps
        ("partial_order",),
        ("analysis",),
        ("interop",),
        ("hardware",),  # a model and a machine: costs, units of an engineer
        ("result",),
        ("families",),
        ("search",),
        ("spec",),
        ("options",),
        ("laws",),
        ("simulation",),
        ("order",),
        ("jit",),
        ("errors",),
    ),
)

WEB = Layers(
    "backend.web",
    (
        ("serve", "site"),
        ("factory",),
        ("processes", "sharing", "page_tables"),
        ("openapi",),  # describes the routes from their own tables
        ("routes", "sockets.events", "sockets.search_events"),
        ("classes",),  # its routes and events; sockets.events lists the latter
        ("services",),  # shared by the handlers above; it contains the feeds below
        ("sockets", "classes.feed"),
        ("shared",),
        ("http", "logs", "metrics"),
    ),
)

RUNNER = Layers(
    "runner",
    (
        ("__main__",),
        ("service",),
        ("job",),
        ("engines",),
        ("worker",),
        ("messages",),  # between the main process and its workers
        ("transport", "model"),
        ("telemetry",),
        ("program",),
        ("protocol",),
        ("devices", "failure"),
    ),
)

API = "bubbleline"
PROGRAM = "bubbleline.__main__"  # the installed command: app.py's
PROCESSES = ("ctypes", "multiprocessing", "os", "signal", "socket", "subprocess")
WEB_PACKAGES = ("flask", "flask_socketio", "gevent")
FORBIDDEN = {  # part -> packages from outside that it may not import
    "backend": ("torch", "ray"),
    "backend.access": (*WEB_PACKAGES, "werkzeug"),
    "backend.address": WEB_PACKAGES,
    "backend.charts": WEB_PACKAGES,
    "backend.classes": ("flask", "flask_socketio"),
    "backend.compute": ("flask", "flask_socketio", "numpy"),
    "backend.config": (*WEB_PACKAGES, "numpy"),
    "backend.database": (*WEB_PACKAGES, "numpy"),
    "backend.errors": (*WEB_PACKAGES, "numpy"),
    "backend.jobs": WEB_PACKAGES,
    "backend.lessons": WEB_PACKAGES,
    "backend.access.limits": (*WEB_PACKAGES, "numpy"),
    "backend.runs": ("flask", "flask_socketio"),
    "backend.schedule": (*WEB_PACKAGES, *PROCESSES, "sqlite3", "plotly", "PIL", "urllib"),
    "backend.tasks": WEB_PACKAGES,
    "bubbleline": (*WEB_PACKAGES, "torch", "ray", "sqlite3", "plotly", "PIL"),
    "runner": (*WEB_PACKAGES, "sqlite3", "plotly", "PIL"),
}


def imports_of(*parts: str) -> list[Import]:
    """All imports of the modules under these parts."""
    return [
        each for path in python_files() for each in python_imports(path) if under(each.importer, *(parts or ("app",)))
    ]


@pytest.mark.parametrize("layers", [BACKEND, SCHEDULE, WEB, RUNNER], ids=lambda layers: layers.root)
def test_imports_go_from_a_layer_to_a_lower_one(layers: Layers):
    problems = violations(layers, imports_of(layers.root))
    assert not problems, report(problems)


def test_backend_never_imports_the_runner():
    problems = [f"{each}: start the runner as a process" for each in imports_of("backend") if runs(each)]
    assert not problems, report(problems)


def runs(each: Import) -> bool:
    return under(each.imported, "runner")


def test_the_python_api_is_on_top_and_needs_no_web_and_no_runner():
    problems = [f"{each}: pass it in" for each in imports_of("backend", "runner") if under(each.imported, API)]
    problems += [
        f"{each}: the API uses what is below the web, and starts the runner as a process"
        for each in imports_of(API)
        if under(each.imported, "app", "backend.web", "runner") and each.importer != PROGRAM
    ]
    assert not problems, report(problems)


def test_the_runner_imports_only_the_core_and_the_errors_of_the_backend():
    problems = [
        f"{each}: the runner may import backend.schedule and backend.errors only"
        for each in imports_of("runner")
        if under(each.imported, "backend") and not under(each.imported, "backend.schedule", "backend.errors")
    ]
    assert not problems, report(problems)


def test_no_route_imports_a_route():
    problems = [
        f"{each}: move what both routes need into backend.web.http, backend.address or a domain package"
        for each in imports_of("backend.web.routes")
        if under(each.imported, "backend.web.routes") and each.imported != "backend.web.routes"
    ]
    assert not problems, report(problems)


def test_no_part_imports_the_command_line_or_the_tests():
    problems = [
        f"{each}: only a program may import it; pass in what is needed"
        for each in imports_of("backend", API, "runner")
        if under(each.imported, "app", "tests", "bench") and each.importer != PROGRAM
    ]
    assert not problems, report(problems)


def test_ray_is_imported_only_by_its_own_engine():
    importers = [each for each in imports_of("app", "backend", API, "runner", "bench") if under(each.imported, "ray")]
    problems = [f"{each}: import it in runner/engines/ray" for each in importers if not of_ray_engine(each)]
    assert importers, "the engine on Ray has moved; name its new place here"
    assert not problems, report(problems)


def of_ray_engine(each: Import) -> bool:
    return under(each.importer, "runner.engines.ray")


def test_no_part_imports_packages_reserved_for_another():
    problems = [
        f"{each}: {part} may not use {each.imported}"
        for part, packages in FORBIDDEN.items()
        for each in imports_of(part)
        if under(each.imported, *packages)
    ]
    assert not problems, report(problems)


def test_no_modules_import_each_other_in_a_circle():
    graph = {
        module: {each.imported for each in imports_at_load(path)} & modules().keys() - {module}
        for module, path in modules().items()
        if not under(module, "tests", "bench")
    }
    circle = first_circle(graph)
    assert not circle, " -> ".join(circle) + ": move what two of them need into a module below both"


@pytest.mark.parametrize("layers", [BACKEND, SCHEDULE, WEB, RUNNER], ids=lambda layers: layers.root)
def test_every_module_is_in_a_layer(layers: Layers):
    problems = [
        f"{name} is in no layer of {layers.root}: move it into a package of a layer, or name it in this file"
        for name in modules()
        if layers.unit(name) == "" and name != layers.root
    ]
    assert not problems, report(problems)


@pytest.mark.parametrize("layers", [BACKEND, SCHEDULE, WEB, RUNNER], ids=lambda layers: layers.root)
def test_every_layer_names_packages_that_exist(layers: Layers):
    missing = [unit for layer in layers.layers for unit in layer if f"{layers.root}.{unit}" not in modules()]
    assert not missing, f"{layers.root} has no {missing}; correct the layers in this file"


def test_an_import_against_the_layers_is_found():
    path = modules()["backend.schedule.order.order"]
    upward = Import("backend.schedule.order.order", "backend.schedule.families.registry", 1, path)
    sideways = Import("backend.cli.plan", "backend.web.factory", 1, path)
    downward = Import("backend.schedule.families.registry", "backend.schedule.order.order", 1, path)
    assert "higher layer" in (SCHEDULE.violation(upward) or "")
    assert "same layer" in (BACKEND.violation(sideways) or "")
    assert SCHEDULE.violation(downward) is None
