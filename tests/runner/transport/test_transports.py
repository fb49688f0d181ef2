"""Messages through shared memory, and over gloo where there is none."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from runner.program.instructions import Transfer
from runner.transport.mailbox import Mailbox, MailboxNeeds, lay_out
from runner.transport.shared_memory import SharedMemoryTransport
from tests.support.runner.altered_runner import GLOO
from tests.support.runner.client import TINY, RunnerProgram

SHAPE = (3, 5)
SHAPES = [SHAPE] * 400


def box(folder: Path, sends: list[int], tags: int, size: int = 4 * 15) -> Mailbox:
    found = lay_out(f"{folder}/messages", str(folder), MailboxNeeds(sends, tags, size))
    Path(found.path).touch()
    found.create()
    return found


def transfer(tag: int, source: int = 0, target: int = 1) -> Transfer:
    return Transfer(tag, "activation", 1, tag, source, target)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_messages_are_taken_in_any_order_with_their_times(dtype: torch.dtype, tmp_path: Path) -> None:
    shared = box(tmp_path, [4, 0], 4)
    sender, receiver = (SharedMemoryTransport(shared, rank, SHAPES, dtype) for rank in range(2))
    for tag in range(4):
        sender.send(transfer(tag), torch.full(SHAPE, tag + 0.5), 100 + tag)
    for tag in (2, 0, 3, 1):
        tensor, stamp, posted = receiver.receive(transfer(tag))
        assert tensor.dtype == dtype
        assert torch.equal(tensor, torch.full(SHAPE, tag + 0.5, dtype=dtype))
        assert stamp == 100 + tag
        assert posted > 0


def test_received_messages_free_their_buffers_and_others_are_kept(tmp_path: Path) -> None:
    shared = box(tmp_path, [6, 0], 6)
    sender, receiver = (SharedMemoryTransport(shared, rank, SHAPES) for rank in range(2))
    for tag in range(3):
        sender.send(transfer(tag), torch.full(SHAPE, float(tag)), 0)
    kept = receiver.receive(transfer(0))[0]
    for tag in range(3, 6):  # the first of these takes the slot of message 0, for the others there is none
        sender.send(transfer(tag), torch.full(SHAPE, float(tag)), 0)
    assert len(sender.slots) == 5
    assert torch.equal(kept, torch.zeros(SHAPE))
    assert [float(receiver.receive(transfer(tag))[0][0, 0]) for tag in (5, 1, 4, 2, 3)] == [5, 1, 4, 2, 3]


@pytest.mark.parametrize("spin", [0, 20_000])
def test_a_receiver_sleeps_until_its_message_arrives_whatever_else_wakes_it(spin: int, tmp_path: Path) -> None:
    shared = box(tmp_path, [200, 200], 400)
    ends = [SharedMemoryTransport(shared, rank, SHAPES, spin=spin) for rank in range(2)]
    received: list[float] = []

    def answer() -> None:
        for turn in range(100):
            ends[1].send(transfer(300 + turn, 1, 0), torch.zeros(SHAPE), 0)  # rings before anything waits for it
            tensor = ends[1].receive(transfer(turn))[0]
            ends[1].send(transfer(100 + turn, 1, 0), tensor + 1, 0)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    for turn in range(100):
        ends[0].send(transfer(turn), torch.full(SHAPE, float(turn)), 0)
        received.append(float(ends[0].receive(transfer(100 + turn, 1, 0))[0][0, 0]))
    thread.join(10)
    assert received == [turn + 1.0 for turn in range(100)]


def test_runs_go_over_gloo_where_memory_cannot_be_shared(altered_runner: RunnerProgram) -> None:
    def shared() -> bool:
        links = []
        for handle in Path(f"/proc/{altered_runner.process.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                links.append(os.readlink(handle))
        return any("memfd:bubbleline" in link for link in links)

    run = {"mode": "free", "model": TINY, "steps": 2}
    last = altered_runner.run(spec={"family": "dualpipe", "p": 2, "m": 4}, seed=GLOO, **run)[-1]
    assert (last["event"], last["verified"], shared()) == ("finished", True, False)
    assert altered_runner.run(spec={"p": 2, "m": 2}, **run)[-1]["verified"]
    assert shared(), "an ordinary run would have been noticed"
