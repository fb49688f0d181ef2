"""The kernels: all of them are found and compiled, also those whose module nothing has imported yet."""

from __future__ import annotations

import re
import subprocess
import sys

from backend.config import PROJECT
from backend.schedule import jit

MARK = re.compile(r"^@(?:jit\.)?(?:kernel|inner)\(", re.MULTILINE)


def test_every_module_with_kernels_is_named() -> None:
    sources = (PROJECT / "backend").rglob("*.py")
    marked = [path.relative_to(PROJECT) for path in sources if MARK.search(path.read_text(encoding="utf-8"))]
    assert sorted(".".join(path.with_suffix("").parts) for path in marked) == sorted(jit.MODULES)


def test_a_process_that_has_imported_no_schedule_compiles_every_kernel() -> None:
    count = "sum(each.compiled is not None for each in jit._kernels)"
    code = f"from backend.schedule import jit; jit.compile_all(); print({count})"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert int(done.stdout) == len(jit._kernels) > 0
    assert jit.ready()
