"""Simulations in threads give what they give one after the other, and raise what they raise."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from hypothesis import given, settings

from backend.schedule import jit
from backend.schedule.analysis import pareto, threads
from backend.schedule.analysis.compare import compare
from backend.schedule.analysis.sweep import cell, grid, over_m, over_v
from backend.schedule.analysis.threads import in_threads, ops_constructed
from backend.schedule.errors import SpecError
from backend.schedule.families.registry import FAMILIES
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec
from tests.support.strategies import specs


@pytest.fixture(autouse=True)
def always_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use threads however few the ops are, on a machine with one core too."""
    monkeypatch.setattr(threads, "WORTH_OPS", 0)
    monkeypatch.setattr(threads, "LARGE_OPS", 0)
    monkeypatch.setattr(threads, "cores", lambda: 4)
    pareto.measured.cache_clear()


def one_after_the_other(work: Any) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "MOST_THREADS", 1)
        pareto.measured.cache_clear()
        return work()


def test_threads_work_at_the_same_time_and_results_keep_the_order_of_the_items() -> None:
    together = threading.Barrier(4, timeout=10.0)

    def work(item: int) -> int:
        together.wait()  # passes only if four threads are here
        return 10 * item

    assert in_threads(work, range(4), lambda item: item) == [0, 10, 20, 30]


def test_the_longest_items_are_begun_first() -> None:
    begun: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "cores", lambda: 2)
        in_threads(lambda item: begun.append(item) or time.sleep(0.01), [3, 1, 4, 2], lambda item: item)
    assert sorted(begun[:2]) == [3, 4]
    assert sorted(begun) == [1, 2, 3, 4]


def test_small_items_are_left_to_the_calling_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "LARGE_OPS", 100)
    monkeypatch.setattr(threads, "cores", lambda: 2)
    together = threading.Barrier(2, timeout=10.0)

    def thread(ops: int) -> threading.Thread:
        if ops >= 100:
            together.wait()  # so that one thread does not take both of the large ones
        return threading.current_thread()

    first, second, *others = in_threads(thread, [100, 200, *range(50)], lambda ops: ops)
    assert {first, second} > {threading.current_thread()}
    assert set(others) == {threading.current_thread()}


def test_an_error_is_raised_and_no_further_item_is_begun() -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 0:
            raise SpecError("m", item, "wrong")
        time.sleep(0.02)
        return item

    with pytest.raises(SpecError, match="wrong"):
        in_threads(work, range(100), lambda item: 100 - item)
    assert len(begun) < 20


def test_few_ops_fixed_orders_and_interpreted_kernels_need_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def thread(spec: Spec) -> threading.Thread:
        return threading.current_thread()

    def used(specs: list[Spec]) -> set[threading.Thread]:
        return set(in_threads(thread, specs, ops_constructed))

    alone = {threading.current_thread()}
    monkeypatch.setattr(threads, "WORTH_OPS", 10_000)
    assert used([Spec("v-auto", 4, 8, 2)] * 9) == alone
    assert used([Spec("1f1b", 64, 256)] * 9) == alone
    monkeypatch.setattr(jit, "ready", lambda: False)
    assert used([Spec("v-auto", 64, 256, 2)] * 9) == alone


@given(specs(max_p=5, max_m=12))
@settings(max_examples=15)
def test_curves_over_m_are_those_of_each_size_alone(asked: Spec) -> None:
    ms = [1, 2, 3, 5, 8, 13]
    expected = [each for each in (cell(asked, asked.p, m) for m in ms) if each.figures is not None]
    assert over_m([asked, Spec("1f1b")], [ms, []]) == [expected, []]


@given(specs(max_p=5, max_m=12))
@settings(max_examples=6)
def test_a_comparison_in_threads_is_the_one_without(asked: Spec) -> None:
    def compared() -> dict[str, Any]:
        return compare(Spec("1f1b", asked.p, asked.m, costs=asked.costs))

    assert compared() == one_after_the_other(compared)


@given(specs(max_p=4, max_m=8))
@settings(max_examples=6)
def test_points_and_frontier_in_threads_are_those_without(asked: Spec) -> None:
    asked = Spec("1f1b", asked.p, asked.m, costs=asked.costs)

    def drawn() -> list[pareto.Point]:
        return pareto.points(asked) + pareto.frontier(asked, None, pareto.constructed)

    assert drawn() == one_after_the_other(drawn)


@pytest.mark.parametrize("family", ["zb-auto", "v-half", "gis"])
def test_a_map_in_threads_has_the_figures_of_each_size_alone(family: str) -> None:
    asked = Spec(family, 4, 8, FAMILIES[family].v[1], costs=Costs(1.1, 0.9, 0.7, 0.13))
    ps, ms, cells = grid(asked)
    assert one_after_the_other(lambda: grid(asked)) == (ps, ms, cells)
    for p, m in ((1, 1), (4, 8), (6, 32)):
        assert cells[ps.index(p)][ms.index(m)] == cell(asked, p, m)


def test_loads_over_v_in_threads_are_those_without() -> None:
    asked = Spec("1f1b", 4, 8, costs=Costs(comm=0.3))
    assert over_v(asked, "interleaved") == one_after_the_other(lambda: over_v(asked, "interleaved"))
