"""A proxy that the browser of the tests uses for every other machine: it notes what is asked for, and refuses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread


class OtherMachines(ThreadingTCPServer):
    """Refuses what pages, their frames and their workers ask of other machines; ``asked`` has a line for each request.

    To ask here costs a browser nothing until it happens, whereas a listener is told of every request of a page.
    """

    daemon_threads = True

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Refusal)

    @property
    def flag(self) -> str:
        """The flag for Chromium, which asks 127.0.0.1 and localhost itself, without a proxy."""
        return f"--proxy-server=127.0.0.1:{self.server_address[1]}"


class Refusal(StreamRequestHandler):
    server: OtherMachines

    def handle(self) -> None:
        line = self.rfile.readline().decode("latin-1").split()
        self.server.asked.append(" ".join(line[:2]))  # the method, and the address or the host
        self.wfile.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


@contextmanager
def other_machines() -> Iterator[OtherMachines]:
    """Serve the proxy."""
    with OtherMachines() as served:
        Thread(target=served.serve_forever, daemon=True).start()
        yield served
        served.shutdown()
