"""The devices of this machine, and the device and mode of a run by its number of ranks.

Queries the system, not torch: the main process never loads it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from typing import Any

from backend.errors import Message, RequestError, message

KINDS = ("auto", "cpu", "cuda")
QUERY = "name,memory.total,compute_cap"
NVIDIA_SMI_S = 10
MAX_RANKS = 64  # of a run


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as nvidia-smi lists it: `memory` in bytes, `capability` such as 9.0; None where it lists none."""

    name: str
    memory: int | None
    capability: str | None


@dataclass(frozen=True, slots=True)
class Machine:
    """The resources of a run, on one host or on several together: cores, GPUs, bytes of memory; `shares`: ranks can
    share a GPU."""

    cores: int
    gpus: int
    memory: int
    shares: bool = True


@dataclass(frozen=True, slots=True)
class Choice:
    """Where a run executes and in which mode by default, with the reason as a sentence; `together`: the ranks are
    threads of one process, which share its GPUs."""

    device: str
    mode: str
    why: str
    together: bool = False


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0))


def memory() -> int:
    """Return the bytes of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@cache
def gpus() -> tuple[Gpu, ...]:
    """List the GPUs that workers would see."""
    tool, visible = shutil.which("nvidia-smi"), os.environ.get("CUDA_VISIBLE_DEVICES")
    if tool is None or visible == "":
        return ()
    query = [tool, f"--query-gpu={QUERY}", "--format=csv,noheader,nounits"]
    try:
        result = subprocess.run(query, capture_output=True, text=True, timeout=NVIDIA_SMI_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = parse_nvidia_smi(result.stdout) if result.returncode == 0 else ()
    return found if visible is None else found[: len(visible.split(","))]


def parse_nvidia_smi(text: str) -> tuple[Gpu, ...]:
    """Read GPUs from the lines of nvidia-smi: name, MiB of memory, capability."""
    rows = [[part.strip() for part in line.rsplit(",", 2)] for line in text.splitlines() if line.strip()]
    return tuple(
        Gpu(row[0], int(row[1]) * 2**20 if row[1].isdigit() else None, row[2] if row[2][:1].isdigit() else None)
        for row in rows
        if len(row) == 3
    )


def choose(ranks: int, cores: int, gpus: int, device: str = "auto", shares: bool = True) -> Choice:
    """Choose where a run of `ranks` ranks executes.

    Fewer GPUs than ranks are shared where `shares` allows it, by paced ops: unpaced ones would compete for the GPU.
    Raises RequestError if GPUs are requested and there are none.
    """
    if device == "cuda" and not gpus:
        raise RequestError(
            "device", device, message("runner.no_gpu", "there is no GPU to run on"), limit=0, nearest="cpu"
        )
    gpus_text, ranks_text = _gpus(gpus), _ranks(ranks)
    if gpus and gpus < ranks and (device == "cuda" or (device == "auto" and shares)):
        why = message(
            "runner.why_shared_gpu",
            "{gpus} for {ranks}: paced, since ranks that share a GPU would hold each other up",
            gpus=gpus_text,
            ranks=ranks_text,
        )
        return Choice("cuda", "paced", why, together=True)
    if device != "cpu" and gpus >= ranks:
        why = message("runner.why_own_gpus", "{gpus} for {ranks}: each has its own", gpus=gpus_text, ranks=ranks_text)
        return Choice("cuda", "free", why)
    if ranks > cores:
        mode, why = (
            "paced",
            message(
                "runner.why_paced",
                "{cores} for {ranks}: paced, since ranks that share a core would hold each other up",
                cores=_cores(cores),
                ranks=ranks_text,
            ),
        )
    else:
        mode, why = (
            "free",
            message(
                "runner.why_free",
                "{cores} for {ranks}: free, since each has its own",
                cores=_cores(cores),
                ranks=ranks_text,
            ),
        )
    if gpus and device != "cpu":
        why = message(
            "runner.why_too_few_gpus",
            "{gpus} for {ranks}, so on the CPU; {why}",
            gpus=gpus_text,
            ranks=ranks_text,
            why=why,
        )
    return Choice("cpu", mode, why)


def this_machine() -> Machine:
    """Describe this host as a machine."""
    return Machine(cores(), len(gpus()), memory())


def describe() -> list[dict[str, Any]]:
    """List the devices as the protocol has them."""
    found: list[dict[str, Any]] = [{"kind": "cpu", "name": processor(), "cores": cores(), "memory": memory()}]
    return found + [
        {"kind": "cuda", "index": index, "name": gpu.name, "memory": gpu.memory, "capability": gpu.capability}
        for index, gpu in enumerate(gpus())
    ]


def choices(machine: Machine | None = None, most: int = MAX_RANKS) -> list[dict[str, Any]]:
    """List the device and mode of runs of 1 to `most` ranks, as rows of ranks that are treated alike; the reason is the
    first's."""
    found: list[dict[str, Any]] = []
    machine = machine or this_machine()
    for ranks in range(1, most + 1):
        choice = choose(ranks, machine.cores, machine.gpus, "auto", machine.shares)
        if found and (found[-1]["device"], found[-1]["mode"]) == (choice.device, choice.mode):
            found[-1]["to"] = ranks
        else:
            row = {"device": choice.device, "mode": choice.mode, "why": choice.why}
            found.append({"from": ranks, "to": ranks} | row)
    return found


@cache
def processor() -> str:
    """Return the processor's name, as far as the system knows it."""
    try:
        with open("/proc/cpuinfo") as file:
            pairs = [line.split(":", 1) for line in file if ":" in line]
            names = [name.strip() for key, name in pairs if key.strip() == "model name"]
    except OSError:
        names = []
    return names[0] if names else os.uname().machine


def _gpus(count: int) -> Message:
    return message("runner.one_gpu", "1 GPU") if count == 1 else message("runner.gpus", "{count} GPUs", count=count)


def _cores(count: int) -> Message:
    if count == 1:
        return message("runner.one_core", "1 CPU core")
    return message("runner.cores", "{count} CPU cores", count=count)


def _ranks(count: int) -> Message:
    return message("runner.one_rank", "1 rank") if count == 1 else message("runner.ranks", "{count} ranks", count=count)
