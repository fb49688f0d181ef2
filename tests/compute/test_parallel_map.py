"""Simulations in several processes give what they give one after the other, and raise what they raise."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

from backend.compute import parallel_map
from backend.compute.parallel_map import in_processes
from backend.config import PROJECT
from backend.schedule.analysis import pareto
from backend.schedule.analysis.compare import compare
from backend.schedule.analysis.map_each import Map, one_by_one, time_in_ops
from backend.schedule.analysis.sweep import cell, grid, over_m, over_v
from backend.schedule.errors import OrderError
from backend.schedule.families.registry import FAMILIES
from backend.schedule.simulation.costs import Costs
from backend.schedule.spec import Spec
from tests.conftest import until
from tests.support import PATIENCE_S
from tests.support.strategies import few, specs


@pytest.fixture(autouse=True)
def always_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use processes however few the ops are, on a machine with one core too."""
    monkeypatch.setattr(parallel_map, "WORTH_OPS", 0)
    monkeypatch.setattr(parallel_map, "cores", lambda: 4)
    monkeypatch.setattr(parallel_map, "can_fork", lambda: True)
    pareto.measured.cache_clear()


def test_processes_work_at_the_same_time_and_results_keep_the_order_of_the_items() -> None:
    together = multiprocessing.get_context("fork").Barrier(4, timeout=PATIENCE_S)

    def work(item: int) -> tuple[int, int]:
        together.wait()  # passes only if four processes are here
        return os.getpid(), 10 * item

    found = in_processes(work, range(4), lambda item: item)
    assert [number for _, number in found] == [0, 10, 20, 30]
    assert len({pid for pid, _ in found}) == 4
    assert os.getpid() in {pid for pid, _ in found}


@pytest.mark.parametrize(("longest_first", "begun"), [(True, [4, 3, 2, 1]), (False, [3, 1, 4, 2])])
def test_the_longest_items_are_begun_first_unless_their_order_is_to_be_kept(
    tmp_path: Path, longest_first: bool, begun: list[int]
) -> None:
    together = multiprocessing.get_context("fork").Barrier(2, timeout=PATIENCE_S)

    def work(item: int) -> None:
        with (tmp_path / "begun").open("a") as log:
            log.write(f"{item}\n")
        together.wait()  # two at a time, so that none is begun before its turn

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel_map, "cores", lambda: 2)
        in_processes(work, [3, 1, 4, 2], lambda item: item, longest_first=longest_first)
    logged = list(map(int, (tmp_path / "begun").read_text().split()))
    assert [set(logged[:2]), set(logged[2:])] == [set(begun[:2]), set(begun[2:])]


@pytest.mark.parametrize("wrong", [99, 98, 0])
def test_an_error_is_raised_and_no_further_item_is_begun(tmp_path: Path, wrong: int) -> None:
    """The first items are begun by any of the processes."""

    def work(item: int) -> int:
        (tmp_path / str(item)).touch()
        if item == wrong:
            raise OrderError(f"{item} is wrong", rank=item, op="2F0")
        time.sleep(0.2 if wrong > 50 else 0)  # the others are in their first items when that is learnt
        return item

    with pytest.raises(OrderError, match=f"{wrong} is wrong") as raised:
        in_processes(work, range(100), lambda item: item)
    assert (raised.value.rank, raised.value.op) == (wrong, "2F0")
    assert (len(list(tmp_path.iterdir())) < 20) == (wrong > 50)


def test_a_copy_that_is_killed_is_an_error_and_none_is_left_behind(tmp_path: Path) -> None:
    here = os.getpid()

    def work(item: int) -> int:
        if os.getpid() != here:
            (tmp_path / str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        until(lambda: any(tmp_path.iterdir()))
        return item

    with pytest.raises(RuntimeError, match="ended without a result"):
        in_processes(work, range(8), lambda item: item)
    killed = [int(each.name) for each in tmp_path.iterdir()]
    assert killed
    for pid in killed:
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's end")
def test_no_copy_outlives_a_process_that_is_killed() -> None:
    program = """
import os, time
from backend.compute import parallel_map
parallel_map.WORTH_OPS, parallel_map.cores = 0, lambda: 3
def work(item):
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(600)
parallel_map.in_processes(work, range(3), lambda item: 1)
"""
    running = subprocess.Popen([sys.executable, "-c", program], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    pids = [int(running.stdout.readline()) for _ in range(3)]
    assert running.pid in pids
    running.kill()
    running.wait()
    assert running.stdout.read() == ""  # ends only when no process has the pipe
    running.stdout.close()


def test_where_no_more_processes_may_be_started_the_others_do_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> int:
        raise BlockingIOError("too many processes")

    monkeypatch.setattr(os, "fork", refused)
    assert in_processes(lambda item: (os.getpid(), item), range(3), lambda item: 1) == [
        (os.getpid(), item) for item in range(3)
    ]


def test_little_work_and_other_threads_leave_all_to_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    together = multiprocessing.get_context("fork").Barrier(2, timeout=PATIENCE_S)

    def alone(spec: Spec) -> int:
        return os.getpid()

    def with_another(spec: Spec) -> int:
        together.wait()
        return os.getpid()

    def used(specs: list[Spec], work: Callable[[Spec], int] = alone) -> set[int]:
        return set(in_processes(work, specs, time_in_ops))

    large = [Spec("v-auto", 64, 256, 2)] * 8
    assert len(used(large, with_another)) > 1
    monkeypatch.undo()
    monkeypatch.setattr(parallel_map, "cores", lambda: 4)
    assert used([Spec("v-auto", 4, 8, 2)] * 9) == {os.getpid()}
    assert used([Spec("1f1b", 16, 32)] * 9) == {os.getpid()}
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    assert used(large) == {os.getpid()}
    over.set()
    thread.join()


@given(specs(max_p=4, max_m=8))
@few(6)
def test_curves_over_m_are_those_of_each_size_alone(asked: Spec) -> None:
    ms = [1, 2, 3, 5, 8, 13]
    expected = [each for each in (cell(asked, asked.p, m) for m in ms) if each.figures is not None]
    assert over_m([asked, Spec("1f1b")], [ms, []], in_processes) == [expected, []]


@given(specs(max_p=4, max_m=6))
@few(2)
def test_a_comparison_in_processes_is_the_one_without(asked: Spec) -> None:
    spec = Spec("1f1b", asked.p, asked.m, costs=asked.costs)
    assert compare(spec, map_each=in_processes) == compare(spec)


@given(specs(max_p=3, max_m=6))
@few(2)
def test_points_and_frontier_in_processes_are_those_without(asked: Spec) -> None:
    spec = Spec("1f1b", asked.p, asked.m, costs=asked.costs)

    def drawn(map_each: Map) -> list[pareto.Point]:
        pareto.measured.cache_clear()
        points = pareto.points(spec, map_each=map_each)
        return points + pareto.frontier(spec, None, pareto.constructed, map_each=map_each)

    assert drawn(in_processes) == drawn(one_by_one)


@pytest.mark.parametrize("family", ["zb-auto", "v-half", "gis"])
def test_a_map_in_processes_has_the_figures_of_each_size_alone(family: str) -> None:
    asked = Spec(family, 4, 8, FAMILIES[family].v[1], costs=Costs(1.1, 0.9, 0.7, 0.13))
    ps, ms, cells = grid(asked, in_processes)
    assert grid(asked) == (ps, ms, cells)
    for p, m in ((1, 1), (4, 8), (6, 32)):
        assert cells[ps.index(p)][ms.index(m)] == cell(asked, p, m)


def test_loads_over_v_in_processes_are_those_without() -> None:
    asked = Spec("1f1b", 4, 8, costs=Costs(comm=0.3))
    assert over_v(asked, "interleaved", in_processes) == over_v(asked, "interleaved")
