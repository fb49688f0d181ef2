"""Diagnose the production traces of github.com/ByteDance-Seed/StragglerAnalysis beside their published answers.

.venv/bin/python bench/accuracy/traces.py FOLDER      # with timeline-*.json.gz, result-*.json, ms-*.json, mw-*.json
.venv/bin/python bench/accuracy/traces.py --large 200 # or: time and memory for a trace of as many MB
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from backend.jobs.recordings import recording_of
from backend.schedule.diagnosis.diagnosis import diagnose
from backend.schedule.families import registry
from backend.schedule.simulation.simulate import simulate
from backend.schedule.spec import Spec

KERNEL = {
    "ph": "X",
    "cat": "kernel",
    "name": "ampere_bf16_s16816gemm_bf16_128x128_ldg8",
    "pid": 0,
    "tid": 7,
    "dur": 0.9,
    "args": {"External id": 7, "device": 0, "stream": 7, "grid": [108, 1, 1], "registers per thread": 230},
}
KINDS = {"F": "forward-compute", "B": "backward-compute"}


def compare(folder: Path, name: str) -> None:
    """Print what is found of a job beside what was published of it."""
    began = time.perf_counter()
    found = diagnose(recording_of([folder / f"timeline-{name}.json.gz"])).as_dict()
    took = time.perf_counter() - began
    known = json.loads((folder / f"result-{name}.json").read_text())
    last, worst = (json.loads((folder / f"{each}-{name}.json").read_text()) for each in ("ms", "mw"))
    print(f"{name}: {' '.join(map(str, found['verdict']))}")
    rows = [
        ("slowdown S", known["blocking_slowdown"], found["slowdown"]["slowdown"]),
        ("M_S", last["Ms"], found["slowdown"]["M_S"]),
        ("M_W", worst["Mw"], found["slowdown"]["M_W"]),
        ("ideal step, s", last["tideal"], found["slowdown"]["ideal"] / 1e3),
        ("step, s", last["tori"], found["measured"]["step"] / 1e3),
    ]
    rows += [(f"S of {kind} alone", known["blocking_decompose_by_optype"][text], found["by_kind"][kind])
             for kind, text in KINDS.items()]  # fmt: skip
    rows += [(f"S of stage {stage} alone", value, found["by_stage"][int(stage)])
             for stage, value in sorted(known["blocking_decompose_by_stage"].items())]  # fmt: skip
    rows += [(f"S of replica {replica} alone", value, found["by_replica"][int(replica)])
             for replica, value in list(known["blocking_decompose_by_dp_rank"].items())[:4]]  # fmt: skip
    for title, published, ours in rows:
        print(f"  {title:24}{published:10.4f}{ours:10.4f}  {ours / published - 1:+7.1%}")
    print(f"  replayed op by op: {found['replay']['ratio']:.2%} of the measured time; {took:.1f} s")


def large(megabytes: int) -> None:
    """Print time and memory for a trace of torch's profiler of one rank of two, of which most events are kernels."""
    order = registry.order(registry.validate(Spec("1f1b", 2, 64)))
    timeline = simulate(order, Spec("1f1b", 2, 64).timing)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{rank}.json") for rank in range(2)]
        for rank, path in enumerate(paths):
            with path.open("w") as file:
                file.write('{"schemaVersion": 1, "traceEvents": [\n')
                size = step = 0
                while size < megabytes * 500_000:  # half of it each
                    for op, start, end in zip(order.row(rank), *timeline.rank(rank), strict=True):
                        base = 1e4 * (200.0 * step)
                        event = {"ph": "X", "cat": "user_annotation", "name": f"PP:{op.text()}", "pid": 1, "tid": 1,
                                 "ts": base + 1e4 * start, "dur": 1e4 * (end - start)}  # fmt: skip
                        size += file.write(json.dumps(event) + ",\n")
                        for at in range(40):
                            kernel = KERNEL | {"ts": base + 1e4 * start + at}
                            size += file.write(json.dumps(kernel) + ",\n")
                    step += 1
                file.write('{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}]}')
        whole = sum(path.stat().st_size for path in paths) / 1e6
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.perf_counter()
        found = diagnose(recording_of(paths))
        took = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        more = (peak - before) / 1e3
        print(f"{whole:.0f} MB, {len(found.instances.places)} steps: {took:.1f} s, {more:.0f} MB more memory")


def main() -> None:
    """Print the comparison of every trace of a folder, or the cost of a large one."""
    if sys.argv[1] == "--large":
        large(int(sys.argv[2]))
        return
    folder = Path(sys.argv[1])
    for path in sorted(folder.glob("timeline-*.json.gz")):
        compare(folder, path.name.removeprefix("timeline-").removesuffix(".json.gz"))


if __name__ == "__main__":
    main()
