"""The interface of engines: what runs the ranks, worker processes of this machine or of a cluster.

Knows no engine. All calls return at once, except `open` and `close`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from backend.errors import Message
from runner.devices import Machine
from runner.failure import FailureKind
from runner.messages import Command, Group, Reply
from runner.protocol import Run
from runner.transport.mailbox import Mailbox, MailboxNeeds

if TYPE_CHECKING:  # numpy loads while an engine boots
    from runner.telemetry.op_board import Board


@dataclass(frozen=True, slots=True)
class RankRequest:
    """The ranks of a run: a process each, on CPUs or a GPU each, or all `together` in one process; `spread` and
    `arrange` as in the run command."""

    ranks: int
    together: bool = False
    device: str = "cpu"
    spread: str = "pack"
    arrange: str = "given"


@dataclass(frozen=True, slots=True)
class JobResources:
    """The resources of one job: a `folder` for its board and for what rank 0 verifies, the `meeting` place of its
    ranks' process groups (a folder, or a store's address), the group of each rank, and the shared memory for messages
    if there is any."""

    folder: str
    meeting: str
    groups: tuple[Group, ...]
    mailbox: Mailbox | None = None


@dataclass(frozen=True, slots=True)
class RankReply:
    """A rank has replied to a command."""

    rank: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class RankLost:
    """A rank is gone: `what` is the clause that says what ended, `why` the reason, if known; `cause` is the signal or
    exit code of its process."""

    rank: int
    what: Message
    why: str = ""
    cause: str = ""
    kind: FailureKind = "process_ended"


@dataclass(frozen=True, slots=True)
class EngineNotice:
    """An event for the reader of the runner's lines that belongs to no run."""

    event: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EngineLost:
    """The engine itself is lost: the runner has to be started again."""

    why: Message


EngineEvent = RankReply | RankLost | EngineNotice | EngineLost


class EngineError(RuntimeError):
    """An engine cannot start; `message` says why."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


class PlacementError(RuntimeError):
    """The requested ranks will never have a place; `message` says why."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


class Engine(Protocol):
    """Runs ranks and keeps them warm between jobs."""

    name: str
    address: str  # of the cluster; empty where there is none
    start_ns: int  # from `StartStep` to the common start: the time in which the slowest worker has read it
    blame_ns: int  # how long an error of a rank waits for the loss of another that may explain it

    @property
    def waiting(self) -> str:
        """The sentence that says what has no place yet and why; empty where every rank has one."""

    def boot(self) -> None:
        """Begin the slow part of the start, which goes on while the caller does other things."""

    def open(self) -> None:
        """Start the engine. Raises EngineError on failure."""

    def describe(self) -> dict[str, Any]:
        """Return the fields of `ready` and `devices`."""

    def machine(self, run: Run) -> Machine:
        """Return the resources for a run. Raises RequestError for options that this engine does not have."""

    def waitables(self) -> Sequence[Any]:
        """Return what to wait on for events, as multiprocessing.connection takes it."""

    def events(self, happened: Sequence[object]) -> Iterable[EngineEvent]:
        """Return the new events; `happened` are the waitables that are ready."""

    def place(self, request: RankRequest) -> None:
        """Get ranks ready; those that run already are kept."""

    def placed(self) -> bool:
        """Whether the ranks are ready; until then `waiting` may say why not. Raises PlacementError where they will
        never be."""

    def job_resources(self, needs: MailboxNeeds | None) -> JobResources:
        """Create the resources of a new job; the last job's are freed. `needs` None: no memory can be shared."""

    def watch(self, board: Board) -> None:
        """Take the job's board, for engines whose ranks cannot write to it."""

    def send(self, rank: int, command: Command) -> None:
        """Send a command to a rank."""

    def halted(self, rank: int) -> str:
        """Return the sentence that a rank's process is stopped; empty where it is not."""

    def dying(self) -> bool:
        """Whether a rank may be gone whose loss has not been reported yet."""

    def facts(self, over: bool) -> dict[str, Any]:
        """Return the fields of `running` and, at the end, `finished` on the hosts of ranks and their clocks."""

    def renew(self) -> None:
        """End all ranks, whatever they are doing, and start the same number of new ones."""

    def clear(self) -> None:
        """End all ranks now."""

    def close(self) -> None:
        """End everything that this engine started."""
