"""The runner with workers that fail: `python -m tests.support.runner.faulty_runner`. A run's seed selects the fault."""

from __future__ import annotations

from runner.engines import local

local.PRELOADED.append("tests.support.runner.faults")

if __name__ == "__main__":
    from runner.__main__ import main

    main()
