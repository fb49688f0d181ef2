"""What a server prints when it starts: its address, the links that give a role, or why it cannot listen."""

from __future__ import annotations

import errno
import socket

from backend.access.policy import Policy
from backend.access.roles import Role
from backend.config import Config, variable


def address_line(config: Config, port: int) -> str:
    """Return the line with the server's address."""
    address = f"[{config.host}]" if ":" in config.host else config.host
    return f"Bubbleline is at http://{address}:{port}  (Ctrl-C stops it)"


def invitations(config: Config, port: int, policy: Policy | None = None) -> list[str]:
    """Return the lines with the links that give a role; none on a local server, where everybody has all."""
    if config.local:
        return []
    policy = policy or Policy(config)
    root = f"https://{config.hosts[0]}" if config.proxies and config.hosts else f"http://{_reachable(config)}:{port}"
    if not policy.lasting:
        return ["The tokens are in the database, which cannot be used at present: start again to see the links."]
    lines = []
    for role, token, setting, text in (
        (Role.RUN, policy.keys.token, "token", "To start runs"),
        (Role.ADMIN, policy.keys.admin_token, "admin_token", "To administrate"),
    ):
        known = role not in policy.keys.made  # the operator has it, and it need not be on the screen
        lines.append(f"{text}: {root}/?token={f'(that of {variable(setting)})' if known else token}")
    return lines


def cannot_listen(config: Config, error: OSError) -> str:
    """Return the sentence for an address on which the server cannot listen."""
    if error.errno == errno.EADDRINUSE:
        other = config.port + 1 if config.port < 65535 else 5000
        return (
            f"Port {config.port} on {config.host} is taken by another program. "
            f"Choose another: python app.py serve --port {other} (--port 0 takes any free one)."
        )
    return f"Cannot listen on {config.host}:{config.port}: {error.strerror or error}."


def _reachable(config: Config) -> str:
    """Return the host of a link for others: where the server listens everywhere, this machine's name."""
    if config.host in ("", "0.0.0.0", "::"):
        return config.hosts[0] if config.hosts else socket.gethostname()
    return f"[{config.host}]" if ":" in config.host else config.host
