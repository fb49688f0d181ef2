"""Messages on streams, as NCCL has them: those of a stream pass one after the other, in the order of the program.

A send waits for the receive at its other end and a receive for its send, both at the front of their streams, and what
stands behind them waits too (backend/schedule/order/messages.py). Each stream is a thread, whose messages gloo carries:
its sends end when the other end has posted the receive, which is the same rendezvous. Compute goes on meanwhile.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from runner.program.instructions import Post, Transfer
from runner.telemetry.clock import common, now, sleep_until
from runner.transport.base import Shapes
from runner.transport.gloo import Parcel


class OrderedTransport:
    """The messages of one rank: `posts` in the order of its program, `wire` the ns for which a paced message occupies
    its streams."""

    def __init__(self, group: Any, posts: Sequence[Post], shapes: Shapes, dtype: torch.dtype, wire: int) -> None:
        self.group, self.shapes, self.dtype, self.wire = group, [torch.Size(each) for each in shapes], dtype, wire
        self.issued, self.due = 0, 0  # ops of the rank that are done, and when the last was due
        self.sending: dict[int, tuple[Parcel, int]] = {}  # by tag, until the stream takes it
        self.received: dict[int, tuple[Parcel, int, int]] = {}
        self.changed = threading.Condition()
        self.error: BaseException | None = None
        streams: dict[int, list[Post]] = defaultdict(list)
        for post in posts:
            streams[post.stream].append(post)
        self.threads = [
            threading.Thread(target=self._run, args=(each,), name=f"stream-{number}", daemon=True)
            for number, each in streams.items()
        ]

    def start_receiving(self) -> None:
        """Start the streams."""
        for thread in self.threads:
            thread.start()

    def issue(self, done: int, due: int) -> None:
        """Post the receives that follow `done` ops of the rank, the last of which was due at `due`."""
        with self.changed:
            self.issued, self.due = done, due
            self.changed.notify_all()

    def send(self, transfer: Transfer, tensor: Tensor, due: int) -> None:
        """Give a message to its stream; never waits."""
        parcel = Parcel(self.shapes[transfer.micro], self.dtype)
        parcel.payload.copy_(tensor)
        with self.changed:
            self.sending[transfer.tag] = (parcel, due)
            self.changed.notify_all()

    def receive(self, transfer: Transfer) -> tuple[Tensor, int, int]:
        """Wait for a message (batch, sequence, hidden); it is due when it has left its streams. Raises the error of any
        stream."""
        with self.changed:
            self.changed.wait_for(lambda: transfer.tag in self.received or self.error is not None)
            if self.error is not None:
                raise self.error
            parcel, due, posted = self.received.pop(transfer.tag)
        return parcel.payload, due, posted

    def flush(self) -> None:
        """Wait until every stream is through. Raises the error of any."""
        for thread in self.threads:
            thread.join()
        if self.error is not None:
            raise self.error

    def _run(self, posts: Sequence[Post]) -> None:
        torch.set_num_threads(1)  # libraries would give a new thread all cores, and spin on them
        free = 0  # when the last message had left this stream
        try:
            for post in posts:
                free = self._receive(post, free) if post.receive else self._send(post, free)
                if self.wire:
                    sleep_until(free)
        except Exception as error:  # raised again in the thread that waits
            with self.changed:
                self.error = error
                self.changed.notify_all()

    def _send(self, post: Post, free: int) -> int:
        """Wait for the op of a message, then for its receive; returns when the message has left the stream."""
        tag = post.transfer.tag
        with self.changed:
            self.changed.wait_for(lambda: tag in self.sending)
            parcel, due = self.sending.pop(tag)
        begin = max(due, free)
        parcel.times[:] = begin - common.ahead, now() - common.ahead
        self.group.send([parcel.buffer], post.transfer.target, tag).wait()
        return max(begin, now()) + self.wire

    def _receive(self, post: Post, free: int) -> int:
        """Post a receive when its turn has come, and wait for the message; returns when it has left the stream."""
        transfer = post.transfer
        with self.changed:
            self.changed.wait_for(lambda: self.issued >= post.issued)
            begin = max(self.due, free) if self.issued == post.issued else max(free, 0)
        parcel = Parcel(self.shapes[transfer.micro], self.dtype)
        self.group.recv([parcel.buffer], transfer.source, transfer.tag).wait()
        sent, posted = (int(each) + common.ahead for each in parcel.times)
        due = max(begin, sent) + self.wire
        with self.changed:
            self.received[transfer.tag] = (parcel, due, posted)
            self.changed.notify_all()
        return due
