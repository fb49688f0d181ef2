"""Connections to Redis with TLS, on gevent's sockets. The settings behind the `?` of the address are redis-py's own."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
from gevent.ssl import SSLContext

from backend.web.shared.connection import GeventConnection

# Of OpenSSL's X509_V_ERR_*: the certificate is for another host name, or for another address.
OTHER_HOST = (62, 64)
WRONG_VERSION = "WRONG_VERSION_NUMBER"  # what OpenSSL calls bytes that are no TLS


class TlsError(redis.RedisError):
    """A connection that must not be used, or cannot have TLS; the text says what to change. It is not tried again at
    once, as one that was lost is.
    """


class TlsConnection(redis.SSLConnection, GeventConnection):
    """A TCP connection with TLS that lets other greenlets run while it waits.

    The certificate and the host name are checked unless the settings say otherwise. Where they name authorities, only
    those count, not the system's too.
    """

    def _wrap_socket_with_ssl(self, sock: Any) -> Any:
        """Return the socket with TLS. Raises TlsError, and OSError where the network fails."""
        context = self._context()
        sock.settimeout(self.socket_connect_timeout)
        try:
            wrapped = context.wrap_socket(sock, server_hostname=self.host)
        except ssl.SSLCertVerificationError as error:
            raise TlsError(self._not_trusted(error)) from error
        except (ssl.SSLError, TimeoutError) as error:  # a Redis without TLS waits for the end of a line
            if isinstance(error, TimeoutError) or error.reason == WRONG_VERSION:
                raise TlsError("it does not speak TLS on this port: use its tls-port, or redis://") from error
            raise
        wrapped.settimeout(self.socket_timeout)
        return wrapped

    def _context(self) -> SSLContext:
        """Read the files that the settings name. They are read for each connection: a renewed one counts at once."""
        context = SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = self.check_hostname
        context.verify_mode = self.cert_reqs
        if self.ca_certs is None:
            context.load_default_certs()
        else:
            with _named("ssl_ca_certs", self.ca_certs):
                context.load_verify_locations(self.ca_certs)
        if self.certfile is not None:
            with _named("ssl_certfile", self.certfile):
                context.load_cert_chain(self.certfile, self.keyfile, "")  # without a password OpenSSL asks for one
        return context

    def _not_trusted(self, error: ssl.SSLCertVerificationError) -> str:
        why = error.verify_message.rstrip(".")
        if error.verify_code in OTHER_HOST:
            return f"its certificate is not for {self.host} ({why}): use a name that is in the certificate"
        return (
            f"its certificate is not trusted ({why}): name the file of its authority in BUBBLELINE_REDIS, "
            "rediss://HOST:PORT/NUMBER?ssl_ca_certs=/PATH/ca.pem"
        )


@contextmanager
def _named(setting: str, path: str) -> Iterator[None]:
    """Turn errors of a setting's file into one that names both."""
    try:
        yield
    except OSError as error:
        why = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        raise TlsError(f"{setting}: {path} cannot be read as PEM, with its key if it has one: {why}") from error
