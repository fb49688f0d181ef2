"""Errors of computations: a queue that is full, a limit that was exceeded, a client that has left."""

from __future__ import annotations

from backend.errors import Kind, RequestError, message


class ClientLeftError(RequestError):
    """The client of a computation has closed its connection: an answer would reach no one."""


class TooLongError(RequestError):
    """A computation that was ended at the time limit."""


class TooLargeError(RequestError):
    """A computation that was ended at the memory limit."""


class WorkerError(Exception):
    """A defect in a computation, with the worker's traceback; not the request's fault."""


def no_place(kind: Kind, waiting: int, seconds: int) -> RequestError:
    """Return the error of a queue without a place ("full"), or of a client whose places are taken ("share")."""
    full = message(
        "compute.full",
        "{waiting} computations are waiting already; try again in {seconds} s",
        waiting=waiting,
        seconds=seconds,
    )
    share = message(
        "compute.share",
        "{waiting} of your computations are waiting already; try again in {seconds} s",
        waiting=waiting,
        seconds=seconds,
    )
    return _busy(kind, waiting, full if kind == "full" else share, seconds)


def too_long(seconds: float) -> TooLongError:
    """Return the error of a computation that was ended at the time limit."""
    text = message(
        "compute.too_long",
        "this takes more than {seconds} s, the limit of this server; choose a smaller m, or use the command line",
        seconds=f"{seconds:g}",
    )
    return TooLongError("m", None, text, limit=seconds, kind="full")


def too_large(mb: int) -> TooLargeError:
    """Return the error of a computation that was ended at the memory limit."""
    text = message(
        "compute.too_large",
        "this takes more than {mb} MB of memory, the limit of this server; choose a smaller m, or use the command line",
        mb=mb,
    )
    return TooLargeError("m", None, text, limit=mb, kind="full")


def died() -> RequestError:
    """Return the error of a worker process that ended from outside."""
    text = message("compute.worker_ended", "the process that computed this was ended by the system; try again soon")
    return _busy("full", None, text, 1)


def left() -> ClientLeftError:
    """Return the error of a client that has left."""
    return ClientLeftError(None, None, message("compute.left", "the client has left"), kind="over")


def _busy(kind: Kind, waiting: int | None, text: str, retry_after: int) -> RequestError:
    return RequestError("computations", waiting, text, limit=waiting, kind=kind, retry_after=retry_after)
