"""The runner of the tests that leave it as it was: one for all of them, because its start imports torch for seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.runner.client import RunnerProgram


@pytest.fixture(scope="session")
def runner() -> Iterator[RunnerProgram]:
    """`python -m runner`, started by the first test that needs it. Modules that harm their runner have their own."""
    program = RunnerProgram()
    yield program
    program.close()
