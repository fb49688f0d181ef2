"""Processor time of the tests by group: what pytest, its workers and all processes that they start have used.

    python -m tests.support.whole_run.processor_time run GROUP COMMAND   run a command and note its processor time
    python -m tests.support.whole_run.processor_time show                print what was noted

As a plugin of pytest (tests/conftest.py) it prints the time of each folder of tests/, with ``-vv`` of each file.
Servers, browsers and runners count in the file that was running, whichever test started them. `make test` names a file
for notes in PROCESSOR_TIMES, and prints all groups at its end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import descendants_of, listed

NOTES = os.environ.get("PROCESSOR_TIMES")


def used_by_tree(root: int) -> float:
    """Return the seconds of a process and its descendants, ended ones included as far as a parent waited for them."""
    every = {each.pid: each for each in listed()}
    return sum(every[pid].used_s for pid in (root, *descendants_of(root, every.values())))


class ProcessorTime:
    """Notes the time of each file of tests in this process; beside xdist's workers, adds up what they noted."""

    def __init__(self) -> None:
        self.by_file: Counter[str] = Counter()
        self.before = 0.0
        self.workers = False

    def note(self, file: str) -> None:
        now = used_by_tree(os.getpid())
        self.by_file[file] += max(0.0, now - self.before)  # an orphan's time is lost when it ends
        self.before = now

    def pytest_collection_finish(self) -> None:
        self.note("collection")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Any:
        last = nextitem is None or nextitem.path != item.path
        file = item.path.relative_to(item.config.rootpath).as_posix()
        if last:
            self.note(file)  # before a browser ends, whose time its parent may not add to its own
        yield
        if last:
            self.note(file)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["processor_time"] = dict(self.by_file)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.workers = True
        self.by_file.update(getattr(node, "workeroutput", {}).get("processor_time", {}))

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        if hasattr(config, "workeroutput"):
            return
        if self.workers:
            own = os.times()
            self.by_file["distribution"] += own.user + own.system
        groups: Counter[str] = Counter()
        for file, seconds in self.by_file.items():
            groups["/".join(file.split("/")[:2])] += seconds
        for group, seconds in groups.items():
            note(group, seconds)
        terminalreporter.section("processor time")
        terminalreporter.write_line(table(self.by_file if terminalreporter.verbosity > 0 else groups))


def note(group: str, seconds: float) -> None:
    """Keep a group's time for `show`."""
    if NOTES:
        Path(NOTES).parent.mkdir(exist_ok=True)
        with Path(NOTES).open("a") as file:
            file.write(f"{group}\t{seconds:.2f}\n")


def table(groups: Counter[str]) -> str:
    """Return the groups, the largest first, and their sum."""
    lines = [f"{seconds:8.1f} s  {group}" for group, seconds in groups.most_common()]
    return "\n".join([*lines, f"{groups.total():8.1f} s  in all"])


def run(group: str, command: str) -> int:
    """Run a command of the shell, print how long it took, and note its processor time."""
    start = time.monotonic()
    status = subprocess.run(command, shell=True, check=False).returncode
    used = os.times()
    note(group, used.children_user + used.children_system)
    print(f"{group}: {time.monotonic() - start:.0f} s", flush=True)
    return status


def show() -> None:
    """Print the noted groups."""
    groups: Counter[str] = Counter()
    for line in Path(NOTES or "/dev/null").read_text().splitlines():
        group, seconds = line.split("\t")
        groups[group] += float(seconds)
    print(f"Processor time:\n{table(groups)}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", name, command]:
            sys.exit(run(name, command))
        case ["show"]:
            show()
        case _:
            sys.exit(__doc__)
