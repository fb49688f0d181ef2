"""Retention: the oldest ended runs are deleted by age and size, never one in progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from backend.config import Config
from backend.database.address import Location
from backend.runs.manager import Manager
from backend.runs.runs import RunRequest
from backend.runs.store import DAY_S, MEGABYTE, Retention, Store
from tests.runs.test_run_parts import a_finished_run, a_run


@pytest.fixture
def store(location: Location) -> Iterator[Store]:
    made = Store(location)
    made.open()
    yield made
    made.close()


def ids(store: Store) -> list[str]:
    return [row["id"] for row in store.recent(1000, None)][::-1]


def fill(store: Store, count: int, kilobytes: int = 0) -> None:
    """Save runs that were made a day after each other, each of a size."""
    for number in range(count):
        run = a_finished_run(f"r{number}", created=number * DAY_S)
        run.order = "x" * (1000 * kilobytes)
        store.save(run)


def expire_all(limits: Retention, store: Store, live: frozenset[str] = frozenset()) -> list[str]:
    return [run_id for gone in iter(lambda: limits.expire(store, live), []) for run_id in gone]


def test_runs_older_than_the_days_are_deleted_and_younger_ones_kept(store: Store):
    fill(store, 6)
    now = 10 * DAY_S
    assert expire_all(Retention(7, 0, lambda: now), store) == ["r0", "r1", "r2"]
    assert ids(store) == ["r3", "r4", "r5"]
    now = 11 * DAY_S + 1
    assert expire_all(Retention(7, 0, lambda: now), store) == ["r3", "r4"]


def test_the_oldest_runs_are_deleted_until_the_database_is_small_enough(store: Store):
    fill(store, 40, kilobytes=100)
    assert store.used() > 4 * MEGABYTE
    gone = expire_all(Retention(0, 2, lambda: 0.0), store)
    assert gone == [f"r{number}" for number in range(len(gone))], "from the oldest on"
    assert 1.5 * MEGABYTE < store.used() <= 2 * MEGABYTE, "and no more than are needed"


def test_a_run_in_progress_is_never_deleted_however_old_or_large(store: Store):
    fill(store, 3)
    running = a_run("running")
    running.created = 0.0
    running.apply({"event": "warming"})
    running.order = "x" * 3 * MEGABYTE
    store.save(running)
    assert expire_all(Retention(1, 1, lambda: 1e9), store, frozenset({"r1"})) == ["r0", "r2"]
    assert {"running", "r1"} == {*ids(store)}


def test_without_limits_nothing_is_deleted(store: Store):
    fill(store, 2)
    limits = Retention(0, 0, lambda: 1e12)
    assert not limits.limited
    assert limits.expire(store, frozenset()) == []


@pytest.fixture
def manage(config: Config) -> Iterator[Callable[..., Manager]]:
    made: list[Manager] = []

    def make(clock: Callable[[], float], **limits: int) -> Manager:
        made.append(Manager(replace(config, **limits), clock=clock))
        made[-1].open()
        return made[-1]

    yield make
    for manager in made:
        manager.stop()


def test_a_server_forgets_what_it_deletes_in_memory_too_and_counts_it(manage):
    now = 0.0
    manager = manage(lambda: now, keep_days=2)
    for number in range(3):
        manager.adopt(a_finished_run(f"run{number}", created=number * DAY_S))
    waiting = manager.submit(RunRequest("a", {"m": 1}, "order"))
    waiting.created = 0.0
    now = 3.5 * DAY_S
    manager.expire()
    assert manager.counts().expired == 2
    assert [row["created"] for row in manager.recent(10, None)] == [2 * DAY_S, 0.0]
    assert manager.get(waiting.id) is waiting
