"""What the documents say of the code: the steps of docs/architecture.md, commands and families of docs/contracts.md."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from app import cli
from backend.schedule.families.registry import FAMILIES

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = (ROOT / "docs" / "contracts.md").read_text()
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()
WALK = re.compile(
    r"^## \d\. (?P<title>[^\n]+): (?P<count>\d+) files$\n(?P<steps>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
STEP = re.compile(r"^\| (?P<number>\d+) \| `(?P<file>[^`]+)` \| (?P<text>.+) \|$", re.MULTILINE)
NAME = re.compile(r"#?[A-Za-z_][\w.]*")
FILE = re.compile(r"[a-z_]+(/[\w.]+)+\.(py|js|ts|css)")
WALKS = {walk["title"]: walk for walk in WALK.finditer(ARCHITECTURE)}
STEPS = [(title, step) for title, walk in WALKS.items() for step in STEP.finditer(walk["steps"])]


@pytest.mark.parametrize(("title", "step"), STEPS, ids=[f"{title} {step['number']}" for title, step in STEPS])
def test_every_step_of_the_architecture_names_what_its_file_has(title: str, step: re.Match[str]) -> None:
    """A name in backticks is another file, or a word of the step's file; of a request, its path is."""
    source = (ROOT / step["file"]).read_text()
    for quoted in re.findall(r"`([^`]+)`", step["text"]):
        if FILE.fullmatch(quoted):
            assert (ROOT / quoted).is_file(), quoted
            continue
        request = re.fullmatch(r"(?:GET|POST|DELETE) (/[\w/]+).*", quoted)
        words = [request[1]] if request else NAME.findall(quoted)[0].split(".")
        for word in words:
            assert re.search(rf"(?<!\w){re.escape(word)}(?!\w)", source), f"{step['file']} has no {word}"


def test_every_walk_of_the_architecture_counts_its_steps_and_files() -> None:
    assert len(WALKS) == 3
    for title, walk in WALKS.items():
        steps = list(STEP.finditer(walk["steps"]))
        assert [int(step["number"]) for step in steps] == list(range(1, len(steps) + 1)), title
        assert len({step["file"] for step in steps}) == int(walk["count"]), title


def test_every_file_that_the_architecture_names_exists() -> None:
    prose = re.sub(r"^```.*?^```", "", ARCHITECTURE, flags=re.MULTILINE | re.DOTALL)
    named = [each for each in re.findall(r"`([^`]+)`", prose) if FILE.fullmatch(each)]
    assert len(named) > 30
    assert [each for each in named if not (ROOT / each).is_file()] == []


def test_the_contracts_list_every_command() -> None:
    section = CONTRACTS.partition("## Command line")[2].partition("\n## ")[0]
    listed = re.findall(r"`([^`]+)`", section)
    for name, command in cli.commands.items():
        if command.hidden:
            continue
        parts = [f"{name} {part}" for part in command.commands] if isinstance(command, click.Group) else [name]
        for each in parts:
            assert any(line == each or line.startswith(f"{each} ") for line in listed), f"docs/contracts.md: {each}"


def test_the_contracts_list_every_family() -> None:
    row = re.search(r"^\| `family` \| `1f1b` \| (.+?);", CONTRACTS, re.MULTILINE)
    assert row is not None
    assert row[1].split(", ") == list(FAMILIES)
