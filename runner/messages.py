"""What the main process and a worker say to each other. Plain data, no tensors."""

from __future__ import annotations

from dataclasses import dataclass

from runner.model.config import Training
from runner.program.instructions import Link, RankProgram
from runner.telemetry.op_board import FirstRows
from runner.transport.mailbox import Mailbox

BOARD = "board"
# The largest relative error of the loss and of a parameter's gradient that is taken for rounding. A run and its
# reference round in the same places, to `dtype`, and add gradients up in float32; what differs is the order in which
# sums are made. float32: one rounding is 2**-24, and 1e-5 is 170 of them. bfloat16 keeps 8 bits, one rounding is up to
# 2**-8: the most that an order can do is to make roundings fall to the other side, which the layers pass on, mixed with
# others as independent, so that a few of them are left. Measured: 0 to 1e-7 where run and reference use the same
# kernels, 1e-2 to 2.3e-2 where one barrier makes the output layer's products before its softmax is known, and 1e-2 to
# 3e-2 between bfloat16 and float32, where no rounding is shared. 2**-5, 8 roundings, is the least power of two above.
# A micro-batch left out or taken twice is an error of at least 1/m.
TOLERANCE = {"float32": 1e-5, "bfloat16": 2.0**-5}
StagePlaces = tuple[tuple[int, int], ...]


def results_file(folder: str, rank: int) -> str:
    """Where a rank leaves what it is judged by."""
    return f"{folder}/results-{rank}"


@dataclass(frozen=True, slots=True)
class Group:
    """A process group: built once for a set of workers, used again as long as `key` stays the same. `store` is where
    its ranks find each other, a file or `tcp://HOST:PORT/NAME`, `address` where this rank's host is reached."""

    key: str
    store: str
    rank: int
    ranks: int
    address: str = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Setup:
    """Get ready for a job: one rank's program and all that is needed to build its stages.

    `folder` is the job's own, with the board in it and room for the gradients; `meeting` is where its ranks meet in
    groups of the job's own, a folder or a store. `arrivals` are this rank's receives in the order of their senders, on
    GPUs only. `replicas` lists the (rank, chunk) places of each stage that is held more than once; `unit` and `hop` are
    in ns and 0 in free mode. `mailbox` is where messages lie between ranks on CPUs of one host; None where they go over
    a network, or between ranks that are threads `together` in one process. `lead` is the file that says how far this
    host's clock is ahead of the common one; "" where there is one host.
    """

    group: Group
    program: RankProgram
    folder: str
    meeting: str
    rows: FirstRows
    training: Training
    device: str
    arrivals: tuple[Link, ...]
    replicas: tuple[StagePlaces, ...]
    unit: float
    hop: int
    mailbox: Mailbox | None = None
    together: bool = False
    lead: str = ""


@dataclass(frozen=True, slots=True)
class StartStep:
    """Start the program at time `zero` of the common clock; `last`: no further step follows; `rehearsal`: the same step
    follows, as if nothing had been; `hop` as in Setup, in case it has been measured since."""

    zero: int
    last: bool
    rehearsal: bool = False
    hop: int = 0


@dataclass(frozen=True, slots=True)
class Verify:
    """Train the reference and compare with the results in `folder` and the `losses` of all micro-batches, step after
    step; `used` as in Plan."""

    training: Training
    device: str
    folder: str
    ranks: int
    losses: tuple[float, ...]
    used: tuple[tuple[int, ...], ...] | None


@dataclass(frozen=True, slots=True)
class Hop:
    """How long a message takes to a `peer`, one way, in ns, and by how much that may be wrong."""

    peer: int
    latency: int
    uncertainty: int


@dataclass(frozen=True, slots=True)
class Ready:
    """The rank has built its stages, met its peers and warmed up; `device` in words, `note_ns` what it costs this rank
    to note an op and its message, `links` what was measured to neighbours that come after it."""

    device: str
    note_ns: float = 0.0
    links: tuple[Hop, ...] = ()


@dataclass(frozen=True, slots=True)
class StepDone:
    """The rank's program ran and its gradients are written: the losses of the micro-batches that ended here, the most
    bytes of activations that the rank kept at once (`whole`: with those in host memory), the most versions of its
    weights, and for how many ns it could have gone on but had no core."""

    losses: dict[int, float]
    peak: int
    whole: int
    versions: int
    starved: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether loss and every gradient agree, the largest relative error of a parameter's gradient and whose it is."""

    verified: bool
    loss: float
    reference_loss: float
    max_grad_error: float | None
    worst: str


@dataclass(frozen=True, slots=True)
class RankError:
    """Something was raised in the worker."""

    message: str


Command = Setup | StartStep | Verify
Reply = Ready | StepDone | Verdict | RankError
RankCommand = tuple[int, Command]  # to a rank of a process
RankResponse = tuple[int, Reply]  # from one
