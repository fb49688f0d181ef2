"""The runner, with workers in which things go wrong: `python -m tests.faulty_runner`. A run's seed says what."""

from __future__ import annotations

from runner.engines import local

local.PRELOADED.append("tests.faults")

if __name__ == "__main__":
    from runner.__main__ import main

    main()
