"""Count the tensors that a forward saves for its backward, on the device and in host memory, and move them.

Autograd passes every tensor that it saves to `SavedActivations`, one for each micro-batch in a stage, which counts
their storages once however many views share them. Only storages that are alive are counted, so a tensor with another
reference counts too. Tensors have any shape. Knows no ops.
"""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing import reductions

from backend.errors import message


class ActivationMemory:
    """Bytes of a rank's saved activations: `live` on its device, `away` in host memory, `peak` the most that were live
    and `whole` the most in both places, which is what would have been live without copies."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Set all counts to zero."""
        self.live = self.away = self.peak = self.whole = 0

    def change(self, live: int = 0, away: int = 0) -> None:
        """Add bytes to the counts; also called by the thread of the copy lane."""
        with self.lock:
            self.live += live
            self.away += away
            self.peak = max(self.peak, self.live)
            self.whole = max(self.whole, self.live + self.away)


class SavedStorage:
    """A saved storage: on the device, or, while it is away, as bytes (n,) in host memory."""

    __slots__ = ("host", "storage")

    def __init__(self, storage: torch.UntypedStorage) -> None:
        self.storage: torch.UntypedStorage | None = storage
        self.host: Tensor | None = None


class SavedActivations:
    """The tensors that one micro-batch's forward through one stage saves.

    Only if `movable` can they be moved to host memory, which makes saving each tensor a little slower.
    """

    def __init__(self, memory: ActivationMemory, movable: bool = False) -> None:
        self.memory, self.movable = memory, movable
        self.slots: dict[int, SavedStorage] = {}
        self.forward = True
        self.alive: dict[int, tuple[Any, int]] = {}
        self.bytes = 0

    def recording(self) -> Any:
        """Return a context in which autograd passes the tensors that it saves to this object."""
        return torch.autograd.graph.saved_tensors_hooks(self._pack, _unpack)

    def _pack(self, tensor: Tensor) -> Any:
        if not tensor.is_floating_point():  # tokens: data, not activations
            return tensor
        storage = tensor.untyped_storage()
        key = storage._cdata
        if not self.movable:
            if key not in self.alive:
                self.watch(storage)
            return tensor
        slot = self.slots.get(key)
        if slot is None:
            slot = SavedStorage(storage)
            if self.forward:
                self.slots[key] = slot
            self.watch(storage)
        return slot, tensor.dtype, tensor.size(), tensor.stride(), tensor.storage_offset()

    def watch(self, storage: torch.UntypedStorage) -> None:
        """Count a storage while it is alive."""
        weak: Any = reductions.StorageWeakRef
        self.alive.setdefault(storage._cdata, (weak(storage), storage.nbytes()))

    def count(self, away: int = 0) -> None:
        """Update the counts by the storages that are still alive; `away` is the bytes added in host memory."""
        self.alive = {key: one for key, one in self.alive.items() if not one[0].expired()}
        now = sum(size for _, size in self.alive.values())
        self.memory.change(now - self.bytes, away)
        self.bytes = now

    def offload(self, stream: Any) -> int:
        """Move everything to host memory; returns the bytes moved. `stream` is the copy lane's, None on a CPU."""
        moved = 0
        with torch.cuda.stream(stream):
            for slot in self.slots.values():
                assert slot.storage is not None
                slot.host = torch.empty(slot.storage.nbytes(), dtype=torch.uint8, pin_memory=stream is not None)
                slot.host.copy_(_bytes(slot.storage), non_blocking=True)
                moved += slot.host.numel()
        if stream is not None:
            stream.synchronize()
        for slot in self.slots.values():
            slot.storage = None
        self.count(moved)
        return moved

    def reload(self, device: torch.device, stream: Any) -> int:
        """Move everything back to the device; returns the bytes moved. They count there from the start."""
        hosts = [(slot, slot.host) for slot in self.slots.values() if slot.host is not None]
        moved = sum(host.numel() for _, host in hosts)
        with torch.cuda.stream(stream):
            for slot, host in hosts:
                slot.storage = torch.empty(host.numel(), dtype=torch.uint8, device=device).untyped_storage()
                self.watch(slot.storage)
            self.count(-moved)
            for slot, host in hosts:
                assert slot.storage is not None
                back = _bytes(slot.storage)
                back.copy_(host, non_blocking=True)
                if stream is not None:  # freed by the ops' stream later on
                    back.record_stream(torch.cuda.default_stream(device))
        if stream is not None:
            stream.synchronize()
        for slot, _ in hosts:
            slot.host = None
        return moved

    def begin_backward(self) -> None:
        """Release all storages: from now on only the graph and the deferred weight gradients reference them."""
        self.forward = False
        self.slots = {}

    def close(self) -> None:
        """Stop counting this micro-batch, whose activations are no longer needed."""
        self.memory.change(-self.bytes)
        self.bytes = 0


def _bytes(storage: torch.UntypedStorage) -> Tensor:
    """Return a storage as uint8 (n,)."""
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _unpack(packed: Any) -> Tensor:
    if isinstance(packed, Tensor):
        return packed
    slot, dtype, size, stride, offset = packed
    if slot.storage is None:
        raise RuntimeError(message("runner.activation_away", "an activation is needed while it is in host memory"))
    empty = torch.empty(0, dtype=dtype, device=slot.storage.device)
    return empty.set_(slot.storage, offset, size, stride)


def copy_stream(device: torch.device) -> Any:
    """Return a stream for copies beside the ops of a GPU; None on a CPU, where a thread is enough."""
    stream: Any = torch.cuda.Stream
    return stream(device) if device.type == "cuda" else None
