"""Measure training plans against the plots of "Pipeline Parallelism with Controllable Memory" (arXiv 2405.15362).

    .venv/bin/python bench/plans.py
    .venv/bin/python bench/plans.py --seconds 5      # and search on from the best constructed orders

For each of its three models: every schedule of its plots, and the fastest plan with no more memory. Both are simulated
at the same costs, of the model on an A100; activations are the most that a device holds, as on the plots.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from backend.cli.options import built
from backend.compute.parallel_map import in_processes
from backend.schedule import jit
from backend.schedule.analysis.layouts import Layout
from backend.schedule.analysis.plans import Asked, TrainingSetup, plans
from backend.schedule.families.registry import family_of
from backend.schedule.hardware.preset_costs import Preset

PLOTS = (("cm-9.6b", 16), ("cm-21b", 24), ("cm-38.5b", 32))  # model, devices
MICRO_BATCHES = 2  # per device
PLOTTED = (("1f1b", 1), ("interleaved", 2), ("zb-h1", 1), ("zb-h2", 1), ("v-min", 2), ("v-half", 2), ("v-zb", 2))


def held(plan: TrainingSetup) -> float:
    """Return the gigabytes of activations on the device with the most."""
    return max(plan.units.memory.activations) / 1e9


def text(plan: TrainingSetup) -> str:
    spec = plan.spec
    options = [f"v={spec.v}"] if spec.v > 1 else []
    options += [f"within {spec.memory:g}"] if spec.memory is not None else []
    options += [f"recompute {spec.recompute}"] if spec.recompute != "none" else []
    options += [f"offload {spec.offload}"] if spec.offload != "none" else []
    return " ".join((family_of(spec).title, *options))


def compare(model: str, p: int, seconds: float) -> None:
    asked = Asked((Layout(p, MICRO_BATCHES * p, Preset.of({"model": model, "machine": "a100"})),))
    start = time.perf_counter()
    search = (lambda spec: built(spec, seconds)) if seconds > 0.0 else None
    found = plans(asked, search, in_processes)
    print(f"\n{model} on {p} devices, {MICRO_BATCHES * p} micro-batches: {len(found)} plans", end="")
    print(f" in {time.perf_counter() - start:.1f} s")
    head = f"{'of the plot':18} {'GB':>6} {'MFU':>6}   {'fastest with no more memory':58}"
    print(f"{head} {'GB':>6} {'MFU':>6} {'faster':>7}")
    for name, v in PLOTTED:
        plain = [each for each in found if (each.spec.family, each.spec.v) == (name, v)]
        own = next((each for each in plain if (each.spec.recompute, each.spec.offload) == ("none", "none")), None)
        if own is None:
            print(f"{name:18} cannot be built")
            continue
        best = min((each for each in found if held(each) <= held(own) + 1e-9), key=lambda each: each.units.seconds)
        gain = own.units.seconds / best.units.seconds - 1.0
        line = f"{family_of(own.spec).title:18} {held(own):6.2f} {own.units.mfu:6.1%}   {text(best):58}"
        print(f"{line} {held(best):6.2f} {best.units.mfu:6.1%} {gain:7.1%}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=0.0)
    jit.compile_all()
    seconds = options.parse_args().seconds
    for model, p in PLOTS:
        compare(model, p, seconds)


if __name__ == "__main__":
    main()
