"""What training frameworks execute: which schedules, and what of recomputation and offload.

torch is ``torch.distributed.pipelining`` with its own schedule classes (``get_schedule_class``), which torchtitan takes
by name; with ``torch-csv`` its runtime gets the order from a file, in which a stage has one rank and there is no op for
a copy (docs/interop.md). Stages are modules there, so each can recompute or not.

Megatron-LM recomputes all layers, or parts of each; its offload of single modules is not that of whole chunks. Its
interleaved schedule takes groups of at least p micro-batches (megatron/core/pipeline_parallel/schedules.py). The engine
of DeepSpeed is 1F1B (issue 1110 of deepspeedai/DeepSpeed), ZB-H1 is Megatron-DeepSpeed's (its pull request 396); both
recompute whole layers. Sea AI Lab's fork of Megatron-LM has the zero-bubble schedules, which it searches with one chunk
a device (arXiv 2401.10241) or two in a V (arXiv 2405.15362), and an interleaved one of whole groups of p; PipeOffload
those with copies of activations (arXiv 2503.01328).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from backend.schedule.families.family import Family
from backend.schedule.options.offload import MODES as OFFLOAD
from backend.schedule.options.per_chunk import Modes
from backend.schedule.options.recompute import MODES as RECOMPUTE
from backend.schedule.spec import Spec


@dataclass(frozen=True)
class Framework:
    """A framework: whether it runs a family, and that at the sizes of a spec, which recomputation and offload, and
    whether chunk by chunk.
    """

    name: str
    title: str
    runs: Callable[[Family], bool]
    recompute: tuple[str, ...] = tuple(RECOMPUTE)
    offload: tuple[str, ...] = ("none",)
    by_chunk: bool = False
    sizes: Mapping[str, Callable[[Spec], bool]] = field(default_factory=dict)
    """Of a family by its name: whether the framework takes the sizes of a spec, where it does not take all."""

    def fits(self, spec: Spec) -> bool:
        """Return whether the framework runs a family at the sizes of a spec."""
        return spec.family not in self.sizes or self.sizes[spec.family](spec)

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
        Framework("megatron", "Megatron-LM", _these("1f1b", "interleaved"),
                  sizes={"interleaved": lambda spec: spec.m >= spec.p}),
        Framework("deepspeed", "DeepSpeed, Megatron-DeepSpeed", _these("1f1b", "zb-h1"), recompute=("none", "full")),
        Framework("zero-bubble", "Sea AI Lab's zero bubble",
                  _these("1f1b", "interleaved", "zb-h1", "zb-h2", "zb-auto", "v-min", "v-half", "v-zb", "v-auto"),
                  sizes={"interleaved": lambda spec: spec.m % spec.p == 0, "zb-auto": lambda spec: spec.v == 1,
                         "v-auto": lambda spec: spec.v == 2}),
        Framework("pipeoffload", "Sea AI Lab's PipeOffload", _these("1f1b", "interleaved", "gis", "gis-h"),
                  offload=tuple(OFFLOAD), by_chunk=True),
        Framework("dualpipe", "deepseek-ai/DualPipe", _these("dualpipe", "dualpipev")),
    )
}  # fmt: skip
