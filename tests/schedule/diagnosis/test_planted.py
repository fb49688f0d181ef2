"""Each planted fault is found and named, alone and in pairs, and none is found where none was planted."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from backend.schedule.diagnosis.diagnosis import Diagnosis, diagnose
from backend.schedule.diagnosis.layers import layers_of
from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec
from tests.schedule.diagnosis.planted import FAULTS, HEAD_OF_LINE, LONG, PAUSE, UNEVEN, WORKER, Fault, recording

SCHEDULES = {
    "gpipe": Spec("gpipe", 3, 6),
    "1f1b": Spec("1f1b", 3, 6),
    "interleaved": Spec("interleaved", 2, 4, 2),
    "zb-v": Spec("zb-v", 2, 6, 2),
    "dualpipev": Spec("dualpipev", 2, 6, 2),
}
CONSEQUENCES = {"replicas", "tail"}  # of other causes


def sums(found: Diagnosis) -> None:
    """The parts of each rank's time are all of the step."""
    for row in found.idle.as_dict():
        assert sum(value for key, value in row.items() if key != "rank") == pytest.approx(found.idle.step, rel=1e-3)


@pytest.mark.parametrize("name", SCHEDULES)
def test_faults_are_found_and_named_alone_and_in_pairs_and_no_others(name: str) -> None:
    for count in (0, 1, 2):
        for planted in combinations(FAULTS, count):
            found = diagnose(recording(SCHEDULES[name], planted))
            there = {each.cause: each for each in found.findings}
            assert set(there) - CONSEQUENCES == {fault.cause for fault in planted}
            for fault in planted:
                place = there[fault.cause].place
                assert {key: place[key] for key in fault.place} == fault.place
            assert found.recognised["family"] == registry.validate(SCHEDULES[name]).family
            assert found.as_dict()["replay"]["ratio"] == pytest.approx(1.0, abs=0.01)
            sums(found)


@pytest.mark.parametrize("name", ["interleaved", "zb-v", "dualpipev"])
def test_messages_that_hold_up_others_are_found_beside_each_other_fault_with_the_message_in_front(name: str) -> None:
    spec = SCHEDULES[name].with_(p=4, m=8)
    for other in (None, *FAULTS) if name == "interleaved" else (None, LONG):
        planted = [HEAD_OF_LINE] if other is None else [HEAD_OF_LINE, other]
        found = diagnose(recording(spec, planted))
        there = {each.cause: each for each in found.findings}
        assert set(there) - CONSEQUENCES == {fault.cause for fault in planted}, other
        place = there["head_of_line"].place
        assert {key: place[key] for key in HEAD_OF_LINE.place} == HEAD_OF_LINE.place
        assert (found.spec.streams, found.spec.receives) == ("rank", "torch")
        assert found.as_dict()["replay"]["ratio"] == pytest.approx(1.0, abs=0.01)
        sums(found)
    plain, held = (diagnose(recording(spec, planted, noise=0.0)) for planted in ((), [HEAD_OF_LINE]))
    saved = held.what_if["head_of_line"]
    assert (1.0 - saved) * held.idle.step == pytest.approx(plain.idle.step, rel=0.01)
    assert plain.model.blocking is None


@pytest.mark.parametrize(("name", "cause"), [("1f1b", "imbalance"), ("interleaved", "worker")])
def test_one_replica_tells_a_slow_rank_from_a_heavy_stage_where_ranks_have_several_stages(
    name: str, cause: str
) -> None:
    whole = recording(SCHEDULES[name], [WORKER])
    rows = [row._replace(replica=0) for row in whole.rows if row.replica == 1]
    found = diagnose(type(whole)(whole.source, rows))
    (finding,) = (each for each in found.findings if each.cause not in CONSEQUENCES)
    assert (finding.cause, finding.place["rank"]) == (cause, 1)
    assert found.verdict[0] == finding.text
    assert "second replica" in str(finding.text) or name == "interleaved"


def test_what_a_repair_saves_is_what_the_step_takes_less_without_the_fault() -> None:
    spec = SCHEDULES["1f1b"]
    plain, uneven = (diagnose(recording(spec, planted, noise=0.0)) for planted in ((), [UNEVEN]))
    saved = next(each.saves for each in uneven.findings if each.cause == "imbalance")
    # balanced, the work stays: a third of the stages has half as much more
    assert (1.0 - saved) * uneven.idle.step == pytest.approx(plain.idle.step * (1.0 + 0.5 / 3), rel=0.01)
    long = diagnose(recording(spec, [LONG], noise=0.0))
    assert long.model.micro.max() == pytest.approx(3.0 / (8.0 / 6.0), rel=0.02)


def test_a_share_of_a_little_less_than_nothing_is_nothing() -> None:
    calm, at_most = map(str, diagnose(recording(Spec("gpipe", 1, 4))).verdict)
    assert "its own idle time is 0 %" in calm
    assert "at most 0 %" in at_most


def test_the_step_that_is_put_on_the_timeline_has_the_sizes_of_its_micro_batches() -> None:
    long = diagnose(recording(SCHEDULES["1f1b"], [LONG]))
    assert long.spec.sizes is not None
    assert isinstance(long.spec.sizes, tuple)
    assert int(np.argmax(long.spec.sizes)) == 2
    assert long.spec.sizes[2] == pytest.approx(3 * long.spec.sizes[0], rel=0.05)
    step = simulate(registry.order(long.spec), long.spec.timing, long.spec.v).end.max()
    assert step == pytest.approx(float(np.median(long.instances.span)), rel=0.05)
    assert diagnose(recording(SCHEDULES["1f1b"], [])).spec.sizes is None


@pytest.mark.parametrize("name", SCHEDULES)
def test_layers_are_moved_from_the_heavy_stage_as_far_as_the_simulated_step_gets_shorter(name: str) -> None:
    spec = SCHEDULES[name]
    stages = spec.p * spec.v
    found = diagnose(recording(spec, [UNEVEN], noise=0.0), layers=8)
    moved = found.moved
    assert moved is not None
    assert sum(moved.after) == 8 * stages
    assert moved.after[1] < 8
    assert moved.saves > 0.0
    shape = found.as_dict()["layers"]
    then = registry.validate(Spec.from_json(shape["spec"]))  # its step is as much shorter as was said
    steps = [simulate(registry.order(each), each.timing, each.v).end.max() for each in (found.spec, then)]
    assert 1.0 - steps[1] / steps[0] == pytest.approx(moved.saves, abs=0.02)
    assert (shape["layout"] is not None) == (name in ("gpipe", "1f1b", "interleaved"))
    even = diagnose(recording(spec, noise=0.0), layers=8).moved
    assert even is not None
    assert (even.saves == 0.0) == (even.after == even.before)
    if spec.v == 1:  # with several chunks a device a step may be shorter where the first or the last stages are lighter
        assert even.saves == 0.0


def test_layers_are_a_number_a_list_or_a_layout_and_others_are_refused() -> None:
    assert layers_of(8, 3) == layers_of("8", 3) == layers_of("8, 8,8", 3) == layers_of("Et*8|t*8|t*8L", 3) == (8, 8, 8)
    assert layers_of([7, 8, 1], 3) == (7, 8, 1)
    for wrong in ("8,8", "0", "x", "", "-1,2,3", "9" * 5000, "1,2,", "Et|tL", [1, 2], [True, 1, 2], 5000):
        with pytest.raises(SpecError) as caught:
            layers_of(wrong, 3)
        assert caught.value.field == "layers", wrong


def test_the_waits_of_a_step_have_their_causes_where_they_are() -> None:
    found = diagnose(recording(SCHEDULES["interleaved"].with_(p=4, m=8), [HEAD_OF_LINE, UNEVEN, PAUSE]))
    at, waits = found.idle.at, found.idle.waits
    assert found.instances.span[at] in np.sort(found.instances.span)[2:4]  # of six
    for wait in waits:
        assert sum(wait.causes.values()) == pytest.approx(wait.end - wait.start, rel=0.1)
    for rank in range(4):
        mine = [wait for wait in waits if wait.rank == rank]
        ops = slice(*found.instances.order.offsets[rank : rank + 2])
        idle = found.instances.span[at] - found.instances.spent[at, ops].sum()
        assert sum(wait.end - wait.start for wait in mine) == pytest.approx(idle, rel=0.05)
        assert all(before.end <= after.start for before, after in pairwise(mine))
    longest = max(waits, key=lambda wait: wait.causes.get("head_of_line", 0.0))
    assert longest.causes["head_of_line"] > 0.5 * (longest.end - longest.start)
    paused = diagnose(recording(SCHEDULES["1f1b"], [PAUSE]), step=1, replica=0)
    wait = max(paused.idle.waits, key=lambda wait: wait.causes.get("pause", 0.0))
    assert (wait.rank, wait.op, round(wait.causes["pause"], -1)) == (0, "0F1", 90)


def test_a_pause_is_named_with_its_op_and_its_step() -> None:
    found = diagnose(recording(SCHEDULES["1f1b"], [PAUSE]))
    (pause,) = (each for each in found.findings if each.cause == "pause")
    assert pause.place["step"] == 1
    assert pause.place["time"] == pytest.approx(90.0, rel=0.05)
    assert pause.place["op"] in str(pause.text)
    alone = diagnose(recording(SCHEDULES["1f1b"], [PAUSE]), step=0)
    assert not [each for each in alone.findings if each.cause == "pause"]


def test_one_step_or_one_replica_is_chosen_and_another_is_refused_by_name() -> None:
    whole = recording(SCHEDULES["1f1b"], [WORKER])
    one = diagnose(whole, step=2, replica=0)
    assert one.instances.places == ((2, 0),)
    assert not [each for each in one.findings if each.cause == "worker"]
    with pytest.raises(SpecError) as caught:
        diagnose(whole, replica=7)
    assert (caught.value.field, caught.value.nearest) == ("replica", 1)


def test_an_order_of_its_own_names_the_nearest_family_and_the_first_difference() -> None:
    whole = recording(SCHEDULES["1f1b"], noise=0.0)
    rows = list(whole.rows)
    for step in range(3):  # rank 2 does its last two forwards before the backward between them
        for replica in range(2):
            mine = [at for at, row in enumerate(rows) if (row.step, row.replica, row.rank) == (step, replica, 2)]
            late, early = mine[-2], mine[-3]
            first, second = rows[early], rows[late]
            length = second.end - second.start
            rows[late] = second._replace(start=first.start, end=first.start + length)
            rows[early] = first._replace(start=first.start + length, end=first.end + length)
    known = diagnose(type(whole)(whole.source, rows)).recognised
    assert known["family"] is None
    assert known["nearest"]["family"] == "1f1b"
    assert (known["nearest"]["rank"], known["nearest"]["here"], known["nearest"]["there"]) == (2, "2F5", "2B4")


def test_clocks_that_differ_are_brought_together_and_the_note_says_how_surely() -> None:
    whole = recording(SCHEDULES["1f1b"], [UNEVEN])
    shift = np.array([0.0, 700.0, -250.0])
    rows = [row._replace(start=row.start + shift[row.rank], end=row.end + shift[row.rank]) for row in whole.rows]
    straight, moved = (diagnose(type(whole)(whole.source, each)) for each in (whole.rows, rows))
    assert not straight.notes
    assert "clocks" in str(moved.notes[0])
    assert [each.cause for each in moved.findings][:1] == ["imbalance"]
    assert moved.idle.step == pytest.approx(straight.idle.step, rel=0.02)


def test_jitter_is_its_own_cause() -> None:
    found = diagnose(recording(SCHEDULES["1f1b"], noise=0.25))
    assert [each.cause for each in found.findings if each.cause not in CONSEQUENCES] == ["jitter"]


def test_a_fault_has_a_name_that_findings_use() -> None:
    assert {fault.cause for fault in (*FAULTS, Fault("jitter"))} <= set(diagnose(recording(SCHEDULES["gpipe"])).what_if)
