"""A runner for tests of its end, `python -m tests.support.runner.idle_runner`: its workers wait for commands and do
nothing with them, so that none has to load torch.
"""

from __future__ import annotations

from runner.engines import local

local.PRELOADED[:] = ["tests.support.runner.idle_workers"]

if __name__ == "__main__":
    from runner.__main__ import main

    main()
