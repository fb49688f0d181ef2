"""The instructions of a per-rank program: transfers, tasks, steps, copies.

Plain data that the main process sends to the workers; knows neither orders nor tensors.
"""

from __future__ import annotations

from dataclasses import dataclass

from backend.errors import Message, message


@dataclass(frozen=True, slots=True)
class Transfer:
    """A value passed from one op to another: a message between two ranks, or local on one rank.

    `tag` is unique in a program: it encodes the content (activation or gradient), the receiving stage and the
    micro-batch.
    """

    tag: int
    what: str
    stage: int
    micro: int
    source: int
    target: int

    @property
    def local(self) -> bool:
        """Return whether both ends are on one rank (the turn of a V), where no message is sent."""
        return self.source == self.target

    def text(self) -> Message:
        """Return a description for errors."""
        gradient = self.what == "gradient"
        return message(
            "runner.link",
            "{what} of micro-batch {micro} into stage {stage} (rank {source} to {target})",
            what=message("runner.gradient", "gradient") if gradient else message("runner.activation", "activation"),
            micro=self.micro,
            stage=self.stage,
            source=self.source,
            target=self.target,
        )


HIDDEN, STATISTICS, GRADIENT = range(3)  # the results of barriers C0, C1 and C2
EMBEDDED, EMBEDDING = 3, 4  # the first stage's input; its gradient, which goes back to all shards
_COLLECTIVES = (
    message("runner.hidden", "output of the last stage"),
    message("runner.statistics", "softmax statistics of all ranks"),
    message("runner.output_gradient", "gradient of the last stage's output"),
    message("runner.embedded", "embedded tokens"),
)


@dataclass(frozen=True, slots=True)
class CollectiveInput:
    """The result of a collective that an op waits for; `far` if it takes a hop."""

    what: int
    micro: int
    far: bool

    @property
    def tag(self) -> int:
        """Return a number that differs from every transfer's tag and from -1."""
        return -2 - self.what

    def text(self) -> Message:
        """Return a description for errors."""
        what = _COLLECTIVES[self.what]
        return message("runner.collective", "{what} of micro-batch {micro}", what=what, micro=self.micro)


@dataclass(frozen=True, slots=True)
class Output:
    """A vocabulary spread over all ranks; `root` is the last stage's rank, `first` the first one's. Unless `embedding`,
    the first stage has no gradient that the embedding would be trained with."""

    barriers: int
    root: int
    first: int
    embedding: bool = True

    @property
    def chains(self) -> tuple[int, ...]:
        """Return the results that have a chain of collectives of their own; with one barrier the gradient comes with
        the statistics.
        """
        barriers = (HIDDEN, STATISTICS, GRADIENT) if self.barriers == 2 else (HIDDEN, STATISTICS)
        return (*barriers, EMBEDDED, EMBEDDING) if self.embedding else (*barriers, EMBEDDED)


@dataclass(frozen=True, slots=True)
class OpTask:
    """One op, or half of an overlapped pair: what to compute (kind F, I, W, B, S or T), from which transfer or
    collective, into which transfer or chain of collectives."""

    kind: str
    stage: int
    micro: int
    chunk: int
    input_transfer: Transfer | None
    output_transfer: Transfer | None
    collective_input: CollectiveInput | None = None
    collective_output: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One op of a rank's row: one task, or two for an overlapped pair; `nominal` is in time units of the costs, and so
    is `lead`, the part of it that runs before its gradient is there: the forward of `again`, (chunk, micro-batch)."""

    index: int
    text: str
    tasks: tuple[OpTask, ...]
    nominal: float
    lead: float = 0.0
    again: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy beside the ops: kind O (a chunk's activations of a micro-batch go to host memory) or R (they come back),
    issued when the rank has done `issued` of its ops; `nominal` as of a step."""

    kind: str
    chunk: int
    micro: int
    issued: int
    nominal: float


@dataclass(frozen=True, slots=True)
class Post:
    """One end of a message that shares a stream: a receive, posted when the rank has done `issued` of its ops, or a
    send; a rank's posts on one `stream` pass in their order."""

    transfer: Transfer
    receive: bool
    stream: int
    issued: int


@dataclass(frozen=True, slots=True)
class RankProgram:
    """The ops of one rank in a training step, in order; `stages` holds its chunks' stage numbers, `posts` its messages
    where these share streams."""

    rank: int
    stages: tuple[int, ...]
    steps: tuple[Step, ...]
    copies: tuple[Copy, ...] = ()
    output: Output | None = None
    posts: tuple[Post, ...] = ()

    def receives(self) -> tuple[Transfer, ...]:
        """Return the messages from other ranks, in the order in which they are needed."""
        transfers = (task.input_transfer for step in self.steps for task in step.tasks)
        return tuple(transfer for transfer in transfers if transfer is not None and not transfer.local)

    def sends(self) -> tuple[Transfer, ...]:
        """Return the messages to other ranks, in the order in which they are sent."""
        transfers = (task.output_transfer for step in self.steps for task in step.tasks)
        return tuple(transfer for transfer in transfers if transfer is not None and not transfer.local)
