"""The runner's temporary folder: removed with it, by its successor where it was killed, never while its owner lives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner.engines.local import LocalEngine
from runner.engines.scratch import OLD_S, Scratch, remove_abandoned
from tests.support.sources import ROOT

OWNER = """
import sys, time
from runner.engines.scratch import Scratch
owned = Scratch(sys.argv[1])
print(owned.name, flush=True)
time.sleep(600)
"""


@pytest.fixture
def owners():
    """Start processes that own a folder; they end with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(parent: Path) -> tuple[subprocess.Popen[str], Path]:
        started.append(
            subprocess.Popen([sys.executable, "-c", OWNER, str(parent)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        )
        assert started[-1].stdout is not None
        return started[-1], Path(started[-1].stdout.readline().strip())

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_folder_of_a_killed_runner_is_removed_by_the_next_and_that_of_a_living_one_kept(owners, tmp_path: Path):
    (killed, left), (_, kept) = owners(tmp_path), owners(tmp_path)
    (left / "store-1").write_text("of a process group")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert left.is_dir(), "nobody could remove it"
    engine = LocalEngine(str(tmp_path))
    assert not left.exists()
    assert kept.is_dir()
    engine.close()
    assert [path.name for path in tmp_path.iterdir()] == [kept.name]


def test_what_is_no_folder_of_a_runner_is_kept(tmp_path: Path):
    (tmp_path / "bubbleline-notes").write_text("a file")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "owner").write_text("")
    (tmp_path / "bubbleline-link").symlink_to(tmp_path / "precious")
    (tmp_path / "bubbleline-new").mkdir()  # another process may be just making it
    assert remove_abandoned(tmp_path) == []
    assert (tmp_path / "precious" / "owner").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_the_folder_of_another_user_is_kept(tmp_path: Path):
    folder = tmp_path / "bubbleline-other"
    folder.mkdir()
    (folder / "owner").write_text("")
    os.chown(folder, 65534, 65534)
    assert remove_abandoned(tmp_path) == []


def test_a_folder_of_an_earlier_version_is_removed_after_a_day(tmp_path: Path):
    folder = tmp_path / "bubbleline-earlier"
    folder.mkdir()
    os.utime(folder, (time.time() - OLD_S - 60,) * 2)
    assert remove_abandoned(tmp_path) == [folder]


def test_a_folder_can_be_removed_twice(tmp_path: Path):
    scratch = Scratch(str(tmp_path))
    assert remove_abandoned(tmp_path) == []
    scratch.cleanup()
    scratch.cleanup()
    assert list(tmp_path.iterdir()) == []
