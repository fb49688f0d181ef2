"""Failures other than the runner's own: a disk that fills up, a run cancelled at each of its stages."""

# ruff: noqa: F401, F811  (a fixture is imported, and named by the tests that want it)

from __future__ import annotations

import pytest

from backend.runs.store import Store
from tests.runs.test_manager import events, manage, submit, wait


def fill_disk(store: Store) -> None:
    """Allow no further page: SQLite then raises the same error as on a full disk."""
    connection = store.database.connection()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_disk_that_fills_up_during_a_run_is_reported_and_the_run_is_shown_to_its_end(manage, config):
    manager = manage("--rows", "400")
    run = submit(manager, m=40)
    assert run.summary()["unkept"] is None
    wait(lambda: run.log.ops)
    fill_disk(manager.store)
    wait(lambda: run.over and run.unkept)
    assert (run.status, run.log.ops) == ("finished", 16_000)
    assert "could not write this run" in run.summary()["unkept"]
    assert "full" in manager.store_error
    following = submit(manager, m=2)
    wait(lambda: following.over)
    assert following.status == "finished"
    manager.stop()
    store = Store(config.database)
    store.open()
    assert store.close_left_over() == 1  # the disk had only its request
    kept = store.load(run.id)
    assert (kept.status, kept.log.ops, kept.facts.get("verified")) == ("failed", 0, None)
    store.close()


def test_a_disk_with_room_again_stores_the_run_at_its_next_change(manage):
    manager = manage("--rows", "400")
    wait(lambda: manager.client.state == "ready")
    fill_disk(manager.store)
    run = submit(manager, m=40)
    wait(lambda: run.over and run.unkept)
    manager.store.database.connection().execute("PRAGMA max_page_count = 1000000")
    manager.rename(run.id, "kept after all")
    assert run.unkept is None
    kept = manager.store.load(run.id)
    assert (kept.name, kept.status, kept.log.ops) == ("kept after all", "finished", 16_000)


@pytest.mark.parametrize(("m", "last"), [(108, "warming"), (5000, "op_batch")])
def test_a_run_is_cancelled_while_it_warms_up_as_while_it_runs_and_the_next_one_works(manage, m, last):
    manager = manage("--pause", "0.02")
    run, following = submit(manager, m=m), submit(manager)
    wait(lambda: events(run)[-1] == last)
    manager.cancel(run.id)
    wait(lambda: following.over)
    assert (run.status, following.status, manager.client.starts) == ("cancelled", "finished", 1)
    assert manager.store.load(run.id).status == "cancelled"


def test_two_runs_requested_at_once_have_queue_positions_and_run_in_turn(manage):
    manager = manage("--start", "0.2")
    mine = [submit(manager, owner="me") for _ in range(3)]
    theirs = submit(manager, owner="you")
    assert [run.position for run in (*mine, theirs)] == [1, 3, 4, 2]
    wait(lambda: all(run.over for run in (*mine, theirs)))
    assert [run.status for run in (*mine, theirs)] == ["finished"] * 4
    assert theirs.log.rows()[0][3] < mine[1].log.rows()[0][3]
