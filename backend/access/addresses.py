"""What a server prints when it starts: its address, the links that give a role, or why it cannot listen."""

from __future__ import annotations

import errno
import os
import socket
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread
from urllib.parse import urlsplit

from backend.access.keys import Keys
from backend.access.policy import Policy
from backend.access.roles import Role
from backend.config import COMMAND, LOOPBACK, Config, variable


def address_line(config: Config, port: int) -> str:
    """Return the line with the server's address."""
    return f"Bubbleline is at http://{_in_link(config.host)}:{port}  (Ctrl-C stops it)"


def open_page(config: Config, port: int) -> None:
    """Open the page in the desktop's browser, if the settings say so and there is a desktop. Returns at once."""
    desktop = any(os.environ.get(each) for each in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    if not (config.browser and config.local and desktop and sys.stdout.isatty()):
        return
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if type(browser) is not webbrowser.GenericBrowser or os.environ.get("BROWSER"):  # those need the terminal
        Thread(target=browser.open, args=(f"http://{_in_link(config.host)}:{port}",), daemon=True).start()


def _in_link(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


class Invitations:
    """Prints the links that give a role; none on a local server, where everybody has all.

    Where the tokens are in a database that cannot be used at the start, they are printed later.
    """

    def __init__(self, config: Config, port: int, policy: Policy | None = None) -> None:
        """Take what makes the links. Without a policy this may wait for the database."""
        self._config, self._port = config, port
        self._policy = None if config.local else policy or Policy(config)
        self.awaited = self._policy is not None  # whether there are links to print

    def print_first(self) -> None:
        """Print the links, or that they follow."""
        self.print_awaited()
        if self.awaited:
            print("The tokens are in the database, which cannot be used at present: the links follow.", flush=True)

    def print_awaited(self) -> None:
        """Print the links if they are not yet printed and can be by now. Does not wait: call it again."""
        if self._policy is None or not self.awaited:
            return
        found = self._policy.keys  # has the database asked again, now and then
        if self._policy.lasting:
            self.awaited = False
            for line in _links(self._config, self._port, found):
                print(line, flush=True)


def _links(config: Config, port: int, found: Keys) -> Iterator[str]:
    root = f"https://{_public(config)}" if config.proxies and config.hosts else f"http://{_reachable(config)}:{port}"
    for role, token, setting, text in (
        (Role.RUN, found.token, "token", "To start runs"),
        (Role.ADMIN, found.admin_token, "admin_token", "To administrate"),
    ):
        known = role not in found.made  # the operator has it, and it need not be on the screen
        yield f"{text}: {root}/?token={f'(that of {variable(setting)})' if known else token}"


def cannot_listen(config: Config, error: OSError) -> str:
    """Return the sentence for an address on which the server cannot listen."""
    if error.errno == errno.EADDRINUSE:
        other = config.port + 1 if config.port < 65535 else 5000
        return (
            f"Port {config.port} on {config.host} is taken by another program. "
            f"Choose another: {COMMAND} serve --port {other} (--port 0 takes any free one)."
        )
    why = str(error.strerror or error).removesuffix(f": {(config.host, config.port)!r}")  # gevent adds the address
    return f"Cannot listen on {_in_link(config.host)}:{config.port}: {why}."


def reachable_base(url: str, config: Config) -> str:
    """Return the address of the server for other machines: `url`, as this browser has it, unless that names this
    machine for itself while the server listens for all.
    """
    parts = urlsplit(url)
    if config.host not in ("", "0.0.0.0", "::") or parts.hostname not in (*LOOPBACK, None):
        return url
    host = _public(config) or _own_address() or socket.gethostname()
    return f"{parts.scheme}://{_in_link(host)}{f':{parts.port}' if parts.port else ''}/"


def _own_address() -> str:
    """Return this machine's address in its network, "" where it has none. Nothing is sent."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(("192.0.2.1", 9))  # an address for documentation: only the route to it is looked up
        return str(asked.getsockname()[0])
    return ""


def _reachable(config: Config) -> str:
    """Return the host of a link for others, one that the server goes by: where it listens everywhere, this machine's
    name.
    """
    own = _in_link(config.host)
    if config.host in ("", "0.0.0.0", "::"):
        return _public(config) or socket.gethostname()
    return own if own in config.hosts else _public(config) or own


def _public(config: Config) -> str:
    """Return the first of the names in the settings that others can use, "" without any."""
    return next((each for each in config.hosts if each not in LOOPBACK), next(iter(config.hosts), ""))
