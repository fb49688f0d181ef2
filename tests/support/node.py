"""The page's modules in Node: scripts of tests/js/support that read cases and print answers."""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from threading import Thread
from typing import IO, Any

import pytest

from backend.config import PROJECT

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="the page's modules run in node")


@cache
def started(script: str) -> subprocess.Popen[str]:
    """The process that runs a script until the tests end: bundling it takes longer than most of its answers."""
    process = subprocess.Popen(
        [str(NODE), "tests/js/run.mjs", f"tests/js/support/{script}.ts"],
        cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    atexit.register(process.communicate)  # it ends when it has nothing to read
    return process


def answers(script: str, cases: Sequence[Any]) -> list[Any]:
    """What tests/js/support/SCRIPT.ts prints when it reads these cases, each as a line of JSON."""
    process = started(script)
    assert process.stdin is not None
    assert process.stdout is not None
    writer = Thread(target=write_lines, args=(process.stdin, [json.dumps(case) for case in cases]))
    writer.start()
    found = [process.stdout.readline() for _ in cases]
    writer.join()
    assert all(found), f"{script}.ts has failed; what it wrote to its error output says why"
    return [json.loads(line) for line in found]


def write_lines(file: IO[str], lines: list[str]) -> None:
    """Write lines to a process, as far as it reads them."""
    with suppress(BrokenPipeError):
        file.writelines(f"{line}\n" for line in lines)
        file.flush()
