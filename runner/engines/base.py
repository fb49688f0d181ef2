"""The interface of engines, which run the ranks: worker processes of this machine or of a cluster.

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
    """A request for the ranks of a run.

    One process per rank, on CPUs or with one GPU each, or all `together` in one process; `spread` and `arrange` as in
    the run command.
    """

    ranks: int
    together: bool = False
    device: str = "cpu"
    spread: str = "pack"
    arrange: str = "given"


@dataclass(frozen=True, slots=True)
class JobResources:
    """The resources of one job.

    A `folder` for its board and the results that rank 0 verifies; the `meeting` place of its ranks' process groups (a
    folder, or a store's address); the group of each rank; and the shared memory for messages, if any.
    """

    folder: str
    meeting: str
    groups: tuple[Group, ...]
    mailbox: Mailbox | None = None


@dataclass(frozen=True, slots=True)
class RankReply:
    """The reply of a rank to a command."""

    rank: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class RankLost:
    """The loss of a rank.

    `what` is the clause that says what ended, `why` the reason, if known; `cause` is the signal or exit code of its
    process.
    """

    rank: int
    what: Message
    why: str = ""
    cause: str = ""
    kind: FailureKind = "process_ended"


@dataclass(frozen=True, slots=True)
class EngineNotice:
    """An event for the reader of the runner's output that belongs to no run."""

    event: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EngineLost:
    """The loss of the engine itself: the runner has to be restarted."""

    why: Message


EngineEvent = RankReply | RankLost | EngineNotice | EngineLost


class EngineError(RuntimeError):
    """An engine cannot start; `message` says why."""

    def __init__(self, message: Message) -> None:
        super().__init__(str(message))
        self.message = message


class PlacementError(RuntimeError):
    """The requested ranks can never be placed; `message` says why."""

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
        """Return a sentence on the ranks that have no place yet, and why; empty if every rank has one."""

    def boot(self) -> None:
        """Begin the slow part of the start, which continues in parallel with the caller."""

    def open(self) -> None:
        """Start the engine. Raises EngineError on failure."""

    def describe(self) -> dict[str, Any]:
        """Return the fields of `ready` and `devices`."""

    def machine(self, run: Run) -> Machine:
        """Return the resources for a run. Raises RequestError for options that this engine does not have."""

    def waitables(self) -> Sequence[Any]:
        """Return the objects to wait on for events, as multiprocessing.connection accepts them."""

    def events(self, happened: Sequence[object]) -> Iterable[EngineEvent]:
        """Return the new events; `happened` are the waitables that are ready."""

    def place(self, request: RankRequest) -> None:
        """Start the requested ranks; those that run already are kept."""

    def placed(self) -> bool:
        """Return whether the ranks are ready; until then `waiting` may give the reason. Raises PlacementError if
        they can never be placed.
        """

    def job_resources(self, needs: MailboxNeeds | None) -> JobResources:
        """Create the resources of a new job; the last job's are freed. `needs` None: the ranks share no memory."""

    def watch(self, board: Board) -> None:
        """Set the job's board, for engines whose ranks cannot write to it."""

    def send(self, rank: int, command: Command) -> None:
        """Send a command to a rank."""

    def halted(self, rank: int) -> str:
        """Return a sentence if a rank's process is stopped; empty if it is not."""

    def dying(self) -> bool:
        """Return whether a rank may be lost but not reported as lost yet."""

    def facts(self, over: bool) -> dict[str, Any]:
        """Return the fields of `running` and, if the run is `over`, of `finished` on the hosts of ranks and their
        clocks.
        """

    def renew(self) -> None:
        """End all ranks, in any state, and start the same number of new ones."""

    def clear(self) -> None:
        """End all ranks now."""

    def close(self) -> None:
        """End everything that this engine started."""
