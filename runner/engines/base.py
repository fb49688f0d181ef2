"""What the runner needs of whatever runs ranks: worker processes of this machine, or a cluster's.

Says what an engine is asked and what it tells; knows no engine. All calls return at once but `open` and `close`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from runner.devices import Machine
from runner.messages import Command, Group, Reply
from runner.protocol import Run
from runner.transport.mailbox import Mailbox

if TYPE_CHECKING:  # the schedule core loads while an engine boots
    from runner.job.plan import Plan
    from runner.telemetry.op_board import Board


@dataclass(frozen=True, slots=True)
class RankRequest:
    """The ranks that a run wants: a process each, on CPUs or a GPU each, or all `together` in one process; `spread` and
    `arrange` as in the run command."""

    ranks: int
    together: bool = False
    device: str = "cpu"
    spread: str = "pack"
    arrange: str = "given"


@dataclass(frozen=True, slots=True)
class JobResources:
    """What one job has: a folder for its board and what rank 0 verifies, the `meeting` place of its ranks' process
    groups (a folder, or a store's address), the group of each rank, and the memory for messages if it can be shared."""

    folder: str
    meeting: str
    groups: tuple[Group, ...]
    mailbox: Mailbox | None = None


@dataclass(frozen=True, slots=True)
class RankReply:
    """A rank has answered."""

    rank: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class RankLost:
    """A rank is gone: `what` ended is how a sentence begins, `why` how it ends; `cause` in a word, if known."""

    rank: int
    what: str
    why: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class EngineNotice:
    """An event for whoever reads the runner, about no run in particular."""

    event: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EngineLost:
    """The engine itself is at its end: the runner has to be started again."""

    why: str


EngineEvent = RankReply | RankLost | EngineNotice | EngineLost


class EngineError(RuntimeError):
    """An engine cannot start, for a reason in words."""


class Engine(Protocol):
    """Ranks somewhere, kept warm between jobs."""

    name: str
    address: str  # of the cluster; empty where there is none
    start_ns: int  # from "go" to the common start: the time in which the slowest worker has read it
    blame_ns: int  # how long an error of a rank waits for the loss of another that may explain it

    @property
    def waiting(self) -> str:
        """What has no place yet and why, in words; empty where all is well."""

    def boot(self) -> None:
        """Begin with what takes long and goes on by itself while the caller does other things."""

    def open(self) -> None:
        """Be there; raises EngineError where that cannot be."""

    def describe(self) -> dict[str, Any]:
        """What the protocol says of what there is to run on."""

    def machine(self, run: Run) -> Machine:
        """What there is for a run; raises SpecError for options that this engine does not have."""

    def waitables(self) -> Sequence[Any]:
        """What to wait on for news, as multiprocessing.connection has it."""

    def events(self, happened: Sequence[object]) -> Iterable[EngineEvent]:
        """What is new, some of what was waited on having happened."""

    def place(self, ask: RankRequest) -> None:
        """Have ranks ready; those that are there already are kept."""

    def placed(self) -> bool:
        """Whether they are; until then `waiting` may say why not. Raises SpecError where they will never be."""

    def job_resources(self, plan: Plan) -> JobResources:
        """What a new job needs; the last job's goes."""

    def watch(self, board: Board) -> None:
        """Where the ranks' times of this job are to be seen, if they do not write there themselves."""

    def send(self, rank: int, command: Command) -> None:
        """Tell a rank something."""

    def halted(self, rank: int) -> str:
        """That a rank's process is stopped, in words; empty where it is not."""

    def dying(self) -> bool:
        """Whether a rank may be gone of which no news has come yet."""

    def facts(self, over: bool) -> dict[str, Any]:
        """What `running` and, at the end, `finished` say of where the ranks are and what their clocks are worth."""

    def renew(self) -> None:
        """End all ranks, whatever they are doing, and start as many new ones."""

    def clear(self) -> None:
        """End all ranks now."""

    def close(self) -> None:
        """End everything that this engine started."""
