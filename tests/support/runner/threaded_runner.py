"""The runner with all ranks as threads of one process, as on a shared GPU, here on the CPU:
`python -m tests.support.runner.threaded_runner`."""

from __future__ import annotations

from dataclasses import replace

from runner import devices

if __name__ == "__main__":
    choose = devices.choose
    devices.choose = lambda *asked: replace(choose(*asked), together=True)
    from runner.__main__ import main

    main()
