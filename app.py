"""Bubbleline's command line: `bubbleline` where it is installed, `python app.py` in a checkout.

python app.py                                  serve on http://127.0.0.1:5000
python app.py serve --host 0.0.0.0 --port 80   serve elsewhere
python app.py show zb-h1 -p 4 -m 8             print a timeline, its figures and its law
python app.py sweep < specs.jsonl              one Result a line
python app.py export 1f1b --format torch-csv   write it for another program
python app.py check FILE.csv                   validate an order in torch's CSV
python app.py compare -p 8 -m 32               all families at one setting
python app.py pareto -p 8 -m 24                memory against throughput, families and searched orders
python app.py costs llama3-70b --machine H100  times, bytes and their arithmetic for a model on a machine
python app.py import trace.json                read a measured timeline back from a Chrome or torch trace
python app.py laws                             write docs/laws.md
python app.py lessons check DIR                mistakes in lessons: file, line, cause; also: list, export SLUG
python app.py site DIR                         timeline, lessons and workbench as files, without a server
python app.py run dualpipe -p 4 -m 8           execute it with real tensors and verify its gradients
python app.py run-sweep gpipe 1f1b zb-h1       execute several and compare what was predicted and measured
python app.py tasks list | check | forget      the workbench's tasks and their boards
python app.py class-demo --students 300        a server with a class of simulated students, for you to lead
python app.py devices                          devices to run on, and the mode of a run
python app.py backup FILE                      copy the SQLite file of runs and short links, while the server runs
python app.py restore FILE                     put a backup in its place, while the server runs
python app.py copy-database FROM TO            move a server from SQLite to PostgreSQL, or back
python app.py settings                         every setting of the server, with its value and meaning
python app.py mcp                              serve assistants over the Model Context Protocol
python app.py completion bash                  what a shell needs to complete commands and options
"""

from __future__ import annotations

import errno
import os
import socket
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from backend import __version__
from backend.cli import COMMANDS
from backend.config import Config, ConfigError, settings
from backend.database.connect import check_setup
from backend.database.database import SetupError
from backend.errors import RequestError

PROGRAM = "bubbleline"  # the installed command


class Program(click.Group):
    """The commands, which end with a sentence where their output has no room."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT) or error.filename is not None:
                raise
            with suppress(OSError):  # Python writes what is left at its end
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.ClickException(f"the output could not be written: {error.strerror}") from None


@click.group(cls=Program, invoke_without_command=True, commands=COMMANDS)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
@click.option("--no-browser", is_flag=True, help="Without a command: do not open the page in the browser.")
@click.pass_context
def cli(context: click.Context, no_browser: bool) -> None:
    """See, share and run pipeline-parallel training schedules. Without a command: serve."""
    if context.invoked_subcommand is None:
        context.invoke(serve, browser=context.info_name == PROGRAM and not no_browser)


@cli.command()
@click.option("--host", help="Address to listen on (127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on (5000); 0 takes any free one.")
@click.option("--browser", is_flag=True, help="Open the page in the browser, where there is one.")
def serve(host: str | None = None, port: int | None = None, browser: bool = False) -> None:
    """Serve the page until Ctrl-C or SIGTERM."""
    try:
        config = Config.from_env()
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    try:
        check_setup(config.database)
    except SetupError as error:
        raise click.ClickException(str(error)) from None
    config = replace(config, host=host or config.host, port=config.port if port is None else port)
    config = replace(config, browser=browser or config.browser)
    if config.redis:
        from backend.web.processes import supervise as serve_web
    else:
        from backend.web.serve import serve as serve_web  # the other commands need no web

    sys.exit(serve_web(config))


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def site(folder: Path) -> None:
    """Write timeline, lessons and workbench to FOLDER as files that need no server, for a static host or a disk."""
    from backend.lessons.values import LessonError
    from backend.web.site import write_site

    try:
        files = write_site(folder)
    except (RequestError, LessonError) as error:  # no bundle
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.FileError(str(error.filename or folder), error.strerror) from None
    size = sum(path.stat().st_size for path in files)
    click.echo(f"{folder}: {len(files)} files, {size / 1e6:.2f} MB; open {folder / 'index.html'}")


@cli.command()
@click.option("--page", default="http://127.0.0.1:5000", show_default=True, help="Where links lead: a server's page.")
def mcp(page: str) -> None:
    """Serve assistants over the Model Context Protocol, on standard input and output."""
    try:
        from bubbleline.assistants import server
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is not installed: pip install 'bubbleline[mcp]'") from None
    server(page).run()


@cli.group(hidden=True)
def process() -> None:
    """Be one of the processes that `serve` starts where there are several."""


@process.command()
@click.option("--listener", type=int, required=True, help="Descriptor of the socket to listen on.")
@click.option("--number", type=int, required=True, help="Number among the processes that serve the page.")
def web(listener: int, number: int) -> None:
    """Serve the page."""
    from backend.web.serve import serve

    shared = socket.socket(fileno=listener)
    shared.setblocking(False)  # another process may take the connection that both were woken for
    sys.exit(serve(Config.from_env(), shared, f"web-{number}"))


@process.command()
@click.option("--lease", required=True, help="Name in which this process and its successors manage the runs.")
def runs(lease: str) -> None:
    """Manage the runs."""
    from backend.web.processes import stop_with_parent
    from backend.web.shared.run_manager import manage

    sys.exit(manage(Config.from_env(), lease, stop_with_parent))


@cli.command(name="settings")
def print_settings() -> None:
    """Print every setting of the server: environment variable, present value, default and meaning."""
    try:
        config = Config.from_env()
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    for each in settings(config):
        default = f"default {each.default}" if each.default else "not set by default"
        click.echo(f"{each.variable}={each.value}\n    {each.meaning} ({default})")


@cli.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print the script with which SHELL completes the commands and options of `bubbleline`."""
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE").source())


if __name__ == "__main__":
    cli()
