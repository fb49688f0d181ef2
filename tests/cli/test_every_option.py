"""Every option of a spec at every command and route that takes it: it changes the answer, or is refused by name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from app import cli
from backend.schedule.families import registry
from backend.schedule.families.imported import spec_of
from backend.schedule.interop import torch_csv
from tests.conftest import error_of

ORDER = spec_of(registry.order(registry.read({"family": "1f1b", "p": 2, "m": 2}))).order or ""
SIZES = {"p": 2, "m": 4}
LOOPED = {"family": "interleaved", "p": 4, "m": 8, "v": 2}
# Each field of a spec: the spec without it, and a value that matters there. More effort finds other orders only in
# searches that take seconds (tests/schedule/search), so here it is one that nothing is searched with.
CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "p": ({"family": "1f1b"}, 3),
    "m": ({"family": "1f1b"}, 5),
    "v": ({"family": "interleaved"}, 3),
    "group": ({"family": "interleaved", "p": 2, "m": 4, "v": 2}, 4),
    "lifo": ({"family": "gpipe"} | SIZES, True),
    "forward_only": ({"family": "gpipe"} | SIZES, True),
    "frozen": ({"family": "1f1b"} | SIZES, 1),
    "recompute": ({"family": "1f1b"} | SIZES, "full"),
    "recompute_at": ({"family": "1f1b", "recompute": "full"} | SIZES, "ahead"),
    "spared": ({"family": "1f1b", "recompute": "full"} | SIZES, 1),
    "layers": ({"family": "1f1b"} | SIZES, [1, 3]),
    "sizes": ({"family": "1f1b"} | SIZES, "lognormal:0.3:7"),
    "fixed": ({"family": "1f1b", "sizes": [1, 2, 0.5, 0.5]} | SIZES, 0.5),
    "injection": ({"family": "1f1b", "sizes": [1, 2, 0.5, 0.5]} | SIZES, "searched"),
    "replicas": ({"family": "1f1b", "sizes": "lognormal:0.3:7"} | SIZES, 2),
    "deal": ({"family": "1f1b", "sizes": "lognormal:0.3:7", "replicas": 2} | SIZES, "longest"),
    "replica": ({"family": "1f1b", "sizes": "lognormal:0.3:7", "replicas": 2} | SIZES, 1),
    "vocabulary": ({"family": "1f1b"} | SIZES, "parallel-1"),
    "offload": ({"family": "gis", "p": 2, "m": 4, "v": 2}, "full"),
    "shared_link": ({"family": "gis", "p": 2, "m": 4, "v": 2, "offload": "full"}, True),
    "streams": (LOOPED, "rank"),
    "receives": (LOOPED | {"streams": "rank"}, "placed"),
    "weights": ({"family": "pipedream"} | SIZES, 0.5),
    "F": ({"family": "1f1b"} | SIZES, 5),
    "I": ({"family": "1f1b"} | SIZES, 5),
    "W": ({"family": "1f1b"} | SIZES, 5),
    "comm": ({"family": "1f1b"} | SIZES, 0.5),
    "FB": ({"family": "dualpipev", "p": 2, "m": 4}, 2),
    "S": ({"family": "1f1b", "vocabulary": "parallel-1"} | SIZES, 1),
    "T": ({"family": "1f1b", "vocabulary": "parallel-1"} | SIZES, 1),
    "O": ({"family": "gis", "p": 2, "m": 4, "v": 2, "offload": "full"}, 3),
    "wire": (LOOPED | {"streams": "rank"}, 0.5),
    "R": ({"family": "1f1b", "recompute": "full"} | SIZES, 3),
    "effort": ({"family": "1f1b"} | SIZES, 60),
    "seed": ({"family": "1f1b"} | SIZES, 7),
    "order": ({"family": "imported", "p": 2, "m": 2}, ORDER),
    "memory": ({"family": "zb-auto"} | SIZES, 1.5),
    "w_share": ({"family": "zb-h1"} | SIZES, 0.25),
}
COMMANDS = {
    "show": ["--seconds", "0"],
    "export": ["--format", "json", "--seconds", "0"],
    "compare": ["--json"],
    "pareto": ["--json", "--limits", "0.01"],  # within which nothing is searched
    "run": [],
    "run-sweep": [],
    "check": [],
}


class AskedError(Exception):
    """What would have been sent to the runner."""


@pytest.fixture(autouse=True)
def _no_runner(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sent:
        def run(self, job: dict[str, Any], *_: Any) -> Any:
            raise AskedError(json.dumps(job, sort_keys=True))

    @contextmanager
    def runner() -> Iterator[Sent]:
        yield Sent()

    for module in ("run", "run_sweep"):
        monkeypatch.setattr(import_module(f"backend.cli.{module}"), "runner", runner)


def cases(door: str) -> list[tuple[str, tuple[dict[str, Any], Any]]]:
    """Return the fields that a command or route must answer to; a comparison has families that search, and others."""
    return [(field, case) for field, case in CASES.items() if door != "compare" or field not in ("effort", "seed")]


def arguments(command: str, spec: dict[str, Any], file: Path) -> list[str]:
    """Return the command line of a spec; `check`, and `run` of an order, read a file of torch's CSV."""
    family = spec["family"]
    options = {param.name: param.opts[0] for param in cli.commands[command].params}
    head = [command, str(file)] if command == "check" else [command, family]
    for name, value in spec.items():
        if name != "family":
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            head += [options[name]] if value is True else [options[name], text]
    return head + COMMANDS[command]


def answer(args: list[str]) -> tuple[str, str]:
    """Return (what a command says or sends, the field that it refuses)."""
    done = CliRunner().invoke(cli, args)
    if isinstance(done.exception, AskedError):
        return str(done.exception), ""
    assert done.exception is None or isinstance(done.exception, SystemExit), (args, done.exception)
    refused = re.match(r"Error: (\w+):", done.output) if done.exit_code == 2 else None
    field = refused[1] if refused else ""
    if done.exit_code == 2 and not refused and done.output.startswith("{"):
        field = json.loads(done.output)["error"]["field"]
    return without_spec(done.output), field


def without_spec(text: str) -> str:
    """Return an answer without the spec that repeats what was asked."""
    if not text.startswith("{"):
        return text
    return json.dumps({key: value for key, value in json.loads(text).items() if key != "spec"})


def test_every_field_of_a_spec_has_a_case_and_every_command_with_one_is_tried() -> None:
    data = registry.read({"family": "1f1b"}).to_json()
    assert set(CASES) == (set(data) | set(data["costs"])) - {"family", "costs"}
    taking = {
        name for name, command in cli.commands.items() if {"w_share", "S"} <= {each.name for each in command.params}
    }
    assert taking == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_changes_its_answer_or_is_refused(command: str, tmp_path: Path) -> None:
    file = tmp_path / "order.csv"
    plain: dict[str, str] = {}  # many fields begin from the same spec
    for field, (spec, value) in cases(command):
        if command == "check":
            own = {key: each for key, each in spec.items() if key in ("family", "p", "m", "v", "group")}
            own = own if own["family"] in ("zb-h1", "interleaved", "dualpipev") else {"family": "1f1b"} | SIZES
            file.write_text(torch_csv.dump(registry.order(registry.read(own))))
            plain.clear()
        begun = json.dumps(spec)
        if begun not in plain:
            plain[begun], _ = answer(arguments(command, spec, file))
        given, refused = answer(arguments(command, spec | {field: value}, file))
        assert refused or given != plain[begun], (field, given)
        assert refused in ("", field, *spec), (field, given)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_time_of_an_option_that_is_not_given_is_refused(command: str, tmp_path: Path) -> None:
    file = tmp_path / "order.csv"
    file.write_text("0F0,0B0\n")
    for field, other in (("O", "offload"), ("R", "recompute")):
        spec = {"family": "1f1b"} if command == "check" else {"family": "1f1b", "p": 2, "m": 4}
        for more in ({}, {other: "none"}):
            said, refused = answer(arguments(command, spec | more | {field: 3}, file))
            assert refused == field, (command, field, said)


@pytest.mark.parametrize("command", ["show", "export", "run"])
def test_what_w_needs_is_refused_where_the_backward_is_whole(command: str, tmp_path: Path) -> None:
    said, refused = answer(arguments(command, {"family": "1f1b", "w_share": 0.5} | SIZES, tmp_path / "order.csv"))
    assert refused == "w_share", said


@pytest.mark.parametrize("route", ["schedule", "compare", "export"])
def test_every_key_of_a_route_changes_its_answer_or_is_refused(route: str, client: FlaskClient) -> None:
    def ask(data: dict[str, Any]) -> Any:
        texts = {key: ",".join(map(str, each)) if isinstance(each, list) else str(each) for key, each in data.items()}
        query = "&".join(f"{key}={quote_plus(text.lower() if text == 'True' else text)}" for key, text in texts.items())
        return client.get(f"/api/{route}?{query}", headers={"Accept": "application/json"})

    plain: dict[str, Any] = {}
    for field, (spec, value) in cases(route):
        if route == "compare":
            named = spec["family"] if spec["family"] != "imported" else "1f1b"
            spec = {key: each for key, each in spec.items() if key != "family"} | {"families": named}
        begun = json.dumps(spec)
        if begun not in plain:
            plain[begun] = ask(spec)
        given = ask(spec | {field: value})
        if given.status_code == 200:
            assert without_spec(given.text) != without_spec(plain[begun].text), field
        else:
            assert error_of(given)["field"] in (field, *spec), (field, given.text)
