"""The queue of runs and searches: who is next, and who finds a place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.access.limits import fair_queue
from backend.access.limits.fair_queue import FairQueue, NoPlaceError

SECONDS = st.floats(0.5, 2000.0)


def taken(queue: FairQueue, seconds: float = 1.0) -> list[str]:
    """Serve all items, each for the same time."""
    found = []
    while (item := queue.pop()) is not None:
        found.append(item)
        queue.done(item, seconds)
    return found


def fill(queue: FairQueue, client: str, seconds: float) -> int:
    """Put items of a client until it is refused; returns their number."""
    for number in range(queue.limit + 1):
        try:
            queue.put(client, f"{client}{number}", seconds)
        except NoPlaceError:
            return number
    raise AssertionError("never refused")


def test_clients_take_turns_and_within_a_client_the_first_comes_first():
    queue = FairQueue(20, 10)
    for client, item in ["a1", "a2", "a3", "b1", "c1", "b2"]:
        queue.put(client, client + item)
    assert list(queue) == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert taken(queue) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_client_just_served_is_queued_behind_those_waiting_for_their_first_turn():
    queue = FairQueue(10, 10)
    queue.put("a", "a1")
    queue.put("b", "b1")
    assert queue.pop() == "a1"
    queue.put("a", "a2")
    queue.put("c", "c1")
    assert list(queue) == ["b1", "c1", "a2"]


def test_a_client_with_long_runs_gets_fewer_of_them():
    queue = FairQueue(40, 40)
    for k in range(6):
        queue.put("long", f"long{k}", 30)
        queue.put("short", f"short{k}", 10)
    order = list(queue)
    assert order[:6] == ["long0", "short0", "short1", "short2", "long1", "short3"]


def test_a_run_that_took_longer_than_estimated_is_paid_for():
    queue = FairQueue(20, 10)
    for k in range(3):
        queue.put("a", f"a{k}", 1)
        queue.put("b", f"b{k}", 1)
    assert queue.pop() == "a0"
    queue.done("a0", 100)
    assert list(queue) == ["b0", "b1", "b2", "a1", "a2"]


def test_a_client_has_one_item_in_service_at_a_time():
    queue = FairQueue(10, 10)
    queue.put("a", "a1")
    queue.put("a", "a2")
    queue.put("b", "b1")
    assert [queue.pop(), queue.pop(), queue.pop()] == ["a1", "b1", None]
    queue.done("a1", 1)
    assert queue.pop() == "a2"


def test_a_full_queue_and_a_used_up_share_are_refused_with_their_limits():
    queue = FairQueue(3, 2)
    queue.put("a", "a1")
    queue.put("a", "a2")
    with pytest.raises(NoPlaceError) as share:
        queue.put("a", "a3")
    queue.put("b", "b1")
    with pytest.raises(NoPlaceError) as full:
        queue.put("c", "c1")
    assert (share.value.kind, share.value.waiting, share.value.limit) == ("share", 2, 2)
    assert (full.value.kind, full.value.waiting, full.value.limit) == ("full", 3, 3)


def test_four_clients_that_fill_the_queue_leave_places_and_the_next_turn_to_newcomers():
    queue = FairQueue(32, 8)
    for client in ("a", "b", "c", "d"):
        assert 1 <= fill(queue, client, 1800) <= 8
    for k in range(12):
        queue.put(f"new{k}", f"new{k}", 5)
    served = [queue.pop()]
    queue.done(served[0], 1800)
    queue.put("late", "late", 5)
    order = list(queue)
    assert order.index("late") < order.index("a1")
    assert {order.index(f"new{k}") for k in range(12)} == set(range(3, 15))  # after b0, c0 and d0 only


def test_an_item_can_leave_the_queue_from_any_position():
    queue = FairQueue(10, 5)
    for item in ("x", "y", "z"):
        queue.put("a", item)
    assert queue.remove("y")
    assert not queue.remove("y")
    assert list(queue) == ["x", "z"]
    assert queue.remove("x")
    assert queue.remove("z")
    assert queue.pop() is None


def test_a_limit_of_one_place_is_one_place():
    queue = FairQueue(1, 8)
    queue.put("a", "a1")
    with pytest.raises(NoPlaceError):
        queue.put("b", "b1")
    assert queue.pop() == "a1"
    queue.put("b", "b1")


CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 11), SECONDS),
        st.tuples(st.just("pop"), st.just(0), SECONDS),
        st.tuples(st.just("remove"), st.integers(0, 200), SECONDS),
    ),
    max_size=80,
)


@given(st.integers(1, 14), st.integers(1, 6), CALLS)
def test_the_queue_is_bounded_and_a_client_with_nothing_waiting_finds_its_reserved_place(limit, per_client, calls):
    queue, owners = FairQueue(limit, per_client), {}
    for number, (call, which, seconds) in enumerate(calls):
        waiting = [owners[item] for item in queue]
        if call == "put":
            refused = None
            try:
                queue.put(f"c{which}", f"i{number}", seconds)
                owners[f"i{number}"] = f"c{which}"
            except NoPlaceError as error:
                refused = error.kind
            assert (refused == "full") == (len(waiting) == limit)
            assert refused is None or f"c{which}" in waiting or len(set(waiting)) >= queue.reserved
        elif call == "remove":
            present = f"i{which}" in set(queue)
            assert queue.remove(f"i{which}") == present
        else:
            expected = next(iter(queue), None)
            assert queue.pop() == expected
            if expected is not None:
                queue.done(expected, seconds)
        waiting = [owners[item] for item in queue]
        assert len(queue) == len(waiting) <= limit
        assert all(waiting.count(client) <= per_client for client in waiting)


@given(st.lists(st.tuples(SECONDS, SECONDS), min_size=2, max_size=5), st.data())
def test_clients_that_always_wait_get_the_same_seconds_within_their_longest_runs(lengths, data):
    """Client k has runs estimated at lengths[k][0] that take lengths[k][1]."""
    queue, served = FairQueue(200, 10), [0.0] * len(lengths)
    for client, (estimate, _) in enumerate(lengths):
        for _ in range(2):
            queue.put(str(client), f"{client}/{queue._arrivals}", estimate)
    for _ in range(60):
        if data.draw(st.booleans()):
            queue.put(f"newcomer {queue._arrivals}", f"new/{queue._arrivals}", 0.5)
        item = queue.pop()
        name, took = item.split("/")[0], 0.5
        if name != "new":
            queue.put(name, f"{name}/{queue._arrivals}", lengths[int(name)][0])  # while it is served
            took = lengths[int(name)][1]
            served[int(name)] += took
        queue.done(item, took)
    longest = [max(pair) for pair in lengths]
    for one in range(len(lengths)):
        for other in range(one):
            assert abs(served[one] - served[other]) <= longest[one] + longest[other] + 1e-6


@given(st.floats(1, 3600), st.floats(1, 60), st.integers(1, 6))
def test_a_client_that_has_used_much_is_served_though_newcomers_never_end(used, each, at_once):
    queue = FairQueue(20, 4)
    queue.put("heavy", "first", used)
    queue.put("heavy", "second", used)
    for k in range(at_once):
        queue.put(f"n{k}", f"n{k}", each)
    assert queue.pop() == "first"
    queue.done("first", used)
    number, spent, item = at_once, 0.0, queue.pop()
    while item != "second":
        spent += each
        queue.put(f"n{number}", f"n{number}", each)  # there are always as many newcomers
        number += 1
        queue.done(item, each)
        item = queue.pop()
        assert spent <= (at_once + 2) * (used + each)


def test_the_memory_of_clients_that_left_is_bounded(monkeypatch):
    monkeypatch.setattr(fair_queue, "MOST_CLIENTS", 3)
    queue = FairQueue(100, 4)
    queue.put("stays", "stays1", 1)
    for k in range(8):
        queue.put(f"c{k}", f"c{k}", 1000)
    queue.put("stays", "stays2", 10**6)
    while queue.pop() != "stays2":
        for item in list(queue._serving):
            queue.done(item, 1000)
    assert len(queue._time) <= 3 + 1
    queue.done("stays2", 1)
    assert queue._time == {}
