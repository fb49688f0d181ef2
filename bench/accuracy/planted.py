"""Plant faults in steps of torch's own pipeline runtime, and print what `diagnose` finds in its profiler's traces.

    .venv/bin/python bench/accuracy/planted.py            # each alone, of five schedules, and pairs of two: 4 minutes
    .venv/bin/python bench/accuracy/planted.py 1f1b
    .venv/bin/python bench/accuracy/planted.py --example static/examples/slow-step   # record the example of the page

Real processes and messages (gloo); the ops are sleeps of 20 and 40 ms, so that what they take is known.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from backend.jobs.recordings import recording_of
from backend.schedule.diagnosis.diagnosis import Diagnosis, diagnose
from backend.schedule.families import registry
from backend.schedule.interop import torch_csv
from backend.schedule.order.order import Order
from backend.schedule.spec import Spec
from tests.support.torch.faults import Faults
from tests.support.torch.runtime import Job, Pool, pool

STEPS = 4
FORWARD, BACKWARD = 0.02, 0.04  # s
SCHEDULES = {
    "1f1b": Spec("1f1b", 3, 6),
    "gpipe": Spec("gpipe", 2, 6),
    "interleaved": Spec("interleaved", 2, 4, 2),
    "zb-v": Spec("zb-v", 2, 6, 2),
    "dualpipev": Spec("dualpipev", 2, 6, 2),
}
IN_PAIRS = ("1f1b", "interleaved")
FAULTS: dict[str, dict[str, Any]] = {
    "imbalance": {"stages": {1: 1.6}},
    "link": {"link": (0, 0.03)},
    "micro_batches": {"micros": {2: 3.0}},
    "overhead": {"overhead": 0.008},
    "pause": {"pause": (0, 13, 1, 0.4)},
}
CONSEQUENCES = ("replicas", "tail")
# The example: the last stage is heavy, and rank 1 pauses before its tenth op of the second step.
EXAMPLE, SLOW = Spec("1f1b", 4, 8), {"stages": {3: 1.8}, "pause": (1, 9, 1, 0.5)}
OP = re.compile(r"PP:\d+[FB]\d+$")


def diagnosed(torchs: Pool, order: Order, planted: tuple[str, ...]) -> Diagnosis:
    """Run some steps with faults under torch's profiler, and diagnose its traces."""
    stages = tuple(tuple(order.placement.stages_of(rank)) for rank in range(order.p))
    faults = Faults(FORWARD, BACKWARD, **{key: value for name in planted for key, value in FAULTS[name].items()})
    done = torchs.run(Job(torch_csv.dump(order), order.m, stages, STEPS, faults))
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{rank}.json") for rank in range(order.p)]
        for file, each in zip(files, done, strict=True):
            file.write_text(each.trace)
        return diagnose(recording_of(files))


def record_example(folder: Path) -> None:
    """Record the example, and write each rank's file without the events that are no ops."""
    order = registry.order(registry.validate(EXAMPLE))
    stages = tuple(tuple(order.placement.stages_of(rank)) for rank in range(order.p))
    with pool() as torchs:
        done = torchs.run(Job(torch_csv.dump(order), order.m, stages, 3, Faults(FORWARD, BACKWARD, **SLOW)))
    folder.mkdir(parents=True, exist_ok=True)
    for rank, each in enumerate(done):
        ops = [event for event in json.loads(each.trace)["traceEvents"] if OP.match(str(event.get("name")))]
        lines = [
            json.dumps({key: event[key] for key in ("ph", "cat", "name", "ts", "dur")} | {"pid": rank, "tid": rank})
            for event in ops
        ]
        about = json.dumps({"backend": "gloo", "rank": rank, "world_size": order.p})
        events = ",\n".join(lines)
        text = f'{{"schemaVersion": 1, "distributedInfo": {about}, "traceEvents": [\n{events}\n]}}\n'
        Path(folder, f"rank{rank}.json").write_text(text)


def main() -> None:
    """Print a row for each set of faults."""
    if sys.argv[1:2] == ["--example"]:
        record_example(Path(sys.argv[2]))
        return
    names = sys.argv[1:] or list(SCHEDULES)
    right = wrong = 0
    print("schedule     planted                      found, with what its repair saves")
    with pool() as torchs:
        for name in names:
            order = registry.order(registry.validate(SCHEDULES[name]))
            for count in (0, 1, 2) if name in IN_PAIRS else (0, 1):
                for planted in combinations(FAULTS, count):
                    found = diagnosed(torchs, order, planted)
                    there = {each.cause: each.saves for each in found.findings if each.cause not in CONSEQUENCES}
                    is_right = set(there) == set(planted)
                    right, wrong = right + is_right, wrong + (not is_right)
                    text = ", ".join(f"{cause} {saves:.0%}" for cause, saves in there.items()) or "nothing"
                    replay = found.as_dict()["replay"]["ratio"]
                    mark = "" if is_right else "   WRONG"
                    print(
                        f"{name:12} {' + '.join(planted) or 'nothing':28} {text}; replayed {replay:.1%}{mark}",
                        flush=True,
                    )
    print(f"{right} of {right + wrong} sets of faults are found exactly")


if __name__ == "__main__":
    main()
