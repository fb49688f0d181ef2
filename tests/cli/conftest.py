"""The runner of the commands: one for all of them, because its start imports torch for seconds."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from tests.support.runner.relay import SharedRunner


@pytest.fixture(scope="session")
def shared_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedRunner]:
    """A runner, started by the first test that needs it."""
    shared = SharedRunner(tmp_path_factory.mktemp("runner") / "socket")
    yield shared
    shared.close()


@pytest.fixture
def warm_runner(shared_runner: SharedRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands use the shared runner instead of one of their own."""
    monkeypatch.setenv("BUBBLELINE_RUNNER", shlex.join(shared_runner.command))
