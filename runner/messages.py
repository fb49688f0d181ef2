"""Messages between the main process and its workers. Plain data, no tensors."""

from __future__ import annotations

from dataclasses import dataclass

from runner.failure import FailureKind
from runner.model.config import Training
from runner.model.verdict import Verdict
from runner.program.instructions import RankProgram, Transfer
from runner.telemetry.op_board import FirstRows
from runner.transport.mailbox import Mailbox

BOARD = "board"
StagePlaces = tuple[tuple[int, int], ...]


def results_file(folder: str, rank: int) -> str:
    """Return the path of the file to which a rank writes its gradients, in the job's folder."""
    return f"{folder}/results-{rank}"


@dataclass(frozen=True, slots=True)
class Group:
    """A process group: built once for a set of workers, and reused as long as `key` stays the same.

    Its ranks meet in `store`: a file or `tcp://HOST:PORT/NAME`; `address` is that of this rank's host.
    """

    key: str
    store: str
    rank: int
    ranks: int
    address: str = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Setup:
    """Get ready for a job: one rank's program and all that is needed to build its stages.

    `folder` is the job's own, with the board in it and room for the gradients; `meeting` is where its ranks meet in
    groups of the job's own, a folder or a store; `rows` are this rank's first rows of the board. `arrivals` are this
    rank's receives in the order of their senders, on GPUs only. `replicas` lists the (rank, chunk) places of each stage
    that is held more than once; `unit` and `hop` are in ns and 0 in free mode. `mailbox` is the shared memory for
    messages between CPUs of one host; None where they go over a network, or between ranks that are threads `together`
    in one process. `clock_file` holds by how much this host's clock is ahead of the common one; "" where there is one
    host. `wire` is the time for which a message occupies its streams, in time units.
    """

    group: Group
    program: RankProgram
    folder: str
    meeting: str
    rows: FirstRows
    training: Training
    device: str
    arrivals: tuple[Transfer, ...]
    replicas: tuple[StagePlaces, ...]
    unit: float
    hop: int
    mailbox: Mailbox | None = None
    together: bool = False
    clock_file: str = ""
    wire: float = 0.0


@dataclass(frozen=True, slots=True)
class StartStep:
    """Start the program at time `zero` of the common clock; `last`: no further step follows; `rehearsal`: the same step
    follows, with all effects of this one undone; `hop` as in Setup, in case it has been measured since."""

    zero: int
    last: bool
    rehearsal: bool = False
    hop: int = 0


@dataclass(frozen=True, slots=True)
class Verify:
    """Train the reference and compare with the results in `folder` and the `losses` of all micro-batches, step after
    step; `used` as in JobPlan."""

    training: Training
    device: str
    folder: str
    ranks: int
    losses: tuple[float, ...]
    used: tuple[tuple[int, ...], ...] | None


@dataclass(frozen=True, slots=True)
class Hop:
    """The time of a message to a `peer`, one way, and its uncertainty, in ns."""

    peer: int
    latency: int
    uncertainty: int


@dataclass(frozen=True, slots=True)
class Ready:
    """The reply of a rank that has built its stages, connected to its peers and warmed up.

    `device` as torch names it, `shared` with other ranks; `record_ns` is the measured cost of recording an op and its
    message, `hops` the measured times to neighbours that come after this rank, `longest` the ns of the warm-up's
    longest ops of one stage and micro-batch together.
    """

    device: str
    record_ns: float = 0.0
    hops: tuple[Hop, ...] = ()
    shared: bool = False
    longest: int = 0


@dataclass(frozen=True, slots=True)
class StepDone:
    """The reply of a rank whose program ran and whose gradients are written.

    The losses of the micro-batches that ended here, the most bytes of activations in memory at once (`whole`: with
    those in host memory), the most versions of its weights, and for how many ns it was ready to run but had no core.
    """

    losses: dict[int, float]
    peak: int
    whole: int
    versions: int
    starved: int


@dataclass(frozen=True, slots=True)
class RankError:
    """An exception in the worker: its kind, and its text (a Message if there is one for it)."""

    kind: FailureKind
    message: str


Command = Setup | StartStep | Verify
Reply = Ready | StepDone | Verdict | RankError
RankCommand = tuple[int, Command]  # the rank of a process, and what it is to do
RankResponse = tuple[int, Reply]
