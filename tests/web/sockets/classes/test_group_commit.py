"""Writes that share a transaction: each gets its own result, and the fault of one costs no other its answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gevent
import pytest
from gevent.event import Event

from backend.classes.group_commit import GroupCommit
from backend.database.connect import database_at
from backend.database.database import DatabaseError, Transaction
from backend.errors import RequestError


class Disk:
    """What waits for the disk: counts the transactions, holds them while `free` is not set, fails while `broken`."""

    def __init__(self) -> None:
        self.times = 0
        self.broken = False
        self.free = Event()
        self.free.set()

    def __call__(self, work: Callable[[], Any]) -> Any:
        self.times += 1
        self.free.wait()
        if self.broken:
            raise DatabaseError("its disk is full")
        return work()


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def commit(tmp_path: Path, disk: Disk):
    database = database_at(tmp_path / "a.sqlite3")
    yield GroupCommit(database, disk)
    database.close()


def insert(name: str) -> Callable[[Transaction], str]:
    def work(writing: Transaction) -> str:
        writing.execute("INSERT INTO server_secrets (name, value) VALUES (:name, '')", {"name": name})
        return name

    return work


def names(commit: GroupCommit) -> set[str]:
    return {name for (name,) in commit._database.execute("SELECT name FROM server_secrets")}


def outcomes(commit: GroupCommit, disk: Disk, *works: Callable[[Transaction], Any]) -> list[Any]:
    """What works that come while another is written return or raise."""
    disk.free.clear()
    first = gevent.spawn(commit.write, lambda _: None)
    gevent.sleep(0)

    def outcome(work: Callable[[Transaction], Any]) -> Any:
        try:
            return commit.write(work)
        except Exception as error:
            return type(error).__name__

    later = [gevent.spawn(outcome, work) for work in works]
    gevent.sleep(0)
    disk.free.set()
    gevent.joinall([first, *later])
    return [each.value for each in later]


def test_writes_that_come_while_the_disk_is_busy_share_one_transaction(commit: GroupCommit, disk: Disk):
    everyone = [f"n{number}" for number in range(300)]
    assert outcomes(commit, disk, *map(insert, everyone)) == everyone
    assert disk.times == 2
    assert names(commit) == set(everyone)


def test_a_refusal_or_a_defect_of_one_costs_no_other_its_answer(commit: GroupCommit, disk: Disk):
    def refuse(_: Transaction) -> None:
        raise RequestError("name", None, "taken")

    def fail(writing: Transaction) -> None:
        insert("half")(writing)
        raise ZeroDivisionError

    assert outcomes(commit, disk, insert("a"), refuse, insert("b")) == ["a", "RequestError", "b"]
    assert disk.times == 2
    assert outcomes(commit, disk, insert("c"), fail, refuse, insert("d")) == [
        "c", "ZeroDivisionError", "RequestError", "d",
    ]  # fmt: skip
    assert names(commit) == {"a", "b", "c", "d"}


def test_a_database_that_fails_is_reported_to_all_who_wait_and_later_writes_are_kept(commit: GroupCommit, disk: Disk):
    disk.free.clear()
    waiting = [gevent.spawn(commit.write, insert(name)) for name in "ab"]
    gevent.sleep(0)
    disk.broken = True
    disk.free.set()
    for each in waiting:
        with pytest.raises(DatabaseError, match="full"):
            each.get()
    disk.broken = False
    assert commit.write(insert("c")) == "c"
    assert names(commit) == {"c"}
    with pytest.raises(DatabaseError):  # in the middle: what came before it in the transaction is not written either
        commit.write(lambda writing: (insert("d")(writing), insert("c")(writing)))
    assert names(commit) == {"c"}
