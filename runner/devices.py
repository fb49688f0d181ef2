"""What there is to run on. Asks the system, not torch: the main process never loads it."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from typing import Any


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


@cache
def gpus() -> tuple[str, ...]:
    """Names of the GPUs that workers would see."""
    tool, visible = shutil.which("nvidia-smi"), os.environ.get("CUDA_VISIBLE_DEVICES")
    if tool is None or visible == "":
        return ()
    query = [tool, "--query-gpu=name", "--format=csv,noheader"]
    try:
        asked = subprocess.run(query, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    names = tuple(asked.stdout.split("\n")[:-1]) if asked.returncode == 0 else ()
    return names if visible is None else names[: len(visible.split(","))]


def describe() -> list[dict[str, Any]]:
    """The devices as the protocol shows them."""
    found: list[dict[str, Any]] = [{"kind": "cpu", "cores": cores()}]
    return found + [{"kind": "cuda", "index": index, "name": name} for index, name in enumerate(gpus())]
