"""The tensors that a forward keeps for its backward: how many bytes they are and where they lie.

Autograd hands every tensor it saves to `Saved`, one for each micro-batch in a stage, which counts their storages once
however many views share them. Counted is what really is alive, so a tensor that something else still holds on to counts
too. Knows nothing of ops, and of a copy only that a storage can be away.
"""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing import reductions


class Memory:
    """Bytes of a rank's saved activations: `live` on its device, `away` in host memory, `peak` the most that were live
    and `whole` the most there were in both places, which is what would have been live without copies."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Begin again with nothing saved."""
        self.live = self.away = self.peak = self.whole = 0

    def change(self, live: int = 0, away: int = 0) -> None:
        """So many bytes more; a copier's thread says so too."""
        with self.lock:
            self.live += live
            self.away += away
            self.peak = max(self.peak, self.live)
            self.whole = max(self.whole, self.live + self.away)


class Slot:
    """A storage that is kept: on the device, or, while it is away, as bytes in host memory."""

    __slots__ = ("host", "storage")

    def __init__(self, storage: torch.UntypedStorage) -> None:
        self.storage: torch.UntypedStorage | None = storage
        self.host: Tensor | None = None


class Saved:
    """What one micro-batch's forward through one stage keeps; only what is `movable` can go to host memory, which
    makes each tensor a little slower to save."""

    def __init__(self, memory: Memory, movable: bool = False) -> None:
        self.memory, self.movable = memory, movable
        self.slots: dict[int, Slot] = {}
        self.forward = True
        self.alive: dict[int, tuple[Any, int]] = {}
        self.bytes = 0

    def recording(self) -> Any:
        """Within this context autograd hands over what it saves."""
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
            slot = Slot(storage)
            if self.forward:
                self.slots[key] = slot
            self.watch(storage)
        return slot, tensor.dtype, tensor.size(), tensor.stride(), tensor.storage_offset()

    def watch(self, storage: torch.UntypedStorage) -> None:
        """Count a storage as long as it is alive."""
        weak: Any = reductions.StorageWeakRef
        self.alive.setdefault(storage._cdata, (weak(storage), storage.nbytes()))

    def count(self, away: int = 0) -> None:
        """See what is alive still; `away` so many bytes more in host memory."""
        self.alive = {key: one for key, one in self.alive.items() if not one[0].expired()}
        now = sum(size for _, size in self.alive.values())
        self.memory.change(now - self.bytes, away)
        self.bytes = now

    def offload(self, stream: Any) -> int:
        """Move everything to host memory; the bytes moved. `stream` is the lane's on a GPU, None on a CPU."""
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
        """Bring everything back to the device; the bytes moved. They count there from the start."""
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

    def used(self) -> None:
        """The backward begins: from now on only the graph and the weight gradients' closures hold what was kept."""
        self.forward = False
        self.slots = {}

    def close(self) -> None:
        """Nothing of this micro-batch is wanted any more."""
        self.memory.change(-self.bytes)
        self.bytes = 0


def _bytes(storage: torch.UntypedStorage) -> Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _unpack(kept: Any) -> Tensor:
    if isinstance(kept, Tensor):
        return kept
    slot, dtype, size, stride, offset = kept
    if slot.storage is None:
        raise RuntimeError("an activation is wanted while it is in host memory")
    empty = torch.empty(0, dtype=dtype, device=slot.storage.device)
    return empty.set_(slot.storage, offset, size, stride)


def copy_stream(device: torch.device) -> Any:
    """A GPU's stream for copies beside its ops; None on a CPU, where a thread is enough."""
    stream: Any = torch.cuda.Stream
    return stream(device) if device.type == "cuda" else None
