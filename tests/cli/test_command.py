"""The command itself: what it loads, its version, completion, and when it opens a browser."""

from __future__ import annotations

import errno
import subprocess
import sys
import webbrowser
from dataclasses import dataclass, field
from typing import Any

import pytest
from click.testing import CliRunner

import app
from app import PROGRAM, cli
from backend import __version__
from backend.access import addresses
from backend.cli import COMMANDS, schedule
from backend.config import PROJECT, Config
from bubbleline.__main__ import main

HEAVY = {"PIL", "flask", "gevent", "jinja2", "numba", "plotly", "torch"}  # take longer to load than show to run


def test_show_loads_no_more_than_it_needs():
    program = "import sys; from app import cli; cli(['show', '1f1b'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "backend.schedule.families.registry" in loaded
    assert not loaded & HEAVY


def test_an_output_without_room_is_named(monkeypatch: pytest.MonkeyPatch):
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(schedule.click, "echo", full)
    done = CliRunner().invoke(cli, ["show", "1f1b"])
    assert (done.exit_code, type(done.exception)) == (1, SystemExit)


def test_every_command_is_loaded_by_its_name_and_has_a_help_text():
    assert set(COMMANDS) <= set(cli.commands)
    assert all(command.name == name and command.help for name, command in cli.commands.items())
    assert CliRunner().invoke(cli, ["shwo"]).exit_code == 2


def test_the_version_is_that_of_the_package():
    assert CliRunner().invoke(cli, ["--version"]).output == f"bubbleline {__version__}\n"


@pytest.mark.parametrize(("shell", "word"), [("zsh", "1"), ("fish", "re")])
def test_a_shell_gets_the_script_that_completes_the_commands(shell: str, word: str):
    assert f"{shell}_complete" in CliRunner().invoke(cli, ["completion", shell]).output
    asked = {"_BUBBLELINE_COMPLETE": f"{shell}_complete", "COMP_WORDS": "bubbleline re", "COMP_CWORD": word}
    assert "restore" in CliRunner(env=asked).invoke(cli, prog_name=PROGRAM).output


@pytest.mark.parametrize(
    ("words", "opens"),
    [
        (["bubbleline"], True),
        (["bubbleline", "--no-browser"], False),
        (["bubbleline", "serve"], False),
        (["bubbleline", "serve", "--browser"], True),
        (["app.py"], False),
    ],
)
def test_the_command_alone_opens_the_page_and_a_service_does_not(
    monkeypatch: pytest.MonkeyPatch, words: list[str], opens: bool
):
    served: list[Config] = []
    monkeypatch.setattr("backend.web.serve.serve", lambda config: served.append(config))
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit):
        main() if words[0] == PROGRAM else app.cli()
    assert [config.browser for config in served] == [opens]


@dataclass
class Browser:
    """A browser that notes what it opens."""

    opened: list[str] = field(default_factory=list)

    def open(self, url: str) -> None:
        self.opened.append(url)


@pytest.mark.parametrize(
    ("settings", "variables", "terminal", "opened"),
    [
        ({}, {"DISPLAY": ":0"}, True, ["http://127.0.0.1:5000"]),
        ({"host": "::1"}, {"WAYLAND_DISPLAY": "wayland-0"}, True, ["http://[::1]:5000"]),
        ({"browser": False}, {"DISPLAY": ":0"}, True, []),
        ({}, {"DISPLAY": ":0"}, False, []),
        ({}, {}, True, []),
        ({"host": "0.0.0.0"}, {"DISPLAY": ":0"}, True, []),
    ],
)
def test_the_page_is_opened_where_there_is_a_desktop_and_somebody_at_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, Any],
    variables: dict[str, str],
    terminal: bool,
    opened: list[str],
):
    browser = Browser()
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(webbrowser, "get", lambda: browser)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(addresses, "Thread", Now)
    addresses.open_page(Config(**{"browser": True, **settings}), 5000)
    assert browser.opened == opened


class Now:
    """A thread that is over when it has been started."""

    def __init__(self, target: Any, args: tuple[Any, ...], daemon: bool) -> None:
        assert daemon
        self.start = lambda: target(*args)


def test_a_browser_that_needs_the_terminal_is_not_started(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("BROWSER", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("w3m"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(addresses, "Thread", None)
    addresses.open_page(Config(browser=True), 5000)
