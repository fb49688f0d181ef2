"""Run every family and option on this machine's GPU with `python -m runner`, and print a table of each part.

    python bench/gpu.py [--device cuda] [--log FILE] [families] [paced] [options] [sizes] [refusals]

The ranks share one GPU, so their ops compete for it: a step's time is not that of p GPUs. What the tables show is that
a run's gradients are those of one process, what an op costs beside its kernels, and what a failure leaves behind. With
`--log`, all events except rows of ops go to a file, one JSON object a line. Needs torch and numpy only.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.chdir(ROOT)

from backend.schedule.families import registry  # noqa: E402
from tests.support.runner.client import LAST, Event, RunnerProgram  # noqa: E402

PARTS = ("families", "paced", "options", "sizes", "refusals")
PATIENCE_S = 45.0  # without an event
SMALL = {"hidden": 256, "heads": 4, "sequence": 128, "batch": 4, "vocabulary": 1024}
LARGE = {"hidden": 2048, "heads": 16, "sequence": 2048, "batch": 2, "vocabulary": 8192, "layers": 2}
HUGE = {"hidden": 4096, "heads": 64, "sequence": 4096, "batch": 64, "vocabulary": 65536, "layers": 16}
SIZES = {"p": 4, "m": 8}
Job = tuple[str, dict[str, Any], dict[str, Any]]  # its name, its spec, and fields of the run command


class Runner:
    """The program under test; one that has ended is started again, and counted."""

    def __init__(self, device: str, log: Path | None) -> None:
        self.device, self.ends = device, 0
        self.log = None if log is None else log.open("w")
        self.program = RunnerProgram()
        self.note(self.program.ready)

    def note(self, event: Event) -> None:
        """Write an event without its rows to the log."""
        if self.log is not None and event["event"] != "op_batch":
            print(json.dumps(event), file=self.log, flush=True)

    def run(self, spec: dict[str, Any], cancel_after: int | None = None, **fields: Any) -> list[Event]:
        """Return the events of a run, cancelled after some of them where asked."""
        events: list[Event] = []
        try:
            name = self.program.start(spec, **{"device": self.device, **fields})
            while not events or events[-1]["event"] not in LAST:
                events.append(self.program.event(PATIENCE_S))
                self.note(events[-1])
                if len(events) == cancel_after:
                    self.program.send(cmd="cancel", id=name)
        except (AssertionError, BrokenPipeError) as cause:
            self.ends += 1
            self.program.process.kill()
            self.program = RunnerProgram()
            events.append({"event": "failed", "failure": {"kind": "bench", "message": str(cause)}})
            self.note(events[-1])
        return events


def families() -> Iterator[Job]:
    """Every family on 4 ranks, its ops as fast as they go."""
    for family in registry.FAMILIES:
        yield family, {"family": family, **SIZES}, {"mode": "free", "model": SMALL}


def paced() -> Iterator[Job]:
    """Every family on 4 ranks with ops of planned lengths, and 1F1B on more."""
    for family in registry.FAMILIES:
        yield family, {"family": family, **SIZES}, {"mode": "paced", "unit_ms": 10}
    for p, m in ((8, 32), (16, 32), (32, 64), (64, 64)):
        yield f"1f1b p={p} m={m}", {"family": "1f1b", "p": p, "m": m}, {"mode": "paced"}


def sizes() -> Iterator[Job]:
    """Larger layers and more ranks, in both types of arithmetic."""
    for dtype in ("float32", "bfloat16"):
        for family in ("1f1b", "zb-h1"):
            yield f"{family} {dtype}", {"family": family, **SIZES}, {"mode": "free", "model": LARGE, "dtype": dtype}
    for p, m in ((1, 8), (2, 16), (8, 32), (16, 32), (32, 64)):
        yield f"1f1b p={p} m={m}", {"family": "1f1b", "p": p, "m": m}, {"mode": "free", "model": SMALL}


def options() -> Iterator[Job]:
    """What a run may have beside a family."""
    free: dict[str, Any] = {"mode": "free", "model": SMALL}
    specs: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("recompute selective", {"recompute": "selective"}, free),
        ("recompute full", {"recompute": "full"}, free),
        ("recompute per chunk", {"family": "interleaved", "recompute": ["full", "none"]}, free),
        ("layers 1,2,2,1", {"layers": [1, 2, 2, 1]}, free),
        ("forward only", {"family": "gpipe", "forward_only": True}, free),
        ("vocabulary redistribute", {"vocabulary": "redistribute"}, free),
        ("vocabulary parallel-1", {"vocabulary": "parallel-1"}, free),
        ("vocabulary parallel-2", {"vocabulary": "parallel-2"}, free),
        ("vocabulary interlaced", {"vocabulary": "interlaced"}, free),
        ("offload selective", {"family": "gis", "offload": "selective"}, free),
        ("offload full", {"family": "interleaved", "offload": "full"}, free),
        ("offload, shared link", {"family": "interleaved", "offload": "full", "shared_link": True}, free),
        ("three steps", {}, {**free, "steps": 3}),
        ("searched", {"family": "v-auto", "v": 2, "effort": 2000}, free),
        ("hops, paced", {"family": "1f1b", "costs": {"comm": 0.3}}, {"mode": "paced", "unit_ms": 10}),
        ("vocabulary parallel-1, paced", {"vocabulary": "parallel-1"}, {"mode": "paced", "unit_ms": 10}),
        ("offload full, paced", {"family": "interleaved", "offload": "full"}, {"mode": "paced", "unit_ms": 10}),
        ("device auto, 4 ranks", {}, {"device": "auto", "unit_ms": 10}),
        ("device auto, 1 rank", {"p": 1}, {**free, "device": "auto"}),
        ("three steps, 1 rank", {"p": 1}, {**free, "steps": 3}),
    ]
    for name, spec, fields in specs:
        yield name, {"family": "1f1b", **SIZES, **spec}, fields


def refusals() -> Iterator[Job]:
    """Runs that cannot end well, each followed by one that does."""
    fine: Job = ("a run after it", {"family": "1f1b", **SIZES}, {"mode": "free", "model": SMALL})
    yield "out of memory", {"family": "gpipe", "p": 4, "m": 32}, {"mode": "free", "model": HUGE}
    yield fine
    yield "cancelled", {"family": "1f1b", "p": 4, "m": 256}, {"mode": "free", "model": LARGE, "cancel_after": 3}
    yield fine


def row(name: str, events: list[Event], seconds: float) -> list[str]:
    """Return a run's line of the table."""
    end = events[-1]
    running = next((event for event in events if event["event"] == "running"), {})
    if end["event"] != "finished":
        cause = end.get("failure") or end.get("error") or {}
        text = f"{end['event']} {cause.get('kind') or cause.get('field') or ''}: {cause.get('message', '')}"
        return [name, text.strip(": ")[:300], "", "", "", "", "", "", f"{seconds:.1f}"]
    unit, busy = end["unit_ms"], sum(end["busy"]) / 1e6
    makespan = end["measured"]["makespan"] * unit
    planned = 100 * end["predicted"]["bubble"]["global"]["of_total"] if end["mode"] == "paced" else math.nan
    device = end["device"] if isinstance(end["device"], str) else end["device"]["message"]
    return [
        name,
        f"{'yes' if end['verified'] else 'NO'} {end['mode']} {device}",
        f"{end['max_grad_error']:.1e}",
        f"{makespan:.2f}",
        f"{busy / max(1, running.get('ops', 1)):.3f}",
        f"{100 * end['measured']['bubble']['global']['of_total']:.1f}",
        "" if math.isnan(planned) else f"{planned:.1f}",
        f"{max(end['activations']['peak_bytes']) / 1e6:.1f}",
        f"{seconds:.1f}",
    ]


HEAD = ["run", "verified", "error", "step ms", "op ms", "bubble %", "planned", "peak MB", "wall s"]


def main() -> None:
    """Run the parts that are named, or all."""
    parser = argparse.ArgumentParser(description="Run every family and option on the GPU.")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which parts; all of them if none is named")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--log", type=Path)
    given = parser.parse_args()
    runner = Runner(given.device, given.log)
    print("devices:", json.dumps(runner.program.ready["devices"]), flush=True)
    for part in given.parts or PARTS:
        print(f"\n{part}\n| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD), flush=True)
        for name, spec, fields in globals()[part]():
            begun = time.monotonic()
            events = runner.run(spec, **fields)
            print("| " + " | ".join(row(name, events, time.monotonic() - begun)) + " |", flush=True)
    print(f"\nthe program ended by itself {runner.ends} times")
    runner.program.close()


if __name__ == "__main__":
    main()
