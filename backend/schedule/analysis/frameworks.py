"""What training frameworks execute: which schedules, and what of recomputation and offload.

torch is ``torch.distributed.pipelining`` with its own schedule classes, which torchtitan takes by name; with
``torch-csv`` its runtime gets the order from a file, in which a stage has one rank and there is no op for a copy
(docs/interop.md). Stages are modules there, so each can recompute or not. Megatron-LM recomputes all layers, or parts
of each; its offload of single modules is not that of whole chunks. Sea AI Lab's fork of it has the zero-bubble
schedules (arXiv 2401.10241, 2405.15362), PipeOffload those with copies of activations (arXiv 2503.01328).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backend.schedule.families.family import Family
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.per_chunk import Modes
from backend.schedule.options.recompute import MODES as RECOMPUTE


@dataclass(frozen=True)
class Framework:
    """A framework: whether it runs a family, which recomputation and offload, and whether chunk by chunk."""

    name: str
    title: str
    runs: Callable[[Family], bool]
    recompute: tuple[str, ...] = tuple(RECOMPUTE)
    offload: tuple[str, ...] = ("none",)
    by_chunk: bool = False

    def takes(self, recompute: Modes, offload: Modes) -> bool:
        """Return whether the framework executes these kinds of recomputation and offload."""
        for modes, words in ((recompute, self.recompute), (offload, self.offload)):
            kinds = {modes} if isinstance(modes, str) else set(modes)
            if not kinds <= set(words) or not (isinstance(modes, str) or self.by_chunk):
                return False
        return True


def _these(*names: str) -> Callable[[Family], bool]:
    return lambda family: family.name in names


FRAMEWORKS = {
    each.name: each
    for each in (
        Framework(
            "torch",
            "torch, torchtitan",
            _these("gpipe", "1f1b", "interleaved", "interleaved-bfs", "interleaved-zb", "v-zb", "dualpipev"),
            by_chunk=True,
        ),
        Framework("torch-csv", "torch, order from a file", lambda family: family.placement != "bidirectional",
                  by_chunk=True),
        Framework("megatron", "Megatron-LM", _these("1f1b", "interleaved")),
        Framework("deepspeed", "DeepSpeed", _these("1f1b"), recompute=("none", "full")),
        Framework("zero-bubble", "Sea AI Lab's zero bubble",
                  _these("1f1b", "interleaved", "zb-h1", "zb-h2", "zb-auto", "v-min", "v-half", "v-zb", "v-auto")),
        Framework("pipeoffload", "Sea AI Lab's PipeOffload", _these("1f1b", "interleaved", "gis", "gis-h"),
                  offload=tuple(OFFLOAD), by_chunk=True),
        Framework("dualpipe", "deepseek-ai/DualPipe", _these("dualpipe", "dualpipev")),
    )
}  # fmt: skip
