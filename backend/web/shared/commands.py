"""Commands to the process that manages the runs, and its answers, through lists in Redis.

A command is a key that Redis deletes after ANSWER_S, and its id in a list. The manager takes the id, then the key. A
command that is not taken in time is gone, so a manager that was away starts no run whose client has given up.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Callable
from typing import Any

import gevent
from gevent.event import AsyncResult
from gevent.pool import Pool

from backend.errors import RequestError, from_codes, message, printable, with_codes
from backend.web.shared.connection import UNAVAILABLE, connect, key

logger = logging.getLogger(__name__)
QUEUE = key("commands")
ANSWER_S = 10
WAIT_S = 2  # for which one call waits in Redis
PAUSE_S = 0.3  # after a failure
RETRY_S = 5  # of the advice to a client
AT_ONCE = 100  # commands that the manager has in hand
Handler = Callable[..., dict[str, Any]]


class Commands:
    """The side that gives commands: `call` waits for the answer."""

    def __init__(self, url: str) -> None:
        self._client = connect(url)
        self._answers = key("answers", secrets.token_hex(8))  # of this process
        self._waiting: dict[str, Any] = {}  # AsyncResult by number
        self._reader: Any = None

    def call(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Return the answer of the manager. Raises RequestError: its own, or one ("full") if it does not answer."""
        self._reader = self._reader or gevent.spawn(self._read_forever)
        number, result = secrets.token_hex(8), AsyncResult()
        self._waiting[number] = result
        text = json.dumps({"name": command, "arguments": with_codes(arguments), "answers": self._answers})
        try:
            calls = self._client.pipeline()
            calls.set(_command_key(number), text, ex=ANSWER_S)
            calls.rpush(QUEUE, number)
            calls.expire(QUEUE, ANSWER_S)
            calls.execute()
            answer: dict[str, Any] = result.get(timeout=ANSWER_S)
        except UNAVAILABLE as error:
            raise no_redis() from error
        except gevent.Timeout:
            raise no_manager() from None
        finally:
            del self._waiting[number]
        if "error" in answer:
            raise RequestError(**answer["error"])
        return answer

    def stop(self) -> None:
        """Stop reading answers."""
        if self._reader is not None:
            self._reader.kill()

    def _read_forever(self) -> None:
        while True:
            try:
                found = self._client.blpop([self._answers], timeout=WAIT_S)
            except UNAVAILABLE:
                gevent.sleep(PAUSE_S)
                continue
            if found is not None:
                answer = json.loads(found[1])
                result = self._waiting.get(answer["command"])
                if result is not None:
                    result.set(from_codes(answer))


class CommandServer:
    """The side that executes commands, each in a greenlet: `handlers` return the fields of the answer, or raise
    RequestError."""

    def __init__(self, url: str, handlers: dict[str, Handler]) -> None:
        self._client, self._handlers = connect(url), handlers

    def serve_forever(self) -> None:
        """Take commands until the greenlet is killed."""
        group = Pool(AT_ONCE)
        while True:
            try:
                found = self._client.blpop([QUEUE], timeout=WAIT_S)
                text = None if found is None else self._client.getdel(_command_key(found[1].decode()))
            except UNAVAILABLE:
                gevent.sleep(PAUSE_S)
                continue
            if text is not None:
                group.spawn(self._execute, found[1].decode(), json.loads(text))  # waits while the pool is full

    def _execute(self, command: str, asked: dict[str, Any]) -> None:
        try:
            answer = self._handlers[asked["name"]](**from_codes(asked["arguments"]))
        except RequestError as error:
            answer = {"error": _shape_of(error)}
        except Exception:
            logger.exception("the command %s", asked.get("name"))
            text = message("runs.manager_failed", "The process that executes runs failed at this; its log has details.")
            answer = {"error": _shape_of(RequestError("server", None, text, kind="server"))}
        calls = self._client.pipeline()
        calls.rpush(asked["answers"], json.dumps(with_codes({"command": command} | answer)))
        calls.expire(asked["answers"], ANSWER_S)
        try:
            calls.execute()
        except UNAVAILABLE as error:
            logger.warning("the answer to %s could not be sent: %s", asked["name"], error)


def no_manager() -> RequestError:
    """Return the error of a request that takes a process that manages the runs, while there is none."""
    return _busy(
        message(
            "runs.no_manager",
            "No process of this server executes runs at present; try again in {seconds} s.",
            seconds=RETRY_S,
        )
    )


def no_redis() -> RequestError:
    """Return the error of a request that takes Redis, while that is away."""
    return _busy(
        message(
            "runs.no_redis",
            "The server has lost its connection to Redis; look at the list of runs, and try again in {seconds} s.",
            seconds=RETRY_S,
        )
    )


def _busy(text: str) -> RequestError:
    return RequestError("server", None, text, kind="full", retry_after=RETRY_S)


def _command_key(command: str) -> str:
    return key("command", command)


def _shape_of(error: RequestError) -> dict[str, Any]:
    names = ("kind", "field", "message", "limit", "retry_after")
    return {name: getattr(error, name) for name in names} | {"value": printable(error.value)}
