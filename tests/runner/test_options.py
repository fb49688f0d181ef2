"""Runs with options on small worker pools: each is verified, and its memory is measured."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from backend.runs.estimate import Work
from backend.schedule.families import registry
from backend.schedule.interop import torch_csv
from backend.schedule.simulation.simulate import simulate
from runner.job.plan import plan
from runner.model.config import MOST_BLOCKS, TINY, Shape, blocks_of
from runner.model.reference import train_stale
from runner.worker.verification import compare, relative_error
from tests.support.runner.altered_runner import GLOO
from tests.support.runner.client import ROOT, Event, RunnerProgram, planned_run
from tests.support.runner.client import TINY as MODEL


def verified(events: list[Event]) -> Event:
    """The last event of a run, checked to be verified."""
    last = events[-1]
    assert last["event"] == "finished", last
    assert last["verified"], last
    assert last["max_grad_error"] < 1e-5
    return last


def test_blocks_keep_the_ratios_of_the_layers() -> None:
    assert blocks_of((24, 24, 24, 30), 4, TINY) == (4, 4, 4, 5)
    assert blocks_of((8, 8), 2, TINY) == (1, 1)
    assert blocks_of((31, 17, 0, 1), 4, TINY) == (MOST_BLOCKS, 4, 0, 1)
    assert blocks_of((3, 2), 2, Shape(layers=2)) == (6, 4)
    assert blocks_of(None, 3, Shape(layers=2)) == (2, 2, 2)
    for spec, most in json.loads((ROOT / "tests/golden/units.json").read_text())["most_blocks"]:
        read = registry.read({"p": 4, **spec})
        assert Work.of(registry.order(read), read, "paced").blocks == most
        assert max(plan(planned_run(read.to_json())).training.blocks) == most


@pytest.mark.parametrize(
    ("spec", "blocks"),
    [
        ({"family": "1f1b", "p": 2, "m": 3, "layers": [3, 1]}, (3, 1)),
        ({"family": "v-half", "p": 2, "m": 4, "layers": [2, 1, 0, 2]}, (2, 1, 0, 2)),
        ({"family": "dualpipe", "p": 4, "m": 8, "layers": [0, 2, 1, 0]}, (0, 2, 1, 0)),
        ({"family": "zb-h1", "p": 2, "m": 4, "vocabulary": "redistribute"}, (5, 3)),
    ],
    ids=["1f1b", "v-half", "dualpipe", "redistribute"],
)
def test_stages_have_one_block_per_layer(
    runner: RunnerProgram, spec: dict[str, object], blocks: tuple[int, ...]
) -> None:
    assert plan(planned_run(spec=spec)).training.blocks == blocks
    verified(runner.run(spec=spec, mode="free", model=MODEL))


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ({"family": "1f1b", "p": 3, "m": 4, "frozen": [0]}, {}),
        ({"family": "zb-h1", "p": 3, "m": 5, "frozen": [0, 2]}, {"steps": 2}),
        ({"family": "interleaved", "p": 2, "m": 4, "v": 2, "frozen": 1, "recompute": "full"}, {}),
        ({"family": "gis", "p": 2, "m": 4, "v": 2, "frozen": [1], "offload": "full", "costs": {"O": 0.1}}, {}),
        ({"family": "1f1b", "p": 2, "m": 4, "frozen": [0], "vocabulary": "parallel-1"}, {"steps": 2}),
        ({"family": "1f1b", "p": 2, "m": 4, "frozen": [1], "vocabulary": "parallel-2"}, {}),
        ({"family": "v-auto", "p": 2, "m": 4, "frozen": [0, 1]}, {"dtype": "bfloat16"}),
        ({"family": "chimera", "p": 2, "m": 4, "frozen": [0]}, {}),
    ],
    ids=["1f1b", "later", "recomputed", "copied", "vocabulary", "last", "searched", "two-directions"],
)
def test_frozen_stages_have_no_gradients_and_the_others_those_of_a_single_process(
    runner: RunnerProgram, spec: dict[str, object], options: dict[str, object]
) -> None:
    *events, last = runner.run(spec=spec, mode="free", model=MODEL, **options)
    assert (last["event"], last["verified"]) == ("finished", True), last
    assert last["max_grad_error"] <= last["tolerance"]
    order = registry.order(registry.read(spec))
    rows = [row for event in events if event["event"] == "op_batch" for row in event["ops"]]
    assert len(rows) == len(order)
    if spec["family"] == "1f1b" and spec["frozen"] == [0] and "vocabulary" not in spec:
        assert last["activations"]["peak_bytes"][0] == 0  # no backward, so nothing is kept for one


SIZES = [1, 0.5, 2, 0.01, 1.5, 1]


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ({"family": "1f1b", "p": 3, "injection": "mountain"}, {"seed": GLOO, "steps": 2}),
        ({"family": "zb-v", "p": 2, "recompute": "full"}, {}),
        ({"family": "dualpipe", "p": 2, "deal": "longest", "replicas": 2, "replica": 1}, {"dtype": "bfloat16"}),
        ({"family": "gis", "p": 2, "v": 2, "offload": "full", "costs": {"O": 0.1}}, {}),
        ({"family": "pipedream", "p": 2}, {}),
        ({"family": "gpipe", "p": 2, "forward_only": True}, {}),
        ({"family": "1f1b", "p": 2, "vocabulary": "parallel-1"}, {}),
        ({"family": "1f1b", "p": 2, "vocabulary": "parallel-2"}, {"steps": 2}),
    ],
    ids=["gloo", "v", "replica", "copied", "stale", "inference", "one-barrier", "two-barriers"],
)
def test_micro_batches_of_other_lengths_have_the_gradients_of_a_single_process_and_shorter_messages(
    altered_runner: RunnerProgram, spec: dict[str, object], options: dict[str, object]
) -> None:
    lists = {"m": 6, "sizes": SIZES * int(str(spec.get("replicas", 1)))}
    model = MODEL | {"sequence": 20}
    *events, last = altered_runner.run(spec=spec | lists, mode="free", model=model, **options)
    assert (last["event"], last["verified"]) == ("finished", True), last
    training = plan(planned_run(spec=spec | lists, model=model)).training
    sizes = registry.read(spec | lists).timing.sizes
    assert training.sequences == tuple(max(1, round(10 * size)) for size in sizes)
    messages = [row for event in events for row in event.get("messages", ())]
    word = 2 if options.get("dtype") else 4
    assert {(row[4], row[-1]) for row in messages} == {
        (micro, 64 + -(-MODEL["batch"] * length * MODEL["hidden"] * word // 8) * 8)
        for micro, length in enumerate(training.sequences)
    }


@pytest.mark.parametrize(
    "spec",
    [
        {"family": "interleaved", "p": 3, "m": 6, "v": 2, "streams": "rank"},
        {"family": "v-zb", "p": 2, "m": 4, "streams": "direction", "receives": "placed", "costs": {"wire": 0.5}},
        {"family": "1f1b", "p": 3, "m": 4, "streams": "edge", "receives": "deferred", "sizes": [1, 0.5, 2, 1]},
        {"family": "dualpipe", "p": 2, "m": 4, "streams": "rank", "receives": "placed", "costs": {"comm": 0.5}},
    ],
    ids=lambda spec: spec["family"],
)
def test_messages_of_a_stream_pass_in_their_order_so_that_no_op_is_earlier_than_planned(
    runner: RunnerProgram, spec: dict[str, object]
) -> None:
    events = runner.run(spec=spec, mode="paced", unit_ms=10, model=MODEL)
    verified(events)
    legal = registry.read(spec)
    planned = simulate(registry.order(legal), legal.timing, legal.v)
    rows = sorted(row for event in events if event["event"] == "op_batch" for row in event["ops"])
    starts = np.array([row[3] for row in rows]) / 1e7
    assert len(starts) == len(planned.start)
    assert (starts > planned.start - 1e-3).all()
    if spec["family"] == "interleaved":  # where a message that is posted too early holds up the others
        alone = simulate(replace(planned.order, messages=None), legal.timing, legal.v)
        assert (planned.start > alone.start + 0.5).any()


def test_an_imported_order_uses_layers_and_recomputation_of_its_spec(runner: RunnerProgram) -> None:
    order = torch_csv.load(torch_csv.dump(registry.order(registry.read({"family": "1f1b", "p": 2, "m": 3}))))
    verified(runner.run(order=order, spec={"layers": [1, 3]}, mode="free", model=MODEL))
    less = verified(runner.run(order=order, spec={"recompute": "full"}, mode="free", model=MODEL | {"layers": 3}))
    more = verified(runner.run(order=order, mode="free", model=MODEL | {"layers": 3}))
    assert less["activations"]["peak_bytes"] < more["activations"]["peak_bytes"]
    refused = runner.run(order=order, spec={"layers": [1, 3, 1]})[-1]
    assert (refused["event"], refused["error"]["field"], refused["error"]["nearest"]) == ("error", "layers", 2)
    refused = runner.run(order=order, spec={"vocabulary": "parallel-1"})[-1]
    assert (refused["error"]["field"], refused["error"]["nearest"]) == ("vocabulary", "plain")
    refused = runner.run(order=order, spec={"sizes": [1, 2]})[-1]
    assert (refused["error"]["field"], refused["error"]["nearest"]) == ("sizes", [1, 2, 2])
    verified(runner.run(order=order, spec={"sizes": [1, 3, 2], "injection": "searched"}, mode="free", model=MODEL))


@pytest.mark.parametrize("family", ["1f1b", "zb-h1", "dualpipe"])
def test_recomputation_keeps_less_and_gives_the_same_gradients(runner: RunnerProgram, family: str) -> None:
    peaks, losses = [], set()
    spec: dict[str, object] = {"family": family, "p": 2, "m": 4, "layers": [3, 3]}
    for mode in ("none", "selective", "full"):
        options = MODEL | {"layers": 2, "sequence": 8}
        last = verified(runner.run(spec=spec | {"recompute": mode}, mode="free", model=options))
        peaks.append(last["activations"]["peak_bytes"])
        losses.add(last["loss"])
    ahead = spec | {"recompute": "full", "recompute_at": "ahead"}
    losses.add(verified(runner.run(spec=ahead, mode="free", model=options))["loss"])
    if family == "1f1b":  # micro-batches of their own lengths recompute for as long, or some not at all
        verified(runner.run(spec=ahead | {"sizes": [2, 1, 4, 1]}, mode="free", model=options))
        some = verified(runner.run(spec=ahead | {"spared": 1}, mode="free", model=options))
        losses.add(some["loss"])
        assert some["activations"]["peak_bytes"][1] == peaks[0][1], "rank 1 has one at a time, which keeps all"
        assert some["activations"]["peak_bytes"][0] > peaks[2][0], (
            "rank 0 keeps all of one, while it recomputes another"
        )
        deep = {"family": "interleaved", "p": 2, "m": 4, "v": 2, "layers": [2, 1, 2, 1]}
        full = deep | {"recompute": "full", "recompute_at": "bubble"}
        plain, bubble = (verified(runner.run(spec=each, mode="free", model=options)) for each in (deep, full))
        held, kept = (each["activations"]["peak_bytes"] for each in (plain, bubble))
        assert bubble["loss"] == plain["loss"]
        assert (kept[0] < held[0], kept[1]) == (True, held[1]), "rank 0 recomputes what exceeds two micro-batches"
    assert len(losses) == 1
    assert all(none > selective > full for none, selective, full in zip(*peaks, strict=True)), peaks


def test_recomputation_of_some_chunks_keeps_less_than_of_none_and_more_than_of_all(runner: RunnerProgram) -> None:
    peaks, losses = [], set()
    for modes in ("none", ["none", "full"], "full"):
        spec = {"family": "v-half", "p": 2, "m": 4, "v": 2, "recompute": modes}
        last = verified(runner.run(spec=spec, mode="free", model=MODEL | {"sequence": 8}))
        peaks.append(sum(last["activations"]["peak_bytes"]))
        losses.add(last["loss"])
    assert len(losses) == 1
    assert peaks[0] > peaks[1] > peaks[2]


def test_one_chunk_is_recomputed_while_another_is_copied(runner: RunnerProgram) -> None:
    spec = {"family": "gis", "p": 2, "m": 8, "v": 3, "costs": {"F": 2, "I": 2, "W": 2, "O": 1}}
    spec |= {"recompute": ["full", "none", "none"], "offload": ["none", "full", "none"]}
    events = runner.run(spec=spec, mode="free", model=MODEL)
    verified(events)
    order = registry.order(registry.read(spec))
    assert order.copies is not None
    texts = [order.copies.row(rank, order.chunks) for rank in range(order.p)]
    moved = [(texts[row[0]][row[1]][1], row[5]) for event in events for row in event.get("copies", ())]
    assert {chunk for chunk, _ in moved} == {1}
    assert all(size > 0 for _, size in moved)


@pytest.mark.parametrize(("p", "m", "recompute"), [(3, 7, "none"), (2, 4, "full")])
def test_updates_after_every_backward_give_the_losses_and_weights_of_as_stale_a_single_process(
    runner: RunnerProgram, p: int, m: int, recompute: str
) -> None:
    spec = {"family": "pipedream", "p": p, "m": m, "recompute": recompute}
    last = verified(runner.run(spec=spec, mode="free", model=MODEL))
    assert last["weight_versions"] == [p - stage for stage in range(p)]


def test_a_reference_with_other_staleness_trains_other_weights() -> None:
    training = plan(planned_run(spec={"family": "pipedream", "p": 2, "m": 4})).training
    used = plan(planned_run(spec={"family": "pipedream", "p": 2, "m": 4})).used
    assert used == ((0, 0, 1, 2), (0, 1, 2, 3))
    losses, right = train_stale(training, used)
    fresh_losses, fresh = train_stale(training, [range(4)] * 2)
    assert losses[0] == fresh_losses[0]
    verdict = compare(0.0, [right], 0.0, fresh)
    assert not verdict.verified
    assert max(relative_error(right[name], fresh[name]) for name in right if name.startswith("updated")) > 1e-3


def test_offload_of_activations_that_live_too_short_for_copies_is_a_run_without_them() -> None:
    assert plan(planned_run(spec={"family": "1f1b", "p": 2, "offload": "full"})).timeline.order.copies is None


def test_offload_frees_memory_and_reloads_everything_in_time(runner: RunnerProgram) -> None:
    plain = {"family": "gis", "p": 2, "m": 4, "v": 4, "costs": {"F": 2, "I": 2, "W": 2, "O": 1}}
    whole = verified(runner.run(spec=plain, mode="free", model=MODEL))["activations"]
    for mode in ("selective", "full"):
        spec = plain | {"offload": mode}
        events = runner.run(spec=spec, mode="paced", unit_ms=16, model=MODEL)
        kept = verified(events)["activations"]
        assert kept["peak_bytes_without_offload"] == whole["peak_bytes"]
        assert sum(kept["peak_bytes"]) < 0.9 * sum(whole["peak_bytes"])  # planned: half, or a quarter
        rows = [row for event in events for row in event.get("copies", ())]
        order = registry.order(registry.read(spec))
        assert order.copies is not None
        texts = [order.copies.row(rank, order.chunks) for rank in range(order.p)]
        assert [row[:2] for row in sorted(rows)] == [[rank, k] for rank in range(2) for k in range(len(texts[rank]))]
        went, came = ([row for row in rows if texts[row[0]][row[1]][0] == kind] for kind in (0, 1))
        assert sum(row[5] for row in went) == sum(row[5] for row in came) > 0
        assert all(ready <= start < end for _, _, ready, start, end, _ in rows)


@pytest.mark.parametrize(
    ("family", "p", "vocabulary"),
    [
        ("1f1b", 3, "parallel-1"),
        ("1f1b", 3, "parallel-2"),
        ("1f1b", 3, "interlaced"),
        ("1f1b", 1, "parallel-1"),
        ("zb-h2", 2, "parallel-1"),
        ("v-half", 2, "parallel-2"),
    ],
)
def test_a_sharded_output_layer_gives_the_loss_and_gradients_of_a_whole_one(
    runner: RunnerProgram, family: str, p: int, vocabulary: str
) -> None:
    spec = {"family": family, "p": p, "m": 5, "vocabulary": vocabulary}
    events = runner.run(spec=spec, mode="free", model=MODEL | {"vocabulary": 17})
    verified(events)
    rows = sum(len(event["ops"]) for event in events if event["event"] == "op_batch")
    assert rows == len(registry.order(registry.read(spec)))


@pytest.mark.parametrize(
    "spec",
    [
        {"family": "zb-h1", "p": 2, "m": 4},
        {"family": "dualpipe", "p": 2, "m": 4},
        {"family": "1f1b", "p": 3, "m": 4, "vocabulary": "parallel-1", "recompute": "full"},
        {"family": "gis", "p": 2, "m": 4, "v": 2, "offload": "full", "costs": {"O": 0.5}},
    ],
    ids=["zb-h1", "dualpipe", "1f1b-parallel-1", "gis-offload"],
)
def test_several_steps_train_as_a_single_process_does(runner: RunnerProgram, spec: dict[str, object]) -> None:
    events = runner.run(spec=spec, mode="free", model=MODEL, steps=3)
    last = verified(events)
    assert len(set(last["losses"])) == len(last["losses"]) == 3
    assert last["loss"] == pytest.approx(last["losses"][-1])
    rows = [tuple(row[:2]) for event in events if event["event"] == "op_batch" for row in event["ops"]]
    assert len(rows) == len(set(rows)) == len(registry.order(registry.read(spec)))


def test_a_vocabulary_with_fewer_words_than_ranks_is_refused(runner: RunnerProgram) -> None:
    spec = {"family": "1f1b", "p": 4, "m": 4, "vocabulary": "parallel-1"}
    last = runner.run(spec=spec, model=MODEL | {"vocabulary": 3})[-1]
    assert (last["event"], last["error"]["field"], last["error"]["nearest"]) == ("error", "model.vocabulary", 4)


def test_steps_are_refused_where_every_micro_batch_is_one(runner: RunnerProgram) -> None:
    last = runner.run(spec={"family": "pipedream", "p": 2, "m": 4}, steps=2)[-1]
    assert (last["event"], last["error"]["field"], last["error"]["nearest"]) == ("error", "steps", 1)
