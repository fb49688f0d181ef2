"""The runner as a program: JSON lines in on stdin, out on stdout, logs on stderr.

    python -m runner [--engine local|ray] [--address HOST:PORT]

Worker processes import this module too (as `__mp_main__`), so it loads nothing before it is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.errors import Message
    from runner.engines.base import Engine

MISSING = 4  # exit code of a runner without the packages that it needs


def main() -> None:
    """Start the engine, load the schedule core meanwhile, serve."""
    import argparse
    import logging
    import os
    import signal
    import sys

    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}", description="Runs schedules: JSON lines in and out."
    )
    parser.add_argument("--engine", choices=("local", "ray"), default="local", help="what runs the ranks")
    address = os.environ.get("BUBBLELINE_RAY_ADDRESS", "")
    parser.add_argument("--address", default=address, help="HOST:PORT of a Ray cluster; without it one is started here")
    options = parser.parse_args()

    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    source, sink = os.dup(0), os.dup(1)  # children inherit 0 and 1: nothing to read, and stderr to print to
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))

    if why := missing(options.engine):
        from runner import protocol

        os.write(sink, protocol.line("missing", why=why))
        sys.exit(MISSING)
    engine, code = engine_of(options.engine, options.address), 0
    try:
        engine.boot()
        from runner.service import Service

        code = Service(source, sink, engine).serve()
    finally:
        engine.close()
    if options.engine == "ray":  # Ray's exit handlers may wait for a head that is gone
        os._exit(code)
    sys.exit(code)


def missing(engine: str) -> Message | None:
    """Return which package is to be installed for runs on this host; None if none is. Ray says itself what it needs."""
    from importlib.util import find_spec

    from backend.errors import message

    if engine == "ray" or find_spec("torch") is not None:
        return None
    return message(
        "runner.no_torch",
        "Schedules cannot be run here, because torch is not installed. Install it with: {command}",
        command="pip install 'bubbleline[run]'",
    )


def engine_of(name: str, address: str) -> Engine:
    """Return the engine of a name; other engines are not loaded."""
    if name == "ray":
        from runner.engines.ray.engine import RayEngine

        return RayEngine(address)
    from runner.engines.local import LocalEngine

    return LocalEngine()


if __name__ == "__main__":
    main()
