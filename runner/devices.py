"""What there is to run on, and what a run of so many ranks makes of it. Asks the system, not torch: the main process
never loads it. Only `gpus` looks for GPUs; that path has not been run on one."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any

from backend.schedule.errors import SpecError

KINDS = ("auto", "cpu", "cuda")
QUERY = "name,memory.total,compute_cap"
NVIDIA_SMI_S = 10


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as nvidia-smi tells of it: `memory` in bytes, `capability` such as 9.0; None where it does not say."""

    name: str
    memory: int | None
    capability: str | None


@dataclass(frozen=True, slots=True)
class Machine:
    """What a run may use, on one host or on several together: cores, GPUs, bytes of memory; `shares`: ranks can share
    a GPU."""

    cores: int
    gpus: int
    memory: int
    shares: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """Where a run executes and in which mode unless it asks for another, with the reason as a sentence; `together`:
    the ranks are threads of one process, which share its GPUs."""

    device: str
    mode: str
    why: str
    together: bool = False


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def memory() -> int:
    """Bytes of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@cache
def gpus() -> tuple[Gpu, ...]:
    """The GPUs that workers would see."""
    tool, visible = shutil.which("nvidia-smi"), os.environ.get("CUDA_VISIBLE_DEVICES")
    if tool is None or visible == "":
        return ()
    query = [tool, f"--query-gpu={QUERY}", "--format=csv,noheader,nounits"]
    try:
        asked = subprocess.run(query, capture_output=True, text=True, timeout=NVIDIA_SMI_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = listed(asked.stdout) if asked.returncode == 0 else ()
    return found if visible is None else found[: len(visible.split(","))]


def listed(text: str) -> tuple[Gpu, ...]:
    """GPUs from nvidia-smi's lines: name, MiB of memory, capability."""
    rows = [[part.strip() for part in line.rsplit(",", 2)] for line in text.splitlines() if line.strip()]
    return tuple(
        Gpu(row[0], int(row[1]) * 2**20 if row[1].isdigit() else None, row[2] if row[2][:1].isdigit() else None)
        for row in rows
        if len(row) == 3
    )


def choose(ranks: int, cores: int, gpus: int, device: str = "auto") -> Choice:
    """Where so many ranks run. They share GPUs only if asked to, since that is as yet untried. Raises SpecError where
    GPUs are asked for and there are none."""
    if device == "cuda" and not gpus:
        raise SpecError("device", device, "there is no GPU to run on", limit=0, nearest="cpu")
    if device == "cuda" and gpus < ranks:
        why = f"{_count(gpus, 'GPU')} for {_count(ranks, 'rank')}: shared GPU, the ranks as threads of one process"
        return Choice("cuda", "free", why, together=True)
    if device != "cpu" and gpus >= ranks:
        return Choice("cuda", "free", f"{_count(gpus, 'GPU')} for {_count(ranks, 'rank')}: each has its own")
    short = f"{_count(gpus, 'GPU')} for {_count(ranks, 'rank')}, so on the CPU; " if gpus and device != "cpu" else ""
    have = f"{short}{_count(cores, 'CPU core')} for {_count(ranks, 'rank')}: "
    if ranks > cores:
        return Choice("cpu", "paced", f"{have}paced, since ranks that share a core would hold each other up")
    return Choice("cpu", "free", f"{have}free, since each has its own")


def here() -> Machine:
    """This host."""
    return Machine(cores(), len(gpus()), memory())


def describe() -> list[dict[str, Any]]:
    """The devices as the protocol shows them."""
    found: list[dict[str, Any]] = [{"kind": "cpu", "name": processor(), "cores": cores(), "memory": memory()}]
    return found + [
        {"kind": "cuda", "index": index, "name": gpu.name, "memory": gpu.memory, "capability": gpu.capability}
        for index, gpu in enumerate(gpus())
    ]


def choices(most: int, machine: Machine | None = None) -> list[dict[str, Any]]:
    """What runs of 1 to `most` ranks would use, as rows of ranks that are treated alike; the reason is the first's."""
    found: list[dict[str, Any]] = []
    machine = machine or here()
    for ranks in range(1, most + 1):
        choice = choose(ranks, machine.cores, machine.gpus)
        if found and (found[-1]["device"], found[-1]["mode"]) == (choice.device, choice.mode):
            found[-1]["to"] = ranks
        else:
            row = {"device": choice.device, "mode": choice.mode, "why": choice.why}
            found.append({"from": ranks, "to": ranks} | row)
    return found


@cache
def processor() -> str:
    """The processor's name, as far as the system tells."""
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else os.uname().machine


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
