"""One run on a runner of its own, from start to end, without a server: for the command line.

Knows the runner's protocol, not how it works; the runner is another program.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

Message = dict[str, Any]
FINAL = ("finished", "failed", "cancelled", "error")


class RunnerGoneError(RuntimeError):
    """The runner ended without an answer; its own words are on standard error."""


def run_once(
    command: Sequence[str], cwd: str, job: Mapping[str, Any], on_event: Callable[[Message], None]
) -> tuple[Message, list[list[int]]]:
    """Start a runner, run one job, end the runner: the run's last message, and all its op rows.

    ``on_event`` gets every message before the last. Raises RunnerGoneError if the runner dies on the way.
    """
    process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    ops: list[list[int]] = []
    try:
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps({"cmd": "run", "id": "once"} | dict(job)) + "\n")
            process.stdin.flush()
        for line in process.stdout:
            message = json.loads(line)
            if message["event"] in FINAL:
                return message, ops
            ops += message.get("ops", []) if message["event"] == "op_batch" else []
            on_event(message)
        raise RunnerGoneError(f"the runner ended with exit code {process.wait()} before the run was over")
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()  # the runner's sign to end, workers and all
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
