"""How often each micro-batch is in a run's gradients, by what each adds to some entries of the reference's.

A norm cannot tell one micro-batch of many from rounding: in bfloat16 the error of a sum over m of them grows as
sqrt(m), and may pass what a single one adds at some hundred. Their directions can. Of each stage, ``sample`` entries of
its gradients are followed through the reference. If a run leaves micro-batch k out, the difference of its sum to the
reference's is -g_k, if it counts it twice +g_k, beside roundings that point anywhere: so for each k the coefficient of
g_k in the difference is near -1, near 1, or 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

MOST_SAMPLED = 1024  # entries of a stage
MOST_KEPT = 2**23  # numbers in all, in float32: 32 MB
CLEAR = 0.1  # the least coefficient that counts, of an op that has a part of a stage's gradients
TINY = torch.finfo(torch.float64).tiny
SPREADS = 12.0  # times the usual coefficient of the others beyond which one is not chance; measured: up to 9


@dataclass(frozen=True, slots=True)
class WrongCount:
    """Micro-batch ``micro`` is ``times`` times, not once, in the gradients of a stage."""

    stage: int
    micro: int
    times: float


class Contributions:
    """What each micro-batch adds to sampled entries of each stage's gradients, recorded as the reference sums them."""

    def __init__(self, micros: int) -> None:
        self.micros = micros
        self.entries: list[dict[str, Tensor]] = []  # of each stage by parameter: indices into the flat tensor
        self.sums: list[Tensor] = []  # of each stage (sample,), so far
        self.added: list[Tensor] = []  # of each stage (micros, sample)

    def record(self, micro: int, sums: Sequence[Mapping[str, Tensor]]) -> None:
        """Take note of what a micro-batch has added to the sums of each stage's gradients, by parameter."""
        if not self.entries:
            self._begin(sums)
        for index, (stage, entries) in enumerate(zip(sums, self.entries, strict=True)):
            if entries:
                now = _sampled(stage, entries)
                self.added[index][micro] = now - self.sums[index]
                self.sums[index] = now

    def wrong(self, found: Mapping[str, Tensor]) -> WrongCount | None:
        """Return the count that is furthest from one, None if all are one. ``found`` has the gradients of a run by
        name, as ``stage3.blocks.0.qkv``."""
        worst: WrongCount | None = None
        for index, (entries, added) in enumerate(zip(self.entries, self.added, strict=True)):
            names = {name: f"stage{index}.{name}" for name in entries}
            if not entries or not all(name in found for name in names.values()):
                continue
            sample = _sampled({name: found[full] for name, full in names.items()}, entries)
            micro, value, usual = _clearest(sample.double() - self.sums[index].double(), added.double())
            if abs(value) > max(CLEAR, SPREADS * usual, 0.0 if worst is None else abs(worst.times - 1.0)):
                worst = WrongCount(index, micro, 1.0 + value)
        return worst

    def _begin(self, sums: Sequence[Mapping[str, Tensor]]) -> None:
        """Choose the entries of each stage, the same in each process."""
        most = max(1, min(MOST_SAMPLED, MOST_KEPT // (self.micros * len(sums))))
        for index, stage in enumerate(sums):
            sizes = [each.numel() for each in stage.values()]
            chosen = torch.randperm(sum(sizes), generator=torch.Generator().manual_seed(index))[:most].sort().values
            ends = torch.tensor(sizes).cumsum(0) if sizes else torch.empty(0, dtype=torch.int64)
            inside = {
                name: chosen[(chosen >= end - size) & (chosen < end)] - (end - size)
                for name, size, end in zip(stage, sizes, ends.tolist(), strict=True)
            }
            self.entries.append({name: at for name, at in inside.items() if len(at)})
            self.sums.append(torch.zeros(len(chosen)))
            self.added.append(torch.zeros(self.micros, len(chosen)))


def _sampled(stage: Mapping[str, Tensor], entries: Mapping[str, Tensor]) -> Tensor:
    """Return the chosen entries (sample,) of a stage's tensors, on the CPU in float32."""
    return torch.cat([stage[name].detach().flatten()[at.to(stage[name].device)].cpu() for name, at in entries.items()])


def _clearest(difference: Tensor, added: Tensor) -> tuple[int, float, float]:
    """Return the micro-batch that explains most of a difference (sample,) by its row of ``added`` (micros, sample), its
    coefficient, and the one that is usual by chance: from how far what is left goes in the directions of all.

    Entries are first scaled to the same spread over the micro-batches, since roundings are in proportion to it. What
    all micro-batches have in common is left out: an error along it is one of the whole sum.
    """
    spread = added.std(0, correction=0)
    kept = spread > 0.0
    if not bool(kept.any()):
        return 0, 0.0, 0.0
    scaled, left = added[:, kept] / spread[kept], difference[kept] / spread[kept]
    common = scaled.mean(0)
    own = scaled - torch.outer(scaled @ common / common.square().sum().clamp_min(TINY), common)
    length = own.square().sum(1).sqrt().clamp_min(TINY)
    along = own @ left / length  # how far the difference goes in the direction of each
    micro = int(along.abs().argmax())
    rest = along - along[micro] * (own @ own[micro]) / (length * length[micro])
    chance = float(rest.abs().median())
    return micro, float(along[micro] / length[micro]), chance / float(length[micro])
