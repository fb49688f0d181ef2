"""The connection to Redis, on gevent's sockets: a call waits for the network, the event loop goes on.

Redis-py has no event loop of gevent, and the server patches nothing (docs/decisions/07-gevent-server.md); so its
connections get sockets of gevent's class, which is all they need.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import redis
from gevent import socket as gevent_socket
from redis.backoff import NoBackoff
from redis.retry import Retry

PREFIX = "bubbleline:"  # of every key
CONNECT_S, ANSWER_S = 2.0, 10.0
# Of a connection on which nothing comes: seconds until it is tried, between further tries, and how many of them. Who
# only listens sends nothing, and would never notice that a firewall has forgotten the connection, or Redis' machine.
ALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
# What a call raises while Redis is away, is loading its data, or has no memory left.
UNAVAILABLE = (redis.RedisError, OSError)


class GeventConnection(redis.Connection):
    """A TCP connection that lets other greenlets run while it waits."""

    def _connect(self) -> Any:
        address = (self.host, self.port)
        found = gevent_socket.create_connection(address, timeout=self.socket_connect_timeout)
        try:
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for name, value in ALIVE.items():
                if hasattr(socket, name):  # on this system
                    found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
            found.settimeout(self.socket_timeout)
        except OSError:
            found.close()
            raise
        return found


def connect(url: str) -> Any:
    """Return a client for `redis[s]://[user:password@]host:port/number`; it connects when it is first used.

    A call that finds its idle connection closed is tried once more on a new one. Texts are returned as bytes.
    """
    kind: type[redis.Connection] = GeventConnection
    if url.startswith("rediss:"):
        from backend.web.shared.tls import TlsConnection

        kind = TlsConnection
    pool = redis.ConnectionPool.from_url(
        url,
        connection_class=kind,
        protocol=2,
        socket_connect_timeout=CONNECT_S,
        socket_timeout=ANSWER_S,
        retry=Retry(NoBackoff(), 1),
        retry_on_error=[ConnectionError],
    )
    return redis.Redis(connection_pool=pool)


def close(client: Any) -> None:
    """Close all connections; safe where Redis is away."""
    with suppress(*UNAVAILABLE):
        client.connection_pool.disconnect()


def shown(url: str) -> str:
    """Return the address without user and password, for people."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or 6379}"


def key(*parts: str) -> str:
    """Return the name of a key: `key("run", "a1b2")` is "bubbleline:run:a1b2"."""
    return PREFIX + ":".join(parts)
