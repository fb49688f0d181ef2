"""The page's modules in Node: scripts of tests/js/support that read cases and print answers."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

import pytest

from backend.config import PROJECT

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="the page's modules run in node")


def answers(script: str, cases: Sequence[Any]) -> list[Any]:
    """What tests/js/support/SCRIPT.ts prints when it reads these cases, each as a line of JSON."""
    done = subprocess.run(
        [str(NODE), "tests/js/run.mjs", f"tests/js/support/{script}.ts"],
        cwd=PROJECT, input="\n".join(map(json.dumps, cases)), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(cases)
    return found
