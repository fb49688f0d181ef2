"""The runner as a program: JSON lines in on stdin, out on stdout, logs on stderr.

    python -m runner

Worker processes import this module too (as `__mp_main__`), so it loads nothing before it is run.
"""

from __future__ import annotations


def main() -> None:
    """Start the fork server, load the schedule core meanwhile, serve."""
    import logging
    import os
    import signal
    import sys

    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    source, sink = os.dup(0), os.dup(1)  # children inherit 0 and 1: nothing to read, and stderr to print to
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))

    from runner.engines.local import LocalEngine

    engine = LocalEngine()
    try:
        engine.boot()
        from runner.service import Service

        engine.open()
        Service(source, sink, engine).serve()
    finally:
        engine.close()


if __name__ == "__main__":
    main()
