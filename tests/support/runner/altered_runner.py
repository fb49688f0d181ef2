"""A runner for tests, `python -m tests.support.runner.altered_runner`: the seed of a run selects a fault of a worker
(faults.py), messages over gloo, or all ranks as threads of one process, as on a shared GPU. With any other seed a run
is an ordinary one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runner import devices, protocol
from runner.engines import local
from runner.transport import mailbox

GLOO, THREADS = 1101, 1102

local.PRELOADED.append("tests.support.runner.faults")

if __name__ == "__main__":
    from runner.__main__ import main
    from runner.service import Service

    choose, usable, start = devices.choose, mailbox.usable, Service.start
    seed = 0

    def note_seed(service: Service, run: protocol.Run) -> None:
        global seed
        seed = run.seed
        start(service, run)

    def choose_threads(*asked: Any) -> devices.Choice:
        return replace(choose(*asked), together=True) if seed == THREADS else choose(*asked)

    Service.start = note_seed  # type: ignore[method-assign]
    devices.choose = choose_threads
    mailbox.usable = lambda: seed != GLOO and usable()
    main()
