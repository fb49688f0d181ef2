"""The runners of these tests, shared because the start of one imports torch, which takes 2 CPU-seconds.

A test that fails may leave its runner in a run: the next one then gets a new runner.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.support.runner.client import RunnerProgram

FAILED = pytest.StashKey[bool]()


class Runners:
    """Runner programs by their module, each started by the first test that needs it."""

    def __init__(self) -> None:
        self.programs: dict[str, RunnerProgram] = {}

    def lend(self, module: str, borrower: pytest.Item) -> Iterator[RunnerProgram]:
        """The program of a module for one test."""
        if module not in self.programs:
            self.programs[module] = RunnerProgram(module)
        program = self.programs[module]
        yield program
        if borrower.stash.get(FAILED, False) or program.process.poll() is not None:
            self.programs.pop(module).close()

    def close(self) -> None:
        for program in self.programs.values():
            program.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture(scope="session")
def runners() -> Iterator[Runners]:
    made = Runners()
    yield made
    made.close()


@pytest.fixture
def runner(runners: Runners, request: pytest.FixtureRequest) -> Iterator[RunnerProgram]:
    """`python -m runner`, which replaces workers that a test harms."""
    yield from runners.lend("runner", request.node)


@pytest.fixture
def altered_runner(runners: Runners, request: pytest.FixtureRequest) -> Iterator[RunnerProgram]:
    """A runner whose runs fail, or run in another way, depending on their seed."""
    yield from runners.lend("tests.support.runner.altered_runner", request.node)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Have torch compute in one thread here, as in a rank: with tensors this small, others only spin."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
