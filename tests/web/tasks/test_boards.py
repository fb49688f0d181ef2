"""Boards in the database: one entry an order, the best and the Pareto front kept, counts of all."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from backend.database.address import Location
from backend.errors import RequestError
from backend.schedule.partial_order.score import METRICS, Score
from backend.tasks import histogram
from backend.tasks.boards import BEST
from backend.tasks.store import BoardStore, Entry
from backend.tasks.task import tasks
from tests.runs.test_databases import at_once
from tests.support import within

TASK = "finish-1f1b"
POSITION = tasks()[TASK].position


def entry(key: str, makespan: float = 18.0, peak: float = 3.0, name: str | None = None, created: float = 0.0) -> Entry:
    return Entry(key, "lAB", name, Score(makespan, 1 - 12 / makespan, peak, 16, 14), 1, created)


def submit(store: BoardStore, each: Entry, task: str = TASK):
    return store.submit(task, each, histogram.bins_of(POSITION, each.score))


@pytest.fixture
def store(location: Location) -> Iterator[BoardStore]:
    made = BoardStore(location, 10)
    yield made
    made.close()


def test_the_same_order_twice_is_one_entry_with_a_count(store: BoardStore):
    assert submit(store, entry("a")).new
    again = submit(store, entry("a", name="Ada"))
    assert not again.new
    assert (again.entry.submitted, again.entry.name) == (2, "Ada")
    assert submit(store, entry("a", name="Eve")).entry.name == "Ada"  # a name that is given stays
    board = store.board(TASK, BEST)
    assert (board.kept, board.submissions) == (1, 3)
    assert [sum(board.counts[metric].values()) for metric in METRICS] == [1] * 5
    assert store.board("memory-two", BEST).kept == 0


def test_entries_have_places_by_time_then_memory_then_age(store: BoardStore):
    places = [
        submit(store, each).place
        for each in (
            *(entry("d", 20.0), entry("c", 18.0, 4.0), entry("b", 18.0, 3.0, created=2.0)),
            *(entry("a", 18.0, 3.0, created=1.0), entry("e", 21.0, 2.0)),
        )
    ]
    assert places == [1, 1, 1, 1, 5]
    board = store.board(TASK, 3)
    assert [each.id for each in board.best] == ["a", "b", "c"]
    assert [each.id for each in board.front] == ["e", "a"]  # less memory, then less time


def test_of_many_entries_the_best_and_the_front_stay(store: BoardStore):
    rng = random.Random(3)
    every = [entry(f"{n:04}", rng.randrange(18, 90), rng.randrange(1, 6), created=n) for n in range(80)]
    for each in every:
        submit(store, each)
    board = store.board(TASK, 1000)
    in_order = sorted(every, key=lambda each: (*each.score.key(), each.created))
    assert [each.id for each in board.best[:10]] == [each.id for each in in_order[:10]]
    assert board.kept == len(board.best) <= 10 + 1 + len(board.front)
    least = {peak: min(each.score.makespan for each in every if each.score.peak <= peak) for peak in range(1, 6)}
    assert all(least[int(each.score.peak)] == each.score.makespan for each in board.front)
    assert len(board.front) == len(set(least.values()))
    assert sum(board.counts["makespan"].values()) == board.submissions == 80  # those that were dropped count


def test_a_board_of_very_many_entries_is_cut_and_read_quickly(store: BoardStore):
    columns = "id, task, packed, makespan, bubble, peak, messages, simplicity, submitted, created"
    store.board(TASK, 1)
    with store.database.transaction() as transaction:
        for begin in range(0, 10_000, 1000):
            rows = ", ".join(
                f"('{n}', '{TASK}', 'lAB', {18 + n % 997}, 0.5, {1 + n % 7}, 16, 14, 1, {n})"
                for n in range(begin, begin + 1000)
            )
            transaction.execute(f"INSERT INTO board_entries ({columns}) VALUES {rows}")
    with within(10):
        assert store.board(TASK, BEST).kept == 10_000
        submit(store, entry("new", 17.0))
        board = store.board(TASK, BEST)
    assert board.best[0].id == "new"
    assert board.kept <= 10 + 7


def test_an_entry_or_its_name_can_be_deleted(store: BoardStore):
    submit(store, entry("a", name="rude"))
    submit(store, entry("b", 20.0))
    assert store.unname(TASK, "a")
    assert [each.name for each in store.board(TASK, BEST).best] == [None, None]
    assert store.delete(TASK, "a", lambda score: histogram.bins_of(POSITION, score))
    assert not store.delete(TASK, "a", lambda score: histogram.bins_of(POSITION, score))
    assert not store.unname("memory-two", "b")  # of another task
    board = store.board(TASK, BEST)
    assert [each.id for each in board.best] == ["b"]
    assert sum(board.counts["makespan"].values()) == 1


def test_two_servers_that_submit_at_once_see_one_board(location: Location):
    stores = [BoardStore(location, 50) for _ in range(3)]
    results = at_once(*[
        lambda store=store, number=number: [submit(store, entry(f"{k}", 18.0 + k, created=number)) for k in range(8)]
        for number, store in enumerate(stores)
    ])  # fmt: skip
    assert not [each for each in results if isinstance(each, Exception)]
    for store in stores:
        board = store.board(TASK, BEST)
        assert (board.kept, board.submissions) == (8, 24)
        assert [each.submitted for each in board.best] == [3] * 8
        store.close()


def test_a_database_that_cannot_be_used_is_an_error_with_its_reason(tmp_path):
    (tmp_path / "file").write_text("x")
    store = BoardStore(tmp_path / "file" / "runs.sqlite3", 10)
    for call in (lambda: submit(store, entry("a")), lambda: store.board(TASK, 1), lambda: store.unname(TASK, "a")):
        with pytest.raises(RequestError) as refused:
            call()
        assert refused.value.kind == "disk"


@pytest.mark.parametrize("slug", list(tasks()))
def test_the_bins_of_a_task_hold_every_score(slug: str):
    position = tasks()[slug].position
    least = Score(0.0, 0.0, 0.0, 0, 0)
    most = Score(1e9, 1.0, 1e9, 10**9, 10**9)
    assert set(histogram.bins_of(position, least).values()) == {0}
    assert set(histogram.bins_of(position, most).values()) <= {50, histogram.MOST_BINS - 1}
