"""The lines in and out: strict reading of commands, one shape of error. Executes nothing.

What a run's events hold beyond what every reader knows, which one that does not know it may pass over:
`op_batch.copies`, where the order has copies: rows `[rank, index in the rank's copies, ready, start, end, bytes]`,
times as those of ops; once the last op is reported, every copy has been.
`op_batch.bytes`: rows `[rank, index in the rank's row, received, sent, live]`, bytes of the op's messages, and of the
activations that are alive on its rank's device after it. Where ops are very many, these rows and the messages' come
later than the ops, the last ones with the last batch, whose `ops` may be empty.
`op_batch.messages`: rows `[source, target, 0 activation or 1 gradient, stage, micro-batch, posted, asked, taken,
bytes]`: when its sender started it, when the receiver asked for it and had it; where it waited, that is when it came.
`running.why`: why this mode. `ready.choices`, `devices.choices`: what runs of `from` to `to` ranks use, and why.
`finished.busy`, `finished.idle`: ns of each rank, in ops and by what the rest was spent on (idle_time.py lists the kinds).
`finished.slowest`: the rank whose ops took longest beside their plan; `finished.instrumentation`: what noting an op
costs, and the share of the step that it makes. `finished.calibrated`: the costs that the ops had, in time units, the
figures that the simulator makes of them, and how far the makespan is off, as a share of the measured one.
`verified.tolerance`, `finished.tolerance`: the largest relative error that is taken for rounding, which depends on the
type of the arithmetic. `finished.notes`, of a run that is not verified: why.
`finished.activations`: `peak_bytes`, for each rank the most bytes of activations saved for backwards that its device
held at once, and with offload `peak_bytes_without_offload`, the same with what lay in host memory.
`finished.weight_versions`, where weights change after every backward: the most versions that each rank held.
`finished.losses`, of a run of several steps: the mean loss of each; ops, figures and gradients are the last step's.
On a cluster: `cluster` (no id): its hosts, what is free, where the ranks of the present or last run sit, the latency of
the links between them, and what it waits for; `waiting`: why a run has no places yet, empty once it has; `running` and
`finished` with `hosts`, one a rank, `clocks`, one a host, `links`, and `hop_ms`, the hop that the plan has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from backend.schedule.errors import SpecError
from backend.schedule.spec import integer, number, optional, reject_unknown
from runner.devices import KINDS

VERSION = 1
MAX_LINE = 16 * 2**20
MODES = ("auto", "paced", "free")
DTYPES = ("float32", "bfloat16")
PLACEMENTS = ("looped", "v")
SPREADS = ("pack", "spread")
ARRANGEMENTS = ("given", "latency")
HOPS = ("given", "measured")
MAX_UNIT_MS = 60_000.0
MIN_UNIT_MS = 0.001
MAX_SEED = 2**31 - 1
MAX_STEPS = 100
RUN_KEYS = (
    "cmd", "id", "spec", "csv", "placement", "p", "mode", "unit_ms", "model", "seed", "steps", "dtype", "device",
    "spread", "arrange", "hops",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """Run a spec, or an order imported as torch's CSV (`placement` None: found from its stages); `steps` training
    steps, of which the last is the one that is reported. On a cluster: `spread` over few hosts or many, ranks arranged
    by the hosts' order or by latency, hops as long as the spec says or as measured."""

    id: str
    spec: Mapping[str, Any] | None = None
    csv: str | None = None
    placement: str | None = None
    p: int | None = None
    mode: str = "auto"
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
    """Say what there is to run on."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """End the program."""


Command = Run | Cancel | Devices | Shutdown


class LineError(SpecError):
    """A line that is no command; `id` is the run it was about, if it said so legibly."""

    def __init__(self, error: SpecError, run_id: str | None) -> None:
        super().__init__(error.field, error.value, error.message, limit=error.limit, nearest=error.nearest)
        self.id = run_id


def parse(line: bytes) -> Command:
    """Read one line; raises LineError."""
    try:
        data = json.loads(line, parse_constant=_no_constant)
    except SpecError as error:
        raise LineError(error, None) from None
    except (ValueError, RecursionError) as error:
        message = f"not a line of JSON: {str(error)[:200]}"
        raise LineError(SpecError("line", line[:60].decode(errors="replace"), message), None) from None
    known = data.get("id") if isinstance(data, dict) else None
    try:
        return _command(data)
    except SpecError as error:
        raise LineError(error, known if isinstance(known, str) and _legible(known) else None) from None


def _command(data: Any) -> Command:
    if not isinstance(data, dict):
        raise SpecError("line", data, 'a command is an object such as {"cmd": "run", "id": "1", "spec": {}}')
    cmd = data.get("cmd")
    if cmd == "run":
        return _run(data)
    if cmd == "cancel":
        reject_unknown(data, ("cmd", "id"), "cancel")
        return Cancel(_id(data))
    if cmd in ("devices", "shutdown"):
        reject_unknown(data, ("cmd",), cmd)
        return Devices() if cmd == "devices" else Shutdown()
    raise SpecError("cmd", cmd, "cmd must be run, cancel, devices or shutdown", nearest="run")


def _run(data: Mapping[str, Any]) -> Run:
    reject_unknown(data, RUN_KEYS, "run")
    run_id = _id(data)
    spec, csv = data.get("spec"), data.get("csv")
    if csv is None:
        for key in ("placement", "p"):
            if data.get(key) is not None:
                raise SpecError(key, data[key], f"{key} goes with csv; a spec has its own")
    if csv is None and spec is None:
        raise SpecError("spec", None, "a run needs a spec or a csv")
    if spec is not None and not isinstance(spec, dict):
        raise SpecError("spec", spec, "spec must be an object or null")
    if csv is not None and not isinstance(csv, str):
        raise SpecError("csv", csv, "csv must be a text or null")
    model = data.get("model")
    if model is not None and not isinstance(model, dict):
        raise SpecError("model", model, "model must be an object or null")
    return Run(
        id=run_id,
        spec=spec,
        csv=csv,
        placement=optional(_choice, "placement", data.get("placement"), *PLACEMENTS),
        p=optional(integer, "p", data.get("p"), 1, 1024),
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


def _choice(field: str, value: Any, *choices: str) -> str:
    if not isinstance(value, str) or value not in choices:
        raise SpecError(field, value, f"{field} must be {' or '.join(choices)}", nearest=choices[0])
    return value


def _id(data: Mapping[str, Any]) -> str:
    value = data.get("id")
    if not isinstance(value, str) or not _legible(value):
        raise SpecError("id", value, "id must be a text of 1 to 100 printable characters")
    return value


def _legible(value: str) -> bool:
    return 1 <= len(value) <= 100 and value.isprintable()


def _no_constant(name: str) -> NoReturn:
    raise SpecError("line", name, f"{name} is not a number that JSON has")


def line(event: str, **fields: Any) -> bytes:
    """One line out."""
    return json.dumps({"event": event, **fields}, separators=(",", ":"), allow_nan=False).encode() + b"\n"
