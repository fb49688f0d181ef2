"""Print the estimates of memory and time beside published ones, as docs/accuracy.md has them.

    .venv/bin/python bench/accuracy/estimates.py
    .venv/bin/python bench/accuracy/estimates.py --vtrain FILE     # and the steps of github.com/VIA-Research/vTrain

Every row is computed as the command line and the page do: a preset priced for a schedule, and the simulated step.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from backend.schedule.errors import SpecError
from backend.schedule.families import registry
from backend.schedule.hardware.cost_model import Setting
from backend.schedule.hardware.estimate import Estimate, estimate
from backend.schedule.hardware.machines import MACHINES
from backend.schedule.hardware.preset_costs import Preset
from backend.schedule.hardware.step_units import StepUnits
from backend.schedule.simulation.simulate import simulate

GIB = 2**30


@dataclass(frozen=True)
class Trained:
    """A model of Korthikanti et al. 2022 (arXiv 2205.05198), table 3, and its measurements: seconds of a step with full
    and with selective recomputation (table 5), GiB of a device's activations with selective, of its parameters and
    optimizer (figures 1 and 7), and of its activations with neither recomputation nor sequence parallelism (figure 1).
    """

    name: str
    heads: int
    hidden: int
    layers: int
    pipeline: int
    chunks: int
    micro_batch: int
    micro_batches: int
    full: float
    selective: float
    activations: float
    states: float
    whole: float

    @property
    def fields(self) -> dict[str, Any]:
        return {
            "model": "custom", "machine": "a100", "hidden": self.hidden, "attention_heads": self.heads,
            "layers": self.layers, "vocabulary": 51200, "sequence": 2048, "micro_batch": self.micro_batch,
            "flash": False, "tp": 8, "reserve": 0,
        }  # fmt: skip

    def estimate(self, **more: Any) -> Estimate:
        return estimate(Setting.read({**self.fields, "p": self.pipeline, "v": self.chunks, "heads": False, **more}))

    def activation_gib(self, selective: bool = True, **setting: Any) -> float:
        """Return the activations of the first device: those of L layers, and more with interleaving."""
        names = self.estimate(**setting).ledger.names
        more = 1 + (self.pipeline - 1) / (self.pipeline * self.chunks) if self.chunks > 1 else 1.0
        return (names["A1"] - selective * names["As"]) * self.layers * more / GIB

    def state_gib(self) -> float:
        """Return weights, gradients and optimizer of a device's layers."""
        sizes = self.estimate().footprint.stages
        return sum(sum(sizes[state]) for state in ("weights", "gradients", "optimizer")) / self.pipeline / GIB

    def step(self, recompute: str) -> float:
        """Return the seconds of a step."""
        family = "interleaved" if self.chunks > 1 else "1f1b"
        shape = {"family": family, "p": self.pipeline, "m": self.micro_batches, "v": self.chunks}
        step = units(shape | {"recompute": recompute}, self.fields)
        return step.seconds + step.tail


KORTHIKANTI = (
    Trained("22B", 64, 6144, 48, 1, 1, 4, 1, 1.42, 1.10, 9.56, 45.56, 59.25),
    Trained("175B", 96, 12288, 96, 8, 3, 1, 64, 18.13, 13.75, 12.35, 45.56, 66.84),
    Trained("530B", 128, 20480, 105, 35, 3, 1, 280, 49.05, 37.83, 23.1, 31.64, 114.0),
    Trained("1T", 160, 25600, 128, 64, 1, 1, 512, 94.42, 71.49, 26.6, 32.96, 131.3),
)
GATED = {"model": "custom", "gated": True, "dropout": False}
LAYERS: tuple[tuple[str, dict[str, Any], float], ...] = (  # activations of a layer in sbh, counted by hand
    ("Qwen2 7B", {"model": "qwen2-7b"}, 12 + 4 * 4 / 28 + 6 * 18944 / 3584),
    ("Qwen2 72B", {"model": "qwen2-72b"}, 12 + 4 * 8 / 64 + 6 * 29568 / 8192),
    ("Gemma 2 27B", {"model": "gemma2-27b"}, 8 + 4 + (4 * 4096 + 4 * 2048) / 4608 + 6 * 8),
    ("Mixtral 8x7B", {"model": "mixtral-8x7b"}, 12 + 4 * 8 / 32 + 2 * 2 + 6 * 7),
    ("Mixtral 8x22B", {"model": "mixtral-8x22b"}, 12 + 4 * 8 / 48 + 2 * 2 + 6 * 2 * 16384 / 6144),
    ("DeepSeek-V3, layer with experts", {"model": "deepseek-v3"},
     6 + 2 + 2 * 8 + (4 * 2048 + 2 * 128 * 192 + 2 * 128 * 320 + 2 * 128 * 128 + 6 * 2048 * 9) / 7168),
    ("Qwen3 32B, norms of queries and keys",
     GATED | {"hidden": 5120, "attention_heads": 64, "kv_heads": 8, "head_width": 128, "ffn": 25600, "qk_norms": True},
     8 + (2 * 3 * 64 * 128 + 2 * 3 * 8 * 128) / 5120 + 6 * 5),
    ("Gemma 3 27B, six norms",
     GATED | {"hidden": 5376, "attention_heads": 32, "kv_heads": 16, "head_width": 128, "ffn": 21504, "qk_norms": True,
              "post_norms": True}, 8 + 4 + (2 * 3 * 32 * 128 + 2 * 3 * 16 * 128) / 5376 + 6 * 4),
)  # fmt: skip
FURTHER_OFF = (  # torchtitan's performance notes and Megatron-Bridge, with full recomputation assumed
    *(
        (f"Llama 3.1 405B, 512 H100, FSDP8 TP8 PP8, {family}", published, {"family": family, "p": 8, "m": 32, "v": v,
          "recompute": "full"}, {"model": "llama3.1-405b", "tp": 8, "data": 8, "zero": 2})
        for family, v, published in (("1f1b", 1, 100.0), ("interleaved", 2, 128.0))
    ),
    ("DeepSeek-V3, 256 GB300 (here GB200), FP8, PP2 VP8 EP32", 6288.0,
     {"family": "interleaved", "p": 2, "m": 64, "v": 8, "recompute": "full"},
     {"model": "deepseek-v3", "machine": "gb200", "data": 128, "expert": 32, "zero": 1, "mtp": 1, "fp8": True}),
)  # fmt: skip
BRIDGE = (  # NVIDIA Megatron-Bridge's performance summary, 2026: tokens a second and GPU
    ("Llama 3 70B, 64 H100, FP8, TP4 PP8 VP5", 1664.0, {"family": "interleaved", "p": 8, "m": 64, "v": 5},
     {"model": "llama3-70b", "tp": 4, "data": 2, "zero": 1, "fp8": True}),
    ("Llama 3.1 405B, 1,024 H100, FP8, TP8 PP8 CP2 VP8", 328.0, {"family": "interleaved", "p": 8, "m": 64, "v": 8},
     {"model": "llama3.1-405b", "layers": 128, "tp": 8, "context": 2, "data": 8, "zero": 1, "fp8": True}),
)  # fmt: skip

LLAMA3 = tuple(  # Llama 3.1 405B on H100 (arXiv 2407.21783, table 4): TFLOP/s a GPU; 4 chunks a device are assumed
    (f"{title}, TP8 PP16, {m} sequences a replica", published,
     {"family": "interleaved", "p": 16, "m": m, "v": 4},
     {"model": "llama3.1-405b", "tp": 8, "zero": 1, **fields})
    for title, published, m, fields in (
        ("8,192 GPUs", 430.0, 32, {"data": 64}),
        ("16,384 GPUs", 400.0, 16, {"data": 128}),
        ("16,384 GPUs, CP16, 131,072 tokens", 380.0, 16, {"data": 8, "context": 16, "sequence": 131072}),
    )
)  # fmt: skip


def units(shape: dict[str, Any], fields: dict[str, Any]) -> StepUnits:
    """Return the figures of a schedule's step with a model on a machine."""
    preset = Preset.of(fields)
    spec = preset.priced(registry.read(shape))
    found = preset.units(spec, simulate(registry.order(spec), spec.timing, spec.v))
    assert found is not None
    return found


def off(ours: float, published: float) -> str:
    return f"{ours / published - 1:+.1%}".replace("%", " %")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def memory_rows() -> Iterator[list[str]]:
    for row in KORTHIKANTI:
        whole = row.activation_gib(selective=False, sequence_parallel=False)
        yield [row.name, f"{row.activations:g}", f"{row.activation_gib():.2f}", f"{row.whole:g}", f"{whole:.2f}",
               f"{row.states:g}", f"{row.state_gib():.2f}"]  # fmt: skip


def time_rows() -> Iterator[list[str]]:
    for row in KORTHIKANTI:
        full, selective = row.step("full"), row.step("selective")
        yield [row.name, f"{row.full:g}", f"{full:.2f}", off(full, row.full), f"{row.selective:g}",
               f"{selective:.2f}", off(selective, row.selective)]  # fmt: skip


def vtrain(path: str) -> str:
    """Return how far the estimate is from vTrain's measured iterations (Megatron-DeepSpeed on A100)."""
    found: list[float] = []
    refused = 0
    with Path(path).open(encoding="utf-8-sig") as file:
        for row in list(csv.reader(file))[1:]:
            batch, micro, hidden, heads, layers, sequence, tp, data, p = map(int, row[2:11])
            fields = {"model": "custom", "machine": "a100", "hidden": hidden, "attention_heads": heads,
                      "layers": layers, "sequence": sequence, "micro_batch": micro, "vocabulary": 51200,
                      "flash": False, "tp": tp, "data": data, "sequence_parallel": False, "zero": 1}  # fmt: skip
            shape = {"family": "1f1b", "p": p, "m": batch // (micro * data), "recompute": "full"}
            try:
                step = units(shape, fields)
                found.append(1000 * (step.seconds + step.tail) / float(row[11]) - 1)
            except SpecError:
                refused += 1  # tensor parallelism across nodes
    near = sum(abs(each) <= 0.1 for each in found)
    return (
        f"{len(found)} measured steps ({refused} with tensor parallelism across nodes left out): median "
        f"{statistics.median(found):+.1%}, {near} within 10 %, from {min(found):+.1%} to {max(found):+.1%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--vtrain", metavar="FILE", help="vTrain's multi-node measurements as CSV")
    given = parser.parse_args()
    print(
        "Activations with selective recomputation and sequence parallelism, and with neither; states; GiB a device:\n"
    )
    print(table(("model", *("published", "here") * 3), list(memory_rows())))
    print("Seconds of a step, full and selective recomputation:\n")
    print(table(("model", "full", "here", "", "selective", "here", ""), list(time_rows())))
    print("Activations of a layer, in sbh (34 before):\n")
    layers = [(name, estimate(Setting.read(fields | {"p": 1})).ledger.names, own) for name, fields, own in LAYERS]
    rows = [[name, f"{own:.2f}", f"{names['A1'] / (names['s'] * names['b'] * names['h']):.2f}"]
            for name, names, own in layers]  # fmt: skip
    print(table(("model", "by hand", "here"), rows))
    print("Tokens a second and GPU:\n")
    rows = []
    for title, published, shape, fields in (*BRIDGE, *FURTHER_OFF):
        step = units(shape, fields)
        rate = step.rate / step.devices
        rows.append([title, f"{published:,.0f}", f"{rate:,.0f}", off(rate, published)])
    print(table(("run", "published", "here", ""), rows))
    print("TFLOP/s a GPU, Llama 3.1 405B, without the scores that the causal mask leaves out:\n")
    rows = []
    for title, published, shape, fields in LLAMA3:
        rate = units(shape, fields).mfu_causal * MACHINES["h100"].flops / 1e12
        rows.append([title, f"{published:.0f}", f"{rate:.0f}", off(rate, published)])
    print(table(("run", "published", "here", ""), rows))
    if given.vtrain:
        print(vtrain(given.vtrain))


if __name__ == "__main__":
    main()
