"""The lines in and out: strict reading of commands, one shape of error. docs/contracts.md lists the fields of
events. While a run gets on, an event is sent every few seconds, `progress` if there is no other; a reader may take
silence for a hang.

Executes no command, and decodes no order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from backend.errors import RequestError, message, with_codes
from backend.schedule.spec import integer, number, optional, reject_unknown
from runner.devices import KINDS

VERSION = 2
MAX_LINE = 16 * 2**20
MODES = ("auto", "paced", "free")
DTYPES = ("float32", "bfloat16")
SPREADS = ("pack", "spread")
ARRANGEMENTS = ("given", "latency")
HOPS = ("given", "measured")
MAX_UNIT_MS = 60_000.0
MIN_UNIT_MS = 0.001
MAX_SEED = 2**31 - 1
MAX_STEPS = 100
RUN_KEYS = (
    "cmd", "id", "spec", "order", "mode", "unit_ms", "model", "seed", "steps", "dtype", "device", "spread", "arrange",
    "hops",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """Execute an order: `order` is the text of `wire.to_text`, `spec` its sizes, costs and options. Of `steps` training
    steps the last one is reported. On a cluster: `spread` over few hosts or many, ranks arranged in the order of hosts
    or by latency, hops as long as the spec says or as measured."""

    id: str
    order: str
    spec: Mapping[str, Any] = field(default_factory=dict)
    mode: str = MODES[0]
    unit_ms: float | None = None
    model: Mapping[str, Any] | None = None
    seed: int = 0
    steps: int = 1
    dtype: str = DTYPES[0]
    device: str = KINDS[0]
    spread: str = SPREADS[0]
    arrange: str = ARRANGEMENTS[0]
    hops: str = HOPS[0]


@dataclass(frozen=True, slots=True)
class Cancel:
    """End a run."""

    id: str


@dataclass(frozen=True, slots=True)
class Devices:
    """Report the devices."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """End the program."""


Command = Run | Cancel | Devices | Shutdown


class LineError(RequestError):
    """A line that is not a command; `id` is the run that it names, if it can be read."""

    def __init__(self, error: RequestError, run_id: str | None) -> None:
        super().__init__(error.field, error.value, error.message, limit=error.limit, nearest=error.nearest)
        self.id = run_id


def parse(line: bytes) -> Command:
    """Read one line. Raises LineError."""
    try:
        data = json.loads(line, parse_constant=_no_constant)
    except RequestError as error:
        raise LineError(error, None) from None
    except (ValueError, RecursionError) as error:
        reason = message("runner.not_json", "not a line of JSON: {error}", error=str(error)[:200])
        raise LineError(RequestError("line", line[:60].decode(errors="replace"), reason), None) from None
    run_id = data.get("id") if isinstance(data, dict) else None
    try:
        return _command(data)
    except RequestError as error:
        raise LineError(error, run_id if isinstance(run_id, str) and _is_legible(run_id) else None) from None


def _command(data: Any) -> Command:
    if not isinstance(data, dict):
        example = json.dumps({"cmd": "devices"})
        raise RequestError(
            "line", data, message("runner.not_a_command", "a command is an object such as {example}", example=example)
        )
    cmd = data.get("cmd")
    if cmd == "run":
        return _run(data)
    if cmd == "cancel":
        reject_unknown(data, ("cmd", "id"), "cancel")
        return Cancel(_id(data))
    if cmd in ("devices", "shutdown"):
        reject_unknown(data, ("cmd",), cmd)
        return Devices() if cmd == "devices" else Shutdown()
    reason = message("runner.unknown_command", "cmd must be run, cancel, devices or shutdown")
    raise RequestError("cmd", cmd, reason, nearest="run")


def _run(data: Mapping[str, Any]) -> Run:
    reject_unknown(data, RUN_KEYS, "run")
    run_id = _id(data)
    spec, order, model = data.get("spec"), data.get("order"), data.get("model")
    if not isinstance(spec, dict):
        raise RequestError("spec", spec, message("runner.spec_not_object", "a run needs a spec, which is an object"))
    if not isinstance(order, str):
        reason = message("runner.order_not_text", "a run needs an order, which is the text of an encoded order")
        raise RequestError("order", order, reason)
    if model is not None and not isinstance(model, dict):
        raise RequestError("model", model, message("runner.model_not_object", "model must be an object or null"))
    return Run(
        id=run_id,
        order=order,
        spec=spec,
        mode=_choice("mode", data.get("mode", MODES[0]), *MODES),
        unit_ms=optional(number, "unit_ms", data.get("unit_ms"), MIN_UNIT_MS, MAX_UNIT_MS),
        model=model,
        seed=integer("seed", 0 if data.get("seed") is None else data["seed"], 0, MAX_SEED),
        steps=integer("steps", 1 if data.get("steps") is None else data["steps"], 1, MAX_STEPS),
        dtype=_choice("dtype", DTYPES[0] if data.get("dtype") is None else data["dtype"], *DTYPES),
        device=_choice("device", KINDS[0] if data.get("device") is None else data["device"], *KINDS),
        spread=_choice("spread", SPREADS[0] if data.get("spread") is None else data["spread"], *SPREADS),
        arrange=_choice("arrange", ARRANGEMENTS[0] if data.get("arrange") is None else data["arrange"], *ARRANGEMENTS),
        hops=_choice("hops", HOPS[0] if data.get("hops") is None else data["hops"], *HOPS),
    )


def _choice(name: str, value: Any, *choices: str) -> str:
    if not isinstance(value, str) or value not in choices:
        reason = message("runner.not_a_choice", "{name} must be one of {choices}", name=name, choices=list(choices))
        raise RequestError(name, value, reason, nearest=choices[0])
    return value


def _id(data: Mapping[str, Any]) -> str:
    value = data.get("id")
    if not isinstance(value, str) or not _is_legible(value):
        reason = message("runner.illegible_id", "id must be a text of 1 to 100 printable characters")
        raise RequestError("id", value, reason)
    return value


def _is_legible(value: str) -> bool:
    return 1 <= len(value) <= 100 and value.isprintable()


def _no_constant(name: str) -> NoReturn:
    raise RequestError("line", name, message("runner.no_constant", "{name} is not a number that JSON has", name=name))


def line(event: str, **fields: Any) -> bytes:
    """Encode one line out: JSON in which every `Message` is ``{"code", "params", "message"}``. Rows of numbers, which
    hold no messages, are not searched for any."""
    if event != "op_batch":
        fields = with_codes(fields)
    return json.dumps({"event": event, **fields}, separators=(",", ":"), allow_nan=False).encode() + b"\n"
