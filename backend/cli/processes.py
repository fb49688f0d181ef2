"""The processes that `serve` starts where several serve the page; not for people."""

from __future__ import annotations

import socket
import sys

import click

from backend.config import Config


@click.group(hidden=True)
def process() -> None:
    """Be one of the processes of a server."""


@process.command()
@click.option("--listener", type=int, required=True, help="Descriptor of the socket to listen on.")
@click.option("--number", type=int, required=True, help="Number among the processes that serve the page.")
def web(listener: int, number: int) -> None:
    """Serve the page."""
    from backend.web.serve import serve

    sys.exit(serve(Config.from_env(), socket.socket(fileno=listener), f"web-{number}"))


@process.command()
@click.option("--lease", required=True, help="Name in which this process and its successors manage the runs.")
def runs(lease: str) -> None:
    """Manage the runs."""
    from backend.redis.run_manager import manage

    sys.exit(manage(Config.from_env(), lease))
